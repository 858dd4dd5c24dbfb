"""The search as Python sees it: arguments checked, answers one by one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import tokamata._core as _core
from tokamata.arguments import checked_instance
from tokamata.errors import ArgumentError, LimitExceeded, shown_argument
from tokamata.limits import CancelToken, Limits, checked_cancel, checked_limits, core_limits
from tokamata.repair.costs import Doubt, EditCosts, Span
from tokamata.repair.results import Certificate, Edit, Repair
from tokamata.values.forms import Reading, accepted

__all__ = [
    "NO_TIME",
    "SearchArguments",
    "checked_search",
    "edit_of",
    "needs_none",
    "searched_repairs",
]

_T = TypeVar("_T")
_MOST_WEIGHT = 1000
NO_TIME = 1e-9  # for the engine, whose time is above 0


def searched_repairs(
    languages: tuple[_core.Expression, _core.Expression],
    pattern: str,
    parse: Callable[[str], _T],
    text: str | bytes,
    costs: EditCosts,
    deadline_seconds: float | None,
    weight: float,
    limits: Limits | None,
    cancel: CancelToken | None,
) -> Iterator[Repair[_T]]:
    """The answers of :meth:`tokamata.Constraint.repairs`; arguments are checked now, not while iterating.

    Args:
        languages: the texts that need no repair, and those that repairs lead to.
        pattern: what errors show.
        parse: makes the value of a text.
        text, costs, deadline_seconds, weight, limits, cancel: as there.
    """
    given = checked_search(text, costs, deadline_seconds, weight, limits, cancel)
    return _answers(languages, pattern, parse, given)


class SearchArguments(NamedTuple):
    """The arguments of a search, checked."""

    broken: bytes
    costs: EditCosts
    weight: int  # in hundredths
    limits: Limits
    cancel: CancelToken | None


def checked_search(
    text: str | bytes,
    costs: EditCosts,
    deadline_seconds: float | None,
    weight: float,
    limits: Limits | None,
    cancel: CancelToken | None,
) -> SearchArguments:
    """The arguments of :meth:`tokamata.Constraint.repairs`, or an :class:`.ArgumentError`."""
    checked_instance("text", text, (str, bytes, bytearray, memoryview), "a str, or bytes")
    checked_instance("costs", costs, EditCosts)
    limits, cancel = checked_limits(limits), checked_cancel(cancel)
    if deadline_seconds is not None:
        deadline = _checked_number("deadline_seconds", deadline_seconds, 0)
        limits = replace(limits, seconds=min(limits.seconds, max(deadline, NO_TIME)))
    hundredths = round(100 * _checked_number("weight", weight, 1, _MOST_WEIGHT))
    # A surrogate is no text; its three bytes are removed like any others.
    broken = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)
    return SearchArguments(broken, costs, hundredths, limits, cancel)


def _answers(
    languages: tuple[_core.Expression, _core.Expression],
    pattern: str,
    parse: Callable[[str], _T],
    given: SearchArguments,
) -> Iterator[Repair[_T]]:
    unharmed, wanted = languages
    broken, costs, weight, limits, cancel = given
    start = time.perf_counter()
    if needs_none(unharmed, broken, Reading(pattern, limits, cancel)):
        us = round(1e6 * (time.perf_counter() - start))
        certificate = Certificate(broken, broken, (), 0, 0, costs, b"", True, unharmed)
        yield Repair(broken.decode(), (), 0, 0, True, 0, us, certificate, parse)
        return
    spans, doubts, tables = costs.spans(broken), costs.doubtful(broken), costs.tables()
    plain = [span[:4] for span in spans]
    doubted = [(position, doubt.cost) for position, doubt in doubts.items()]
    left = max(limits.seconds - (time.perf_counter() - start), NO_TIME)
    limits = replace(limits, seconds=left)
    search = _core.RepairSearch(
        wanted, broken, tables, plain, doubted, weight, core_limits(limits), cancel, pattern
    )
    first_us: int | None = None
    while True:
        is_better = search.improve() == "better"
        if is_better and first_us is None:
            first_us = round(1e6 * (time.perf_counter() - start))
        written, cost, (bound, nodes, is_exact) = search.text, search.cost, search.proof()
        edits = tuple(edit_of(tables, spans, doubts, broken, *edit) for edit in search.edits)
        certificate = Certificate(broken, written, edits, cost, bound, costs, nodes, is_exact, wanted)
        yield Repair(
            written.decode(),
            edits,
            cost,
            bound,
            bound == cost,
            search.expansions,
            first_us,
            certificate,
            parse,
        )
        if not is_better:
            return


def edit_of(
    tables: list[list[int]],
    spans: list[Span],
    doubts: dict[int, Doubt],
    broken: bytes,
    kind: str,
    begin: int,
    end: int,
    written: bytes,
    number: int,
) -> Edit:
    """An edit of the engine, with its name and its cost."""
    removed = broken[begin:end]
    prepend, insert, append, remove, replaced = tables
    if kind == "keep":
        return Edit(doubts[begin].name, begin, end, removed, written, doubts[begin].cost)
    if kind == "rewrite":
        return Edit(spans[number].name, begin, end, removed, written, spans[number].cost)
    if kind == "remove":
        return Edit(kind, begin, end, removed, written, remove[removed[0]])
    if kind == "replace":
        return Edit(kind, begin, end, removed, written, replaced[written[0]])
    table = append if begin == len(broken) else prepend if begin == 0 else insert
    return Edit(kind, begin, end, removed, written, table[written[0]])


def needs_none(unharmed: _core.Expression, broken: bytes, reading: Reading) -> bool:
    """Whether the text is known to be accepted as it is."""
    try:
        broken.decode()
        return accepted(unharmed, broken, reading) is None
    except (UnicodeDecodeError, LimitExceeded):
        return False


def _checked_number(name: str, given: Any, least: float, most: float = float("inf")) -> float:
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not least <= given <= most:
        bounds = f"from {least} to {most}" if most < float("inf") else f"of at least {least}"
        raise ArgumentError(name, shown_argument(given), f"a number {bounds}")
    return float(given)
