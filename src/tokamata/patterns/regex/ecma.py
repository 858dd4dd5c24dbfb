"""The dialect of ECMA-262 (JavaScript) under flag ``u``, as the ``pattern`` of JSON Schema uses it.

A text is accepted if the pattern is found anywhere in it: ``b`` accepts ``abc``, ``^b$`` does not.

Example: ``^\\u{1F600}\\p{Script=Greek}[^]$`` is a smiling face, a Greek letter and any code point at all.

Under flag ``u`` hardly anything stands for itself without being asked to: a letter is escaped only where that
means something.  Two things are let through that ECMA-262 refuses there, since schemas are full of them, and
no one means anything else by them:

- A backslash before any ASCII punctuation, or a space, stands for that character: ``\\-``, ``\\_``.
- A lone ``]``, ``}`` or ``{`` stands for itself, as it does without flag ``u`` (Annex B): ``^\\{\\{.+}}$``.
  It is refused where it may be a quantifier that went wrong (``a{,3}``, ``a{2``), and beside ``\\p{…}`` and
  ``\\u{…}``, which mean something else without the flag: which of the two was meant is then anyone's guess.

Source: ECMA-262, 2024, section 22.2 and annex B.1.2.  Checked against V8 (Node.js) in the tests.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NoReturn

from tokamata.errors import PatternSyntaxError
from tokamata.patterns.regex.builder import Builder
from tokamata.patterns.regex.classes import ECMA_LINE_ENDS, Ranges, folded_cases, named_class
from tokamata.patterns.regex.dialect import Dialect
from tokamata.patterns.regex.ecma_escapes import class_ranges, escaped_code_point, escaped_ranges
from tokamata.patterns.regex.handlers import (
    QUANTIFIERS,
    Handler,
    bounds_of,
    opens_plain_group,
    read_bar,
    read_caret,
    read_class,
    refuse_backreference,
)
from tokamata.patterns.regex.syntax import LINE_END, TEXT_END
from tokamata.patterns.regex.tokens import ECMA, ECMA_ESCAPES

__all__ = ["DIALECT"]

IGNORE_CASE, MULTILINE, DOT_ALL = int(re.IGNORECASE), int(re.MULTILINE), int(re.DOTALL)

_IN_QUANTIFIER = frozenset("0123456789,")  # what may follow the brace of one
_OF_FLAG_U = ("\\p{", "\\P{", "\\u{")
_NAME = re.compile(r"\(\?<([^<>()]*)>")
_ESCAPE_IN_NAME = re.compile(r"\\u(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{4}))")
_ELSEWHERE = {
    "(?P<": "a named group is written (?<name>…) there",
    "(?P=": "ECMA-262 knows no (?P…)",
    "(?#": "ECMA-262 knows no comments; leave it out",
    "(?>": "ECMA-262 knows no atomic groups; an ordinary one (?:…) admits more texts",
}


def _letter_cases(point: int, flags: int) -> Ranges:
    return folded_cases(point)


def _dot(builder: Builder, token: str, position: int) -> None:
    name = "any" if builder.flags & DOT_ALL else "e."
    builder.code_points(named_class(name), position, name)


def _dollar(builder: Builder, token: str, position: int) -> None:
    builder.anchor(LINE_END if builder.flags & MULTILINE else TEXT_END, position)


def _escape(builder: Builder, token: str, position: int) -> None:
    letter = token[1:2]
    if letter == "b" or letter == "B":
        words = "fw" if builder.flags & IGNORE_CASE else "aw"
        builder.word_boundary(letter == "B", words, position)
    elif letter == "k" or (letter and letter in "123456789"):
        _backreference(builder, token, position)
    else:
        flags = builder.flags & IGNORE_CASE
        ranges = escaped_ranges(builder.pattern, position, token, flags)
        if ranges is not None:
            builder.code_points(ranges, position, f"ecma{flags}{token}")
        else:
            builder.code_point(escaped_code_point(builder.pattern, position, token), position)


def _backreference(builder: Builder, token: str, position: int) -> NoReturn:
    """Refuses a reference to a group, which may stand after it too."""
    pattern = builder.pattern
    groups = [found for found in ECMA.findall(pattern) if found == "(" or _NAME.fullmatch(found)]
    if token[1] == "k":
        names = {_group_name(found) for found in groups if found != "("}
        if token[3:-1] not in names:
            raise PatternSyntaxError(pattern, position, f"unknown group name {token[3:-1][:40]!r}")
    elif len(token) > 8 or int(token[1:]) > len(groups):
        hint = f"there are {len(groups)} groups"
        raise PatternSyntaxError(pattern, position + 1, f"invalid group reference {token[1:9]}", hint)
    refuse_backreference(pattern, position, token[:40])


def _group_name(token: str) -> str:
    """The name in ``(?<name>``, its escapes resolved; ``""`` if it is no name."""

    def character(escape: re.Match[str]) -> str:
        point = int(escape.group(1) or escape.group(2), 16)
        return chr(point) if point <= 0x10FFFF else "?"

    name = _ESCAPE_IN_NAME.sub(character, token[3:-1])
    # Names may contain $, and two joiners after the first character, which no identifier of Python may.
    plain = name.replace("$", "_").replace("\u200c", "_").replace("\u200d", "_")
    return name if plain.isidentifier() and name[0] not in "\u200c\u200d" else ""


def _quantifier(builder: Builder, token: str, position: int) -> None:
    pattern = builder.pattern
    bounds = QUANTIFIERS.get(token[0])
    if bounds is None:
        if len(token) == 1:
            if pattern[position + 1 : position + 2] not in _IN_QUANTIFIER:
                _lone(builder, token, position)
                return
            hint = "write \\{ for the character itself"
            raise PatternSyntaxError(pattern, position, "incomplete quantifier", hint)
        low, comma, high = token[1 : token.index("}")].partition(",")
        if max(len(low), len(high)) > 4000:
            raise PatternSyntaxError(pattern, position, "the repetition number is too large")
        bounds = bounds_of(pattern, position, low, comma, high)
    builder.repeat(token, bounds, position)


@lru_cache(maxsize=8)  # called for every such character of a pattern
def _only_under_u(pattern: str) -> str:
    """An escape that means something else without the flag; ``""`` where there is none."""
    return next((token for token in ECMA.findall(pattern) if token.startswith(_OF_FLAG_U)), "")


def _lone(builder: Builder, token: str, position: int) -> None:
    """A bracket or brace that closes or opens nothing, and stands for itself."""
    other = _only_under_u(builder.pattern)
    if other:
        hint = f"write \\{token} for the character itself; without flag u, {other[:20]} means something else"
        raise PatternSyntaxError(builder.pattern, position, f"lone {token}", hint)
    builder.code_point(ord(token), position)


def _open(builder: Builder, token: str, position: int) -> None:
    if opens_plain_group(builder, token, position):
        return
    if token[-1] == ">" and token[2] == "<":
        name = _group_name(token)
        if not name:
            raise PatternSyntaxError(builder.pattern, position + 3, f"bad group name {token[3:-1][:40]!r}")
        builder.open_named(name, position, position + 3)
    else:
        builder.refuse_unknown_extension(token, token[4:-1], position)
        _refuse_group(builder.pattern, position)


def _refuse_group(pattern: str, position: int) -> NoReturn:
    if len(pattern) == position + 2:
        raise PatternSyntaxError(pattern, len(pattern), "unexpected end of pattern")
    if pattern.startswith("(?<", position):
        raise PatternSyntaxError(pattern, position + 3, "missing >, unterminated name")
    shown = pattern[position : position + 4]
    for start, hint in _ELSEWHERE.items():
        if shown.startswith(start):
            raise PatternSyntaxError(pattern, position, f"unknown group {start}…)", hint)
    if re.compile(r"[a-zA-Z-]+[:)]").match(pattern, position + 2):
        hint = "flags hold for a whole pattern there; write both cases out: [aA]"
        raise PatternSyntaxError(pattern, position, f"inline flags {shown}…)", hint)
    raise PatternSyntaxError(pattern, position, f"unknown group {shown[:3]}…)", "write \\( for a parenthesis")


def _end(builder: Builder, token: str, position: int) -> None:
    if builder.close(position):
        builder.unrepeatable = builder.items[-1]


_HANDLERS: dict[str, Handler] = {
    "\\": _escape,
    "[": read_class,
    "]": _lone,
    "(": _open,
    ")": _end,
    "{": _quantifier,
    "}": _lone,
    ".": _dot,
    "*": _quantifier,
    "+": _quantifier,
    "?": _quantifier,
    "|": read_bar,
    "^": read_caret,
    "$": _dollar,
}

DIALECT = Dialect(
    name="ecma",
    flags=IGNORE_CASE | MULTILINE | DOT_ALL,
    ignore_case=IGNORE_CASE,
    tokens=ECMA,
    handlers=_HANDLERS,
    escapes=ECMA_ESCAPES,
    code_point=escaped_code_point,
    class_ranges=class_ranges,
    class_flags=IGNORE_CASE,
    letter_cases=_letter_cases,
    line_ends=ECMA_LINE_ENDS,
    searches=True,
    non_boundary_in_empty_text=True,
    forgets_groups=True,
)
