"""The search as Python sees it: arguments checked, answers one by one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

import tokamata._core as _core
from tokamata.arguments import checked_instance
from tokamata.errors import ArgumentError, LimitExceeded, shown_argument
from tokamata.limits import CancelToken, Limits, checked_cancel, checked_limits, core_limits
from tokamata.repair.bounded_patterns import BoundedPatterns
from tokamata.repair.costs import EditCosts, TextCosts
from tokamata.repair.results import Certificate, Edit, Repair
from tokamata.repair.rewards import Reward
from tokamata.values.forms import Reading, accepted

__all__ = ["checked_number", "searched_answers", "searched_repairs", "searched_reward"]

_T = TypeVar("_T")
_MOST_WEIGHT = 1000
_LEAST_SECONDS = 0.001  # a deadline of 0 leaves time for a first answer
_BYTES_OF_AN_EDIT = 400  # of an Edit and what it is made from


def searched_repairs(answers: Iterator[tuple[Repair[_T], int | None]]) -> Iterator[Repair[_T]]:
    """The answers of :meth:`tokamata.Constraint.repairs`."""
    return (repair for repair, _ in answers)


def searched_reward(answers: Iterator[tuple[Repair[_T], int | None]]) -> Reward[_T]:
    """The reward of :meth:`tokamata.Constraint.reward`."""
    *_, (repair, price) = answers
    return Reward(repair, price)


def searched_answers(
    languages: tuple[_core.Expression, _core.Expression],
    pattern: str,
    parse: Callable[[str], _T],
    text: str | bytes,
    costs: EditCosts,
    deadline_seconds: float | None,
    weight: float,
    limits: Limits | None,
    cancel: CancelToken | None,
) -> Iterator[tuple[Repair[_T], int | None]]:
    """The answers of :meth:`tokamata.Constraint.repairs`; arguments are checked now, not while iterating.

    Each comes with the cost of the first answer of all, which removes the text and writes another; ``None``
    for a text that is accepted.

    Args:
        languages: the texts that need no repair, and those that repairs lead to.
        pattern: what errors show.
        parse: makes the value of a text.
        text, costs, deadline_seconds, weight, limits, cancel: as there.
    """
    checked_instance("text", text, (str, bytes, bytearray, memoryview), "a str, or bytes")
    checked_instance("costs", costs, EditCosts)
    limits, cancel = checked_limits(limits), checked_cancel(cancel)
    if deadline_seconds is not None:
        deadline = checked_number("deadline_seconds", deadline_seconds, 0)
        limits = replace(limits, seconds=min(limits.seconds, max(deadline, _LEAST_SECONDS)))
    hundredths = round(100 * checked_number("weight", weight, 1, _MOST_WEIGHT))
    # A surrogate is no text; its three bytes are removed like any others.
    broken = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)
    return _answers(languages, pattern, parse, broken, costs, hundredths, limits, cancel)


def _answers(
    languages: tuple[_core.Expression, _core.Expression],
    pattern: str,
    parse: Callable[[str], _T],
    broken: bytes,
    costs: EditCosts,
    weight: int,
    limits: Limits,
    cancel: CancelToken | None,
) -> Iterator[tuple[Repair[_T], int | None]]:
    unharmed, wanted = languages
    start = time.perf_counter()
    bounds = BoundedPatterns(limits, cancel)
    if _needs_none(unharmed, broken, Reading(pattern, limits, cancel)):
        us = round(1e6 * (time.perf_counter() - start))
        certificate = Certificate(broken, broken, (), 0, 0, costs, b"", True, unharmed)
        yield Repair(broken.decode(), (), 0, 0, True, 0, us, certificate, parse), None
        return
    priced = costs.of_text(broken, bounds)
    search = _begun(wanted, priced, weight, limits, bounds, pattern)
    price, first_us = search.cost, None
    while True:
        is_better = search.improve() == "better"
        if is_better and first_us is None:
            first_us = round(1e6 * (time.perf_counter() - start))
        written, cost, (bound, nodes, is_exact) = search.text, search.cost, search.proof()
        if search.edit_count * _BYTES_OF_AN_EDIT > limits.memory_bytes:
            raise LimitExceeded("memory_bytes", limits.memory_bytes, pattern)
        edits = tuple(_edit(priced, *edit) for edit in search.edits)
        certificate = Certificate(broken, written, edits, cost, bound, costs, nodes, is_exact, wanted)
        repair = Repair(
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
        yield repair, price
        if not is_better:
            return


def _begun(
    wanted: _core.Expression,
    priced: TextCosts,
    weight: int,
    limits: Limits,
    bounds: BoundedPatterns,
    pattern: str,
) -> _core.RepairSearch:
    """A search that has its first answer, within the time that the patterns have left of the limits."""
    left, cancel = bounds.left()
    try:
        return _core.RepairSearch(
            wanted, priced.text, *priced.for_engine(), weight, core_limits(left), cancel, pattern
        )
    except LimitExceeded as error:
        # The caller knows the whole time, and not what was left of it.
        if error.limit != "seconds":
            raise
        raise LimitExceeded("seconds", limits.seconds, pattern) from None


def _edit(priced: TextCosts, kind: str, begin: int, end: int, written: bytes, number: int) -> Edit:
    """An edit of the engine, with its name and its cost."""
    removed = priced.text[begin:end]
    if kind == "keep":
        doubt = priced.doubts[begin]
        return Edit(doubt.name, begin, end, removed, written, doubt.cost)
    if kind == "rewrite":
        span = priced.spans[number]
        return Edit(span.name, begin, end, removed, written, span.cost)
    return Edit(kind, begin, end, removed, written, priced.of_byte(kind, begin, written))


def _needs_none(unharmed: _core.Expression, broken: bytes, reading: Reading) -> bool:
    """Whether the text is known to be accepted as it is."""
    try:
        broken.decode()
        return accepted(unharmed, broken, reading) is None
    except (UnicodeDecodeError, LimitExceeded):
        return False


def checked_number(name: str, given: Any, least: float, most: float = float("inf")) -> float:
    """A number within bounds, as a ``float``."""
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not least <= given <= most:
        bounds = f"from {least} to {most}" if most < float("inf") else f"of at least {least}"
        raise ArgumentError(name, shown_argument(given), f"a number {bounds}")
    return float(given)
