"""Dijkstra's algorithm, for the searches of repairs that run in Python."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

__all__ = ["cheapest_first"]

_Node = TypeVar("_Node", bound=Any)  # those of one search can be ordered


def cheapest_first(
    starts: Iterable[tuple[int, _Node]], after: Callable[[int, _Node], Iterable[tuple[int, _Node]]]
) -> Iterator[tuple[int, _Node]]:
    """The least costs of nodes and the nodes, each once, in the order of costs and then of nodes.

    Args:
        starts: nodes with their costs.
        after: of a cost and its node, the nodes after that with their costs, which are no lower.
    """
    queue = [*starts]
    heapq.heapify(queue)
    least: dict[_Node, int] = {}
    for cost, node in queue:
        least[node] = min(cost, least.get(node, cost))
    settled: set[_Node] = set()
    while queue:
        cost, node = heapq.heappop(queue)
        if node in settled:
            continue
        settled.add(node)
        yield cost, node
        for paid, target in after(cost, node):
            known = least.get(target)
            if known is None or paid < known:
                least[target] = paid
                heapq.heappush(queue, (paid, target))
