"""Draws segmentations at random, each with a probability proportional to exp(alpha · sum of its scores).

Forward filtering, backward sampling: the weight of all ways to each node is summed once, forward.  Then a
sample goes from the end to the start, and takes each arc with the share that it has in the weight of its
node.  So each sample is exact, and no sample depends on another.

*Without replacement*, the next sample has the law of the first among the segmentations that are left.  To
remove what was drawn and draw again would subtract weights that are nearly equal.  Instead, each
segmentation has the key log weight + G, with independent standard Gumbel variables G, and those with the
largest keys are taken: that is the same law (Gumbel-max).  The keys are not drawn for all: of a set of
segmentations that share their end, the largest key is a Gumbel variable around the set's log weight.  A
search for the largest key splits such a set by the arc before, and draws the largest keys of the parts under
the condition that the largest of them is the known one.

Sources: Scott (2002) for forward filtering, backward sampling; Kool, van Hoof and Welling (2019),
*Stochastic Beams and Where to Find Them*, for the keys and the stable form of the condition.  Cost: linear in
arcs, COST each, for the sums; then for each piece of a sample COST with replacement, and COST without.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import count
from math import exp, expm1, inf, log, log1p

import numpy as np

from tokamata.errors import LimitExceeded
from tokamata.resources.limits import Limits, Watch
from tokamata.tokenization.lattice.graph import Float64, Graph
from tokamata.tokenization.lattice.sums import log_sum

__all__ = ["distinct_paths", "random_paths"]

_ARC_BYTES = 200
_CANDIDATE_BYTES = 300
_LOG_2 = log(2)
Rest = tuple[int, "Rest"] | None  # the arcs after a node, the next one first


class _Incoming:
    """The arcs into each node, as lists, with what sampling needs of them.

    Attributes:
        offsets: the arcs into node v are those from ``offsets[v]`` to ``offsets[v + 1]`` of the other lists.
        arcs: their numbers.
        sources: where they come from.
        weights: alpha · their scores.
        logs: the same with the logarithm of the weight of all ways to the source.
        ends: the ends that a path reaches.
        end_logs: for each of these the logarithm of the weight of all ways to it.
    """

    def __init__(self, graph: Graph, alpha: float, sums: Float64, watch: Watch) -> None:
        watch.hold(_ARC_BYTES * len(graph.tokens))
        sources = graph.sources[graph.by_target]
        weights = alpha * graph.scores[graph.by_target]
        self.offsets: list[int] = graph.in_offsets.tolist()
        self.arcs: list[int] = graph.by_target.tolist()
        self.sources: list[int] = sources.tolist()
        self.weights: list[float] = weights.tolist()
        self.logs: list[float] = (weights + sums[sources]).tolist()
        self.ends = [end for end in graph.ends if sums[end] > -inf]
        self.end_logs = [float(sums[end]) for end in self.ends]


def random_paths(
    graph: Graph, alpha: float, sums: Float64, draw: np.random.Generator, watch: Watch
) -> Iterator[list[int]]:
    """Paths without end, drawn with replacement.

    Args:
        graph: a graph with at least one path.
        alpha: the factor of scores.
        sums: its forward sums for ``alpha``.
        draw: the source of random numbers.
        watch: counts memory.
    """
    incoming = _Incoming(graph, alpha, sums, watch)
    while True:
        node = incoming.ends[_chosen(incoming.end_logs, draw)]
        path = []
        while node:
            low, high = incoming.offsets[node], incoming.offsets[node + 1]
            index = low + _chosen(incoming.logs[low:high], draw)
            path.append(incoming.arcs[index])
            node = incoming.sources[index]
        yield path[::-1]


def _chosen(logs: list[float], draw: np.random.Generator) -> int:
    """An index, with a probability proportional to the exponential."""
    if len(logs) == 1:
        return 0
    largest = max(logs)
    weights = [exp(one - largest) for one in logs]
    left = float(draw.random()) * sum(weights)
    for index, weight in enumerate(weights):
        left -= weight
        if left < 0:
            return index
    return weights.index(1.0)  # rounding only


def distinct_paths(
    graph: Graph, alpha: float, sums: Float64, draw: np.random.Generator, limits: Limits
) -> Iterator[list[int]]:
    """All paths, in the order in which they are drawn without replacement.

    Args:
        graph: a graph with at least one path.
        alpha: the factor of scores.
        sums: its forward sums for ``alpha``.
        draw: the source of random numbers.
        limits: bounds on all memory, and on the time to each path.

    Raises:
        LimitExceeded: one is exceeded.
    """
    watch = Watch(limits)
    incoming = _Incoming(graph, alpha, sums, watch)
    numbers = count()
    agenda: list[
        tuple[float, int, int, float, Rest]
    ] = []  # minus the key, a number, a node, a weight, the rest

    def split(key: float, parts: list[tuple[int, float, Rest]], logs: list[float]) -> None:
        """Put the parts of a set in the agenda, the largest of whose keys is ``key``."""
        for part, own in zip(parts, _keys(logs, key, draw), strict=True):
            heapq.heappush(agenda, (-own, next(numbers), *part))

    first = log_sum(incoming.end_logs) - log(draw.exponential())
    split(first, [(end, 0.0, None) for end in incoming.ends], incoming.end_logs)
    while agenda:
        minus_key, _, node, weight, rest = heapq.heappop(agenda)
        if node == 0:
            yield _listed(rest)
            watch = Watch(limits)
            continue
        watch.check()
        if len(agenda) * _CANDIDATE_BYTES > limits.memory_bytes:
            raise LimitExceeded("memory_bytes", limits.memory_bytes)
        low, high = incoming.offsets[node], incoming.offsets[node + 1]
        reached = [index for index in range(low, high) if incoming.logs[index] > -inf]
        split(
            -minus_key,
            [
                (incoming.sources[index], weight + incoming.weights[index], (incoming.arcs[index], rest))
                for index in reached
            ],
            [weight + incoming.logs[index] for index in reached],
        )


def _keys(logs: list[float], largest: float, draw: np.random.Generator) -> list[float]:
    """Gumbel variables around ``logs``, given that the largest of them is ``largest``."""
    if len(logs) == 1:
        return [largest]
    free = [one - log(draw.exponential()) for one in logs]
    peak = max(free)
    keys = []
    for one in free:
        if one == peak:
            keys.append(largest)
            continue
        shift = largest - one + _log_1_minus_exp(one - peak)
        keys.append(largest - max(shift, 0.0) - log1p(exp(-abs(shift))))
    return keys


def _log_1_minus_exp(x: float) -> float:
    """log(1 - exp(x)) for x < 0."""
    return log(-expm1(x)) if x > -_LOG_2 else log1p(-exp(x))


def _listed(rest: Rest) -> list[int]:
    arcs = []
    while rest is not None:
        arc, rest = rest
        arcs.append(arc)
    return arcs
