"""Words of a constraint in a text that still arrives: :mod:`.words`, as far as they are certain.

Problem.  A string is a known word, or nearly one, once its closing quote is there; whether it is a name is
known at the first byte after it that is no blank.
Example.  Of ``{"name" `` the quote at 1 is open; with ``:`` the string is a known name, and its bytes are
firm.
How.  Quotes and words without quotes are judged in their order, when all bytes are there that their
judgement may need: 82 bytes at most, and the blanks after them.  What follows the first one that is open
waits only where a string may turn out to be a known word, whose bytes are firm: as far as it goes it is
one.
Cost.  Linear in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import NamedTuple

from tokamata.repair.bounded_patterns import BoundedPatterns
from tokamata.repair.words import Words

__all__ = ["FoundWords", "StreamedWords"]

# Where a word may begin, and what is enough to judge it; words have 2 to 80 bytes.
_ANCHOR = re.compile(rb"[\"']|\\(?=\")|(?<![\w\"'.$-])[A-Za-z_]")
_JUDGED = re.compile(
    rb"\\?([\"'])(?:[^\"'\\\n]{0,80}(?:[\n\"']\s*\S|\\[^\"']|\\[\"']\s*\S)|[^\"'\\\n]{81})"
    rb"|[A-Za-z_][\w-]*\s*[^\w\s-]|[A-Za-z_][\w-]*\s+\S|[A-Za-z_][\w-]{61}"
)
_LONGEST_READ = 81  # bytes after a quote: a word of the longest label, and one more


class FoundWords(NamedTuple):
    """What has become known.

    Attributes:
        typos: spans of strings that are nearly words, each with the word in quotes, and what it costs more
            than a typo.
        firm: positions within strings that are words, closing quotes included.
        open: where words may begin that are not judged.
        settled: after it, bytes may turn out to be firm.
    """

    typos: list[tuple[int, int, bytes, int]]
    firm: list[int]
    open: list[int]
    settled: int


class StreamedWords:
    """Finds the words of a constraint in a text that grows."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._all = sorted(word.encode("utf-8", "surrogatepass") for word in words.all)
        self._judged = 0  # all places before it
        self._firm = -1  # the last position that is known to be firm

    def feed(self, text: bytearray, bounds: BoundedPatterns) -> FoundWords:
        """What the text, which begins with that of the last call, has made known."""
        begin, until = self._judged, len(text)
        open_: list[int] = []
        settled = len(text)
        for anchor in _ANCHOR.finditer(text, begin):
            if not open_ and _JUDGED.match(text, anchor.start()):
                continue
            open_.append(anchor.start())
            if anchor[0] == b'"' and self._may_be_word(text, anchor.start()):
                settled = min(settled, anchor.start() + 1)
        if open_:
            until = open_[0]
        self._judged = until
        context = max(begin - 2, 0)  # what a lookbehind reads
        spans, positions = self._words.found(bytes(text[context:]), bounds) if until > begin else ([], [])
        typos = [
            (one + context, end + context, word, more)
            for one, end, word, more in spans
            if begin <= one + context < until
        ]
        firm = sorted({context + one for one in positions if self._firm < context + one <= until})
        if firm:
            self._firm = firm[-1]
        return FoundWords(typos, firm, open_, settled)

    def _may_be_word(self, text: bytearray, quote: int) -> bool:
        """Whether the string after a quote may turn out to be a word: as far as it goes it is one."""
        read = bytes(text[quote + 1 : quote + 1 + _LONGEST_READ])
        content = read.partition(b'"')[0]
        place = bisect_left(self._all, content)
        return place < len(self._all) and self._all[place].startswith(content)
