"""What tests read masks with."""

from __future__ import annotations

import numpy as np

import tokamata as tk


def allowed(matcher: tk.Matcher) -> set[int]:
    """The ids whose bits are set in the mask of a matcher."""
    return bits(matcher.mask)


def bits(row: object) -> set[int]:
    """The ids whose bits are set in a row of a mask."""
    return set(np.flatnonzero(np.unpackbits(np.asarray(row).view(np.uint8), bitorder="little")).tolist())


def has(row: np.ndarray, token: int) -> bool:
    """Whether one bit is set in a row of a mask."""
    return bool(row[token // 32] >> (token % 32) & 1)
