"""The arcs of a lattice, as arrays.

A node is a position of the text, or in a lattice with a constraint a position and a state of the automaton.
Nodes are in order of their positions; node 0 is the start.  For the text ``aba`` and the pieces a, b, ab::

    positions 0 1 2 3      arcs, by source:   source  0 0 1 2
    ends      3                               target  1 2 2 3
                                              token   a ab b a
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

__all__ = ["ARC_BYTES", "Float64", "Graph", "Int32", "Int64"]

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]

ARC_BYTES = 80  # of an arc, while it is found and with its indexes
_NODES_OF_A_BLOCK = 4096  # whose arcs are Python lists at once


@dataclass(frozen=True)
class Graph:
    """An acyclic graph whose paths from the start to an end are segmentations, each exactly once.

    Attributes:
        positions: ``int32[nodes]``: positions in the text, in order.
        sources, targets: ``int32[arcs]``: nodes, ordered by source, then by the position of the target.
        tokens: ``int32[arcs]``: the token, the unknown one for an unknown character.
        scores: ``float64[arcs]``, in the type of the host's sums.
        ends: the nodes where a segmentation may end, in order.
    """

    positions: Int32
    sources: Int32
    targets: Int32
    tokens: Int32
    scores: Float64
    ends: tuple[int, ...]

    def __post_init__(self) -> None:
        for array in (self.positions, self.sources, self.targets, self.tokens, self.scores):
            array.setflags(write=False)  # callers see them

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return len(self.positions)

    @cached_property
    def starts(self) -> Int32:
        """``int32[arcs]``: where arcs start in the text."""
        starts = self.positions[self.sources]
        starts.setflags(write=False)
        return starts

    @cached_property
    def stops(self) -> Int32:
        """``int32[arcs]``: where arcs end in the text."""
        stops = self.positions[self.targets]
        stops.setflags(write=False)
        return stops

    @cached_property
    def out_offsets(self) -> Int64:
        """``int64[nodes + 1]``: the arcs out of node v are ``out_offsets[v]`` to ``out_offsets[v + 1]``."""
        return np.searchsorted(self.sources, np.arange(self.nodes + 1)).astype(np.int64)

    @cached_property
    def by_target(self) -> Int64:
        """``int64[arcs]``: the arcs by target, and for each target by source."""
        return np.argsort(self.targets, kind="stable")

    @cached_property
    def in_offsets(self) -> Int64:
        """``int64[nodes + 1]``: the arcs into node v are these of ``by_target``."""
        return np.searchsorted(self.targets[self.by_target], np.arange(self.nodes + 1)).astype(np.int64)

    def blocks(self, backward: bool = False) -> Iterator[range]:
        """The nodes in order, or from the last to the first, some thousands at a time."""
        for low in range(0, self.nodes, _NODES_OF_A_BLOCK):
            if backward:
                high = self.nodes - low
                yield range(high - 1, max(high - _NODES_OF_A_BLOCK, 0) - 1, -1)
            else:
                yield range(low, min(low + _NODES_OF_A_BLOCK, self.nodes))

    def with_arcs(self, kept: npt.NDArray[np.bool_], scores: Float64) -> Graph:
        """The same nodes with fewer arcs, and with other scores."""
        return Graph(
            self.positions, self.sources[kept], self.targets[kept], self.tokens[kept], scores[kept], self.ends
        )
