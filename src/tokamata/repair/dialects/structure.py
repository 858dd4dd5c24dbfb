"""Brackets, commas and colons that are lost, spare or of another script."""

from __future__ import annotations

import re

from tokamata.repair.costs import Rewrite
from tokamata.repair.dialects.lookarounds import SPACE
from tokamata.repair.dialects.modes import TEXT

__all__ = ["STRUCTURE"]

_IN_TEXT = (TEXT,)

_PUNCTUATION = (
    Rewrite("drop a trailing comma", b"," + rb"(?=" + SPACE + rb"[}\])])", b"", 1, _IN_TEXT),
    Rewrite("drop a trailing comma", rb",(?=\s*\\[nrt](?:\s|\\[nrt]){0,200}[}\]])", b"", 2, _IN_TEXT),
    Rewrite("drop a trailing comma", "，(?=\\s*(?:］|｝|[}\\])]))".encode(), b"", 3, _IN_TEXT),
    Rewrite("drop a leading comma", rb",(?<=[{\[],)|,(?<=\*/,)|,(?<=\s,)", b"", 200, _IN_TEXT),
    Rewrite("drop a last comma", rb",(?=\s*(?:```\s*)?\Z)", b"", 8, _IN_TEXT),
    Rewrite("drop a doubled comma", rb",(?=\s*,)", b"", 3, _IN_TEXT),
    Rewrite("drop a doubled colon", rb":(?=\s*:)", b"", 100, _IN_TEXT),
    Rewrite("another separator", rb";", b",", 300, _IN_TEXT),
    Rewrite("drop a last semicolon", rb";(?=\s*(?:[}\])]|\Z))", b"", 20, _IN_TEXT),
    Rewrite("another colon", rb"=>|:=|=(?!=)|->", b":", 300, _IN_TEXT),
    # A closing bracket is lost between a line break and a comma.
    Rewrite("close before a comma", rb"\n(?<=[^\s,\[{:]\n)[ \t]*(?=,)", rb"\g<0>}", 150, _IN_TEXT),
    Rewrite("close before a comma", rb"\n(?<=[^\s,\[{:]\n)[ \t]*(?=,)", rb"\g<0>]", 150, _IN_TEXT),
    Rewrite("null for a missing value", rb":(?=\s*(?:[,}]|\Z))", b":null", 900, _IN_TEXT),
    Rewrite("text for a missing value", rb":(?=\s*(?:[,}]|\Z))", b':""', 1000, _IN_TEXT),
    *(
        Rewrite("drop a doubled bracket", re.escape(2 * one), one, cost, _IN_TEXT)
        for one, cost in ((b"[", 211), (b"{", 14), (b"]", 150), (b"}", 781))
    ),
    # A list whose first element has a name; and what follows a list is another one.
    Rewrite("another bracket", rb"\[(?=\s*(?:\"[^\"\n]*\"|'[^'\n]*')\s*:)", b"{", 600, _IN_TEXT),
    Rewrite("bracket before an element", rb"\],(?=\s*[\"'\d])", b"],[", 2500, _IN_TEXT),
    Rewrite("another bracket", rb"\}", b"]", 2400, _IN_TEXT),
    Rewrite("another bracket", rb"\]", b"}", 2400, _IN_TEXT),
    Rewrite(
        "comma between members", rb"(?<=[\w\]}\"'])(\s+)(?=[\"'][\w $.-]+[\"']\s*:)", rb",\1", 500, _IN_TEXT
    ),
    Rewrite("comma between members", rb"(?<=[\w\]}])(\s+)(?=[A-Za-z_$][\w$]*\s*:)", rb",\1", 500, _IN_TEXT),
    Rewrite("comma between values", rb"[}\]](?=\s*[{\[])", rb"\g<0>,", 500, _IN_TEXT),
    Rewrite("comma between numbers", rb"(?<=\d)[ \t]+(?=-?\d)", b", ", 450, _IN_TEXT),
    Rewrite("line break as a comma", rb"\n(?<=[\w\"'\]}]\n)(?=\s*[\w\"'\[{-])", b",", 350, _IN_TEXT),
    # A list of YAML within brackets.
    Rewrite("bullet as an element", rb":(?=[ \t]*\n[ \t]*[-*] )", b": [", 300, _IN_TEXT),
    Rewrite("bullet as an element", rb"\n[ \t]*[-*][ \t]+(?=\S)", b",", 30, _IN_TEXT),
    Rewrite("bullet as an element", rb"\n[ \t]*[-*][ \t]+(?=\S)", b" ", 40, _IN_TEXT),
    Rewrite("drop a name without a value", rb",\s*[\"']?-?\Z", b"", 20, _IN_TEXT),
    Rewrite("drop a sign", rb"-(?<=[:\[,\s]-)\s*\Z", b"", 5, _IN_TEXT),
    Rewrite("drop a sign", rb"-\Z", b"", 20, _IN_TEXT),
    Rewrite("drop an ellipsis", rb",\s*\.\.\.\s*\Z", b"", 83, _IN_TEXT),
    Rewrite(
        "drop an ellipsis",
        rb"(?:,|(?<!\s))" + SPACE + rb"(?:\.\.\.|\xe2\x80\xa6)" + SPACE + rb"(?=[,\]}])",
        b"",
        83,
        _IN_TEXT,
    ),
    Rewrite(
        "drop an ellipsis",
        rb"(?<=[\[{])" + SPACE + rb"(?:\.\.\.|\xe2\x80\xa6)" + SPACE + rb",?",
        b"",
        100,
        _IN_TEXT,
    ),
    # A bracket that closes an object before its last members.
    Rewrite("drop a closing bracket", rb"\}(?=[\s}]*,\s*\"[^\"\n]*\"\s*:?)", b"", 1700, _IN_TEXT),
    Rewrite("drop an ellipsis", rb",\s*\.\.\.\s*(?=,)", b"", 50, _IN_TEXT),
)

_WIDE = (
    *(
        Rewrite("full-width punctuation", wide.encode(), narrow, 5, _IN_TEXT)
        for wide, narrow in (
            ("：", b":"),
            ("，", b","),
            ("、", b","),
            ("；", b","),
            ("｛", b"{"),
            ("｝", b"}"),
            ("［", b"["),
            ("］", b"]"),
            ("【", b"["),
            ("】", b"]"),
        )
    ),
    Rewrite(
        "typographic blank",
        rb"[\x0b\x0c]|"
        + "|".join(
            "\u0085\u2028\u2029\u00a0\u1680\u180e\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u202f\u205f\u3000\ufeff"
        ).encode(),
        b" ",
        20,
        _IN_TEXT,
    ),
)


def _elements(match: re.Match[bytes]) -> bytes | None:
    """A text with commas, or else semicolons, as a list of its parts."""
    return _parts(match[1])


def _parts(content: bytes) -> bytes | None:
    parts = [part.strip() for part in content.split(b"," if b"," in content else b";")]
    return b"[" + b", ".join(b'"' + part + b'"' for part in parts) + b"]" if all(parts) else None


_MARK = rb"(?:[-*+]|\xe2\x80[\xa2\x93]|(\d{1,3})[.)])[ \t]+"


def _lines(match: re.Match[bytes]) -> bytes | None:
    """A text of several lines, or of bullets, as a list of these."""
    return _listed(match[0][1:-1])


def _of_single_quotes(match: re.Match[bytes]) -> bytes | None:
    """The same of a text in single quotes, or of one with commas."""
    content = re.sub(rb"\\(.)", lambda one: b"'" if one[1] == b"'" else one[0], match[0][1:-1])
    return _listed(content) or (_parts(content) if b"\\" not in content and b'"' not in content else None)


def _listed(content: bytes) -> bytes | None:
    lines: list[bytes] = []
    line = b""
    for one in re.finditer(rb"\\?.", content, re.DOTALL):
        if one[0] in (b"\n", b"\\n"):
            lines.append(line.strip())
            line = b""
        elif one[0] not in (b"\r", b"\\r"):
            line += b'\\"' if one[0] == b'"' else one[0]
    lines = [one for one in (*lines, line.strip()) if one]
    marks = [re.match(_MARK, one) for one in lines]
    numbers = [int(mark[1]) for mark in marks if mark is not None and mark[1]]
    if len(lines) < 2 and (numbers or not any(marks)):
        return None
    if all(mark is None or not mark[1] for mark in marks) or numbers == [*range(1, len(lines) + 1)]:
        lines = [one[mark.end() :] if mark else one for one, mark in zip(lines, marks, strict=True)]
    return b"[" + b", ".join(b'"' + one + b'"' for one in lines if one) + b"]"


def _words(match: re.Match[bytes]) -> bytes | None:
    """Words with commas or semicolons between them as a list of texts."""
    parts = [part.strip() for part in re.split("[,;]|，|、".encode(), match[1])]
    return b"[" + b", ".join(b'"' + part + b'"' for part in parts) + b"]" if all(parts) else None


_LIST_END = rb"(?=\s*(?:,\s*[\"']?[\w $.-]{1,60}[\"']?\s*:|[}\n]|\Z))"
_WORD = rb"[A-Za-z\x80-\xff][^\n\"'{}\[\],:;\xef\xe3]{0,80}"
_VALUE_END = rb"(?=\s*(?:[,}\n]|\Z))"
_SINGLE = (
    Rewrite(
        "single value as a list", rb'(?<=[:\s])"(?:[^"\\\n]|\\.)*"' + _VALUE_END, rb"[\g<0>]", 700, _IN_TEXT
    ),
    Rewrite("single value as a list", rb"(?<=[:\s])-?\d+(?:\.\d+)?" + _VALUE_END, rb"[\g<0>]", 700, _IN_TEXT),
    Rewrite(
        "list without brackets",
        rb"(?<=[:\x9a])[ \t]*("
        + _WORD
        + "(?:(?:[,;]|，|、)[ \t]*".encode()
        + _WORD
        + rb"){1,50})"
        + _LIST_END,
        _words,
        1000,
        _IN_TEXT,
    ),
    # With quotes in it that end nothing.
    Rewrite(
        "text as a list",
        rb'(?<=[:\s])"(?=' + _MARK + rb'|[^"\\\n]*\\[nr])'
        rb'(?:[^"\\\n]|\\.)*(?:"(?!\s*[,:}\]])(?:[^"\\\n]|\\.)*){0,8}"' + _VALUE_END,
        _lines,
        600,
        _IN_TEXT,
    ),
    Rewrite(
        "text as a list",
        rb"(?<=[:\s])'(?=" + _MARK + rb"|[^'\\\n]*(?:\\[nr]|[,;]))(?:[^'\\\n]|\\.)*'" + _VALUE_END,
        _of_single_quotes,
        650,
        _IN_TEXT,
    ),
    # Dearer than to escape so many line breaks.
    Rewrite(
        "text as a list", rb'(?<=[:\s])"(?:[^"\\\n]*\n){1,8}[^"\\\n]*"' + _VALUE_END, _lines, 4500, _IN_TEXT
    ),
    Rewrite(
        "text as a list", rb'(?<=[:\s])"([^"\\\n]*[,;][^"\\\n]*)"' + _VALUE_END, _elements, 650, _IN_TEXT
    ),
    Rewrite(
        "list as a single value", rb'\[\s*("(?:[^"\\\n]|\\.)*"|-?\d+(?:\.\d+)?)\s*\]', rb"\1", 800, _IN_TEXT
    ),
)

STRUCTURE = (*_PUNCTUATION, *_WIDE, *_SINGLE)
