"""What the program that fits costs counts."""

from __future__ import annotations

import math

import pytest

import tokamata as tk
from benchmarks.repair.counted_edits import (
    Counts,
    Kind,
    KnownText,
    costs_by_kind,
    fitted_cost,
    meant_as,
    with_costs,
)

_COSTS = tk.EditCosts(
    other=9000,
    insert={",": 2000, ":": 2200, '"': 3000},
    append={"}": 500},
    resume={"}": 100},
    remove={",": 2500},
    rewrites=[tk.Rewrite("trailing", rb",(?=\s*[}\]])", b"", 700), tk.Rewrite("true", rb"True", b"true", 60)],
    doubts=[tk.Doubt("a tick", rb"'", 800)],
)
_TRAILING, _TRUE = Kind("rewrites", 0), Kind("rewrites", 1)


def counted(broken: str, meant: str) -> Counts:
    counts = Counts()
    counts.add(KnownText(broken, meant_as(meant)), _COSTS, 5.0)
    assert counts.texts == 1
    return counts


def test_a_rewrite_is_possible_wherever_it_is_found() -> None:
    counts = counted('{"a": [1,], "b": "x,]"}', '{"a": [1], "b": "x,]"}')
    assert (counts.made[_TRAILING], counts.possible[_TRAILING]) == (1, 2)
    assert (counts.made[_TRUE], counts.possible[_TRUE]) == (0, 0)
    assert counts.cost == 700


def test_single_bytes_by_place() -> None:
    counts = counted('{"a": 1 "b": True', '{"a": 1, "b": true}')
    length = len('{"a": 1 "b": True')
    assert (counts.made[Kind("insert", ",")], counts.possible[Kind("insert", ",")]) == (1, length - 1)
    assert (counts.made[Kind("insert", ":")], counts.possible[Kind("insert", ":")]) == (0, length - 1)
    # It seems cut off: after its end and after the bracket more could be written.
    assert (counts.made[Kind("resume", "}")], counts.possible[Kind("resume", "}")]) == (1, 2)
    assert counts.possible[Kind("append", "}")] == 0
    assert counts.possible[Kind("remove", ",")] == 0
    assert (counts.made[_TRUE], counts.possible[_TRUE]) == (1, 1)


def test_a_doubt_counts_the_bytes_that_are_kept() -> None:
    counts = counted('{"it\'s": 1,}', '{"it\'s": 1}')
    assert (counts.made[Kind("doubts", 0)], counts.possible[Kind("doubts", 0)]) == (1, 1)


def test_white_space_is_not_compared() -> None:
    assert counted('{ "a":1 }', '{"a": 1}').cost == 0


def test_other_costs_of_some_kinds() -> None:
    changed = with_costs(_COSTS, {_TRUE: 5, Kind("insert", ":"): 7, Kind("doubts", 0): 9})
    assert [one.cost for one in changed.rewrites] == [700, 5]
    assert (changed.insert[":"], changed.insert[","], changed.doubts[0].cost) == (7, 2000, 9)
    assert with_costs(_COSTS, costs_by_kind(_COSTS)).rewrites == _COSTS.rewrites


def test_the_estimate() -> None:
    assert fitted_cost(0, 0) == round(1000 * math.log(2))
    assert fitted_cost(85, 85) == 6
    assert fitted_cost(1, 999) == pytest.approx(6502, abs=1)
