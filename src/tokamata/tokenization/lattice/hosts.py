"""The two programs that run Unigram models, and their arithmetic.

Both keep, for each position of a text, the best way to come there, and go from left to right.  The sum of a
way is that of its pieces' scores, *rounded after each piece*.  A later way replaces an earlier one only if
its sum is strictly greater.  Ways come by the start of their last piece, so of two with one sum the one
whose last piece is longer wins.  The programs differ in the rest:

                         Hugging Face `tokenizers`         SentencePiece, from 0.2.2 on
    sums                 float64                           float32
    a long text          sums grow                         beyond ±100,000, the sum at the current position
                                                           is subtracted from all sums that are kept
    unknown character    least score of all - 10           least score of normal pieces - 10
    user-defined piece   there are none                    0.1 · (its bytes - 1), whatever its score is
    pieces that match    all, so `<unk>` does too          normal and user-defined ones
    unknowns in a row    joined: the piece of their text,  one unknown token
                         or one unknown token
    the same with byte   joined: the piece of their text,  the bytes of each
    fallback             or its bytes

A character is unknown where no piece of exactly this one character begins; longer pieces may begin there.
SentencePiece's own n-best list and sampler score a user-defined piece by its characters instead of its bytes;
a lattice has one score for a piece, that of the encoder.

Both compare *rounded sums*.  A program that kept differences of sums, to have few states, would decide
otherwise where rounding makes a tie or breaks one; ``tests/tokenization/test_lattice_hosts.py`` has a text
for each host.

SentencePiece up to 0.2.1 scored a user-defined piece by its bytes times the largest score, less 0.1, and
compared sums before rounding them.  That rule is not supported.

``fuzz/fuzz_unigram_hosts.py`` compares both programs with :class:`.Lattice`.
"""

from __future__ import annotations

import enum
from array import array

__all__ = ["SUM_BOUND", "Host"]

SUM_BOUND = 100_000.0  # beyond it, SentencePiece subtracts the current sum from all


class Host(enum.Enum):
    """The program whose arithmetic, ties and unknown pieces a model follows."""

    HUGGING_FACE = "Hugging Face tokenizers"
    SENTENCE_PIECE = "SentencePiece"

    @property
    def typecode(self) -> str:
        """The type of its sums, as :mod:`array` names it: such an array rounds what is stored as the host."""
        return "d" if self is Host.HUGGING_FACE else "f"

    def rounded(self, value: float) -> float:
        """``value`` in the type of its sums."""
        return float(array(self.typecode, [value])[0])
