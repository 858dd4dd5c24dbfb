"""ARA*: each correction is within its weight of the optimum, and the last one is the optimum."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction

import pytest

import tokamata as tk
from tests.support.automata.machines import random_acceptor
from tokamata.automata import Acceptor
from tokamata.automata.anytime import Incumbent, anytime_correction
from tokamata.automata.correction import Prices, correction
from tokamata.automata.estimates import by_length, by_types

_PRICES = [Prices(1, 1, 1), Prices(2, 1, 3), Prices(1, 3, 2), Prices(1, 1, 9), Prices(3, 2, 1)]
_WEIGHTS = [(1,), (3, 2, 1), (Fraction(5, 2), Fraction(3, 2), 1), (20, 1), (10, 10, 4, 1, 1)]


def cases(count: int, seed: int) -> Iterator[tuple[Acceptor, list[int], Prices]]:
    for number in range(count):
        draw = random.Random(seed + number)
        acceptor = random_acceptor(draw, 6)
        yield acceptor, draw.choices(range(3), k=draw.randrange(9)), draw.choice(_PRICES)


def distance(given: Sequence[int], wanted: Sequence[int], prices: Prices) -> int:
    """The least cost of edits from one string to another."""
    found = correction(Acceptor.from_strings([list(wanted)]), list(given), prices)
    assert found is not None
    return found


def check(found: list[Incumbent], acceptor: Acceptor, string: list[int], prices: Prices) -> int:
    """Checks the bounds of all; how many were above the optimum."""
    least = correction(acceptor, string, prices)
    if least is None:
        assert not found
        return 0
    for one in found:
        assert acceptor.accepts(one.symbols)
        assert distance(string, one.symbols, prices) <= one.cost <= one.weight * least
        assert one.lower_bound <= least
    costs = [one.cost for one in found]
    assert costs == sorted(costs, reverse=True)
    assert found[-1].cost == least
    return sum(cost > least for cost in costs)


def test_004_proposition_6_each_incumbent_is_within_its_weight() -> None:
    above = 0
    for number, case in enumerate(cases(600, 47)):
        weights = _WEIGHTS[number % len(_WEIGHTS)]
        above += check(list(anytime_correction(*case, weights=weights)), *case)
    assert above > 4  # the weights were not idle


def test_other_estimates() -> None:
    pytest.importorskip("scipy", reason="scipy comes with the extra repair")
    for acceptor, string, prices in cases(40, 470):
        lengths = by_length(acceptor, string, prices)
        bags = by_types(acceptor, string, {0: "a", 1: "a"}, prices)
        both = [list(map(max, *rows)) for rows in zip(lengths, bags, strict=True)]
        none = [[0.0 for _ in row] for row in lengths]
        for estimate in (bags, both, none):
            found = list(anytime_correction(acceptor, string, prices, weights=(4, 2, 1), estimate=estimate))
            check(found, acceptor, string, prices)


def test_searching_again_expands_little() -> None:
    """At the second of two equal weights nothing is left to do."""
    for case in cases(100, 4700):
        found = list(anytime_correction(*case, weights=(1, 1)))
        if found:
            assert found[0] == found[1]


def test_004_proposition_6_needs_an_admissible_estimate() -> None:
    """With an estimate that is too high on the optimal path, a correction is above its weight of 1."""
    acceptor = Acceptor.from_transitions([(0, 0, 1), (1, 1, 2), (0, 2, 3), (3, 2, 2)], [2])
    string, prices = [0], Prices(1, 1, 3)
    # After `0` is kept, one symbol is missing and 1 is to be paid; this estimate says 5.
    wrong = [row.copy() for row in by_length(acceptor, string, prices)]
    wrong[1][1] = 5.0
    found = list(anytime_correction(acceptor, string, prices, weights=(1,), estimate=wrong))
    assert correction(acceptor, string, prices) == 1
    assert found[0].cost == 3


def test_its_end_is_the_engines_optimum() -> None:
    vocabulary = tk.Vocabulary.load([b"a", b"b", b"ab", b"ba", b"c", b"a", None], stop=6)
    draw = random.Random(6)
    for pattern in ("(ab|ba|c){1,2}", "(ab)+", "[abc]*c", "(?!.*aa)[ab]*", "c*(ab)*c"):
        compiled = tk.regex(pattern).compile(vocabulary)
        acceptor = compiled.token_automaton().to_acceptor()
        for _ in range(30):
            given = [draw.randrange(6) for _ in range(draw.randrange(12))]
            prices = Prices(draw.randrange(1, 4), draw.randrange(1, 4), draw.randrange(1, 6))
            *_, last = anytime_correction(acceptor, given, prices)
            found = compiled.repair(given, costs=tk.TokenCosts(*prices))
            assert (found.cost, found.optimal) == (last.cost, True)


def test_the_example_of_its_header() -> None:
    found = list(anytime_correction(Acceptor.from_strings(["abc"]), b"b", weights=(3, 1)))
    assert [(one.cost, int(one.weight), int(one.lower_bound)) for one in found] == [(3, 3, 2), (2, 1, 2)]
    assert found[-1].symbols == tuple(b"abc")
