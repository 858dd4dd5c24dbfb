"""Random texts of a constraint, drawn from its masks byte by byte, within a budget."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import tokamata as tk
from tests.support.masks import bits


def walked(compiled: tk.CompiledConstraint[Any], rng: random.Random, most: int) -> tk.Matcher:
    """A matcher at the end of a random text of at most so many bytes; the stop token is 256."""
    matcher = compiled.matcher()
    row: np.ndarray = compiled.allocate_mask()[0]
    favoured = rng.choice(
        [b'</paremtvlugk_ids">', b'\n 5,[]{}:"truefalsn', b"abcdefgh <", bytes(range(32, 127))]
    )
    for left in range(most, 0, -1):
        matcher.fill_mask(row, left)
        allowed = sorted(bits(row))
        if 256 in allowed and rng.random() < 0.3:
            break
        tokens = [token for token in allowed if token < 256]
        if not tokens:
            break
        some = [token for token in tokens if token in favoured]
        chosen = rng.choice(some if some and rng.random() < 0.8 else tokens)
        assert matcher.advance(chosen)
    assert matcher.is_accepting, matcher.text
    return matcher
