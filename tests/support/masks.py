"""What tests read masks with."""

from __future__ import annotations

import numpy as np

import tokamata as tk


def allowed(matcher: tk.Matcher) -> set[int]:
    """The ids whose bits are set in the mask of a matcher."""
    return bits(matcher.mask)


def taken(matcher: tk.Matcher, vocabulary: tk.Vocabulary) -> set[int]:
    """The ids that copies of a matcher take, the stop token left out: the judge of its mask."""
    return {token for token in range(vocabulary.width - 1) if matcher.fork().advance(token)}


def bits(row: object) -> set[int]:
    """The ids whose bits are set in a row of a mask."""
    return set(np.flatnonzero(np.unpackbits(np.asarray(row).view(np.uint8), bitorder="little")).tolist())


def has(row: np.ndarray, token: int) -> bool:
    """Whether one bit is set in a row of a mask."""
    return bool(row[token // 32] >> (token % 32) & 1)
