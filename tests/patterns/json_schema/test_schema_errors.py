"""Schemas that are none: what is found, where, and what is expected."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

import tokamata as tk
from tests.support.matchers import accepts
from tests.support.schemas.schema_tables import read
from tests.support.vocabularies import BYTE_VOCABULARY
from tokamata import _core
from tokamata.errors import LimitExceeded, SchemaError, TokamataError, UnsupportedSchemaError
from tokamata.patterns.json_schema import read_schema

DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"

WRONG: list[tuple[dict[str, Any], str, str, str, str]] = [
    ({"type": "strng"}, "", "type", '"strng"', 'one of "null", "boolean", "integer"'),
    ({"type": []}, "", "type", "an empty array", "or an array of these"),
    ({"type": ["string", 3]}, "", "type", "3", "one of"),
    ({"properties": []}, "", "properties", "an empty array", "an object, which has a schema for each name"),
    ({"properties": {"a": {"properties": 5}}}, "/properties/a", "properties", "5", "an object"),
    ({"items": {"minLength": -1}}, "/items", "minLength", "-1", "a whole number of at least 0"),
    ({"maxItems": 1.5}, "", "maxItems", "1.5", "a whole number"),
    ({"minItems": True}, "", "minItems", "true", "a whole number"),
    ({"minContains": "1"}, "", "minContains", '"1"', "a whole number"),
    ({"minimum": "3"}, "", "minimum", '"3"', "a number"),
    ({"minimum": True}, "", "minimum", "true", "a number"),
    ({"maximum": float("nan")}, "", "maximum", "nan", "a number"),
    ({"multipleOf": 0}, "", "multipleOf", "0", "a number above 0"),
    ({"exclusiveMinimum": True}, "", "exclusiveMinimum", "true", "a number"),
    ({"$schema": DRAFT_4, "exclusiveMinimum": 3}, "", "exclusiveMinimum", "3", "true or false"),
    ({"pattern": 5}, "", "pattern", "5", "a regular expression"),
    ({"format": None}, "", "format", "null", "the name of a format"),
    ({"uniqueItems": "yes"}, "", "uniqueItems", '"yes"', "true or false"),
    ({"required": "a"}, "", "required", '"a"', "an array of strings"),
    ({"required": True}, "", "required", "true", "an array of strings"),
    ({"required": ["a", 1]}, "", "required", "1", "an array of strings"),
    ({"enum": "a"}, "", "enum", '"a"', "an array of values"),
    ({"enum": [1, float("inf")]}, "", "enum", "inf", "values that JSON can write"),
    ({"const": {"a": {1, 2}}}, "", "const", "a Python set", "values that JSON can write"),
    ({"anyOf": []}, "", "anyOf", "an empty array", "an array of at least one schema"),
    ({"allOf": {}}, "", "allOf", "an object", "an array of at least one schema"),
    ({"prefixItems": {}}, "", "prefixItems", "an object", "an array of schemas"),
    ({"items": [{}]}, "", "items", "an array", '"prefixItems"'),
    ({"patternProperties": {"a": 5}}, "/patternProperties/a", "", "5", "a schema: an object, true or false"),
    ({"oneOf": [True, {"not": "x"}]}, "/oneOf/1/not", "", '"x"', "a schema"),
    ({"dependentRequired": {"a": "b"}}, "", "dependentRequired", '"b"', "for each name an array of strings"),
    ({"dependentSchemas": []}, "", "dependentSchemas", "an empty array", "an object"),
    (
        {"$schema": DRAFT_7, "dependencies": {"a": "b"}},
        "",
        "dependencies",
        '"b"',
        "a schema, or an array of names",
    ),
    ({"$schema": DRAFT_7, "dependencies": {"a": {"not": 1}}}, "/dependencies/a/not", "", "1", "a schema"),
    ({"$schema": "http://json-schema.org/draft-03/schema#"}, "", "$schema", '"http://json-', "draft 4, 6, 7"),
    ({"$schema": 5}, "", "$schema", "5", "the URI of draft"),
    ({"$schema": DRAFT_2019, "$recursiveRef": "#/a"}, "", "$recursiveRef", '"#/a"', 'is always "#"'),
]


@pytest.mark.parametrize(
    ("schema", "pointer", "keyword", "found", "expected"), WRONG, ids=lambda v: str(v)[:30]
)
def test_wrong_shapes(schema: dict[str, Any], pointer: str, keyword: str, found: str, expected: str) -> None:
    for strict in (True, False):
        with pytest.raises(SchemaError) as caught:
            read(schema, strict=strict)
        error = caught.value
        assert (error.pointer, error.keyword) == (pointer, keyword)
        assert found in error.found
        assert expected in error.expected
        assert str(error) == (
            f"in the schema at {pointer or 'its root'}: "
            + (f"the keyword {keyword!r} is " if keyword else "there is ")
            + f"{error.found}; expected {error.expected}"
        )
        assert isinstance(error, TokamataError)
        assert isinstance(error, ValueError)


@pytest.mark.parametrize(
    ("text", "pointer", "found"),
    [
        ('{"a": 1, "a": 2}', "", 'the key "a" twice'),
        (
            '{"properties": {"x/y": {"allOf": [true, {"b": 1, "c": 2, "b": 3}]}}}',
            "/properties/x~1y/allOf/1",
            '"b" twice',
        ),
        ('{"minimum": NaN}', "", "NaN is no number of JSON"),
        ('{"enum": [-Infinity]}', "", "-Infinity is no number of JSON"),
        ('{"type": "string"', "", "no JSON at line 1, column 18"),
        ("", "", "no JSON at line 1, column 1"),
        (b"\xff\xfe\xff", "", "no JSON"),
        ('{"minimum": ' + "1" * 5000 + "}", "", "no JSON"),
        ("5", "", "5"),
        ("[]", "", "an empty array"),
    ],
)
def test_text_that_is_no_schema(text: str | bytes, pointer: str, found: str) -> None:
    with pytest.raises(SchemaError) as caught:
        read(text)
    assert caught.value.pointer == pointer
    assert found in caught.value.found


def test_long_values_are_shown_short() -> None:
    with pytest.raises(SchemaError) as caught:
        read({"type": "x" * 100_000})
    assert len(str(caught.value)) < 400


def test_depth_is_bounded_by_the_limits() -> None:
    schema: dict[str, Any] = {}
    for _ in range(30):
        schema = {"not": schema}
    read(schema, limits=tk.Limits(depth=30))
    with pytest.raises(LimitExceeded) as caught:
        read(schema, limits=tk.Limits(depth=29))
    assert (caught.value.limit, caught.value.bound) == ("depth", 29)


@pytest.mark.parametrize(
    ("schema", "pointer", "keyword", "reason"),
    [
        ('{"minimum": 1e99999}', "", "minimum", "exponent of more than four digits"),
        ({"items": {"minimum": 1, "maximum": 10**3000 + 1}}, "/items", "maximum", "400 significant digits"),
        ('{"multipleOf": 0.' + "1" * 500 + "}", "", "multipleOf", "400 significant digits"),
        ('{"exclusiveMinimum": 1e-99999}', "", "exclusiveMinimum", "exponent"),
        (
            f'{{"$schema": "{DRAFT_4}", "minimum": 1e99999, "exclusiveMinimum": true}}',
            "",
            "minimum",
            "exponent",
        ),
        ('{"not": {"const": 1e99999}}', "/not", "const", "exponent"),
        ('{"enum": [0, [1e-99999]]}', "", "enum", "exponent"),
        ('{"enum": ["a", {"b": 1e123456789}]}', "", "enum", "exponent"),
        ({"const": 10**4000 + 1}, "", "const", "400 significant digits"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_numbers_that_are_too_long(schema: Any, pointer: str, keyword: str, reason: str) -> None:
    table = _core.ValueTable()
    with pytest.raises(UnsupportedSchemaError) as caught:
        read_schema(schema, table=table)
    error = caught.value
    assert (error.pointer, error.keyword) == (pointer, keyword)
    assert reason in error.reason
    reading = read_schema(schema, table=_core.ValueTable(), strict=False)
    assert [(entry.pointer, entry.keyword) for entry in reading.relaxed()] == [(pointer, keyword)]


def test_a_bound_that_is_left_out_takes_no_other_with_it() -> None:
    constraint = tk.json_schema('{"minimum": 5, "maximum": 1e99999}', strict=False)
    assert [entry.keyword for entry in constraint.report() if entry.status == "relaxed"] == ["maximum"]
    for text, good in (("4", False), ("5", True), ("60", True)):
        assert accepts(constraint, text) == good


@pytest.mark.parametrize(
    "schema",
    [
        {"minimum": 10**4000},
        {"multipleOf": Decimal("1e-400")},
        {"minLength": 10**5000},
        {"maxItems": Decimal("1e400")},
        {"default": 10**5000, "examples": [float("nan")]},
        {"enum": [10**4000, 1]},
    ],
    ids=lambda value: str(list(value)),
)
def test_large_numbers_that_can_be_taken(schema: Any) -> None:
    assert tk.json_schema(schema).report()


@pytest.mark.parametrize(
    ("schema", "keyword"),
    [
        ({"properties": {1: {}}}, "properties"),
        ({"patternProperties": {None: {}}}, "patternProperties"),
        ({"dependentRequired": {1: ["a"]}}, "dependentRequired"),
        ({"dependentSchemas": {(): {"type": "null"}}}, "dependentSchemas"),
        ({"$schema": DRAFT_7, "dependencies": {2.5: ["a"]}}, "dependencies"),
        ({"const": {1: 2}}, "const"),
        ({"enum": [[{None: 2}]]}, "enum"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_keys_that_are_no_strings(schema: Any, keyword: str) -> None:
    for strict in (True, False):
        with pytest.raises(SchemaError) as caught:
            tk.json_schema(schema, strict=strict)
        assert caught.value.keyword == keyword
    assert tk.json_schema({1: 2, "$defs": {3: {}}, "default": {4: 5}}).report() is not None


LONE = "\ud800"


@pytest.mark.parametrize(
    ("schema", "error"),
    [
        ({"pattern": LONE}, UnsupportedSchemaError),
        ({"patternProperties": {LONE: {"type": "null"}}}, UnsupportedSchemaError),
        ({"$ref": LONE}, SchemaError),
        ({"$ref": "#/" + LONE}, SchemaError),
        ({"$schema": LONE}, SchemaError),
        ({"type": LONE}, SchemaError),
        ({"properties": {LONE: {"type": "null"}}}, None),
        ({"enum": ["a", LONE, {LONE: 1}]}, None),
        ({"format": LONE, LONE: 1, "$id": LONE, "$anchor": LONE}, None),
        ('{"properties": {"\\ud800": {}}, "title": "\\udfff"}', None),
        (b'{"title": "\xed\xa0\x80"}', None),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_lone_surrogates(schema: Any, error: type[TokamataError] | None) -> None:
    if error is None:
        assert tk.json_schema(schema).compile(BYTE_VOCABULARY).matcher().shortest_completion()
    else:
        with pytest.raises(error) as caught:
            tk.json_schema(schema)
        assert str(caught.value)


def test_constants_that_nest_deeper_than_can_be_written() -> None:
    value: Any = 1
    for _ in range(600):
        value = [value]
    with pytest.raises(UnsupportedSchemaError, match="nested") as caught:
        tk.json_schema({"items": {"const": value}})
    assert caught.value.pointer == "/items"


@pytest.mark.timeout(20)
def test_a_schema_that_is_exponentially_long_when_written_out() -> None:
    """One that has another in two places, thirty times over: few schemas, a billion ways to them."""
    schema: dict[str, Any] = {"type": "null"}
    for _ in range(30):
        schema = {"anyOf": [schema, {"items": schema}]}
    assert len(tk.json_schema(schema).pattern) < 1000
