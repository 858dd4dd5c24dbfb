"""What a backslash means in the dialect of ECMA-262 under flag ``u``, and what a class contains.

Example: ``class_ranges("[^\\\\cJ-]", …)`` is the complement of the line feed and ``-``.

Where case does not count, a set is first put together, complements like ``\\P{Lu}`` included, and then
everything joins it that folds to the same as one of its members; only then ``[^…]`` takes the
complement.  So ``\\P{Lu}`` is everything that folds like something that is no capital: all letters.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial
from typing import NoReturn

from tokamata.errors import PatternSyntaxError, UnknownPropertyError
from tokamata.patterns.regex.bracket import is_terminated, members
from tokamata.patterns.regex.classes import Ranges, complement, equal_folded, named_class, normalize
from tokamata.patterns.regex.tokens import ECMA_CLASS_ITEM
from tokamata.patterns.unicode.ecma import ecma_property

__all__ = ["class_ranges", "escaped_code_point", "escaped_ranges"]

IGNORE_CASE = int(re.IGNORECASE)

_CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13}
_NAMES = {"d": "ad", "D": "aD", "w": "aw", "W": "aW", "s": "es", "S": "eS"}
_HINTS = {
    "A": "write ^ for the start of the text",
    "Z": "write $ for the end of the text",
    "z": "write $ for the end of the text",
    "a": "write \\x07",
    "e": "write \\x1b",
    "U": "write \\u{…} with hexadecimal digits",
    "x": "\\x needs 2 hexadecimal digits",
    "u": "write \\u with 4 hexadecimal digits, or \\u{…} with up to 10FFFF",
    "c": "\\c needs a letter from A to Z",
    "p": "write \\p{…}",
    "P": "write \\P{…}",
    "k": "write \\k<name>",
    "h": "write [0-9A-Fa-f] for a hexadecimal digit, [ \\t] for a blank",
}


def escaped_code_point(pattern: str, position: int, token: str) -> int:
    """The code point that an escape stands for; ``\\b`` is a backspace.

    Args:
        pattern: the whole, for errors.
        position: where in it the escape stands.
        token: the escape; it may be the two of a surrogate pair.

    Raises:
        PatternSyntaxError: it stands for none.
    """
    letter = token[1:2]
    if not letter.isalnum() and letter.isascii() and letter.isprintable() and letter:
        return ord(letter)
    if letter in _CONTROLS and letter:
        return _CONTROLS[letter]
    if letter == "b":
        return 8
    if letter == "0" and not pattern[position + 2 : position + 3].isdecimal():
        return 0
    if letter == "c" and len(token) == 3:
        return ord(token[2]) % 32
    if letter in "xu" and len(token) > 2:
        if len(token) == 12:
            return 0x10000 + (int(token[2:6], 16) - 0xD800) * 0x400 + int(token[8:], 16) - 0xDC00
        digits = token[2:].strip("{}").lstrip("0") or "0"
        if len(digits) <= 6 and int(digits, 16) <= 0x10FFFF:
            return int(digits, 16)
    return _bad_escape(pattern, position, token)


def _bad_escape(pattern: str, position: int, token: str) -> NoReturn:
    letter = token[1:2]
    if not letter:
        hint = "write \\\\ for a backslash"
        raise PatternSyntaxError(pattern, position, "bad escape (end of pattern)", hint)
    shown = letter if letter.isprintable() else f"U+{ord(letter):04X}"
    hint = _HINTS.get(letter, "")
    if letter.isdecimal() and letter.isascii():
        hint = "octal escapes are not allowed there; write \\x…"
    elif not letter.isascii() or not letter.isprintable():
        hint = "leave out the backslash for the character itself"
    elif not hint:
        hint = f"write {letter} for the letter itself"
    raise PatternSyntaxError(pattern, position, f"bad escape \\{shown} in ECMA-262 (flag u)", hint)


def escaped_ranges(pattern: str, position: int, token: str, flags: int) -> Ranges | None:
    """The set that ``\\d \\w \\s \\D \\W \\S`` or a property stands for, or ``None`` for other escapes."""
    name = _NAMES.get(token[1:])
    if name is not None:
        if name[-1] in "wW" and flags & IGNORE_CASE:
            name = "f" + name[-1]
        return named_class(name)
    if token[1:2] not in ("p", "P") or len(token) == 2:
        return None
    try:
        return _property(token, flags)
    except UnknownPropertyError as error:
        raise PatternSyntaxError(pattern, position, error.reason) from None


@lru_cache(maxsize=256)
def _property(token: str, flags: int) -> Ranges:
    ranges = normalize(ecma_property(token[3:-1]))
    if token[1] == "P":
        ranges = complement(ranges)
    return equal_folded(ranges) if flags & IGNORE_CASE else ranges


def class_ranges(pattern: str, position: int, token: str, flags: int) -> Ranges:
    """The set that a class in brackets denotes; ``[]`` is empty, ``[^]`` everything.

    Args:
        pattern: the whole, for errors.
        position: where in it the class stands.
        token: the class, brackets included.
        flags: those that hold there.

    Raises:
        PatternSyntaxError: it is not terminated, or contains what is no member of a class.
    """
    if len(token) < 2 or not is_terminated(token):
        hint = "write \\[ for the character itself"
        raise PatternSyntaxError(pattern, position, "unterminated character set", hint)
    negated = token[1] == "^"
    start = position + 1 + negated
    content = token[1 + negated : -1]
    code_points = partial(escaped_ranges, flags=flags)
    pairs, sets = members(pattern, start, content, ECMA_CLASS_ITEM, escaped_code_point, code_points)
    ranges = normalize([*pairs, *sets])
    if flags & IGNORE_CASE:
        ranges = equal_folded(ranges)
    return complement(ranges) if negated else ranges
