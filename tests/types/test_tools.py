"""Response formats and tools, as applications have them."""

from __future__ import annotations

import datetime
from typing import Any, Literal

import pytest

import tokamata as tk
from tests.support.matchers import accepts
from tests.support.types.type_walks import drawn

POINT = {
    "type": "object",
    "properties": {"x": {"type": "integer"}, "y": {"$ref": "#/$defs/flag"}},
    "required": ["x"],
    "additionalProperties": False,
    "$defs": {"flag": {"type": "boolean"}},
}
SWAPPED = {
    "type": "object",
    "properties": {"y": {"type": "boolean"}, "x": {"type": "integer"}},
    "required": ["y", "x"],
    "additionalProperties": False,
}


def weather(city: str, when: datetime.date | None = None, unit: Literal["C", "F"] = "C") -> None: ...


TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {"name": "move", "description": "…", "parameters": POINT, "strict": True},
    },
    {"name": "turn", "inputSchema": SWAPPED},
    {"type": "function", "name": "stop"},
    weather,
]


def test_response_formats() -> None:
    whole = {"type": "json_schema", "json_schema": {"name": "point", "schema": POINT, "strict": True}}
    flat = {"type": "json_schema", "name": "point", "schema": POINT}
    for given in (whole, flat):
        constraint = tk.response_format(given)
        assert accepts(constraint, '{"x": 1, "y": true}')
        assert not accepts(constraint, '{"y": true}')
        assert constraint.parse('{"x": 1}') == {"x": 1}
    assert accepts(tk.response_format({"type": "json_object"}), '{"any": [1]}')
    assert not accepts(tk.response_format({"type": "json_object"}), "[1]")
    assert accepts(tk.response_format({"type": "text"}), "any\ntext")
    assert not accepts(tk.response_format(whole, whitespace="compact"), '{"x": 1}')


@pytest.mark.parametrize(
    ("given", "pointer", "keyword"),
    [
        ({}, "", "type"),
        ({"type": "xml"}, "", "type"),
        ([], "", ""),
        ({"type": "json_schema"}, "/json_schema", ""),
        ({"type": "json_schema", "json_schema": {"name": "a"}}, "/json_schema", "schema"),
        (
            {"type": "json_schema", "json_schema": {"schema": {"items": {"type": 3}}}},
            "/json_schema/schema/items",
            "type",
        ),
        ({"type": "json_schema", "schema": {"minLength": -1}}, "/schema", "minLength"),
    ],
)
def test_what_is_no_response_format(given: Any, pointer: str, keyword: str) -> None:
    with pytest.raises(tk.SchemaError) as caught:
        tk.response_format(given)
    assert (caught.value.pointer, caught.value.keyword) == (pointer, keyword)


def test_calls_of_tools() -> None:
    constraint = tk.tool_call(TOOLS)
    good = {
        '{"name": "move", "arguments": {"x": 1}}': tk.ToolCall("move", {"x": 1}),
        '{"name": "move", "arguments": {"x": 1, "y": true}}': tk.ToolCall("move", {"x": 1, "y": True}),
        '{"name": "turn", "arguments": {"y": true, "x": 1}}': tk.ToolCall("turn", {"y": True, "x": 1}),
        '{"name": "stop", "arguments": {}}': tk.ToolCall("stop", {}),
        '{"name": "weather", "arguments": {"city": "Bern", "when": "2024-01-02"}}': tk.ToolCall(
            "weather", {"city": "Bern", "when": datetime.date(2024, 1, 2)}
        ),
    }
    for text, call in good.items():
        assert accepts(constraint, text), text
        assert constraint.parse(text) == call
    for text in (
        '{"name": "go", "arguments": {}}',
        '{"name": "stop", "arguments": {"x": 1}}',
        '{"name": "move", "arguments": {"y": true}}',
        '{"name": "turn", "arguments": {"x": 1}}',
        '{"arguments": {}, "name": "stop"}',
        '{"name": "stop"}',
        '{"name": "stop", "arguments": {}, "id": 1}',
        '{"name": "move", "arguments": 1}',
    ):
        assert not accepts(constraint, text), text


def test_calls_from_masks_are_read() -> None:
    constraint = tk.tool_call(TOOLS)
    for seed in range(8):
        call = constraint.parse(drawn(constraint, seed, 50))
        assert call.name in ("move", "turn", "stop", "weather")


def test_arguments_are_objects_whatever_the_schema_says() -> None:
    constraint = tk.tool_call([{"name": "any", "parameters": {}}])
    assert accepts(constraint, '{"name": "any", "arguments": {"a": 1}}')
    assert not accepts(constraint, '{"name": "any", "arguments": 1}')


@pytest.mark.parametrize(
    ("tools", "pointer"),
    [
        ([3], "/0"),
        ([weather, {"type": "function"}], "/1"),
        ([{"function": {"parameters": {}}}], "/0/function"),
        ([{"function": None}], "/0/function"),
        ([{"name": "a", "parameters": {"properties": {"b": 3}}}], "/0/parameters/properties/b"),
    ],
)
def test_what_is_no_tool(tools: Any, pointer: str) -> None:
    with pytest.raises(tk.SchemaError) as caught:
        tk.tool_call(tools)
    assert caught.value.pointer == pointer


def test_lists_that_are_none() -> None:
    with pytest.raises(ValueError, match="at least one"):
        tk.tool_call([])
    with pytest.raises(ValueError, match="tools of different names, not two with the name 'weather'"):
        tk.tool_call([weather, {"name": "weather"}])
    with pytest.raises(TypeError, match="a tool, or a list of tools"):
        tk.tool_call(5)  # type: ignore[arg-type]


def test_a_tool_alone() -> None:
    text = '{"name": "weather", "arguments": {"city": "Bern"}}'
    assert tk.tool_call(weather).parse(text) == tk.tool_call([weather]).parse(text)
    assert tk.tool_call({"name": "a"}).parse('{"name": "a", "arguments": {}}') == tk.ToolCall("a", {})


@pytest.mark.parametrize(
    "text", ["[]", '{"name": "go", "arguments": {}}', '{"name": []}', '{"name": [], "arguments": 1}']
)
def test_texts_that_are_no_calls(text: str) -> None:
    with pytest.raises(tk.ParseError):
        tk.tool_call(TOOLS).parse(text)


def test_errors_in_arguments_say_where() -> None:
    with pytest.raises(tk.ParseError) as caught:
        tk.tool_call([weather]).parse('{"name": "weather", "arguments": {"city": 1}}')
    assert caught.value.place == "/arguments/city"
