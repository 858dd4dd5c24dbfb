"""Names and texts without quotes."""

from __future__ import annotations

import json
import re

from tokamata.repair.costs import Rewrite
from tokamata.repair.dialects.modes import TEXT

__all__ = ["NAMES", "WORDS"]

_IN_TEXT = (TEXT,)


def _quoted(match: re.Match[bytes]) -> bytes:
    return json.dumps(match[0].decode("utf-8", "replace"), ensure_ascii=False).encode()


NAMES = (
    Rewrite(
        "quote a name",
        rb"(?<=[{,\s\x9b\x8c])[A-Za-z_$][\w$\x80-\xff.-]*(?=\s*(?::|\xef\xbc\x9a))|(?<=[{,\s])[\x80-\xff][\w$\x80-\xff.-]*(?=\s*:)",
        rb'"\g<0>"',
        29,
        _IN_TEXT,
    ),
    Rewrite(
        "quote a name",
        rb"(?<=[{,\s])[A-Za-z_$\x80-\xff][\w$\x80-\xff-]*(?=\s+(?:[\"'\[{\d]|-\d|\xe2\x80\x9c|true\b|false\b|null\b))",
        rb'"\g<0>":',
        600,
        _IN_TEXT,
    ),
    Rewrite(
        "quote a name",
        rb"(?<=[{,\n])[ \t]*([A-Za-z_$\x80-\xff][\w$\x80-\xff]*(?: [\w$\x80-\xff-]+)+)(?=\s*:)",
        rb'"\1"',
        60,
        _IN_TEXT,
    ),
    # In an object that has lost its bracket.
    Rewrite(
        "quote a name",
        rb"(?<![\s\S])[A-Za-z_$][\w$]*(?=\s*:\s*(?:[\"'\[{\d-]|true\b|false\b|null\b))",
        rb'"\g<0>"',
        29,
        _IN_TEXT,
    ),
    Rewrite("number as a name", rb"(?<=[{,\s])[-+]?[\d.][\w.+-]*(?=\s*:)", rb'"\g<0>"', 20, _IN_TEXT),
    Rewrite("number as a name", rb"(?<=[{,\s])[-+]?[\d.][\w.+-]*(?=\s+[\"'])", rb'"\g<0>":', 700, _IN_TEXT),
)

# Read before what looks far ahead, since they are seldom there.
_WORDS_OF_A_LIST = rb"[A-Za-z_*\x80-\xff\d][^\n\"{}\[\],:;]{0,300}[^\s\"{}\[\],:;](?=[ \t]*(?:[,}\]\n]|\Z))"
_WORDS_OF_A_VALUE = (
    rb"[A-Za-z_\x80-\xff\d/<][^\n\"{}\[\]]{0,300}[^\s\"{}\[\],]"
    rb"(?=[ \t]*(?:,[ \t]*\n|,\s*\"|[}\]\n]|\Z))"
)

WORDS = (
    Rewrite(
        "quote a word",
        rb"(?<=[:\[,\s])[A-Za-z_$@\x80-\xff][\w$@\x80-\xff.-]*(?=\s*(?:[,}\]]|\Z|\n))",
        rb'"\g<0>"',
        300,
        _IN_TEXT,
    ),
    Rewrite(
        "quote words",
        rb"(?:(?<=[:\[,\n])|(?<=[-*]\s))[ \t]{0,40}(?="
        + _WORDS_OF_A_LIST
        + rb")(?!(?:new )?[A-Za-z_][\w.]*\()"
        rb"(?![^\n]{0,300}(?:/\*|\s//))(?![\d.eE\s+-]{1,300}[\],})])"
        rb"(" + _WORDS_OF_A_LIST + rb")",
        rb'"\1"',
        500,
        _IN_TEXT,
    ),
    Rewrite(
        "quote words",
        rb"(?<=[:\[])[ \t]{0,40}(?=" + _WORDS_OF_A_VALUE + rb")(?!(?:new )?[A-Za-z_][\w.]*\()"
        rb"(?![^\n]{0,300}(?:/\*|\s//))(?![\d.eE\s+-]{1,300}[\],})])"
        rb"(" + _WORDS_OF_A_VALUE + rb")",
        rb'"\1"',
        2200,
        _IN_TEXT,
    ),
    Rewrite(
        "quote a word",
        rb"(?<=[:\[,\s])[A-Za-z_\x80-\xff][\w\x80-\xff. -]{0,60}(?=\s+[\"'][\w $.-]+[\"']\s*:)",
        rb'"\g<0>",',
        600,
        _IN_TEXT,
    ),
    Rewrite(
        "drop a word",
        rb"(?<=[,{\s])[A-Za-z_]+\s+(?=[\"'][\w $.-]+[\"']\s*:)",
        b"",
        900,
        _IN_TEXT,
    ),
    Rewrite("drop a word", rb"(?<=[\w\"'\]}])\s+[A-Za-z_]+(?=\s*[,}\]])", b"", 1250, _IN_TEXT),
    Rewrite(
        "quote an address",
        rb"(?<=[:\[,\s])(?:[a-z]{2,10}://|[A-Za-z]:\\|\.{0,2}/(?![/*]))[^\s,\"'{}\[\]]+(?=\s*(?:[,}\]\n]|\Z))",
        _quoted,
        200,
        _IN_TEXT,
    ),
)
