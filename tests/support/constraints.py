"""Constraints made by every function and operator of the package, with texts that they accept."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import tokamata as tk


@dataclass
class Painter:
    name: str
    born: Annotated[int, "a year"]


class Colour(enum.Enum):
    RED = "red"
    BLUE = 2


class Place(TypedDict):
    city: str
    zip: list[int] | None


def forecast(city: str, days: Literal[1, 3] = 1) -> None:
    """A tool."""


class Made(NamedTuple):
    """A constraint, and texts that it accepts."""

    constraint: tk.Constraint[Any]
    texts: tuple[str, ...] = ()


SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer", "minimum": 3}, "b": {"$ref": "#/$defs/list"}},
    "required": ["a"],
    "$defs": {"list": {"type": "array", "items": {"$ref": "#/$defs/list"}}},
}
WEATHER = {
    "type": "function",
    "function": {"name": "weather", "parameters": {"type": "object", "properties": {"city": {}}}},
}
FORMAT = {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}}
TAG = {
    "type": "structural_tag",
    "format": {
        "type": "triggered_tags",
        "triggers": ["<c"],
        "tags": [
            {
                "begin": "<c>",
                "content": {"type": "json_schema", "json_schema": {"type": "null"}},
                "end": "</c>",
            }
        ],
    },
}
LARK = """
    start: sum
    sum: sum "+" NUMBER | NUMBER
    NUMBER: /[0-9]+/
    %ignore " "
"""


def _rules() -> tk.Rule:
    value = tk.rule("value")
    items = value + ("," + value).repeat(0, 4)
    return value.define(tk.regex("[0-9]+").captured("digits") | "[" + items.optional() + "]")


def _letters() -> tk.Constraint[Any]:
    return tk.regex("[a-c]+")


# By the name of what makes them: the public functions, then the operators and methods of constraints.
MAKERS: dict[str, Callable[[], list[Made]]] = {
    "choice": lambda: [
        Made(tk.choice(["red", "blue"]), ("blue",)),
        Made(tk.choice(["a", tk.json(), "b", tk.literal("d").captured("x")]), ("b", "[1]", "d")),
    ],
    "control_token": lambda: [Made(tk.control_token("<image>")), Made(tk.control_token(256) + _letters())],
    "delimited_list": lambda: [Made(tk.delimited_list(_letters(), tk.literal(", "), 1, 3), ("a, bc",))],
    "delimited_subsequence_of": lambda: [
        Made(tk.delimited_subsequence_of([_letters(), tk.type(int)], tk.literal(";")), ("a;1", "7"))
    ],
    "grammar": lambda: [
        *(
            Made(tk.grammar(LARK, lexer=lexer), ("1+22",))
            for lexer in ("characters", "dynamic", "basic", "contextual", "longest")
        ),
        Made(tk.grammar('root ::= "a" root | "b"', syntax="gbnf"), ("aab",)),
        Made(tk.grammar("start: @one @one", constraints={"one": tk.json_schema(SCHEMA)})),
        Made(tk.grammar('start: word "," word\nword[capture]: /[a-z]+/'), ("a,b",)),
        Made(tk.grammar(_rules()), ("[1,[22]]", "[]")),
    ],
    "image": lambda: [Made(tk.literal("a") + tk.image())],
    "json": lambda: [
        Made(tk.json(), ('{"a": [1, null]}',)),
        Made(tk.json(max_depth=1, max_items=2, whitespace="compact", spelling="any"), ("[1,2]",)),
    ],
    "json_schema": lambda: [
        Made(tk.json_schema(SCHEMA), ('{"a": 4, "b": [[]]}',)),
        Made(tk.json_schema('{"format": "date"}', formats="annotate", property_order="any"), ('"x"',)),
        Made(tk.json_schema({"not": {"pattern": "^a"}}, strict=False, limits=tk.Limits(depth=50)), ('"b"',)),
    ],
    "literal": lambda: [Made(tk.literal("é"), ("é",))],
    "paragraph_token": lambda: [Made(tk.paragraph_token() + _letters())],
    "quoted_text": lambda: [Made(tk.quoted_text(), ('"a"',))],
    "regex": lambda: [
        Made(tk.regex("(?P<year>[0-9]{4})-x", re.IGNORECASE), ("2026-X",)),
        Made(tk.regex("b", dialect="ecma", limits=tk.Limits(seconds=9)), ("abc",)),
        Made(tk.regex("(?P<TEXT_UNTIL>END)"), ("xEND",)),
    ],
    "response_format": lambda: [
        Made(tk.response_format(FORMAT, whitespace="any"), ('{"a": 4}',)),
        Made(tk.response_format({"type": "json_object"}), ("{}",)),
        Made(tk.response_format({"type": "text"}), ("any",)),
    ],
    "structural_tag": lambda: [
        Made(tk.structural_tag(TAG), ("a<c>null</c>b",)),
        Made(
            tk.structural_tag('{"format": {"type": "token", "token": "<image>"}, "type": "structural_tag"}')
        ),
    ],
    "substring_of": lambda: [Made(tk.substring_of("abcabd"), ("cab",))],
    "tag": lambda: [
        Made(tk.tag("<a>", tk.json(), ["</a>", "</b>"]), ("<a>[]</b>",)),
        Made(tk.tag("<a>", None, "</a>"), ("<a>x</a>",)),
        Made(tk.tag(tk.control_token("<image>"), _letters(), "!")),
    ],
    "text_token": lambda: [Made(tk.text_token())],
    "text_until": lambda: [Made(tk.text_until("END"), ("aENEND",))],
    "text_without": lambda: [Made(tk.text_without(["ab", "c"], most_characters=3), ("axb",))],
    "think_first": lambda: [
        Made(tk.think_first(tk.type(int)), ("hm</think>4",)),
        Made(tk.think_first(_letters(), begin="<t>", end=tk.control_token("<image>"), most_characters=9)),
        Made(tk.think_first(tk.type(int), most_tokens=20, answer_tokens=3), ("hm</think>4",)),
    ],
    "tool_call": lambda: [
        Made(
            tk.tool_call([WEATHER, forecast]),
            ('{"name": "forecast", "arguments": {"city": "Bern", "days": 3}}',),
        ),
        Made(tk.tool_call(forecast, strict=False), ('{"name": "forecast", "arguments": {"city": "x"}}',)),
    ],
    "tool_calls": lambda: [
        Made(tk.tool_calls([WEATHER], format="function"), ('a<function=weather>{"city": 1}</function>',)),
        Made(
            tk.tool_calls(
                [WEATHER, forecast],
                tool_choice={"type": "function", "function": {"name": "forecast"}},
                parallel=False,
                format=tk.ToolFormat("<{name}>", "</>", "<", ";"),
            ),
            ('<forecast>{"city": ""}</>',),
        ),
    ],
    "triggered": lambda: [
        Made(tk.triggered([tk.tag("<a>", tk.json(), "</a>")]), ("x<a>1</a>",)),
        Made(
            tk.triggered(
                (tk.tag(f"<{name}>", None, "</>") for name in "ab"),
                triggers=["<"],
                at_least_one=True,
                stop_after_first=True,
                excludes=["!"],
            ),
            ("<b>x</>",),
        ),
    ],
    "type": lambda: [
        Made(tk.type(Painter), ('{"name": "Klee", "born": 1879}',)),
        Made(tk.type(Painter, syntax="python"), ('Painter(name="Klee", born=1879)',)),
        Made(tk.type(list[Colour | Place], whitespace="compact"), ('["red",2,{"city":"","zip":null}]',)),
        Made(tk.type(forecast), ('{"city": "Bern"}',)),
    ],
    "unquoted_text": lambda: [Made(tk.unquoted_text(), ("plain text",))],
    "+": lambda: [
        Made(_letters().captured("first") + tk.literal("-") + (tk.type(int) | tk.json()), ("ab-[]", "a-7"))
    ],
    "|": lambda: [Made(_letters() | tk.type(int) | (tk.literal("x") + tk.literal("y")), ("ab", "7", "xy"))],
    "&": lambda: [
        Made(_letters() & tk.regex(".{2}") & ~tk.literal("aa"), ("ab",)),
        Made(tk.json() & tk.type(dict[str, int]) & tk.json_schema({"minProperties": 1}), ('{"a": 1}',)),
    ],
    "-": lambda: [
        Made(_letters() - tk.literal("a") - tk.literal("b"), ("c",)),
        Made(tk.json() - tk.type(int) - (tk.type(str) - tk.json_schema({"maxLength": 1})), ('"x"',)),
    ],
    "~": lambda: [Made(~_letters(), ("A",)), Made(~tk.json_schema(SCHEMA), ("7",))],
    "captured": lambda: [Made(_letters().captured("name"), ("a",))],
    "optional": lambda: [Made(tk.type(int).optional(), ("", "7"))],
    "repeat": lambda: [
        Made((tk.type(int) + tk.literal(",")).repeat(1, 3), ("1,2,",)),
        Made(_letters().repeat(), ("abc",)),
    ],
    "separated_by": lambda: [
        Made(tk.type(int).separated_by(tk.literal(", ")), ("1, 2",)),
        Made(tk.type(int).separated_by(tk.literal(","), 0, 0), ("",)),
    ],
}
OPERATORS = ("+", "|", "&", "-", "~", "captured", "optional", "repeat", "separated_by")


def up_to(alphabet: str, size: int) -> tk.Constraint[str]:
    """The texts of at most so many characters of an alphabet."""
    members = "".join(map(re.escape, alphabet))
    return tk.regex(f"(?s:[{members}]{{0,{size}}})")
