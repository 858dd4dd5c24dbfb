"""Repairs whose edits are coupled: at most so many of some names, and names that are written alike.

Problem.  The cheapest repair among those that make, say, at most two removals and one insertion
(``at_most``), or that write each name of the text in one spelling (``alike``, :mod:`.names`).  Both couple
edits that stand anywhere in the text.
Example.  ``[1 2 3]`` as JSON, where removing costs less than inserting a comma: at most one removal, so one
comma is inserted and one number removed with its blank, or whatever else is cheapest.

How.
1. Multipliers.  Each edit of a bounded name costs λ more, and the search of the engine finds the cheapest
   repair in these costs (:mod:`.raised_costs`).  Its bound, less λ for each edit that is admitted, is a
   lower bound; its answers may keep ``at_most``, and then they are candidates.  The best multipliers are
   those of a linear program over all repairs seen so far (Kelley's cutting planes); they grow by steps,
   since a search in which an edit costs nearly everything explores what no repair needs.  The best bound is
   that of the relaxation of the integer program.  Often it is the cost of a candidate: then that is the
   optimum, and its certificate proves it.
2. Program.  Otherwise all repairs whose raised cost is within a target are taken from the engine as a
   graph, and :mod:`.programs` finds the cheapest that keeps ``at_most``.  Every repair of less than the
   target is in the graph, so a program without a solution raises the lower bound to the target, which then
   grows. The graph may be that of the over-approximation, which forgets names that must differ.  Where the
   constraint refuses the answer, the graph of the constraint itself is taken.
3. Names.  Where the answer of a program writes a name in two spellings, the name is coupled from then on:
   the graph is unfolded at its occurrences (:mod:`.unfolding`).  So a program couples no more names than it
   has to.  What the spellings of each name cost at least (:mod:`.spelling_bounds`) raises the lower bound.
   The cheapest spelling is put in place of all occurrences, and the text that results is repaired: that is a
   candidate, and often the optimum.  What remains between both is left to the program of the unfolded graph.

When to use it.  With one bound and a small number, counters in the states would do as well.  The program is
for bounds on several kinds at once, and for large numbers, where their product would not fit.

What is proven.  The certificate holds the multipliers and proves their bound, that of the cheapest repair
where there is no ``at_most``; it counts edits and compares spellings.  What the program adds to
that is reported as ``Repair.lower_bound``, and can be checked only by solving it again.

Cost.  One to fifteen searches, and programs of some hundred columns, for JSON of up to 1 kB with three
mistakes; the searches take most of the time.  ``benchmarks/repair/couplings.py`` measures both.
Source.  Handler and Zang 1980: multipliers, then what is left between the bounds.  Kelley 1960.
Not taken.  Programs without multipliers: with 3,300 columns instead of none for 1 kB they take as long,
since the graph takes the time of a search; but their answers have no certificate.  Unrolling cycles: see
:mod:`.programs`.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import tokamata._core as _core
from tokamata._core import EditKind, GraphBytes
from tokamata.calls.arguments import checked_instance
from tokamata.errors import ArgumentError, LimitExceeded, NoRepairError, shown_argument
from tokamata.repair.bounded_patterns import BoundedPatterns
from tokamata.repair.costs import TextCosts
from tokamata.repair.coupled_certificates import CoupledCertificate
from tokamata.repair.edits import Edit, Edits
from tokamata.repair.graphs import (
    STEPS,
    RepairGraph,
    followed,
    repair_graph,
)
from tokamata.repair.names import (
    Name,
    Sides,
    checked_alike,
    different_names,
    names_of,
    respelled,
)
from tokamata.repair.programs import (
    BYTES_OF_AN_EDGE,
    CoupledGraph,
    Program,
    Solution,
    Unimodularity,
    check_solver,
    solved,
)
from tokamata.repair.raised_costs import RaisedCosts, scale_of
from tokamata.repair.results import Repair
from tokamata.repair.searching import LEAST_SECONDS, Search, edit_of
from tokamata.repair.spelling_bounds import SpellingBounds
from tokamata.repair.unfolding import Unfolding
from tokamata.resources.limits import Limits, Watch, core_limits
from tokamata.values.forms import Reading, accepted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["coupled_repairs"]

_T = TypeVar("_T")
_MOST_SEARCHES = 40  # with other multipliers, for one repair
# A search in raised costs gets this part of the memory, and a repair with other spellings of the time: where
# an edit costs nearly everything, a search may take any amount.
_SHARE = 4
_GROWTH = 4  # of the highest multiplier, where the best is the highest
# Where names are coupled: a step is such a part of what is known, and grows so until names have spellings.
_STEPS, _SPELLED_GROWTH = 64, 16


def coupled_repairs(
    search: Search[_T], at_most: Mapping[str, int] | None, alike: bytes | None
) -> Iterator[Repair[_T]]:
    """The answers of :meth:`tokamata.Constraint.repairs` with ``at_most`` or ``alike``, checked now."""
    costs, alike = search.costs, checked_alike(alike)
    at_most = {} if at_most is None else at_most
    checked_instance("at_most", at_most, Mapping, "a mapping of names of edits to numbers")
    names = {
        "insert",
        "remove",
        "replace",
        *(["typo"] if costs.typo is not None else []),
        *(one.name for one in costs.rewrites),
        *(one.name for one in costs.doubts),
    }
    for name, most in at_most.items():
        if name not in names:
            near = get_close_matches(name, names, 1) if isinstance(name, str) else []
            meant = {"delete": "remove", "substitute": "replace", "add": "insert"}.get(str(name))
            hint = f"did you mean {meant or near[0]}?" if meant or near else "such as insert, remove, replace"
            raise ArgumentError("at_most", shown_argument(name), "the name of an edit of costs", hint)
        if isinstance(most, bool) or not isinstance(most, int) or not 0 <= most < 1 << 31:
            raise ArgumentError("at_most", shown_argument(most), "a whole number from 0 to 2,147,483,647")
    if not at_most and alike is None:
        return search.repairs()
    check_solver()
    return _CoupledSearch(search, dict(at_most), alike).answers()


class _Candidate(NamedTuple):
    """A repair that keeps ``at_most``, and writes names alike."""

    cost: int
    text: bytes
    edits: tuple[Edit, ...]


class _Bounding(NamedTuple):
    """The search that has proven the best bound, with its multipliers."""

    search: _core.RepairSearch
    multipliers: dict[str, int]
    bound: int


class _Cut(NamedTuple):
    """What a repair says about all multipliers: its scaled cost, and its edits above ``at_most``."""

    cost: int
    excess: tuple[int, ...]


class _Paths(NamedTuple):
    """All repairs within a bound.

    Attributes:
        graph: for the program; ``None``: the bounds of spellings say enough.
        whole: the graph of the engine.
        edges, written: of each edge of ``graph``, that of ``whole``, or -1, and the byte that it writes.
        is_whole: nothing was left out for its cost.
        least: no repair that writes names alike costs less.
        spellings: of names, the spellings that make ``least``.
    """

    graph: CoupledGraph | None
    whole: RepairGraph
    edges: NDArray[np.int64]
    written: NDArray[np.int64]
    is_whole: bool
    least: int
    spellings: dict[Name, bytes]

    def followed(
        self, broken: bytes, costs: TextCosts, path: list[int]
    ) -> tuple[int, bytes, tuple[Edit, ...]]:
        """The cost, the text and the edits of a path."""
        steps = ((int(self.edges[one]), int(self.written[one])) for one in path if self.edges[one] >= 0)
        text, made = followed(broken, costs, self.whole, steps)
        return sum(edit.cost for edit in made), text, made


class _CoupledSearch(Generic[_T]):
    """One search: bounds and candidates, until they meet or time is over."""

    def __init__(self, search: Search[_T], at_most: dict[str, int], alike: bytes | None) -> None:
        self.given, self.at_most, self.alike = search, at_most, alike
        self.to_write_alike: list[Name] = []
        self.coupled: set[int] = set()  # the numbers of those that programs couple
        self.start = time.monotonic()
        self.names = tuple(at_most)
        self.best: _Candidate | None = None
        self.bound = 0
        self.bounding: _Bounding | None = None
        self.cuts: set[_Cut] = set()
        self.expansions = 0
        self.first_us: int | None = None
        self.programs = self.branch_nodes = 0
        self.last: Solution | None = None
        self.stopped: LimitExceeded | None = None

    # ---- the answers --------------------------------------------------------------------------

    def answers(self) -> Iterator[Repair[_T]]:
        """Each better candidate, and the last one with its final bound."""
        if self.given.needs_none():
            self.best, self.first_us = _Candidate(0, self.given.broken, ()), self._us()
            yield self._repair()
            return
        bounds = BoundedPatterns(self._left(), self.given.cancel)
        self.costs = self.given.costs.of_text(self.given.broken, bounds)
        self.scale, self.highest = scale_of(self.costs)
        if self.alike is not None:
            self.to_write_alike = names_of(self.alike, self.given.broken, bounds)
        for step in (self._raise_multipliers, self._solve_programs):
            self.stopped = None  # a search without room leaves some for a program
            for _ in step():
                yield self._repair()
            if self._is_closed() or (self.stopped is not None and self.stopped.limit == "seconds"):
                break
            if self.bounding is None:
                break
        if self.best is None:
            raise self.stopped or NoRepairError(self.at_most, self.bound)
        yield self._repair()

    def _repair(self) -> Repair[_T]:
        assert self.best is not None
        cost, text, edits = self.best
        listed = Edits.of(edits)
        nodes, is_exact, proven, multipliers = b"", True, 0, {}
        if self.bounding is not None:
            multipliers, proven = self.bounding.multipliers, self.bounding.bound
            _, nodes, is_exact = self.bounding.search.proof()
        certificate = CoupledCertificate(
            self.given.broken,
            text,
            listed,
            cost,
            min(proven, cost),
            self.given.costs,
            nodes,
            is_exact,
            self.given.texts,
            self.at_most,
            {name: value for name, value in multipliers.items() if value > 0},
            self.scale if self.bounding is not None else 1,
            self.alike,
        )
        bound = min(self.bound, cost)
        return Repair(
            text.decode(),
            listed,
            cost,
            bound,
            bound == cost,
            self.expansions,
            self.first_us,
            certificate,
            self.given.parse,
            self.given.is_json,
            self.given.margin,
            self._report(cost, bound),
        )

    def _report(self, cost: int, bound: int) -> Program:
        known: Unimodularity = "integral, not proven"
        if self.last is not None:
            known = self.last.unimodular
        elif self.bounding is None or not any(self.bounding.multipliers.values()):
            known = "network matrix"
        rows, columns = (self.last.rows, self.last.columns) if self.last is not None else (0, 0)
        gap = (cost - bound) / cost if cost else 0.0
        alike = tuple(self.to_write_alike[number].broken for number in sorted(self.coupled))
        return Program(self.at_most, self.programs, rows, columns, self.branch_nodes, gap, known, alike)

    def _is_closed(self) -> bool:
        return self.best is not None and self.best.cost <= self.bound

    def _us(self) -> int:
        return round(1e6 * (time.monotonic() - self.start))

    def _left(self) -> Limits:
        """The limits, with the time that is left of them."""
        left = self.given.limits.seconds - (time.monotonic() - self.start)
        if left <= 0:
            raise LimitExceeded("seconds", self.given.limits.seconds, self.given.pattern)
        return replace(self.given.limits, seconds=max(left, LEAST_SECONDS))

    def _stop(self, limit: str) -> None:
        """Notes the limit that was reached, as the caller has given it."""
        self.stopped = LimitExceeded(limit, getattr(self.given.limits, limit), self.given.pattern)

    def _take(self, cost: int, text: bytes, edits: tuple[Edit, ...]) -> bool:
        """Takes a repair as a cut, and as the candidate if it is a better one."""
        made = Counter(edit.name for edit in edits)
        excess = tuple(made[name] - self.at_most[name] for name in self.names)
        self.cuts.add(_Cut(self.scale * cost, excess))
        if any(count > 0 for count in excess) or (self.best is not None and cost >= self.best.cost):
            return False
        if different_names(self.to_write_alike, self.given.broken, edits):
            return False
        self.best = _Candidate(cost, text, edits)
        if self.first_us is None:
            self.first_us = self._us()
        return True

    # ---- multipliers --------------------------------------------------------------------------

    def _raise_multipliers(self) -> Iterator[None]:
        """Searches in raised costs, as long as other multipliers may prove more."""
        multipliers = dict.fromkeys(self.names, 0)
        highest = 0
        tried: set[tuple[int, ...]] = set()
        while len(tried) < _MOST_SEARCHES:
            tried.add(tuple(multipliers.values()))
            try:
                yield from self._search(multipliers)
            except LimitExceeded as error:
                self._stop(error.limit)
                return
            if self._is_closed() or self.stopped is not None or not self.names:
                return
            highest = highest or self._usual_cost()
            multipliers, hoped = self._next_multipliers(highest)
            while (tuple(multipliers.values()) in tried or hoped <= self.bound) and highest < self.highest:
                highest = min(self.highest, _GROWTH * highest)
                multipliers, hoped = self._next_multipliers(highest)
            if tuple(multipliers.values()) in tried or hoped <= self.bound:
                return

    def _usual_cost(self) -> int:
        """What an edit of the cheapest repair costs: where multipliers begin to matter."""
        cost, excess = min(self.cuts)
        edits = max(1, sum(map(sum, zip(self.at_most.values(), excess, strict=True))))
        return min(self.highest, max(self.scale * self.costs.least(), cost // edits))

    def _search(self, multipliers: dict[str, int]) -> Iterator[None]:
        """One search to its end; each of its answers is examined."""
        raised = RaisedCosts.of(self.costs, self.scale, multipliers)
        limits = self._left()
        if any(multipliers.values()):
            limits = replace(limits, memory_bytes=max(1, limits.memory_bytes // _SHARE))
        search = _core.RepairSearch(
            self.given.automata, self.given.broken,
            raised.machine, raised.rewrites, raised.doubts, raised.firm, self.given.weight,
            core_limits(limits), self.given.cancel, self.given.pattern,
        )  # fmt: skip
        before, outcome = self.expansions, "better"
        while True:  # the first answer, which writes the text anew, is there before any search
            edits = tuple(edit_of(self.costs, *edit) for edit in search.edits.all())
            self.expansions = before + search.expansions
            if self._take(sum(edit.cost for edit in edits), search.text, edits):
                yield
            if outcome != "better":
                break
            outcome = search.improve()
        added = sum(multipliers[name] * self.at_most[name] for name in self.names)
        bound = -((added - search.lower_bound) // self.scale)
        if self.bounding is None or bound > self.bounding.bound:
            self.bounding = _Bounding(search, multipliers, max(bound, 0))
            self.bound = max(self.bound, bound)
        if outcome == "stopped":
            self._left()  # raises where time is over
            self._stop("memory_bytes" if 2 * search.memory_bytes > limits.memory_bytes else "states")

    def _next_multipliers(self, highest: int) -> tuple[dict[str, int], int]:
        """The multipliers whose bound is the highest by all repairs seen, and the bound hoped for."""
        import numpy as np
        from scipy.optimize import linprog

        # The bound, then a multiplier for each name: the bound is at most what each repair costs, raised.
        cuts = sorted(self.cuts)
        found = linprog(
            np.array([-1.0, *(0.0 for _ in self.names)]),
            A_ub=np.array([[1.0, *(-float(count) for count in cut.excess)] for cut in cuts]),
            b_ub=np.array([float(cut.cost) for cut in cuts]),
            bounds=[(None, None), *((0, highest) for _ in self.names)],
            method="highs-ds",
        )
        if found.status != 0:
            return dict.fromkeys(
                self.names, 0
            ), 0  # numbers that HiGHS cannot cope with: nothing is hoped for
        hoped = -(-int(np.floor(found.x[0] + 0.5)) // self.scale)
        return {name: int(value) for name, value in zip(self.names, np.rint(found.x[1:]), strict=True)}, hoped

    # ---- programs -----------------------------------------------------------------------------

    def _solve_programs(self) -> Iterator[None]:
        """Programs over all repairs within a target, which grows until it is that of the best candidate."""
        least = step = self.costs.least()
        is_exact = is_spelled = False
        assert self.bounding is not None
        while not self._is_closed():
            target = self.bound + step - 1
            if self.best is not None:
                target = min(target, self.best.cost - 1)
            elif self.bound > self.highest // self.scale // 2:
                return  # that is more than any repair with so few edits is worth
            try:
                paths = self._paths(target, is_exact)
                if paths.least > self.bound and paths.least <= target:
                    # The next graph is smaller.
                    step = max(least, (paths.least - self.bounding.bound) // _STEPS)
                    self.bound, is_spelled = paths.least, True
                    yield from self._respell(paths.spellings)
                    continue
                solution = None if paths.graph is None else self._solved(paths.graph)
            except LimitExceeded as error:
                self._stop(error.limit)
                return
            if solution is None or solution.bound is None:
                if paths.is_whole and self.best is None:
                    self.bound = max(self.bound, target + 1)
                    raise NoRepairError(self.at_most, None)
                self.bound = self.best.cost if paths.is_whole and self.best is not None else target + 1
            elif solution.path is None:
                self.bound = max(self.bound, min(target + 1, solution.bound))
            else:
                cost, text, made = paths.followed(self.given.broken, self.costs, solution.path)
                self.bound = max(self.bound, min(target + 1, solution.bound))
                different = different_names(self.to_write_alike, self.given.broken, made)
                if different:
                    assert not different <= self.coupled, "what is coupled is written alike"
                    self.coupled |= different
                    step, is_spelled = max(step, self.bound // _STEPS), False
                    continue
                reading = Reading(self.given.pattern, self.given.limits, self.given.cancel)
                if accepted(self.given.texts(), text, reading) is not None:
                    is_exact = True  # the over-approximation alone accepts it
                    continue
                if self._take(cost, text, made):
                    yield
            if solution is not None and solution.bound is not None and not solution.is_optimal:
                self._stop("seconds")
                return
            step *= _SPELLED_GROWTH if self.coupled and not is_spelled else 2

    def _respell(self, spellings: Mapping[Name, bytes]) -> Iterator[None]:
        """A candidate: the text with other spellings of some names, repaired."""
        left = self._left()
        given = replace(self.given, limits=replace(left, seconds=left.seconds / _SHARE))
        try:
            nearest = replace(given, broken=respelled(self.given.broken, spellings)).repair()
            text = nearest.text.encode()
            cost, made = given.repair_to(self.costs, text)
        except LimitExceeded:
            return  # it is an attempt, and there is another candidate
        self.expansions += nearest.expansions
        if self._take(cost, text, made):
            yield

    def _solved(self, graph: CoupledGraph) -> Solution | None:
        """The solution of a graph's program; ``None`` for a graph without an end."""
        if not len(graph.ends):
            return None
        if len(graph.source) * BYTES_OF_AN_EDGE > self.given.limits.memory_bytes:
            raise LimitExceeded("memory_bytes", self.given.limits.memory_bytes, self.given.pattern)
        self.last = solved(graph, list(self.at_most.values()), self._left().seconds)
        self.programs += 1
        self.branch_nodes += self.last.branch_nodes
        return self.last

    def _paths(self, target: int, is_exact: bool) -> _Paths:
        """All repairs that cost no more than the target and keep ``at_most``, and some more."""
        import numpy as np

        assert self.bounding is not None
        multipliers = self.bounding.multipliers
        added = sum(multipliers[name] * self.at_most[name] for name in self.names)
        names = [self.to_write_alike[number] for number in sorted(self.coupled)]
        bound = self.scale * target + added
        alternatives = _alternatives(names, len(self.given.broken))
        whole = repair_graph(self.bounding.search, bound, is_exact, self._left(), alternatives)
        at, kind, operand = whole.positions, whole.kind, whole.operand
        number = {name: index for index, name in enumerate(self.names)}
        of_kind = np.full(len(STEPS), -1)
        for plain in (EditKind.REMOVE, EditKind.INSERT, EditKind.REPLACE):
            of_kind[plain] = number.get(STEPS[plain], -1)
        coupled = of_kind[kind]
        of_span = np.array([number.get(span.name, -1) for span in self.costs.spans] or [-1])
        rewritten = kind == EditKind.REWRITE
        coupled[rewritten] = of_span[operand[rewritten]]
        kept = kind == EditKind.KEEP
        for edge in np.flatnonzero(kept & (whole.cost > 0)):
            source = whole.source[edge]
            doubt = self.costs.doubt(whole.modes[source], int(at[source]))
            coupled[edge] = number.get(doubt.name, -1) if doubt else -1
        values = np.array([*multipliers.values(), 0], dtype=np.int64)  # the last one: of no bound
        cost = (whole.cost - values[coupled]) // self.scale
        if not names:
            graph = CoupledGraph(len(at), whole.ends, whole.source, whole.target, cost, coupled)
            every = np.arange(len(cost))
            return _Paths(graph, whole, every, np.full(len(cost), -1), whole.is_whole, 0, {})
        watch = Watch(self._left(), self.given.cancel)
        bounds = SpellingBounds(
            Unfolding(whole, self.costs, names, Sides.of(self.to_write_alike), bound, watch), bound
        )
        least = -((added - bounds.least) // self.scale)
        spellings = dict(zip(names, bounds.spellings, strict=False))  # none, if no repair is within the bound
        if least > self.bound:
            none = np.zeros(0, np.int64)
            return _Paths(None, whole, none, none, False, least, spellings)
        wide = bounds.graph()
        own = np.append(cost, 0)[wide.edge], np.append(coupled, -1)[wide.edge]  # the last one: of no edge
        graph = CoupledGraph(wide.nodes, wide.ends, wide.source, wide.target, *own, wide.marks)
        is_whole = whole.is_whole and wide.is_whole
        return _Paths(graph, whole, wide.edge, wide.byte, is_whole, least, spellings)


def _alternatives(names: list[Name], length: int) -> bytes:
    """What the graph needs at each position of a text: every byte where a name stands and right after it."""
    kinds = bytearray((GraphBytes.CHEAPEST,)) * (length + 1)
    for name in names:
        for begin, end, _ in name.occurrences:
            kinds[begin : end + 1] = bytes((GraphBytes.ALL_WITH_LOOPS,)) * (end + 1 - begin)
    return bytes(kinds)
