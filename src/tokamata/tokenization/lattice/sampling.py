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
*Stochastic Beams and Where to Find Them*, for the keys and the stable form of the condition.  Cost: the sums,
then about 3 µs for each piece of a sample with replacement, and 20 µs without.
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


def random_paths(
    graph: Graph, own: Float64, ends: list[float], draw: np.random.Generator, watch: Watch
) -> Iterator[list[int]]:
    """Paths without end, drawn with replacement.

    Args:
        graph: a graph with at least one path.
        own: the shares of its arcs.
        ends: the probabilities of its ends.
        draw: the source of random numbers.
        watch: counts memory.
    """
    watch.hold(_ARC_BYTES * len(graph.tokens))
    offsets, arcs = graph.in_offsets.tolist(), graph.by_target.tolist()
    sources, parts = graph.sources[graph.by_target].tolist(), own.tolist()
    while True:
        node = graph.ends[_chosen(ends, 0, len(ends), draw)]
        path = []
        while node:
            index = _chosen(parts, offsets[node], offsets[node + 1], draw)
            path.append(arcs[index])
            node = sources[index]
        yield path[::-1]


def _chosen(probabilities: list[float], low: int, high: int, draw: np.random.Generator) -> int:
    """An index from ``low`` to ``high``, with these probabilities, whose sum is 1."""
    if high - low == 1:
        return low
    left = float(draw.random())
    for index in range(low, high):
        left -= probabilities[index]
        if left < 0:
            return index
    return max(range(low, high), key=probabilities.__getitem__)  # the sum is 1 less its rounding


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
    watch.hold(_ARC_BYTES * len(graph.tokens))
    offsets, arcs = graph.in_offsets.tolist(), graph.by_target.tolist()
    sources, scores = graph.sources[graph.by_target], alpha * graph.scores[graph.by_target]
    logs, weights, from_nodes = (sums[sources] + scores).tolist(), scores.tolist(), sources.tolist()
    numbers = count()
    agenda: list[
        tuple[float, int, int, float, Rest]
    ] = []  # minus the key, a number, a node, a weight, the rest

    def split(key: float, parts: list[tuple[int, float, Rest]], own: list[float]) -> None:
        """Put the parts of a set in the agenda, the largest of whose keys is ``key``."""
        for part, part_key in zip(parts, _keys(own, key, draw), strict=True):
            heapq.heappush(agenda, (-part_key, next(numbers), *part))

    ends = [end for end in graph.ends if sums[end] > -inf]
    end_logs = [float(sums[end]) for end in ends]
    split(log_sum(end_logs) + _gumbel(draw), [(end, 0.0, None) for end in ends], end_logs)
    while agenda:
        minus_key, _, node, weight, rest = heapq.heappop(agenda)
        if node == 0:
            yield _listed(rest)
            watch = Watch(limits)
            continue
        watch.check()
        if len(agenda) * _CANDIDATE_BYTES > limits.memory_bytes:
            raise LimitExceeded("memory_bytes", limits.memory_bytes)
        reached = [index for index in range(offsets[node], offsets[node + 1]) if logs[index] > -inf]
        split(
            -minus_key,
            [(from_nodes[index], weight + weights[index], (arcs[index], rest)) for index in reached],
            [weight + logs[index] for index in reached],
        )


def _keys(logs: list[float], largest: float, draw: np.random.Generator) -> list[float]:
    """Gumbel variables around ``logs``, given that the largest of them is ``largest``."""
    if len(logs) == 1:
        return [largest]
    free = [one + _gumbel(draw) for one in logs]
    peak = max(free)
    keys = []
    for one in free:
        if one == peak:
            keys.append(largest)
            continue
        shift = largest - one + _log_1_minus_exp(one - peak)
        keys.append(largest - max(shift, 0.0) - log1p(exp(-abs(shift))))
    return keys


def _gumbel(draw: np.random.Generator) -> float:
    return -log(draw.exponential() or 5e-324)  # 0 is possible


def _log_1_minus_exp(x: float) -> float:
    """log(1 - exp(x)) for x < 0."""
    return log(-expm1(x)) if x > -_LOG_2 else log1p(-exp(x))


def _listed(rest: Rest) -> list[int]:
    arcs = []
    while rest is not None:
        arc, rest = rest
        arcs.append(arc)
    return arcs
