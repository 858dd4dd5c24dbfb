"""Texts drawn to refute a proof about a boundary: neighbours that would merge with it, and any others.

A token crosses the left border of ``b`` if its last bytes are the first of ``b``.  So half of the texts have
such a token's other bytes before ``b``, and the same on the right; the others have tokens, entries of the
Unicode set, words and spaces there.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import tokamata as tk
from tokamata.tokenization.unicode_set import adversaries

_PLAIN = ("", " ", "\n", "a", "1", '"', "<", "}", "\t", "  ", "é", "ab", "\u2581")
_LONGEST = 64  # bytes of a neighbour


class Attacker:
    """Draws texts around boundaries.

    Args:
        vocabulary: whose tokens are the neighbours.
        draw: the source of chance.
    """

    def __init__(self, vocabulary: tk.Vocabulary, draw: random.Random) -> None:
        self._draw = draw
        self._tokens = [text for text in vocabulary.tokens if text and len(text) <= _LONGEST]
        self._texts = [*_PLAIN, *(one.text for one in adversaries() if one.text is not None)]

    def texts(self, boundary: str, count: int) -> Iterator[str]:
        """So many texts with the boundary."""
        data, draw = boundary.encode(), self._draw
        befores = _parts(self._tokens, data)
        afters = [part[::-1] for part in _parts([token[::-1] for token in self._tokens], data[::-1])]
        for _ in range(count):
            left = self._beside(befores, draw.random() < 0.5)
            right = self._beside(afters, draw.random() < 0.5)
            if draw.random() < 0.3:
                left = draw.choice(self._texts) + left
            if draw.random() < 0.3:
                right += draw.choice(self._texts)
            yield left + boundary + right

    def _beside(self, parts: list[bytes], merges: bool) -> str:
        draw = self._draw
        if merges and parts:
            return draw.choice(parts).decode("utf-8", "ignore")
        if draw.random() < 0.5:
            return draw.choice(self._tokens).decode("utf-8", "ignore")
        return draw.choice(self._texts)


def _parts(tokens: list[bytes], data: bytes) -> list[bytes]:
    """What tokens that end with the beginning of some bytes have before that."""
    beginnings = tuple(data[:size] for size in range(1, len(data) + 1))
    return [
        token[: -len(each)]
        for token in tokens
        if token.endswith(beginnings)
        for each in beginnings
        if token.endswith(each) and len(token) > len(each)
    ]
