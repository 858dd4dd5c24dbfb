"""The Python dialect: the syntax of ``re`` in Python 3.11, with ``\\p{…}`` and ``\\P{…}`` added.

Python's own ``re`` is the judge in the tests: what it rejects is rejected here.  So flags for the
whole pattern stand at its start, and ``a*+`` and ``(?>a)`` are known, and refused: they forbid a
search to go back, which is not about the language.

Example: of the tokens ``(``, ``\\w``, ``|``, ``[0-9]``, ``)`` and ``*?`` the first goes to :func:`_open`, the
others to :func:`_escape`, :func:`.read_bar`, :func:`.read_class`, :func:`_end` and :func:`_quantifier`.
"""

from __future__ import annotations

import re
from typing import NoReturn

from tokamata.errors import PatternSyntaxError, UnsupportedPatternError
from tokamata.patterns.regex import syntax
from tokamata.patterns.regex.builder import Builder
from tokamata.patterns.regex.classes import Ranges, letter_cases, named_class
from tokamata.patterns.regex.dialect import Dialect
from tokamata.patterns.regex.handlers import (
    QUANTIFIERS,
    Bounds,
    Handler,
    bounds_of,
    opens_plain_group,
    read_bar,
    read_caret,
    read_class,
    refuse_backreference,
)
from tokamata.patterns.regex.python_escapes import class_ranges, escaped_code_point, escaped_ranges
from tokamata.patterns.regex.python_groups import NOT_THE_LANGUAGE, TYPE_FLAGS, parse_flags, refuse_group
from tokamata.patterns.regex.tokens import MAY_BE_VERBOSE, PYTHON, PYTHON_ESCAPES, PYTHON_VERBOSE

__all__ = ["DIALECT"]

IGNORE_CASE, MULTILINE, DOT_ALL = int(re.IGNORECASE), int(re.MULTILINE), int(re.DOTALL)
EXTENDED, ASCII, UNICODE = int(re.VERBOSE), int(re.ASCII), int(re.UNICODE)

_SET_LETTERS = frozenset("dwsDWS")


def _letter_cases(point: int, flags: int) -> Ranges:
    return letter_cases(point, flags & ASCII > 0)


def _space(builder: Builder, token: str, position: int) -> None:
    """White space and comments, which mean nothing under flag ``x``."""
    if not builder.flags & EXTENDED:
        builder.literal(token, position)


def _dot(builder: Builder, token: str, position: int) -> None:
    name = "any" if builder.flags & DOT_ALL else "."
    builder.code_points(named_class(name), position, name)


def _dollar(builder: Builder, token: str, position: int) -> None:
    builder.anchor(syntax.LINE_END if builder.flags & MULTILINE else syntax.LAST_LINE_END, position)


def _escape(builder: Builder, token: str, position: int) -> None:
    letter = token[1:2]
    if letter in _SET_LETTERS:
        name = "a" + letter if builder.flags & ASCII else letter
        builder.code_points(named_class(name), position, name)
    elif letter and not (letter.isascii() and letter.isalnum()):
        builder.literal(letter, position)
    elif letter == "A" or letter == "Z":
        builder.anchor(syntax.TEXT_START if letter == "A" else syntax.TEXT_END, position)
    elif letter == "b" or letter == "B":
        builder.word_boundary(letter == "B", "aw" if builder.flags & ASCII else "w", position)
    elif letter and letter in "pP" and len(token) > 2:
        flags = builder.flags & (ASCII | IGNORE_CASE)
        ranges = escaped_ranges(builder.pattern, position, token, flags)
        assert ranges is not None, "a property is a set"
        builder.code_points(ranges, position, f"{token}{flags}")
    elif letter and letter in "123456789" and len(token) < 4:
        _backreference(builder, token, position)
    else:
        builder.code_point(escaped_code_point(builder.pattern, position, token), position)


def _backreference(builder: Builder, token: str, position: int) -> NoReturn:
    number = int(token[1:])
    if number > builder.group_count:
        hint = f"there are {builder.group_count} groups before it"
        raise PatternSyntaxError(builder.pattern, position + 1, f"invalid group reference {number}", hint)
    if number in builder.open_groups():
        raise PatternSyntaxError(builder.pattern, position, "cannot refer to an open group")
    refuse_backreference(builder.pattern, position, token)


def _quantifier(builder: Builder, token: str, position: int) -> None:
    bounds = QUANTIFIERS.get(token)
    if bounds is None:
        if token == "{":
            builder.literal(token, position)  # what does not look like a quantifier is none
            return
        bounds = _bounds(builder.pattern, token, position)
    builder.repeat(token, bounds, position)
    if len(token) > 1 and token[-1] == "+":
        reason = f"possessive quantifier {token}: {NOT_THE_LANGUAGE}"
        hint = f"without the last + it admits more texts; write {token[:-1]} if that is what you mean"
        raise UnsupportedPatternError(builder.pattern, position, reason, hint)


def _bounds(pattern: str, token: str, position: int) -> Bounds:
    """The bounds of a quantifier that is lazy, possessive, or in braces."""
    if token[0] != "{":
        return QUANTIFIERS[token[0]]
    low, comma, high = token[1 : token.index("}")].partition(",")
    for digits in (low, high):
        if len(digits.lstrip("0")) > 10 or int(digits or 0) >= 0xFFFFFFFF:
            raise PatternSyntaxError(pattern, position, "the repetition number is too large")
    return bounds_of(pattern, position, low, comma, high)


def _open(builder: Builder, token: str, position: int) -> None:
    if opens_plain_group(builder, token, position):
        return
    if token[2:3] == "#":
        backslashes = len(token[:-1]) - len(token[:-1].rstrip("\\"))
        if token[-1] != ")" or backslashes % 2:
            raise PatternSyntaxError(builder.pattern, position, "missing ), unterminated comment")
    elif token[2:3] == "P" and token[-1] == ">":
        name = token[4:-1]
        if not name.isidentifier():
            reason = f"bad character in group name {name[:40]!r}"
            raise PatternSyntaxError(builder.pattern, position + 4, reason)
        builder.refuse_unknown_extension(token, name, position)
        builder.open_named(name, position, position + 4)
    else:
        _flags(builder, token, position)


def _flags(builder: Builder, token: str, position: int) -> None:
    """``(?i:``, or ``(?i)``, which is no group; or something that is none of both."""
    if token[-1] not in ":)" or token[2] not in "aiLmsux-":
        refuse_group(builder.pattern, position, builder.names, builder.open_groups())
    on, off, whole = parse_flags(builder.pattern, position, token)
    if not whole:
        kept = builder.flags & ~TYPE_FLAGS if on & TYPE_FLAGS else builder.flags
        builder.open(position, (kept | on) & ~off)
        return
    if builder.stack or builder.options or builder.items:
        hint = "write (?i:…) around the part that the flag is for"
        reason = "global flags not at the start of the expression"
        raise PatternSyntaxError(builder.pattern, position, reason, hint)
    builder.flags |= on
    if builder.flags & ASCII and builder.flags & UNICODE:
        raise PatternSyntaxError(builder.pattern, position, "ASCII and UNICODE flags are incompatible")


def _end(builder: Builder, token: str, position: int) -> None:
    builder.close(position)


_HANDLERS: dict[str, Handler] = {
    "\\": _escape,
    "[": read_class,
    "(": _open,
    ")": _end,
    "{": _quantifier,
    ".": _dot,
    "*": _quantifier,
    "+": _quantifier,
    "?": _quantifier,
    "|": read_bar,
    "^": read_caret,
    "$": _dollar,
    **dict.fromkeys("# \t\n\r\f\v", _space),
}

DIALECT = Dialect(
    name="python",
    flags=IGNORE_CASE | MULTILINE | DOT_ALL | EXTENDED | ASCII | UNICODE,
    ignore_case=IGNORE_CASE,
    tokens=PYTHON,
    verbose=EXTENDED,
    verbose_tokens=PYTHON_VERBOSE,
    may_be_verbose=MAY_BE_VERBOSE,
    handlers=_HANDLERS,
    class_ranges=class_ranges,
    class_flags=IGNORE_CASE | ASCII,
    letter_cases=_letter_cases,
    escapes=PYTHON_ESCAPES,
    code_point=escaped_code_point,
    line_ends=((10, 10),),
    searches=False,
    non_boundary_in_empty_text=False,
    forgets_groups=False,
)
