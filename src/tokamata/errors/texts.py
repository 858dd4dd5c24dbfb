"""Errors of reading a text as a value, and of repairing it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tokamata.errors.base import TokamataError


class ParseError(TokamataError, ValueError):
    """A text that the constraint does not accept, or whose value cannot be made.

    Attributes:
        place: the location in the text: a byte, a JSON Pointer, a line and a column, or ``""`` for the whole.
        reason: what is wrong there.
    """

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(place, reason)
        self.place = place
        self.reason = reason

    def _message(self) -> str:
        return f"at {self.place}: {self.reason}" if self.place else self.reason


class NoValuesError(TokamataError, TypeError):
    """The value of a text that was generated without a constraint was requested."""

    def __init__(self) -> None:
        super().__init__()

    def _message(self) -> str:
        return "a text that was generated without a constraint has no value; read its .text"


class NoRepairError(TokamataError, ValueError):
    """No accepted text can be reached by as many edits as ``at_most`` admits, or none with ``strict``.

    Attributes:
        at_most: how many edits of each name there might be.
        lower_bound: no such repair costs less, and the search has ended there; ``None``: there is none at
            all.
    """

    def __init__(self, at_most: Mapping[str, int], lower_bound: int | None) -> None:
        super().__init__(at_most, lower_bound)
        self.at_most = at_most
        self.lower_bound = lower_bound

    def _message(self) -> str:
        message = f"no accepted text is reached with at_most={dict(self.at_most)!r}"
        if self.lower_bound is not None:
            message += f", or it costs at least {self.lower_bound:,}"
        return message + "; admit more edits of one of these names"


class RepairRefusedError(NoRepairError):
    """The nearest repair loses, invents or changes more content than ``strict`` admits.

    Attributes:
        repair: the repair that was refused, a :class:`tokamata.Repair`.
        exceeded: the bounds that it passes, by name: how much it has, and how much there may be.
        at_most: empty.
        lower_bound: no accepted text costs less.
    """

    def __init__(self, repair: Any, exceeded: Mapping[str, tuple[int, int]]) -> None:
        super().__init__({}, repair.lower_bound)
        self.args = (repair, exceeded)
        self.repair = repair
        self.exceeded = exceeded

    def _message(self) -> str:
        passed = ", ".join(
            f"{name} {size} (at most {bound})" for name, (size, bound) in self.exceeded.items()
        )
        first = next(
            (
                one
                for name in self.exceeded
                for one in getattr(self.repair, "lost" if name == "prose" else name)
                if (one.kind == "prose") == (name == "prose")
            ),
            None,
        )
        if first is None:
            where = ""
        else:
            what = f"{first.removed[:40]!r} → {first.written[:40]!r}"
            where = f"; first {what} at byte {first.begin}"
        return (
            f"the nearest repair passes bounds of strict: {passed}{where}; "
            "read .repair of this error, or admit more in tk.RepairBounds"
        )
