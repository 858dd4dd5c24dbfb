"""What to do with the tokens of a pattern: the handlers that all dialects share."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NoReturn

from tokamata.errors import NotRegularError, PatternSyntaxError
from tokamata.patterns.regex.builder import Builder
from tokamata.patterns.regex.classes import Ranges
from tokamata.patterns.regex.dialect import Dialect
from tokamata.patterns.regex.syntax import LINE_START, TEXT_START

__all__ = [
    "QUANTIFIERS",
    "Bounds",
    "Handler",
    "bounds_of",
    "opens_plain_group",
    "read_bar",
    "read_caret",
    "read_class",
    "refuse_backreference",
]

Bounds = tuple[int, "int | None"]

QUANTIFIERS: dict[str, Bounds] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_ASSERTIONS = {"(?=": "=", "(?!": "!", "(?<=": "<=", "(?<!": "<!"}
_MULTILINE = int(re.MULTILINE)
LONG_CLASS = 100  # classes of so many characters are not kept for other patterns

Handler = Callable[[Builder, str, int], None]
"""Reports a token to the builder: (builder, token, its offset in the pattern)."""


def read_bar(builder: Builder, token: str, position: int) -> None:
    """``|``."""
    builder.bar(position)


def read_caret(builder: Builder, token: str, position: int) -> None:
    """``^``."""
    builder.anchor(LINE_START if builder.flags & _MULTILINE else TEXT_START, position)


def bounds_of(pattern: str, position: int, low: str, comma: str, high: str) -> Bounds:
    """The bounds of a quantifier in braces."""
    minimum = int(low or 0)
    maximum = int(high) if high else None if comma else minimum
    if maximum is not None and maximum < minimum:
        raise PatternSyntaxError(
            pattern, position, "min repeat greater than max repeat", f"write {{{high},{low}}}"
        )
    return minimum, maximum


def opens_plain_group(builder: Builder, token: str, position: int) -> bool:
    """Opens a group without a name, or a lookaround, if the token is the beginning of one."""
    if token == "(":
        builder.group_count += 1
        builder.open(position, builder.flags, builder.group_count)
    elif token == "(?:" or token in _ASSERTIONS:
        builder.open(position, builder.flags, assertion=_ASSERTIONS.get(token, ""))
    else:
        return False
    return True


def refuse_backreference(pattern: str, position: int, token: str) -> NoReturn:
    """Raises for a reference to a group that there is."""
    reason = f"backreference {token}: no regular language can say this"
    hint = "write the group's pattern again; that both match the same text cannot be expressed"
    raise NotRegularError(pattern, position, reason, hint)


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
