"""Values that programs print: tuples, sets, calls, dates and enumerations of Python, calls of JavaScript."""

from __future__ import annotations

import datetime
import json
import re
from typing import Any

from tokamata.repair.costs import Rewrite
from tokamata.repair.dialects.modes import TEXT

__all__ = ["CALLS"]

_TEXT = (TEXT,)
_LONGEST_ARGUMENTS = 200  # bytes, of a call that makes a moment


def _moment(match: re.Match[bytes]) -> bytes | None:
    """The ISO form of ``datetime``, ``date`` or ``time`` with numbers."""
    if len(match[2]) > _LONGEST_ARGUMENTS:
        return None
    numbers: list[Any] = [int(one) for one in re.findall(rb"\d+", match[2])]
    zone = datetime.timezone.utc if b"utc" in match[3].lower() else None
    try:
        if match[1] == b"date":
            made = datetime.date(*numbers).isoformat()
        elif match[1] == b"time":
            made = datetime.time(*numbers).isoformat()
        else:
            made = datetime.datetime(*numbers).replace(tzinfo=zone).isoformat()
    except (TypeError, ValueError, OverflowError):
        return None
    return json.dumps(made).encode()


def _moment_utc(match: re.Match[bytes]) -> bytes | None:
    """The same with a zone, as JSON Schema's date-time needs it."""
    made = _moment(match)
    return made[:-1] + b'Z"' if made is not None and match[1] == b"datetime" and not match[3] else None


def _name_of_pair(match: re.Match[bytes]) -> bytes:
    return b'"' + (match[1] or match[2] or b"") + b'":'


def _end_of_set(match: re.Match[bytes]) -> bytes | None:
    """A closing bracket, if there is no colon after the brace before it."""
    inner = match.string[match.string.rfind(b"{", max(match.start() - 300, 0), match.start()) : match.start()]
    return None if b":" in inner or b"}" in inner else b"]"


_MOMENT = rb"\b(?:datetime\.)?(datetime|date|time)\(((?:\s*\d+\s*,?)+)((?:,?\s*tzinfo=[\w.()]*)?)\s*\)"

CALLS = (
    Rewrite("tuple as a list", rb"\(", b"[", 170, _TEXT),
    Rewrite("tuple as a list", rb"\)", b"]", 170, _TEXT),
    Rewrite(
        "drop parentheses",
        rb"\((?=\s*(?:\"[^\"\n]*\"|'[^'\n]*'|[\w.+-]+)\s*\))",
        b"",
        10,
        _TEXT,
    ),
    # Pairs of names and values are a mapping.
    Rewrite("pairs as an object", rb"\[(?=\s*\(\s*['\"])", b"{", 200, _TEXT),
    Rewrite("pairs as an object", rb"\](?<=\)\])", b"}", 200, _TEXT),
    Rewrite(
        "pairs as an object", rb"\(\s*(?:'([^'\n\"\\]*)'|\"([^\n\"\\]*)\")\s*,", _name_of_pair, 200, _TEXT
    ),
    Rewrite("drop parentheses", rb"\((?<![\w]\()", b"", 300, _TEXT),
    Rewrite("drop parentheses", rb"\)", b"", 300, _TEXT),
    Rewrite(
        "set as a list",
        rb"\{(?=\s*(?:'[^'\n]*'|\"[^\"\n]*\"|[\w.+-]+)\s*[,}])",
        b"[",
        100,
        _TEXT,
    ),
    Rewrite("set as a list", rb"\{(?=\s*[(\[])", b"[", 150, _TEXT),
    Rewrite("set as a list", rb"(?<=[\w\"'\])])\s*\}", _end_of_set, 300, _TEXT),
    Rewrite("tuple as a name", rb"\(([^()\"'\n:]{1,80})\)(?=\s*:)", rb'"(\1)"', 60, _TEXT),
    Rewrite("empty set", rb"\b(?:set|frozenset)\(\)", b"[]", 20, _TEXT),
    Rewrite("drop a call", rb"\b[A-Za-z_$][\w.$]*\(", b"", 200, _TEXT),
    Rewrite("drop quotes around JSON", rb"['`](?=\s*[{\[])", b"", 300, _TEXT),
    Rewrite("drop quotes around JSON", rb"(?<=[}\]])['`]", b"", 300, _TEXT),
    Rewrite("drop a call", rb"\bnew [A-Za-z_$][\w.$]*\(", b"", 200, _TEXT),
    Rewrite("call as an object", rb"\b[A-Za-z_][\w.]*\((?=\s*[A-Za-z_]\w*\s*=[^=])", b"{", 300, _TEXT),
    Rewrite("call as an object", rb"\)", b"}", 300, _TEXT),
    Rewrite("name of an argument", rb"(?<=[(,\s])([A-Za-z_]\w*)\s*=(?!=)", rb'"\1":', 60, _TEXT),
    Rewrite("date and time", _MOMENT, _moment, 20, _TEXT),
    Rewrite("date and time", _MOMENT, _moment_utc, 40, _TEXT),
    Rewrite("member of an enumeration", rb"<[A-Za-z_][\w.]*: ([^<>\n]*)>", rb"\1", 20, _TEXT),
    Rewrite("member of an enumeration", rb"<[A-Za-z_][\w.]*\.(\w+): [^<>\n]*>", rb'"\1"', 100, _TEXT),
    Rewrite(
        "dotted name as a string",
        rb"(?<=[:\[,\s])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?=\s*[,}\])])",
        rb'"\g<0>"',
        900,
        _TEXT,
    ),
    Rewrite(
        "last part of a dotted name",
        rb"(?<=[:\[,\s])[A-Za-z_]\w*\.([A-Za-z_]\w*)(?=\s*[,}\])])",
        rb'"\1"',
        950,
        _TEXT,
    ),
)
