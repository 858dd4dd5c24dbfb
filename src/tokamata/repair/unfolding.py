"""The graph of repairs, unfolded where names stand: nodes know what was written of a name so far.

Problem.  In the graph of repairs (``core/repair/graph.hpp``) a path forgets what it has written.  To say that
two occurrences of a name are spelled alike, the program needs an edge for each spelling of each occurrence.
Example.  ``cuont;cuont``, of which either may become ``count`` or ``font``.  Between the nodes before and after
the first ``cuont``, paths that write ``count`` and paths that write ``font`` end in one node.  Unfolded they end
in two, and an edge from each of these leads back to that one node: it is *marked* with the occurrence and the
spelling.

How.  A node within an occurrence becomes as many nodes as there are beginnings of spellings that lead to it; the
rest of the graph is not changed.  :mod:`.names` says which bytes belong to a spelling.  So the insertions before
a name are unfolded as well, and after its end there is a *closed* node, where no letter may be inserted.

What is left out.  The program needs all repairs within a bound that are written alike, and no others.  Let k
occurrences of a name have no edit that gives them up, r be what it costs to remove one, and d what it costs at
least to write some spelling.  Then a repair with this spelling costs at least k·min(d, r) within these
occurrences, and at least what is left of the cheapest repair when all that touches them is free.  So of 1,000
occurrences each needs only the spellings that are as near as the name may come at one thousandth of the bound.
The beginnings of spellings come in the order of d (Dijkstra's algorithm over all occurrences together), and a
spelling that too few occurrences can have is left out.

Cost.  O(nodes within names · beginnings of spellings), and at most the memory of the limits.  Where anything may
be inserted for nothing, there is no end, but for the limits.
Source.  Constrained shortest paths on the product with what is counted (Irnich and Desaulniers 2005); the
bound on spellings is made for this.
Not taken.  A product of all occurrences, whose states are what each has read: it multiplies the graph by itself.
One search for each spelling, which cannot prove that there is no better one.
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tokamata.errors import LimitExceeded
from tokamata.limits import Watch
from tokamata.repair.costs import TextCosts
from tokamata.repair.graphs import STEPS, RepairGraph
from tokamata.repair.names import WORD_BYTES, Name, Occurrence, middle_of
from tokamata.repair.programs import Marks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["UnfoldedGraph", "unfolded"]

_STEPS_OF_A_CHECK = 256
_BYTES_OF_A_NODE = 600  # within names, with its edges
_NO_PLACE = -1
_REWRITE = STEPS.index("rewrite")

# Nodes: of the graph; within an occurrence or right before or after it, with what was written; after its end.
_Inner: TypeAlias = "tuple[int, int, bytes]"
_Key: TypeAlias = "int | _Inner | tuple[int, int]"
_Mark: TypeAlias = "tuple[int, bytes]"  # an occurrence and its spelling
# Whether a node may be on a repair within the bound: the node, its cost, the least cost of what was written.
_IsWithin: TypeAlias = "Callable[[_Inner, float, float], bool]"


class UnfoldedGraph(NamedTuple):
    """A graph whose paths are those of another one, and know what they write of names.

    Attributes:
        nodes: how many there are; the first is the start.
        ends: the nodes where a repair may end.
        source, target: of each edge.
        edge: the edge of the graph that it stands for; -1: none, and it costs nothing.
        byte: the byte that it writes, if the edge of the graph has several; otherwise -1.
        marks: which edges write a spelling.
        is_whole: the bound has left out nothing.
    """

    nodes: int
    ends: NDArray[np.int64]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    edge: NDArray[np.int64]
    byte: NDArray[np.int64]
    marks: Marks
    is_whole: bool


class _Step(NamedTuple):
    """An edge of the unfolded graph, before its nodes have numbers; ``marks``: occurrences and spellings."""

    target: _Key
    cost: int
    edge: int
    byte: int
    marks: tuple[_Mark, ...]


def unfolded(
    graph: RepairGraph, costs: TextCosts, names: Sequence[Name], bound: int, watch: Watch
) -> UnfoldedGraph:
    """A graph, unfolded where some names stand.

    Args:
        graph: the graph, with every byte at the positions of the names and right after them.
        costs: of the text.
        names: the names; all of them have different places.
        bound: what repairs cost at most that the unfolded graph has.
        watch: the limits.

    Raises:
        LimitExceeded, Cancelled: the work was stopped.
    """
    return _Unfolding(graph, costs, names, bound, watch).made()


class _Unfolding:
    """One graph that is unfolded."""

    def __init__(
        self, graph: RepairGraph, costs: TextCosts, names: Sequence[Name], bound: int, watch: Watch
    ) -> None:
        self.graph, self.costs, self.names, self.bound, self.watch = graph, costs, names, bound, watch
        self.broken = costs.text
        self.places: list[Occurrence] = sorted(one for name in names for one in name.occurrences)
        number_of = {one: number for number, name in enumerate(names) for one in name.occurrences}
        self.name_of = [number_of[one] for one in self.places]
        self.begins = [one.begin for one in self.places]
        self.ending = {one.end: place for place, one in enumerate(self.places)}
        self.within = [_NO_PLACE] * (len(self.broken) + 1)  # by position, from the begin to before the end
        for place, one in enumerate(self.places):
            self.within[one.begin : one.end] = [place] * (one.end - one.begin)
        self.positions: list[int] = graph.positions.tolist()
        self.sources: list[int] = graph.source.tolist()
        self.targets: list[int] = graph.target.tolist()
        self.prices: list[int] = graph.cost.tolist()
        self.kinds: list[int] = graph.kind.tolist()
        self.out: list[list[int]] = [[] for _ in self.positions]
        for edge, source in enumerate(self.sources):
            self.out[source].append(edge)
        self.ends = frozenset(graph.ends.tolist())
        self.kept: list[set[bytes]] = []  # of each name, the spellings that are needed
        self.steps = self.held = 0
        self.is_cut = False

    # ---- the edges of the unfolded graph ---------------------------------------------------------

    def written(self, edge: int) -> bytes:
        """What an edge writes that has no choice."""
        name, operand = STEPS[self.kinds[edge]], int(self.graph.operand[edge])
        at = self.positions[self.sources[edge]]
        if name == "keep":
            return self.broken[at : at + 1]
        if name == "rewrite":
            return self.costs.span(operand).written
        return b"" if name == "remove" else bytes((operand,))

    def alternatives(self, edge: int) -> Iterator[tuple[bytes, int]]:
        """What an edge may write, and the byte that says which it is."""
        if not self.graph.byte_set[edge]:
            yield self.written(edge), -1
            return
        for byte in self.graph.choices(edge):
            yield bytes((byte,)), byte

    def following(self, key: _Key) -> Iterator[_Step]:
        """The edges from a node."""
        if isinstance(key, int):
            yield from self._from_plain(key)
        elif len(key) == 2:
            yield from self._from_closed(key[1])
        else:
            yield from self._from_inner(*key)

    def _from_plain(self, node: int) -> Iterator[_Step]:
        """From a node outside of names, right before one, or within one that was given up."""
        at = self.positions[node]
        place = self.within[at]
        is_before = place != _NO_PLACE and self.places[place].begin == at
        for edge in self.out[node]:
            target, price = self.targets[edge], self.prices[edge]
            if self.positions[target] > at:
                yield from self._reading(edge, place if is_before else _NO_PLACE, b"")
            elif is_before and not self.places[place].follows:
                yield from self._before(edge, place, b"")
            elif target != node:
                yield _Step(target, price, edge, -1, ())

    def _from_closed(self, node: int) -> Iterator[_Step]:
        """After the end of a name: no letter is inserted."""
        at = self.positions[node]
        place = self.within[at]
        for edge in self.out[node]:
            target, price = self.targets[edge], self.prices[edge]
            if self.positions[target] > at:
                yield from self._reading(edge, place, b"")
                continue
            for written, byte in self.alternatives(edge):
                if written and written[0] not in WORD_BYTES:
                    yield _Step(target, price, edge, byte, ())
                    break  # of bytes that are no letters one is enough

    def _from_inner(self, place: int, node: int, prefix: bytes) -> Iterator[_Step]:
        """From a node where the beginning of a spelling was written."""
        at, one = self.positions[node], self.places[place]
        for edge in self.out[node]:
            target, price = self.targets[edge], self.prices[edge]
            if self.positions[target] > at:
                if at < one.end:
                    yield from self._reading(edge, place, prefix)
            elif at == one.begin:
                yield from self._before(edge, place, prefix)
            else:
                for written, byte in self.alternatives(edge):
                    letters = _first_letters(written) if at == one.end else len(written)
                    spelling = prefix + written[:letters]
                    if letters == len(written):
                        yield _Step((place, target, spelling), price, edge, byte, ())
                    elif letters:
                        yield _Step(target, price, edge, byte, ((place, spelling),))
        if at == one.end:
            yield _Step((place, node), 0, -1, -1, ((place, prefix),) if prefix else ())

    def _before(self, edge: int, place: int, prefix: bytes) -> Iterator[_Step]:
        """An insertion right before a name: the letters after the last other byte belong to it."""
        target, price, has_other = self.targets[edge], self.prices[edge], False
        for written, byte in self.alternatives(edge):
            letters = _last_letters(written)
            head = prefix + written if letters == len(written) else written[len(written) - letters :]
            if head:
                yield _Step((place, target, head), price, edge, byte, ())
            elif not has_other:
                has_other = len(written) > 0
                if target != self.sources[edge] or prefix:
                    yield _Step(target, price, edge, byte, ())

    def _reading(self, edge: int, place: int, prefix: bytes) -> Iterator[_Step]:
        """An edge that reads some bytes, where a name has begun or not."""
        at, target, price = self.positions[self.sources[edge]], self.targets[edge], self.prices[edge]
        end = self.positions[target]
        if place != _NO_PLACE and end <= self.places[place].end:
            for written, byte in self.alternatives(edge):
                yield _Step((place, target, prefix + written), price, edge, byte, ())
            return
        written, key, marks = self.written(edge), target, []
        for other in self._places_read(at, end):
            middle = middle_of(self.places[other], self.broken, at, end, written)
            if other == place and middle is not None:
                middle = prefix + middle
            elif self.places[other].begin < at:
                continue  # it is left before its end
            if middle is not None and self.places[other].end == end:
                yield _Step((other, target, middle), price, edge, -1, tuple(marks))
                return
            if middle:
                marks.append((other, middle))
        yield _Step(key, price, edge, -1, tuple(marks))

    def _places_read(self, begin: int, end: int) -> range:
        """The occurrences of which an edge reads some bytes."""
        first = bisect_left(self.begins, begin)
        if first and self.places[first - 1].end > begin:
            first -= 1
        return range(first, bisect_left(self.begins, end))

    # ---- which spellings are needed --------------------------------------------------------------

    def _needed(self, name: int, reached: Sequence[float], left: Sequence[float]) -> set[_Inner]:
        """The nodes within the occurrences of a name that repairs within the bound may pass."""
        places = {place for place, number in enumerate(self.name_of) if number == name}
        given_up, is_touched = self._touched(places)
        certain = places - given_up
        free = [0 if touched else price for touched, price in zip(is_touched, self.prices, strict=True)]
        outside = least_costs(len(self.positions), self.sources, self.targets, free, {0: 0}, self._tick)
        room = self.bound - min((outside[end] for end in self.ends), default=math.inf)
        seeds: dict[_Inner, float] = {}
        first: defaultdict[int, float] = defaultdict(lambda: math.inf)
        written: dict[_Mark, float] = {}
        for node in range(len(self.positions)):
            for step in self._from_plain(node) if self._leads_in(node, places) else ():
                _note(written, step, places, step.cost)
                if isinstance(step.target, tuple) and len(step.target) == 3 and step.target[0] in places:
                    seeds[step.target] = min(step.cost, seeds.get(step.target, math.inf))
                    first[step.target[0]] = min(reached[node], first[step.target[0]])
        removing, *_ = self._inner_costs(seeds, lambda *_: True, only_empty=True)
        empty = (cost for (place, node, _), cost in removing.items() if self._is_after(place, node))
        gone = min(empty, default=math.inf)
        others = max(len(certain) - 1, 0)

        def is_within(key: _Inner, cost: float, least: float) -> bool:
            place, node, _ = key
            needed = cost + others * min(least, gone) if others else cost
            return needed <= room and first[place] + cost + left[node] <= self.bound

        found, more, is_all = self._inner_costs(seeds, is_within, only_empty=False)
        for mark, cost in more.items():
            written[mark] = min(cost, written.get(mark, math.inf))
        kept = self._shared(written, certain, room, gone)
        self.is_cut |= not is_all
        self.kept.append(kept)
        beginnings = {spelling[:length] for spelling in kept for length in range(len(spelling) + 1)}
        return {key for key in found if key[2] in beginnings}

    def _shared(
        self, written: Mapping[_Mark, float], certain: set[int], room: float, gone: float
    ) -> set[bytes]:
        """The spellings that as many occurrences may have as the bound makes necessary."""
        having: defaultdict[bytes, set[int]] = defaultdict(set)
        least: dict[bytes, float] = {}
        for (place, spelling), cost in written.items():
            having[spelling].add(place)
            least[spelling] = min(cost, least.get(spelling, math.inf))
        kept = {b""}
        for spelling, places in having.items():
            count = len(places & certain)
            lacking = len(certain) - count
            needed = count * min(least[spelling], gone) + (lacking * gone if lacking else 0)
            if needed <= room:
                kept.add(spelling)
            else:
                self.is_cut = True
        return kept

    def _is_after(self, place: int, node: int) -> bool:
        return self.positions[node] == self.places[place].end

    def _leads_in(self, node: int, wanted: set[int]) -> bool:
        """Whether an edge from a node outside of names may lead into one of some names."""
        at = self.positions[node]
        place = self.within[at]
        if place in wanted and self.places[place].begin == at:
            return True
        return any(
            self.kinds[edge] == _REWRITE
            and not wanted.isdisjoint(self._places_read(at, self.positions[self.targets[edge]]))
            for edge in self.out[node]
        )

    def _touched(self, wanted: set[int]) -> tuple[set[int], list[bool]]:
        """Occurrences that one edit may give up, or write together with others; the edges that touch any."""
        given_up: set[int] = set()
        touched = [False] * len(self.sources)
        for edge, (source, target) in enumerate(zip(self.sources, self.targets, strict=True)):
            at, end = self.positions[source], self.positions[target]
            if at == end:
                touched[edge] = self.within[at] in wanted or self.ending.get(at) in wanted
                continue
            read = wanted.intersection(self._places_read(at, end))
            touched[edge] = bool(read)
            if self.kinds[edge] != _REWRITE:
                continue
            for place in read:
                one = self.places[place]
                is_inside = one.begin <= at and end <= one.end
                middle = middle_of(one, self.broken, at, end, self.written(edge))
                if not is_inside and (not middle or len(read) > 1):
                    given_up.add(place)
        return given_up, touched

    def _inner_costs(
        self, seeds: dict[_Inner, float], is_within: _IsWithin, only_empty: bool
    ) -> tuple[dict[_Inner, float], dict[_Mark, float], bool]:
        """What nodes within names cost from the begins of these, in the order of the costs.

        Returns:
            The costs; those of spellings; and whether ``is_within`` has left out nothing.
        """
        costs: dict[_Inner, float] = {}
        written: dict[_Mark, float] = {}
        least: dict[bytes, float] = {}  # of what begins with some bytes
        queue = [(cost, key) for key, cost in seeds.items()]
        heapq.heapify(queue)
        is_all = True
        while queue:
            cost, key = heapq.heappop(queue)
            if key in costs or (only_empty and key[2]):
                continue
            self._tick()
            place, node, prefix = key
            for length in range(len(prefix), -1, -1):
                if least.setdefault(prefix[:length], cost) < cost:
                    break  # so it is of the shorter ones
            if not is_within(key, cost, least[prefix]):
                is_all = False
                continue
            costs[key] = cost
            self._hold()
            for step in self._from_inner(place, node, prefix):
                target, more = step.target, cost + step.cost
                _note(written, step, (place,), more)
                if not isinstance(target, tuple) or len(target) != 3 or target in costs:
                    continue
                if target[0] == place:
                    heapq.heappush(queue, (more, target))
        return costs, written, is_all

    # ---- the unfolded graph ----------------------------------------------------------------------

    def made(self) -> UnfoldedGraph:
        """The graph: what may be passed within names, and what is within the bound of that."""
        count = len(self.positions)
        reached = least_costs(count, self.sources, self.targets, self.prices, {0: 0}, self._tick)
        ends = dict.fromkeys(self.ends, 0)
        left = least_costs(count, self.targets, self.sources, self.prices, ends, self._tick)
        inner: set[_Inner] = set()
        for name in range(len(self.names)):
            inner |= self._needed(name, reached, left)
        numbers: dict[_Key, int] = {0: 0}
        source: list[int] = []
        steps: list[_Step] = []
        open_: list[_Key] = [0]
        while open_:
            key = open_.pop()
            self._tick()
            for step in self.following(key):
                target = step.target
                if isinstance(target, tuple) and len(target) == 3 and target not in inner:
                    continue
                if any(spelling not in self.kept[self.name_of[place]] for place, spelling in step.marks):
                    continue
                if target not in numbers:
                    numbers[target] = len(numbers)
                    open_.append(target)
                    self._hold()
                source.append(numbers[key])
                steps.append(step)
        return self._within_bound(numbers, source, steps)

    def _within_bound(self, numbers: dict[_Key, int], source: list[int], steps: list[_Step]) -> UnfoldedGraph:
        """The edges of repairs within the bound, in arrays."""
        import numpy as np

        count = len(numbers)
        target, price = [numbers[step.target] for step in steps], [step.cost for step in steps]
        ends = {number: 0 for key, number in numbers.items() if self._is_end(key)}
        reached = least_costs(count, source, target, price, {0: 0}, self._tick)
        left = least_costs(count, target, source, price, ends, self._tick)
        kept = [
            number
            for number, step in enumerate(steps)
            if reached[source[number]] + step.cost + left[target[number]] <= self.bound
        ]
        self.is_cut |= len(kept) < len(steps)
        used = sorted({0, *(source[number] for number in kept), *(target[number] for number in kept)})
        renumbered = {node: number for number, node in enumerate(used)}
        rows: dict[tuple[int, bytes], int] = {}
        pairs = [
            (edge, rows.setdefault(mark, len(rows)))
            for edge, number in enumerate(kept)
            for mark in steps[number].marks
        ]
        spellings: dict[tuple[int, bytes], int] = {}
        of_row = [
            spellings.setdefault((self.name_of[place], spelling), len(spellings)) for place, spelling in rows
        ]

        def array(values: Iterable[int]) -> NDArray[np.int64]:
            return np.array(list(values), dtype=np.int64)

        marks = Marks(
            array(edge for edge, _ in pairs),
            array(row for _, row in pairs),
            array(of_row),
            array(name for name, _ in spellings),
        )
        return UnfoldedGraph(
            len(used),
            array(renumbered[end] for end in ends if end in renumbered and reached[end] <= self.bound),
            array(renumbered[source[number]] for number in kept),
            array(renumbered[target[number]] for number in kept),
            array(steps[number].edge for number in kept),
            array(steps[number].byte for number in kept),
            marks,
            self.graph.is_whole and not self.is_cut,
        )

    def _is_end(self, key: _Key) -> bool:
        if isinstance(key, int):
            return key in self.ends
        return len(key) == 2 and key[1] in self.ends

    def _hold(self) -> None:
        self.held += _BYTES_OF_A_NODE
        if self.held > self.watch.limits.memory_bytes:
            raise LimitExceeded("memory_bytes", self.watch.limits.memory_bytes)

    def _tick(self) -> None:
        self.steps += 1
        if self.steps % _STEPS_OF_A_CHECK == 0:
            self.watch.check()


def _note(written: dict[_Mark, float], step: _Step, places: Container[int], cost: float) -> None:
    """Notes the spellings of some occurrences that an edge writes."""
    for mark in step.marks:
        if mark[0] in places:
            written[mark] = min(cost, written.get(mark, math.inf))


def _first_letters(written: bytes) -> int:
    """How many word bytes stand at the begin."""
    return next((at for at, byte in enumerate(written) if byte not in WORD_BYTES), len(written))


def _last_letters(written: bytes) -> int:
    """How many word bytes stand at the end."""
    return _first_letters(written[::-1])


def least_costs(
    nodes: int,
    source: Sequence[int],
    target: Sequence[int],
    price: Sequence[int],
    starts: Mapping[int, int],
    tick: Callable[[], None],
) -> list[float]:
    """Of each node, the least cost from some starts: Dijkstra's algorithm."""
    out: list[list[tuple[int, int]]] = [[] for _ in range(nodes)]
    for one, other, cost in zip(source, target, price, strict=True):
        out[one].append((other, cost))
    costs = [math.inf] * nodes
    queue = []
    for start, paid in starts.items():
        costs[start] = paid
        queue.append((paid, start))
    heapq.heapify(queue)
    while queue:
        paid, node = heapq.heappop(queue)
        if paid > costs[node]:
            continue
        tick()
        for other, cost in out[node]:
            if paid + cost < costs[other]:
                costs[other] = paid + cost
                heapq.heappush(queue, (paid + cost, other))
    return costs
