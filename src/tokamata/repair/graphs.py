"""All repairs within a bound, as the graph of the engine (``core/repair/graph.hpp``), in arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import tokamata._core as _core
from tokamata.limits import Limits, core_limits
from tokamata.repair.costs import TextCosts
from tokamata.repair.results import Edit
from tokamata.repair.searching import edit_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["STEPS", "RepairGraph", "followed", "repair_graph"]

STEPS = ("keep", "rewrite", "remove", "insert", "replace")  # as the engine numbers them
_EDGE = [
    ("source", "u4"),
    ("target", "u4"),
    ("step", "u4"),
    ("unused", "u4"),
    ("cost", "u8"),
]
_KINDS = 8


class RepairGraph(NamedTuple):
    """All repairs within a bound: each is a path from node 0 to an end.

    Attributes:
        positions: of each node, how many bytes of the text are read.
        modes: of each node, the number of its mode.
        ends: the nodes where a repair may end.
        source, target: of each edge.
        kind: of each edge, its number in :data:`STEPS`.
        operand: of each edge, the byte that is written, or the number of the rewrite.
        cost: of each edge.
        is_whole: the bound has left out nothing.
    """

    positions: NDArray[np.int64]
    modes: bytes
    ends: NDArray[np.int64]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    kind: NDArray[np.int64]
    operand: NDArray[np.int64]
    cost: NDArray[np.int64]
    is_whole: bool


def repair_graph(search: _core.RepairSearch, bound: int, is_exact: bool, limits: Limits) -> RepairGraph:
    """The repairs of a search that cost no more than a bound.

    Args:
        search: the search.
        bound: the highest cost.
        is_exact: whether the constraint accepts all of them; otherwise its over-approximation does.
        limits: of this call.

    Raises:
        LimitExceeded, Cancelled: the call was stopped.
    """
    import numpy as np

    positions, modes, ends, records, is_whole = search.graph(bound, is_exact, core_limits(limits))
    edges = np.frombuffer(records, dtype=_EDGE)
    return RepairGraph(
        np.frombuffer(positions, dtype="u4").astype(np.int64),
        modes,
        np.frombuffer(ends, dtype="u4").astype(np.int64),
        edges["source"].astype(np.int64),
        edges["target"].astype(np.int64),
        (edges["step"] % _KINDS).astype(np.int64),
        (edges["step"] // _KINDS).astype(np.int64),
        edges["cost"].astype(np.int64),
        is_whole,
    )


def followed(
    broken: bytes, costs: TextCosts, graph: RepairGraph, path: Iterable[int]
) -> tuple[bytes, tuple[Edit, ...]]:
    """The text and the edits of a path, whose edges are given by their numbers."""
    text, edits = bytearray(), []
    for edge in path:
        node, operand = graph.source[edge], int(graph.operand[edge])
        position, mode = int(graph.positions[node]), graph.modes[node]
        name, end, written = STEPS[graph.kind[edge]], position + 1, b""
        if name == "keep":
            written = broken[position:end]
        elif name == "rewrite":
            _, end, written, *_ = costs.span(operand)
        elif name != "remove":
            written = bytes([operand])
            end -= name == "insert"
        text += written
        if name != "keep" or costs.keeping(mode, position) > 0:
            number = operand if name == "rewrite" else 0
            edits.append(edit_of(costs, name, position, end, written, number, mode))
    return bytes(text), tuple(edits)
