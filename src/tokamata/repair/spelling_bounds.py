"""Which spellings of names the cheapest repair may have that writes names alike, and what it costs at least.

Problem.  Of each name the program needs all spellings that repairs within a bound may have.  Where 1,000
occurrences are misspelled, the best repair costs much more than the cheapest one: 1,000 times what a single
occurrence adds.  Within such a bound a single occurrence could be spelled in any way.
Example.  ``in cuont; out cuont``, with ``count`` or ``mount`` after ``in``, and ``mount`` or ``font`` after
``out``; each edit costs 1.  In reduced costs ``count`` costs 0 after ``in``, and ``font`` 0 after ``out``;
``mount`` costs 1 in both places.  So ``cuont`` as ``mount`` costs 2 more than the cheapest repair, and as
``count`` more than that, by what it takes to get rid of ``out``.  Each repair that writes it alike costs at
least 2 more, and with ten such names 20 more.

How.  Reduced costs (:mod:`.unfolding`) are never negative, so what different parts of a repair cost at least
can be added.
1. Of each occurrence p and each spelling s, d(p, s) is the least reduced cost of the edges that write it,
   with that of the edges between the occurrence before and this one.  r(p) is the least cost of writing
   nothing.  An occurrence that one edge can give up counts nothing.
2. A name that is spelled s costs at least t(s) = Σ min(d(p, s), r(p)), and at least the least of all t(s).
   The sum of that over the names is a bound.  Often the cheapest spelling of each name is the optimum.
3. Within a bound, a name needs only the spellings whose t(s) is within what the other names leave.

All occurrences of a name are searched together, in the order of costs.  So an occurrence that has not come
to the beginning of a spelling at the cost c has it at c or more: where k have not, t(s) is at least
k·min(c, r).

Cost.  O(occurrences · beginnings of spellings · log), in Python.  The spellings are those that an occurrence
can have at about one k-th of what the name costs.  Where anything may be inserted for nothing, there is no
end but that of the limits.
Source.  The sums follow the threshold algorithm (Fagin, Lotem and Naor 2001); the rest is our own.
Not taken.  The cheapest repair when all that touches a name is free, as the bound of what the name may cost:
it takes a whole search for each name, and each of ten misspelled names could then cost what all ten do.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from tokamata.repair.cheapest_first import cheapest_first
from tokamata.repair.programs import Marks
from tokamata.repair.unfolding import LETTERS, OUTSIDE, Key, Step, Unfolding, least_costs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["SpellingBounds", "UnfoldedGraph"]

_WRITTEN = -1  # in place of a node: the spelling is whole


class UnfoldedGraph(NamedTuple):
    """A graph whose paths are those of another one, and know what they write of names.

    Attributes:
        nodes: how many there are; the first is the start.
        ends: the nodes where a repair may end.
        source, target: of each edge.
        edge: the edge of the graph that it stands for; -1: none, and it costs nothing.
        byte: the byte that it writes, if the edge of the graph has several; otherwise -1.
        marks: which edges write a spelling.
        is_whole: nothing was left out.
    """

    nodes: int
    ends: NDArray[np.int64]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    edge: NDArray[np.int64]
    byte: NDArray[np.int64]
    marks: Marks
    is_whole: bool


class _Spellings(NamedTuple):
    """The spellings of a name, as far as they were searched.

    Attributes:
        keys: the nodes within its occurrences.
        totals: of each spelling, what the name costs at least that has it.
        least: the least of these, or what it costs to write nothing.
        is_all: whether no spelling was left out.
    """

    keys: set[Key]
    totals: dict[int, int]
    least: int
    is_all: bool


class SpellingBounds:
    """The bounds of the names of an unfolded graph.

    Args:
        unfolding: the graph.
        bound: what a repair costs at most.

    Attributes:
        least: no repair within the bound that writes names alike costs less; above the bound: there is none.
        spellings: of each name, the spelling that costs least; empty: nothing is written of it.

    Raises:
        LimitExceeded, Cancelled: the work was stopped.
    """

    def __init__(self, unfolding: Unfolding, bound: int) -> None:
        self._unfolding, self._bound = unfolding, bound
        self._room = int(max(-1, 2 * (bound - unfolding.least)))  # in reduced costs
        self.spellings: list[bytes] = []
        self.least = bound + 1
        self._own: list[int] = []  # of each name, what it costs at least
        if self._room < 0:
            return
        self._between()
        places = range(len(unfolding.places))
        self._seeds = [list(self._entries(place)) for place in places]
        self._gone = [self._without(place) for place in places]
        self._places_of: defaultdict[int, list[int]] = defaultdict(list)
        for place in places:
            self._places_of[unfolding.name_of[place]].append(place)
        for name in sorted(self._places_of):
            found = self._searched(name, self._room, is_least=True)
            self._own.append(found.least)
            word = min(found.totals, key=lambda word: (found.totals[word], word), default=0)
            is_written = word and found.totals[word] <= found.least
            self.spellings.append(unfolding.words.spelled(word) if is_written else b"")
        self.least = min(bound + 1, int(unfolding.least) + (sum(self._own) + 1) // 2)

    def _between(self) -> None:
        """What nodes cost from the last occurrence before them, and to the next one after them."""
        graph, outside = self._unfolding, frozenset(self._unfolding.outside)
        self._before: dict[Key, int] = {}

        def after(cost: int, key: Key) -> Iterator[tuple[int, Key]]:
            for step in graph.following(key):
                if step.target[0] < 0 and step.edge in outside:
                    yield cost + graph.cost(step.edge), step.target

        for cost, key in cheapest_first(((0, (OUTSIDE, node, 0)) for node in graph.exits), after):
            if cost > self._room:
                break
            self._before[key] = cost
            graph.tick()
        ends = {**graph.endings, **dict.fromkeys(graph.entrances, 0)}
        self._after = least_costs(
            len(graph.positions), graph.targets, graph.sources, graph.reduced, outside, ends, graph.tick
        )

    def _is_needed(self, key: Key, free: int) -> bool:
        """Whether repairs within the bound may pass a node outside of names."""
        graph, (state, node, _) = self._unfolding, key
        place = bisect_left(graph.begins, graph.positions[node])
        if place < len(graph.places):  # its bound may count the way to it
            free += self._own[graph.name_of[place]]
        before = self._before.get((LETTERS if state == LETTERS else OUTSIDE, node, 0))
        return before is not None and before + self._after[node] <= free

    def _entries(self, place: int) -> Iterable[tuple[int, Key]]:
        """The nodes that edges lead to which begin an occurrence, and spellings that one edge writes."""
        graph = self._unfolding
        begin = graph.places[place].begin
        nodes = {graph.sources[edge] for edge in graph.touching[place]}
        for node in sorted(nodes):
            for key in (OUTSIDE, node, 0), (LETTERS, node, 0):
                if graph.positions[node] <= begin and key in self._before:
                    for step in graph.following(key):
                        yield from self._own_steps(place, step, self._before[key])

    def _own_steps(self, place: int, step: Step, paid: int) -> Iterable[tuple[int, Key]]:
        """The target of a step, and the spelling that it ends, if they are of an occurrence."""
        self._unfolding.tick()
        cost = paid + self._unfolding.cost(step.edge)
        if step.target[0] == place:
            yield cost, step.target
        for other, word in step.marks:
            if other == place:
                yield cost, (place, _WRITTEN, word)

    def _without(self, place: int) -> int:
        """What it costs at least to write nothing of an occurrence; at most more than there is room for."""
        graph = self._unfolding

        def after(cost: int, key: Key) -> Iterator[tuple[int, Key]]:
            for step in graph.following(key):
                yield from (entry for entry in self._own_steps(place, step, cost) if entry[1][2] <= 0)

        for cost, key in cheapest_first((seed for seed in self._seeds[place] if seed[1][2] <= 0), after):
            if cost > self._room:
                break
            if graph.positions[key[1]] == graph.places[place].end:
                return cost
        return self._room + 1

    def _searched(self, name: int, room: int, is_least: bool) -> _Spellings:
        """The spellings of a name that cost no more than there is room for; or those of the least cost."""
        graph, parents = self._unfolding, self._unfolding.words.parents
        certain = [place for place in self._places_of[name] if place not in graph.given_up]
        # An occurrence that may be given up counts nothing.
        gone = dict.fromkeys(self._places_of[name], 0) | {place: self._gone[place] for place in certain}
        nothing, least_gone = sum(gone.values()), min((gone[place] for place in certain), default=0)
        first: dict[tuple[int, int], int] = {}  # of an occurrence and a beginning, the least cost
        counts: defaultdict[int, int] = defaultdict(int)  # of a beginning, occurrences that have come to it
        sums: defaultdict[int, int] = defaultdict(int)  # and what they cost
        keys: set[Key] = set()
        totals: dict[int, int] = {}
        is_all = True
        if is_least:
            room = min(room, nothing)
        queue = [entry for place in self._places_of[name] for entry in self._seeds[place]]
        heapq.heapify(queue)
        while queue:
            cost, key = heapq.heappop(queue)
            if key in keys:
                continue
            graph.tick()
            place, node, word = key
            beginning = word = max(word, 0)  # what is joined to letters is written as nothing
            while (place, beginning) not in first:
                first[place, beginning] = cost
                counts[beginning] += place not in graph.given_up
                sums[beginning] += min(cost, gone[place])
                beginning = parents[beginning]
                graph.hold()
            others = (len(certain) - counts[word]) * min(cost, least_gone)
            if sums[word] - min(first[place, word], gone[place]) + cost + others > room:
                is_all = False
                continue
            keys.add(key)
            graph.hold()
            if node == _WRITTEN:
                totals[word] = totals.get(word, nothing) - gone[place] + min(cost, gone[place])
                if is_least:
                    room = min(room, totals[word])
                continue
            for step in graph.following(key):
                for entry in self._own_steps(place, step, cost):
                    if entry[1] not in keys:
                        heapq.heappush(queue, entry)
        return _Spellings(keys, totals, min([nothing, *totals.values()]), is_all)

    # ---- the unfolded graph ----------------------------------------------------------------------

    def graph(self) -> UnfoldedGraph:
        """What repairs within the bound that write names alike may pass."""
        graph, parents = self._unfolding, self._unfolding.words.parents
        self._is_cut = False
        free = self._room - sum(self._own)
        needed: set[Key] = set()
        kept: list[set[int]] = []  # of each name, the spellings
        for name in sorted(self._places_of):
            room = free + self._own[name]
            found = self._searched(name, room, is_least=False)
            words = {word for word, total in found.totals.items() if total <= room}
            beginnings = {0}
            for word in words:
                while word not in beginnings:
                    beginnings.add(word)
                    word = parents[word]
            needed |= {key for key in found.keys if max(key[2], 0) in beginnings}
            kept.append(words)
            self._is_cut |= not found.is_all or len(words) < len(found.totals)
        numbers: dict[Key, int] = {(OUTSIDE, 0, 0): 0}
        source: list[int] = []
        steps: list[Step] = []
        open_ = list(numbers)
        while open_:
            key = open_.pop()
            graph.tick()
            for step in graph.following(key):
                target = step.target
                if target[0] >= 0:
                    is_needed = target in needed
                else:
                    is_needed = self._is_needed(target, free)
                    self._is_cut |= not is_needed
                if is_needed and all(word in kept[graph.name_of[place]] for place, word in step.marks):
                    if target not in numbers:
                        numbers[target] = len(numbers)
                        open_.append(target)
                        graph.hold()
                    source.append(numbers[key])
                    steps.append(step)
        return self._within_bound(numbers, source, steps)

    def _within_bound(self, numbers: dict[Key, int], source: list[int], steps: list[Step]) -> UnfoldedGraph:
        """The edges of repairs within the bound, in arrays."""
        import numpy as np

        graph = self._unfolding
        count, every = len(numbers), range(len(steps))
        target = [numbers[step.target] for step in steps]
        price = [graph.cost(step.edge) for step in steps]
        ends = {number: 0 for (place, node, _), number in numbers.items() if place < 0 and node in graph.ends}
        reached = least_costs(count, source, target, price, every, {0: 0}, graph.tick)
        left = least_costs(count, target, source, price, every, ends, graph.tick)
        kept = [
            edge for edge in every if reached[source[edge]] + price[edge] + left[target[edge]] <= self._room
        ]
        used = sorted({0, *(source[edge] for edge in kept), *(target[edge] for edge in kept)})
        renumbered = {node: number for number, node in enumerate(used)}
        rows: dict[tuple[int, int], int] = {}
        pairs = [
            (edge, rows.setdefault(mark, len(rows)))
            for edge, number in enumerate(kept)
            for mark in steps[number].marks
        ]
        spellings: dict[tuple[int, int], int] = {}
        of_row = [spellings.setdefault((graph.name_of[place], word), len(spellings)) for place, word in rows]

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
            array(renumbered[end] for end in ends if end in renumbered and reached[end] <= self._room),
            array(renumbered[source[edge]] for edge in kept),
            array(renumbered[target[edge]] for edge in kept),
            array(steps[edge].edge for edge in kept),
            array(steps[edge].byte for edge in kept),
            marks,
            not self._is_cut and len(kept) == len(steps),
        )
