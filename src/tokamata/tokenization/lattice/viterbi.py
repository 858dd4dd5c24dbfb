"""The host's own best segmentation: its loop, its rounding, its ties.

    for each position, in order:
        for each piece that begins here:
            sum = rounded(score + sum of this position)
            if nothing ends where the piece ends, or sum > the sum there: keep this piece there

The sum that is kept is the largest over *all* ways to come to a position, each summed from the left: rounding
never changes an order, so to extend the best way is best.  So a prefix of the best segmentation is the best
segmentation of its own text.

Cost: linear in arcs, 0.5 µs each.
"""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass

from tokamata.resources.limits import Watch
from tokamata.tokenization.lattice.graph import Graph
from tokamata.tokenization.lattice.hosts import SUM_BOUND, Host

__all__ = ["Best", "host_best"]


@dataclass(frozen=True)
class Best:
    """The best path of a graph whose nodes are positions.

    Attributes:
        arcs: the arcs of the path, in order; ``None`` if there is no path.
        resets: where SentencePiece subtracted a sum from those that it keeps: the position and that sum.
    """

    arcs: list[int] | None
    resets: tuple[tuple[int, float], ...]


def host_best(graph: Graph, host: Host, watch: Watch) -> Best:
    """The path that the host's encoder takes.

    Raises:
        LimitExceeded: the time is over.
    """
    sums = array(host.typecode, [-math.inf]) * graph.nodes
    sums[0] = 0.0
    back = array("q", [-1]) * graph.nodes
    bound = SUM_BOUND if host is Host.SENTENCE_PIECE else math.inf
    frontier = 0  # the last position that a piece has come to
    resets: list[tuple[int, float]] = []
    for block in graph.blocks():
        watch.check()
        offsets = graph.out_offsets[block.start : block.stop + 1].tolist()
        base = offsets[0]
        targets = graph.targets[base : offsets[-1]].tolist()
        scores = graph.scores[base : offsets[-1]].tolist()
        for node, low, high in zip(block, offsets, offsets[1:], strict=False):
            here = sums[node]
            if here == -math.inf:
                continue
            if abs(here) > bound and node < graph.nodes - 1:
                resets.append((node, here))
                for later in range(node, frontier + 1):
                    sums[later] -= here  # -inf stays
                here = 0.0
            for arc in range(low - base, high - base):
                target = targets[arc]
                kept = sums[target]
                candidate = scores[arc] + here
                if candidate > kept:  # not rounded yet: rounded, it may be equal
                    sums[target] = candidate
                    if sums[target] > kept:
                        back[target] = arc + base
                        if target > frontier:
                            frontier = target
    end = graph.ends[0]
    if end and back[end] < 0:
        return Best(None, tuple(resets))
    path = []
    while end:
        path.append(back[end])
        end = int(graph.sources[back[end]])
    return Best(path[::-1], tuple(resets))
