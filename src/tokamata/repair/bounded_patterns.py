"""The patterns of :mod:`.costs` within the caller's limits.

Problem.  The patterns of costs run before the search, in Python's :mod:`re`, which knows no clock and no
bound on memory.  A megabyte of quotes has a million rewrites; finding them takes seconds, and keeping them
takes half a gigabyte.

How.  The clock is read before each pattern and after every :data:`_MATCHES_OF_A_CHECK` matches, and each
match is charged to the memory.  ``re`` cannot be interrupted within a match or between two of them.  So the
time of a call is bounded if each pattern takes time in proportion to the text.

Cost.  One comparison for each match.  Texts below :data:`_SHORT_BYTES` bytes with few matches read no clock,
so that they have an answer at any deadline.

Not taken.  Another thread or a signal: ``re`` holds the interpreter's lock, and signals belong to the main
thread.  Searching piece by piece, which changes what lookbehinds and ``\\A`` see.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tokamata.errors import LimitExceeded
from tokamata.limits import CancelToken, Limits, Watch

__all__ = ["BoundedPatterns"]

_MATCHES_OF_A_CHECK = 1000
_SHORT_BYTES = 4000
_BYTES_OF_A_MATCH = 500  # of a rewrite or a doubt, in Python and in the engine together


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

    def matches(self, pattern: bytes, text: bytes) -> Iterator[re.Match[bytes]]:
        """The matches of ``re.finditer``.

        Raises:
            LimitExceeded, Cancelled: the search was stopped.
        """
        if len(text) > _SHORT_BYTES:
            self._watch.check()
        for number, match in enumerate(re.finditer(pattern, text), 1):
            if number % _MATCHES_OF_A_CHECK == 0:
                self._watch.check()
            self._kept += _BYTES_OF_A_MATCH
            if self._kept > self._limits.memory_bytes:
                raise LimitExceeded("memory_bytes", self._limits.memory_bytes)
            yield match

    def left(self) -> tuple[Limits, CancelToken | None]:
        """The limits less the time that has passed, and the token."""
        return self._watch.remaining(self._limits)
