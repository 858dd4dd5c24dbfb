"""The counterexamples of docs/errata.md to section 6 of paper 004."""

from __future__ import annotations

import itertools
import random

import pytest

import tokamata as tk
from tokamata.automata import Acceptor, shortest
from tokamata.automata.correction import Prices, correction
from tokamata.automata.estimates import bracket_estimate, by_length, by_types
from tokamata.repair.unimodularity import MOST_ROWS, is_totally_unimodular

SCIPY = "scipy comes with the extra repair"

BRACKETS = tk.grammar('start: (pair)*\npair: "(" start ")" | "[" start "]"\n')


def test_004_the_distance_to_acceptance_is_inadmissible() -> None:
    language = Acceptor.from_strings(["abc"])
    distance = len(shortest(language) or ())
    assert (distance, correction(language, "abc")) == (3, 0)
    assert (
        by_length(language, "abc")[0][language.start] == 0
    )  # tests/automata/test_estimates.py has the proof


def test_004_mismatches_by_position_are_inadmissible() -> None:
    broken, wanted = "NSNSNS", "SNSNS"
    mismatches = sum(a != b for a, b in zip(broken, wanted, strict=False)) + len(broken) - len(wanted)
    language = Acceptor.from_strings([wanted])
    assert (mismatches, correction(language, broken)) == (6, 1)
    pytest.importorskip("scipy", reason=SCIPY)
    assert by_types(language, broken, {})[0][language.start] == 1


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
        assert bracket_estimate(text, {}, {"(": ")", "[": "]"}) == cost
    without = tk.EditCosts(other=1)
    assert BRACKETS.repair("([)", costs=without).cost == 1
    assert tk.json().repair("[[[[[[", costs=without).cost == 2 < unmatched("[[[[[[")
    assert correction(Acceptor.from_strings(["()"]), "((", Prices()) == 1
    # On bytes the admissible version is not admissible either: quotes make brackets those of a string.
    assert bracket_estimate("[[[[[[", {}, {"[": "]"}, Prices(1, 1, 9)) == 6


def test_004_the_sum_of_admissible_heuristics_is_inadmissible() -> None:
    language = Acceptor.from_strings(["()"])
    parts = by_length(language, "(")[0][language.start], bracket_estimate("(", {}, {"(": ")"})
    assert (sum(parts), correction(language, "(")) == (2, 1)


def network(nodes: int, arcs: list[tuple[int, int]]) -> list[list[int]]:
    """The incidence matrix of a directed graph."""
    return [[(source == node) - (target == node) for source, target in arcs] for node in range(nodes)]


# s, a1, a2, b1, b2, t; each layer of edges between neighbouring layers of nodes.
LAYERED = [(0, 1), (0, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 5), (4, 5)]
WITHIN_A_LAYER = [0, 0, 1, 0, 0, 1, 0, 0]  # x(a1 b1) + x(a2 b2)
ACROSS_LAYERS = [1, 0, 0, 0, 0, 0, 1, 0]  # x(s a1) + x(b1 t)


def determinant(matrix: list[list[int]]) -> int:
    """By Leibniz's formula, in whole numbers."""
    total = 0
    for order in itertools.permutations(range(len(matrix))):
        inversions = sum(a > b for a, b in itertools.combinations(order, 2))
        product = (-1) ** inversions
        for row, column in enumerate(order):
            product *= matrix[row][column]
        total += product
    return total


def test_004_theorem_7_the_matrix_is_not_totally_unimodular() -> None:
    """One capacity, within one layer, and a determinant of -2."""
    flow = network(6, LAYERED)
    assert is_totally_unimodular(flow)
    matrix = [*flow, WITHIN_A_LAYER]
    assert not is_totally_unimodular(matrix)
    part = [[matrix[row][column] for column in (2, 4, 5)] for row in (3, 2, 6)]  # b1, a2, the capacity
    assert part == [[-1, -1, 0], [0, 1, 1], [1, 0, 1]]
    assert determinant(part) == -2


def relaxed(costs: list[int], rows: list[list[int]]) -> tuple[float, bool]:
    """The optimum of the relaxation with capacities of 1, and whether the vertex found is whole."""
    from scipy.optimize import linprog

    found = linprog(
        costs, A_ub=rows or None, b_ub=[1] * len(rows) or None,
        A_eq=network(6, LAYERED), b_eq=[1, 0, 0, 0, 0, -1], bounds=(0, 1), method="highs-ds",
    )  # fmt: skip
    return found.fun, all(abs(value - round(value)) < 1e-6 for value in found.x)


def test_004_theorem_7_its_vertices_are_integral_all_the_same() -> None:
    """A flow of 1 exceeds no capacity within a layer; across layers, half of it may be the optimum."""
    pytest.importorskip("scipy", reason=SCIPY)
    draw, fractional = random.Random(1), 0
    for _ in range(300):
        costs = [draw.randrange(1, 20) for _ in LAYERED]
        free, _ = relaxed(costs, [])
        within, is_whole = relaxed(costs, [WITHIN_A_LAYER])
        assert is_whole
        assert within == pytest.approx(free)
        fractional += not relaxed(costs, [ACROSS_LAYERS])[1]
    assert fractional > 30


def test_004_cycles_do_no_harm() -> None:
    """The paper counts graphs with cycles among those whose matrix is not totally unimodular."""
    assert is_totally_unimodular(network(4, [(0, 1), (1, 2), (2, 1), (2, 0), (1, 3), (2, 3), (1, 1)]))


def test_004_ghouila_houri_is_no_test_for_each_call() -> None:
    """It is over all sets of rows: here each set but the whole one splits, and no sample shows it."""
    for rows in (3, 5, 7, 9):
        odd = [[int(column in (row, (row + 1) % rows)) for column in range(rows)] for row in range(rows)]
        assert not is_totally_unimodular(odd)
        for left_out in range(rows):
            assert is_totally_unimodular(odd[:left_out] + odd[left_out + 1 :])
    with pytest.raises(ValueError, match="16 rows"):
        is_totally_unimodular([[1]] * (MOST_ROWS + 1))


def minor_free(matrix: list[list[int]]) -> bool:
    """By the definition: all square parts have determinant -1, 0 or 1."""
    for size in range(1, min(len(matrix), len(matrix[0])) + 1):
        for rows in itertools.combinations(matrix, size):
            for columns in itertools.combinations(range(len(matrix[0])), size):
                if abs(determinant([[row[column] for column in columns] for row in rows])) > 1:
                    return False
    return True


def test_total_unimodularity_is_that_of_determinants() -> None:
    draw, found = random.Random(2), []
    for _ in range(300):
        rows, columns = draw.randint(1, 4), draw.randint(1, 5)
        matrix = [[draw.choice([0, 0, 1, -1]) for _ in range(columns)] for _ in range(rows)]
        found.append(is_totally_unimodular(matrix))
        assert found[-1] == minor_free(matrix), matrix
    assert 30 < sum(found) < 270
    assert not is_totally_unimodular([[2]])
    assert is_totally_unimodular([[0, 1], [0, 0]])
