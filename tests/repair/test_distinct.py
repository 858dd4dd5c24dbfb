"""The nearest different values, against all texts of small languages and one search for each value."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest

import tokamata as tk
from tests.support.automata.machines import random_acceptor
from tests.support.repairs import LETTERS, check_repair, regex_of
from tokamata.automata import EPSILON, Acceptor
from tokamata.repair.contents import canonical_json

LONGEST = 5  # letters of the texts that are judged
TEXTS = ["".join(one) for n in range(LONGEST + 1) for one in itertools.product(LETTERS, repeat=n)]


class Prices(NamedTuple):
    """Of each letter, to insert and to remove it; of a replacement."""

    insert: dict[str, int]
    remove: dict[str, int]
    replace: int

    def costs(self) -> tk.EditCosts:
        return tk.EditCosts(other=3, insert=self.insert, remove=self.remove, replace=self.replace)


def random_prices(draw: random.Random) -> Prices:
    """Prices from 1 to 3, so that there are many ties."""
    insert, remove = ({letter: draw.randint(1, 3) for letter in LETTERS} for _ in range(2))
    return Prices(insert, remove, draw.randint(1, 3))


def distance(broken: str, text: str, prices: Prices) -> int:
    """Wagner and Fischer's table."""
    row = [0]
    for written in text:
        row.append(row[-1] + prices.insert[written])
    for letter in broken:
        last, row = row, [row[0] + prices.remove[letter]]
        for i, written in enumerate(text):
            replaced = last[i] + (0 if written == letter else prices.replace)
            removed = last[i + 1] + prices.remove[letter]
            row.append(min(removed, row[i] + prices.insert[written], replaced))
    return row[-1]


def needless(broken: str, text: str, cost: int, prices: Prices, language: Language) -> bool:
    """Whether some letters might be left out: they lead from a state to itself, and were all inserted."""
    for begin, end in itertools.combinations(range(len(text) + 1), 2):
        if language.rest(text[:begin]) == language.rest(text[:end]):
            without = text[:begin] + text[end:]
            inserted = sum(prices.insert[letter] for letter in text[begin:end])
            if distance(broken, without, prices) + inserted <= cost:
                return True
    return False


# Where several repairs of one cost lead to one text, and another text differs from it in a byte that only one
# of these repairs writes.
TIES = [50, 604, 827, 1947, 2687, 2750, 2799, 2802, 2955, 3734, 4342, 4846]


class Language:
    """The texts of an acceptor, by sets of its states."""

    def __init__(self, acceptor: Acceptor) -> None:
        self.acceptor = acceptor
        self.reached: dict[str, frozenset[int]] = {"": self._closed({acceptor.start})}
        self.rests: dict[frozenset[int], frozenset[str]] = {}

    def _closed(self, states: set[int]) -> frozenset[int]:
        while True:
            silent = {t for s, symbol, t in self.acceptor.transitions if symbol == EPSILON and s in states}
            if silent <= states:
                return frozenset(states)
            states |= silent

    def after(self, text: str) -> frozenset[int]:
        """The states after a text."""
        if text not in self.reached:
            before, letter = self.after(text[:-1]), LETTERS.index(text[-1])
            following = {t for s, symbol, t in self.acceptor.transitions if symbol == letter and s in before}
            self.reached[text] = self._closed(following)
        return self.reached[text]

    def __contains__(self, text: str) -> bool:
        return not self.after(text).isdisjoint(self.acceptor.accepting)

    def rest(self, beginning: str) -> frozenset[str]:
        """What may follow, up to four letters."""
        states = self.after(beginning)
        if states not in self.rests:
            endings = TEXTS[: sum(len(LETTERS) ** n for n in range(5))]
            self.rests[states] = frozenset(one for one in endings if beginning + one in self)
        return self.rests[states]


def test_all_texts_of_small_languages() -> None:
    """Each text of a language comes once, at its cost, in order, unless it writes more than it needs."""
    judged = left_out = 0
    for seed in [*range(250), *TIES]:
        draw = random.Random(777 + seed)
        acceptor = random_acceptor(draw, 4)
        pattern = regex_of(acceptor)
        if pattern is None:
            continue
        language = Language(acceptor)
        accepted = {text for text in TEXTS if text in language}
        prices, broken = random_prices(draw), "".join(draw.choices(LETTERS, k=draw.randrange(4)))
        search = tk.regex(pattern).repairs(broken, distinct=True, n=8, costs=prices.costs())
        found = list(search)
        costs = [one.cost for one in found]
        assert costs == sorted(costs)
        assert len({one.text for one in found}) == len(found)
        for one in found:
            check_repair(one, broken)
            assert one.text in language
            assert one.cost == distance(broken, one.text, prices)
        assert search.stopped is None
        assert (search.lower_bound is None) or search.lower_bound >= costs[-1]
        given = {one.text for one in found}
        for text in accepted - given:
            cost = distance(broken, text, prices)
            if search.lower_bound is None or cost < search.lower_bound:
                assert needless(broken, text, cost, prices, language), (pattern, broken, text)
                left_out += 1
        margin = found[0].margin()
        assert margin == (costs[1] - costs[0] if len(costs) > 1 else None, True)
        judged += len(found)
    assert judged > 150
    assert left_out > 20


def test_all_words_of_finite_languages() -> None:
    """Where nothing repeats, each word comes at its own cost."""
    for seed in range(30):
        draw = random.Random(seed)
        given = {"".join(draw.choices(LETTERS, k=draw.randrange(6))) for _ in range(draw.randrange(2, 9))}
        prices, broken = random_prices(draw), "".join(draw.choices(LETTERS, k=draw.randrange(6)))
        search = tk.choice(sorted(given)).repairs(broken, distinct=True, costs=prices.costs())
        found = {one.text: one.cost for one in search}
        assert found == {word: distance(broken, word, prices) for word in given}
        assert list(found.values()) == sorted(found.values())
        assert (search.lower_bound, search.stopped) == (None, None)


def without_words() -> tk.EditCosts:
    """Costs that do not depend on the words of a schema."""
    return tk.EditCosts(
        other=300, append={"}]": 50}, rewrites=tk.DEFAULT_COSTS.rewrites[:4], modes=tk.DEFAULT_COSTS.modes
    )


def test_each_value_of_an_enumeration_at_its_own_cost() -> None:
    values: list[Any] = ["cat", "bat", "cart", "dog", True, 1, None, [1, "a"], {"a": 1, "b": "x"}, {"a": 2}]
    costs = without_words()
    for broken in ('"at"', "'cat'", '["1", a', '{"a": 1', "tru", ""):
        alone = {
            json.dumps(one): tk.json_schema({"const": one}).repair(broken, costs=costs).cost for one in values
        }
        search = tk.json_schema({"enum": values}).repairs(broken, distinct=True, n=4, costs=costs)
        found = {json.dumps(one.value): one.cost for one in search}
        assert len(found) == 4
        assert all(alone[value] == cost for value, cost in found.items())
        assert sorted(found.values()) == sorted(alone.values())[:4]


def test_the_first_is_the_repair_and_the_costs_grow() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    draw = random.Random(2)
    for constraint in (tk.json(), tk.json_schema(schema)):
        for _ in range(12):
            text = list(json.dumps({"a": draw.randrange(99), "b": ["x", True]}))
            for _ in range(2):
                del text[draw.randrange(len(text))]
            broken = "".join(text)
            repair = constraint.repair(broken)
            found = list(constraint.repairs(broken, distinct=True, n=4))
            assert (found[0].text, found[0].cost) == (repair.text, repair.cost)
            assert len({canonical_json(one.text.encode()) for one in found}) == len(found) == 4
            assert [one.cost for one in found] == sorted(one.cost for one in found)
            for one in found:
                check_repair(one, broken)
                constraint.parse(one.text)
            assert repair.margin() == (found[1].cost - found[0].cost, True)


def test_names_that_must_differ_are_read_by_the_constraint() -> None:
    """The over-approximation accepts the text as it is."""
    found = list(tk.json().repairs('{"a": 1, "a": 2}', distinct=True, n=5))
    assert all(len(one.value) >= 1 and one.cost > 0 for one in found)
    schema = {"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True, "minItems": 2}
    search = tk.json_schema(schema).repairs("[1, 1]", distinct=True, n=2)
    assert sorted(tuple(one.value) for one in search) == [(1, 2), (2, 1)]


@pytest.mark.parametrize(
    ("pattern", "broken", "expected"),
    [
        ("red|blue", "red", ["red", "blue"]),
        ("a", "b", ["a"]),
        ("cat|bat|rat", "at", ["bat", "cat", "rat"]),
        ("[0-9]", "", list("0123456789")),
    ],
)
def test_all_values(pattern: str, broken: str, expected: list[str]) -> None:
    search = tk.regex(pattern).repairs(broken, distinct=True)
    assert sorted(one.text for one in search) == sorted(expected)
    assert search.lower_bound is None
    assert search.stopped is None


def test_margins() -> None:
    assert tk.json_schema({"enum": ["cat", "bat"]}).repair('"at"').margin() == (0, True)
    assert tk.regex("a").repair("b").margin() == (None, True)
    assert tk.json().repair("[1 2]").margin().cost == 500
    coupled = tk.regex("(ab)*").repair("aab", at_most={"remove": 0})
    assert coupled.margin().is_exact


def test_values_are_those_of_json() -> None:
    """1 and 1.0 are equal, 1 and true are not, and neither are the texts "1" and 1."""
    assert canonical_json(b"[1]") == canonical_json(b"[ 1.0]") == canonical_json(b"[10e-1]")
    assert canonical_json(b'{"a": 1, "b": [2]}') == canonical_json(b'{"b":[2],"\\u0061":1}')
    different = [
        "1",
        "true",
        '"1"',
        "[1]",
        '["1"]',
        '{"1": 1}',
        "[[1]]",
        "[1,1]",
        '"true"',
        "-1",
        "[]",
        "{}",
        '""',
    ]
    different += [
        '["a","b"]',
        '["a,b"]',
        '{"a": {"b": 1}}',
        '{"a": {}, "b": 1}',
        "null",
        "[null]",
        "1e400",
        "1e401",
    ]
    assert len({canonical_json(text.encode()) for text in different}) == len(different)


# ---- limits ---------------------------------------------------------------------------------------


def long_text(items: int) -> str:
    return json.dumps([{"name": "some words", "number": n} for n in range(items)])[:-1]


def test_limits_end_the_search_and_say_what_is_proven() -> None:
    broken = long_text(40)
    for limits in (tk.Limits(seconds=0.03), tk.Limits(memory_bytes=1 << 20), tk.Limits(states=500)):
        try:
            search = tk.json().repairs(broken, distinct=True, n=50, limits=limits)
            found = list(search)
            margin = found[0].margin(limits=limits)
        except tk.LimitExceeded:
            continue
        assert search.stopped is not None or len(found) == 50
        assert search.lower_bound is not None
        assert search.lower_bound >= found[-1].cost or not found[0].optimal
        assert margin.cost is not None
        assert margin.is_exact or margin.cost <= 3020


def test_deadlines_and_cancelling() -> None:
    search = tk.json().repairs(long_text(300), distinct=True, n=500, deadline_seconds=0.2)
    assert len(list(search)) < 500
    assert isinstance(search.stopped, tk.LimitExceeded)
    token = tk.CancelToken()
    token.cancel()
    with pytest.raises(tk.Cancelled):
        list(tk.json().repairs("[1", distinct=True, n=2, cancel=token))
    with pytest.raises(tk.Cancelled):
        tk.json().repair("[1").margin(cancel=token)


def test_an_empty_constraint() -> None:
    with pytest.raises(tk.EmptyConstraintError):
        list((tk.regex("a") & tk.regex("b")).repairs("x", distinct=True))


def ordered(found: Sequence[tk.Repair[Any]]) -> list[str]:
    return [one.text for one in found]


def test_the_same_call_gives_the_same_values() -> None:
    calls = [ordered(list(tk.json().repairs('{"a" 1, b', distinct=True, n=6))) for _ in range(2)]
    assert calls[0] == calls[1]
