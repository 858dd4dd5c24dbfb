"""Random regular languages of a few letters: regular expressions, and acceptors made without them."""

from __future__ import annotations

import random

from tokamata.automata import Acceptor, concatenate, star, union

__all__ = ["random_language"]


def random_language(draw: random.Random, size: int, letters: str) -> tuple[str, Acceptor]:
    """A regular expression, and an acceptor that is made without it."""
    if size <= 1:
        letter = draw.choice(letters)
        return letter, Acceptor.from_strings([letter])
    left, one = random_language(draw, size // 2, letters)
    right, other = random_language(draw, size - size // 2, letters)
    kind = draw.randrange(4)
    if kind == 0:
        return f"(?:{left}|{right})", union(one, other)
    if kind == 1:
        return f"(?:{left})*{right}", concatenate(star(one), other)
    return left + right, concatenate(one, other)
