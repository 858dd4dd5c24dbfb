"""The positions of states, edges and labels: a layered drawing from left to right.

Sugiyama, Tagawa and Toda, *Methods for Visual Understanding of Hierarchical System Structures*, 1981,
in the form of Gansner, Koutsofios, North and Vo, *A Technique for Drawing Directed Graphs*, 1993:

1. Depth first from the start, edges that lead back are reversed; the result has no cycle.
2. A state's layer is the length of the longest path to it, times two.  Odd layers are for labels.
3. An edge becomes a chain of points, one in each layer that it crosses; the middle one carries the
   label and has its size.  So no label can overlap a state or another label.
4. Within layers, points are sorted by the mean position of their neighbours, in sweeps to and fro;
   the order with the fewest crossings is kept.
5. Heights: each point moves to the mean height of its neighbours, as far as the distances between
   points allow (least squares; pool adjacent violators).

Loops are above their states and part of their size.

Cost: edges times layers, times the number of rounds; :func:`points` returns the number of points
beforehand.  Rejected: Gansner's network simplex for layers and heights, which is better, but ten times
as long.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

_ORDER_ROUNDS = 12  # sweeps that reduce crossings
_HEIGHT_ROUNDS = 16  # sweeps that straighten edges
_GAP_X = 16.0  # between layers, and between points of a layer
_GAP_Y = 10.0
_BARE = (0.0, 2.0, 2.0)  # the size of a line without a label
_CHAIN_WEIGHT = 6.0  # how much straighter the inside of an edge is kept than its ends


@dataclass
class Point:
    """A state, or a point at which an edge crosses a layer.

    Attributes:
        width: its width, half of it on either side of ``x``.
        above: its height above ``y``.
        below: its height below ``y``.
        layer: its layer, from the left.
        x: its distance from the left.
        y: its distance from the top: of the middle of a state, or of a line.
        before: its neighbours in the previous layer.
        after: its neighbours in the next layer.
        is_state: whether it is a state.
    """

    width: float
    above: float
    below: float
    layer: int = 0
    x: float = 0.0
    y: float = 0.0
    before: list[int] = field(default_factory=list)
    after: list[int] = field(default_factory=list)
    is_state: bool = False


@dataclass(frozen=True)
class Layout:
    """A finished drawing, in units of a pixel.

    Attributes:
        points: first the states, in order; then the points of the edges.
        chains: for each edge the points between its source and its target, in this order.
        width: the width of the drawing.
        height: its height.
    """

    points: list[Point]
    chains: list[list[int]]
    width: float
    height: float


Ends = tuple[int, int]
Size = tuple[float, float, float]  # width, above, below


def layers_of(states: int, start: int, edges: Sequence[Ends]) -> list[int]:
    """The layer of each state: twice the longest path to it, with edges that lead back reversed."""
    after: list[list[int]] = [[] for _ in range(states)]
    for source, target in edges:
        if source != target:
            after[source].append(target)
    order, backward = _depth_first(states, start, after)
    layers = [0] * states
    forward: list[list[int]] = [[] for _ in range(states)]
    for source, targets in enumerate(after):
        for target in targets:
            low, high = (target, source) if (source, target) in backward else (source, target)
            forward[low].append(high)
    for state in order:
        for target in forward[state]:
            layers[target] = max(layers[target], layers[state] + 2)
    return layers


def points(layers: Sequence[int], edges: Sequence[Ends]) -> int:
    """The number of points of a drawing with these layers."""
    return len(layers) + sum(max(abs(layers[s] - layers[t]) - 1, 0) for s, t in edges)


def lay_out(
    layers: Sequence[int], sizes: Sequence[Size], edges: Sequence[Ends], labels: Sequence[Size]
) -> Layout:
    """Place states and edges.

    Args:
        layers: the layers of the states, from :func:`layers_of`.
        sizes: the width of each state, and its heights above and below its middle.
        edges: the source and the target of each; loops have no points.
        labels: the sizes of the edges' labels, above and below their lines.
    """
    nodes = [Point(*size, layer, is_state=True) for size, layer in zip(sizes, layers, strict=True)]
    chains = [
        _chain(nodes, source, target, label) for (source, target), label in zip(edges, labels, strict=True)
    ]
    ranks: list[list[int]] = [[] for _ in range(max(layers) + 1)]
    for number, node in enumerate(nodes):
        ranks[node.layer].append(number)
    ranks = _ordered(nodes, ranks)
    width = _set_columns(nodes, ranks)
    _set_heights(nodes, ranks)
    top = min(node.y - node.above for node in nodes)
    for node in nodes:
        node.y -= top
    return Layout(nodes, chains, width, max(node.y + node.below for node in nodes))


def _depth_first(states: int, start: int, after: Sequence[Sequence[int]]) -> tuple[list[int], set[Ends]]:
    """A topological order of the states, and the edges that lead back in it."""
    finished: list[int] = []
    backward: set[Ends] = set()
    open_, seen = set(), set()
    for root in (start, *range(states)):
        if root in seen:
            continue
        seen.add(root)
        open_.add(root)
        path = [(root, iter(after[root]))]
        while path:
            state, targets = path[-1]
            for target in targets:
                if target in open_:
                    backward.add((state, target))
                elif target not in seen:
                    seen.add(target)
                    open_.add(target)
                    path.append((target, iter(after[target])))
                    break
            else:
                path.pop()
                open_.remove(state)
                finished.append(state)
    return finished[::-1], backward


def _chain(nodes: list[Point], source: int, target: int, label: Size) -> list[int]:
    """Add the points of one edge; those of an edge that leads back go from right to left."""
    low, high = sorted((source, target), key=lambda state: nodes[state].layer)
    first, last = nodes[low].layer, nodes[high].layer
    chain = []
    previous = low
    for layer in range(first + 1, last):
        nodes.append(Point(*(label if layer == (first + last) // 2 else _BARE), layer))
        number = len(nodes) - 1
        _link(nodes, previous, number)
        chain.append(number)
        previous = number
    if chain:
        _link(nodes, previous, high)
    return chain if low == source else chain[::-1]


def _link(nodes: list[Point], low: int, high: int) -> None:
    nodes[low].after.append(high)
    nodes[high].before.append(low)


def _ordered(nodes: Sequence[Point], ranks: list[list[int]]) -> list[list[int]]:
    """The order within layers with the fewest crossings, of those that sweeps to and fro find."""
    best = [list(rank) for rank in ranks]
    fewest = _crossings(nodes, best)
    ranks = [list(rank) for rank in ranks]
    for sweep in range(_ORDER_ROUNDS):
        if fewest == 0:
            break
        forth = sweep % 2 == 0
        for rank in ranks if forth else reversed(ranks):
            _sort_by_neighbours(nodes, ranks, rank, forth)
        crossings = _crossings(nodes, ranks)
        if crossings < fewest:
            fewest = crossings
            best = [list(rank) for rank in ranks]
    return best


def _sort_by_neighbours(
    nodes: Sequence[Point], ranks: Sequence[Sequence[int]], rank: list[int], forth: bool
) -> None:
    """Sort one layer by the mean position of its neighbours on one side; without any, a point stays."""
    if not rank:
        return
    layer = nodes[rank[0]].layer + (-1 if forth else 1)
    if not 0 <= layer < len(ranks):
        return
    position = {number: at for at, number in enumerate(ranks[layer])}
    keys = {}
    for at, number in enumerate(rank):
        neighbours = nodes[number].before if forth else nodes[number].after
        positions = [position[other] for other in neighbours]
        keys[number] = sum(positions) / len(positions) if positions else float(at)
    rank.sort(key=keys.__getitem__)


def _crossings(nodes: Sequence[Point], ranks: Sequence[Sequence[int]]) -> int:
    """The number of crossings between neighbouring layers: the inversions of the edges' ends."""
    count = 0
    for rank, following in pairwise(ranks):
        position = {number: at for at, number in enumerate(following)}
        seen: list[int] = []
        for number in rank:
            ends = sorted(position[other] for other in nodes[number].after)
            count += sum(len(seen) - bisect_left(seen, end + 1) for end in ends)
            for end in ends:
                insort(seen, end)
    return count


def _set_columns(nodes: Sequence[Point], ranks: Sequence[Sequence[int]]) -> float:
    """Set every x; a layer is as wide as its widest point.  Returns the total width."""
    x = 0.0
    for rank in ranks:
        width = max((nodes[number].width for number in rank), default=0.0)
        for number in rank:
            nodes[number].x = x + width / 2
        x += width + _GAP_X
    return x - _GAP_X


def _set_heights(nodes: Sequence[Point], ranks: Sequence[Sequence[int]]) -> None:
    """Set every y, sweeping to and fro."""
    for rank in ranks:
        _pushed_apart(nodes, rank, [0.0] * len(rank))
    for sweep in range(_HEIGHT_ROUNDS):
        for rank in ranks if sweep % 2 == 0 else reversed(ranks):
            _pushed_apart(nodes, rank, [_wanted(nodes, number) for number in rank])


def _wanted(nodes: Sequence[Point], number: int) -> float:
    """The mean height of the neighbours; those within the same edge count more."""
    node = nodes[number]
    total = weights = 0.0
    for other in (*node.before, *node.after):
        weight = 1.0 if node.is_state or nodes[other].is_state else _CHAIN_WEIGHT
        total += weight * nodes[other].y
        weights += weight
    return total / weights if weights else node.y


def _pushed_apart(nodes: Sequence[Point], rank: Sequence[int], wanted: Sequence[float]) -> None:
    """The heights nearest to ``wanted`` that keep the order and the distances of a layer.

    After subtracting the distances, heights must not decrease.  Least squares under that condition:
    neighbours that decrease are joined in pools, which get their mean (pool adjacent violators).
    """
    offsets = [0.0]
    for upper, lower in pairwise(rank):
        offsets.append(offsets[-1] + nodes[upper].below + nodes[lower].above + _GAP_Y)
    pools: list[tuple[float, int]] = []  # sum, count
    for want, offset in zip(wanted, offsets, strict=False):
        total, count = want - offset, 1
        while pools and pools[-1][0] * count > total * pools[-1][1]:
            other, others = pools.pop()
            total, count = total + other, count + others
        pools.append((total, count))
    heights = [total / count for total, count in pools for _ in range(count)]
    for number, height, offset in zip(rank, heights, offsets, strict=False):
        nodes[number].y = height + offset
