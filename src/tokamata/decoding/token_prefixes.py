"""Finds out whether tokens of a vocabulary begin with given bytes.

The bytes of the tokens are sorted, without repetitions.  Tokens with a common prefix are adjacent, directly
after the position of the prefix itself, so a binary search finds them:

    b"a" b"ab" b"abc" b"b" b"ba"        extends(b"ab")? b"abc" comes after b"ab": yes
                                        extends(b"ba")? nothing comes after b"ba": no

Cost: sorting once per vocabulary (0.25 s for 262,145 tokens), and a binary search per question.  The
engine's trie would do as well, but has no Python binding, and questions are rare: once per prompt and
per jump.
"""

from __future__ import annotations

from bisect import bisect_right
from weakref import WeakKeyDictionary

from tokamata.vocabulary import Vocabulary

__all__ = ["TokenPrefixes", "token_prefixes"]

_made: WeakKeyDictionary[Vocabulary, TokenPrefixes] = WeakKeyDictionary()


def token_prefixes(vocabulary: Vocabulary) -> TokenPrefixes:
    """Return the prefixes of a vocabulary; they are kept as long as it exists."""
    if vocabulary not in _made:
        _made[vocabulary] = TokenPrefixes(vocabulary)
    return _made[vocabulary]


class TokenPrefixes:
    """The bytes of the text tokens of a vocabulary, in order."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._whole = {data for data in vocabulary.tokens if data}
        self._sorted = sorted(self._whole)
        self._longest = max(map(len, self._sorted), default=0)

    def extends(self, data: bytes) -> bool:
        """Whether some token begins with ``data`` and is longer."""
        index = bisect_right(self._sorted, data)
        return index < len(self._sorted) and self._sorted[index].startswith(data)

    def straddles(self, data: bytes, border: int) -> bool:
        """Whether a token can begin before ``border`` and end after it, in a text that begins with ``data``.

        The bytes after ``data`` are unknown, so a token may continue past its end with any bytes.

        Args:
            data: the known bytes.
            border: an offset in them, 0 to ``len(data)``.
        """
        return any(
            self._crosses(data, start, border) for start in range(max(0, border - self._longest + 1), border)
        )

    def _crosses(self, data: bytes, start: int, border: int) -> bool:
        """Whether some token can begin at ``start`` and end after ``border``."""
        if not self.extends(data[start:border]):
            return False  # nearly always: few tokens are this long
        ends = range(border + 1, min(len(data), start + self._longest) + 1)
        return any(data[start:end] in self._whole for end in ends) or self.extends(data[start:])
