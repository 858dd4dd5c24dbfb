"""A vocabulary of single bytes, for questions about a constraint that no tokenizer decides."""

from __future__ import annotations

from functools import cache

from tokamata.vocabulary.vocabulary import Vocabulary

__all__ = ["single_bytes"]


@cache
def single_bytes() -> Vocabulary:
    """A token for each byte, with the byte as its id, and the stop token 256: every text can be written."""
    return Vocabulary.load([*(bytes([value]) for value in range(256)), None], stop=256)
