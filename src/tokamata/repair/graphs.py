"""All repairs within a bound, as the graph of the engine (``core/repair/graph.hpp``), in arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import tokamata._core as _core
from tokamata._core import EditKind
from tokamata.repair.costs import TextCosts
from tokamata.repair.edits import Edit
from tokamata.repair.searching import edit_of
from tokamata.resources.limits import Limits, core_limits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "STEPS",
    "RepairGraph",
    "followed",
    "repair_graph",
]

STEPS = tuple(kind.name.lower() for kind in EditKind)
"""The names of the kinds of edges, by their numbers."""


class RepairGraph(NamedTuple):
    """All repairs within a bound: each is a path from node 0 to an end.

    Attributes:
        positions: of each node, how many bytes of the text are read.
        modes: of each node, the number of its mode.
        ends: the nodes where a repair may end.
        source, target: of each edge.
        kind: of each edge, its number in :data:`STEPS`.
        operand: of each edge, the byte that is written, or the number of the rewrite.
        byte_set: of each edge, the number in ``byte_sets`` of the bytes any of which it may write; 0: the
            operand alone.
        cost: of each edge.
        byte_sets: sets of bytes, in their order.
        is_whole: the bound has left out nothing.
    """

    positions: NDArray[np.int64]
    modes: bytes
    ends: NDArray[np.int64]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    kind: NDArray[np.int64]
    operand: NDArray[np.int64]
    byte_set: NDArray[np.int64]
    cost: NDArray[np.int64]
    byte_sets: list[bytes]
    is_whole: bool

    def choices(self, edge: int) -> bytes:
        """The bytes any of which an insertion or a replacement may write."""
        number = int(self.byte_set[edge])
        return self.byte_sets[number] if number else bytes((int(self.operand[edge]),))


def repair_graph(
    search: _core.RepairSearch, bound: int, is_exact: bool, limits: Limits, alternatives: bytes = b""
) -> RepairGraph:
    """The repairs of a search that cost no more than a bound.

    Args:
        search: the search.
        bound: the highest cost.
        is_exact: whether the constraint accepts all of them; otherwise its over-approximation does.
        limits: of this call.
        alternatives: of each position its ``_core.GraphBytes``; after its end ``CHEAPEST``.

    Raises:
        LimitExceeded, Cancelled: the call was stopped.
    """
    import numpy as np

    found = search.graph(bound, is_exact, alternatives, core_limits(limits))
    positions, modes, ends, source, target, kind, operand, byte_set, cost, byte_sets, is_whole = found
    return RepairGraph(
        positions.astype(np.int64),
        modes,
        ends.astype(np.int64),
        source.astype(np.int64),
        target.astype(np.int64),
        kind.astype(np.int64),
        operand.astype(np.int64),
        byte_set.astype(np.int64),
        cost.astype(np.int64),
        byte_sets,
        is_whole,
    )


def followed(
    broken: bytes, costs: TextCosts, graph: RepairGraph, path: Iterable[tuple[int, int]]
) -> tuple[bytes, tuple[Edit, ...]]:
    """The text and the edits of a path: numbers of edges, each with the byte that it writes.

    The byte counts where the edge inserts or replaces one; -1 stands for its operand.
    """
    text, edits = bytearray(), []
    for edge, byte in path:
        node, operand = graph.source[edge], int(graph.operand[edge])
        position, mode = int(graph.positions[node]), graph.modes[node]
        name, end, written = STEPS[graph.kind[edge]], position + 1, b""
        if name == "keep":
            written = broken[position:end]
        elif name == "rewrite":
            _, end, written, *_ = costs.span(operand)
        elif name != "remove":
            written = bytes([operand if byte < 0 else byte])
            end -= name == "insert"
        text += written
        if name != "keep" or costs.keeping(mode, position) > 0:
            number = operand if name == "rewrite" else 0
            edits.append(edit_of(costs, name, position, end, written, number, mode))
    return bytes(text), tuple(edits)
