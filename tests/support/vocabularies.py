"""Vocabularies in which every byte is a token whose id is the byte, and texts in their tokens."""

from __future__ import annotations

import random
from functools import cache

import tokamata as tk

BYTES: list[bytes | None] = [bytes([value]) for value in range(256)]


def bytes_and(*pieces: bytes | None) -> tk.Vocabulary:
    """Every byte, then these pieces, then a stop token."""
    return tk.Vocabulary.load([*BYTES, *pieces, None], stop=256 + len(pieces))


BYTE_VOCABULARY = bytes_and()


def cut(vocabulary: tk.Vocabulary, data: bytes, draw: random.Random) -> list[int]:
    """The tokens of a text, which is cut at random."""
    by_text, longest = _tokens_by_text(vocabulary)
    tokens: list[int] = []
    place = 0
    while place < len(data):
        pieces = [data[place:end] for end in range(place + 1, min(place + longest, len(data)) + 1)]
        token = draw.choice([token for piece in pieces for token in by_text.get(piece, ())])
        tokens.append(token)
        place += len(vocabulary[token] or b"")
    return tokens


@cache
def _tokens_by_text(vocabulary: tk.Vocabulary) -> tuple[dict[bytes, list[int]], int]:
    """All tokens of each text, and the length of the longest."""
    by_text: dict[bytes, list[int]] = {}
    for token in range(vocabulary.width):
        if text := vocabulary[token]:
            by_text.setdefault(text, []).append(token)
    return by_text, max(map(len, by_text))
