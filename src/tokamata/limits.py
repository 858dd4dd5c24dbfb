"""What a caller lets the engine spend."""

from __future__ import annotations

import time
from dataclasses import dataclass

from tokamata import _core
from tokamata._core import CancelToken
from tokamata.errors import Cancelled, LimitExceeded

__all__ = ["CancelToken", "Limits", "Watch", "core_limits"]


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
        depth: how deep the pattern may nest.
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
                raise ValueError(f"Limits.{name} must be a whole number of at least 1, not {value!r}")
        if not self.seconds > 0:
            raise ValueError(f"Limits.seconds must be above 0, not {self.seconds!r}")


class Watch:
    """Whether what is read in Python, a pattern or a schema, may be read on.

    The engine has its own account of time; this one begins when it is made, and is asked every few steps.
    """

    __slots__ = ("_cancel", "_end", "_seconds")

    def __init__(self, limits: Limits | None = None, cancel: CancelToken | None = None) -> None:
        self._seconds = (limits or _DEFAULT).seconds
        self._end = time.monotonic() + self._seconds
        self._cancel = cancel

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
