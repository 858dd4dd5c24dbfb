"""Cutting a pattern into tokens with regular expressions, in bulk.

Problem: a parser in Python that looks at one code point at a time takes 0.5 µs for each.  These
expressions take runs of ordinary characters, whole classes and whole escapes at once.

Example: ``PLAIN.findall(r"(ab|[0-9]\\d)*?")`` is ``["(", "ab", "|", "[0-9]", "\\\\d", ")", "*?"]``.

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

__all__ = ["CLASS_ITEM", "MAY_BE_VERBOSE", "PLAIN", "VERBOSE"]

# What may follow a backslash.  Decimal digits outside a class: three octal digits, or a group number.
_HEXADECIMAL = r"x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}"
_BRACED = r"N\{[^{}]*\}|[pP](?:\{[^{}]*\}|[A-Za-z])"
_ESCAPE = rf"\\(?:{_HEXADECIMAL}|{_BRACED}|0[0-7]{{0,2}}|[1-7][0-7]{{2}}|[1-9][0-9]?|[\s\S])?"
_ESCAPE_IN_CLASS = rf"\\(?:{_HEXADECIMAL}|{_BRACED}|[0-7]{{1,3}}|[\s\S])?"

# A class ends at the first "]" that is not escaped and not its first member.
_CLASS = r"\[\^?\]?[^\]\\]*(?:\\[\s\S][^\]\\]*)*\]|\[[\s\S]*"
_QUANTIFIER = r"[*+?][?+]?|\{(?:[0-9]+(?:,[0-9]*)?|,[0-9]*)\}[?+]?"
_COMMENT = r"\(\?#[^)\\]*(?:\\[\s\S][^)\\]*)*\)|\(\?#[\s\S]*"
_GROUP = rf"{_COMMENT}|\(\?:|\(\?P<\w+>|\(\?[A-Za-z-]*[:)]|\(\?"
_REST = rf"{_ESCAPE}|{_CLASS}|{_QUANTIFIER}|{_GROUP}|[\s\S]"

# A run leaves its last character to the quantifier that follows it, if one does.
PLAIN = re.compile(rf"[^\\\[(){{.*+?|^$]+(?![*+?{{]|\(\?#)|{_REST}")
VERBOSE = re.compile(
    rf"[^\\\[(){{.*+?|^$# \t\n\r\f\v]+(?![*+?{{# \t\n\r\f\v]|\(\?#)"
    rf"|[ \t\n\r\f\v]+|#[^\\\n]*(?:\\[\s\S][^\\\n]*)*\n?|{_REST}"
)
MAY_BE_VERBOSE = re.compile(r"\(\?[aiLmsu]*x")

# Members of a class, the text between its brackets: (first, last) of a range, or (member, "").
CLASS_ITEM = re.compile(rf"({_ESCAPE_IN_CLASS}|[\s\S])(?:-({_ESCAPE_IN_CLASS}|[\s\S]))?")
