"""Estimates of corrections: admissible and consistent on every edge of random products."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest

from tests.support.automata.machines import random_acceptor
from tokamata.automata import EPSILON, Acceptor
from tokamata.automata.correction import Prices, correction
from tokamata.automata.estimates import bracket_estimate, by_length, by_types

SCIPY = "scipy comes with the extra repair"
PRICES = [
    Prices(1, 1, 1),
    Prices(2, 1, 3),
    Prices(1, 3, 2),
    Prices(1, 1, 9),
    Prices(0, 1, 1),
    Prices(3, 2, 1),
]
Table = list[list[float]]


def products(count: int, seed: int) -> Iterator[tuple[Acceptor, list[int], Prices]]:
    for number in range(count):
        draw = random.Random(seed + number)
        acceptor = random_acceptor(draw, 5)
        yield acceptor, draw.choices(range(3), k=draw.randrange(6)), draw.choice(PRICES)


def edges(acceptor: Acceptor, string: list[int], prices: Prices) -> Iterator[tuple[int, int, int, int, int]]:
    """All edges of a product: position and state, position and state, cost."""
    for position in range(len(string) + 1):
        is_within = position < len(string)
        for state in range(acceptor.states):
            if is_within:
                yield position, state, position + 1, state, prices.remove
        for source, symbol, target in acceptor.transitions:
            yield position, source, position, target, 0 if symbol == EPSILON else prices.insert
            if is_within and symbol != EPSILON:
                paid = 0 if symbol == string[position] else prices.replace
                yield position, source, position + 1, target, paid


def from_state(acceptor: Acceptor, state: int) -> Acceptor:
    return Acceptor.from_transitions(acceptor.transitions, acceptor.accepting, state, acceptor.states)


def exact(acceptor: Acceptor, string: list[int], prices: Prices) -> Table:
    def rest(position: int, state: int) -> float:
        found = correction(from_state(acceptor, state), string[position:], prices)
        return math.inf if found is None else found

    return [[rest(at, state) for state in range(acceptor.states)] for at in range(len(string) + 1)]


def check(acceptor: Acceptor, string: list[int], prices: Prices, table: Table) -> int:
    """Checks both properties; how many pairs have an estimate above zero."""
    least = exact(acceptor, string, prices)
    for position, row in enumerate(table):
        for state, estimate in enumerate(row):
            assert 0 <= estimate <= least[position][state], (position, state)
    for position, state, to, target, cost in edges(acceptor, string, prices):
        assert table[position][state] <= cost + table[to][target], (position, state, to, target)
    return sum(0 < estimate < math.inf for row in table for estimate in row)


def test_lengths_are_admissible_and_consistent() -> None:
    judged = sum(check(*case, by_length(*case[:2], case[2])) for case in products(800, 1))
    assert judged > 1000


def test_types_are_admissible_and_consistent() -> None:
    pytest.importorskip("scipy", reason=SCIPY)
    judged = 0
    for number, (acceptor, string, prices) in enumerate(products(80, 9_000)):
        types = ({}, {0: "x", 1: "x"}, {0: "x", 1: "y", 2: "y"})[number % 3]
        table = by_types(acceptor, string, types, prices)
        judged += check(acceptor, string, prices, table)
        for position, row in enumerate(table):
            for state, estimate in enumerate(row):
                assert estimate <= bag_distance(acceptor, state, string[position:], types, prices)
    assert judged > 80


def bag_distance(
    acceptor: Acceptor, state: int, rest: list[int], types: dict[int, str], prices: Prices
) -> float:
    """The least correction over all orders of the rest, and over all symbols of a type."""

    def typed(symbol: int) -> object:
        return symbol if symbol == EPSILON else types.get(symbol, symbol)

    kinds = sorted(
        {*map(typed, rest), *(typed(arc[1]) for arc in acceptor.transitions)} - {EPSILON}, key=repr
    )
    arcs = [
        (source, symbol if symbol == EPSILON else kinds.index(typed(symbol)), target)
        for source, symbol, target in acceptor.transitions
    ]
    machine = Acceptor.from_transitions(arcs, acceptor.accepting, state, acceptor.states)
    orders = set(_orders(tuple(sorted(Counter(kinds.index(typed(symbol)) for symbol in rest).items()))))
    found = [correction(machine, list(order), prices) for order in orders]
    return min(math.inf if cost is None else cost for cost in found)


@cache
def _orders(bag: tuple[tuple[int, int], ...]) -> list[tuple[int, ...]]:
    if not bag:
        return [()]
    found = []
    for symbol, _ in bag:
        left = tuple((one, many - (one == symbol)) for one, many in bag if many > (one == symbol))
        found += [(symbol, *order) for order in _orders(left)]
    return found


PAIRS = {"(": ")", "[": "]"}
BRACKETS = "()[]x"


def bracket_product(draw: random.Random) -> tuple[Acceptor, list[dict[str, int]]]:
    """A random acceptor whose strings are balanced: its states carry a stack of up to three brackets."""
    plain = random_acceptor(draw, 4, len(BRACKETS), 0.1)
    numbers = {(plain.start, ""): 0}
    arcs, open_ = [], [(plain.start, "")]
    while open_:
        state, stack = open_.pop()
        for symbol, target in plain.rows[state]:
            shown = "" if symbol == EPSILON else BRACKETS[symbol]
            after = stack
            if shown in PAIRS:
                after = stack + shown
            elif shown in PAIRS.values():
                if not stack or PAIRS[stack[-1]] != shown:
                    continue
                after = stack[:-1]
            if len(after) > 3:
                continue
            if (target, after) not in numbers:
                numbers[target, after] = len(numbers)
                open_.append((target, after))
            arcs.append((numbers[state, stack], symbol, numbers[target, after]))
    accepting = [
        number for (state, stack), number in numbers.items() if state in plain.accepting and not stack
    ]
    opened = [{kind: stack.count(kind) for kind in PAIRS} for _, stack in numbers]
    return Acceptor.from_transitions(arcs, accepting, 0, len(numbers)), opened


def test_brackets_are_admissible_and_consistent() -> None:
    judged = largest = 0
    for seed in range(600):
        draw = random.Random(seed)
        acceptor, opened = bracket_product(draw)
        string, prices = draw.choices(range(len(BRACKETS)), k=draw.randrange(7)), draw.choice(PRICES)
        shown = [BRACKETS[symbol] for symbol in string]
        table: Table = [
            [
                bracket_estimate(shown[position:], opened[state], PAIRS, prices)
                for state in range(acceptor.states)
            ]
            for position in range(len(string) + 1)
        ]
        judged += check(acceptor, string, prices, table)
        largest = max(largest, *(int(value) for row in table for value in row))
    assert judged > 2000
    assert largest >= 4


def test_the_maximum_has_both_properties() -> None:
    pytest.importorskip("scipy", reason=SCIPY)
    for seed in range(60):
        draw = random.Random(seed + 5_000)
        acceptor, opened = bracket_product(draw)
        string, prices = draw.choices(range(len(BRACKETS)), k=draw.randrange(5)), draw.choice(PRICES)
        if acceptor.states > 25:
            continue
        shown = [BRACKETS[symbol] for symbol in string]
        lengths, types = by_length(acceptor, string, prices), by_types(acceptor, string, {}, prices)
        check(
            acceptor,
            string,
            prices,
            [
                [
                    max(
                        lengths[at][state],
                        types[at][state],
                        bracket_estimate(shown[at:], opened[state], PAIRS, prices),
                    )
                    for state in range(acceptor.states)
                ]
                for at in range(len(string) + 1)
            ],
        )


def test_the_sum_is_inadmissible() -> None:
    """One missing bracket counts as a length and as a bracket."""
    acceptor, string = Acceptor.from_strings(["()"]), b"("
    assert correction(acceptor, string) == 1
    assert by_length(acceptor, string)[0][acceptor.start] + bracket_estimate("(", {}, PAIRS) == 2


@pytest.mark.parametrize(
    ("rest", "opened", "expected"),
    [
        ("((", {}, 1),
        ("([)", {}, 1),
        ("", {"(": 2}, 1),
        (")]", {"(": 1, "[": 1}, 0),
        (")(", {}, 1),
        ("(((", {}, 2),
    ],
)
def test_brackets_by_hand(rest: str, opened: dict[str, int], expected: int) -> None:
    assert bracket_estimate(rest, opened, PAIRS) == expected


def test_types_by_hand() -> None:
    """The counterexample of the paper's own: six positions differ, and one deletion repairs it."""
    pytest.importorskip("scipy", reason=SCIPY)
    acceptor = Acceptor.from_strings(["SNSNS"])
    assert by_types(acceptor, "NSNSNS", {})[0][acceptor.start] == 1
    assert by_types(acceptor, "NNNNN", {})[0][acceptor.start] == 3
