"""What a backslash means in the Python dialect, and what a class contains.

Both as Python's ``re`` has it (a letter that has no meaning is an error, any other character
stands for itself), with one extension: ``\\p{…}`` and ``\\P{…}``, Unicode properties as the PyPI
module ``regex`` names them.  ``\\N{…}`` is looked up in Python's own ``unicodedata``: names never
change, newer Pythons know more of them.

Example: ``class_ranges("[^\\\\d-]", …)`` is the complement of the digits and ``-``.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache, partial
from typing import NoReturn

from tokamata.errors import PatternSyntaxError, UnknownPropertyError
from tokamata.patterns.regex.bracket import bad_range, is_terminated, members
from tokamata.patterns.regex.classes import Ranges, complement, equal_case, named_class, normalize
from tokamata.patterns.regex.tokens import PYTHON_CLASS_ITEM
from tokamata.patterns.unicode import property_ranges

__all__ = ["class_ranges", "escaped_code_point", "escaped_ranges"]

IGNORE_CASE, ASCII = int(re.IGNORECASE), int(re.ASCII)

_CONTROLS = {"\\a": 7, "\\b": 8, "\\t": 9, "\\n": 10, "\\v": 11, "\\f": 12, "\\r": 13}
_SETS = frozenset(["\\d", "\\w", "\\s", "\\D", "\\W", "\\S"])


def escaped_code_point(pattern: str, position: int, token: str) -> int:
    """The code point that an escape stands for; ``\\b`` is a backspace, decimal digits are octal.

    Args:
        pattern: the whole, for errors.
        position: where in it the escape stands.
        token: the escape.

    Raises:
        PatternSyntaxError: it stands for none.
    """
    control = _CONTROLS.get(token)
    if control is not None:
        return control
    letter = token[1:2]
    if letter.isascii() and letter.isalnum():
        if letter in "xuU" and len(token) > 2:
            point = int(token[2:], 16)
            if point > 0x10FFFF:
                raise PatternSyntaxError(pattern, position, f"bad escape {token}", "the last is \\U0010ffff")
            return point
        if letter == "N" and len(token) > 2:
            return _named_code_point(pattern, position, token)
        if letter in "01234567":
            point = int(token[1:], 8)
            if point > 0o377:
                reason = f"octal escape value {token} outside of range 0-0o377"
                raise PatternSyntaxError(pattern, position, reason)
            return point
        _bad_escape(pattern, position, token)
    if not letter:
        hint = "write \\\\ for a backslash"
        raise PatternSyntaxError(pattern, position, "bad escape (end of pattern)", hint)
    return ord(letter)


def _named_code_point(pattern: str, position: int, token: str) -> int:
    name = token[3:-1]
    try:
        return ord(unicodedata.lookup(name))
    except (KeyError, TypeError):
        reason = f"undefined character name {name!r}" if name else "missing character name"
        raise PatternSyntaxError(pattern, position, reason) from None


_INSTEAD = {  # of what other languages have
    "z": "the end of the text is \\Z",
    "Q": "quote a text with re.escape",
    "h": "write [ \\t] for blanks",
    "R": "write \\r?\\n for a line break",
    "K": "leave it out: the whole text is matched, and nothing is replaced",
    "G": "leave it out: the whole text is matched",
    "X": "write . for a code point",
}


def _bad_escape(pattern: str, position: int, token: str) -> NoReturn:
    letter = token[1]
    if letter in "xuU":
        digits = {"x": 2, "u": 4, "U": 8}[letter]
        shown = re.compile(rf"\\.[0-9A-Fa-f]{{0,{digits}}}").match(pattern, position)
        reason = f"incomplete escape {shown.group() if shown else token}"
        raise PatternSyntaxError(pattern, position, reason, f"\\{letter} needs {digits} hexadecimal digits")
    if letter in "NpP":
        after = position + 2
        if pattern[after : after + 1] != "{":
            raise PatternSyntaxError(pattern, after, "missing {", f"write \\{letter}{{…}}")
        raise PatternSyntaxError(pattern, after + 1, "missing }, unterminated name")
    hint = _INSTEAD.get(letter, f"write {letter} for the letter itself")
    raise PatternSyntaxError(pattern, position, f"bad escape \\{letter}", hint)


def escaped_ranges(pattern: str, position: int, token: str, flags: int) -> Ranges | None:
    """The set that ``\\d \\w \\s \\D \\W \\S`` or a property stands for, or ``None`` for other escapes."""
    if token in _SETS:
        return named_class("a" + token[1] if flags & ASCII else token[1])
    if token[1:2] not in ("p", "P") or len(token) == 2:
        return None
    try:
        return _property(token, flags & (IGNORE_CASE | ASCII))
    except UnknownPropertyError as error:
        hint = "such as \\p{L} for letters, \\p{Lu} for capitals, \\p{Script=Greek}"
        raise PatternSyntaxError(pattern, position, error.reason, hint) from None


@lru_cache(maxsize=256)
def _property(token: str, flags: int) -> Ranges:
    ranges = normalize(property_ranges(token[3:-1] if token[2] == "{" else token[2]))
    if flags & IGNORE_CASE:
        ranges = equal_case(ranges, flags & ASCII > 0)
    return complement(ranges) if token[1] == "P" else ranges


def class_ranges(pattern: str, position: int, token: str, flags: int) -> Ranges:
    """The set that a class in brackets denotes.

    Args:
        pattern: the whole, for errors.
        position: where in it the class stands.
        token: the class, brackets included.
        flags: those that hold there.

    Raises:
        PatternSyntaxError: it is not terminated, or contains what is no member of a class.
    """
    negated = token[1:2] == "^"
    content = token[1 + negated : -1]
    if not content or not is_terminated(token):
        hint = "write \\[ for the character itself; a ] that comes first in a class is a member of it"
        raise PatternSyntaxError(pattern, position, "unterminated character set", hint)
    sets: list[tuple[int, int]] = []  # what \w and its like bring: both cases of it, or neither, as re has it
    if "\\" in content:
        start = position + 1 + negated
        code_points = partial(escaped_ranges, flags=flags)
        pairs, sets = members(pattern, start, content, PYTHON_CLASS_ITEM, escaped_code_point, code_points)
        ranges = normalize(pairs)
    elif len(content) == 3 and content[1] == "-" and content[0] <= content[2] < "\ud800":
        ranges = ((ord(content[0]), ord(content[2])),)  # [a-z], the most frequent form
    else:
        pairs = [(ord(first), ord(last or first)) for first, last in PYTHON_CLASS_ITEM.findall(content)]
        for low, high in pairs:
            if high < low:
                place = pattern.index(f"{chr(low)}-{chr(high)}", position)
                bad_range(pattern, place, chr(low), chr(high))
        ranges = normalize(pairs)
    if flags & IGNORE_CASE:
        ranges = equal_case(ranges, flags & ASCII > 0)
    if sets:
        ranges = normalize((*ranges, *sets))
    return complement(ranges) if negated else ranges
