"""The caller's bounds on the engine's work."""

from __future__ import annotations

import copyreg
import math
import time
from dataclasses import dataclass, replace
from typing import NoReturn

import tokamata._core as _core
from tokamata._core import CancelToken
from tokamata.errors import ArgumentError, Cancelled, LimitExceeded, PicklingError, shown_argument

__all__ = ["CancelToken", "Limits", "Watch", "checked_cancel", "checked_limits", "core_limits"]


@dataclass(frozen=True)
class Limits:
    """Bounds on the engine's work, for one compiled constraint and each of its matchers.

    They bound every call that computes: ``compile``, masks, ``advance``, forced text.  A call that
    exceeds one raises :class:`tokamata.LimitExceeded` and leaves its matcher as it was.

    Equal constraints share states and masks, and each caller has its own limits.  What others have made
    raises no error: a caller for whom the shared states are too many goes on with states of its own.

    Attributes:
        states: automaton states that one compiled constraint holds at once.
        memory_bytes: bytes of expressions, transitions and masks that one compiled constraint holds
            at once.  At the limit, the oldest masks are dropped first, then the states that no
            matcher needs; the limit is exceeded only if that does not suffice.
        seconds: working time of one matcher, in seconds, beginning with the time that compiling
            took.  Memoized results cost nothing; new states do.
        depth: how deep the pattern may nest: a regular expression, operators, a schema, a structural tag.
            Regular expressions and operators never nest more than ``errors.MOST_DEPTH`` deep.
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
    """The caller's limits; the defaults for ``None``."""
    if limits is None:
        return _DEFAULT
    if not isinstance(limits, Limits):
        raise ArgumentError("limits", shown_argument(limits), "tokamata.Limits(…), or None")
    return limits


def checked_cancel(cancel: CancelToken | None) -> CancelToken | None:
    """The caller's cancel token, or ``None``."""
    if not (cancel is None or isinstance(cancel, CancelToken)):
        raise ArgumentError("cancel", shown_argument(cancel), "a tokamata.CancelToken, or None")
    return cancel


def _refuse_token(_: CancelToken) -> NoReturn:
    """A copy could stop no work of the original, and the original none of the copy."""
    advice = "make one in each process, and tell the other process to cancel it"
    raise PicklingError("a CancelToken", advice)


copyreg.pickle(CancelToken, _refuse_token)


class Watch:
    """Stops the reading of a pattern or a schema in Python when time is up.

    The engine has its own time budget; this one begins with the construction and is checked every few steps.

    Attributes:
        limits: the bounds; those other than ``seconds`` are for the reader to check.
    """

    __slots__ = ("_cancel", "_end", "_held", "limits")

    def __init__(self, limits: Limits | None = None, cancel: CancelToken | None = None) -> None:
        self.limits = checked_limits(limits)
        self._held = 0
        self._end = time.monotonic() + self.limits.seconds
        self._cancel = checked_cancel(cancel)

    @property
    def cancel(self) -> CancelToken | None:
        """The caller's token."""
        return self._cancel

    def within(self, limits: Limits) -> tuple[Limits, CancelToken | None]:
        """What a call of the engine is given, so that it stops when this watch would: limits and a token."""
        self.check()
        return self.remaining(limits)

    def remaining(self, limits: Limits) -> tuple[Limits, CancelToken | None]:
        """The same without a check: for a call that has an answer even where no time is left."""
        left = max(self._end - time.monotonic(), 0.001)
        return replace(limits, seconds=min(limits.seconds, left)), self._cancel

    def hold(self, size: int) -> None:
        """Counts bytes, by an estimate, that what is read goes on to hold; raises if they are too many."""
        self._held += size
        if self._held > self.limits.memory_bytes:
            raise LimitExceeded("memory_bytes", self.limits.memory_bytes)

    def retire(self) -> None:
        """The work is done: what was made may keep the watch, which stops nothing and holds no token."""
        self._end, self._cancel = math.inf, None

    def check(self) -> None:
        """Raises :class:`tokamata.LimitExceeded` if time is up, :class:`tokamata.Cancelled` if cancelled."""
        if self._cancel is not None and self._cancel.cancelled:
            raise Cancelled("the CancelToken was cancelled; nothing was made")
        if time.monotonic() > self._end:
            raise LimitExceeded("seconds", self.limits.seconds)


def core_limits(limits: Limits) -> _core.Limits:
    """The limits in the type of the engine."""
    return _core.Limits(limits.states, limits.memory_bytes, limits.seconds, limits.depth)


_DEFAULT = Limits()
