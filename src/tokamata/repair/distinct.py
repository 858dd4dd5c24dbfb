"""The nearest different values of a broken text, in the order of their costs.

Problem.  The cheapest repair is one of many, and most of the others have the same value: a blank more, a byte
removed before another is written and not after.  How much dearer is the next *value*?
Example.  ``[1 2]`` as JSON.  The comma that is missing makes ``[1, 2]`` or ``[1 ,2]``, two texts of one
value. The next values are ``[12]``, where the blank is removed, and ``["1 2"]``.

How.  All repairs within a bound are a weighted graph (``core/repair/graph.hpp``), whose paths write texts.
1. The graph is determinized while it is searched: a node of the search is a text written so far, without the
   whitespace between tokens of JSON, with all nodes of the graph that such a text leads to, each at its least
   cost.  So each text is one path, however many repairs write it.
2. The search is A*, and its estimate is exact: what is left to pay in the graph, by Dijkstra's algorithm from
   the ends.  So it follows nothing but beginnings of what it returns, and texts come in the order of cost.
3. Of texts with one value the first counts.  Values are equal as JSON has it: 1 and 1.0 are equal, 1 and true
   are not, the order of members does not matter.  Of other constraints each text is a value.
4. When the graph has no further text, the bound grows, and the search begins again.  Every repair within the
   bound is in the graph, so no other value costs less than the bound that has been searched.

Of the bytes that may be written between two nodes, the graph has the cheapest alone: of ``cat`` and ``bat``,
near ``at``, one.  So in each text that is found other bytes are tried where an edit has written one, or may
replace one; the constraint says which texts it accepts.

A repair that writes more than it needs may be left out: one that comes back to the same state at the same
position.  Otherwise each letter that might be added to a string would make a value.  What is given has the
least cost of its text, which a search for that text alone finds.

The graph may be that of the over-approximation, which forgets names that must differ.  So each text is read
by the constraint; where that refuses many, the graph of the constraint itself is taken.

What is not proven.  Of several repairs of one cost to one text, other bytes are tried in one alone.  So a
value may be missed that differs from it in a byte which only another of these repairs writes: in 11 of 2,006
random languages of a, b and c where all prices are from 1 to 3, and in none of 8,000 sets of words.

Source.  Mohri and Riley, *An efficient algorithm for the n-best-strings problem*, 2002.
Cost.  A search to the bound; then for each text one step for each of its bytes, in Python.
Not taken.  Paths in the order of their costs (Eppstein 1998; Huang and Chiang 2005): hundreds of them have
one value.  Determinizing the whole graph: the texts of interest pass a small part of it.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Generic, NamedTuple, TypeVar

import tokamata._core as _core
from tokamata.errors import LimitExceeded
from tokamata.limits import Watch, core_limits
from tokamata.repair.contents import canonical_json
from tokamata.repair.costs import TextCosts
from tokamata.repair.graphs import STEPS, RepairGraph, followed, repair_graph
from tokamata.repair.results import Edit, Edits, Margin, Repair
from tokamata.repair.searching import Search, repair_to, searched_to_end
from tokamata.repair.variants import Found, Variants

__all__ = ["NearestValues", "margin_of"]

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)

_FIRST_STEP = 500  # how much above the optimum the first bound is; by what this grows
_GROWTH = 3
_MOST_REFUSED = 50  # texts that the over-approximation alone accepts
_STEPS_OF_A_CHECK = 256
_BYTES_OF_AN_EDGE = 500  # of the graph, in Python
_BYTES_OF_A_STEP = 400
_BLANKS = b" \t\r\n"
_QUOTE, _BACKSLASH = 0x22, 0x5C
_PRINTABLE = frozenset(map(chr, range(0x20, 0x7F))) - {'"', "\\"}
# Of strings of JSON; after the u of an escape each digit is one more.
_OUTSIDE, _INSIDE, _ESCAPED, _CODE, _LAST_DIGIT = 0, 1, 2, 3, 6
# Costs come first, then bytes of the text that are given up, then bytes that are written.
_COST, _LOST = 1 << 64, 1 << 32

# How a node was reached: by which edge, and how the one before it was.
_Way = tuple["_Way", int] | None
# Nodes of the graph, with what the edge to each has still to write; of each the least cost and the way.
_Reached = dict[tuple[int, bytes], tuple[int, _Way]]


class NearestValues(Generic[_T_co]):
    """The nearest different values of a text, each as a :class:`.Repair`, in the order of their costs.

    An iterator: a value is searched when it is next.  It ends where there is no further value, where as many
    were given as were to be, or where a limit was reached.  Then :attr:`stopped` is that limit, and all that
    is known is :attr:`lower_bound`.  Every value was the nearest of those that were not given before; only
    the first may be unproven, as its ``optimal`` says.  Values that only add to another one what nothing
    requires, such as letters to a string, may be left out; :mod:`tokamata.repair.distinct` has the exact rule
    and a rare exception.

    Attributes:
        lower_bound: no repair whose value was not given yet costs less; ``None``: there is no other value.
        stopped: the limit that has ended it; ``None``: none has.
    """

    def __init__(
        self, search: Search[_T_co], count: int | None, explaining: AbstractContextManager[None] | None = None
    ) -> None:
        """``count``: how many values; ``None`` for all.  ``explaining``: what errors of the search pass."""
        self.lower_bound: int | None = 0
        self.stopped: LimitExceeded | None = None
        self._search = search
        self._values = self._found(count, explaining or nullcontext())

    def __iter__(self) -> Iterator[Repair[_T_co]]:
        return self

    def __next__(self) -> Repair[_T_co]:
        return next(self._values)

    def _found(self, count: int | None, explaining: AbstractContextManager[None]) -> Iterator[Repair[_T_co]]:
        search = self._search
        watch = Watch(search.limits, search.cancel)
        with explaining:
            best, priced, engine = searched_to_end(search)
        self.lower_bound = best.lower_bound
        if not best.optimal:
            self.stopped = self._limit(watch)
        yield best
        if count == 1 or self.stopped is not None:
            return
        found = _Values(search, priced, engine, watch)
        given = 1
        try:
            for other in found.after(best.text.encode()):
                self.lower_bound = other.cost
                yield self._repair(best, other.cost, other.text, other.edits)
                given += 1
                if given == count:
                    return
            self.lower_bound = None
        except LimitExceeded as error:
            self.lower_bound = max(self.lower_bound or 0, found.lower_bound)
            self.stopped = LimitExceeded(error.limit, getattr(search.limits, error.limit), search.pattern)

    def _limit(self, watch: Watch) -> LimitExceeded:
        """The limit that has stopped the search of the engine: time, or else memory or states."""
        limits, pattern = self._search.limits, self._search.pattern
        try:
            watch.check()
        except LimitExceeded as error:
            return LimitExceeded(error.limit, getattr(limits, error.limit), pattern)
        return LimitExceeded("memory_bytes", limits.memory_bytes, pattern)

    def _repair(self, best: Repair[_T_co], cost: int, text: bytes, edits: tuple[Edit, ...]) -> Repair[_T_co]:
        listed = Edits.of(edits)
        bound = min(best.lower_bound, cost)
        proof = replace(best.certificate, text=text, edits=listed, cost=cost, lower_bound=bound)
        return replace(
            best,
            text=text.decode(),
            edits=listed,
            cost=cost,
            lower_bound=bound,
            optimal=bound == cost,
            certificate=proof,
        )


def margin_of(search: Search[_T], text: bytes, cost: int) -> Margin:
    """How much dearer than a repair to a text the next different value is."""
    own = _value_of(search, text)
    values = NearestValues(search, None)
    for other in values:
        if values.stopped is not None:
            break
        if _value_of(search, other.text.encode()) != own:
            return Margin(other.cost - cost, True)
    if values.lower_bound is None:
        return Margin(None, True)
    return Margin(values.lower_bound - cost, False)


def _value_of(search: Search[_T], text: bytes) -> object:
    """The value of a text, as something that can be compared."""
    return canonical_json(text) if search.is_json else text


class _Values:
    """All values within a bound that grows.

    Attributes:
        lower_bound: no value that was not given costs less.
    """

    def __init__(
        self, search: Search[object], priced: TextCosts, engine: _core.RepairSearch, watch: Watch
    ) -> None:
        self.search, self.priced, self.engine, self.watch = search, priced, engine, watch
        self.limits = core_limits(search.limits)  # of reading one text
        self.variants = Variants(search, priced)
        self.texts: set[bytes] = set()  # those of graphs
        self.lower_bound = 0

    def after(self, first: bytes) -> Iterator[Found]:
        """All values except that of the first text."""
        values, is_exact, refused = {_value_of(self.search, first)}, False, 0
        step, last = _FIRST_STEP, self.engine.cost
        while True:
            target = self.engine.cost + step
            graph = self._graph(target, is_exact)
            for found in self._texts(graph, target):
                self.lower_bound = max(self.lower_bound, found.cost)
                if not self._is_accepted(found.text):
                    refused += found.changed < 0
                    if refused > _MOST_REFUSED and not is_exact:
                        break
                    continue
                if found.changed >= 0:
                    self.variants.add(found)
                value = _value_of(self.search, found.text)
                if value in values:
                    continue
                cheapest = self._cheapest(found)
                if cheapest.cost >= last:  # otherwise it would have come before
                    self.watch.hold(4 * len(found.text) + _BYTES_OF_A_STEP)
                    values.add(value)
                    last = cheapest.cost
                    yield cheapest
            if refused > _MOST_REFUSED and not is_exact:
                is_exact = True
                continue
            if graph.is_whole and not self.variants:
                return
            self.lower_bound = max(self.lower_bound, target + 1)
            step *= _GROWTH

    def _cheapest(self, found: Found) -> Found:
        """The cheapest repair to a text, which the graph may lack: where it writes more than it needs."""
        limits, _ = self.watch.within(self.search.limits)
        cost, edits = repair_to(replace(self.search, limits=limits), self.priced, found.text)
        return found._replace(cost=cost, edits=edits) if cost < found.cost else found

    def _graph(self, target: int, is_exact: bool) -> RepairGraph:
        limits, _ = self.watch.within(self.search.limits)
        graph = repair_graph(self.engine, target, is_exact, limits)
        if len(graph.source) * _BYTES_OF_AN_EDGE > limits.memory_bytes:
            raise LimitExceeded("memory_bytes", limits.memory_bytes)
        return graph

    def _texts(self, graph: RepairGraph, target: int) -> Iterator[Found]:
        """The texts of a graph that no graph before had, and their variants, in the order of their costs."""
        is_path = len(graph.source) == len(graph.positions) - 1 and len(graph.ends) == 1
        if not (is_path and self.texts):
            for cost, text, edits in _Texts(self, graph, target).found():
                if text in self.texts:
                    continue
                yield from self._variants_below(cost)
                self.watch.hold(2 * len(text) + _BYTES_OF_A_STEP)
                self.texts.add(text)
                found = Found(cost, text, edits, (), -1)
                self.variants.add(found)
                yield found
        yield from self._variants_below(target + 1)

    def _variants_below(self, cost: int) -> Iterator[Found]:
        while (found := self.variants.next_below(cost)) is not None:
            self.watch.check()
            yield found

    def _is_accepted(self, text: bytes) -> bool:
        automata, pattern = self.search.automata, self.search.pattern
        return automata.refused_at(text, self.limits, self.search.cancel, pattern) is None


class _Edge(NamedTuple):
    """An edge of the graph: what it writes, where it leads, its cost, and its number."""

    written: bytes
    target: int
    cost: int
    number: int


class _Texts:
    """The texts of a graph, each once, in the order of their costs."""

    def __init__(self, values: _Values, graph: RepairGraph, target: int) -> None:
        self.broken, self.priced, self.is_json = values.search.broken, values.priced, values.search.is_json
        self.watch, self.graph = values.watch, graph
        self.most = (target + 1) * _COST
        self.positions: list[int] = graph.positions.tolist()
        self.ends = frozenset(graph.ends.tolist())
        self.sources: list[int] = graph.source.tolist()
        self.edges = self._edges()
        # Of each node the edge that keeps a byte, where it has no other edge.
        self.only = [
            edges[0] if len(edges) == 1 and len(edges[0].written) == 1 and node not in self.ends else None
            for node, edges in enumerate(self.edges)
        ]
        self.steps = 0
        self.left = self._costs_left()

    def _edges(self) -> list[list[_Edge]]:
        """The edges of each node."""
        edges: list[list[_Edge]] = [[] for _ in self.positions]
        rows = zip(
            self.sources,
            self.graph.target.tolist(),
            self.graph.kind.tolist(),
            self.graph.operand.tolist(),
            self.graph.cost.tolist(),
            strict=True,
        )
        keep, rewrite, remove, insert = (STEPS.index(name) for name in STEPS[:4])
        for number, (source, target, kind, operand, cost) in enumerate(rows):
            at = self.positions[source]
            if kind == keep:
                edges[source].append(_Edge(self.broken[at : at + 1], target, cost * _COST, number))
                continue
            if kind == rewrite:
                written = self.priced.span(operand).written
            else:
                written = b"" if kind == remove else bytes((operand,))
            lost = 0 if kind == insert else self.positions[target] - at
            whole = cost * _COST + lost * _LOST + len(written)
            edges[source].append(_Edge(written, target, whole, number))
        return edges

    def _costs_left(self) -> list[int]:
        """Of each node, the least cost from it to an end: Dijkstra's algorithm."""
        into: list[list[tuple[int, int]]] = [[] for _ in self.positions]
        for source, edges in enumerate(self.edges):
            for edge in edges:
                into[edge.target].append((source, edge.cost))
        left = [self.most] * len(self.positions)
        queue = [(0, end) for end in self.ends]
        for end in self.ends:
            left[end] = 0
        while queue:
            cost, node = heapq.heappop(queue)
            if cost > left[node]:
                continue
            self._count_step()
            for source, more in into[node]:
                if cost + more < left[source]:
                    left[source] = cost + more
                    heapq.heappush(queue, (cost + more, source))
        return left

    def _count_step(self) -> None:
        self.steps += 1
        if self.steps % _STEPS_OF_A_CHECK == 0:
            self.watch.check()
            if self.steps * _BYTES_OF_A_STEP > self.watch.limits.memory_bytes:
                raise LimitExceeded("memory_bytes", self.watch.limits.memory_bytes)

    def found(self) -> Iterator[tuple[int, bytes, tuple[Edit, ...]]]:
        """Costs, texts and edits."""
        if not self.positions:
            return
        # The cost of the best text with this beginning; of equals the latest; how the quotes stand; what is
        # reached.  Without nodes: a whole text, and how it was reached.
        queue: list[tuple[int, int, int, _Reached, _Way]] = [
            (self.left[0], 0, _OUTSIDE, {(0, b""): (0, None)}, None)
        ]
        count = 0
        while queue:
            best, _, context, reached, way = heapq.heappop(queue)
            if not reached:
                yield best // _COST, *self._followed(way)
                continue
            self._count_step()
            context, reached = self._forced(context, reached)
            following, end = self._following(reached, context)
            if end is not None:
                count -= 1
                heapq.heappush(queue, (end[0], count, context, {}, end[1]))
            for byte, nodes in following.items():
                count -= 1
                least = min(cost + self.left[node] for (node, _), (cost, _) in nodes.items())
                heapq.heappush(queue, (least, count, self._context_after(context, byte), nodes, None))

    def _forced(self, context: int, reached: _Reached) -> tuple[int, _Reached]:
        """What is reached along edges without an alternative."""
        if len(reached) > 1:
            return context, reached
        (((node, pending), (cost, way)),) = reached.items()
        if pending:
            return context, reached
        only = self.only
        while (edge := only[node]) is not None:
            written, node, more, number = edge
            cost, way = cost + more, (way, number)
            if self.is_json:
                context = self._context_after(context, written[0])
        return context, {(node, b""): (cost, way)}

    def _context_after(self, context: int, byte: int) -> int:
        if not self.is_json:
            return _INSIDE
        if context == _OUTSIDE:
            return _INSIDE if byte == _QUOTE else _OUTSIDE
        if context == _ESCAPED:
            return _CODE if byte == 0x75 else _INSIDE
        if context >= _CODE:
            return context + 1 if context < _LAST_DIGIT else _INSIDE
        return _OUTSIDE if byte == _QUOTE else _ESCAPED if byte == _BACKSLASH else _INSIDE

    def _following(
        self, reached: _Reached, context: int
    ) -> tuple[dict[int, _Reached], tuple[int, _Way] | None]:
        """What is reached after each next byte; and the best way to an end without any."""
        is_blank = context == _OUTSIDE and self.is_json
        following: defaultdict[int, _Reached] = defaultdict(dict)
        end: tuple[int, _Way] | None = None
        order = 0
        queue: list[tuple[int, int, int, bytes, _Way]] = []
        for (node, pending), (cost, way) in reached.items():
            queue.append((cost, order, node, pending, way))
            order += 1
        heapq.heapify(queue)
        settled: set[int] = set()
        while queue:
            cost, _, node, pending, way = heapq.heappop(queue)
            if pending:
                pending = pending.lstrip(_BLANKS) if is_blank else pending
            if pending:
                _reach(following[pending[0]], (node, pending[1:]), cost, way)
                continue
            if node in settled:
                continue
            settled.add(node)
            if node in self.ends and (end is None or cost < end[0]):
                end = cost, way
            for written, target, more, number in self.edges[node]:
                if cost + more + self.left[target] >= self.most or self._returns(way, number, target):
                    continue
                after = (way, number)
                if context == _LAST_DIGIT and self._is_needless(after):
                    continue
                if is_blank:
                    written = written.lstrip(_BLANKS)
                if written:
                    _reach(following[written[0]], (target, written[1:]), cost + more, after)
                else:
                    order += 1
                    heapq.heappush(queue, (cost + more, order, target, b"", after))
        return following, end

    def _returns(self, way: _Way, number: int, target: int) -> bool:
        """Whether an edge leads back to a node that this way has passed."""
        if self.positions[self.sources[number]] < self.positions[target]:
            return False
        at = self.positions[target]
        while way is not None:
            way, number = way
            source = self.sources[number]
            if self.positions[source] < at:
                return False
            if source == target:
                return True
        return False

    def _is_needless(self, way: _Way) -> bool:
        """Whether a whole escape was written for a character that needs none."""
        escape = ""
        while way is not None and len(escape) < len("\\u0000"):
            way, number = way
            if self.graph.kind[number] != STEPS.index("insert"):
                return False
            escape = chr(self.graph.operand[number]) + escape
        return escape[:2] == "\\u" and chr(int(escape[2:], 16)) in _PRINTABLE

    def _followed(self, way: _Way) -> tuple[bytes, tuple[Edit, ...]]:
        numbers: list[int] = []
        while way is not None:
            way, number = way
            numbers.append(number)
        return followed(self.broken, self.priced, self.graph, reversed(numbers))


def _reach(nodes: _Reached, node: tuple[int, bytes], cost: int, way: _Way) -> None:
    known = nodes.get(node)
    if known is None or cost < known[0]:
        nodes[node] = cost, way
