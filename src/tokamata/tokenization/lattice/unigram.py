"""A Unigram model as its host runs it: pieces, scores, what is unknown, and the ids of a segmentation.

A model is read from memory, with the arguments that the host's own constructor has, or from a file.  What
the host refuses is refused.  Also refused is what the host accepts without a defined result: scores that are
not finite or so large that sums overflow, no unknown piece, no normal piece, incomplete byte pieces.
Positive and equal scores, and with Hugging Face also empty pieces and pieces that are there twice, are taken
as the host takes them: the last of equal pieces counts, and an empty one occurs nowhere.

The normalizer and the pre-tokenizer of a file are not read: a lattice is that of a text which the host's
model is given, so a normalized text, and with Hugging Face one pre-token.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tokamata.calls.arguments import checked_flag, checked_list, checked_whole
from tokamata.errors import UnigramModelError, VocabularyError, shown_argument
from tokamata.tokenization.lattice.hosts import Host
from tokamata.tokenization.lattice.piece_trie import PieceTrie
from tokamata.tokenization.pipelines import json_floats
from tokamata.tokenization.pipelines.sentence_piece_model import read_model
from tokamata.tokenization.pipelines.unigram_scores import UNKNOWN_PENALTY, user_defined_score
from tokamata.vocabulary.sentence_piece import PieceType

__all__ = ["UnigramModel"]

_LARGEST_SCORE = 1e30  # sums of 10^8 of these are still float32
_LONGEST_PIECE = 8000  # bytes; from here on SentencePiece refuses it
_BYTE_NAMES = [f"<0x{byte:02X}>" for byte in range(256)]
_KINDS = range(PieceType.NORMAL, PieceType.BYTE + 1)


class UnigramModel:
    """A Unigram model; immutable.  Made by one of its class methods.

    Attributes:
        host: the program that it follows.
        pieces: the text of each piece, by id.
        unknown: the id of the unknown piece.
        scores: ``float64[pieces]``: the score that a piece has in a lattice; NaN if it occurs in none.
        unknown_score: the score of an unknown character.
        byte_tokens: the ids of the bytes, with byte fallback; otherwise ``None``.
        ids: the id of each piece that can occur in a lattice, by its text.
        longest_joined: Hugging Face's joined unknown characters may be a piece of at most this many code
            points; 0 if none is.
    """

    __slots__ = (
        "byte_tokens",
        "host",
        "ids",
        "longest_joined",
        "pieces",
        "scores",
        "trie",
        "unknown",
        "unknown_score",
    )

    def __init__(
        self,
        host: Host,
        pieces: Sequence[str],
        ids: Mapping[str, int],
        scores: npt.NDArray[np.float64],
        unknown: int,
        unknown_score: float,
        byte_tokens: tuple[int, ...] | None,
    ) -> None:
        self.host = host
        self.pieces = tuple(pieces)
        self.ids = ids
        self.scores = scores
        self.scores.setflags(write=False)
        self.unknown = unknown
        self.unknown_score = unknown_score
        self.byte_tokens = byte_tokens
        self.trie = PieceTrie(ids.items())
        self.longest_joined = self._longest_joined() if host is Host.HUGGING_FACE else 0

    @classmethod
    def hugging_face(
        cls, vocab: Iterable[tuple[str, float]], unk_id: int | None, byte_fallback: bool = False
    ) -> UnigramModel:
        """The model that ``tokenizers.models.Unigram`` makes of the same arguments.

        Raises:
            UnigramModelError: it has no defined result.
            ArgumentError: an argument is of another type.
        """
        checked_flag("byte_fallback", byte_fallback)
        listed = checked_list("vocab", vocab, "a list of pairs of a text and a score")
        pieces, scores = _texts(listed), np.array(_scores(listed, Host.HUGGING_FACE), dtype=np.float64)
        if unk_id is None or not pieces:
            raise _no_unknown()
        unknown = checked_whole("unk_id", unk_id, 0, len(pieces))
        ids = {text: token for token, text in enumerate(pieces) if text}
        byte_tokens = None
        if byte_fallback:
            missing = [name for name in _BYTE_NAMES if name not in ids]
            if missing:
                raise _missing_bytes(missing)
            byte_tokens = tuple(ids[name] for name in _BYTE_NAMES)
        least = float(scores.min())
        used = np.full(len(pieces), np.nan)
        for token in ids.values():
            used[token] = scores[token]
        return cls(Host.HUGGING_FACE, pieces, ids, used, unknown, least - UNKNOWN_PENALTY, byte_tokens)

    @classmethod
    def sentence_piece(cls, pieces: Iterable[tuple[str, float, int]]) -> UnigramModel:
        """The model of SentencePiece's pieces.

        Args:
            pieces: for each id the text, the score, which becomes a float32, and the type, as
                ``sentencepiece_model.proto`` numbers them: 1 normal, 2 unknown, 3 control, 4 user-defined,
                5 unused, 6 byte.

        Raises:
            UnigramModelError: SentencePiece refuses it, or it has no defined result.
            ArgumentError: an argument is of another type.
        """
        listed = checked_list("pieces", pieces, "a list of a text, a score and a type for each piece")
        texts, scores = _texts(listed, 3), _scores(listed, Host.SENTENCE_PIECE)
        kinds = [checked_whole("the type of a piece", one[2], 1, len(_KINDS) + 1) for one in listed]
        ids: dict[str, int] = {}
        others: dict[str, int] = {}
        used = np.full(len(texts), np.nan)
        for token, (text, score, kind) in enumerate(zip(texts, scores, kinds, strict=True)):
            where = ids if kind in (PieceType.NORMAL, PieceType.USER_DEFINED, PieceType.UNUSED) else others
            if not text or "\0" in text or len(text.encode()) >= _LONGEST_PIECE:
                raise UnigramModelError(
                    token,
                    f"SentencePiece refuses the text {text!r:.40}",
                    f"use texts without NUL, of 1 to {_LONGEST_PIECE - 1:,} bytes",
                )
            if text in where:
                raise UnigramModelError(
                    token, f"{text!r:.40} is piece {where[text]} already", "leave one of them out"
                )
            where[text] = token
            used[token] = user_defined_score(text) if kind == PieceType.USER_DEFINED else score
        normal = [score for score, kind in zip(scores, kinds, strict=True) if kind == PieceType.NORMAL]
        if not normal:
            raise UnigramModelError(None, "no piece is normal", "an unknown character would have no score")
        unknown = [token for token, kind in enumerate(kinds) if kind == PieceType.UNKNOWN]
        if len(unknown) != 1:
            raise _no_unknown()
        byte_tokens = None
        if PieceType.BYTE in kinds:
            missing = [
                name for name in _BYTE_NAMES if name not in others or kinds[others[name]] != PieceType.BYTE
            ]
            if missing:
                raise _missing_bytes(missing)
            byte_tokens = tuple(others[name] for name in _BYTE_NAMES)
        occurring = {text: token for text, token in ids.items() if kinds[token] != PieceType.UNUSED}
        used[[token for token, kind in enumerate(kinds) if kind not in (1, 4)]] = np.nan
        host = Host.SENTENCE_PIECE
        unknown_score = host.rounded(min(normal) - UNKNOWN_PENALTY)
        return cls(host, texts, occurring, used, unknown[0], unknown_score, byte_tokens)

    @classmethod
    def from_tokenizer_json(cls, source: str | os.PathLike[str] | Mapping[str, Any]) -> UnigramModel:
        """The model of a ``tokenizer.json``: a path, or the parsed file.

        From a path, the scores are those that Hugging Face's reader has (:mod:`.json_floats`), and Python's
        reader has others.  The scores of a parsed file are taken as they are.

        Raises:
            UnigramModelError: the file has no Unigram model, or one without a defined result.
            OSError: the file cannot be read.
        """
        document: Any = source
        if not isinstance(source, Mapping):
            try:
                document = json_floats.loads(Path(source).read_text(encoding="utf-8"))
            except (ValueError, RecursionError):
                raise VocabularyError(f"{os.fspath(source)} is not JSON; download it again") from None
        model = document.get("model") if isinstance(document, Mapping) else None
        if not isinstance(model, Mapping) or not isinstance(model.get("vocab"), Sequence):
            raise _not_unigram("the file has no Unigram model")
        if model.get("type", "Unigram") != "Unigram":
            raise _not_unigram(f"the model is {shown_argument(model['type'])}")
        return cls.hugging_face(model["vocab"], model.get("unk_id"), model.get("byte_fallback", False))

    @classmethod
    def from_sentence_piece(cls, source: str | os.PathLike[str] | bytes) -> UnigramModel:
        """The model of a SentencePiece ``.model`` file: a path, or its contents.

        Raises:
            UnigramModelError: it is of another type than Unigram, or without a defined result.
            VocabularyError: it is damaged.
            OSError: the file cannot be read.
        """
        model = read_model(source if isinstance(source, bytes) else Path(source).read_bytes())
        if model.kind != "Unigram":
            raise _not_unigram(f"the model is of the type {model.kind}")
        return cls.sentence_piece(model.listed)

    def __repr__(self) -> str:
        return f"UnigramModel({self.host.value}, {len(self.pieces):,} pieces)"

    def joined_tokens(self, text: str) -> tuple[int, ...]:
        """The tokens of unknown characters in a row, all of them in ``text``."""
        if self.host is Host.HUGGING_FACE and text in self.ids:
            return (self.ids[text],)
        if self.byte_tokens is None:
            return (self.unknown,)
        return tuple(self.byte_tokens[byte] for byte in text.encode())

    def _longest_joined(self) -> int:
        """The longest piece that is a concatenation of unknown characters, and of the unknown piece."""
        unknown = self.pieces[self.unknown]
        longest = 0
        for text, token in self.ids.items():
            if token == self.unknown and self.byte_tokens is None:
                continue
            if len(text) <= longest or (text[0] in self.ids and not (unknown and text.startswith(unknown))):
                continue
            ends = [True] + [False] * len(text)
            for at, character in enumerate(text):
                if ends[at]:
                    ends[at + 1] |= character not in self.ids
                    if unknown and text.startswith(unknown, at):
                        ends[at + len(unknown)] = True
            if ends[-1]:
                longest = len(text)
        return longest


def _texts(listed: list[Any], width: int = 2) -> list[str]:
    texts = []
    for token, one in enumerate(listed):
        if not isinstance(one, Sequence) or len(one) != width or not isinstance(one[0], str):
            raise UnigramModelError(
                token, "it is not a text with a score" + " and a type" * (width == 3), "pass it so"
            )
        try:
            one[0].encode()
        except UnicodeEncodeError:
            raise UnigramModelError(token, "its text has a surrogate", "remove the surrogate") from None
        texts.append(one[0])
    return texts


def _scores(listed: list[Any], host: Host) -> list[float]:
    scores = []
    for token, one in enumerate(listed):
        score = one[1]
        if isinstance(score, bool) or not isinstance(score, (int, float)):
            raise UnigramModelError(token, f"its score is {shown_argument(score)}", "pass a number")
        try:
            number = float(score)
        except OverflowError:
            number = math.inf
        if not abs(number) < _LARGEST_SCORE:
            raise UnigramModelError(
                token,
                f"its score is {number}",
                "a score is the logarithm of a probability; sums with this one are not defined",
            )
        scores.append(host.rounded(number))
    return scores


def _no_unknown() -> UnigramModelError:
    return UnigramModelError(
        None, "the model does not have one unknown piece", "some texts have no tokens without it; name one"
    )


def _missing_bytes(names: list[str]) -> UnigramModelError:
    return UnigramModelError(
        None,
        f"{len(names)} of the 256 byte pieces are missing, among them {names[0]}",
        "add them, or turn byte fallback off",
    )


def _not_unigram(reason: str) -> UnigramModelError:
    return UnigramModelError(None, reason, "pass a file with a model of the type Unigram")
