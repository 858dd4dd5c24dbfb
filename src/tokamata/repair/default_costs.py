"""The costs of edits that are used unless others are given: those of mistakes that models make in JSON.

Problem.  The cheapest repair by single bytes is often not what was meant.  All of ``{'a': 'b', 'c': 'd'}``
but its first and last quote may be the name of a member; then a value is missing.  ``//`` begins a comment
between two members, and not in a string.
How.  Edits are a transducer (``core/repair/edit_model.hpp``).  Its *modes* say where an edit stands: outside of
strings, in a string of JSON, in one that another quote opened, in one that only a repair has opened, or in a
member that a repair makes up.  A *rewrite* undoes a whole mistake where it looks like one, at little cost, in
the modes where it can be one.  Dialects are groups of rewrites: quotes of other languages, numbers of other
languages, calls and literals of Python and JavaScript, JSON that was escaped.  What no pattern finds, since it
counts brackets or indentation, the finders find (:mod:`.outline`, :mod:`.lines`).

Costs are by hand.  A whole mistake that is seen for what it is costs 1 to 500; a mistake that something else
might explain 500 to 3,000; content that is dropped, made up or changed more than any spelling.  Closing what is
open is cheap at the end, since texts are cut off there.

Cost.  Patterns take time in proportion to the text, since none reads on over the same bytes from many places.
What reads on until a mark (the end of a comment) either contains nothing that it begins with, or takes all
that it has read; then a function of the match says whether that is what was looked for.
"""

from __future__ import annotations

import json
import re

from tokamata.repair.costs import Doubt, EditCosts, Finder, Mode, Rewrite
from tokamata.repair.dialects.calls import CALLS
from tokamata.repair.dialects.lines import lines
from tokamata.repair.dialects.modes import (
    BACK,
    BARE,
    ESCAPED,
    INVENTED,
    QUOTED,
    SINGLE,
    STRING,
    TEXT,
    TYPOGRAPHIC,
)
from tokamata.repair.dialects.numbers import NUMBERS
from tokamata.repair.dialects.outline import outline
from tokamata.repair.dialects.strings import AFTER, LATEX, STRINGS

__all__ = ["DEFAULT_COSTS"]

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DIGITS = "0123456789"
_BLANKS = " \t\r\n"
_PRINTABLE = "".join(map(chr, range(0x20, 0x7F)))
_LONGEST = 2000

# Bytes of what is missing: they cost alike, so that the estimate of the search is exact.
_MADE_UP = {_PRINTABLE: 40}
_CONTINUING = "".join(map(chr, range(0x80, 0xC0)))

_IN_TEXT = (TEXT,)

_SPACE = rb"(?:\s|/\*[^*]{0,500}\*/|//[^\n]{0,500}\n)*"  # with comments; each is read in one way alone

_BEFORE_COMMENT = rb"(?<!:[/#])"


def _without_comment(match: re.Match[bytes]) -> bytes | None:
    """Nothing, if the comment ends and is not longer than any comment is."""
    return b"" if match[1] and len(match[0]) <= _LONGEST else None


def _quoted(match: re.Match[bytes]) -> bytes:
    return json.dumps(match[0].decode("utf-8", "replace"), ensure_ascii=False).encode()


_LITERALS = (
    Rewrite("Python's True", rb"\b(?:True|TRUE)\b", b"true", 20, _IN_TEXT),
    Rewrite("Python's False", rb"\b(?:False|FALSE)\b", b"false", 20, _IN_TEXT),
    Rewrite("Python's None", rb"\b(?:None|none|NULL|Null|nil|undefined)\b", b"null", 20, _IN_TEXT),
    Rewrite("no number", rb"-?\b(?:NaN|Infinity|nan|inf)\b", b"null", 600, _IN_TEXT),
    Rewrite("unfinished literal", rb"(?<=[:\[,\s])[tT]ru?(?=\s*(?:[,}\]]|\Z))", b"true", 100, _IN_TEXT),
    Rewrite("unfinished literal", rb"(?<=[:\[,\s])[fF]al?s?(?=\s*(?:[,}\]]|\Z))", b"false", 100, _IN_TEXT),
    Rewrite("unfinished literal", rb"(?<=[:\[,\s])(?:nul?|Non?)(?=\s*(?:[,}\]]|\Z))", b"null", 100, _IN_TEXT),
    Rewrite("yes as a literal", rb"\b(?:[Yy]es|YES|[Oo]n|ON|[Yy])\b", b"true", 700, _IN_TEXT),
    Rewrite("no as a literal", rb"\b(?:[Nn]o|NO|[Oo]ff|OFF|[Nn])\b", b"false", 700, _IN_TEXT),
    Rewrite("number as a literal", rb"(?<=[:\[,\s])1(?=\s*(?:[,}\]]|\Z))", b"true", 1300, _IN_TEXT),
    Rewrite("number as a literal", rb"(?<=[:\[,\s])0(?=\s*(?:[,}\]]|\Z))", b"false", 1300, _IN_TEXT),
    Rewrite("string as a literal", rb'"(?:[Tt]rue|TRUE|[TtYy])"', b"true", 500, _IN_TEXT),
    Rewrite("string as a literal", rb'"(?:[Ff]alse|FALSE|[FfNn])"', b"false", 500, _IN_TEXT),
    Rewrite("string as a literal", rb'"(?:[Yy]es|[Oo]n|YES|ON|1)"', b"true", 900, _IN_TEXT),
    Rewrite("string as a literal", rb'"(?:[Nn]o|[Oo]ff|NO|OFF|0)"', b"false", 900, _IN_TEXT),
    Rewrite("string as null", rb'"(?:[Nn]ull|None|N/A|n/a|NULL)"', b"null", 500, _IN_TEXT),
    Rewrite("string as null", rb'(?<=[:\[,\s])""', b"null", 900, _IN_TEXT),
    Rewrite("literal as a string", rb"\b(?:[Tt]rue|[Ff]alse)\b", rb'"\g<0>"', 900, _IN_TEXT),
    Rewrite("ellipsis as null", rb"(?<=[:\[,\s])(?:\.\.\.|\xe2\x80\xa6)(?=\s*(?:[,}\]]|\Z))", b"null", 290, _IN_TEXT),
)

_NAMES = (
    Rewrite(
        "quote a name", rb"(?<=[{,\s\x9b\x8c])[A-Za-z_$][\w$\x80-\xff.-]*(?=\s*(?::|\xef\xbc\x9a))|(?<=[{,\s])[\x80-\xff][\w$\x80-\xff.-]*(?=\s*:)", rb'"\g<0>"', 29, _IN_TEXT
    ),
    Rewrite(
        "quote a name",
        rb"(?<=[{,\s])[A-Za-z_$\x80-\xff][\w$\x80-\xff-]*(?=\s+(?:[\"'\[{\d]|\xe2\x80\x9c))",
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
    Rewrite("number as a name", rb"(?<=[{,\s])[-+]?[\d.][\w.+-]*(?=\s*:)", rb'"\g<0>"', 20, _IN_TEXT),
    Rewrite("number as a name", rb"(?<=[{,\s])[-+]?[\d.][\w.+-]*(?=\s+[\"'])", rb'"\g<0>":', 700, _IN_TEXT),
)

_STRUCTURE = (
    Rewrite("drop a trailing comma", b"," + rb"(?=" + _SPACE + rb"[}\])])", b"", 1, _IN_TEXT),
    Rewrite("drop a leading comma", rb",(?<=[{\[],)|,(?<=\*/,)|,(?<=\s,)", b"", 200, _IN_TEXT),
    Rewrite("drop a last comma", rb",(?=\s*(?:```\s*)?\Z)", b"", 8, _IN_TEXT),
    Rewrite("drop a doubled comma", rb",(?=\s*,)", b"", 3, _IN_TEXT),
    Rewrite("drop a doubled colon", rb":(?=\s*:)", b"", 100, _IN_TEXT),
    Rewrite("another separator", rb";", b",", 300, _IN_TEXT),
    Rewrite("drop a last semicolon", rb";\s*\Z", b"", 20, _IN_TEXT),
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
    Rewrite("another bracket", rb"\}", b"]", 2400, _IN_TEXT),
    Rewrite("another bracket", rb"\]", b"}", 2400, _IN_TEXT),
    Rewrite("comma between members", rb"(?<=[\w\]}\"'])(\s+)(?=[\"'][\w $.-]+[\"']\s*:)", rb",\1", 500, _IN_TEXT),
    Rewrite("comma between members", rb"(?<=[\w\]}])(\s+)(?=[A-Za-z_$][\w$]*\s*:)", rb",\1", 500, _IN_TEXT),
    Rewrite("comma between numbers", rb"(?<=\d)[ \t]+(?=-?\d)", b", ", 450, _IN_TEXT),
    Rewrite("line break as a comma", rb"\n(?<=[\w\"'\]}]\n)(?=\s*[\w\"'\[{-])", b",", 350, _IN_TEXT),
    # A list of YAML within brackets.
    Rewrite("bullet as an element", rb":(?=[ \t]*\n[ \t]*[-*] )", b": [", 300, _IN_TEXT),
    Rewrite("bullet as an element", rb"\n[ \t]*[-*][ \t]+(?=\S)", b",", 30, _IN_TEXT),
    Rewrite("bullet as an element", rb"\n[ \t]*[-*][ \t]+(?=\S)", b" ", 40, _IN_TEXT),
    Rewrite("drop a name without a value", rb",\s*[\"']?-?\Z", b"", 20, _IN_TEXT),
    Rewrite("drop a sign", rb"-\Z", b"", 20, _IN_TEXT),
    Rewrite("drop an ellipsis", rb",\s*\.\.\.\s*\Z", b"", 83, _IN_TEXT),
    Rewrite("drop an ellipsis", rb"(?:,|(?<!\s))" + _SPACE + rb"\.\.\." + _SPACE + rb"(?=[,\]}])", b"", 83, _IN_TEXT),
    Rewrite("drop an ellipsis", rb"(?<=[\[{])" + _SPACE + rb"\.\.\." + _SPACE + rb",?", b"", 100, _IN_TEXT),
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
        rb"[\x0b\x0c]|" + "|".join("\u0085\u2028\u2029\u00a0\u1680\u180e\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u202f\u205f\u3000\ufeff").encode(),
        b" ",
        20,
        _IN_TEXT,
    ),
)

_WORDS = (
    Rewrite(
        "quote a word",
        rb"(?<=[:\[,\s])[A-Za-z_$@\x80-\xff][\w$@\x80-\xff.-]*(?=\s*(?:[,}\]]|\Z|\n))",
        rb'"\g<0>"',
        300,
        _IN_TEXT,
    ),
    Rewrite(
        "quote words",
        rb"(?:(?<=[:\[,\n])|(?<=[-*]\s))[ \t]*(?=[A-Za-z_*\x80-\xff\d][^\n\"{}\[\],:]{0,300}[^\s\"{}\[\],:](?=[ \t]*(?:[,}\]\n]|\Z)))(?![A-Za-z_][\w.]*\()(?![^\n]{0,300}(?:/\*|\s//))(?![\d.eE\s+-]+[\],}])([A-Za-z_*\x80-\xff\d][^\n\"{}\[\],:]{0,300}[^\s\"{}\[\],:])(?=[ \t]*(?:[,}\]\n]|\Z))",
        rb'"\1"',
        500,
        _IN_TEXT,
    ),
    Rewrite(
        "quote words",
        rb"(?<=[:\[])[ \t]*(?=[A-Za-z_\x80-\xff\d/<][^\n\"{}\[\]]{0,300}[^\s\"{}\[\],](?=[ \t]*(?:,[ \t]*\n|,\s*\"|[}\]\n]|\Z)))(?![A-Za-z_][\w.]*\()(?![^\n]{0,300}(?:/\*|\s//))([A-Za-z_\x80-\xff\d/<][^\n\"{}\[\]]{0,300}[^\s\"{}\[\],])(?=[ \t]*(?:,[ \t]*\n|,\s*\"|[}\]\n]|\Z))",
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
        800,
        _IN_TEXT,
    ),
    Rewrite("drop a word", rb"(?<=[\w\"'\]}])\s+[A-Za-z_]+(?=\s*[,}\]])", b"", 700, _IN_TEXT),
    Rewrite(
        "quote an address",
        rb"(?<=[:\[,\s])(?:[a-z]{2,10}://|[A-Za-z]:\\|\.{0,2}/(?![/*]))[^\s,\"'{}\[\]]+(?=\s*(?:[,}\]\n]|\Z))",
        _quoted,
        200,
        _IN_TEXT,
    ),
)

_AROUND = (
    Rewrite(
        "drop a comment",
        b"[/#]" + _BEFORE_COMMENT + rb"(?:(?<=#)|/)[^\n\r]*([\n\r]?)",
        _without_comment,
        27,
        _IN_TEXT,
    ),
    Rewrite(
        "drop a comment", b"/" + _BEFORE_COMMENT + rb"\*(?s:.*?)(\*/|\Z)", _without_comment, 45, _IN_TEXT
    ),
    Rewrite("drop a comment", rb"/\*[^*]{0,2000}\Z", b"", 300, _IN_TEXT),
    Rewrite("drop a comment", rb"#[^\n{}\[\],\"]{0,200}(?=[}\],])", b"", 300, _IN_TEXT),
    Rewrite("drop a comment", rb"<!--(?s:.*?)(-->)", _without_comment, 45, _IN_TEXT),
    # Of the last bytes alone: the lookahead takes one step.
    Rewrite(
        "drop a last comment",
        rb"[/#](?<=[\s\]}][/#])(?:(?<=#)|/)(?!(?s:.){%d})[^\n]*\Z" % (_LONGEST + 1),
        b"",
        500,
        _IN_TEXT,
    ),
    Rewrite("drop prose before", rb'\A[^{\["]+(?="[^"\n]*"\s*:)', b"", 700, _IN_TEXT),
    Rewrite("drop prose before", rb"\A[^{\[\"'\n]+:\s*\n(?=\s*['\"\w][^\n]*:)", b"", 300, _IN_TEXT),
    Rewrite(
        "drop a character",
        rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}",
        b"",
        5000,
    ),
    Rewrite("drop a fence", rb"[{\[]\s*```[\w-]*\s*(?=[{\[])", b"", 300, _IN_TEXT),
    Rewrite("drop a fence", rb"```\s*[}\]](?=\s*\Z)", b"", 300, _IN_TEXT),
    Rewrite("drop a fence", rb"```[\w-]*[ \t]*\n?", b"", 30, _IN_TEXT),
)

_KEPT = {ESCAPED: {"\\": 300}, BACK: {"`": 600}}

_MODES = (
    Mode(TEXT, {'"': STRING}, inserted={'"': BARE}),
    Mode(STRING, {'"': TEXT, "\\": "escape"}, insert={_LETTERS + _DIGITS: 7000}),
    Mode("escape", otherwise=STRING),
    Mode(
        BARE,
        {'"': TEXT},
        keep={":": 1500, "{}[]": 2500, "\n": None, "'": 500},
        insert={'"': 600},
    ),
    # What is written within other quotes leads nowhere: a closing quote of that kind does, or one that is inserted.
    *(
        Mode(
            name,
            inserted={'"': TEXT},
            keep={'"': None, "\n": None, **_KEPT.get(name, {})},
        )
        for name in (*QUOTED, ESCAPED)
    ),
    Mode(
        INVENTED,
        {"}": TEXT},
        inserted={"}": INVENTED},
        keep={_PRINTABLE.replace("}", "") + _BLANKS: None},
        insert={**_MADE_UP, "}]": 1200},
        append={**_MADE_UP, "}]": 1200},
        remove={_PRINTABLE + _BLANKS: 50_000},
    ),
)

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
    # A quote before all of a text is dear: it would make a string of it.
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
    resume=_MADE_UP,
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
        "*": 1500,
        # A character goes as a whole: what is left of it would be another one.
        _CONTINUING: 20_000,
    },
    typo=135,
    firm=4000,
    modes=_MODES,
    rewrites=(*STRINGS, *_LITERALS, *_NAMES, *NUMBERS, *CALLS, *_STRUCTURE, *_WIDE, *_WORDS, *_AROUND),
    doubts=(
        Doubt("a comma", rb",(?=\s*(?:[\"'{\[\d]|[\w$]+\s*:|\n))", 900, (BARE,)),
        Doubt("a comma", rb",", 150, (BARE,)),
        Doubt("a doubled apostrophe", rb"'(?='[\w\s])", 300, (SINGLE,)),
        Doubt("an apostrophe", rb"'(?=\s*(?:[,:}\])]|\Z))", 1500, (SINGLE,)),
        Doubt("a quotation mark", rb"\xe2\x80[\x9c\x9d]" + AFTER, 700, (TYPOGRAPHIC, STRING)),
        Doubt("an escape", b"\\\\" + LATEX + rb"(?![a-z])", 200, (STRING, *QUOTED)),
        Doubt("a form feed", rb"\\[fb](?=[A-Za-z])", 200, (STRING, *QUOTED)),
    ),
    finders=(Finder("outline", outline), Finder("lines", lines)),
)
