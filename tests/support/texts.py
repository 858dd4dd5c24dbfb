"""Texts: all short ones over an alphabet."""

from __future__ import annotations

import itertools
from collections.abc import Iterable


def all_texts(letters: Iterable[str], longest: int, shortest: int = 0) -> list[str]:
    """Every text of ``shortest`` to ``longest`` letters, shorter ones first."""
    alphabet = list(letters)
    return [
        "".join(chosen)
        for size in range(shortest, longest + 1)
        for chosen in itertools.product(alphabet, repeat=size)
    ]
