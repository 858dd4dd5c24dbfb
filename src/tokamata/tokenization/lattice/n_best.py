"""All segmentations, the best first, one at a time.

Two orders:

- ``"host"``: by the host's rounded sum, from the left.  Of equal sums, the way whose last piece is longer
  comes first, and of equal last pieces the better way before it.  The first is the host's own.
- ``"lexicographic"``: by the exact sum, without rounding.  Of equal sums, the least sequence of token ids
  comes first, as paper 004 has it in theorem 2.  Scores are binary fractions, so their sums are whole
  numbers of one small unit, and Python's integers hold them.

Both are total orders, and to extend two ways by one piece keeps their order (rounding is monotone).  So the
best ways to a node are the best ways to the nodes before it, each with one piece more, and merging these
lists lazily yields them in order: a heap for each node has one candidate for each arc, and the candidate that
is taken is replaced by the next best way to the same arc.

    text aa, pieces a (-1), aa (-2)      node 2: [aa -2] and [a a -2]; equal, the longer last piece first

Lexicographic order reads from the left, so there the same is done from the end of the text to its start.

Source: Huang and Chiang (2005), *Better k-best Parsing*, algorithm 3.  Cost: linear in arcs for the first,
then for each further one a heap operation for each piece of it at most.  A* (as in both hosts) keeps partial
ways in one agenda, which grows exponentially where scores are equal; both hosts cut it, and then their
result is not exact.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Callable, Iterator
from functools import partial

from tokamata.errors import LimitExceeded
from tokamata.resources.limits import Limits, Watch
from tokamata.tokenization.lattice.graph import Graph
from tokamata.tokenization.lattice.hosts import Host

__all__ = ["best_paths"]

_WAY_BYTES = 200

Extend = Callable[["float | int", int], "float | int"]  # the sum of a way and an arc more


class _Way:
    """A way to a node; ``a < b`` if a comes first.

    Attributes:
        value: its sum.
        arc: its last arc.
        order: what orders ways of one sum by their last piece.
        rank: how many ways to the node before it are better than the way that it extends.
        before: that way; ``None`` at the start.
    """

    __slots__ = ("arc", "before", "order", "rank", "value")

    def __init__(self, value: float | int, arc: int, order: int, rank: int, before: _Way | None) -> None:
        self.value = value
        self.arc = arc
        self.order = order
        self.rank = rank
        self.before = before

    def __lt__(self, other: _Way) -> bool:
        mine: _Way | None = self
        theirs: _Way | None = other
        while mine is not None and theirs is not None and mine is not theirs:
            if mine.value != theirs.value:
                return mine.value > theirs.value
            if mine.order != theirs.order:
                return mine.order < theirs.order
            mine, theirs = mine.before, theirs.before
        return False

    def arcs(self) -> list[int]:
        """Its arcs, the last first."""
        found = []
        way: _Way | None = self
        while way is not None and way.before is not None:
            found.append(way.arc)
            way = way.before
        return found


def best_paths(
    graph: Graph, host: Host | None, resets: tuple[tuple[int, float], ...], limits: Limits
) -> Iterator[list[int]]:
    """The paths of a graph in order.

    Args:
        graph: the graph.
        host: the host for its order; ``None`` for lexicographic order.
        resets: of :class:`.viterbi.Best`.
        limits: bounds on all memory, and on the time to each path.

    Raises:
        LimitExceeded: one is exceeded.
    """
    watch = Watch(limits)
    watch.hold(3 * _WAY_BYTES * graph.nodes + _WAY_BYTES * len(graph.tokens) // 2)
    if host is None:
        orders = (graph.tokens.astype("int64") << 32 | graph.stops).tolist()
        merged = _Merged(graph, True, orders, _exact(graph), watch)
    else:
        orders = graph.starts.tolist()
        merged = _Merged(graph, False, orders, _rounded(graph, host, resets), watch)
    for way in merged.ways(limits):
        yield way.arcs() if host is None else way.arcs()[::-1]


class _Merged:
    """The lists of best ways, one for each node, as far as they are made.

    Args:
        graph: the graph.
        backward: whether ways go from an end to the start.
        orders: for each arc, what orders ways that end with it.
        extend: the sum of a way with an arc more.
        watch: stops the work.
    """

    def __init__(self, graph: Graph, backward: bool, orders: list[int], extend: Extend, watch: Watch) -> None:
        self._orders = orders
        self._extend = extend
        self._before = (graph.targets if backward else graph.sources).tolist()
        self._offsets = (graph.out_offsets if backward else graph.in_offsets).tolist()
        self._arcs = range(len(graph.tokens)) if backward else graph.by_target.tolist()
        self._ranked: list[list[_Way]] = [[] for _ in range(graph.nodes)]
        self._heaps: list[list[_Way] | None] = [None] * graph.nodes
        self._is_complete = bytearray(graph.nodes)
        self._last = [0] if backward else list(graph.ends)
        self._made = 0
        start = _Way(0, -1, 0, 0, None)
        for node in graph.ends if backward else (0,):
            self._ranked[node].append(start)
        for block in graph.blocks(backward):
            watch.check()
            for node in block:
                self._add_best(node)

    def ways(self, limits: Limits) -> Iterator[_Way]:
        """The ways to the last nodes, merged."""
        heap = [(self._ranked[node][0], node) for node in self._last if self._ranked[node]]
        heapq.heapify(heap)
        ranks = dict.fromkeys(self._last, 0)
        while heap:
            way, node = heapq.heappop(heap)
            yield way
            watch = Watch(limits)
            ranks[node] += 1
            if len(self._ranked[node]) <= ranks[node]:
                self._add_next(node, watch)
            if len(self._ranked[node]) > ranks[node]:
                heapq.heappush(heap, (self._ranked[node][ranks[node]], node))
            if self._made * _WAY_BYTES > limits.memory_bytes:
                raise LimitExceeded("memory_bytes", limits.memory_bytes)

    def _arcs_of(self, node: int) -> range | list[int]:
        return self._arcs[self._offsets[node] : self._offsets[node + 1]]

    def _way(self, arc: int, rank: int) -> _Way:
        before = self._ranked[self._before[arc]][rank]
        return _Way(self._extend(before.value, arc), arc, self._orders[arc], rank, before)

    def _add_best(self, node: int) -> None:
        """The best way to a node, once the nodes before it have theirs."""
        ways = [self._way(arc, 0) for arc in self._arcs_of(node) if self._ranked[self._before[arc]]]
        if ways:
            self._ranked[node].append(min(ways))

    def _add_next(self, node: int, watch: Watch) -> None:
        """One more way to a node, if there is one; first one more to nodes before it, where it needs that."""
        pending = [node]
        while pending:
            watch.check()
            here = pending[-1]
            last = self._ranked[here][-1]
            heap = self._heaps[here]
            if heap is None:
                heap = [
                    self._way(arc, 0)
                    for arc in self._arcs_of(here)
                    if arc != last.arc and self._ranked[self._before[arc]]
                ]
                heapq.heapify(heap)
                self._heaps[here] = heap
                self._made += len(heap)
            if last.before is not None:
                before, rank = self._before[last.arc], last.rank + 1
                if len(self._ranked[before]) > rank:
                    heapq.heappush(heap, self._way(last.arc, rank))
                elif not self._is_complete[before]:
                    pending.append(before)
                    continue
            if heap:
                self._ranked[here].append(heapq.heappop(heap))
                self._made += 1
            else:
                self._is_complete[here] = True
            pending.pop()


def _rounded(graph: Graph, host: Host, resets: tuple[tuple[int, float], ...]) -> Extend:
    """The host's sums; see :mod:`.viterbi` for the resets."""
    scores = graph.scores.tolist()
    if host is Host.HUGGING_FACE:
        return lambda value, arc: value + scores[arc]
    register = array(host.typecode, [0.0])

    def rounded(value: float) -> float:
        register[0] = value
        return float(register[0])

    if not resets:
        return lambda value, arc: rounded(value + scores[arc])
    starts, stops = graph.starts.tolist(), graph.stops.tolist()

    def extended(value: float | int, arc: int) -> float:
        result = rounded(value + scores[arc])
        for position, subtracted in resets[_first_after(resets, starts[arc]) :]:
            if position > stops[arc]:
                break
            result = rounded(result - subtracted)
        return result

    return extended


def _first_after(resets: tuple[tuple[int, float], ...], position: int) -> int:
    """The index of the first reset after a position."""
    low, high = 0, len(resets)
    while low < high:
        middle = (low + high) // 2
        if resets[middle][0] > position:
            high = middle
        else:
            low = middle + 1
    return low


def _exact(graph: Graph) -> Extend:
    """Sums without rounding, in the largest unit of which every score is a multiple."""
    fractions = [score.as_integer_ratio() for score in graph.scores.tolist()]
    unit = max((denominator for _, denominator in fractions), default=1)
    return partial(_plus, [numerator * (unit // denominator) for numerator, denominator in fractions])


def _plus(scores: list[int], value: float | int, arc: int) -> float | int:
    return value + scores[arc]
