"""Cutting a pattern into tokens with regular expressions, in bulk.

Problem: a parser in Python that reads one code point at a time takes 0.5 µs for each.  These
expressions take runs of ordinary characters, whole classes and whole escapes at once.

Example: ``PYTHON.findall(r"(ab|[0-9]\\d)*?")`` is ``["(", "ab", "|", "[0-9]", "\\\\d", ")", "*?"]``.

Every pattern is a sequence of such tokens (the last alternative takes anything), so tokens
concatenate to the pattern, and the place of a token is the length of those before it.  What is
malformed becomes a token that the parser knows to be so: ``\\x4`` gives ``\\x``, an unterminated
class or comment extends to the end of the pattern.

Cost: linear.  Each alternative either is fixed in length, or stops at a character that no later
token of its kind can begin before (``\\N{\\N{`` would be quadratic if names could contain ``{``), or
extends to the end of the pattern at worst once.
"""

from __future__ import annotations

import re

__all__ = [
    "ECMA", "ECMA_CLASS_ITEM", "ECMA_ESCAPES", "MAY_BE_VERBOSE", "PYTHON", "PYTHON_CLASS_ITEM",
    "PYTHON_ESCAPES", "PYTHON_VERBOSE",
]  # fmt: skip

_ASSERTION = r"\(\?<?[=!]"

# Python.  What may follow a backslash; decimal digits outside a class: three octal digits, or a group number.
_HEXADECIMAL = r"x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}"
_BRACED = r"N\{[^{}]*\}|[pP](?:\{[^{}]*\}|[A-Za-z])"
_ESCAPE = rf"\\(?:{_HEXADECIMAL}|{_BRACED}|0[0-7]{{0,2}}|[1-7][0-7]{{2}}|[1-9][0-9]?|[\s\S])?"
_ESCAPE_IN_CLASS = rf"\\(?:{_HEXADECIMAL}|{_BRACED}|[0-7]{{1,3}}|[\s\S])?"

# A class ends at the first "]" that is not escaped and not its first member.
_CLASS = r"\[\^?\]?[^\]\\]*(?:\\[\s\S][^\]\\]*)*\]|\[[\s\S]*"
_QUANTIFIER = r"[*+?][?+]?|\{(?:[0-9]+(?:,[0-9]*)?|,[0-9]*)\}[?+]?"
_COMMENT = r"\(\?#[^)\\]*(?:\\[\s\S][^)\\]*)*\)|\(\?#[\s\S]*"
_GROUP = rf"{_COMMENT}|\(\?:|{_ASSERTION}|\(\?P<\w+>|\(\?[A-Za-z-]*[:)]|\(\?"
_REST = rf"{_ESCAPE}|{_CLASS}|{_QUANTIFIER}|{_GROUP}|[\s\S]"

# A run leaves its last character to the quantifier that follows it, if one does.
PYTHON = re.compile(rf"[^\\\[(){{.*+?|^$]+(?![*+?{{]|\(\?#)|{_REST}")
PYTHON_VERBOSE = re.compile(
    rf"[^\\\[(){{.*+?|^$# \t\n\r\f\v]+(?![*+?{{# \t\n\r\f\v]|\(\?#)"
    rf"|[ \t\n\r\f\v]+|#[^\\\n]*(?:\\[\s\S][^\\\n]*)*\n?|{_REST}"
)
MAY_BE_VERBOSE = re.compile(r"\(\?[aiLmsu]*x")

# Members of a class, the text between its brackets: (first, last) of a range, or (member, "").
PYTHON_CLASS_ITEM = re.compile(rf"({_ESCAPE_IN_CLASS}|[\s\S])(?:-({_ESCAPE_IN_CLASS}|[\s\S]))?")

# What stands for one code point wherever text is spelled out.
PYTHON_ESCAPES = re.compile(_ESCAPE_IN_CLASS)

# ECMA-262 with flag u.  A surrogate pair of two escapes is one token; a class ends at the first "]".
_ECMA_PAIR = r"u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}"
_ECMA_CODE = rf"{_ECMA_PAIR}|u\{{[0-9A-Fa-f]+\}}|u[0-9A-Fa-f]{{4}}|x[0-9A-Fa-f]{{2}}|c[A-Za-z]"
_ECMA_IN_CLASS = rf"\\(?:{_ECMA_CODE}|[pP]\{{[^{{}}]*\}}|[\s\S])?"
_ECMA_ESCAPE = rf"\\(?:{_ECMA_CODE}|[pP]\{{[^{{}}]*\}}|k<[^<>\\]*>|[1-9][0-9]*|[\s\S])?"
_ECMA_CLASS = r"\[[^\]\\]*(?:\\[\s\S][^\]\\]*)*\]|\[[\s\S]*"
_ECMA_QUANTIFIER = r"[*+?]\??|\{[0-9]+(?:,[0-9]*)?\}\??"
_ECMA_GROUP = rf"\(\?:|{_ASSERTION}|\(\?<[^<>()]*>|\(\?P<\w+>|\(\?"
ECMA = re.compile(
    rf"[^\\\[\](){{}}.*+?|^$]+(?![*+?{{])|{_ECMA_ESCAPE}|{_ECMA_CLASS}|{_ECMA_QUANTIFIER}|{_ECMA_GROUP}|[\s\S]"
)
ECMA_CLASS_ITEM = re.compile(rf"({_ECMA_IN_CLASS}|[\s\S])(?:-({_ECMA_IN_CLASS}|[\s\S]))?")
ECMA_ESCAPES = re.compile(_ECMA_IN_CLASS)
