"""The patterns of :mod:`.costs` within the caller's limits.

Problem.  The patterns of costs run before the search.  A megabyte of quotes has a million rewrites; to find
them takes time, and to keep them takes half a gigabyte.

How.  The core finds all patterns in one pass (:mod:`.byte_patterns`), within the limits.  What it does not
support is left to Python's :mod:`re`.  That knows no clock: it is read before each pattern and after every
:data:`MATCHES_OF_A_CHECK` matches.  ``re`` cannot be interrupted within a match or between two of them.
Each match is charged to the memory.

Cost.  Texts below :data:`_SHORT_BYTES` bytes with few matches read no clock, so that they have an answer at
any deadline.

Not taken.  Another thread or a signal: ``re`` holds the interpreter's lock, and signals belong to the main
thread.  Searching piece by piece, which changes what lookbehinds and ``\\A`` see.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TypeVar

import tokamata._core as _core
from tokamata.errors import LimitExceeded
from tokamata.repair.byte_patterns import BytePatterns
from tokamata.resources.limits import CancelToken, Limits, Watch, core_limits

__all__ = ["BYTES_OF_A_MATCH", "MATCHES_OF_A_CHECK", "BoundedPatterns", "Found"]

_T = TypeVar("_T")
MATCHES_OF_A_CHECK = 1000  # between two readings of the clock
_SHORT_BYTES = 4000  # of a text for which the clock is not read
BYTES_OF_A_MATCH = 500  # of a rewrite or a doubt, in Python and in the engine together


# Where a pattern was found: its number, begin and end, and the match, if ``re`` has found it.
Found = tuple[int, int, int, "re.Match[bytes] | None"]


class BoundedPatterns:
    """Searches patterns one after another until time or memory is over.

    Args:
        limits: ``seconds`` from now on, and ``memory_bytes`` for all that is kept.
        cancel: stops the search from another thread.
    """

    __slots__ = ("_kept", "_limits", "_watch")

    def __init__(self, limits: Limits, cancel: CancelToken | None) -> None:
        self._limits = limits
        self._watch = Watch(limits, cancel)
        self._kept = 0

    def found(
        self, patterns: BytePatterns, text: bytes, machine: _core.EditMachine, led: int
    ) -> tuple[_core.Rewrites, _core.Doubts, Iterator[Found]]:
        """All matches, as ``re.finditer`` finds them, in modes that are reached: rewrites, doubts, others.

        Args:
            patterns: what is searched for.
            text: where.
            machine: the modes.
            led: modes that rewrites lead to which no pattern finds, as bits.

        Raises:
            LimitExceeded, Cancelled: the search was stopped.
        """
        if len(text) > _SHORT_BYTES:
            self._watch.check()
        limits, cancel = self.left()
        most = max((limits.memory_bytes - self._kept) // BYTES_OF_A_MATCH, 0)
        try:
            rewrites, doubts, places = patterns.engine.found(
                text, machine, led, most, core_limits(limits), cancel
            )
        except LimitExceeded as error:  # the caller knows the whole time, and not what was left of it
            raise LimitExceeded(error.limit, getattr(self._limits, error.limit)) from None
        self._kept += (len(rewrites) + len(doubts) + len(places)) * BYTES_OF_A_MATCH
        return rewrites, doubts, self._others(patterns, text, places)

    def _others(
        self, patterns: BytePatterns, text: bytes, places: list[tuple[int, int, int]]
    ) -> Iterator[Found]:
        found: list[Found] = [(*place, None) for place in places]
        for number, pattern in patterns.others:
            found += [(number, *match.span(), match) for match in self.matches(pattern, text)]
        if patterns.others:
            found.sort(key=lambda one: (one[1], one[0]))
        for count, one in enumerate(found, 1):
            if count % MATCHES_OF_A_CHECK == 0:
                self._watch.check()
            yield one

    def matches(self, pattern: bytes | re.Pattern[bytes], text: bytes) -> Iterator[re.Match[bytes]]:
        """The matches of ``re.finditer``.

        Raises:
            LimitExceeded, Cancelled: the search was stopped.
        """
        if len(text) > _SHORT_BYTES:
            self._watch.check()
        yield from self.counted(re.finditer(pattern, text))

    def counted(self, found: Iterable[_T]) -> Iterator[_T]:
        """What was found, until time or memory is over.

        Raises:
            LimitExceeded, Cancelled: the search was stopped.
        """
        for number, one in enumerate(found, 1):
            if number % MATCHES_OF_A_CHECK == 0:
                self._watch.check()
            self.keep(BYTES_OF_A_MATCH)
            yield one

    def check(self) -> None:
        """Raises :class:`.LimitExceeded` or :class:`.Cancelled` if the search was stopped."""
        self._watch.check()

    @property
    def kept(self) -> int:
        """How many bytes are charged."""
        return self._kept

    def keep(self, size: int) -> None:
        """Charges bytes that are kept to the memory; raises :class:`.LimitExceeded` if they are too many."""
        self._kept += size
        if self._kept > self._limits.memory_bytes:
            raise LimitExceeded("memory_bytes", self._limits.memory_bytes)

    def left(self) -> tuple[Limits, CancelToken | None]:
        """The limits less the time that has passed, and the token."""
        return self._watch.remaining(self._limits)
