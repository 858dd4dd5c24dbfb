"""Anytime repairing A* (ARA*): a first correction soon, better ones after it, each with a bound.

Problem.  The cheapest correction of a string (:mod:`tokamata.automata.correction`) may take long to find.
A dearer one is good enough for now, if it is known how much dearer.
Example.  The strings {``abc``} and the string ``b``, weights 3 and 1, the estimate of lengths (two symbols
are missing at the start)::

    for found in anytime_correction(Acceptor.from_strings(["abc"]), b"b", weights=(3, 1)):
        print(found.cost, found.weight, found.lower_bound)      # 3 3 2, then 2 1 2

With weight 3 the search inserts ``a`` and ``b``: one symbol is missing then and one is left to read, so that
the estimate is 0, and ``c`` takes the place of the ``b`` that was given.  With weight 1 it keeps that ``b``.

How.  The graph has a node for each position and state, and one goal after all ends.  A node's key is
``g + w · h``: what was paid, and the estimate of the rest, times a weight.  With w above 1 the search
prefers what is near the goal.

1. *Improve*: expand the node with the least key, until none is below g(goal).  Each node is expanded once;
   a node that is reached more cheaply after that is *inconsistent* and waits.
2. Report the goal: it costs at most w times the optimum.  The least ``g + h`` of all nodes that are open or
   inconsistent is a bound that no correction is below.
3. Lower w, open the inconsistent nodes again, and go on with the g of before.

Why the bound holds (proposition 6 of paper 004; theorem 1 of the source).  h is admissible and consistent.
When *improve* ends, each node that was expanded has g of at most w times its least cost, and the keys of the
others are at least g(goal).  With an estimate that is not admissible, this fails; the tests show where.

Source.  Likhachev, Gordon and Thrun, *ARA\\*: anytime A\\* with provable bounds on sub-optimality*, 2003,
figure 3.  Paper 004 cites Hansen and Zhou (2007), whose search is another one (docs/errata.md).
Cost.  Each *improve* expands each node once at most: nodes · transitions · log, for each weight.
Not taken.  Reopening within an *improve*, and the order of the engine (``core/repair/search.hpp``), which
weighs the distance and not the estimate; this one is to be checked by hand.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from tokamata.automata.acceptor import Acceptor, String, symbols_of
from tokamata.automata.correction import Prices
from tokamata.automata.estimates import by_length
from tokamata.automata.machine import EPSILON

__all__ = ["Incumbent", "anytime_correction"]

_Node = tuple[int, int]  # a position and a state
_ONE_EACH = Prices()
_GOAL = (-1, -1)
_NOTHING_READ = -2  # of an edge that writes no symbol


class Incumbent(NamedTuple):
    """A correction, and how near it is.

    Attributes:
        symbols: the corrected string.
        cost: of its edits.
        weight: the cost is at most so many times the optimum.
        lower_bound: no correction costs less.
        expansions: nodes expanded so far.
    """

    symbols: tuple[int, ...]
    cost: int
    weight: Fraction
    lower_bound: float
    expansions: int


def anytime_correction(
    acceptor: Acceptor,
    string: String,
    prices: Prices = _ONE_EACH,
    *,
    weights: Sequence[int | Fraction] = (3, 2, 1),
    estimate: Sequence[Sequence[float]] | None = None,
) -> Iterator[Incumbent]:
    """Corrections of a string, one for each weight; none if the acceptor has no string.

    Args:
        acceptor: the strings.
        string: the string.
        prices: of the edits.
        weights: from the first to the last, each at least 1 and no greater than the one before it.
        estimate: by position and state, what is left to pay at least; consistent.  ``None``: by lengths.
    """
    return _Search(acceptor, symbols_of(string), prices, estimate).incumbents(weights)


class _Search:
    def __init__(
        self,
        acceptor: Acceptor,
        symbols: Sequence[int],
        prices: Prices,
        estimate: Sequence[Sequence[float]] | None,
    ) -> None:
        self.acceptor, self.symbols, self.prices = acceptor, symbols, prices
        self.estimate = by_length(acceptor, symbols, prices) if estimate is None else estimate
        self.paid: dict[_Node, int] = {(0, acceptor.start): 0}  # g
        self.before: dict[_Node, tuple[_Node, int]] = {}  # the node before, and the symbol written
        self.open: set[_Node] = {(0, acceptor.start)}
        self.inconsistent: set[_Node] = set()
        self.expansions = 0

    def incumbents(self, weights: Sequence[int | Fraction]) -> Iterator[Incumbent]:
        for given in weights:
            weight = Fraction(given)
            self.open |= self.inconsistent
            self.inconsistent = set()
            self.improve(weight)
            if _GOAL not in self.paid:
                return
            cost = self.paid[_GOAL]
            left = (self.paid[node] + self.left(node) for node in self.open | self.inconsistent)
            yield Incumbent(self.written(), cost, weight, min(left, default=cost), self.expansions)

    def improve(self, weight: Fraction) -> None:
        closed: set[_Node] = set()
        queue = [(self.key(node, weight), node) for node in self.open]
        heapq.heapify(queue)
        while queue:
            key, node = heapq.heappop(queue)
            if node not in self.open or key != self.key(node, weight):
                continue  # it was reached more cheaply since
            if key >= self.paid.get(_GOAL, math.inf):
                return
            self.open.remove(node)
            if node == _GOAL:
                continue
            closed.add(node)
            self.expansions += 1
            for target, price, symbol in self.edges(node):
                cost = self.paid[node] + price
                if self.left(target) == math.inf or cost >= self.paid.get(target, math.inf):
                    continue
                self.paid[target] = cost
                self.before[target] = (node, symbol)
                if target in closed:
                    self.inconsistent.add(target)
                else:
                    self.open.add(target)
                    heapq.heappush(queue, (self.key(target, weight), target))

    def left(self, node: _Node) -> float:
        return 0 if node == _GOAL else self.estimate[node[0]][node[1]]

    def key(self, node: _Node, weight: Fraction) -> Fraction | float:
        left = self.left(node)
        return math.inf if left == math.inf else self.paid[node] + weight * Fraction(left)

    def edges(self, node: _Node) -> Iterator[tuple[_Node, int, int]]:
        """Where the edges of a node lead, their prices, and the symbols that they write."""
        position, state = node
        is_within = position < len(self.symbols)
        if not is_within and state in self.acceptor.accepting:
            yield _GOAL, 0, _NOTHING_READ
        if is_within:
            yield (position + 1, state), self.prices.remove, _NOTHING_READ
        for symbol, target in self.acceptor.rows[state]:
            if symbol == EPSILON:
                yield (position, target), 0, _NOTHING_READ
                continue
            yield (position, target), self.prices.insert, symbol
            if is_within:
                is_kept = symbol == self.symbols[position]
                yield (position + 1, target), 0 if is_kept else self.prices.replace, symbol

    def written(self) -> tuple[int, ...]:
        node, symbols = _GOAL, []
        while node in self.before:
            node, symbol = self.before[node]
            symbols += [symbol] if symbol != _NOTHING_READ else []
        return tuple(reversed(symbols))
