"""Scores of a Unigram model as whole numbers, if the program's sums of them do not round.

Problem: the program adds scores as floats, and of two segmentations takes the one with the higher sum.  Where
sums round, which one that is depends on everything before: with the scores -0.1 for ``aa`` and -0.2 for
``a``, the sums of ``aa a`` and ``a aa`` are equal after some texts, and after others one of them is higher by
rounding.  Then no differences of scores decide, and an automaton would have to keep whole sums.

Example: the scores of T5 are float32, from -13.6 to -2.01, so they are multiples of 2**-22.  A float64 holds
every multiple of 2**-22 below 2**31, so a sum of millions of them is exact.

Method: with a *fraction* 2**-k of which all scores are multiples, and ``score * 2**k < 2**33``, sums of up to
2**20 scores are exact in float64.  A score that is a multiple of no such fraction is left out if its piece
never wins: if other pieces segment its text with a sum that is higher by more than all rounding.  XLNet has 72
of these, such as ``1,`` with a score of -110.

Source: own.  Cost: linear in the scores.  Rejected: the sums themselves as states of the automaton, which no
two words share; SentencePiece's own program needs them, since it adds in float32.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tokamata.errors import UnsupportedTokenizerError

NO_PIECE = int(np.iinfo(np.int64).min)

_SUMMED_BITS = 20  # sums of 2**20 scores are exact
_FLOAT_BITS = 53
_MARGIN = 2.0**-10  # far more than the rounding of the sums of a piece
_LONGEST = 1024  # characters of a piece that may be left out


def whole_scores(scores: npt.NDArray[np.float64], texts: Sequence[str | None]) -> npt.NDArray[np.int64]:
    """The scores as multiples of one fraction, ``int64[tokens]``; ``NO_PIECE`` for tokens that never win.

    Args:
        scores: the score of each token, finite; NaN if it is no piece.
        texts: the texts of the pieces, as the model has them.

    Raises:
        UnsupportedTokenizerError: the sums of some pieces round.
    """
    is_piece = ~np.isnan(scores)
    whole = np.full(len(scores), NO_PIECE, dtype=np.int64)
    if not is_piece.any():
        return whole
    needed = np.where(is_piece, _bits_after_point(scores), 0)
    highest = float(np.abs(scores[is_piece]).max())
    most = _FLOAT_BITS - _SUMMED_BITS - max(0, int(np.ceil(np.log2(highest))) if highest > 0 else 0)
    rounded = is_piece & (needed > most)
    if rounded.any():
        _check_never_win(np.flatnonzero(rounded).tolist(), scores, texts)
    kept = is_piece & ~rounded
    bits = max(0, int(needed[kept].max(initial=0)))
    whole[kept] = np.round(np.ldexp(scores[kept], bits)).astype(np.int64)
    return whole


def _bits_after_point(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """For each score the least ``k`` such that it is a multiple of ``2**-k``."""
    mantissa, exponent = np.frexp(np.nan_to_num(scores))
    digits = np.abs(np.ldexp(mantissa, _FLOAT_BITS)).astype(np.int64)
    lowest = np.where(digits == 0, 1, digits & -digits)
    zeros = np.log2(lowest.astype(np.float64)).astype(np.int64)
    return np.where(digits == 0, 0, _FLOAT_BITS - exponent.astype(np.int64) - zeros)


def _check_never_win(tokens: list[int], scores: npt.NDArray[np.float64], texts: Sequence[str | None]) -> None:
    """Refuses pieces that may win and whose scores are not multiples of the fraction."""
    pieces = {
        text: float(score) for text, score in zip(texts, scores, strict=True) if text and score == score
    }
    longest = max(map(len, pieces))
    for token in tokens:
        text = texts[token] or ""
        if len(text) <= _LONGEST and _best_without(text, pieces, longest) > scores[token] + _MARGIN:
            continue
        reason = (
            f"the score {scores[token]!r} of {text!r:.40} has so many digits that sums round, and which tokens are "
            "written depends on the rounding; scores in float32, as SentencePiece trains them, do not"
        )
        raise UnsupportedTokenizerError("model", reason)


def _best_without(text: str, pieces: dict[str, float], longest: int) -> float:
    """The highest sum of the segmentations of a text into shorter pieces."""
    best = [0.0] + [float("-inf")] * len(text)
    for end in range(1, len(text) + 1):
        for start in range(max(0, end - longest), end):
            if end - start < len(text):
                best[end] = max(best[end], best[start] + pieces.get(text[start:end], float("-inf")))
    return best[-1]
