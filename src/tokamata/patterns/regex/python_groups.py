"""What may follow ``(?`` in the Python dialect: inline flags, and everything that is refused there by name.

Messages and places follow Python's ``re`` where that rejects the pattern too.

Example: ``(?>a)`` is refused as what is not about the language, ``(?P=name)`` as what no regular
language can say, ``(?Q)`` as what ``re`` does not know either.
"""

from __future__ import annotations

import re
from typing import NoReturn

from tokamata.errors import NotRegularError, PatternSyntaxError, UnsupportedPatternError

__all__ = ["NOT_THE_LANGUAGE", "TYPE_FLAGS", "parse_flags", "refuse_group"]

_FLAG_BITS = {
    "i": int(re.IGNORECASE),
    "L": int(re.LOCALE),
    "m": int(re.MULTILINE),
    "s": int(re.DOTALL),
    "x": int(re.VERBOSE),
    "a": int(re.ASCII),
    "u": int(re.UNICODE),
}
TYPE_FLAGS = int(re.ASCII | re.LOCALE | re.UNICODE)

# Atomic groups and possessive quantifiers forbid a search to go back.
NOT_THE_LANGUAGE = "it says how to search, not which texts are meant"
_NO_MEMORY = "no regular language can say this"


def parse_flags(pattern: str, position: int, token: str) -> tuple[int, int, bool]:
    """What ``(?i)``, ``(?i:``, ``(?i-s:`` switch on and off, and whether it is for the whole pattern.

    Raises:
        PatternSyntaxError: wrong, or wrongly combined, flags.
    """
    body, end = token[2:-1], token[-1]
    added, minus, removed = body.partition("-")
    on = off = 0
    for i, letter in enumerate(added):
        on |= _flag(pattern, position + 2 + i, letter, "missing -, : or )")
        if letter == "L":
            reason = "bad inline flags: cannot use 'L' flag with a str pattern"
            raise PatternSyntaxError(pattern, position + 3 + i, reason)
        if (on & TYPE_FLAGS) & ((on & TYPE_FLAGS) - 1):
            reason = "bad inline flags: flags 'a', 'u' and 'L' are incompatible"
            raise PatternSyntaxError(pattern, position + 3 + i, reason)
    if not minus:
        return on, 0, end == ")"
    place = position + 3 + len(added)
    if not removed:
        raise PatternSyntaxError(pattern, place, "missing flag")
    for i, letter in enumerate(removed):
        off |= _flag(pattern, place + i, letter, "missing :" if i else "missing flag")
        if off & TYPE_FLAGS:
            reason = "bad inline flags: cannot turn off flags 'a', 'u' and 'L'"
            raise PatternSyntaxError(pattern, place + i + 1, reason)
    if end == ")":
        hint = "to switch flags off, write (?-i:…) around the part that it is for"
        raise PatternSyntaxError(pattern, position + len(token) - 1, "missing :", hint)
    if on & off:
        reason = "bad inline flags: flag turned on and off"
        raise PatternSyntaxError(pattern, position + len(token) - 1, reason)
    return on, off, False


def _flag(pattern: str, position: int, letter: str, missing: str) -> int:
    flag = _FLAG_BITS.get(letter)
    if flag is None:
        reason = "unknown flag" if letter.isalpha() else missing
        raise PatternSyntaxError(pattern, position, reason, "the flags are i, m, s, x, a and u")
    return flag


def refuse_group(pattern: str, position: int, names: dict[str, int], open_groups: set[int]) -> NoReturn:
    """Raise for the group at ``position``, which is none of those that the parser knows.

    Args:
        pattern: the whole.
        position: where its parenthesis stands.
        names: the named groups up to here, with their numbers.
        open_groups: the numbers of those that are not closed yet.
    """
    rest = pattern[position + 2 : position + 80]
    if rest.startswith(">"):
        hint = "an ordinary group (?:…) admits more texts; say what is to be excluded with a lookahead (?!…)"
        raise UnsupportedPatternError(pattern, position, f"atomic group (?>…): {NOT_THE_LANGUAGE}", hint)
    if rest.startswith("("):
        hint = "write the two cases as alternatives: (?:…|…)"
        raise NotRegularError(pattern, position, f"conditional (?(…)…): {_NO_MEMORY}", hint)
    if re.match(r"R\)|[0-9]+\)|[+-][0-9]+\)|&\w+\)|P>\w+\)", rest):
        hint = "write out as many levels as are needed, or use a grammar"
        raise NotRegularError(pattern, position, f"recursion (?{rest[:1]}…): {_NO_MEMORY}", hint)
    if rest.startswith("P"):
        _refuse_named(pattern, position, names, open_groups)
    if not rest:
        raise PatternSyntaxError(pattern, len(pattern), "unexpected end of pattern")
    flags = re.compile("[aiLmsux-]+").match(pattern, position + 2)
    if flags:
        token = pattern[position : flags.end()] + ":"  # complain about the flags before what follows them
        if not token.endswith("-:"):
            parse_flags(pattern, position, token)
        after = pattern[flags.end() : flags.end() + 1]
        missing = "missing -, : or )"
        if "-" in token:
            missing = "missing flag" if token[-2] == "-" else "missing :"
        reason = "unknown flag" if after.isalpha() else missing
        raise PatternSyntaxError(pattern, flags.end(), reason, "the flags are i, m, s, x, a and u")
    if rest.startswith("<"):
        if len(rest) == 1:
            raise PatternSyntaxError(pattern, len(pattern), "unexpected end of pattern")
        reason = f"unknown extension ?{rest[:2]}"
        raise PatternSyntaxError(pattern, position + 1, reason, "a named group is written (?P<name>…)")
    reason = f"unknown extension ?{rest[0]}"
    raise PatternSyntaxError(pattern, position + 1, reason, "write \\( for a parenthesis")


def _refuse_named(pattern: str, position: int, names: dict[str, int], open_groups: set[int]) -> NoReturn:
    """Raise for ``(?P…``."""
    kind = pattern[position + 3 : position + 4]
    start = position + 4
    if kind not in ("<", "="):
        if not kind:
            raise PatternSyntaxError(pattern, len(pattern), "unexpected end of pattern")
        raise PatternSyntaxError(pattern, position + 1, f"unknown extension ?P{kind}")
    closing = ">" if kind == "<" else ")"
    end = pattern.find(closing, start)
    if end < 0:
        reason = f"missing {closing}, unterminated name" if start < len(pattern) else "missing group name"
        raise PatternSyntaxError(pattern, start, reason)
    name = pattern[start:end]
    if not name:
        raise PatternSyntaxError(pattern, start, "missing group name")
    if not name.isidentifier():
        raise PatternSyntaxError(pattern, start, f"bad character in group name {name[:40]!r}")
    if name not in names:
        raise PatternSyntaxError(pattern, start, f"unknown group name {name[:40]!r}")
    if names[name] in open_groups:
        raise PatternSyntaxError(pattern, start, "cannot refer to an open group")
    hint = "write the group's pattern again; that both match the same text cannot be expressed"
    raise NotRegularError(pattern, position, f"backreference (?P={name[:40]}): {_NO_MEMORY}", hint)
