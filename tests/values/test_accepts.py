"""``accepts`` and ``parse``: what a constraint does not accept is refused, and JSON in any style is read."""

from __future__ import annotations

import itertools
import json
import random
import re
from typing import Any

import jsonschema
import pytest

import tokamata as tk
from tests.support.matchers import is_text_of
from tests.support.texts import all_texts

REFUSED = [
    (tk.json_schema({"type": "integer"}), '"a"'),
    (tk.json_schema({"type": "integer"}), "1.5"),
    (tk.json_schema({"enum": ["a", "b"]}), '"zzz"'),
    (tk.json_schema({"type": "object", "required": ["a"]}), "{}"),
    (tk.json_schema({"type": "array", "uniqueItems": True}), "[1, 1.0]"),
    (tk.json_schema(False) | tk.json_schema({"type": "null"}), "1"),
    (tk.json(max_depth=1), "[[1]]"),
    (tk.json(max_items=1), "[1, 2]"),
    (tk.json(), '{"a": 1, "a": 2}'),
    (tk.response_format({"type": "json_object"}), "[]"),
    (tk.response_format({"type": "json_schema", "json_schema": {"schema": {"const": 1}}}), "2"),
    (tk.json_schema({"type": "integer"}) & tk.json_schema({"minimum": 3}), "2"),
    (tk.json_schema({"type": "integer"}) - tk.json_schema({"minimum": 3}), "4"),
    (~tk.json_schema({"type": "integer"}), "4"),
    (tk.json_schema({"type": "integer"}) & tk.regex("[0-9]+"), "-4"),
    (tk.json_schema({"type": "integer"}).captured("x"), "true"),
    (tk.json_schema({"type": "integer"}).optional(), "true"),
    (
        tk.tool_call({"name": "f", "parameters": {"properties": {"a": {"type": "integer"}}}}),
        '{"name": "f", "arguments": {"a": "x"}}',
    ),
    (
        tk.tool_call({"name": "f", "inputSchema": {"type": "object", "maxProperties": 1}}),
        '{"name": "f", "arguments": {"a": 1, "b": 2}}',
    ),
]


@pytest.mark.parametrize(("constraint", "text"), REFUSED, ids=repr)
def test_what_is_not_accepted_is_not_parsed(constraint: tk.Constraint[Any], text: str) -> None:
    assert not constraint.accepts(text)
    with pytest.raises(tk.ParseError):
        constraint.parse(text)


STYLES = [
    '{"a": 1, "b": [true, null]}',
    '{"b": [true, null], "a": 1}',
    '\n{\t"b" :[true,null]  ,"\\u0061": 1.0e0 }\r\n',
]


def test_json_is_parsed_in_any_style_and_accepted_in_its_own() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "array"}},
        "required": ["a", "b"],
        "additionalProperties": False,
    }
    constraint = tk.json_schema(schema)
    assert [constraint.accepts(text) for text in STYLES] == [True, False, False]
    assert all(constraint.parse(text) == json.loads(text) for text in STYLES)
    anyhow = tk.json_schema(schema, property_order="any", spelling="any", whitespace="any")
    assert [anyhow.accepts(text) for text in STYLES] == [True, True, True]


def test_errors_name_the_place() -> None:
    with pytest.raises(tk.ParseError, match=re.escape("line 1, column 5")):
        tk.json().parse("[1,2")
    with pytest.raises(tk.ParseError, match=re.escape("byte 6: found b'\"x\"}'")):
        tk.json_schema({"properties": {"a": {"type": "integer"}}}).parse('{"a": "x"}')


# Values of a few kinds, and schemas that tell them apart.
VALUES: list[Any] = [
    *(None, True, 0, 1, 2.5, "", "ab"),
    *([], [1], [1, 1], [[1]], {}, {"a": 1}, {"a": "x", "b": 2}),
]
SCHEMAS: list[Any] = [
    {"type": ["integer", "string"]},
    {"type": "number", "exclusiveMinimum": 0},
    {"type": "string", "minLength": 1},
    {"items": {"type": "integer"}, "uniqueItems": True},
    {"contains": {"const": 1}},
    {"properties": {"a": {"type": "integer"}}, "additionalProperties": False},
    {"required": ["a"]},
    {"not": {"type": "object"}},
    {"enum": [None, [1], {"a": 1}]},
    {"oneOf": [{"type": "array"}, {"maxItems": 1}]},
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
def test_json_schemas_accept_and_parse_what_another_validator_finds_valid(schema: Any) -> None:
    constraint = tk.json_schema(schema, property_order="any")
    validator = jsonschema.Draft202012Validator(schema)
    for value in VALUES:
        text = json.dumps(value)
        assert constraint.accepts(text) == validator.is_valid(value), text
        if validator.is_valid(value):
            assert constraint.parse(text) == value
        else:
            with pytest.raises(tk.ParseError):
                constraint.parse(text)


CONSTRAINTS = [
    tk.regex("a*b|ba+"),
    tk.regex("(?=.*b)[ab]{2,3}"),
    tk.choice(["a", "ab", "bb"]),
    ~tk.regex("a+"),
    tk.regex("a*") + tk.regex("b?") + tk.literal("a"),
    tk.regex("a|b").separated_by(tk.literal("b")),
    tk.text_until("ab"),
    tk.text_without(["aa"]),
    tk.regex("[ab]+") - tk.regex(".*bb.*"),
    tk.grammar('root ::= "a" root "b" | ""', syntax="gbnf"),
    tk.grammar('start: "a" start "b" |'),
]


@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=repr)
def test_every_short_text_is_judged_as_by_a_matcher(constraint: tk.Constraint[Any]) -> None:
    for text in all_texts("ab", 4):
        expected = is_text_of(constraint, text)
        assert constraint.accepts(text) == constraint.accepts(text.encode()) == expected, text
        if expected:
            constraint.parse(text)
        else:
            with pytest.raises(tk.ParseError):
                constraint.parse(text)


def test_control_tokens_are_not_in_the_text() -> None:
    answer = tk.text_until("x") + tk.control_token("<end>") + tk.json()
    assert answer.accepts("ax[1]")
    assert not answer.accepts("a[1]")
    assert not answer.accepts("ax<end>[1]")
    assert tk.text_token().accepts("ab")
    assert not tk.text_token().accepts("")


@pytest.mark.parametrize("text", [b"\xff", b"a\xc3", "\ud800", b"\xed\xa0\x80"])
def test_what_is_no_text_is_not_accepted(text: str | bytes) -> None:
    assert not tk.regex("(?s:.*)").accepts(text)


def test_arguments() -> None:
    with pytest.raises(tk.ArgumentError, match="text must be a str"):
        tk.regex("a").accepts(5)  # type: ignore[arg-type]
    with pytest.raises(tk.ArgumentError, match="limits"):
        tk.regex("a").accepts("a", limits=5)  # type: ignore[arg-type]
    cancel = tk.CancelToken()
    cancel.cancel()
    for call in (tk.json().accepts, tk.json().parse):
        with pytest.raises(tk.Cancelled):
            call("[" + "1, " * 1000 + "1]", cancel=cancel)
        with pytest.raises(tk.LimitExceeded):
            call("[" + "1, " * 1000 + "1]", limits=tk.Limits(seconds=1e-9))


def test_long_texts_need_no_more_states_than_short_ones() -> None:
    """Names that an object has are remembered by the state, but states that were passed are given up."""
    limits = tk.Limits(states=40_000)
    text = json.dumps([{f"k{number}": number} for number in range(20_000)])
    assert tk.json().accepts(text, limits=limits)
    assert len(tk.json().parse(text, limits=limits)) == 20_000


def test_a_constraint_learns_from_what_it_has_judged() -> None:
    constraint = tk.json()
    texts = [json.dumps(one) for one in itertools.product(VALUES, repeat=2)]
    random.Random(1).shuffle(texts)
    verdicts = [constraint.accepts(text) for text in texts]
    assert verdicts == [tk.json().accepts(text) for text in texts]
    assert all(verdicts)
