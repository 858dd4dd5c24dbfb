"""The scores of a Unigram model as whole numbers, and as the floats that a program adds up.

Problem: the program adds scores as floats, and of two segmentations takes the one with the higher sum.  An
automaton compares differences of sums.  Where sums round, the two may disagree: with the scores -0.1 for
``aa`` and -0.2 for ``a``, the sums of ``aa a`` and ``a aa`` are equal after some texts, and after others one
of them is higher by rounding.

Example: SentencePiece trains float32, so the scores of T5 are multiples of 2**-22, and sums of millions of
them are exact in float64.  But a ``tokenizer.json`` has them in decimal, and its reader takes many of them
for other floats (:mod:`.json_floats`).  Then sums round.

Method: with a fraction 2**-k of which all scores are multiples, and ``score * 2**k < 2**33``, sums of up to
2**20 scores are exact in float64, and whole numbers decide as floats do.  Otherwise whole numbers are the
nearest multiples of 2**-26: they decide everything except near ties, and the floats decide these.  Sums of up
to 2**15 tokens are followed so, the length of a pre-token, which is mostly a word.  SentencePiece adds
up float32 over the whole text, which always rounds; it keeps sums below 2**17.

Source: own.  Cost: linear in the scores.  Rejected: floats alone, since no two words share a state that holds
sums.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tokamata.errors import UnsupportedTokenizerError

UNKNOWN_PENALTY = 10.0  # of an unknown character, below the least score
NO_PIECE = int(np.iinfo(np.int64).min)

_SUMMED_BITS = 20  # sums of 2**20 scores are exact
_FLOAT_BITS = 53
_ROUNDED_BITS = 26  # after the point, of whole numbers that stand for scores that they are not
_HIGHEST = 2.0**13  # of scores whose sums round
_MOST_AHEAD = 2.0**15  # of a float32 sum that is subtracted, within one piece


@dataclass(frozen=True)
class Scores:
    """The scores of the tokens.

    Attributes:
        whole: ``int64[tokens]``: multiples of ``1 / units``; ``NO_PIECE`` if the token is none.
        floats: ``float64[tokens]``: what the program adds; empty where sums are exact, so that ``whole``
            decides the same.
        unknown: the score of a code point without a piece.
        units: a power of two.
        are_single: whether the program adds float32.
    """

    whole: npt.NDArray[np.int64]
    floats: npt.NDArray[np.float64]
    unknown: float
    units: float
    are_single: bool = False


def scores_of(scores: npt.NDArray[np.float64], unknown: float) -> Scores:
    """The scores of a model.

    Args:
        scores: ``float64[tokens]``, finite; NaN if the token is no piece.
        unknown: the score of a code point without a piece.

    Raises:
        UnsupportedTokenizerError: sums round, and scores are too high to follow that.
    """
    is_piece = ~np.isnan(scores)
    added = np.append(scores[is_piece], unknown)
    highest = float(np.abs(added).max())
    bits = int(_bits_after_point(added).max())
    is_exact = bits < _FLOAT_BITS and highest * 2.0 ** max(bits, 0) < 2.0 ** (_FLOAT_BITS - _SUMMED_BITS)
    if not is_exact and highest > _HIGHEST:
        raise UnsupportedTokenizerError(
            "model", f"a score of {highest:g}, where sums round; scores are logarithms of probabilities"
        )
    units = 2.0 ** (max(bits, 0) if is_exact else _ROUNDED_BITS)
    whole = np.full(len(scores), NO_PIECE, dtype=np.int64)
    whole[is_piece] = np.round(scores[is_piece] * units).astype(np.int64)
    floats = np.zeros(0, dtype=np.float64) if is_exact else np.where(is_piece, scores, 0.0)
    return Scores(whole, floats, unknown, units)


def single_scores_of(scores: npt.NDArray[np.float64], unknown: float, longest: int) -> Scores:
    """The scores of a model whose sums are float32.

    Args:
        scores: ``float64[tokens]``, finite; NaN if the token is no piece.
        unknown: the score of a code point without a piece.
        longest: the code points of the longest piece.

    Raises:
        UnsupportedTokenizerError: scores are too high to follow how sums round.
    """
    is_piece = ~np.isnan(scores)
    highest = float(np.abs(np.append(scores[is_piece], unknown)).max())
    if highest > min(_HIGHEST, _MOST_AHEAD / longest):
        what = f"a score of {highest:g} and a piece of {longest:,} characters; scores are logarithms"
        raise UnsupportedTokenizerError("model", f"{what} of probabilities")
    units = 2.0**_ROUNDED_BITS
    whole = np.full(len(scores), NO_PIECE, dtype=np.int64)
    whole[is_piece] = np.round(scores[is_piece] * units).astype(np.int64)
    return Scores(whole, np.where(is_piece, scores, 0.0), unknown, units, are_single=True)


def user_defined_score(piece: str) -> float:
    """SentencePiece's score of a user-defined piece, from 0.2.2 on."""
    return float(np.float32(0.1 * (len(piece.encode()) - 1)))


def _bits_after_point(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """For each score the least ``k`` such that it is a multiple of ``2**-k``."""
    mantissa, exponent = np.frexp(scores)
    digits = np.abs(np.ldexp(mantissa, _FLOAT_BITS)).astype(np.int64)
    lowest = np.where(digits == 0, 1, digits & -digits)
    zeros = np.log2(lowest.astype(np.float64)).astype(np.int64)
    return np.where(digits == 0, 0, _FLOAT_BITS - exponent.astype(np.int64) - zeros)
