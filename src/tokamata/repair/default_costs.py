"""The costs of edits that are used unless others are given: those of mistakes that models make in JSON.

Problem.  The cheapest repair by single bytes is often not what was meant.  All of ``{'a': 'b', 'c':
'd'}`` but its first and last quote may be the name of a member; then a value is missing.  ``//`` begins
a comment between two members, and not in a string.
How.  Edits are a transducer (``core/repair/edit_model.hpp``).  Its *modes* say where an edit stands:
outside of strings, in a string of JSON, in one that another quote opened, in one that only a repair has
opened, or in a member that a repair makes up.  A *rewrite* undoes a whole mistake where it looks like
one, at little cost, in the modes where it can be one.  Dialects are groups of rewrites: quotes of other
languages, numbers of other languages, calls and literals of Python and JavaScript, JSON that was
escaped.  What no pattern finds, since it counts brackets or indentation, the finders find
(:mod:`.outline`, :mod:`.lines`, :mod:`.wrappers`).

Costs are by hand.  A whole mistake that is seen for what it is costs 1 to 500; a mistake that something
else might explain 500 to 3,000; content that is dropped, made up or changed more than any spelling.
Closing what is open is cheap at the end, since texts are cut off there.

Cost.  Patterns take time in proportion to the text, since none reads on over the same bytes from many
places.  What reads on until a mark (the end of a comment) either contains nothing that it begins with,
or takes all that it has read; then a function of the match says whether that is what was looked for.
"""

from __future__ import annotations

from dataclasses import replace

from tokamata.repair.costs import Doubt, EditCosts, EditMode, RewriteFinder
from tokamata.repair.dialects.calls import CALLS
from tokamata.repair.dialects.lines import lines
from tokamata.repair.dialects.literals import LITERALS
from tokamata.repair.dialects.lookarounds import AFTER
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
from tokamata.repair.dialects.strings import LATEX, LITERAL, STRINGS
from tokamata.repair.dialects.structure import STRUCTURE
from tokamata.repair.dialects.surroundings import SURROUNDINGS
from tokamata.repair.dialects.words import NAMES, WORDS
from tokamata.repair.dialects.wrappers import wrappers

__all__ = ["DEFAULT_COSTS", "costs_without_finders"]

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DIGITS = "0123456789"
_BLANKS = " \t\r\n"
_PRINTABLE = "".join(map(chr, range(0x20, 0x7F)))

# Bytes of what is missing: they cost alike, so that the estimate of the search is exact.
_MADE_UP = {_PRINTABLE: 40}
_CONTINUING = "".join(map(chr, range(0x80, 0xC0)))


_KEPT = {ESCAPED: {"\\": 300}, BACK: {"`": 600}}

_MODES = (
    EditMode(TEXT, {'"': STRING}, inserted={'"': BARE}),
    EditMode(
        STRING,
        {'"': TEXT, "\\": "escape"},
        insert={_LETTERS + _DIGITS: 3000},
        remove={_LETTERS + _DIGITS: 3000},
    ),
    EditMode("escape", otherwise=STRING),
    EditMode(
        BARE,
        {'"': TEXT},
        keep={":": 1500, "{}[]": 2500, "\n": None, "'": 500},
        insert={'"': 600},
    ),
    # What is written within other quotes leads nowhere; a closing quote of that kind does, or one that
    # is inserted.
    *(
        EditMode(
            name,
            inserted={'"': TEXT},
            keep={'"': None, "\n": None, **_KEPT.get(name, {})},
        )
        for name in (*QUOTED, ESCAPED)
    ),
    EditMode(
        INVENTED,
        {"}": TEXT},
        inserted={"}": INVENTED},
        keep={_PRINTABLE.replace("}", "") + _BLANKS: None},
        insert={**_MADE_UP, "}]": 1200, ",{": 3000},
        append={**_MADE_UP, "}]": 1200, ",{": 3000},
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
    rewrites=(*STRINGS, *LITERALS, *NAMES, *NUMBERS, *CALLS, *STRUCTURE, *WORDS, *SURROUNDINGS),
    doubts=(
        Doubt("a comma", rb",(?=\s*(?:[\"'{\[\d]|[\w$]+\s*:|\n))", 900, (BARE,)),
        Doubt("a comma", rb",", 150, (BARE,)),
        Doubt("a comma", rb",(?=\s*'[\w $.-]+'\s*:)", 700, (STRING,)),
        Doubt("a comma", rb",(?=\s*[A-Za-z_]\w*:\s*(?:[\"'\[{\d]|true|false|null))", 500, (STRING,)),
        Doubt("a doubled apostrophe", rb"'(?='(?:[\w\s]|'\s*[,}\])]))", 300, (SINGLE,)),
        Doubt(
            "an apostrophe",
            rb"'(?=\s+[rRbBfFuU]{0,2}'[^'\n]{0,300}'\s*(?:[,:\]}]|\Z)|\s*\+\s*')",
            1500,
            (SINGLE,),
        ),
        Doubt("an apostrophe", "’".encode() + AFTER, 700, (SINGLE,)),
        Doubt("an apostrophe", rb"'(?=\s*(?:[,:}\])]|```|\Z))", 1500, (SINGLE,)),
        Doubt(
            "an apostrophe",
            rb"'(?=\s+(?:-?\d[\d.]{0,30}|" + LITERAL + rb")\s*[,}\]\n])",
            800,
            (SINGLE,),
        ),
        Doubt("an apostrophe", rb"'(?=\s+[A-Za-z_$][\w$]*\s*:)", 700, (SINGLE,)),
        Doubt("a quotation mark", rb"\xe2\x80[\x9c\x9d]" + AFTER, 700, (TYPOGRAPHIC, STRING)),
        Doubt("an escape", b"\\\\" + LATEX + rb"(?![a-z])", 200, (STRING, *QUOTED)),
        Doubt("a form feed", rb"\\[fb](?=[A-Za-z])", 200, (STRING, *QUOTED)),
    ),
    finders=(
        RewriteFinder("outline", outline),
        RewriteFinder("lines", lines),
        RewriteFinder("wrappers", wrappers),
    ),
)

_WITHOUT_FINDERS = replace(DEFAULT_COSTS, finders=())


def costs_without_finders(costs: EditCosts) -> EditCosts:
    """The default costs without what reads a text as JSON as a whole; other costs as they are."""
    return _WITHOUT_FINDERS if costs is DEFAULT_COSTS else costs
