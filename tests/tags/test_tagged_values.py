"""The values of tagged objects, and their events: against a reader that tries every member both ways."""

from __future__ import annotations

import functools
import itertools
import json
import random
from typing import Any

import jsonschema
import pytest

import tokamata as tk
from tests.support.tags.tagged_texts import (
    SCHEMAS,
    drawn,
    is_value_writable,
    is_writable,
    read,
    types_of,
    written,
)
from tests.support.texts import all_texts
from tokamata.patterns.json_schema.text import read_json
from tokamata.patterns.tagged import STYLES
from tokamata.values.events import EventReader, TextEvents
from tokamata.values.forms import Reading
from tokamata.values.tagged import Tagged

FLAT = [name for name, style in STYLES.items() if style.items is None]
M3 = "]<]minimax[>["


@functools.cache
def form_of(schema: str, style: str) -> Tagged:
    values = tk.json_schema(schema)
    orders = [values._table.texts(values._root, order, "any", "any") for order in ("schema", "any")]
    return Tagged(STYLES[style], read_json, orders)


def form(schema: Any, style: str) -> Tagged:
    return form_of(json.dumps(schema), style)


def reading() -> Reading:
    return Reading("tagged", tk.Limits(), None)


def value(text: str, style: str, schema: Any) -> Any:
    return form(schema, style).read(text.encode(), reading()).value


def events(text: bytes, style: str, schema: Any, sizes: list[int]) -> list[tk.Event]:
    """The events of a text in pieces of these sizes."""
    reader = EventReader(form(schema, style), reading())
    found: list[tk.Event] = []
    at = 0
    for size in itertools.cycle(sizes):
        found += reader.feed(text[at : at + size])
        at += size
        if at >= len(text):
            return found + reader.end()
    raise AssertionError("sizes do not end")


def cases(style: str, seed: int, count: int) -> list[tuple[dict[str, Any], dict[str, Any], str]]:
    """Schemas, values of them, and texts of these."""
    rng, found = random.Random(seed), []
    while len(found) < count:
        schema = SCHEMAS[len(found) % len(SCHEMAS)]
        members = drawn(schema, rng)
        of_members = schema["properties"]
        if tk.json_schema(schema).accepts(json.dumps(members)) and all(
            is_value_writable(one, of_members[name], STYLES[style]) for name, one in members.items()
        ):
            found.append((schema, members, written(members, style, rng)))
    return found


def same(one: Any, other: Any) -> bool:
    return one == other and json.dumps(one) == json.dumps(other)  # 1 is not true


@pytest.mark.parametrize("style", STYLES)
def test_values_come_back(style: str) -> None:
    for schema, members, text in cases(style, 1, 24):
        assert same(value(text, style, schema), members), text
        if style in FLAT:
            assert same(read(text, style, schema), members), text


@pytest.mark.parametrize("style", STYLES)
def test_events_are_the_same_however_the_text_is_cut(style: str) -> None:
    rng = random.Random(2)
    for schema, members, text in cases(style, 2, 12):
        data = text.encode()
        whole = events(data, style, schema, [len(data) or 1])
        assert same(whole[-1].value, members)
        assert (whole[-1].start, whole[-1].end) == (0, len(data))
        assert [one.pointer for one in whole if one.pointer.count("/") == 1] == [
            "/" + name.replace("~", "~0").replace("/", "~1") for name in members
        ]
        assert events(data, style, schema, [1]) == whole
        assert events(data, style, schema, [rng.randrange(1, 9) for _ in range(20)]) == whole
        for one in whole[:-1]:
            part = data[one.start : one.end].decode()
            if isinstance(one.value, str) and not part.startswith('"'):
                assert part == one.value


@pytest.mark.parametrize("style", STYLES)
def test_events_of_a_text_that_is_taken_back(style: str) -> None:
    rng = random.Random(3)
    for schema, _, text in cases(style, 3, 6):
        data = text.encode()
        whole = events(data, style, schema, [1])
        follower = TextEvents(form(schema, style), reading())
        position, reported = 0, []
        for _ in range(12):
            target = rng.randrange(len(data) + 1)
            reported = [one for one in reported if one[0] <= target]
            reported += [(target, one) for one in follower.moved(data[:target], False)]
            position = target
        reported += [(len(data), one) for one in follower.moved(data, True)]
        assert position <= len(data)
        assert [one for _, one in reported][-1] == whole[-1]
        assert all(one in whole for _, one in reported)


@pytest.mark.parametrize("style", ["qwen_xml", "minimax_m3_xml"])
def test_types_of_members_decide_as_the_whole_schema_does(style: str) -> None:
    for schema, members, text in cases(style, 5, 12):
        by_types = Tagged(STYLES[style], read_json, [], schema)
        by_types.judges = form(schema, style).judges
        assert same(by_types.read(text.encode(), reading()).value, members)
        assert by_types.are_strings


def test_a_type_beside_a_reference_says_nothing_in_old_drafts() -> None:
    draft_7 = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"a": {"$ref": "#/definitions/number", "type": "string"}},
        "required": ["a"],
        "definitions": {"number": {"type": "integer"}},
    }
    tool = {"name": "f", "parameters": draft_7}
    calls = tk.tool_calls([tool], format="mimo", tool_choice="required", unknown="ignore")
    text = "<tool_call><function=f><parameter=a>5</parameter></function></tool_call>"
    assert calls.parse(text) == [tk.ToolCall("f", {"a": 5})]


UNIONS: list[Any] = [
    {"type": ["string", "integer"]},
    {"type": ["string", "null"]},
    {"type": ["boolean", "string"]},
    {"anyOf": [{"type": "string", "maxLength": 2}, {"type": "array", "items": {"type": "integer"}}]},
    {"enum": ["5", 5, "[", [5], None, "n"]},
    {"type": "string"},
    {"type": "integer"},
    {},
]


@pytest.mark.parametrize("style", ["qwen_xml", "glm_xml", "deepseek_xml"])
def test_every_short_text_between_the_tags(style: str) -> None:
    """Of a text that may be written: what the definition says; unwritten texts have no value there."""
    tags, names = STYLES[style], 0
    for schema in UNIONS:
        outer = {
            "type": "object",
            "properties": {"v": schema},
            "required": ["v"],
            "additionalProperties": False,
        }
        others = types_of(schema) - {"string"}
        validator = jsonschema.Draft202012Validator(schema)
        for raw in all_texts('5n["\n ', 3):
            for kind in {text: kind for kind, text in tags.attributes.items()}.values():
                attributes = tags.attributes[kind].replace("{blanks}", "")
                text = f"{tags.opening}v{attributes}{raw}{tags.closing}"
                try:
                    expected = read(text, style, outer)
                except ValueError:
                    continue
                if isinstance(expected["v"], str) and not is_writable(expected["v"], others, tags):
                    continue
                if not validator.is_valid(expected["v"]):
                    continue
                names += 1
                assert same(value(text, style, outer), expected), text
    assert names > 500


def test_a_member_is_typed_by_those_before_it() -> None:
    """The set of a member depends on conditions, which name other members."""
    schema = {
        "type": "object",
        "properties": {"kind": {"enum": ["number", "text"]}, "v": True},
        "required": ["kind", "v"],
        "if": {"properties": {"kind": {"const": "number"}}},
        "then": {"properties": {"v": {"type": "integer"}}},
        "else": {"properties": {"v": {"type": "string"}}},
    }
    text = "<parameter=kind>{}</parameter><parameter=v>5</parameter>"
    assert value(text.format("number"), "qwen_xml", schema) == {"kind": "number", "v": 5}
    assert value(text.format("text"), "qwen_xml", schema) == {"kind": "text", "v": "5"}
    union = {
        "anyOf": [
            {"properties": {"kind": {"const": "number"}, "v": {"$ref": "#/$defs/n"}}, "required": ["kind"]},
            {"properties": {"kind": {"const": "text"}, "v": {"type": "string"}}, "required": ["kind"]},
        ],
        "$defs": {"n": {"type": "integer"}},
    }
    assert value(text.format("number"), "qwen_xml", union) == {"kind": "number", "v": 5}
    assert value(text.format("text"), "qwen_xml", union) == {"kind": "text", "v": "5"}


def test_members_in_another_order() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
        "required": ["a", "b"],
        "additionalProperties": False,
    }
    text = "<parameter=b>5</parameter><parameter=a>5</parameter>"
    assert value(text, "qwen_xml", schema) == {"a": 5, "b": "5"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{M3}<a>{M3}<item>1{M3}</item>{M3}</a>", {"a": [1]}),
        (f"{M3}<a>\n{M3}<item>\n{M3}<item>1{M3}</item>\n{M3}</item>\n{M3}</a>\n", {"a": [[1]]}),
        (f"{M3}<a>{M3}<b>1{M3}</b>{M3}</a>", {"a": {"b": 1}}),
        (f"{M3}<a>{M3}</a>", {"a": []}),
        (f"{M3}<a> \n {M3}</a>", {"a": []}),
    ],
)
def test_arrays_and_objects_between_tags(text: str, expected: Any) -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/v"}}, "$defs": {"v": {}}}
    schema["$defs"] = {"v": {"type": ["integer", "array", "object"], "items": {"$ref": "#/$defs/v"}}}
    assert value(text, "minimax_m3_xml", schema) == expected
    of_objects = {"type": "object", "properties": {"a": {"type": "object"}}}
    text = f"{M3}<a>{M3}<item>x{M3}</item>{M3}</a>"
    assert value(text, "minimax_m3_xml", of_objects) == {"a": {"item": "x"}}


def test_escapes_in_names() -> None:
    schema = {"type": "object", "additionalProperties": {"type": "string"}}
    text = '<cofl:value name="a&amp;lt;&quot;&lt;" type="raw">&amp;</cofl:value>'
    assert value(text, "cohere_xml", schema) == {'a&lt;"<': "&amp;"}
    text = '<|open|>argument key="&amp;quot;&quot;" type="string"<|sep|>x<|close|>argument<|sep|>'
    assert value(text, "kimi_k3_xml", schema) == {'&quot;"': "x"}


@pytest.mark.parametrize(
    ("text", "style", "place"),
    [
        ("<parameter=a>1</parameter><parameter=a>2</parameter>", "qwen_xml", "/a"),
        ("<parameter=a>1</parameter> x", "qwen_xml", "byte 27"),
        ("<parameter=a>1</parameter", "qwen_xml", "byte"),
        ("<parameter=a", "qwen_xml", "byte"),
        ("<arg_key>a</arg_key>x<arg_value>1</arg_value>", "glm_xml", "byte"),
        (f"{M3}<a>{M3}<b>1{M3}</b>{M3}<b>1{M3}</b>{M3}</a>", "minimax_m3_xml", "/a/b"),
        (f"{M3}<a>{M3}<b>1{M3}</a>", "minimax_m3_xml", ""),
    ],
)
def test_broken_texts(text: str, style: str, place: str) -> None:
    with pytest.raises(tk.ParseError) as raised:
        value(text, style, {"type": "object"})
    assert raised.value.place.startswith(place)


def test_hostile_texts() -> None:
    """Nothing nests on Python's stack, and no work is done twice."""
    deep = 20_000
    anything = {"type": "object", "properties": {"a": {"type": "string"}}}
    raw = "[" * deep
    assert value(f"<parameter=a>{raw}</parameter>", "qwen_xml", anything) == {"a": raw}
    opened = '<cofl:value name="a" type="dict">' * deep
    with pytest.raises(tk.ParseError):
        value(opened + "</cofl:value>" * deep, "cohere_xml", {"type": "object"})
    events(opened.encode() + b"</cofl:value>" * deep, "cohere_xml", {"type": "object"}, [4096])
    for half in ("<", "</parameter", "</param", "\n"):
        raw = half * deep
        text = f"<parameter=a>\n{raw}\n</parameter>"
        assert value(text, "qwen_xml", anything) == {"a": raw}
        found = events(text.encode(), "qwen_xml", anything, [7])
        assert found[-1].value == {"a": raw}
