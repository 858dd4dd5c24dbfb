"""SentencePiece's user-defined pieces, as added tokens.

Problem.  They are cut out of the text, the longest first, after the normalizer has run.  The normalizer goes
over the whole text: it leaves those pieces alone that it finds as they are written, with ``▁`` for itself,
and replaces the longest key of its charsmap anywhere else.

Example.  With the piece ``<u>`` and a key ``e<``, the text ``e<u>`` is changed: the key begins before the
piece.  With a key ``>e``, the text ``<u>e`` is not, since the piece was found before.

How.  A text is left alone if each stretch between pieces is, where no key leads from such a stretch into a
piece.  Models whose keys can do so are refused, and so are pieces with spaces beside a charsmap: the
normalizer reads them as ordinary text.  Where spaces are added or removed, see ``continued_texts.py``.
"""

from __future__ import annotations

import numpy as np

from tokamata.errors import UnsupportedTokenizerError
from tokamata.tokenization.pipelines.charsmaps import Charsmap
from tokamata.tokenization.pipelines.pipeline import AddedToken, Normalizer
from tokamata.tokenization.pipelines.sentence_piece_model import SentencePieceModel
from tokamata.tokenization.pretokenizers.classes import CODE_POINTS

__all__ = ["user_defined_pieces"]


def user_defined_pieces(model: SentencePieceModel, normalizer: Normalizer) -> list[AddedToken]:
    """The user-defined pieces that can be found in a text.

    Raises:
        UnsupportedTokenizerError: it depends on the text around a piece what the normalizer does to it.
    """
    removes = any(normalizer.strips)
    found = []
    for piece, token in model.user_defined.items():
        if " " in piece:
            raise _refused(piece, "has a space, which the normalizer finds, and the model does not")
        if "\0" in piece:
            raise _refused(piece, "has U+0000, at which SentencePiece cuts it off")
        if normalizer.charsmap is not None and "▁" in piece:
            raise _refused(piece, "has a space, and the model has a charsmap")
        if piece == "▁" and normalizer.prefix != "none" and not removes:
            raise _refused(piece, "is the space that is put before a text, and others")
        if not (removes and "▁▁" in piece):  # no text has two spaces there
            found.append(AddedToken(token, piece.replace("▁", " ").encode()))
    if normalizer.charsmap is not None:
        _check_keys(normalizer.charsmap, list(model.user_defined))
    return found


def _check_keys(charsmap: Charsmap, pieces: list[str]) -> None:
    """Refuses keys that may begin before a piece and end in it, or after it."""
    by_letter: dict[str, list[str]] = {}
    for piece in pieces:
        by_letter.setdefault(piece[:1], []).append(piece)
    # What is left alone by itself, and what is in pieces.
    letters = np.ones(CODE_POINTS, dtype=bool)
    letters[[ord(key) for key, result in charsmap.single_keys().items() if key != result]] = False
    letters[[ord(letter) for letter in {*"".join(pieces)}]] = True
    for key in charsmap.keys_over(letters):
        for begin in range(1, len(key)):
            rest = key[begin:]
            for piece in by_letter.get(key[begin], ()):
                if piece.startswith(rest) or rest.startswith(piece):
                    raise _refused(piece, f"may be found in {key!r:.40}, which the charsmap replaces")


def _refused(piece: str, what: str) -> UnsupportedTokenizerError:
    return UnsupportedTokenizerError("model", f"the user-defined piece {piece!r:.40} {what}")
