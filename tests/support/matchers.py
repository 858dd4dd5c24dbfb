"""Tokens that are given to a matcher: of a text, or at random."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import tokamata as tk
from tests.support.masks import allowed
from tests.support.vocabularies import BYTE_VOCABULARY


def takes(matcher: tk.Matcher, tokens: Iterable[int]) -> bool:
    """Whether these tokens, from where the matcher is, are accepted; the matcher stays where it is."""
    fork = matcher.fork()
    return all(map(fork.advance, tokens)) and fork.is_accepting


def accepts(
    constraint: tk.Constraint, text: str, vocabulary: tk.Vocabulary = BYTE_VOCABULARY, **options: Any
) -> bool:
    """Whether the engine accepts a text, byte by byte; ``options`` are those of ``compile``.

    Raises:
        tokamata.EmptyConstraintError: the constraint accepts no text at all.
    """
    return takes(constraint.compile(vocabulary, **options).matcher(), text.encode())


def is_text_of(constraint: tk.Constraint, text: str, **options: Any) -> bool:
    """The same for a constraint that may accept no text at all."""
    try:
        return accepts(constraint, text, **options)
    except tk.EmptyConstraintError:
        return False


def write(matcher: tk.Matcher, text: str | bytes) -> None:
    """Advances by each byte of a text, which the matcher must take."""
    for byte in text.encode() if isinstance(text, str) else text:
        assert matcher.advance(byte), (matcher.text[-40:], text[:200])


def step(matcher: tk.Matcher, draw: random.Random) -> bool:
    """Advances by an allowed token, drawn at random, that is no stop token; whether there was one."""
    tokens = sorted(allowed(matcher) - set(matcher.compiled.vocabulary.stop))
    if tokens:
        assert matcher.advance(draw.choice(tokens))
    return bool(tokens)
