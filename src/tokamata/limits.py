"""What a caller lets the engine spend."""

from __future__ import annotations

import time
from dataclasses import dataclass

from tokamata import _core
from tokamata._core import CancelToken
from tokamata.errors import ArgumentError, Cancelled, LimitExceeded, shown_argument

__all__ = ["CancelToken", "Limits", "Watch", "checked_cancel", "checked_limits", "core_limits"]


@dataclass(frozen=True)
class Limits:
    """Bounds on the engine's work, for one compiled constraint and each of its matchers.

    They bound every call that works: ``compile``, masks, ``advance``, forced text.  A call that
    passes one raises :class:`tokamata.LimitExceeded` and leaves its matcher as it was.

    Attributes:
        states: automaton states kept at once by one compiled constraint.
        memory_bytes: bytes of expressions, transitions and masks kept at once by one compiled
            constraint.  Masks are given up oldest first, then the states that no matcher
            holds; only what cannot be given up counts as exceeding.
        seconds: working time of one matcher, in seconds, beginning with the time that compiling
            took.  Reading what is memoized is not counted, so that it is new states that cost.
        depth: how deep the pattern may nest: a regular expression, operators, a schema.  Regular expressions
            and operators nest ``errors.MOST_DEPTH`` deep at most, whatever this says.
    """

    states: int = 1_000_000
    memory_bytes: int = 1 << 29
    seconds: float = 30.0
    depth: int = 1000

    def __post_init__(self) -> None:
        for name in ("states", "memory_bytes", "depth"):
            value = getattr(self, name)
            if (
                not isinstance(value, int)
                or isinstance(value, bool)
                or not 1 <= value < 1 << (32 if name == "depth" else 63)
            ):
                raise ArgumentError(f"Limits.{name}", shown_argument(value), "a whole number of at least 1")
        seconds = self.seconds
        if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds > 0:
            raise ArgumentError("Limits.seconds", shown_argument(seconds), "a number above 0")


def checked_limits(limits: Limits | None) -> Limits:
    """The limits that a caller gave, the usual ones for ``None``."""
    if limits is None:
        return _DEFAULT
    if not isinstance(limits, Limits):
        raise ArgumentError("limits", shown_argument(limits), "tokamata.Limits(…), or None")
    return limits


def checked_cancel(cancel: CancelToken | None) -> CancelToken | None:
    """The token that a caller gave."""
    if not (cancel is None or isinstance(cancel, CancelToken)):
        raise ArgumentError("cancel", shown_argument(cancel), "a tokamata.CancelToken, or None")
    return cancel


class Watch:
    """Whether what is read in Python, a pattern or a schema, may be read on.

    The engine has its own account of time; this one begins when it is made, and is asked every few steps.
    """

    __slots__ = ("_cancel", "_end", "_seconds")

    def __init__(self, limits: Limits | None = None, cancel: CancelToken | None = None) -> None:
        self._seconds = checked_limits(limits).seconds
        self._end = time.monotonic() + self._seconds
        self._cancel = checked_cancel(cancel)

    def check(self) -> None:
        """Raises :class:`tokamata.LimitExceeded` when time is up, :class:`tokamata.Cancelled` if told."""
        if self._cancel is not None and self._cancel.cancelled:
            raise Cancelled("the CancelToken was cancelled; nothing was made")
        if time.monotonic() > self._end:
            raise LimitExceeded("seconds", self._seconds)


def core_limits(limits: Limits) -> _core.Limits:
    """The limits as the engine takes them."""
    return _core.Limits(limits.states, limits.memory_bytes, limits.seconds, limits.depth)


_DEFAULT = Limits()
