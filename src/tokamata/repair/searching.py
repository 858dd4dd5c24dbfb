"""The search as Python sees it: arguments checked, answers one by one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, TypeVar

import tokamata._core as _core
from tokamata.calls.arguments import checked_instance, checked_number
from tokamata.errors import LimitExceeded
from tokamata.repair.bounded_patterns import BoundedPatterns
from tokamata.repair.costs import KEEP, EditCosts, TextCosts
from tokamata.repair.edits import Edit, Edits
from tokamata.repair.results import Certificate, MarginOf, Repair
from tokamata.repair.rewards import Reward
from tokamata.resources.limits import CancelToken, Limits, core_limits

__all__ = ["LEAST_SECONDS", "Search", "checked_broken", "edit_of", "hundredths_of", "within_deadline"]

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)
_MOST_WEIGHT = 1000  # a search that prefers its best attempt so much never returns to another one
LEAST_SECONDS = 0.001  # a deadline of 0 leaves time for a first answer
_BYTES_OF_AN_EDIT = 400  # of an Edit and what it is made from


@dataclass(frozen=True)
class Search(Generic[_T_co]):
    """What is searched: the arguments of :meth:`tokamata.Constraint.repair`, checked.

    Attributes:
        texts: returns the accepted texts; a method of the constraint, so that what keeps it can be pickled.
        automata: those of the texts, kept between searches.
        pattern: what errors show.
        parse: makes the value of a text.
        broken, costs, limits, cancel: as there; the deadline is part of the limits.
        weight: in hundredths.
        is_json: whether accepted texts are JSON.
        margin: what :meth:`.Repair.margin` calls; a method of the constraint.
    """

    texts: Callable[[], _core.Expression]
    automata: _core.KeptAutomata
    pattern: str
    parse: Callable[[str], _T_co]
    broken: bytes
    costs: EditCosts
    weight: int
    limits: Limits
    cancel: CancelToken | None
    is_json: bool
    margin: MarginOf

    def repair(self) -> Repair[_T_co]:
        """The answer of :meth:`tokamata.Constraint.repair`."""
        *_, (made, _) = self._answers()
        return made()

    def repairs(self) -> Iterator[Repair[_T_co]]:
        """The answers of :meth:`tokamata.Constraint.repairs`."""
        return (made() for made, _ in self._answers())

    def reward(self) -> Reward[_T_co]:
        """The reward of :meth:`tokamata.Constraint.reward`."""
        *_, (made, price) = self._answers()
        return Reward(made(), price)

    def repair_to_end(self) -> tuple[Repair[_T_co], TextCosts, _core.RepairSearch]:
        """The answer, what its edits cost, and the search of the engine, which has ended."""
        bounds = BoundedPatterns(self.limits, self.cancel)
        priced = self.costs.of_text(self.broken, bounds)
        engine = self._begun(priced, bounds)
        start, first_us = time.perf_counter(), None
        while engine.improve() == "better":
            first_us = first_us or round(1e6 * (time.perf_counter() - start))
        best = self._unchanged(0) if self.needs_none() else self._best(priced, engine, first_us)
        return best, priced, engine

    def repair_to(self, priced: TextCosts, text: bytes) -> tuple[int, tuple[Edit, ...]]:
        """The cost and the edits of the cheapest repair to one text that the limits admit."""
        alone = replace(self, automata=_core.KeptAutomata(_core.literal(text)))
        engine = alone._begun(priced, BoundedPatterns(self.limits, self.cancel))
        while engine.improve() == "better":
            pass
        return engine.cost, tuple(edit_of(priced, *edit) for edit in engine.edits.all())

    def needs_none(self) -> bool:
        """Whether the text is known to be accepted as it is."""
        try:
            self.broken.decode()
            return self.automata.accepts(self.broken, core_limits(self.limits), self.cancel, self.pattern)
        except (UnicodeDecodeError, LimitExceeded):
            return False

    def _answers(self) -> Iterator[tuple[Callable[[], Repair[_T_co]], int | None]]:
        """Each better answer, with the cost of the first of all, which removes the text and writes another.

        The cost is ``None`` for a text that is accepted.  An answer is a function that makes the repair of
        what is found by now: to copy the proof of each would take a fifth of the time.
        """
        start = time.perf_counter()
        bounds = BoundedPatterns(self.limits, self.cancel)
        if self.needs_none():
            us = round(1e6 * (time.perf_counter() - start))
            yield partial(self._unchanged, us), None
            return
        priced = self.costs.of_text(self.broken, bounds)
        engine = self._begun(priced, bounds)
        price, first_us = engine.cost, None
        while True:
            is_better = engine.improve() == "better"
            if is_better and first_us is None:
                first_us = round(1e6 * (time.perf_counter() - start))
            yield partial(self._best, priced, engine, first_us), price
            if not is_better:
                return

    def _begun(self, priced: TextCosts, bounds: BoundedPatterns) -> _core.RepairSearch:
        """A search that has its first answer, within the time that the patterns have left of the limits."""
        left, cancel = bounds.left()
        engine = priced.for_engine()
        try:
            return _core.RepairSearch(
                self.automata, priced.text, *engine, self.weight, core_limits(left), cancel, self.pattern
            )
        except LimitExceeded as error:
            # The caller knows the whole time, and not what was left of it.
            if error.limit != "seconds":
                raise
            raise LimitExceeded("seconds", self.limits.seconds, self.pattern) from None

    def _unchanged(self, us: int) -> Repair[_T_co]:
        broken, none = self.broken, Edits.of(())
        certificate = Certificate(broken, broken, none, 0, 0, self.costs, b"", True, self.texts)
        return self._made(broken, none, 0, 0, 0, us, certificate)

    def _best(self, priced: TextCosts, engine: _core.RepairSearch, first_us: int | None) -> Repair[_T_co]:
        found = engine.edits
        if len(found) * _BYTES_OF_AN_EDIT > self.limits.memory_bytes:
            raise LimitExceeded("memory_bytes", self.limits.memory_bytes, self.pattern)
        written, cost, (bound, nodes, is_exact) = engine.text, engine.cost, engine.proof()
        edits = Edits(len(found), lambda: tuple(edit_of(priced, *edit) for edit in found.all()))
        certificate = Certificate(
            self.broken, written, edits, cost, bound, self.costs, nodes, is_exact, self.texts
        )
        return self._made(written, edits, cost, bound, engine.expansions, first_us, certificate)

    def _made(
        self,
        text: bytes,
        edits: Edits,
        cost: int,
        bound: int,
        expansions: int,
        us: int | None,
        certificate: Certificate,
    ) -> Repair[_T_co]:
        is_optimal, shown = bound == cost, text.decode()
        return Repair(
            shown,
            edits,
            cost,
            bound,
            is_optimal,
            expansions,
            us,
            certificate,
            self.parse,
            self.is_json,
            self.margin,
        )


def checked_broken(text: str | bytes) -> bytes:
    """The text that is to be repaired, checked."""
    checked_instance("text", text, (str, bytes, bytearray, memoryview), "a str, or bytes")
    # A surrogate is no text; its three bytes are removed like any others.
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)


def hundredths_of(weight: float) -> int:
    """The weight of a search, checked, as the engine has it."""
    return round(100 * checked_number("weight", weight, 1, _MOST_WEIGHT))


def within_deadline(limits: Limits, deadline_seconds: float | None) -> Limits:
    """Limits that end with a deadline, which is checked; ``None``: there is none."""
    if deadline_seconds is None:
        return limits
    deadline = checked_number("deadline_seconds", deadline_seconds, 0)
    return replace(limits, seconds=min(limits.seconds, max(deadline, LEAST_SECONDS)))


def edit_of(
    priced: TextCosts, kind: str, begin: int, end: int, written: bytes, number: int, mode: int
) -> Edit:
    """An edit of the engine, with its name and its cost."""
    removed = priced.text[begin:end]
    if kind == "keep":
        doubt = priced.doubt(mode, begin)
        return Edit(doubt.name if doubt else KEEP, begin, end, removed, written, priced.keeping(mode, begin))
    if kind == "rewrite":
        span = priced.span(number)
        return Edit(span.name, begin, end, removed, written, span.cost)
    return Edit(kind, begin, end, removed, written, priced.of_byte(kind, mode, begin, written))
