"""MaxMatch, also called WordPiece: always the longest token that fits.

000, algorithm 1, by example (figure 1) with a, b, n, s, ba, na, ban, bana::

    b a n a n a s     bana      the longest of b, ba, ban, bana
    n a s             na
    s                 s         so: bana na s

With continuation marks there are two vocabularies: one for the beginning of a word, and one for the rest
of it, whose tokens are written with a mark (``##na``).  The mark is no part of the text.

Line 4 of the algorithm begins with the character itself, in the vocabulary or not, and then appends what
may be no token.  Here a place where no token fits is an error; BERT's tokenizer makes the whole word its
unknown token instead.

Cost: the length of the text times that of the longest token.  :mod:`.maxmatch_transducer` is linear.
"""

from __future__ import annotations

from collections.abc import Mapping

from tokamata.errors import UnspellableError


def maxmatch(
    text: bytes, vocabulary: Mapping[bytes, int], continuations: Mapping[bytes, int] | None = None
) -> list[int]:
    """The tokens of a text, the longest first.

    Args:
        text: the bytes of the text; with ``continuations``, of one word.
        vocabulary: the id of each text of a token.
        continuations: the ids of the tokens behind the first, without their marks; those of
            ``vocabulary`` where ``None``.

    Raises:
        UnspellableError: no token fits at some place.
    """
    rest = vocabulary if continuations is None else continuations
    longest = max(map(len, (*vocabulary, *rest)), default=0)
    tokens: list[int] = []
    place = 0
    while place < len(text):
        known = vocabulary if place == 0 else rest
        for length in range(min(longest, len(text) - place), 0, -1):
            token = known.get(text[place : place + length])
            if token is not None:
                break
        else:
            raise UnspellableError(
                f"no token fits at byte {place} of {text!r}; add its characters to the vocabulary"
            )
        tokens.append(token)
        place += length
    return tokens
