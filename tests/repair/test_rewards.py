"""Rewards against their definition: distances of Wagner's table, prices of shortest strings."""

from __future__ import annotations

import copy
import random

import numpy as np
import pytest

import tokamata as tk
from tests.support.automata.machines import random_acceptor
from tests.support.repairs import LETTERS, check_repair, regex_of, uniform_costs
from tokamata.automata import shortest
from tokamata.automata.correction import Prices, correction

SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def test_rewards_are_those_of_their_definition() -> None:
    judged = zeros = ones = 0
    for number in range(400):
        draw = random.Random(number)
        acceptor = random_acceptor(draw, 5)
        pattern, least = regex_of(acceptor), shortest(acceptor)
        if pattern is None or least is None:
            continue
        text = "".join(draw.choices(LETTERS, k=draw.randrange(7)))
        prices = draw.choice([Prices(1, 1, 1), Prices(2, 1, 3), Prices(1, 3, 2), Prices(0, 1, 1)])
        distance = correction(acceptor, [LETTERS.index(letter) for letter in text], prices)
        price = len(text) * prices.remove + len(least) * prices.insert
        assert distance is not None
        reward = tk.regex(pattern).reward(text, costs=uniform_costs(prices))
        assert reward == (1 - distance / price if distance else 1)
        assert reward.lower_bound == reward.upper_bound == reward
        assert reward.price in (price, None)
        check_repair(reward.repair, text)
        judged += 1
        zeros += reward == 0
        ones += reward == 1
    assert judged > 150
    assert min(zeros, ones) > 10


def test_a_reward_is_one_exactly_for_accepted_texts() -> None:
    constraint = tk.json_schema(SCHEMA)
    for text in ('{"name":"x"}', '{ "name" : "x" , "a": 1}', '{"a": [], "name": ""}'):
        reward = constraint.reward(text)
        assert (float(reward), reward.price, reward.repair.edits) == (1.0, None, ())
    for text in ('{"name":"x"', '{"nam":"x"}', "", "{}", "null", '{"name":1}', b"\xff"):
        reward = constraint.reward(text)
        assert 0 <= reward < 1
        assert 0 < reward.repair.cost <= (reward.price or 0)


def test_rounding_does_not_make_a_broken_text_accepted() -> None:
    repair = tk.literal("ab").repair("a", costs=tk.EditCosts(other=1))
    assert repair.cost == 1
    assert 1 > tk.Reward(repair, 1 << 62) > 1 - 1e-15


@pytest.mark.parametrize(
    ("constraint", "written"),
    [(tk.json(), '""'), (tk.regex("[xy]{3}z?"), "yyy"), (tk.choice(["abc", "ad"]), "ad")],
)
def test_the_price_depends_on_the_text_and_the_costs_alone(constraint: tk.Constraint, written: str) -> None:
    """Removal byte by byte, and one text written at the end: whatever the weight, the limits and the time."""
    costs = tk.EditCosts(
        other=50,
        remove={"ab": 7},
        append={"x": 50, "y": 3, "abd": 5, '"': 4},
        insert={"x": 1},
        prepend={"x": 1},
        replace=9,
    )
    for text in ("aab!", "?", "", "a" * 40, "[[,", b"\xffb"):
        data = text.encode() if isinstance(text, str) else text
        appended = sum({"y": 3, '"': 4}.get(letter, 5 if letter in "abd" else 50) for letter in written)
        price = sum(7 if byte in b"ab" else 50 for byte in data) + appended
        for weight in (1, 3, 20):
            for deadline in (None, 0):
                reward = constraint.reward(text, costs=costs, weight=weight, deadline_seconds=deadline)
                assert reward.price == price


def test_edits_that_cost_nothing() -> None:
    """Then the price may be 0; a text at distance 0 has all of the reward."""
    free = tk.EditCosts(other=0)
    for text in ("", "x", "ab"):
        reward = tk.literal("ab").reward(text, costs=free)
        assert (float(reward), reward.upper_bound) == (1.0, 1.0)
        check_repair(reward.repair, text)
    blanks = tk.EditCosts(other=10, remove={" ": 0})
    assert tk.literal("ab").reward("a b", costs=blanks) == 1
    assert tk.literal("ab").reward("  ", costs=blanks) == 0


def test_empty_texts() -> None:
    assert tk.literal("").reward("") == 1
    assert tk.literal("ab").reward("") == 0
    unit = tk.EditCosts(other=1)
    assert tk.literal("").reward("abc", costs=unit) == 0
    assert tk.choice(["", "abcd"]).reward("abc", costs=unit) == 1 - 1 / 3
    with pytest.raises(tk.EmptyConstraintError):
        tk.json_schema(False).reward("")


def test_bounds_hold_where_the_search_was_stopped() -> None:
    constraint = tk.json_schema(SCHEMA)
    text = '{"nam": "x", [1, "b" 2, {"c": }'
    stopped = 0
    for states in (40, 80, 160, 400, 1_000_000):
        try:
            reward = constraint.reward(text, limits=tk.Limits(states=states))
        except tk.LimitExceeded:
            continue
        stopped += not reward.repair.optimal
        best = constraint.reward(text)
        assert best.repair.optimal
        assert reward.lower_bound <= best <= reward.upper_bound
        assert repr(reward).startswith("Reward(")
        assert (" to " in repr(reward)) is not reward.repair.optimal
        check_repair(reward.repair, text)
    assert stopped


def test_a_reward_is_a_float() -> None:
    rewards = [tk.literal("abcd").reward(text, costs=tk.EditCosts(other=1)) for text in ("abc", "abcd")]
    assert rewards == [1 - 1 / 7, 1.0]
    assert sum(rewards) == 2 - 1 / 7
    assert np.asarray(rewards).dtype == np.float64
    again = copy.copy(rewards[0])
    assert (again, again.price, again.repair) == (rewards[0], 7, rewards[0].repair)
    assert tk.type(int).reward("12").repair.value == 12


def test_errors_are_those_of_repair() -> None:
    with pytest.raises(tk.ArgumentError):
        tk.json().reward(5)  # type: ignore[arg-type]
    with pytest.raises(tk.AlgebraError):
        tk.control_token("<x>").reward("a")
    token = tk.CancelToken()
    token.cancel()
    with pytest.raises(tk.Cancelled):
        tk.json().reward("[", cancel=token)
