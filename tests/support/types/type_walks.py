"""Whether a constraint takes a text, and texts that are drawn from its masks."""

from __future__ import annotations

import random
from functools import cache

import tokamata as tk
from tests.support.masks import bits
from tests.support.vocabularies import bytes_and

WORDS = [b"true", b"null", b'": ', b'", "', b"[]", b"{}", b"12", b"2024-", b"-0", b'"}', b"T0", b"), ", b"=1"]


@cache
def every_byte() -> tk.Vocabulary:
    """Every byte, some words, and a stop token."""
    return bytes_and(*WORDS)


def drawn(constraint: tk.Constraint, seed: int, steps: int = 60) -> str:
    """A text that is written by taking allowed tokens at random, and is then brought to an end.

    Bytes beyond ASCII are drawn less often than they are allowed.
    """
    vocabulary = every_byte()
    source = random.Random(seed)
    matcher = constraint.compile(vocabulary).matcher()
    for _ in range(steps):
        tokens = sorted(bits(matcher.mask))
        likely = [token for token in tokens if 32 <= token < 127 or token >= 256]
        token = source.choice(likely if likely and source.random() < 0.95 else tokens)
        if token in vocabulary.stop:
            break
        assert matcher.advance(token)
    if not matcher.is_accepting:
        for token in matcher.shortest_completion():
            assert matcher.advance(token)
    assert matcher.is_accepting
    return matcher.text.decode()
