"""Random Unigram models of both hosts, and files of SentencePiece.

The models are small and hostile: few letters, so that each text has many segmentations; scores that tie, that
round, that are positive or huge; characters that are no piece; pieces beyond ASCII; unused and user-defined
pieces; byte fallback.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tokamata.tokenization.lattice import UnigramModel

ALPHABETS = ("a", "ab", "abc", "aé", "é漢a", "a𝄞ab", "<unk>")
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
Piece = tuple[str, float, int]


@dataclass(frozen=True)
class Judged:
    """A model, and the host's own encoder of it.

    Attributes:
        model: the model.
        encode: from a text to token ids, the model's step alone.
        letters: for texts.
        made_of: what both were made of.
    """

    model: UnigramModel
    encode: Callable[[str], list[int]]
    letters: str
    made_of: tuple[Any, ...]


def _score_law(draw: random.Random) -> Callable[[], float]:
    return draw.choice(
        [
            lambda: -10 * draw.random(),
            lambda: -0.1 * draw.randrange(1, 100),
            lambda: 10 * draw.random() - 5,
            lambda: 0.1 * draw.randrange(-20, 20),
            lambda: -float(draw.randrange(1, 4)),
            lambda: -1.0,
            lambda: draw.choice([-1e-30, 1e-7, -123.456, 25.0, 31.5, 1e4, -3e4]),
        ]
    )


def _texts(draw: random.Random, letters: str, most: int) -> list[str]:
    return list(dict.fromkeys("".join(draw.choices(letters, k=draw.randrange(1, 6))) for _ in range(most)))


def random_hugging_face(draw: random.Random) -> Judged:
    """A model for ``tokenizers.models.Unigram``, with pieces that are there twice, and empty ones."""
    from tokenizers import Tokenizer, models

    letters, score = draw.choice(ALPHABETS), _score_law(draw)
    pieces = _texts(draw, letters, draw.randrange(1, 14))
    if draw.random() < 0.2:
        pieces += draw.choices(pieces, k=2)
    if draw.random() < 0.1:
        pieces.append("")
    byte_fallback = draw.random() < 0.3
    if byte_fallback:
        pieces += [f"<0x{byte:02X}>" for byte in range(256)]
    unknown = draw.randrange(len(pieces) + 1)
    pieces.insert(unknown, "<unk>")
    vocab = [(piece, score()) for piece in pieces]
    own = Tokenizer(models.Unigram(vocab, unknown, byte_fallback))
    return Judged(
        UnigramModel.hugging_face(vocab, unknown, byte_fallback),
        lambda text: list(own.encode(text).ids),
        letters + "z",
        (vocab, unknown, byte_fallback),
    )


def random_sentence_piece(draw: random.Random) -> Judged:
    """A SentencePiece model without normalizer, with user-defined and unused pieces."""
    from sentencepiece import SentencePieceProcessor

    letters, score = draw.choice(ALPHABETS), _score_law(draw)
    kinds = draw.choice([[NORMAL], [NORMAL, NORMAL, NORMAL, USER_DEFINED, UNUSED]])
    pieces: list[Piece] = [
        (text, score(), draw.choice(kinds) if place else NORMAL)
        for place, text in enumerate(_texts(draw, letters, draw.randrange(1, 14)))
    ]
    pieces = [piece for piece in pieces if piece[0] != "<unk>"] or [("a", -1.0, NORMAL)]
    pieces.append(("</s>", 0.0, CONTROL))
    if draw.random() < 0.3:
        pieces += [(f"<0x{byte:02X}>", 0.0, BYTE) for byte in range(256)]
    pieces.insert(draw.randrange(len(pieces)), ("<unk>", 0.0, UNKNOWN))
    if not any(kind == NORMAL for _, _, kind in pieces):
        pieces.append(("zz", -1.0, NORMAL))
    data = model_file(pieces)
    own = SentencePieceProcessor(model_proto=data)
    return Judged(UnigramModel.from_sentence_piece(data), own.encode, letters + "z", (pieces,))


def random_text(draw: random.Random, judged: Judged, longest: int = 40) -> str:
    """A text of a model's letters, one of which it may lack; a few have names of its special pieces."""
    text = "".join(draw.choices(judged.letters, k=draw.randrange(1, longest)))
    if draw.random() < 0.1:
        at = draw.randrange(len(text) + 1)
        text = text[:at] + draw.choice(["<unk>", "</s>", "<0x41>", "漢", "𝄞"]) + text[at:]
    return text


def model_file(
    pieces: Iterable[Piece],
    kind: int = 1,
    *,
    adds_space: bool = False,
    removes_spaces: bool = False,
    writes_sign: bool = False,
    charsmap: bytes = b"",
) -> bytes:
    """A SentencePiece file of these pieces, by default without normalizer."""
    pieces = list(pieces)
    body = b"".join(
        _bytes(1, _bytes(1, text.encode()) + b"\x15" + struct.pack("<f", score) + _number(3, of))
        for text, score, of in pieces
    )
    trainer = _number(3, kind) + _number(35, any(of == BYTE for _, _, of in pieces))
    normalizer = _bytes(1, b"own") + _bytes(2, charsmap)
    normalizer += _number(3, adds_space) + _number(4, removes_spaces) + _number(5, writes_sign)
    return body + _bytes(2, trainer) + _bytes(3, normalizer)


def _varint(value: int) -> bytes:
    parts = []
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(int(value))


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value
