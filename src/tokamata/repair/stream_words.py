"""Words of a constraint in a text that still arrives: :mod:`.words`, as far as nothing that follows changes them.

Problem.  A string is a known word, or nearly one, once its closing quote is there; whether it is a name is known
at the first byte after it that is no blank.
Example.  Of ``{"name" `` the quote at 1 is open; with ``:`` the string is a known name, so that its bytes are firm.
How.  Each quote is judged when all bytes are there that its judgement may need: it looks at 82 bytes at most, and at the
blanks after a closing quote.  One that does not begin a known word so far can make no bytes firm, so that what follows
need not wait for it.
Cost.  Linear in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import NamedTuple

from tokamata.repair.bounded_patterns import BoundedPatterns
from tokamata.repair.words import Words

__all__ = ["FoundWords", "StreamedWords"]

# What is enough to judge a quote; words have 2 to 80 bytes.
_JUDGED = re.compile(
    rb'"(?:[^"\\\n]{0,1}["\\\n]|[^"\\\n]{2,80}(?:[\\\n]|"\s*\S)|[^"\\\n]{81})', re.DOTALL
)
_LONGEST = 81


class FoundWords(NamedTuple):
    """What has become known.

    Attributes:
        typos: spans of strings that are nearly words, each with the word in quotes.
        firm: positions within strings that are words, closing quotes included.
        open: where quotes stand whose strings may turn out to be nearly words.
        settled: after it, bytes may turn out to be firm.
    """

    typos: list[tuple[int, int, bytes]]
    firm: list[int]
    open: list[int]
    settled: int


class StreamedWords:
    """Finds the words of a constraint in a text that grows."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._all = sorted({word.encode("utf-8", "surrogatepass") for known in words._known for word in known})
        self._read = 0  # quotes before it are judged, or open
        self._open: list[int] = []

    def feed(self, text: bytearray, bounds: BoundedPatterns) -> FoundWords:
        """What the text, which begins with that of the last call, has made known."""
        found = FoundWords([], [], [], len(text))
        still_open = [quote for quote in self._open if not self._judge(text, quote, found, bounds)]
        settled = len(text)
        while (quote := text.find(b'"', self._read)) >= 0:
            if not self._judge(text, quote, found, bounds):
                if self._may_be_word(text, quote):
                    settled = quote + 1
                    break
                still_open.append(quote)
            self._read = quote + 1
        else:
            self._read = len(text)
        self._open = still_open
        opened = still_open if settled == len(text) else [*still_open, settled - 1]
        return found._replace(open=opened, settled=settled)

    def _judge(self, text: bytearray, quote: int, found: FoundWords, bounds: BoundedPatterns) -> bool:
        judged = _JUDGED.match(text, quote)
        if judged is None:
            return False
        spans, positions = self._words.found(judged[0], bounds)
        found.typos.extend((begin + quote, end + quote, word) for begin, end, word in spans if begin == 0)
        found.firm.extend(quote + position for position in positions)
        return True

    def _may_be_word(self, text: bytearray, quote: int) -> bool:
        """Whether the string that begins with a quote may turn out to be a word: as far as it goes it is one."""
        read = bytes(text[quote + 1 : quote + 1 + _LONGEST])
        content = read.partition(b'"')[0]
        place = bisect_left(self._all, content)
        return place < len(self._all) and self._all[place].startswith(content)
