"""What to do with the tokens of a pattern: the handlers that all dialects share."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from tokamata.errors import PatternSyntaxError
from tokamata.patterns.regex.builder import Builder
from tokamata.patterns.regex.classes import Ranges
from tokamata.patterns.regex.dialect import Dialect

__all__ = ["Handler", "read_bar", "read_class"]

LONG_CLASS = 100  # classes of so many characters are not kept for other patterns

Handler = Callable[[Builder, str, int], None]
"""Reports a token to the builder: (builder, token, its offset in the pattern)."""


def read_bar(builder: Builder, token: str, position: int) -> None:
    """``|``."""
    builder.bar(position)


def read_class(builder: Builder, token: str, position: int) -> None:
    """``[…]``: what it denotes may have a thousand ranges, so it is kept."""
    dialect = builder.dialect
    flags = builder.flags & dialect.class_flags
    if "\\" not in token:
        builder.code_points(dialect.class_ranges(builder.pattern, position, token, flags), position)
        return
    key = f"{dialect.name}{flags}{token}"
    kept = len(token) < LONG_CLASS
    ranges = builder.classes.get(key)
    if ranges is None:
        try:
            ranges = _kept_class(dialect, token, flags) if kept else None
        except PatternSyntaxError:
            ranges = None  # to be raised again, at its place
        if ranges is None:
            ranges = dialect.class_ranges(builder.pattern, position, token, flags)
        builder.classes[key] = ranges
    builder.code_points(ranges, position, key if kept else None)


@lru_cache(maxsize=256)
def _kept_class(dialect: Dialect, token: str, flags: int) -> Ranges:
    return dialect.class_ranges(token, 0, token, flags)
