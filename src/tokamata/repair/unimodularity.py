"""Whether a matrix is totally unimodular: every square part of it has determinant -1, 0 or 1.

Problem.  Then every vertex of a linear program with this matrix and whole right sides is whole, and no
branching is needed.  Paper 004 says that the matrices of repairs are (theorem 7).  With a row that couples
edges they need not be: docs/errata.md has one with a determinant of -2.
Example.  The incidence matrix of any directed graph is: each column has one 1 and one -1.  Cycles do no harm.

How.  Ghouila-Houri's criterion, by its definition.  A matrix is totally unimodular if and only if each set
of its rows falls into two parts, so that in every column the sums of both parts differ by at most 1.  Every
choice of 0, 1 or -1 for each row is tried, and the sets of those are collected whose sums are all -1, 0 or 1.
Cost.  3^rows sums of each different column: some seconds for :data:`MOST_ROWS` rows.
Source.  Ghouila-Houri 1962; Hoffman and Kruskal 1956 for the vertices.
Not taken.  Seymour's decomposition decides it in polynomial time (Truemper 1990; implemented in CMR).  What
matters here is whether the program has a whole optimum, which its solution shows.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tokamata.errors import ArgumentError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["MOST_ROWS", "is_totally_unimodular"]

MOST_ROWS = 15  # some seconds
_ROWS_AT_ONCE = 9  # their 3^9 choices are one product of matrices


def is_totally_unimodular(matrix: Sequence[Sequence[int]]) -> bool:
    """Whether a matrix is totally unimodular.

    Args:
        matrix: its rows, at most :data:`MOST_ROWS`, all of one length.

    Raises:
        ArgumentError: it has more rows.
    """
    import numpy as np

    if len(matrix) > MOST_ROWS:
        raise ArgumentError(
            "matrix", f"{len(matrix)} rows", f"at most {MOST_ROWS}: each set of rows is examined"
        )
    if any(abs(value) > 1 for row in matrix for value in row):
        return False
    # A column with one value changes no sum by more than 1, and of equal ones one is enough.
    columns = sorted({column for column in zip(*matrix, strict=True) if sum(map(abs, column)) > 1})
    if not columns:
        return True
    rows = np.array(columns, dtype=np.int8).T
    first, last = rows[:_ROWS_AT_ONCE], rows[_ROWS_AT_ONCE:]
    signs, further = _choices(len(first)), _choices(len(last))
    sums, sets = signs @ first, (signs != 0) @ (1 << np.arange(len(first)))
    splits = np.zeros(
        (1 << len(last), 1 << len(first)), dtype=bool
    )  # whether the set of rows falls into two parts
    for chosen, number in zip(further, (further != 0) @ (1 << np.arange(len(last))), strict=True):
        splits[number, sets[(np.abs(sums + chosen @ last) <= 1).all(axis=1)]] = True
    return bool(splits.all())


def _choices(rows: int) -> NDArray[np.int8]:
    """Every choice of 0, 1 or -1 for each of some rows."""
    import numpy as np

    return np.array(list(itertools.product((0, 1, -1), repeat=rows)), dtype=np.int8).reshape(3**rows, rows)
