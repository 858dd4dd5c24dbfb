"""Counts the states, bytes and seconds of a construction against its limits.

Some constructions are exponential: determinizing can turn 30 states into 2**30.  So every
construction here takes ``limits`` and counts.  It stops with :class:`tokamata.LimitExceeded` at the
first state, byte or second too many, and leaves its arguments unchanged.
"""

from __future__ import annotations

from dataclasses import replace
from time import monotonic

from tokamata.errors import LimitExceeded
from tokamata.resources.limits import Limits

# Memory in CPython, rounded up: the row of a state; a transition with its temporary set or dict
# entry; a member of a set of states.
_STATE_BYTES = 256
_TRANSITION_BYTES = 160
_MEMBER_BYTES = 64
_STEPS_OF_A_CHECK = 4096  # between two readings of the clock


class Account:
    """The states, bytes and seconds of one construction, with its limits.

    A construction passes its account to the constructions that it calls: each counts its own states
    and bytes, but all share one deadline.

    Args:
        limits: ``Limits`` (``depth`` does not count here), the account of the calling construction,
            or ``None`` for ``Limits()``.
    """

    __slots__ = ("_bytes", "_deadline", "_states", "_steps", "limits")

    def __init__(self, limits: Limits | Account | None = None) -> None:
        self.limits: Limits = limits.limits if isinstance(limits, Account) else limits or Limits()
        self._deadline: float = (
            limits._deadline if isinstance(limits, Account) else monotonic() + self.limits.seconds
        )
        self._states = 0
        self._bytes = 0
        self._steps = 0

    def add_states(self, count: int = 1, members: int = 0) -> None:
        """Count new states; ``members`` is the total size of the sets of states that they represent."""
        self._states += count
        if self._states > self.limits.states:
            raise LimitExceeded("states", self.limits.states)
        self._add_bytes(_STATE_BYTES * count + _MEMBER_BYTES * members)
        self.work(count + members)

    def add_transitions(self, count: int = 1) -> None:
        """Count new transitions."""
        self._add_bytes(_TRANSITION_BYTES * count)
        self.work(count)

    def work(self, steps: int = 1) -> None:
        """Count steps that need no memory, and check the deadline now and then."""
        self._steps += steps
        if self._steps >= _STEPS_OF_A_CHECK:
            self._steps = 0
            if monotonic() > self._deadline:
                raise LimitExceeded("seconds", self.limits.seconds)

    def remaining(self) -> Limits:
        """The limits, with the seconds that are left, for work that does not count here.

        Raises:
            LimitExceeded: no time is left.
        """
        seconds = self._deadline - monotonic()
        if seconds <= 0:
            raise LimitExceeded("seconds", self.limits.seconds)
        return replace(self.limits, seconds=seconds)

    def _add_bytes(self, count: int) -> None:
        self._bytes += count
        if self._bytes > self.limits.memory_bytes:
            raise LimitExceeded("memory_bytes", self.limits.memory_bytes)
