r"""Ranges in classes of ECMA-262, as texts: ``a-z``, ``\x00-\x1f``, ``\u0600-\u06ff``.

Problem: a range whose ends are not in order is an error, and to compare two numbers takes a state for each
value of the first.  They are compared as far as it costs a few hundred:

==========================  ==============================================================================
both characters             of ASCII exactly, others if they are not in the same block (``_BLOCKS``)
both ``\x41``               exactly
both ``\u0041``             if they differ in the first two digits, or in the third behind a zero
both ``\u{1F600}``          of five digits: in the first two, or in the third behind ``1``
spelled in different ways   where one way has greater numbers than the other: ``\0-ÿ``, ``\x00-\uffff``
==========================  ==============================================================================

The first end is never the escape of a low surrogate, since with one of a high surrogate before it it would
be half a code point.

A range is ``first - second``; that the first is not greater is said in the form of a tree: of its digits, and
behind each leaf what is greater.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import tokamata._core as _core
from tokamata.patterns.regex import to_expression
from tokamata.patterns.regex.classes import Ranges

__all__ = ["hyphen_range", "point_range"]

LAST = 0x10FFFF
HYPHEN, CARET = ord("-"), ord("^")
_ESCAPED = sorted(map(ord, "^$\\.*+?()[]{}|/-"))
_MEANINGFUL = (ord("\\"), ord("]"))
_DIGITS = tuple(
    _core.code_points([(ord(c), ord(c)) for c in {digit, digit.upper()}]) for digit in "0123456789abcdef"
)
_HEX = "[0-9A-Fa-f]"

# Where blocks of code points beyond ASCII begin: sizes by which ranges of alphabets are distinguished.  Each
# costs an alternative wherever a class may begin; of half as many more, walks took twice as long.
_BLOCKS = [
    *range(0x80, 0xC0, 16),
    *range(0xC0, 0x100),
    *range(0x100, 0x380, 64),
    *range(0x380, 0x600, 16),
    *range(0x600, 0x1000, 64),
    *range(0x1000, 0x3000, 256),
    *range(0x3000, 0x3100, 16),
    *range(0x3100, 0x3400, 256),
]
_BLOCKS += [0x3400, *range(0x4000, 0xF000, 0x1000), *range(0xF000, 0x10000, 256)]
_BLOCKS += [*range(0x10000, 0x1F000, 0x1000), *range(0x1F000, 0x20000, 64), *range(0x20000, LAST, 0x10000)]
_BLOCKS += [LAST + 1]


def point_range() -> _core.Expression:
    """A range whose first end is no hyphen, unless with a backslash."""
    controls, ascii_points = (
        r"\\(?:[bfnrtv0]|c[A-Za-z])",
        r"[^\\\]\^\-\x80-\U0010ffff]|\\[\^$\\.*+?()\[\]{}|/\-]",
    )
    braced = rf"\\u\{{(?:[1-9A-Fa-f]{_HEX}{{4}}|10{_HEX}{{4}})\}}"
    wide = rf"\\u(?:0[1-9A-Fa-f]{_HEX}{{2}}|[1-9A-Fa-f]{_HEX}{{3}})"
    beyond = rf"[^\x00-\x7f]|\\u00[89A-Fa-f]{_HEX}|{wide}|\\x[89A-Fa-f]{_HEX}|{braced}"
    unlike = [
        rf"(?:{controls}|\\x[01]{_HEX}|\\u00[01]{_HEX})-(?:[^\\\]\x00-\x1f]|\\[\^$\\.*+?()\[\]{{}}|/\-])",
        rf"(?:{controls}|{ascii_points}|\\x[0-7]{_HEX}|\\u00[0-7]{_HEX})-(?:{beyond})",
        rf"\\x{_HEX}{{2}}-(?:[^\x00-\xff]|{wide}|{braced})",
        rf"(?:[^\\\]\^\-\U00010000-\U0010ffff]|\\u(?:[0-9A-CEFa-cef]{_HEX}{{3}}|[Dd][0-9AaBb]{_HEX}{{2}}))-(?:[\U00010000-\U0010ffff]|{braced})",
    ]
    return _core.union(
        [
            *(_from_ascii(value, _spelled(value)) for value in range(0x80)),
            _from_blocks(),
            _ordered(r"\x", "", 2, None),
            _ordered(r"\u", "", 4, 0),
            _ordered(r"\u{", "}", 5, 1),
            to_expression("|".join(unlike)),
        ]
    )


def hyphen_range() -> _core.Expression:
    """A range whose first end is a hyphen."""
    return _from_ascii(HYPHEN, _core.literal(b"-"))


# ---- characters -------------------------------------------------------------------------------


def _spelled(value: int) -> _core.Expression:
    """A character of ASCII, with a backslash where it may have one; hyphen and caret must."""
    plain = [] if value in (*_MEANINGFUL, HYPHEN, CARET) else [_core.literal(bytes([value]))]
    escaped = [_core.literal(b"\\" + bytes([value]))] if value in _ESCAPED else []
    return _core.union([*plain, *escaped])


def _from_ascii(value: int, spelled: _core.Expression) -> _core.Expression:
    """From a character of ASCII to one that is not less."""
    escaped = [_core.literal(b"\\" + bytes([other])) for other in _ESCAPED if other >= value]
    return _core.concat([spelled, _core.literal(b"-"), _core.union([_characters(value), *escaped])])


def _from_blocks() -> _core.Expression:
    """From a character of a block to one behind it."""
    return _core.union(
        [
            _core.concat(
                [
                    _core.code_points([(start, after - 1)]),
                    _core.literal(b"-"),
                    _core.code_points([(after, LAST)]),
                ]
            )
            for start, after in pairwise(_BLOCKS)
            if after <= LAST
        ]
    )


def _characters(least: int) -> _core.Expression:
    """Characters that stand for themselves behind a hyphen, from some one on."""
    starts = [least, *(value + 1 for value in _MEANINGFUL if value >= least)]
    ends = [*(value - 1 for value in _MEANINGFUL if value >= least), LAST]
    ranges: Ranges = tuple(pair for pair in zip(starts, ends, strict=True) if pair[0] <= pair[1])
    return _core.code_points(ranges)


# ---- digits -----------------------------------------------------------------------------------


def _ordered(before: str, behind: str, length: int, deeper: int | None) -> _core.Expression:
    """Two numbers of so many digits, between such texts, the second greater in its first two digits.

    Args:
        before: what precedes either number.
        behind: what follows either number.
        length: how many digits each number has; numbers of two digits may be equal.
        deeper: the first digit after which the third digit matters.
    """
    opening, closing = _core.literal(before.encode()), _core.literal(behind.encode())
    middle = _core.concat([closing, _core.literal(b"-"), opening])

    def rest(digits: tuple[int, ...]) -> _core.Expression:
        """What follows these digits of the first number."""
        if len(digits) < (3 if digits[:1] == (deeper,) else 2):
            later = range(12) if length == 4 and digits == (13,) else range(16)  # no low surrogates
            return _core.union([_core.concat([_DIGITS[d], rest((*digits, d))]) for d in later])
        return _core.concat([_any_digits(length - len(digits)), middle, _greater(digits, length)])

    return _core.concat([opening, rest(()), closing])


@cache
def _any_digits(count: int) -> _core.Expression:
    return to_expression(f"{_HEX}{{{count}}}")


@cache
def _greater(digits: tuple[int, ...], length: int) -> _core.Expression:
    """Numbers of so many digits whose first are greater than these; or equal, if these are all."""
    if not digits:
        return _core.epsilon() if length == 0 else _core.empty()
    first, *others = digits
    same = _core.concat([_DIGITS[first], _greater(tuple(others), length - 1)])
    if first == 15:
        return same
    return _core.union([_core.concat([_above(first), _any_digits(length - 1)]), same])


@cache
def _above(digit: int) -> _core.Expression:
    return _core.union(list(_DIGITS[digit + 1 :]))
