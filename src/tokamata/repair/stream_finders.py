"""What finders find in a text that still arrives.

Problem.  A :class:`.RewriteFinder` reads a whole text.  While a text arrives it would be read again with each
piece.
How.  The outline of the default costs goes on where it stopped (:class:`FedOutline`).  Any other finder reads
the text again when it has grown by half, so that all its calls together cost three times the last one
(:class:`Reread`).

What finders find has no bounded reach: an object that has a name again gives up the earlier member, a second
value at the root the first one, the end of a thought all that stands before it.  So a rewrite may be found
long after its beginning was decided.  :class:`.RepairStream` says so, and what was decided is taken back at
the end.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

from tokamata.repair.bounded_patterns import BYTES_OF_A_MATCH, BoundedPatterns
from tokamata.repair.costs import NOWHERE, RewriteFinder, TakenRewrites
from tokamata.repair.dialects.outline import Outline, outline
from tokamata.repair.words import Words

__all__ = ["Fed", "FedOutline", "Reread", "fed"]

_LEAST_GROWTH = 8  # bytes that a text grows by, besides half of it, before it is read again
_MOST_OPEN = 64  # rewrites that the engine is told; from the next one on nothing is decided
_MOST_HELD = 50_000  # rewrites; of more, nothing is decided before the end of the text


class Fed(NamedTuple):
    """What has become known, as the engine takes it.

    Attributes:
        rewrites: begin, end, what is written, the cost, modes as bits, and the next mode.
        open: begins, least costs and modes of rewrites that there may be.
        withheld: nothing from this position on is decided yet.
    """

    rewrites: list[tuple[int, int, bytes, int, int, int]]
    open: list[tuple[int, int, int]]
    withheld: int


class FedOutline:
    """The outline, which reads each byte once.

    Args:
        finder: the one whose function is :func:`.outline`.
        words: of the constraint.
        taken: turns rewrites into those of the engine.
        bounds: of the stream.
    """

    def __init__(
        self, finder: RewriteFinder, words: Words | None, taken: TakenRewrites, bounds: BoundedPatterns
    ) -> None:
        self._finder, self._taken, self._bounds = finder, taken, bounds
        self._outline = Outline(words)

    def feed(self, text: bytearray, decided: int) -> Fed:
        """What a text has made known, which begins with that of the last call.

        What begins before ``decided`` comes too late, and is left out.
        """
        found = self._outline.feed(text, decided)
        rewrites = self._taken.taken(self._finder, found, len(text), self._bounds)
        known = [one[:6] for one in rewrites if one[0] >= decided]
        opened = self._taken.taken(self._finder, self._outline.open, len(text), None)
        return Fed(known, [(one[0], one[3], one[4]) for one in opened], self._outline.withheld)


class Reread:
    """A finder that reads all of the text again when it has grown by half.

    What it finds may be gone, or other, when more is there.  So its rewrites stay open.  Of these, the first
    ones that are not decided are shown, and all that follows is withheld: so each piece costs the same,
    however many they are.

    Args:
        finder, words, taken, bounds: as of :class:`FedOutline`.
    """

    def __init__(
        self, finder: RewriteFinder, words: Words | None, taken: TakenRewrites, bounds: BoundedPatterns
    ) -> None:
        self._finder, self._words, self._taken, self._bounds = finder, words, taken, bounds
        self._next = 1
        self._found: list[tuple[int, int, int]] = []  # by position; the cheapest of those that begin alike
        self._charged = 0  # for these

    def feed(self, text: bytearray, decided: int) -> Fed:
        """No rewrites: they are open."""
        if len(text) >= self._next:
            self._next = len(text) + len(text) // 2 + _LEAST_GROWTH
            self._read(bytes(text))
        first = bisect_left(self._found, (decided,))
        shown = self._found[first : first + _MOST_OPEN]
        withheld = NOWHERE
        if len(self._found) > _MOST_HELD:
            withheld = 0
        elif first + _MOST_OPEN < len(self._found):
            withheld = self._found[first + _MOST_OPEN][0]
        return Fed([], shown, withheld)

    def _read(self, text: bytes) -> None:
        charged = self._bounds.kept - self._charged
        cheapest: dict[tuple[int, int], int] = {}
        found = self._taken.taken(self._finder, self._finder.find(text, self._words), len(text), self._bounds)
        for begin, _, _, cost, within, _, _ in found:
            cheapest[begin, within] = min(cost, cheapest.get((begin, within), cost))
            if len(cheapest) > _MOST_HELD:
                break
        self._found = sorted((begin, cost, within) for (begin, within), cost in cheapest.items())
        self._charged = len(self._found) * BYTES_OF_A_MATCH
        self._bounds.keep(charged + self._charged - self._bounds.kept)


def fed(
    finder: RewriteFinder, words: Words | None, taken: TakenRewrites, bounds: BoundedPatterns
) -> FedOutline | Reread:
    """A finder for a text that still arrives; its arguments: :class:`FedOutline`."""
    return (FedOutline if finder.find is outline else Reread)(finder, words, taken, bounds)
