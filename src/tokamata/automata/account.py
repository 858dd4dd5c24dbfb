"""What a construction may spend, and what it has spent.

Determinizing squares nothing, it exponentiates: 30 states can become 2**30.  So every construction
here takes ``limits`` and counts what it makes.  It stops with :class:`tokamata.LimitExceeded` at the
first state, byte or second too many, and what it was called on stays as it was.
"""

from __future__ import annotations

from time import monotonic

from tokamata.errors import LimitExceeded
from tokamata.limits import Limits

# What CPython takes, rounded up: a row of a state, a transition with its set or dict entry on the
# way, a member of a set of states.
_STATE_BYTES = 256
_TRANSITION_BYTES = 160
_MEMBER_BYTES = 64
_CLOCK_EVERY = 4096


class Account:
    """The states, bytes and seconds that one construction has taken, against its limits.

    A construction made of several hands its account on: each then counts its own states and
    bytes, but they share one deadline.

    Args:
        limits: ``Limits`` (``states``, ``memory_bytes`` and ``seconds`` count here; ``depth`` does
            not), the account of the construction that this one is part of, or ``None`` for
            ``Limits()``.
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
        """Count new states; ``members`` is the size of the sets of states that they stand for."""
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
        """Count steps that leave nothing behind, and look at the clock now and then."""
        self._steps += steps
        if self._steps >= _CLOCK_EVERY:
            self._steps = 0
            if monotonic() > self._deadline:
                raise LimitExceeded("seconds", self.limits.seconds)

    def _add_bytes(self, count: int) -> None:
        self._bytes += count
        if self._bytes > self.limits.memory_bytes:
            raise LimitExceeded("memory_bytes", self.limits.memory_bytes)
