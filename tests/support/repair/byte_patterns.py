"""Patterns of bytes as the engine finds them, for tests of what is found where."""

from __future__ import annotations

from collections.abc import Sequence

import tokamata as tk
from tokamata.repair.byte_patterns import BytePatterns
from tokamata.repair.costs import ALL_MODES, BY_WRITTEN
from tokamata.resources.limits import core_limits

__all__ = ["patterns_of", "places"]

_LIMITS = core_limits(tk.Limits())
_MACHINE = tk.EditCosts()._machine(b"").engine


def patterns_of(sources: Sequence[bytes]) -> BytePatterns:
    """Patterns that hold in every mode and mean nothing to the engine."""
    return BytePatterns(sources, [(ALL_MODES, BY_WRITTEN)] * len(sources), [None] * len(sources))


def places(patterns: BytePatterns, text: bytes) -> list[tuple[int, int, int]]:
    """Where the engine finds them: number, begin and end of each match, by position."""
    _, _, found = patterns.engine.found(text, _MACHINE, 0, 1 << 30, _LIMITS, None)
    return found
