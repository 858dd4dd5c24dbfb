"""The costs of edits that are used unless others are given: those of mistakes that models make in JSON.

``benchmarks/repair/fitting.py`` fits costs to the training half of its texts, by counting how often each edit
undoes a mistake and how often it could have been made.  Here are

- *fitted* costs, where no row of the training texts loses a value by them: those of most named edits, of
  typos, and of some single bytes.  They are scaled by 0.41 to stand beside the others.
- costs *held by hand*, tuned on the same half.  A removal has few places and an insertion has one at every
  byte, so fitted costs make it cheaper to remove a quote than to insert the one that is missing, and join
  ``2015 2021`` rather than to write the comma.  They bring back fewer values: 93 % of the training texts, and
  98 % as the costs are here.  What is missing at the end of a text is no measure of a mistake, so costs of
  prepending, appending and resuming are by hand too; and so are those of mistakes that the texts hardly have.
  A doubt about a single quote is by hand, since these costs repair Python's constructor calls too, where
  such quotes are right.

``benchmarks/results/repair_costs.md`` has each edit with its counts, both costs, and what either brings back.

Problem.  The cheapest repair by single bytes is often not what was meant.  All of ``{'a': 'b', 'c': 'd'}``
but its first and last quote may be the name of a member; then a value is missing.  A comma that is lost
between two strings, or a quote in front of a bracket, has a cheap repair in a string that is never closed.
How.  Edits depend on what stands around them.  A *rewrite* undoes a whole mistake where it looks like one,
at little cost: a string in other quotes, a name without quotes, a quote in the midst of words.  A *doubt*
makes it dear to keep a byte that looks like the mark of another dialect, so that it is not read as a text.

Cost.  Patterns take time in proportion to the text, since none reads on over the same bytes from many places.
What reads on until a mark (a quote, the end of a comment) either contains nothing that it begins with, or
takes all that it has read; then a function of the match says whether that is what was looked for.
"""

from __future__ import annotations

import re

from tokamata.repair.costs import Doubt, EditCosts, Rewrite

__all__ = ["DEFAULT_COSTS"]

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DIGITS = "0123456789"
_BLANKS = " \t\r\n"
_PRINTABLE = "".join(map(chr, range(0x20, 0x7F)))
_LONGEST = 2000


def _beginning(quotes: bytes, width: int) -> bytes:
    """Quotes of so many bytes where a string may begin; first the quotes, since ``re`` finds these fast."""
    any_bytes = b"[\\s\\S]" * width
    before = (
        rb"(?:(?<=[\[{,:]%(any)b)|(?<=[\[{,:] %(any)b)|(?<=\s\s%(any)b)|(?<=\n%(any)b)|(?<![\s\S]%(any)b))"
    )
    return quotes + before % {b"any": any_bytes}


# What follows the end of a string, a name or another value.
_AFTER = rb"(?=\s*(?:[,:}\]]|\Z))"
_APOSTROPHE = rb"(?<=\w)'(?=\w)"
_OTHER_BLANKS = "|".join("\u00a0\u2002\u2003\u2009\u200b\u202f\u3000\ufeff").encode()
_LEFT, _RIGHT = rb"\xe2\x80[\x9c-\x9e]", rb"\xe2\x80[\x9c\x9d]"  # “, ” and „; ” and “
_NO_QUOTE = "(?:(?!“|”|„)[^\\\\\n])".encode()

_ESCAPES = {b'"': b'\\"', b"\n": b"\\n", b"\r": b"\\r", b"\t": b"\\t"}


def _in_double_quotes(match: re.Match[bytes]) -> bytes:
    """A string in other quotes, as one of JSON."""

    def written(part: re.Match[bytes]) -> bytes:
        escaped = part.group(1)
        if escaped is None:
            return _ESCAPES[part.group()]
        return escaped if escaped == b"'" else part.group()

    return b'"' + re.sub(rb'\\(.)|["\n\r\t]', written, match.group(1)) + b'"'


_BEFORE_COMMENT = rb"(?:(?<=[\s,{\[\]}][/#])|(?<![\s\S][/#]))"


def _without_comment(match: re.Match[bytes]) -> bytes | None:
    """Nothing, if the comment ends and is not longer than any comment is."""
    return b"" if match[1] and len(match[0]) <= _LONGEST else None


_DIALECTS = (
    Rewrite(
        "single quotes",
        _beginning(b"'", 1) + rb"((?:[^'\\\n]|\\.|" + _APOSTROPHE + rb")*)'" + _AFTER,
        _in_double_quotes,
        1,
    ),
    Rewrite(
        "typographic quotes",
        _beginning(_LEFT, 3) + rb"((?:" + _NO_QUOTE + rb"|\\.)*)" + _RIGHT + _AFTER,
        _in_double_quotes,
        1,
    ),
    # A comma or a colon beside them is lost.
    Rewrite(
        "single quotes",
        b"'" + rb"(?<=[\[{,:\s\"'\w\]}]')((?:[^'\\\n]|" + _APOSTROPHE + rb")+)'(?=\s*[\"'\[{\d])",
        _in_double_quotes,
        767,
    ),
    Rewrite(
        "single quotes",
        b"'" + rb"(?<=[\"'\w\]}]\s')((?:[^'\\\n]|" + _APOSTROPHE + rb")+)'" + _AFTER,
        _in_double_quotes,
        10,
    ),
    Rewrite("quote a name", rb"(?<=[{,\s])[A-Za-z_$][\w$-]*(?=\s*:)", rb'"\g<0>"', 29),
    Rewrite("quote a name", rb"(?<=[{,\s])[A-Za-z_$][\w$-]*(?=\s+[\"'\[{\d])", rb'"\g<0>"', 600),
    Rewrite("Python's True", rb"\b(?:True|TRUE)\b", b"true", 95),
    Rewrite("Python's False", rb"\b(?:False|FALSE)\b", b"false", 15),
    Rewrite("Python's None", rb"\b(?:None|NULL|Null|nil)\b", b"null", 175),
    Rewrite("no number", rb"\b(?:NaN|Infinity|undefined)\b", b"null", 1000),
    Rewrite("escaped apostrophe", rb"\\'", b"'", 300),
    Rewrite("join strings", rb'"\s*\+\s*"', b"", 1000),
    Rewrite("drop an ellipsis", rb"(?:,|(?<!\s))\s*\.\.\.\s*(?=[,\]}])", b"", 83),
    Rewrite("drop an ellipsis", rb"(?<=[\[{])\s*\.\.\.\s*,", b"", 800),
    Rewrite(
        "typographic blank", "|".join("\u00a0\u2002\u2003\u2009\u200b\u202f\u3000\ufeff").encode(), b" ", 84
    ),
    Rewrite("single quote", rb"'", b'"', 2370),
    Rewrite("typographic quote", _LEFT, b'"', 2292),
)

_STRINGS = (
    # Neither what stands before it nor what follows it is structure; or the quote after it ends the string.
    Rewrite(
        "escape an inner quote",
        rb'"(?:(?<=[^\s\[{,:"]")(?!\s*(?:[,:}\]"]|\Z))|(?<=[^\s\[{,:"] ")(?=[^\s,:}\]"])'
        rb'|(?<=\w")(?="\s*[,:}\]]))',
        rb"\\\g<0>",
        700,
    ),
    Rewrite("quote before the last brackets", rb'(?<=[^\s"\]}\[{,:])(\s*[\]}][\]}\s]*)\Z', rb'"\1', 600),
    Rewrite("escape a line break", rb"\n", rb"\\n", 1791),
    Rewrite("escape a carriage return", rb"\r", rb"\\r", 1500),
    Rewrite("escape a tab", rb"\t", rb"\\t", 1500),
    Rewrite("escape a form feed", rb"\x0c", rb"\\f", 1500),
    Rewrite("escape a backspace", rb"\x08", rb"\\b", 1500),
    Rewrite("drop half an escape", rb"\\(?:u[0-9a-fA-F]{0,3})?\Z", b"", 30),
    Rewrite("escape a backslash", rb"\\", rb"\\\\", 1099),
)

_STRUCTURE = (
    Rewrite("drop a trailing comma", rb",(?=\s*[}\]])", b"", 1),
    Rewrite("drop a last comma", rb",\s*\Z", b"", 8),
    Rewrite("drop a doubled comma", rb",(?=\s*,)", b"", 3),
    # A closing bracket is lost between a line break and a comma.
    Rewrite("close before a comma", rb"\n(?<=[^\s,\[{:]\n)[ \t]*(?=,)", rb"\g<0>}", 150),
    Rewrite("close before a comma", rb"\n(?<=[^\s,\[{:]\n)[ \t]*(?=,)", rb"\g<0>]", 150),
    Rewrite("null for a missing value", rb":(?=\s*(?:[,}]|\Z))", b":null", 1200),
    *(
        Rewrite("drop a doubled bracket", re.escape(2 * one), one, cost)
        for one, cost in ((b"[", 211), (b"{", 14), (b"]", 150), (b"}", 781))
    ),
)

_TYPES = (
    Rewrite("quote a word", rb"(?<=[:\[,\s])[A-Za-z_][\w-]*(?=\s*(?:[,}\]]|\Z))", rb'"\g<0>"', 1313),
    Rewrite("digit after a point", rb"\.(?<=\d\.)(?=\s*[,}\]])", b".0", 900),
    Rewrite("digit before a point", rb"\.(?<![\w.]\.)(?=\d)", b"0.", 900),
    Rewrite("digits of an exponent", rb"e(?<=\de)[+-]?(?=\s*[,}\]])", rb"\g<0>0", 900),
    Rewrite("separator of digits", rb"_(?<=\d_)(?=\d)", b"", 500),
    Rewrite("number as a string", rb"(?<=[:\[,\s])-?\d[\d.eE+-]*(?=\s*[,}\]])", rb'"\g<0>"', 2073),
    Rewrite("string as a number", rb'"(-?\d+(?:\.\d+)?)"', rb"\1", 751),
    Rewrite("string as a literal", rb'"(true|false|null)"', rb"\1", 2500),
)

_AROUND = (
    Rewrite("drop a comment", b"[/#]" + _BEFORE_COMMENT + rb"(?:(?<=#)|/)[^\n]*(\n?)", _without_comment, 27),
    Rewrite("drop a comment", b"/" + _BEFORE_COMMENT + rb"\*(?s:.*?)(\*/|\Z)", _without_comment, 45),
    # Of the last bytes alone: the lookahead takes one step.
    Rewrite(
        "drop a last comment",
        rb"[/#](?<=[\s\]}][/#])(?:(?<=#)|/)(?!(?s:.){%d})[^\n]*\Z" % (_LONGEST + 1),
        b"",
        2500,
    ),
    Rewrite("drop prose before", rb"\A[^{\[]+(?=[{\[])", b"", 2500),
    Rewrite("drop prose before", rb'\A[^{\["]+(?="[^"\n]*"\s*:)', b"", 2500),
    Rewrite("drop prose after", rb"(?<=[}\]])[^}\]]+\Z", b"", 2500),
)

# Closing what is open is cheap at the end, since texts are cut off there.  A quote before all of a text is
# dear: it would make a string of it.
DEFAULT_COSTS = EditCosts(
    other=7000,
    insert={
        _LETTERS + _DIGITS: 5981,
        _BLANKS: 3000,
        '"': 2924,
        ",": 2000,
        ":": 2200,
        "{[": 2600,
        "}]": 2000,
        "\\": 3500,
    },
    prepend={'"': 30_000, "'": 30_000, "{[(": 2500},
    append={
        _LETTERS + _DIGITS: 1500,
        _BLANKS: 1500,
        "}])": 200,
        '"': 700,
        ",:": 1000,
        "{[(": 1500,
    },
    # How much is missing does not matter.
    resume={_PRINTABLE: 40},
    remove={
        _LETTERS + _DIGITS: 5000,
        _BLANKS: 3020,
        '"': 3500,
        ",": 2533,
        ":": 3000,
        "{[(": 3500,
        "}])": 3000,
        "\x00": 1000,
        "`": 1052,
    },
    typo=135,
    firm=4000,
    rewrites=(*_DIALECTS, *_STRINGS, *_STRUCTURE, *_TYPES, *_AROUND),
    doubts=(
        Doubt("a single quote", b"'(?:" + _beginning(b"", 1) + rb"(?=\S)|" + _AFTER + b")", 800),
        Doubt("a typographic quote", _LEFT, 800),
        Doubt("a comment", rb"[/#](?<=[\s,{\[][/#])(?:(?<=#)|[/*])", 1500),
    ),
)
