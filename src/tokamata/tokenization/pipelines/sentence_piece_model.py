"""Reads those fields of a SentencePiece model file that determine how a text is cut.

The file is a protocol buffer (``sentencepiece_model.proto``) with numbered fields, few of which matter here.
The package does not expose them, and its own reader of the format needs another package.

    ModelProto       1 pieces  2 trainer  3 normalizer  5 denormalizer
    SentencePiece    1 piece   2 score    3 type (1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused,
                     6 byte)
    TrainerSpec      3 model type (1 Unigram, 2 BPE, 3 word, 4 char)  24 spaces end words
    NormalizerSpec   2 charsmap  3 adds a space  4 removes superfluous spaces  5 writes a sign for spaces
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from tokamata.errors import VocabularyError
from tokamata.vocabulary.sentence_piece import PieceType

_Blob = bytes  # the class below has a field of this name
_KINDS = {1: "Unigram", 2: "BPE", 3: "word", 4: "char"}


@dataclass
class SentencePieceModel:
    """The relevant fields.

    Attributes:
        kind: the model's type.
        pieces: normal pieces, with their ids.
        scores: the scores of normal pieces, by id.
        bytes: the ids of byte pieces, by byte.
        control: the ids of control pieces.
        user_defined: user-defined pieces, with their ids.
        has_unused: whether there are unused pieces.
        listed: every piece with its score and its type, by id.
        charsmap: the normalizer's table of replacements, see :mod:`.charsmaps`; empty if there is none.
        adds_space, removes_spaces: whether the normalizer adds a space, and removes superfluous ones.
        writes_sign: whether it writes ``▁`` for a space.
        spaces_end_words: whether spaces belong to the words before them.
        is_denormalized: whether decoded text is changed by a table of its own.
    """

    kind: str = "Unigram"
    pieces: dict[str, int] = field(default_factory=dict)
    scores: dict[int, float] = field(default_factory=dict)
    bytes: dict[int, int] = field(default_factory=dict)
    control: list[int] = field(default_factory=list)
    user_defined: dict[str, int] = field(default_factory=dict)
    has_unused: bool = False
    listed: list[tuple[str, float, int]] = field(default_factory=list)
    charsmap: _Blob = b""
    adds_space: bool = True
    removes_spaces: bool = True
    writes_sign: bool = True
    spaces_end_words: bool = False
    is_denormalized: bool = False

    @property
    def has_rules(self) -> bool:
        """Whether the normalizer has a table of replacements."""
        return bool(self.charsmap)


def read_model(proto: bytes) -> SentencePieceModel:
    """Read a model file.

    Raises:
        VocabularyError: it is damaged.
    """
    model = SentencePieceModel()
    try:
        token = 0
        for number, value in _fields(proto):
            if number == 1:
                _read_piece(model, token, _bytes(value))
                token += 1
            elif number == 2:
                for inner, setting in _fields(_bytes(value)):
                    if inner == 3:
                        model.kind = _KINDS.get(int(setting), f"model type {setting!r}")
                    elif inner == 24:
                        model.spaces_end_words = bool(setting)
            elif number == 3:
                _read_normalizer(model, _bytes(value))
            elif number == 5:
                model.is_denormalized = any(inner == 2 and rules for inner, rules in _fields(_bytes(value)))
    except (struct.error, UnicodeDecodeError, TypeError, IndexError, ValueError):
        raise _damaged() from None
    return model


def _damaged() -> VocabularyError:
    return VocabularyError("the SentencePiece model is damaged; download it again")


def _read_piece(model: SentencePieceModel, token: int, data: bytes) -> None:
    piece, score, kind = "", 0.0, PieceType.NORMAL
    for number, value in _fields(data):
        if number == 1:
            piece = _bytes(value).decode()
        elif number == 2:
            score = struct.unpack("<f", _bytes(value))[0]
        elif number == 3:
            kind = int(value)
    model.listed.append((piece, score, kind))
    if kind == PieceType.NORMAL:
        model.pieces[piece] = token
        model.scores[token] = score
    elif kind == PieceType.CONTROL:
        model.control.append(token)
    elif kind == PieceType.BYTE and (match := re.fullmatch("<0x([0-9A-Fa-f]{2})>", piece)):
        model.bytes[int(match[1], 16)] = token
    elif kind == PieceType.USER_DEFINED:
        model.user_defined[piece] = token
    model.has_unused |= kind == PieceType.UNUSED


def _read_normalizer(model: SentencePieceModel, data: bytes) -> None:
    for number, value in _fields(data):
        if number == 2:
            model.charsmap = _bytes(value)
        elif number == 3:
            model.adds_space = bool(value)
        elif number == 4:
            model.removes_spaces = bool(value)
        elif number == 5:
            model.writes_sign = bool(value)


def _bytes(value: int | bytes) -> bytes:
    if not isinstance(value, bytes):
        raise _damaged()
    return value


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message: numbers as ``int``, all others as bytes."""
    at = 0

    def varint() -> int:
        nonlocal at
        result = shift = 0
        while True:
            byte = data[at]
            at += 1
            result |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return result
            if shift > 63:
                raise _damaged()

    while at < len(data):
        key = varint()
        wire = key & 7
        if wire == 0:
            yield key >> 3, varint()
            continue
        size = {1: 8, 5: 4}.get(wire)
        if size is None:
            if wire != 2:
                raise _damaged()
            size = varint()
        if at + size > len(data):
            raise _damaged()
        yield key >> 3, data[at : at + size]
        at += size
