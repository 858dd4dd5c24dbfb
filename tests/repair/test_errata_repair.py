"""The counterexamples of docs/errata.md to paper 004: each heuristic counts more than a repair costs."""

from __future__ import annotations

import tokamata as tk
from tokamata.automata import Acceptor, shortest
from tokamata.automata.correction import Prices, correction

BRACKETS = tk.grammar('start: (pair)*\npair: "(" start ")" | "[" start "]"\n')


def test_004_the_distance_to_acceptance_is_inadmissible() -> None:
    language = Acceptor.from_strings(["abc"])
    distance = len(shortest(language) or ())
    assert (distance, correction(language, "abc")) == (3, 0)


def test_004_mismatches_by_position_are_inadmissible() -> None:
    broken, wanted = "NSNSNS", "SNSNS"
    mismatches = sum(a != b for a, b in zip(broken, wanted, strict=False)) + len(broken) - len(wanted)
    assert (mismatches, correction(Acceptor.from_strings([wanted]), broken)) == (6, 1)


def unmatched(text: str) -> int:
    """Brackets that a stack leaves over, as the paper counts them."""
    stack = ""
    for bracket in text:
        if stack and stack[-1] + bracket in ("()", "[]"):
            stack = stack[:-1]
        else:
            stack += bracket
    return len(stack)


def test_004_unmatched_brackets_are_inadmissible() -> None:
    one = tk.EditCosts(other=1, replace=1)
    for text, count, cost in (("((", 2, 1), ("([)", 3, 1)):
        assert (unmatched(text), BRACKETS.repair(text, costs=one).cost) == (count, cost)
    without = tk.EditCosts(other=1)
    assert BRACKETS.repair("([)", costs=without).cost == 1
    assert tk.json().repair("[[[[[[", costs=without).cost == 2 < unmatched("[[[[[[")
    assert correction(Acceptor.from_strings(["()"]), "((", Prices()) == 1
