"""Comments, fences and prose around values."""

from __future__ import annotations

import re

from tokamata.repair.costs import Rewrite
from tokamata.repair.dialects.modes import TEXT

__all__ = ["SURROUNDINGS"]

_LONGEST_COMMENT = 2000  # bytes of a comment that is dropped as one
_BEFORE_COMMENT = rb"(?<!:[/#])"
_IN_TEXT = (TEXT,)
_AFTER_BLANK = rb"(?:#|//)(?:(?<=\s#)|(?<=\s//))"


def _without_comment(match: re.Match[bytes]) -> bytes | None:
    """Nothing, if the comment ends and is not longer than any comment is."""
    return b"" if match[1] and len(match[0]) <= _LONGEST_COMMENT else None


SURROUNDINGS = (
    Rewrite(
        "drop a comment",
        b"[/#]" + _BEFORE_COMMENT + rb"(?:(?<=#)|/)[^\n\r]*([\n\r]?)",
        _without_comment,
        27,
        _IN_TEXT,
    ),
    Rewrite(
        "comma for a comment", _AFTER_BLANK + rb"[^\n\r]{0,300}\n(?=\s*[\"'\w\[{])", b",\n", 350, _IN_TEXT
    ),
    # One that holds no beginning of another: this may be in a string before it.
    Rewrite(
        "drop a comment", rb"/\*[^*/]*(?:\*+[^*/]+|/(?!\*)[^*/]*)*(\*+/)", _without_comment, 45, _IN_TEXT
    ),
    Rewrite("drop a comment", rb"/\*[^*]{0,2000}\Z", b"", 300, _IN_TEXT),
    Rewrite(
        "drop prose before",
        rb"\A[^{\[\"'(]+[\n:]\s*(?=[A-Za-z_][\w.]*\(\s*[A-Za-z_]\w*\s*=[^=])",
        b"",
        300,
        _IN_TEXT,
    ),
    Rewrite("drop a comment", rb"#[^\n{}\[\],\"]{0,200}(?=[}\],])", b"", 300, _IN_TEXT),
    Rewrite("drop a comment", rb"<!--(?s:.*?)(-->)", _without_comment, 45, _IN_TEXT),
    # It is tried on the last bytes alone: the lookahead takes one step.
    Rewrite(
        "drop a last comment",
        rb"[/#](?<=[\s\]}][/#])(?:(?<=#)|/)(?!(?s:.){%d})[^\n]*\Z" % (_LONGEST_COMMENT + 1),
        b"",
        500,
        _IN_TEXT,
    ),
    Rewrite("drop prose before", rb'\A[^{\["]+(?="[^"\n]*"\s*:)', b"", 700, _IN_TEXT),
    Rewrite("drop prose before", rb"\A[^{\[\"'\n]+:\s*\n(?=\s*['\"\w][^\n]*:)", b"", 300, _IN_TEXT),
    Rewrite(
        "drop a citation",
        rb"\[\d{1,3}\](?:(?<=[A-Za-z,.;)]\s\[\d\])|(?<=\n\[\d\])|(?<=[A-Za-z,.;)]\s\[\d\d\])|(?<=\n\[\d\d\]))"
        rb"(?=[,.;:)]+\s|\s+[A-Za-z&(])",
        b"",
        400,
        _IN_TEXT,
    ),
    # Bytes that are no text: of no character, of half of one, of a surrogate.
    Rewrite(
        "drop a byte",
        rb"[\xc0\xc1\xf5-\xff]|(?<![\x80-\xff])[\x80-\xbf]|[\xc2-\xf4](?![\x80-\xbf])|\xed[\xa0-\xbf][\x80-\xbf]",
        b"",
        300,
    ),
    Rewrite(
        "drop a character",
        rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}",
        b"",
        5000,
    ),
    Rewrite("drop prose after", rb"(?<=[}\]])[^}\]{\[\"]+\Z", b"", 400, _IN_TEXT),
    Rewrite("drop a fence", rb"[{\[]\s*```[\w-]*\s*(?=[{\[])", b"", 300, _IN_TEXT),
    Rewrite("drop a fence", rb"```\s*[}\]](?=\s*\Z)", b"", 300, _IN_TEXT),
    Rewrite("drop a fence", rb"```[\w-]*[ \t]*\n?", b"", 30, _IN_TEXT),
)
