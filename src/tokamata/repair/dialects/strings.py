"""Strings in the quotes and with the escapes of Python, JavaScript, SQL, typography, and of JSON in JSON.

Each kind of quotes has a mode of its own: what opens a string there leads to it, and only its own
closing quote leads back.  So ``'it is "so"'`` has its double quotes escaped, and ``"it's"`` keeps its
apostrophe.
"""

from __future__ import annotations

import json
import re

from tokamata.repair.costs import Rewrite
from tokamata.repair.dialects.lookarounds import AFTER, SPACE
from tokamata.repair.dialects.modes import (
    BACK,
    BARE,
    DOUBLED,
    ESCAPED,
    FENCED,
    QUOTED,
    SINGLE,
    STRING,
    TEXT,
    TRIPLE,
    TYPOGRAPHIC,
)

__all__ = ["LATEX", "LITERAL", "STRINGS"]

LITERAL = rb"[tT]rue|[fF]alse|null|None"
_LEFT, _RIGHT = rb"\xe2\x80[\x9c-\x9f]", rb"\xe2\x80[\x9c-\x9f]"  # “ ” „ ‟
LATEX = (
    rb"(?:nabla|neq|notin|theta|times|tau|text|tilde|tfrac|triangle|tan|rho|right|rangle|rightarrow"
    rb"|beta|bar|begin|big|binom|boldsymbol|frac|forall)"
)
_WITHIN = (STRING, BARE, *QUOTED)


def _beginning(quotes: bytes, width: int) -> bytes:
    """Quotes of so many bytes where a string may begin; first the quotes, since ``re`` finds these fast."""
    any_bytes = b"[\\s\\S]" * width
    before = rb"(?:(?<=[\[{,:(=\s]%(any)b)|(?<![\s\S]%(any)b))"
    return quotes + before % {b"any": any_bytes}


def _code_point(match: re.Match[bytes]) -> bytes | None:
    """An escape of a code point as JSON writes it."""
    try:
        return json.dumps(chr(int(match[1], 16))).encode()[1:-1]
    except (ValueError, OverflowError):
        return None


def _escaped(match: re.Match[bytes]) -> bytes:
    """With its quotes escaped, and with what is escaped already as it is."""
    if b"\\" not in match[0]:
        return match[0].replace(b'"', b'\\"')
    return re.sub(rb'(\\.)|"', lambda one: one[1] or b'\\"', match[0])


def _control(match: re.Match[bytes]) -> bytes:
    return b"\\u%04x" % match[0][0]


def _octal(match: re.Match[bytes]) -> bytes:
    return json.dumps(chr(int(match[1], 8))).encode()[1:-1]


def _raw(match: re.Match[bytes]) -> bytes:
    """A raw string of Python, whose backslashes mean themselves."""
    content = match[1].replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\t", b"\\t")
    return b'"' + content + b'"'


def _path(match: re.Match[bytes]) -> bytes | None:
    """A path of Windows in which a backslash begins no escape: then none of them does."""
    if re.search(rb"\\\\", match[0]) or not re.search(rb"\\[^\\/\"bfnrtu]", match[0]):
        return None
    return match[0].replace(b"\\", b"\\\\")


def _expression(match: re.Match[bytes]) -> bytes:
    """A regular expression of JavaScript, as a string."""
    return json.dumps(match[0].decode("utf-8", "replace"), ensure_ascii=False).encode()


_OPENING = (
    Rewrite("single quotes", _beginning(b"'", 1) + rb"(?!'(?!\s*[,:}\])]))", b'"', 1, (TEXT,), SINGLE),
    Rewrite("single quotes", rb"'(?<=[\"'\w\]}]')(?!'')", b'"', 760, (TEXT,), SINGLE),
    Rewrite("single quotes", "‘|‚".encode(), b'"', 10, (TEXT,), SINGLE),
    Rewrite("typographic quotes", _LEFT, b'"', 1, (TEXT,), TYPOGRAPHIC),
    Rewrite("typographic quotes", "「|『|«|＂".encode(), b'"', 20, (TEXT,), TYPOGRAPHIC),
    Rewrite("backticks", b"`(?!``)(?<!``)", b'"', 60, (TEXT,), BACK),
    Rewrite("backticks", "´".encode(), b'"', 300, (TEXT,), BACK),
    Rewrite("tripled quotes", rb"\"\"\"|'''", b'"', 10, (TEXT,), TRIPLE),
    Rewrite("fenced string", rb"(?<=:)\s*```[\w-]*\n?", b'"', 20, (TEXT,), FENCED),
    Rewrite("escaped quotes", rb'\\"', b'"', 20, (TEXT,), ESCAPED),
    Rewrite("doubled quotes", rb"''(?=[^\s',:}\])])", b'"', 200, (TEXT,), DOUBLED),
    Rewrite("doubled quotes", rb'""(?=[^\s",:}\])][^"\n]*""\s*[,:}\]"])', b'"', 20, (TEXT,), DOUBLED),
    # Once at the begin, and a single one at the end.
    Rewrite(
        "doubled quotes", rb'""(?=[ ]?\w[^"\n]{0,300}"\s*(?:[:}\]]|,\s*["\'{\[]))', b'"', 600, (TEXT,), STRING
    ),
    Rewrite("raw string", rb"(?:\b[rR]|@)\"([^\"\n]*)\"" + AFTER, _raw, 10, (TEXT,)),
    Rewrite("raw string", rb"\b[bBuU]?[rR]'([^'\n]*)'" + AFTER, _raw, 10, (TEXT,)),
    Rewrite(
        "drop a prefix",
        rb"\b(?:[bBfFuU]|[rR][bB]|[bBfFuU][rR]|[rR](?='[^'\\\n]*'))'",
        b'"',
        30,
        (TEXT,),
        SINGLE,
    ),
    Rewrite("drop a prefix", rb"\b(?:[rRbBfFuU]|[rR][bB]|[bBfFuU][rR])(?=\")", b"", 30, (TEXT,)),
    Rewrite("drop a prefix", rb"@(?=['\"])", b"", 30, (TEXT,)),
    Rewrite(
        "regular expression as a string",
        rb"(?:(?<=[:\[,\s])|(?<![\s\S]))/(?![/*])(?:[^/\n\\]|\\.)+/[gimsuy]{0,6}" + AFTER,
        _expression,
        300,
        (TEXT,),
    ),
    Rewrite("escape backslashes of a path", rb'"[A-Za-z]:\\[^"\n]*"' + AFTER, _path, 30, (TEXT,)),
    # The opening quote alone is lost.
    Rewrite(
        "quote before words",
        rb"(?<=[:\[,\s])(?:[a-z]{2,10}://)?[\w./~$#@\x80-\xff][^\n\",:\[\]{}]{0,80}(?=\"\s*[,\]}])",
        rb'"\g<0>',
        1050,
        (TEXT,),
        STRING,
    ),
    Rewrite(
        "quote before a word",
        rb"(?<=[:\[,\s{])[A-Za-z_\x80-\xff][\w\x80-\xff-]*(?=\"\s*[,\]}:])",
        rb'"\g<0>',
        400,
        (TEXT,),
        STRING,
    ),
)

_CLOSING = (
    Rewrite("single quotes", b"'" + AFTER, b'"', 0, (SINGLE,), TEXT),
    Rewrite("single quotes", rb"'(?=\s*[\"'\[{\d])", b'"', 60, (SINGLE,), TEXT),
    Rewrite("single quotes", rb"'", b'"', 900, (SINGLE,), TEXT),
    Rewrite("single quotes", "’".encode() + AFTER, b'"', 10, (SINGLE,), TEXT),
    Rewrite("single quotes", "(?:’|´|`)".encode() + AFTER, b'"', 100, (SINGLE, BACK), TEXT),
    Rewrite("backticks", b"'" + AFTER, b'"', 100, (BACK,), TEXT),
    Rewrite("another closing quote", b'"' + AFTER, b'"', 500, (SINGLE,), TEXT),
    Rewrite("another closing quote", b"'" + AFTER, b'"', 1000, (STRING, BARE), TEXT),
    Rewrite("another closing quote", _RIGHT + AFTER, b'"', 300, (STRING, BARE), TEXT),
    Rewrite("another closing quote", b"`" + AFTER, b'"', 800, (STRING,), TEXT),
    Rewrite("typographic quotes", _RIGHT + AFTER, b'"', 0, (TYPOGRAPHIC,), TEXT),
    Rewrite("typographic quotes", "(?:」|』|»|＂)".encode() + AFTER, b'"', 0, (TYPOGRAPHIC,), TEXT),
    Rewrite("typographic quotes", b'"' + AFTER, b'"', 100, (TYPOGRAPHIC,), TEXT),
    Rewrite(
        "colon between a name and its value",
        _RIGHT + rb"(?=\s+(?:\"|\xe2\x80\x9c))",
        b'":',
        300,
        (TYPOGRAPHIC,),
        TEXT,
    ),
    Rewrite("typographic quotes", _RIGHT, b'"', 900, (TYPOGRAPHIC,), TEXT),
    Rewrite("backticks", b"`", b'"', 0, (BACK,), TEXT),
    Rewrite("tripled quotes", rb"\"\"\"|'''", b'"', 0, (TRIPLE,), TEXT),
    Rewrite("fenced string", rb"\n?[ \t]{0,40}```", b'"', 0, (FENCED,), TEXT),
    Rewrite("escaped quotes", rb'\\"', b'"', 0, (ESCAPED,), TEXT),
    Rewrite("escaped quotes", b'"' + AFTER, b'"', 700, (ESCAPED,), TEXT),
    Rewrite("doubled quotes", rb"''" + AFTER, b'"', 0, (DOUBLED,), TEXT),
    Rewrite("doubled quotes", rb'""' + AFTER, b'"', 0, (DOUBLED,), TEXT),
    Rewrite("doubled quotes", rb'"' + AFTER, b'"', 300, (DOUBLED,), TEXT),
    Rewrite("comma between values", rb'""(?=\s+"")', b'",', 300, (DOUBLED,), TEXT),
    Rewrite("doubled quotes", rb'""' + AFTER, b'"', 800, (STRING,), TEXT),
    # A quote that ends a line, and should not have been escaped.
    Rewrite(
        "escaped closing quote",
        rb'\\"(?=[ \t]{0,9},?[ \t]{0,9}\r?\n\s{0,200}["}\]])',
        b'"',
        250,
        (STRING,),
        TEXT,
    ),
    Rewrite("escaped closing quote", rb'\\":(?=[ \t]{0,9}\r?\n\s{0,200}")', b'",', 280, (STRING,), TEXT),
    Rewrite(
        "escaped closing quote",
        rb"\\'(?=[ \t]{0,9},?[ \t]{0,9}\r?\n\s{0,200}['}\]])",
        b'"',
        250,
        (SINGLE,),
        TEXT,
    ),
    Rewrite("escaped closing quote", rb"\\':(?=[ \t]{0,9}\r?\n\s{0,200}')", b'",', 280, (SINGLE,), TEXT),
    # A name or a value begins after it.
    Rewrite(
        "end of one string, beginning of another",
        rb'"(?<=[^\s,{\[(]")(?=[A-Za-z_][\w -]*"\s*:)',
        b'", "',
        900,
        (STRING,),
        STRING,
    ),
    Rewrite(
        "close before the next member",
        rb',[ \t]*(?=["\'][\w $.-]+["\']\s*(?::|-?\d|true|false|null))',
        b'", ',
        500,
        (STRING,),
        TEXT,
    ),
    Rewrite(
        "close before the next member",
        rb",[ \t]+(?=[A-Za-z_]\w*\s*:\s*(?:[\"'\[{\d]|true|false|null))",
        b'", ',
        800,
        (STRING,),
        TEXT,
    ),
    Rewrite(
        "end of one string, beginning of another",
        rb'"\s+(?=[\w-]+"\s*[,\]])',
        b'", "',
        710,
        (STRING,),
        STRING,
    ),
    Rewrite(
        "close before the next line",
        rb',?[ \t\r]{0,40}\n\s{0,200}(?="[\w $.-]+"\s*:)',
        b'",',
        400,
        (STRING,),
        TEXT,
    ),
    Rewrite(
        "close before the next line",
        rb",?[ \t\r]{0,40}\n\s{0,200}(?=(?:'[\w $.-]+'|[A-Za-z_$][\w$]*)\s*:\s*"
        rb"(?:[\"'\[{\d-]|" + LITERAL + rb"))",
        b'",',
        500,
        (STRING, SINGLE),
        TEXT,
    ),
    Rewrite(
        "close before a closing bracket", rb"\n(?<=[^\s,{\[]\n)(?=\s*[\]}])", b'"\n', 600, (STRING,), TEXT
    ),
    Rewrite(
        "close before the next element",
        rb",[ \t\r]{0,40}\n\s{0,200}(?=(?:\"[^\n\"]*\"|'[^\n']*')\s*[,\]\n])",
        b'",',
        500,
        (STRING,),
        TEXT,
    ),
    Rewrite(
        "close before the next element",
        rb',[ \t]*(?="[^\n",\[\]{}]*"[ \t]*[,\]])',
        b'", ',
        900,
        (STRING,),
        TEXT,
    ),
    Rewrite("comma between values", rb'"(?=\s*\n\s*[A-Za-z_$][\w$]*\s*:)', b'",', 200, (STRING,), TEXT),
    Rewrite("comma between values", rb'"(?=[ \t]+[A-Za-z_$\d][\w$]*\s*:)', b'",', 300, (STRING,), TEXT),
    Rewrite("close before the next member", rb",[ \t]*(?='[\w $.-]+'\s*:)", b'", ', 500, (SINGLE,), TEXT),
    Rewrite(
        "comma between values", rb'"(?=\s+(?:-?\d|true\b|false\b|null\b|[\[{]))', b'",', 500, (STRING,), TEXT
    ),
    Rewrite("close a name", rb":(?=\s*(?:true|false|null|-?\d[\d.]*)\s*[,}\n])", b'":', 500, (STRING,), TEXT),
    Rewrite("close a name", rb":(?=\s*[\"'\[{])", b'":', 900, (STRING,), TEXT),
    Rewrite("close a name", rb":(?=\s*[A-Za-z_][\w .-]{0,60}[,}])", b'":', 1000, (STRING,), TEXT),
    Rewrite(
        "close a name",
        rb'[ \t]+"(?=[^\n"]{1,300}"\s*[,}\n])',
        b'": "',
        1500,
        (STRING,),
        STRING,
    ),
    Rewrite(
        "colon between a name and its value",
        rb'"(?=[ \t]+(?:-?\d|true\b|false\b|null\b|[\[{\"\']))',
        b'":',
        600,
        (STRING,),
        TEXT,
    ),
    Rewrite(
        "colon between a name and its value",
        rb"'(?=\s+(?:[\"'\d\[{-]|" + LITERAL + rb"))",
        b'":',
        600,
        (SINGLE,),
        TEXT,
    ),
    Rewrite("comma between values", rb"'(?=\s+[A-Za-z_$][\w$]*\s*:)", b'",', 300, (SINGLE,), TEXT),
    Rewrite("comma between values", rb"'(?=\s+['\"][\w $.-]+['\"]\s*:)", b'",', 300, (SINGLE,), TEXT),
    Rewrite("comma between values", rb'"(?=\s*")', b'",', 1050, (STRING,), TEXT),
    Rewrite("comma between values", rb'"(?=[ \t]*\n\s*")', b'",', 300, (STRING,), TEXT),
)

_INNER = (
    Rewrite("a quote within other quotes", rb'(?<!\\)"', rb'\\"', 0, (SINGLE, BACK, TYPOGRAPHIC, FENCED)),
    Rewrite("a quote within other quotes", rb'(?<!\\)"(?!"")(?<!""")', rb'\\"', 0, (TRIPLE,)),
    Rewrite("a quote within other quotes", rb'(?<!\\)"', rb'\\"', 200, (DOUBLED,)),
    Rewrite("a quote within escaped quotes", rb'\\\\\\"', rb'\\"', 0, (ESCAPED,)),
    Rewrite("an escape within escaped quotes", rb"\\\\\\\\", rb"\\\\", 0, (ESCAPED,)),
    Rewrite("an escape within escaped quotes", rb"\\\\(?=[/bfnrtu])", rb"\\", 0, (ESCAPED,)),
    Rewrite("escape an inner quote", rb'\\"(?!\s*(?:[,:}\]\\]|\Z))', rb'\\"', 700, (ESCAPED,)),
    Rewrite("escaped apostrophe", rb"\\'", b"'", 5, (*_WITHIN, "escape")),
    Rewrite("escaped quotation mark", rb'\\"', rb'\\"', 0, QUOTED),
    Rewrite("escaped backtick", rb"\\`", b"`", 5, (BACK, STRING)),
    Rewrite("escaped dollar", rb"\\\$", b"$", 5, (BACK,)),
    Rewrite("doubled apostrophe", rb"''(?=[\w\s]|'\s*[,}\])])", b"'", 100, (SINGLE,)),
    Rewrite(
        "doubled quotation mark",
        rb'""(?=[ \t]*\w)|(?<=\w)""(?=[ \t.,!?]*(?:\w|"))',
        rb'\\"',
        400,
        (STRING,),
        STRING,
    ),
    # Neither what stands before it nor what follows it is structure; or the quote after it ends the string.
    Rewrite(
        "escape an inner quote",
        rb'"(?:(?<=[^\s\[{,:"]")(?!\s*(?:[,:}\]"]|\Z))|(?<=[^\s\[{,:"] ")(?=[^\s,:}\]"])'
        rb'|(?<=[\w\x80-\xff.!?)]")(?="\s*(?:[,:}\]]|\Z)))',
        rb"\\\g<0>",
        700,
        (STRING, BARE),
    ),
    Rewrite(
        "escape an inner quote",
        rb'(?:(?<=[:\[,{]\s")|(?<=[:\[,{]"))"(?=\w)',
        rb"\\\g<0>",
        700,
        (STRING, BARE),
    ),
    Rewrite(
        "escape an inner quote",
        rb'"(?=\s*[,;.!?)]\s*[^\s"\'{\[\d,}\]#/])',
        rb"\\\g<0>",
        1000,
        (STRING, BARE),
    ),
    Rewrite(
        "escape an inner quote",
        rb'"(?=\s*:\s*[^\s"\'{\[\d,}\]])',
        rb"\\\g<0>",
        2500,
        (STRING, BARE),
    ),
    Rewrite("escape an inner quote", rb'(?<=[\s(=])"(?=[^\s,:}\]])', rb"\\\g<0>", 1000, (STRING, BARE)),
    Rewrite(
        "escape an inner quote",
        rb'(?<=[(=\[{])"|"(?=[)\]}]*[;)])|"(?=[\]})]+"\s*[,}\]])',
        rb"\\\g<0>",
        1200,
        (STRING, BARE),
    ),
    Rewrite(
        "object within a string",
        rb'\{[^{}\n"]*"[^{}\n]*(?:\{[^{}\n]*\}[^{}\n]*){0,9}\}',
        _escaped,
        900,
        (STRING,),
        STRING,
    ),
    Rewrite(
        "object within a string", rb'(?<=[^\s\[{:]\s)\{[^{}\n"]*"[^{}\n]*\}', _escaped, 900, (STRING,), STRING
    ),
    # In a class of characters of a regular expression.
    Rewrite(
        "escape an inner quote",
        rb""""(?:(?<=[\[^]'")(?=\])|(?<=[\[^]")(?='\]))""",
        rb"\\\g<0>",
        400,
        (STRING, BARE),
    ),
    Rewrite("escape an inner quote", rb'\n"\n(?="\s*[,}\]])', rb'\\n\\"\\n', 500, (STRING,), STRING),
    Rewrite("join strings", b'"' + SPACE + rb"\+" + SPACE + b'"', b"", 100, (STRING,), STRING),
    Rewrite("join strings", rb'"\s+[rRbBfFuU]{0,2}"', b"", 1100, (STRING,), STRING),
    Rewrite("join strings", rb"'\s*\+\s*'", b"", 100, (SINGLE,), SINGLE),
    Rewrite("comma between values", rb"'(?=\s+'[^'\n]*'\s*[,\]])", b'",', 1000, (SINGLE,), TEXT),
    Rewrite("join strings", rb"'\s+'", b"", 1300, (SINGLE,), SINGLE),
    Rewrite("join strings", rb"'\s+[rRbBfFuU]{1,2}'", b"", 200, (SINGLE,), SINGLE),
    Rewrite("join strings", b"'" + SPACE + rb"#[^\n#]{0,300}\n\s*'", b"", 900, (SINGLE,), SINGLE),
)

_ESCAPES = (
    Rewrite("escape of a byte", rb"\\x([0-9a-fA-F]{2})", _code_point, 10, _WITHIN),
    Rewrite("escape of a code point", rb"\\U([0-9a-fA-F]{8})", _code_point, 10, _WITHIN),
    Rewrite("escape of a code point", rb"\\u\{([0-9a-fA-F]{1,6})\}", _code_point, 10, _WITHIN),
    Rewrite("octal escape", rb"\\([0-3]?[0-7]{1,2})", _octal, 200, QUOTED),
    Rewrite("escape of a null byte", rb"\\0(?!\d)", rb"\\u0000", 40, _WITHIN),
    Rewrite("vertical tab", rb"\\v", rb"\\u000b", 50, QUOTED),
    Rewrite("escape a control character", rb"[\x00-\x07\x0b\x0e-\x1f]", _control, 500, _WITHIN),
    Rewrite("continued line", rb"\\\r?\n", b"", 10, _WITHIN),
    Rewrite("escape a line break", rb"\n", rb"\\n", 0, (TRIPLE, BACK, FENCED)),
    Rewrite("escape a line break", rb"\n", rb"\\n", 1791, (STRING, SINGLE, TYPOGRAPHIC, ESCAPED, BARE)),
    Rewrite(
        "escape a line break", rb"\n(?!\s{0,200}[\"'}\]]|\s{0,200}\w{1,60}\s{0,9}:)", rb"\\n", 400, (BARE,)
    ),
    Rewrite(
        "escape a line break",
        rb"\n(?=\s{0,200}(?:\w{1,60}\s{0,9}:|[\"'`]\s*[,}\]]))",
        rb"\\n",
        500,
        (STRING, SINGLE, TYPOGRAPHIC, ESCAPED),
    ),
    Rewrite(
        "escape a line break",
        rb"\n(?!\s{0,200}[\"'}\]]|\s{0,200}\w{1,60}\s{0,9}:)",
        rb"\\n",
        200,
        (STRING, SINGLE, TYPOGRAPHIC, ESCAPED),
    ),
    Rewrite("escape a carriage return", rb"\r", rb"\\r", 200, _WITHIN),
    Rewrite("escape a tab", rb"\t", rb"\\t", 200, _WITHIN),
    Rewrite("escape a form feed", rb"\x0c", rb"\\f", 500, _WITHIN),
    Rewrite("escape a backspace", rb"\x08", rb"\\b", 500, _WITHIN),
    Rewrite("drop a backslash", rb"\\(?=[\x80-\xff])", b"", 30, _WITHIN),
    Rewrite(
        "drop half an escape",
        rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u[0-9a-fA-F]{0,3})?)?\Z",
        b"",
        20,
        _WITHIN,
    ),
    Rewrite("escape of Markdown", rb"\\_", b"_", 20, _WITHIN),
    Rewrite("drop half an escape", rb"\\(?:u[0-9a-fA-F]{0,3})?\Z", b"", 30, _WITHIN),
    Rewrite("escape a backslash", rb"\\(?![\"\\/bfnrtu'])", rb"\\\\", 60, _WITHIN),
    Rewrite("escape a backslash", rb"\\(?=u(?![0-9a-fA-F]{4}))", rb"\\\\", 60, _WITHIN),
    Rewrite("escape a backslash", rb"\\", rb"\\\\", 1099, _WITHIN),
    # A command of LaTeX, and not a line break or a tab before the rest of a word.
    Rewrite("escape a backslash", b"\\\\(?=" + LATEX + rb"(?![a-z]))", rb"\\\\", 60, _WITHIN),
    Rewrite("escape a backslash", rb"\\(?=[fb][A-Za-z])", rb"\\\\", 60, _WITHIN),
    Rewrite("white space in escaped JSON", rb"\\[nrt]", b" ", 20, (TEXT,)),
    Rewrite("drop an outer quote", rb'\A\s*"(?=\s*(?:\\[nrt]\s*)*[{\[])', b"", 300, (TEXT,)),
    # JSON in a string, where the schema wants the value.
    Rewrite("drop an outer quote", rb'"(?=\s*[{\[]\s*\\")', b"", 300, (TEXT,)),
    Rewrite("drop an outer quote", rb'"(?<=[}\]]")(?=\s*[,}\]])', b"", 300, (TEXT,)),
    Rewrite("drop an outer quote", rb'"(?<=[}\]]")\s*\Z', b"", 300, (TEXT,)),
    Rewrite(
        "quote before the last brackets",
        rb'(?<=[^\s"\]}\[{,:])(\s*[\]}])(?=[\]},\s]*(?:\Z|```))',
        rb'"\1',
        60,
        (STRING,),
    ),
)

STRINGS = (*_OPENING, *_CLOSING, *_INNER, *_ESCAPES)
