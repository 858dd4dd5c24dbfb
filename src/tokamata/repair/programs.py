"""Repairs as an integer program: the cheapest path of a graph in which edits are coupled.

Problem.  An automaton cannot couple edits that stand apart, but by counting in its states.  ``at_most``
bounds how many edits of some kinds a repair makes.  With one kind and a small number the counters do
(Dijkstra over position, state and count); with several kinds, or numbers such as 20, their product
multiplies the graph by all of them.  The program has one row for each kind, whatever the number, and its
relaxation is bounded well by :mod:`.couplings`.

Example.  Two edges that remove a byte, on different paths to the end, and ``at_most={"remove": 0}``: the
columns are the edges; each node has a row, and so has "remove"::

             a→b   a→c   b→d   c→d
    a          1     1                = 1
    b         -1           1          = 0
    c               -1           1    = 0
    d                     -1    -1    = -1
    remove     1                      ≤ 0

How.  One unknown for each edge: 1 if the repair takes it.  What flows into a node flows out of it; 1 leaves
the start.  The graph needs no unrolling by cycles of insertions: a flow of 1 is a path and perhaps some
circles, and without the circles it costs no more and makes no more edits of any kind.  The relaxation is
solved first, by the dual simplex method, which ends in a vertex; a whole vertex is the optimum.  Otherwise
HiGHS branches.

Names that are written alike.  In the graph of :mod:`.unfolding`, edges that end an occurrence of a name are
marked with its spelling.  There is one unknown more for each spelling of each name, and at most one of a name
is 1.  Of each occurrence and each spelling there is a row: the edges that are marked so are at most the
unknown of the spelling.

Unimodularity.  Without rows that couple, the matrix is that of a network, and totally unimodular at sight,
with cycles too.  With such rows a vertex that is not whole proves that it is not (Hoffman and Kruskal
1956); a whole vertex proves nothing, so the report says no more than that.  Small matrices are decided
(:mod:`.unimodularity`).

Exactness.  HiGHS computes in floating-point numbers.  The path is read from the unknowns, and its cost and
edits are counted in whole numbers.  That nothing is cheaper is HiGHS's word, within its tolerances: no
certificate says so.

Cost.  Exponential in the worst case (Handler and Zang 1980: constrained shortest paths are NP-hard).
Source.  HiGHS: Huangfu and Hall 2018, through ``scipy.optimize``.  Ahuja, Magnanti and Orlin 1993 for
networks.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from tokamata.errors import MissingExtraError
from tokamata.repair.unimodularity import MOST_ROWS, is_totally_unimodular

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["CoupledGraph", "Program", "Solution", "Unimodularity", "check_solver", "solved"]

Unimodularity = Literal[
    "network matrix", "totally unimodular", "not totally unimodular", "integral, not proven"
]

# What HiGHS, its branches and scipy's copies took at most, in programs of up to 40,000 edges.
BYTES_OF_AN_EDGE = 4500
_IS_WHOLE = 1e-6  # the tolerance of HiGHS
_OPTIMAL, _STOPPED, _INFEASIBLE = 0, 1, 2  # what scipy says


@dataclass(frozen=True)
class Program:
    """How the edits of a repair with ``at_most`` or ``alike`` were chosen.

    Attributes:
        at_most: how many edits of each name there may be.
        programs: how many integer programs were solved; 0: multipliers alone have closed the gap.
        rows, columns: of the last program's matrix, 0 if there was none.
        branch_nodes: nodes of branch and bound of all programs; 0: each relaxation had a whole optimum.
        gap: (cost - lower bound) / cost; 0 if the repair is optimal.
        alike: the names, as they stand in the broken text, whose occurrences a program has coupled; of the
            others the cheapest repair writes all alike.
        unimodular: what is known of the last program's matrix.  ``"network matrix"``: no bound on edits
            excludes the cheapest repair, and without those bounds each column has one 1 and one -1.
            ``"totally unimodular"``, ``"not totally unimodular"``: proven.  ``"integral, not proven"``: the
            relaxation had a whole optimum, which the matrix may owe to the costs.
    """

    at_most: Mapping[str, int]
    programs: int
    rows: int
    columns: int
    branch_nodes: int
    gap: float
    unimodular: Unimodularity
    alike: tuple[bytes, ...] = ()


class CoupledGraph(NamedTuple):
    """A graph of repairs, as arrays over its edges.

    Attributes:
        nodes: how many there are; the first is the start.
        ends: the nodes where a repair may end.
        source, target: nodes.
        cost: whole numbers.
        coupled: which bound counts the edge; -1: none.
        marks: the edges that write spellings of names, of which each name may have one; ``None``: there are
            none.
    """

    nodes: int
    ends: NDArray[np.int64]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    cost: NDArray[np.int64]
    coupled: NDArray[np.int64]
    marks: Marks | None = None


class Marks(NamedTuple):
    """Which edges write a spelling of an occurrence of a name.

    Attributes:
        edges, rows: pairs: an edge, and the number of an occurrence with a spelling that it writes.
        spellings: of each row, the number of its spelling.
        names: of each spelling, the number of its name.
    """

    edges: NDArray[np.int64]
    rows: NDArray[np.int64]
    spellings: NDArray[np.int64]
    names: NDArray[np.int64]


class Solution(NamedTuple):
    """What the program says.

    Attributes:
        path: the edges of the best path found; ``None``: none was found.
        bound: no path costs less; ``None``: there is no path at all.
        is_optimal: whether the path costs no more than any other.
        branch_nodes: nodes of branch and bound.
        rows, columns: of the matrix.
        unimodular: what is known of the matrix.
    """

    path: list[int] | None
    bound: int | None
    is_optimal: bool
    branch_nodes: int
    rows: int
    columns: int
    unimodular: Unimodularity


def check_solver() -> None:
    """Raises :class:`tokamata.MissingExtraError` if scipy is not installed, or too old."""
    try:
        from scipy.optimize import milp  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("scipy", "repair", "repair(…) with at_most or alike") from error


def solved(graph: CoupledGraph, most: Sequence[int], seconds: float) -> Solution:
    """Solves the program of a graph.

    Args:
        graph: the graph.
        most: how many edges each bound admits.
        seconds: when to stop.
    """
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, linprog, milp

    end = time.monotonic() + seconds
    flow, supply, couplings, bounds = _matrices(graph, most)
    rows, columns = flow.shape[0] + couplings.shape[0], flow.shape[1]
    steps = len(graph.cost) + len(graph.ends)  # then come spellings
    costs = np.concatenate([graph.cost, np.zeros(columns - len(graph.cost), np.int64)]).astype(float)
    small = None
    if rows <= MOST_ROWS:
        dense = np.vstack([flow.toarray(), couplings.toarray()]).astype(int).tolist()
        small = is_totally_unimodular(dense)

    def solution(path: list[int] | None, bound: int | None, nodes: int, whole: bool | None) -> Solution:
        known: Unimodularity = "integral, not proven" if whole is not False else "not totally unimodular"
        if small is not None:
            known = "totally unimodular" if small else "not totally unimodular"
        is_optimal = path is not None and bound == int(graph.cost[path].sum())
        return Solution(path, bound, is_optimal, nodes, rows, columns, known)

    relaxed = linprog(
        costs,
        A_ub=couplings,
        b_ub=bounds,
        A_eq=flow,
        b_eq=supply,
        bounds=(0, 1),
        method="highs-ds",
        options={"time_limit": max(seconds, 1e-3)},
    )
    if relaxed.status == _INFEASIBLE:
        return solution(None, None, 0, None)
    if relaxed.status != _OPTIMAL:
        return solution(None, 0, 0, None)
    if np.all(np.abs(relaxed.x[:steps] - np.rint(relaxed.x[:steps])) < _IS_WHOLE):
        path = _path(graph, relaxed.x)
        return solution(path, int(graph.cost[path].sum()), 0, True)
    left = end - time.monotonic()
    least = _rounded_up(relaxed.fun)
    if left <= 0:
        return solution(None, least, 0, False)
    branched = milp(
        costs,
        integrality=np.ones(columns),
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(flow, supply, supply),
            LinearConstraint(couplings, -np.inf, bounds),
        ],
        options={"time_limit": left, "mip_rel_gap": 0.0},
    )
    nodes = int(branched.mip_node_count or 0)
    if branched.status == _INFEASIBLE:
        return solution(None, None, nodes, False)
    found = None if branched.x is None else _path(graph, branched.x)
    if branched.status == _OPTIMAL and found is not None:
        return solution(found, int(graph.cost[found].sum()), nodes, False)
    if branched.mip_dual_bound is not None and math.isfinite(branched.mip_dual_bound):
        least = max(least, _rounded_up(branched.mip_dual_bound))
    return solution(found, least, nodes, False)


def _matrices(
    graph: CoupledGraph, most: Sequence[int]
) -> tuple[Any, NDArray[np.float64], Any, NDArray[np.float64]]:
    """Rows of the nodes and of one sink after all ends, the rows that couple, and the right sides of both.

    The columns are edges, ends and spellings.
    """
    import numpy as np
    from scipy.sparse import csr_array

    edges, ends = len(graph.source), len(graph.ends)
    every = np.arange(edges + ends)
    columns = edges + ends + (0 if graph.marks is None else len(graph.marks.names))
    source = np.concatenate([graph.source, graph.ends])
    target = np.concatenate([graph.target, np.full(ends, graph.nodes)])
    flow = csr_array(
        (
            np.concatenate([np.ones(edges + ends), -np.ones(edges + ends)]),
            (np.concatenate([source, target]), np.concatenate([every, every])),
        ),
        shape=(graph.nodes + 1, columns),
    )
    supply = np.zeros(graph.nodes + 1)
    supply[0], supply[-1] = 1, -1
    counted = np.flatnonzero(graph.coupled >= 0)
    entries = [(np.ones(len(counted)), graph.coupled[counted], counted)]
    bounds = [np.array(most, float)]
    if graph.marks is not None:
        marks, first = graph.marks, len(most)
        rows, spellings = len(marks.spellings), np.arange(len(marks.names))
        # An edge that writes a spelling needs the spelling, and of these a name has one.
        entries += [
            (np.ones(len(marks.edges)), first + marks.rows, marks.edges),
            (-np.ones(rows), first + np.arange(rows), edges + ends + marks.spellings),
            (np.ones(len(spellings)), first + rows + marks.names, edges + ends + spellings),
        ]
        bounds += [np.zeros(rows), np.ones(int(marks.names.max(initial=-1)) + 1)]
    right = np.concatenate(bounds)
    values, at_rows, at_columns = (np.concatenate(one) for one in zip(*entries, strict=True))
    couplings = csr_array((values, (at_rows, at_columns)), shape=(len(right), columns))
    return flow, supply, couplings, right


def _path(graph: CoupledGraph, x: NDArray[np.float64]) -> list[int]:
    """A path to an end through the edges taken: what is left of the flow without its circles."""
    import numpy as np

    edges = len(graph.source)
    taken = np.flatnonzero(x[:edges] > 0.5)
    ends = set(graph.ends[x[edges : edges + len(graph.ends)] > 0.5].tolist())
    out: dict[int, list[int]] = {}
    for edge in taken.tolist():
        out.setdefault(int(graph.source[edge]), []).append(edge)
    arrived: dict[int, int | None] = {0: None}
    open_ = deque([0])
    while True:  # a flow from the start to an end has a path
        node = open_.popleft()
        if node in ends:
            path = []
            while (edge := arrived[node]) is not None:
                path.append(edge)
                node = int(graph.source[edge])
            return path[::-1]
        for edge in out.get(node, ()):
            if (target := int(graph.target[edge])) not in arrived:
                arrived[target] = edge
                open_.append(target)


def _rounded_up(bound: float) -> int:
    """The least whole cost that is not below a bound, which may be too high by its rounding."""
    return max(0, math.ceil(bound - _IS_WHOLE * (1 + abs(bound))))
