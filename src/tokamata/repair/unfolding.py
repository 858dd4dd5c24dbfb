"""The graph of repairs, unfolded where names stand: nodes know what was written of a name so far.

Problem.  In the graph of repairs (``core/repair/graph.hpp``) a path forgets what it has written.  To say that
two occurrences of a name are spelled alike, the program needs an edge for each spelling of each occurrence.
Example.  ``cuont;cuont``, of which either may become ``count`` or ``font``.  Between the nodes before and
after the first ``cuont``, paths that write ``count`` and paths that write ``font`` end in one node.  Unfolded
they end in two, and an edge from each of these leads back to that one node: it is *marked* with the
occurrence and the spelling.

How.  A node within an occurrence becomes as many nodes as there are beginnings of spellings that lead to it;
the rest of the graph is not changed.  :mod:`.names` says which bytes belong to a spelling.  So the insertions
before a name are unfolded as well, and after its end there is a *closed* node, where no letter may be
inserted.  Beginnings of spellings are nodes of a trie, so that each costs the same, however long it is.

Costs are *reduced* (Johnson 1977): the least costs from the start and to the ends are subtracted, so that
edges of the cheapest repair cost 0, and what others cost more is seen where they stand.  Half of that is
charged where a repair leaves the cheapest one, by the costs to the ends, and half where it comes back, by
those from the start.  Costs are doubled, so that they are whole.

Cost.  In proportion to the unfolded nodes that are visited.
Source.  Constrained shortest paths on the product with what is counted (Irnich and Desaulniers 2005).
Not taken.  A product of all occurrences, whose states are what each has read: it multiplies the graph by
itself.  One search for each spelling, which cannot prove that there is no better one.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from tokamata._core import EditKind
from tokamata.errors import LimitExceeded
from tokamata.repair.cheapest_first import cheapest_first
from tokamata.repair.costs import TextCosts
from tokamata.repair.graphs import RepairGraph
from tokamata.repair.names import WORD_BYTES, Name, Occurrence, Sides, middle_of
from tokamata.resources.limits import Watch

__all__ = ["LETTERS", "OUTSIDE", "Key", "Mark", "SpellingPrefixes", "Step", "Unfolding", "least_costs"]

_STEPS_OF_A_CHECK = 256  # between two readings of the clock
JOINED, FORBIDDEN = -1, -2  # in place of a beginning: letters stand before, so nothing may be written
_BYTES_OF_AN_EDGE = 400  # of the graph, in Python
_BYTES_OF_A_NODE = 600  # of the unfolded graph, with its edges
OUTSIDE, _CLOSED, LETTERS = -1, -2, -3

# A node: an occurrence, a node of the graph, and the prefix of a spelling, a number of SpellingPrefixes.  In
# place of an occurrence stands OUTSIDE for no name, or one that is given up; CLOSED after a name, and LETTERS
# after inserted letters, where nothing but removed bytes has followed.
Key: TypeAlias = "tuple[int, int, int]"
Mark: TypeAlias = "tuple[int, int]"  # an occurrence and its spelling


class Step(NamedTuple):
    """An edge of the unfolded graph.

    Attributes:
        target: where it leads.
        edge: the edge of the graph that it stands for; -1: none, and it costs nothing.
        byte: the byte that it writes, if the edge of the graph has several; otherwise -1.
        marks: the occurrences of which it ends the spelling.
    """

    target: Key
    edge: int
    byte: int
    marks: tuple[Mark, ...]


class SpellingPrefixes:
    """Beginnings of spellings, each a number; 0 is the empty one.

    Attributes:
        parents: of each, the one without its last byte.
    """

    def __init__(self) -> None:
        self.parents = [0]
        self._last = [0]
        self._after: dict[tuple[int, int], int] = {}

    def after(self, word: int, written: Iterable[int]) -> int:
        """A beginning and some bytes more; :data:`JOINED` is followed by nothing."""
        if word == JOINED:
            return FORBIDDEN if any(True for _ in written) else JOINED
        for byte in written:
            number = self._after.setdefault((word, byte), len(self.parents))
            if number == len(self.parents):
                self.parents.append(word)
                self._last.append(byte)
            word = number
        return word

    def spelled(self, word: int) -> bytes:
        """Its bytes."""
        found = bytearray()
        while word:
            found.append(self._last[word])
            word = self.parents[word]
        return bytes(found[::-1])


class Unfolding:
    """The edges of a graph that is unfolded where some names stand.

    Args:
        graph: the graph, with every byte at the positions of the names and right after them.
        costs: of the text.
        names: the names; no two of them have a place in common.
        sides: of these and of other names.
        bound: what a repair costs at most.
        watch: the limits.

    Attributes:
        places: the occurrences of all names, in their order.
        begins: where each begins.
        positions: of each node of the graph, how many bytes of the text are read.
        name_of: of each occurrence, the number of its name.
        sources, targets: nodes of the graph, of each edge.
        reduced: the reduced cost of each edge, doubled.
        endings: of each end within the bound, what a repair that ends there costs more, doubled.
        edges: those edges of the graph that are on repairs within the bound.
        ends: nodes of the graph where a repair may end.
        least: what the cheapest repair costs; infinite: there is none.
        touching: of each occurrence, the edges that read some of its bytes, or insert within it or beside it.
        outside: edges that may stand between two occurrences.
        exits, entrances: nodes of the graph where what stands between two occurrences may begin and end.
        given_up: occurrences that one edge may give up, or write together with others.
        words: the beginnings of spellings.

    Raises:
        LimitExceeded, Cancelled: the work was stopped.
    """

    def __init__(
        self,
        graph: RepairGraph,
        costs: TextCosts,
        names: Sequence[Name],
        sides: Sides,
        bound: int,
        watch: Watch,
    ) -> None:
        self._sides = sides
        self._graph, self._costs, self._watch, self._broken = graph, costs, watch, costs.text
        self._steps = self._held = 0
        self.words = SpellingPrefixes()
        self.hold(len(graph.source) * _BYTES_OF_AN_EDGE)
        self.places: list[Occurrence] = sorted(one for name in names for one in name.occurrences)
        number_of = {one: number for number, name in enumerate(names) for one in name.occurrences}
        self.name_of = [number_of[one] for one in self.places]
        self.begins = [one.begin for one in self.places]
        self._ending = {one.end: place for place, one in enumerate(self.places)}
        self._within = [OUTSIDE] * (len(self._broken) + 1)  # by position, from the begin to before the end
        for place, one in enumerate(self.places):
            self._within[one.begin : one.end] = [place] * (one.end - one.begin)
        self.positions: list[int] = graph.positions.tolist()
        self.sources: list[int] = graph.source.tolist()
        self.targets: list[int] = graph.target.tolist()
        self._kinds: list[int] = graph.kind.tolist()
        self.ends = frozenset(graph.ends.tolist())
        self._reduce(graph.cost.tolist(), bound)
        self._out: list[list[int]] = [[] for _ in self.positions]
        for edge in self.edges:
            self._out[self.sources[edge]].append(edge)
        self._touch()

    def _reduce(self, prices: list[int], bound: int) -> None:
        ends = dict.fromkeys(self.ends, 0)
        nodes, every = len(self.positions), range(len(prices))
        begin = {0: 0} if nodes else {}
        reached = least_costs(nodes, self.sources, self.targets, prices, every, begin, self.tick)
        left = least_costs(nodes, self.targets, self.sources, prices, every, ends, self.tick)
        self.least = left[0] if nodes else math.inf
        # Edges that lead to no end have no cost; they are no edges of repairs.
        self.edges = [
            edge
            for edge in every
            if reached[self.sources[edge]] + prices[edge] + left[self.targets[edge]] <= bound
        ]
        self.reduced = [0] * len(prices)
        for edge in self.edges:
            source, target = self.sources[edge], self.targets[edge]
            ahead, behind = left[target] - left[source], reached[source] - reached[target]
            self.reduced[edge] = int(2 * prices[edge] + ahead + behind)
        self.endings = {end: int(reached[end] - self.least) for end in self.ends if reached[end] <= bound}

    def _touch(self) -> None:
        self.touching: list[list[int]] = [[] for _ in self.places]
        self.given_up: set[int] = set()
        self.outside: list[int] = []
        self.entrances, self.exits = set(), {0}
        letters: list[tuple[int, int]] = []  # what may be a part of a name that stands beside it
        for edge in self.edges:
            source, target = self.sources[edge], self.targets[edge]
            at, end = self.positions[source], self.positions[target]
            if at < end:
                places = list(self._places_read(at, end))
                self._give_up(edge, places)
            else:
                places = [place for place in {self._within[at], self._ending.get(at, OUTSIDE)} if place >= 0]
            for place in places:
                self.touching[place].append(edge)
            if at == end and all(at in self.places[place][:2] for place in places):
                self.outside.append(edge)
                if places and any(byte in WORD_BYTES for byte in self._graph.choices(edge)):
                    letters.append((source, target))
            elif places:
                self.entrances.add(source)
                self.exits.add(target)
            else:
                self.outside.append(edge)
        _reach(self.exits, [one for one in letters if self.positions[one[0]] in self._ending])
        _reach(self.entrances, [one[::-1] for one in letters if self.positions[one[0]] not in self._ending])

    def _give_up(self, edge: int, places: Sequence[int]) -> None:
        """Notes what an edge gives up of the occurrences that it reads."""
        at, end = self.positions[self.sources[edge]], self.positions[self.targets[edge]]
        for place in places:
            one = self.places[place]
            if self._kinds[edge] != EditKind.REWRITE or one.begin <= at < end <= one.end:
                continue
            if len(places) > 1 or not middle_of(one, self._broken, at, end, self._written(edge)):
                self.given_up.add(place)

    # ---- the edges -------------------------------------------------------------------------------

    def cost(self, edge: int) -> int:
        """The reduced cost of the edge of a step."""
        return self.reduced[edge] if edge >= 0 else 0

    def following(self, key: Key) -> Iterator[Step]:
        """The edges from a node."""
        place, node, word = key
        if place >= 0:
            yield from self._from_within(place, node, word)
            return
        at = self.positions[node]
        following = self._within[at]
        is_before = following != OUTSIDE and self.places[following].begin == at
        is_free = not is_before or self.places[following].follows
        begun = JOINED if place == LETTERS and not is_free else 0
        for edge in self._out[node]:
            target = self.targets[edge]
            if self.positions[target] > at:
                state = self._after_removal(place, edge)
                yield from self._reading(edge, following if is_before else OUTSIDE, begun, state)
            elif place != _CLOSED and not is_free:
                yield from self._before(edge, following, begun)
            else:
                yield from self._inserting(edge, place)

    def _inserting(self, edge: int, place: int) -> Iterator[Step]:
        """An insertion outside of names: of bytes that are no letters one is enough, and of letters."""
        source, target = self.sources[edge], self.targets[edge]
        choices = self._graph.choices(edge)
        other = next((byte for byte in choices if byte not in WORD_BYTES), None)
        if other is not None:
            if target != source or place != OUTSIDE:
                yield Step((OUTSIDE, target, 0), edge, other, ())
        elif place != _CLOSED and target != source:
            at = self.positions[source]
            yield Step(
                (OUTSIDE if self._sides.stand_within(at, at) else LETTERS, target, 0), edge, choices[0], ()
            )

    def _after_removal(self, place: int, edge: int) -> int:
        """Where an edge leads that reads some bytes: what it removes, stands between letters and a name."""
        at, end = self.positions[self.sources[edge]], self.positions[self.targets[edge]]
        if place == OUTSIDE or self._written(edge):
            return OUTSIDE
        if place == _CLOSED:
            is_left = at in self._sides.begins or self._sides.stand_within(at + 1, end)
        else:
            last = end - 1 if end in self._sides.begins else end
            is_left = self._sides.stand_within(at, last)
        return OUTSIDE if is_left else place

    def _from_within(self, place: int, node: int, word: int) -> Iterator[Step]:
        """From a node where the beginning of a spelling was written."""
        at, one = self.positions[node], self.places[place]
        for edge in self._out[node]:
            target = self.targets[edge]
            if self.positions[target] > at:
                if at < one.end:
                    yield from self._reading(edge, place, word)
            elif at == one.begin:
                yield from self._before(edge, place, word)
            else:
                for byte in self._graph.choices(edge):
                    if at < one.end or byte in WORD_BYTES:
                        yield from self._writing(place, word, edge, byte)
        if at == one.end:
            yield Step((_CLOSED, node, 0), -1, -1, ((place, word),) if word > 0 else ())

    def _writing(self, place: int, word: int, edge: int, byte: int) -> Iterator[Step]:
        """An edge that writes one more byte of a spelling, of several that it might write."""
        after = self.words.after(word, (byte,))
        if after != FORBIDDEN:
            yield Step((place, self.targets[edge], after), edge, byte, ())

    def _before(self, edge: int, place: int, word: int) -> Iterator[Step]:
        """An insertion right before a name: the letters after the last other byte belong to it."""
        target, has_other = self.targets[edge], False
        for byte in self._graph.choices(edge):
            if byte in WORD_BYTES:
                yield from self._writing(place, word, edge, byte)
            elif not has_other:  # of bytes that are no letters one is enough
                has_other = True
                if word or target != self.sources[edge]:
                    yield Step((OUTSIDE, target, 0), edge, byte, ())

    def _reading(self, edge: int, place: int, word: int, state: int = OUTSIDE) -> Iterator[Step]:
        """An edge that reads some bytes, where a name begins or has begun or there is none.

        Outside of names it leads to ``state``.
        """
        at, target = self.positions[self.sources[edge]], self.targets[edge]
        end = self.positions[target]
        if place != OUTSIDE and end <= self.places[place].end:
            if self._kinds[edge] == EditKind.REPLACE:
                for byte in self._graph.choices(edge):
                    yield from self._writing(place, word, edge, byte)
            elif (after := self.words.after(word, self._written(edge))) != FORBIDDEN:
                yield Step((place, target, after), edge, -1, ())
            return
        written = self._written(edge)
        marks: list[Mark] = []
        for other in self._places_read(at, end):
            middle = middle_of(self.places[other], self._broken, at, end, written)
            if middle is None:
                continue  # it is given up
            spelling = self.words.after(word if other == place else 0, middle)
            if spelling == FORBIDDEN:
                return
            if self.places[other].end == end:
                yield Step((other, target, spelling), edge, -1, tuple(marks))
                return
            if spelling > 0:
                marks.append((other, spelling))
        yield Step((state, target, 0), edge, -1, tuple(marks))

    def _written(self, edge: int) -> bytes:
        """What an edge writes that has no choice."""
        kind, operand = self._kinds[edge], int(self._graph.operand[edge])
        if kind == EditKind.KEEP:
            at = self.positions[self.sources[edge]]
            return self._broken[at : at + 1]
        if kind == EditKind.REWRITE:
            return self._costs.span(operand).written
        return b"" if kind == EditKind.REMOVE else bytes((operand,))

    def _places_read(self, begin: int, end: int) -> range:
        """The occurrences of which an edge reads some bytes."""
        first = bisect_left(self.begins, begin)
        if first and self.places[first - 1].end > begin:
            first -= 1
        return range(first, bisect_left(self.begins, end))

    # ---- the limits ------------------------------------------------------------------------------

    def hold(self, size: int = _BYTES_OF_A_NODE) -> None:
        """Counts bytes, by default those of a node."""
        self._held += size
        if self._held > self._watch.limits.memory_bytes:
            raise LimitExceeded("memory_bytes", self._watch.limits.memory_bytes)

    def tick(self) -> None:
        """Counts a step, and reads the clock now and then."""
        self._steps += 1
        if self._steps % _STEPS_OF_A_CHECK == 0:
            self._watch.check()


def _reach(nodes: set[int], edges: Sequence[tuple[int, int]]) -> None:
    """Adds the nodes that some edges lead to."""
    after: defaultdict[int, list[int]] = defaultdict(list)
    for source, target in edges:
        after[source].append(target)
    open_ = list(nodes.intersection(after))
    while open_:
        for target in after[open_.pop()]:
            if target not in nodes:
                nodes.add(target)
                open_.append(target)


def least_costs(
    nodes: int,
    source: Sequence[int],
    target: Sequence[int],
    price: Sequence[int],
    edges: Iterable[int],
    starts: Mapping[int, int],
    tick: Callable[[], None],
) -> list[float]:
    """By node, the least cost from some starts along some edges."""
    out: list[list[tuple[int, int]]] = [[] for _ in range(nodes)]
    for edge in edges:
        out[source[edge]].append((target[edge], price[edge]))
    costs = [math.inf] * nodes
    begin = ((paid, start) for start, paid in starts.items())
    for paid, node in cheapest_first(
        begin, lambda paid, node: ((paid + cost, other) for other, cost in out[node])
    ):
        tick()
        costs[node] = paid
    return costs
