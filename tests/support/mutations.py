"""Texts that differ from another by one byte."""

from __future__ import annotations

import os
import random

__all__ = ["CASES", "mutated"]

CASES = int(os.environ.get("TOKAMATA_CASES", "400"))


def mutated(text: bytes, draw: random.Random) -> bytes:
    """A byte is inserted, deleted or replaced; half of the new bytes are others of the text."""
    at = draw.randrange(len(text) + 1)
    new = bytes([draw.choice(text) if text and draw.random() < 0.5 else draw.randrange(256)])
    how = draw.choice(("insert", "delete", "replace"))
    return text[:at] + (b"" if how == "delete" else new) + text[at + (how != "insert") :]
