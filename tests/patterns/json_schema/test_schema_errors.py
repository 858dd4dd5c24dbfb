"""Schemas that are none: what is found, where, and what is expected."""

from __future__ import annotations

from typing import Any

import pytest
from schema_tables import read

from tokamata.errors import LimitExceeded, SchemaError, TokamataError

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
    import tokamata as tk

    schema: dict[str, Any] = {}
    for _ in range(30):
        schema = {"not": schema}
    read(schema, limits=tk.Limits(depth=30))
    with pytest.raises(LimitExceeded) as caught:
        read(schema, limits=tk.Limits(depth=29))
    assert (caught.value.limit, caught.value.bound) == ("depth", 29)
