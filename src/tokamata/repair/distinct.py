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

Where several bytes lead from one node to another at one cost, the graph has one edge with a set of them, and
the search goes on with all of them at once: bytes after which it reaches the same nodes at the same costs are
one entry of its queue, from which one byte after another is taken.

A repair that writes more than it needs may be left out: one that comes back to the same state at the same
position.  Otherwise each letter that might be added to a string would make a value.  What is given has the
least cost of its text, which a search for that text alone finds.

The graph may be that of the over-approximation, which forgets names that must differ.  So each text is read
by the constraint; where that refuses many, the graph of the constraint itself is taken.

Source.  Mohri and Riley, *An efficient algorithm for the n-best-strings problem*, 2002.
Cost.  A search to the bound; then for each text one step for each of its bytes, in Python.
Not taken.  Paths in the order of their costs (Eppstein 1998; Huang and Chiang 2005): hundreds of them have
one value.  Determinizing the whole graph: the texts of interest pass a small part of it.  A graph with one
byte between two nodes, and other bytes tried in each text that is found: where several repairs of one cost
lead to one text, it tries the bytes of one repair alone, and misses values.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Generic, NamedTuple, TypeVar

import tokamata._core as _core
from tokamata._core import EditKind, GraphBytes
from tokamata.errors import LimitExceeded
from tokamata.repair.cheapest_first import cheapest_first
from tokamata.repair.contents import canonical_json
from tokamata.repair.costs import TextCosts
from tokamata.repair.edits import Edit, Edits
from tokamata.repair.graphs import RepairGraph, followed, repair_graph
from tokamata.repair.results import Margin, Repair
from tokamata.repair.searching import Search
from tokamata.resources.limits import Watch, core_limits

__all__ = ["NearestValues", "margin_of"]

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)

_FIRST_STEP = 500  # how much above the optimum the first bound is; by what this grows
_GROWTH = 3
_MOST_REFUSED = 50  # texts that the over-approximation alone accepts
_STEPS_OF_A_CHECK = 256  # between two readings of the clock
_BYTES_OF_AN_EDGE = 500  # of the graph, in Python
_BYTES_OF_A_STEP = 400  # of the search, in Python
_BLANKS = b" \t\r\n"
_BLANK_CHOICES = sum(1 << byte for byte in _BLANKS)
_QUOTE, _BACKSLASH = 0x22, 0x5C
_PRINTABLE = frozenset(map(chr, range(0x20, 0x7F))) - {'"', "\\"}
# Of strings of JSON; after the u of an escape each digit is one more.
_OUTSIDE, _INSIDE, _ESCAPED, _CODE, _LAST_DIGIT = 0, 1, 2, 3, 6
# Costs come first, then bytes of the text that are given up, then bytes that are written.
_COST, _LOST = 1 << 64, 1 << 32

# How a node was reached: how the one before it was, by which edge, and the byte that the edge has written.
_Way = tuple["_Way", int, int] | None
# Nodes of the graph, with what the edge to each has still to write; of each the least cost and the way.
_Reached = dict[tuple[int, bytes], tuple[int, _Way]]


class _Found(NamedTuple):
    """A text, its cost, and the edits that lead to it."""

    cost: int
    text: bytes
    edits: tuple[Edit, ...]


class NearestValues(Generic[_T_co]):
    """The nearest different values of a text, each as a :class:`.Repair`, in the order of their costs.

    An iterator: a value is searched when it is next.  It ends where there is no further value, where as many
    were given as were to be, or where a limit was reached.  Then :attr:`stopped` is that limit, and all that
    is known is :attr:`lower_bound`.  Every value was the nearest of those that were not given before; only
    the first may be unproven, as its ``optimal`` says.  Values that only add to another one what nothing
    requires, such as letters to a string, may be left out; :mod:`tokamata.repair.distinct` has the exact
    rule.

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
            best, priced, engine = search.repair_to_end()
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
        self.texts: set[bytes] = set()  # those of graphs
        self.lower_bound = 0

    def after(self, first: bytes) -> Iterator[_Found]:
        """All values except that of the first text."""
        values, is_exact, refused = {_value_of(self.search, first)}, False, 0
        step, last = _FIRST_STEP, self.engine.cost
        while True:
            target = self.engine.cost + step
            graph = self._graph(target, is_exact)
            for found in self._texts(graph, target):
                self.lower_bound = max(self.lower_bound, found.cost)
                if not self._is_accepted(found.text):
                    refused += 1
                    if refused > _MOST_REFUSED and not is_exact:
                        break
                    continue
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
            if graph.is_whole:
                return
            self.lower_bound = max(self.lower_bound, target + 1)
            step *= _GROWTH

    def _cheapest(self, found: _Found) -> _Found:
        """The cheapest repair to a text, which the graph may lack: where it writes more than it needs."""
        limits, _ = self.watch.within(self.search.limits)
        cost, edits = replace(self.search, limits=limits).repair_to(self.priced, found.text)
        return found._replace(cost=cost, edits=edits) if cost < found.cost else found

    def _graph(self, target: int, is_exact: bool) -> RepairGraph:
        limits, _ = self.watch.within(self.search.limits)
        every_byte = bytes((GraphBytes.ALL,)) * (len(self.search.broken) + 1)
        graph = repair_graph(self.engine, target, is_exact, limits, every_byte)
        if len(graph.source) * _BYTES_OF_AN_EDGE > limits.memory_bytes:
            raise LimitExceeded("memory_bytes", limits.memory_bytes)
        return graph

    def _texts(self, graph: RepairGraph, target: int) -> Iterator[_Found]:
        """The texts of a graph that no graph before had, in the order of their costs."""
        is_path = len(graph.source) == len(graph.positions) - 1 and len(graph.ends) == 1
        if is_path and not graph.byte_set.any() and self.texts:
            return
        for found in _Texts(self, graph, target).found():
            if found.text not in self.texts:
                self.watch.hold(2 * len(found.text) + _BYTES_OF_A_STEP)
                self.texts.add(found.text)
                yield found

    def _is_accepted(self, text: bytes) -> bool:
        automata, pattern = self.search.automata, self.search.pattern
        return automata.refused_at(text, self.limits, self.search.cancel, pattern) is None


class _Edge(NamedTuple):
    """An edge of the graph.

    Attributes:
        written: what it writes, if that is no choice.
        choices: the bytes any of which it may write, as bits; 0: no choice.
        target, cost, number: where it leads, its cost, and its number.
    """

    written: bytes
    choices: int
    target: int
    cost: int
    number: int


class _Part(NamedTuple):
    """Bytes after which the same is reached.

    Attributes:
        choices: the bytes, as bits.
        reached: what; the last byte of each way is not known yet.
    """

    choices: int
    reached: _Reached


class _Texts:
    """The texts of a graph, each once, in the order of their costs."""

    def __init__(self, values: _Values, graph: RepairGraph, target: int) -> None:
        self.broken, self.priced, self.is_json = values.search.broken, values.priced, values.search.is_json
        self.watch, self.graph = values.watch, graph
        self.most = (target + 1) * _COST
        self.positions: list[int] = graph.positions.tolist()
        self.ends = frozenset(graph.ends.tolist())
        self.sources: list[int] = graph.source.tolist()
        self.choices = [sum(1 << byte for byte in one) if len(one) > 1 else 0 for one in graph.byte_sets]
        self.edges = self._edges()
        # By node: the edge that writes one certain byte, where the node has no other edge.
        self.only = [
            edges[0] if len(edges) == 1 and _is_one_byte(edges[0]) and node not in self.ends else None
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
            self.graph.byte_set.tolist(),
            self.graph.cost.tolist(),
            strict=True,
        )
        keep, rewrite, remove, insert = EditKind.KEEP, EditKind.REWRITE, EditKind.REMOVE, EditKind.INSERT
        for number, (source, target, kind, operand, byte_set, cost) in enumerate(rows):
            at = self.positions[source]
            if kind == keep:
                edges[source].append(_Edge(self.broken[at : at + 1], 0, target, cost * _COST, number))
                continue
            if kind == rewrite:
                written = self.priced.span(operand).written
            else:
                written = b"" if kind == remove else bytes((operand,))
            lost = 0 if kind == insert else self.positions[target] - at
            whole = cost * _COST + lost * _LOST + len(written)
            edges[source].append(_Edge(written, self.choices[byte_set], target, whole, number))
        return edges

    def _costs_left(self) -> list[int]:
        """By node, the least cost from it to an end."""
        into: list[list[tuple[int, int]]] = [[] for _ in self.positions]
        for source, edges in enumerate(self.edges):
            for edge in edges:
                into[edge.target].append((source, edge.cost))
        left = [self.most] * len(self.positions)
        ends = ((0, end) for end in self.ends)
        for cost, node in cheapest_first(
            ends, lambda cost, node: ((cost + more, source) for source, more in into[node])
        ):
            if cost >= self.most:
                break
            self._count_step()
            left[node] = cost
        return left

    def _count_step(self) -> None:
        self.steps += 1
        if self.steps % _STEPS_OF_A_CHECK == 0:
            self.watch.check()
            if self.steps * _BYTES_OF_A_STEP > self.watch.limits.memory_bytes:
                raise LimitExceeded("memory_bytes", self.watch.limits.memory_bytes)

    def found(self) -> Iterator[_Found]:
        """Costs, texts and edits."""
        if not self.positions:
            return
        # The cost of the best text with this beginning; of equals the latest; how the quotes stand before the
        # next byte; which byte comes next, and what is reached after it.  Without choices: a whole text, and
        # how it was reached; with those of 0: no byte comes.
        start = _Part(1, {(0, b""): (0, None)})
        queue: list[tuple[int, int, int, _Part, _Way]] = [(self.left[0], 0, _OUTSIDE, start, None)]
        count, is_start = 0, True
        while queue:
            best, _, context, (choices, reached), way = heapq.heappop(queue)
            if not choices:
                yield _Found(best // _COST, *self._followed(way))
                continue
            self._count_step()
            if is_start:
                is_start = False
            else:
                others = choices & (choices - 1)
                if others:
                    count -= 1
                    heapq.heappush(queue, (best, count, context, _Part(others, reached), None))
                context, reached = self._after(context, reached, (choices ^ others).bit_length() - 1)
                if not reached:
                    continue
            context, reached = self._forced(context, reached)
            parts, end = self._following(reached, context)
            if end is not None:
                count -= 1
                heapq.heappush(queue, (end[0], count, context, _Part(0, {}), end[1]))
            for part in parts:
                count -= 1
                least = min(cost + self.left[node] for (node, _), (cost, _) in part.reached.items())
                heapq.heappush(queue, (least, count, context, part, None))

    def _after(self, context: int, reached: _Reached, byte: int) -> tuple[int, _Reached]:
        """What is reached after one of some bytes, which is noted in each way; without needless escapes."""
        written: _Reached = {}
        for key, (cost, way) in reached.items():
            way = way and (way[0], way[1], byte)
            if context != _LAST_DIGIT or not self._is_needless(way):
                written[key] = cost, way
        return self._context_after(context, byte), written

    def _forced(self, context: int, reached: _Reached) -> tuple[int, _Reached]:
        """What is reached along edges without an alternative."""
        if len(reached) > 1:
            return context, reached
        (((node, pending), (cost, way)),) = reached.items()
        if pending:
            return context, reached
        only = self.only
        while (edge := only[node]) is not None:
            written, _, node, more, number = edge
            cost, way = cost + more, (way, number, -1)
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

    def _following(self, reached: _Reached, context: int) -> tuple[list[_Part], tuple[int, _Way] | None]:
        """What is reached after each next byte; and the best way to an end without any."""
        blanks = _BLANKS if context == _OUTSIDE and self.is_json else b""
        blank_choices = _BLANK_CHOICES if blanks else 0
        following: defaultdict[int, _Reached] = defaultdict(dict)
        parts: list[_Part] = []
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
            pending = pending.lstrip(blanks)
            if pending:
                _reach(following[pending[0]], (node, pending[1:]), cost, way)
                continue
            if node in settled:
                continue
            settled.add(node)
            if node in self.ends and (end is None or cost < end[0]):
                end = cost, way
            for written, choices, target, more, number in self.edges[node]:
                if cost + more + self.left[target] >= self.most or self._returns(way, number, target):
                    continue
                after = (way, number, -1)
                if choices:
                    silent = choices & blank_choices
                    if choices ^ silent:
                        parts = _split(parts, choices ^ silent, (target, b""), cost + more, after)
                    if not silent:
                        continue
                    after, written = (way, number, silent.bit_length() - 1), b""
                written = written.lstrip(blanks)
                if written:
                    _reach(following[written[0]], (target, written[1:]), cost + more, after)
                else:
                    order += 1
                    heapq.heappush(queue, (cost + more, order, target, b"", after))
        for byte, nodes in following.items():
            for (node, pending), (cost, way) in nodes.items():
                parts = _split(parts, 1 << byte, (node, pending), cost, way)
        return parts, end

    def _returns(self, way: _Way, number: int, target: int) -> bool:
        """Whether an edge leads back to a node that this way has passed."""
        if self.positions[self.sources[number]] < self.positions[target]:
            return False
        at = self.positions[target]
        while way is not None:
            way, number, _ = way
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
            way, number, byte = way
            if self.graph.kind[number] != EditKind.INSERT:
                return False
            escape = chr(byte if byte >= 0 else self.graph.operand[number]) + escape
        return escape[:2] == "\\u" and chr(int(escape[2:], 16)) in _PRINTABLE

    def _followed(self, way: _Way) -> tuple[bytes, tuple[Edit, ...]]:
        steps: list[tuple[int, int]] = []
        while way is not None:
            way, number, byte = way
            steps.append((number, byte))
        return followed(self.broken, self.priced, self.graph, reversed(steps))


def _is_one_byte(edge: _Edge) -> bool:
    return len(edge.written) == 1 and not edge.choices


def _reach(nodes: _Reached, node: tuple[int, bytes], cost: int, way: _Way) -> None:
    known = nodes.get(node)
    if known is None or cost < known[0]:
        nodes[node] = cost, way


def _split(parts: list[_Part], choices: int, node: tuple[int, bytes], cost: int, way: _Way) -> list[_Part]:
    """The parts, where some bytes lead to one more node."""
    made: list[_Part] = []
    for part in parts:
        both = part.choices & choices
        if not both:
            made.append(part)
            continue
        if both != part.choices:
            made.append(_Part(part.choices ^ both, dict(part.reached)))
        _reach(part.reached, node, cost, way)
        made.append(_Part(both, part.reached))
        choices ^= both
    if choices:
        made.append(_Part(choices, {node: (cost, way)}))
    return made
