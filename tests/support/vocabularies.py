"""Vocabularies in which every byte is a token whose id is the byte."""

from __future__ import annotations

import tokamata as tk

BYTES: list[bytes | None] = [bytes([value]) for value in range(256)]


def bytes_and(*pieces: bytes | None) -> tk.Vocabulary:
    """Every byte, then these pieces, then a stop token."""
    return tk.Vocabulary.load([*BYTES, *pieces, None], stop=256 + len(pieces))


BYTE_VOCABULARY = bytes_and()
