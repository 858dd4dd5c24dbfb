"""The Unigram model of a SentencePiece file: T5, XLNet, ALBERT, mBART and others, as SentencePiece runs it.

The whole normalized text is one pre-token.  Sums are float32 over all of it, so rounding decides more the
longer a text is (:mod:`.unigram_scores`).

A user-defined piece is a piece like others, with a score of its own rule.  The normalizer leaves it alone,
wherever it stands.  This makes no difference if no rule of the charsmap can begin within one; other models
are refused.  (``>`` U+0338 becomes ``≯``, except behind the ``<eop>`` of XLNet; that model lacks U+0338.)

A user-defined piece may have characters that are no pieces: T5 has ``<extra_id_0>``, and no ``<``.  These
can be written within it alone (:mod:`.enclosed_letters`).

Byte pieces are not pieces of a text that spells their names.  Unused pieces occur nowhere.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tokamata.errors import UnsupportedTokenizerError
from tokamata.tokenization.pipelines.byte_pairs import with_bytes
from tokamata.tokenization.pipelines.charsmaps import Charsmap
from tokamata.tokenization.pipelines.pipeline import Normalizer, Unigram
from tokamata.tokenization.pipelines.sentence_piece_model import SentencePieceModel
from tokamata.tokenization.pipelines.unigram_scores import (
    UNKNOWN_PENALTY,
    single_scores_of,
    user_defined_score,
)
from tokamata.tokenization.pretokenizers.classes import CODE_POINTS

if TYPE_CHECKING:
    from tokamata.tokenization.pretokenizers.classes import Flags

__all__ = ["sentence_piece_unigram"]

# Of pieces with characters that are no pieces.
_LEAST_AHEAD = 1.0  # more than float32 sums of a piece can round: 2**-8 each, below 2**17
_LONGEST_ENCLOSING = 128  # characters
_MOST_ENCLOSING = 20_000  # characters of all of them


def sentence_piece_unigram(
    model: SentencePieceModel, normalizer: Normalizer, tokens: Sequence[bytes | None]
) -> Unigram:
    """The model of a SentencePiece file.

    Args:
        model: the file.
        normalizer: that of the file.
        tokens: the text of each token.

    Raises:
        UnsupportedTokenizerError: a part of it is not supported.
    """
    scores = np.full(len(tokens), np.nan)
    pieces = {text: (token, model.scores[token]) for text, token in model.pieces.items()}
    pieces |= {text: (token, user_defined_score(text)) for text, token in model.user_defined.items()}
    if not model.pieces:
        raise UnsupportedTokenizerError("model", "no piece is normal, so unknown characters have no score")
    for text, (token, score) in pieces.items():
        if not np.isfinite(score):
            raise UnsupportedTokenizerError("model", f"the score of {text!r:.40} is {score}")
        if token >= len(tokens) or tokens[token] is None:
            raise UnsupportedTokenizerError(
                "model", f"it may write {text!r:.40}, which is not a token with a text"
            )
        scores[token] = score
    unknown = float(np.float32(min(model.scores.values()) - UNKNOWN_PENALTY))
    lacks = np.ones(CODE_POINTS, dtype=bool)
    lacks[0xD800:0xE000] = False
    lacks[[ord(text) for text in pieces if len(text) == 1]] = False
    byte_tokens = {byte: token for byte, token in model.bytes.items() if token < len(tokens)}
    unwritten = with_bytes(set(range(256)) - set(byte_tokens))
    unwritten[0x20] = lacks[0x20] = lacks[ord(normalizer.spaces)]
    _check_user_defined(list(model.user_defined), normalizer.charsmap, ~(lacks & unwritten))
    letters = set("".join(pieces))
    enclosed = frozenset(letter for letter in letters if lacks[ord(letter)] and letter != " ")
    enclosing = tuple(piece for piece in pieces if enclosed & set(piece))
    if enclosed:
        is_other = any(piece not in model.user_defined for piece in enclosing)
        if byte_tokens or normalizer.spaces in enclosed or is_other:
            raise UnsupportedTokenizerError(
                "model", f"{min(enclosed)!r} is in pieces, and is no piece itself"
            )
        _check_enclosing(enclosing, enclosed, {text: score for text, (_, score) in pieces.items()}, unknown)
        unwritten[list(map(ord, enclosed))] = lacks[list(map(ord, enclosed))] = False
    single = single_scores_of(scores, unknown, max(map(len, pieces)))
    enclosing = tuple(piece.replace(normalizer.spaces, " ") for piece in enclosing)
    return Unigram(single, byte_tokens, lacks & ~unwritten, lacks & unwritten, enclosing, enclosed)


def _check_user_defined(pieces: Sequence[str], charsmap: Charsmap | None, written: Flags) -> None:
    """Refuses user-defined pieces of which it matters that the normalizer leaves them alone.

    That is so if a rule of the charsmap begins within one, for characters that the model can write.
    """
    if any(" " in piece for piece in pieces):
        raise UnsupportedTokenizerError("normalizer", "a user-defined piece with a space")
    if charsmap is None or not pieces:
        return
    single = {key for key, result in charsmap.single_keys().items() if key != result}
    if changed := sorted(single & set("".join(pieces))):
        what = f"its charsmap replaces {changed[0]!r}, except in a user-defined piece"
        raise UnsupportedTokenizerError("normalizer", what)
    left = written.copy()
    left[[ord(key) for key in single]] = False
    keys = [key for key, result in charsmap.keys_over(left).items() if key != result]
    longest = max(map(len, keys), default=0)
    ends = sorted({piece[at : at + longest] for piece in pieces for at in range(len(piece))})
    known = set(ends)
    for key in keys:
        behind = bisect_left(ends, key)
        goes_on = behind < len(ends) and ends[behind].startswith(key)
        if goes_on or any(key[:at] in known for at in range(1, len(key))):
            what = f"its charsmap replaces {key!r:.40}, except behind or in a user-defined piece"
            raise UnsupportedTokenizerError("normalizer", what)


def _check_enclosing(
    enclosing: Sequence[str], enclosed: frozenset[str], scores: dict[str, float], unknown: float
) -> None:
    """Refuses pieces with characters of their own, where it is not plain that they win.

    A segmentation that has such a character as unknown loses, if it is worse within the piece, and if no
    other piece crosses an end of it, or goes on after it.
    """
    if sum(map(len, enclosing)) > _MOST_ENCLOSING or max(map(len, enclosing)) > _LONGEST_ENCLOSING:
        what = "too many or too long pieces with characters that are no pieces themselves, such as"
        raise UnsupportedTokenizerError("model", f"{what} {max(enclosing, key=len)!r:.40}")
    begins = {piece[:at] for piece in enclosing for at in range(1, len(piece))}
    ends = {piece[at:] for piece in enclosing for at in range(1, len(piece))}
    ends_or_wholes = ends | set(enclosing)
    crossing = next(
        (
            text
            for text in scores
            if any(text[:at] in ends_or_wholes or text[at:] in begins for at in range(1, len(text)))
        ),
        None,
    )
    for piece in enclosing:
        inner = [0.0] + [-math.inf] * len(piece)
        for at in range(len(piece)):
            for end in range(at + 1, len(piece) + 1):
                score = scores.get(piece[at:end], unknown if end == at + 1 else -math.inf)
                if end - at < len(piece):
                    inner[end] = max(inner[end], inner[at] + score)
        if piece[0] not in enclosed or inner[-1] > scores[piece] - _LEAST_AHEAD:
            what = f"{min(enclosed & set(piece))!r} is in {piece!r:.40}, and is no piece itself"
            raise UnsupportedTokenizerError("model", f"{what}; other pieces may win within that one")
    if crossing is not None:
        what = f"{min(enclosed)!r} is in pieces, and is no piece itself"
        raise UnsupportedTokenizerError("model", f"{what}; {crossing!r:.40} overlaps with one of them")
