"""The search as Python sees it: arguments checked, answers one by one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, TypeVar

import tokamata._core as _core
from tokamata.calls.arguments import checked_instance, checked_number
from tokamata.errors import LimitExceeded
from tokamata.repair.bounded_patterns import BoundedPatterns
from tokamata.repair.costs import KEEP, EditCosts, TextCosts
from tokamata.repair.results import Certificate, Edit, Edits, MarginOf, Repair
from tokamata.repair.rewards import Reward
from tokamata.resources.limits import CancelToken, Limits, checked_cancel, checked_limits, core_limits

__all__ = [
    "LEAST_SECONDS",
    "Search",
    "checked_search",
    "edit_of",
    "hundredths_of",
    "needs_none",
    "repair_to",
    "searched_repair",
    "searched_repairs",
    "searched_reward",
    "searched_to_end",
    "within_deadline",
]

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


def checked_search(
    texts: Callable[[], _core.Expression],
    automata: _core.KeptAutomata,
    pattern: str,
    parse: Callable[[str], _T],
    text: str | bytes,
    costs: EditCosts,
    deadline_seconds: float | None,
    weight: float,
    limits: Limits | None,
    cancel: CancelToken | None,
    is_json: bool,
    margin: MarginOf,
) -> Search[_T]:
    """A search, or an :class:`.ArgumentError`."""
    checked_instance("text", text, (str, bytes, bytearray, memoryview), "a str, or bytes")
    checked_instance("costs", costs, EditCosts)
    limits, cancel = within_deadline(checked_limits(limits), deadline_seconds), checked_cancel(cancel)
    hundredths = hundredths_of(weight)
    # A surrogate is no text; its three bytes are removed like any others.
    broken = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)
    return Search(texts, automata, pattern, parse, broken, costs, hundredths, limits, cancel, is_json, margin)


def hundredths_of(weight: float) -> int:
    """The weight of a search, checked, as the engine has it."""
    return round(100 * checked_number("weight", weight, 1, _MOST_WEIGHT))


def within_deadline(limits: Limits, deadline_seconds: float | None) -> Limits:
    """Limits that end with a deadline, which is checked; ``None``: there is none."""
    if deadline_seconds is None:
        return limits
    deadline = checked_number("deadline_seconds", deadline_seconds, 0)
    return replace(limits, seconds=min(limits.seconds, max(deadline, LEAST_SECONDS)))


def searched_repair(search: Search[_T]) -> Repair[_T]:
    """The answer of :meth:`tokamata.Constraint.repair`."""
    *_, (made, _) = _answers(search)
    return made()


def searched_repairs(search: Search[_T]) -> Iterator[Repair[_T]]:
    """The answers of :meth:`tokamata.Constraint.repairs`."""
    return (made() for made, _ in _answers(search))


def searched_reward(search: Search[_T]) -> Reward[_T]:
    """The reward of :meth:`tokamata.Constraint.reward`."""
    *_, (made, price) = _answers(search)
    return Reward(made(), price)


def searched_to_end(
    search: Search[_T],
) -> tuple[Repair[_T], TextCosts, _core.RepairSearch]:
    """The answer of a search, what its edits cost, and the search itself, which has ended."""
    bounds = BoundedPatterns(search.limits, search.cancel)
    priced = search.costs.of_text(search.broken, bounds)
    engine = _begun(search, priced, bounds)
    start, first_us = time.perf_counter(), None
    while engine.improve() == "better":
        first_us = first_us or round(1e6 * (time.perf_counter() - start))
    best = _unchanged(search, 0) if needs_none(search) else _best(search, priced, engine, first_us)
    return best, priced, engine


def repair_to(search: Search[Any], priced: TextCosts, text: bytes) -> tuple[int, tuple[Edit, ...]]:
    """The cost and the edits of the cheapest repair to one text that the limits of the search admit."""
    alone = replace(search, automata=_core.KeptAutomata(_core.literal(text)))
    engine = _begun(alone, priced, BoundedPatterns(search.limits, search.cancel))
    while engine.improve() == "better":
        pass
    return engine.cost, tuple(edit_of(priced, *edit) for edit in engine.edits.all())


def _answers(search: Search[_T]) -> Iterator[tuple[Callable[[], Repair[_T]], int | None]]:
    """Each better answer, with the cost of the first of all, which removes the text and writes another.

    The cost is ``None`` for a text that is accepted.  An answer is a function that makes the repair of what
    is found by now: to copy the proof of each would take a fifth of the time.
    """
    start = time.perf_counter()
    bounds = BoundedPatterns(search.limits, search.cancel)
    if needs_none(search):
        us = round(1e6 * (time.perf_counter() - start))
        yield partial(_unchanged, search, us), None
        return
    priced = search.costs.of_text(search.broken, bounds)
    engine = _begun(search, priced, bounds)
    price, first_us = engine.cost, None
    while True:
        is_better = engine.improve() == "better"
        if is_better and first_us is None:
            first_us = round(1e6 * (time.perf_counter() - start))
        yield partial(_best, search, priced, engine, first_us), price
        if not is_better:
            return


def _unchanged(search: Search[_T], us: int) -> Repair[_T]:
    broken = search.broken
    certificate = Certificate(broken, broken, Edits.of(()), 0, 0, search.costs, b"", True, search.texts)
    return Repair(
        broken.decode(),
        Edits.of(()),
        0,
        0,
        True,
        0,
        us,
        certificate,
        search.parse,
        search.is_json,
        search.margin,
    )


def _best(
    search: Search[_T], priced: TextCosts, engine: _core.RepairSearch, first_us: int | None
) -> Repair[_T]:
    found = engine.edits
    if len(found) * _BYTES_OF_AN_EDIT > search.limits.memory_bytes:
        raise LimitExceeded("memory_bytes", search.limits.memory_bytes, search.pattern)
    written, cost, (bound, nodes, is_exact) = engine.text, engine.cost, engine.proof()
    edits = Edits(len(found), lambda: tuple(edit_of(priced, *edit) for edit in found.all()))
    certificate = Certificate(
        search.broken, written, edits, cost, bound, search.costs, nodes, is_exact, search.texts
    )
    return Repair(
        written.decode(),
        edits,
        cost,
        bound,
        bound == cost,
        engine.expansions,
        first_us,
        certificate,
        search.parse,
        search.is_json,
        search.margin,
    )


def _begun(search: Search[Any], priced: TextCosts, bounds: BoundedPatterns) -> _core.RepairSearch:
    """A search that has its first answer, within the time that the patterns have left of the limits."""
    left, cancel = bounds.left()
    try:
        return _core.RepairSearch(
            search.automata,
            priced.text,
            *priced.for_engine(),
            search.weight,
            core_limits(left),
            cancel,
            search.pattern,
        )
    except LimitExceeded as error:
        # The caller knows the whole time, and not what was left of it.
        if error.limit != "seconds":
            raise
        raise LimitExceeded("seconds", search.limits.seconds, search.pattern) from None


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


def needs_none(search: Search[Any]) -> bool:
    """Whether the text is known to be accepted as it is."""
    try:
        search.broken.decode()
        limits = core_limits(search.limits)
        return search.automata.accepts(search.broken, limits, search.cancel, search.pattern)
    except (UnicodeDecodeError, LimitExceeded):
        return False
