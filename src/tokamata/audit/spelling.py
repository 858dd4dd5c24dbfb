"""Texts in tokens: in as few as possible, and in others.

A mask has a bit for each token, so a text must be allowed in every tokenization.
"""

from __future__ import annotations

import random

from tokamata.vocabulary import Vocabulary

__all__ = ["Speller"]


class Speller:
    """Cuts texts into tokens of a vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._ids: dict[bytes, int] = {}
        stop = set(vocabulary.stop)
        for token, value in enumerate(vocabulary.tokens):
            if value and token not in stop:
                self._ids.setdefault(value, token)
        # Of tokens that begin with these two bytes, or are one byte: the lengths, longest first.
        lengths: dict[bytes, set[int]] = {}
        for value in self._ids:
            lengths.setdefault(value[:2], set()).add(len(value))
        self._lengths = {start: sorted(found, reverse=True) for start, found in lengths.items()}

    def longest(self, text: bytes) -> list[int] | None:
        """The longest token each time; ``None`` where the vocabulary cannot spell the text so."""
        return self._cut(text, None)

    def at_random(self, text: bytes, rng: random.Random) -> list[int] | None:
        """Any token that fits each time; ``None`` where the text cannot be spelled so."""
        return self._cut(text, rng)

    def _cut(self, text: bytes, rng: random.Random | None) -> list[int] | None:
        found: list[int] = []
        start = 0
        while start < len(text):
            lengths = [*self._lengths.get(text[start : start + 2], ()), 1]
            fitting = (n for n in lengths if text[start : start + n] in self._ids)
            length = next(fitting, 0) if rng is None else rng.choice([*fitting] or [0])
            if not length:
                return None
            found.append(self._ids[text[start : start + length]])
            start += length
        return found
