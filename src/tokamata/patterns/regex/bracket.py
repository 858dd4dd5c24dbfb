"""What a class in brackets contains, in any dialect.

Problem: the members of ``[\\w.\\-a-z]`` are single code points, ranges of them, and sets; the dialects
differ in how members are escaped, and in what ignoring case does to the sets.

Example: ``members("[^\\\\d-]", …)`` is the ranges ``[(45, 45)]`` and the sets ``[(48, 57), …]``.

Cost: linear in the text, plus the ranges of the different sets named in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn

from tokamata.errors import PatternSyntaxError
from tokamata.patterns.regex.classes import Ranges

__all__ = ["bad_range", "is_terminated", "members"]

Pairs = list[tuple[int, int]]


def members(
    pattern: str,
    start: int,
    content: str,
    item: re.Pattern[str],
    code_point: Callable[[str, int, str], int],
    code_points: Callable[[str, int, str], Ranges | None],
) -> tuple[Pairs, Pairs]:
    """The ranges between the brackets of a class: those spelled out, and those of sets.

    Args:
        pattern: the whole, for errors.
        start: where in it the content begins.
        content: what stands between the brackets, ``^`` left out.
        item: matches a member or a range, in groups 1 and 2.
        code_point: the code point of an escape: (pattern, position, escape).
        code_points: the set of an escape, or ``None`` if it is not one.

    Raises:
        PatternSyntaxError: it contains what is no member of a class.
    """
    ranges: Pairs = []
    sets: dict[str, Ranges] = {}  # each once: [\w\w\w…] is no more than [\w]
    for found in item.finditer(content):
        first, last = found.group(1, 2)
        place = start + found.start()
        low = high = ord(first) if len(first) == 1 else -1
        if low < 0:
            named = sets.get(first) or code_points(pattern, place, first)
            if named is not None:
                if last is not None:
                    bad_range(pattern, place, first, last)
                sets[first] = named
                continue
            low = high = code_point(pattern, place, first)
        if last is not None:
            if len(last) > 1 and code_points(pattern, place, last) is not None:
                bad_range(pattern, place, first, last)
            high = ord(last) if len(last) == 1 else code_point(pattern, start + found.start(2), last)
            if high < low:
                bad_range(pattern, place, first, last)
        ranges.append((low, high))
    return ranges, [pair for named in sets.values() for pair in named]


def bad_range(pattern: str, position: int, first: str, last: str) -> NoReturn:
    """Raises for the range at ``position``."""
    hint = "a range goes from a lower to a higher code point; write \\- for the character itself"
    raise PatternSyntaxError(pattern, position, f"bad character range {first}-{last}", hint)


def is_terminated(token: str) -> bool:
    """Whether a token that begins with ``[`` ends with a ``]`` that is not escaped."""
    inside = token[:-1]
    return token[-1] == "]" and (len(inside) - len(inside.rstrip("\\"))) % 2 == 0
