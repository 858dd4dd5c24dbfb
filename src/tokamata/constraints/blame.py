"""Why no text matches: the operands that are to blame.

Problem: ``(a & b & c) + d`` was compiled and matches nothing.  Which part is at fault?

Method: a concatenation is empty if one operand is; a union if all are.  So the search descends to the first
empty operand, down to an intersection, a difference or a constraint without operands.  In an intersection, it
tests which pairs of operands have a text in common.  For more than ``_MOST_PAIRED`` operands, bisection finds
the shortest run of first operands without a common text, and only pairs with the last of the run are tested.

Cost: one search for a shortest text for each operand, or for each pair of up to ``_MOST_PAIRED`` operands;
log n + n searches for n operands beyond that.  All of them together take at most the seconds of one compile.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import tokamata._core as _core
from tokamata.calls.arguments import clipped
from tokamata.errors import LimitExceeded
from tokamata.resources.limits import CancelToken, Limits, core_limits
from tokamata.values.denotation import Denotation

_MOST_PAIRED = 16  # up to this many operands, all pairs are tested
_MOST_SHOWN = 8  # pairs, or operands


def why_empty(constraint: Denotation[Any], limits: Limits, cancel: CancelToken | None) -> str:
    """Names the operands that leave no text; ``""`` for a constraint without operands.

    Raises:
        Cancelled: the search was stopped.
    """
    try:
        return _Search(limits, cancel).explain(constraint)
    except LimitExceeded as error:
        return f"which of its parts are to blame was not found within {error.limit}={error.bound:.12g}"


class _Search:
    """Searches that share the time of one call."""

    def __init__(self, limits: Limits, cancel: CancelToken | None) -> None:
        self._limits = limits
        self._cancel = cancel
        self._end = time.monotonic() + limits.seconds

    def explain(self, constraint: Denotation[Any]) -> str:
        part = self._innermost(constraint)
        if part._operator == "&":
            reason = self._exclusions([operand for operand in part._operands if not operand._needs()])
        elif part._operator == "-":
            rest = ", ".join(_shown(operand) for operand in part._operands[1:][:_MOST_SHOWN])
            reason = f"every text of {_shown(part._operands[0])} is one of {rest}"
        elif part._operator == "~":
            reason = f"every text is one of {_shown(part._operands[0])}"
        else:
            return "" if part is constraint else f"its part {_shown(part)} matches no text"
        return reason if part is constraint else f"in its part {_shown(part)}: {reason}"

    def _innermost(self, constraint: Denotation[Any]) -> Denotation[Any]:
        """The innermost part on one path of empty parts: it makes the whole constraint empty."""
        while constraint._operator not in ("", "&", "~"):
            operands = constraint._operands[:1] if constraint._operator == "-" else constraint._operands
            part = next((operand for operand in operands if self._is_empty(operand)), None)
            if part is None:
                break
            constraint = part
        return constraint

    def _exclusions(self, operands: list[Denotation[Any]]) -> str:
        alone = [operand for operand in operands if self._is_empty(operand)]
        if alone:
            return "of its operands these match no text by themselves: " + _listed(map(_shown, alone))
        if len(operands) <= _MOST_PAIRED:
            pairs = list(itertools.combinations(operands, 2))
        else:
            count = self._shortest_empty_run(operands)
            pairs = [(operand, operands[count - 1]) for operand in operands[: count - 1]]
        excluding = [pair for pair in pairs if self._is_empty(*pair)]
        if excluding:
            shown = _listed(f"{_shown(one)} and {_shown(other)}" for one, other in excluding)
            return f"these operands exclude each other: {shown}"
        if len(operands) <= _MOST_PAIRED:
            return "every two of its operands have texts in common, but all of them together have none"
        return f"the first {count} of its operands have no text in common, though the first {count - 1} have"

    def _shortest_empty_run(self, operands: list[Denotation[Any]]) -> int:
        """The least number of first operands that have no text in common."""
        low, high = 1, len(operands)  # the first one has texts; all together have none
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._is_empty(*operands[:middle]) else (middle, high)
        return high

    def _is_empty(self, *constraints: Denotation[Any]) -> bool:
        """Whether no text matches all of them."""
        if any(constraint._needs() for constraint in constraints):
            return False  # not known: it depends on tokens, not on texts
        left = self._end - time.monotonic()
        if left <= 0:
            raise LimitExceeded("seconds", self._limits.seconds)
        expression = _core.intersect([constraint._expression for constraint in constraints])
        limits = core_limits(replace(self._limits, seconds=left))
        shown = clipped(" & ".join(_shown(constraint) for constraint in constraints[:_MOST_SHOWN]))
        return _core.shortest_text(expression, limits, self._cancel, shown, False) is None


def _shown(constraint: Denotation[Any]) -> str:
    return clipped(repr(constraint), 120)


def _listed(names: Iterable[str]) -> str:
    first = list(itertools.islice(names, _MOST_SHOWN + 1))
    return "; ".join(first[:_MOST_SHOWN] + ["…"] * (len(first) > _MOST_SHOWN))
