r"""The styles in which models write the arguments of a call between tags, as data.

    qwen_xml      <parameter=city>\nBern\n</parameter>
    deepseek_xml  <｜DSML｜parameter name="days" string="false">5</｜DSML｜parameter>

A member is an opening, its name, the attributes of its value, the value, and a closing.  A string is written
as it is, with neither quotes nor escapes.  Values of all other types are JSON; two styles nest tags instead
in arrays and objects.

**What a text denotes.**  Every text of a member has one value.  In a style whose attributes name the type, it
is the value of that type.  In the others, a text that is JSON of a value that is no string, and that may
stand there, is that value; any other text is a string.  Whether it may stand there depends on the schema and
on the members before.

**Which texts are left out.**  The programs that read the calls back are vLLM's and SGLang's parsers.  Where
values of several types are allowed, they read some strings as a value of another type: where numbers are
allowed beside strings, ``+5`` is 5.  ``misread`` describes those, and every string that looks like JSON of
the other type; no string is written so.  ``ends`` describes what ends a value too early.

**Arrays and objects between tags.**  An array is a row of elements, an object a row of members, with blanks
as between the members of the whole.  If the attributes do not name the type, the value of a text without tags
in it is found as above; of one that is empty or blank, it is the empty string if some string may stand there,
else an empty array, else an empty object.  What begins with an element is an array if one may stand there,
and otherwise an object.

The names are those of structural tags.  The entries follow the parsers, the models' chat templates, and
xgrammar's masks; docs/tools.md lists where these differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

__all__ = ["STYLES", "TYPES", "Items", "TagStyle"]

TYPES = ("string", "null", "boolean", "number", "array", "object")

# What Python reads as a number: other digits than ASCII's, and underscores between digits, too.
_DIGITS = r"\d(?:_?\d)*"
_NUMBER = rf"\s*[+-]?(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?\s*"
_NULL = r"\s*(?i:null)\s*"
_NOTHING = r"\s*(?i:null|none|nil)\s*"
_BOOLEAN = r"\s*(?i:true|false|0|1)\s*"
_LOOSE_BOOLEAN = r"\s*(?i:true|false|yes|no|on|off|0|1)\s*"
# What begins as an array or an object of JSON, and every other JSON.
_JSON = (
    r"(?s:\s*[\[{].*)"
    r'|[ \t\n\r]*(?:"(?s:[^"\\]|\\.)*"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)'
    r"[ \t\n\r]*"
)
_MISREAD = {"null": _NULL, "boolean": _BOOLEAN, "number": _NUMBER, "array": _JSON, "object": _JSON}


@dataclass(frozen=True)
class Items:
    """How a style writes arrays and objects between tags.

    Attributes:
        opening: the text before the attributes of an element of an array.
        attributes: the text between ``opening`` and the value, by type.
        closing: the text after the value.
    """

    opening: str
    attributes: Mapping[str, str]
    closing: str


@dataclass(frozen=True)
class TagStyle:
    r"""How the members of an object are written.

    Patterns are regular expressions in the syntax of :func:`tokamata.regex`; they match whole texts, except
    ``ends``, which match within a text.

    Attributes:
        name: the name of the style in a structural tag.
        opening: the text before a name.
        attributes: the text between a name and its value, by the type of the value, one of ``TYPES``;
            ``{blanks}`` stands for the blanks that ``between`` describes.
        closing: the text after a value; ``{name}`` stands for the name.
        names: a pattern of the names that can be written.
        escapes: what is written in place of a character of a name.
        ends: patterns of what no value may contain: the closing, in each spelling that a parser takes for it,
            and the end of the call.  In a JSON value, the characters of its strings are written so that none
            of them occurs.
        between: a pattern of the blanks before, between and after members, if white space is ``"natural"``.
        around: a pattern of the blanks on either side of a JSON value, if white space is ``"natural"``.
        drops_line_feeds: whether one line feed after ``attributes``, and one before ``closing``, are no part
            of a value.
        misread: by type, a pattern of the texts as which no string is written where a value of that type may
            stand in its place; ``"string"`` has those as which no string is ever written.
        items: how arrays and objects are written; ``None``: as JSON.
        is_marked: whether ``attributes`` distinguish a string from any other value.
    """

    name: str
    opening: str
    attributes: Mapping[str, str]
    closing: str
    names: str
    ends: tuple[str, ...]
    between: str = r"\n?"
    around: str = ""
    drops_line_feeds: bool = False
    escapes: Mapping[str, str] = field(default_factory=dict)
    misread: Mapping[str, str] = field(default_factory=dict)
    items: Items | None = None

    @property
    def is_marked(self) -> bool:
        """As above."""
        raw = self.attributes["string"]
        return all(self.attributes[kind] != raw for kind in TYPES if kind != "string")


def _same(text: str) -> dict[str, str]:
    """The same attributes for all types."""
    return dict.fromkeys(TYPES, text)


def _raw(text: str, others: str) -> dict[str, str]:
    """The attributes of a string, and those of all other types."""
    return {kind: text if kind == "string" else others for kind in TYPES}


# Names that every parser reads as they are: no blank at either end, nothing that belongs to a tag.
_NAMES = r"[^\s<>\"'\\=/\x00-\x1f\x7f](?:[^<>\"\\\x00-\x1f\x7f]*[^\s<>\"'\\\x00-\x1f\x7f])?"

_QWEN = TagStyle(
    "qwen_xml",
    opening="<parameter=",
    attributes=_same(">"),
    closing="</parameter>",
    names=_NAMES,
    ends=(r"<\s*/\s*parameter\s*>", r"<\s*parameter\s*=", "</function>", "</?tool_call>"),
    around=r"\n?",
    drops_line_feeds=True,
    misread=_MISREAD | {"string": _NULL},
)
_GLM = TagStyle(  # GLM 4.7; blanks before the first member would belong to the name of the tool
    "glm_xml",
    opening="<arg_key>",
    attributes=_same("</arg_key>{blanks}<arg_value>"),
    closing="</arg_value>",
    names=_NAMES,
    ends=("</?arg_(?:key|value)>", "</?tool_call>"),
    between="",
    misread=_MISREAD,
)
_DEEPSEEK = TagStyle(
    "deepseek_xml",
    opening='<｜DSML｜parameter name="',
    attributes=_raw('" string="true">', '" string="false">'),
    closing="</｜DSML｜parameter>",
    names=_NAMES,
    ends=("</?｜DSML｜",),
    misread=_MISREAD,
)
_MINIMAX = TagStyle(
    "minimax_xml",
    opening='<parameter name="',
    attributes=_same('">'),
    closing="</parameter>",
    names=_NAMES,
    ends=(
        r"<\s*/\s*parameter\s*>",
        r"<\s*parameter\s+name\s*=",
        "</?invoke",
        "</?minimax:tool_call>",
    ),
    misread=_MISREAD | {"string": _NOTHING, "boolean": _LOOSE_BOOLEAN},
)
_M3_NAMESPACE = "]<]minimax[>["
_MINIMAX_M3 = TagStyle(
    "minimax_m3_xml",
    opening=_M3_NAMESPACE + "<",
    attributes=_same(">"),
    closing=_M3_NAMESPACE + "</{name}>",
    names=_NAMES,
    ends=(r"\]<\]minimax\[>\[",),
    misread=_MISREAD
    | {"null": f"{_NULL}|", "boolean": _LOOSE_BOOLEAN}
    | dict.fromkeys(("array", "object"), rf"{_JSON}|\s*"),
    items=Items(_M3_NAMESPACE + "<item", _same(">"), _M3_NAMESPACE + "</item>"),
)
_COHERE_ATTRIBUTES = dict.fromkeys(TYPES, '" type="json">') | {
    "string": '" type="raw">',
    "array": '" type="list">',
    "object": '" type="dict">',
}
_COHERE = TagStyle(
    "cohere_xml",
    opening='<cofl:value name="',
    attributes=_COHERE_ATTRIBUTES,
    closing="</cofl:value>",
    names=r"[^\x00-\x1f\x7f]+",
    escapes={"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"},
    ends=(r"</\s*cofl:value\s*>", "</cofl:tool_calls>"),
    items=Items(
        "<cofl:value",
        {kind: text.removeprefix('"') for kind, text in _COHERE_ATTRIBUTES.items()},
        "</cofl:value>",
    ),
)
_KIMI_K3 = TagStyle(
    "kimi_k3_xml",
    opening='<|open|>argument key="',
    attributes={kind: f'" type="{kind}"<|sep|>' for kind in TYPES},
    closing="<|close|>argument<|sep|>",
    names=r"[^<\x00-\x1f\x7f]+",
    escapes={"&": "&amp;", '"': "&quot;"},
    ends=(r"<\|(?:open|close|sep)\|>",),
)

STYLES: Mapping[str, TagStyle] = {
    style.name: style
    for style in (
        _QWEN,
        replace(
            _QWEN, name="mimo_xml", between="", around="", drops_line_feeds=False
        ),  # of no structural tag
        _GLM,
        replace(_GLM, name="glm_4_5_xml", between=r"\n?"),  # of no structural tag
        _DEEPSEEK,
        replace(
            _DEEPSEEK,
            name="deepseek_v4_1_xml",
            opening='<｜DSML｜ parameter name="',
            closing="</｜DSML｜ parameter>",
        ),
        _MINIMAX,
        _MINIMAX_M3,
        _COHERE,
        _KIMI_K3,
    )
}
