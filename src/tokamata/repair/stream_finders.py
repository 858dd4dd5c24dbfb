"""What finders find in a text that still arrives.

Problem.  A :class:`.RewriteFinder` reads a whole text.  While a text arrives it would be read again with each
piece.
How.  The outline of the default costs goes on where it stopped (:class:`.Outline`).  Any other finder reads
the text again when it has grown by half, so that all its calls together cost three times the last one
(:class:`Reread`).

What finders find has no bounded reach: an object that has a name again gives up the earlier member, a second
value at the root the first one, the end of a thought all that stands before it.  So a rewrite may be found
long after its beginning was decided.  :class:`.RepairStream` says so, and what was decided is taken back at
the end.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from tokamata.repair.bounded_patterns import MATCHES_OF_A_CHECK
from tokamata.repair.costs import NOWHERE, FoundRewrite, RewriteFinder
from tokamata.repair.dialects.outline import Outline, outline
from tokamata.repair.words import Words

__all__ = ["Reread", "StreamedFinder", "streamed"]

_SHORT = 8
_MOST_OPEN = 64
_MOST_HELD = 50_000


class StreamedFinder(Protocol):
    """What a finder is for a text that arrives in pieces.

    Attributes:
        withheld: nothing from this position on is decided yet.
        open: rewrites that may turn out to begin at their ``begin``, at their ``cost`` or more, in the modes
            ``within``; nothing else of them is read.  All are read after each piece, so they are few.
    """

    withheld: int
    open: Sequence[FoundRewrite]

    def feed(self, text: bytearray, decided: int) -> Iterable[FoundRewrite | None]:
        """The rewrites that a text has made known, which begins with that of the last call.

        The attributes hold when all of them have been taken.  What begins before ``decided`` comes too late,
        and may be left out.
        """


def streamed(finder: RewriteFinder, words: Words | None) -> StreamedFinder:
    """A finder for a text that still arrives."""
    return Outline(words) if finder.find is outline else Reread(finder, words)


class Reread:
    """A finder that reads all of the text again when it has grown by half.

    What it finds may be gone, or other, when more is there.  So its rewrites stay open.  Of these, the first
    ones that are not decided are shown, and all that follows is withheld: so each piece costs the same, however
    many they are.
    """

    def __init__(self, finder: RewriteFinder, words: Words | None) -> None:
        self._finder = finder
        self._words = words
        self._next = 1
        self._found: list[FoundRewrite] = []  # by position; the cheapest of those that begin alike
        self._begins: list[int] = []
        self.withheld = NOWHERE
        self.open: Sequence[FoundRewrite] = ()

    def feed(self, text: bytearray, decided: int) -> Iterator[FoundRewrite | None]:
        """No rewrites: they are open."""
        if len(text) >= self._next:
            self._next = len(text) + len(text) // 2 + _SHORT
            cheapest: dict[tuple[int, tuple[str, ...]], FoundRewrite] = {}
            for number, one in enumerate(self._finder.find(bytes(text), self._words), 1):
                if one is None or number % MATCHES_OF_A_CHECK == 0:
                    yield None
                if one is not None:
                    known = cheapest.setdefault((one.begin, one.within), one)
                    if one.cost < known.cost:
                        cheapest[one.begin, one.within] = one
                if len(cheapest) > _MOST_HELD:
                    break
            self._found = sorted(cheapest.values(), key=lambda one: one.begin)
            self._begins = [one.begin for one in self._found]
        first = bisect_left(self._begins, decided)
        until = first + _MOST_OPEN
        self.open = self._found[first:until]
        self.withheld = self._begins[until] if until < len(self._begins) else NOWHERE
        if len(self._found) > _MOST_HELD:
            self.withheld = 0
