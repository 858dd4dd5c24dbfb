"""MaxMatch, also called WordPiece: always the longest token that fits.

000, algorithm 1, by example (figure 1) with a, b, n, s, ba, na, ban, bana::

    b a n a n a s     bana      the longest of b, ba, ban, bana
    n a s             na
    s                 s         so: bana na s

With continuation marks there are two vocabularies: one for the beginning of a word, and one for the rest
of it, whose tokens are written with a mark (``##na``).  The mark is not part of the text.

Line 4 of the algorithm begins with the character itself, in the vocabulary or not, and so may append a text
that is not a token.  Here it is an error if no token fits; BERT's tokenizer makes the whole word its unknown
token instead.

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
        vocabulary: the ids of tokens, by their text.
        continuations: the ids of the tokens after the first, by their text without marks; ``None``: those
            of ``vocabulary``.

    Raises:
        UnspellableError: no token fits at some position.
    """
    rest = vocabulary if continuations is None else continuations
    longest = max(map(len, (*vocabulary, *rest)), default=0)
    tokens: list[int] = []
    position = 0
    while position < len(text):
        known = vocabulary if position == 0 else rest
        for length in range(min(longest, len(text) - position), 0, -1):
            token = known.get(text[position : position + length])
            if token is not None:
                break
        else:
            raise UnspellableError(
                f"no token fits at byte {position} of {text!r}; add its characters to the vocabulary"
            )
        tokens.append(token)
        position += length
    return tokens
