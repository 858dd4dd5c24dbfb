"""What cannot be enforced: refused, or left out such that the whole only widens; and the report on it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.schemas.schema_tables import read, verdicts
from tokamata.errors import UnsupportedSchemaError
from tokamata.patterns.json_schema import ReportEntry
from tokamata.patterns.json_schema.unevaluated import MOST_OPTIONS

TWICE = r"^(.)\1$"  # no regular language
DRAFT_7 = "http://json-schema.org/draft-07/schema#"

UNSUPPORTED: list[tuple[dict[str, Any], str, str, str]] = [
    ({"items": {"pattern": TWICE}}, "/items", "pattern", "backreference"),
    ({"patternProperties": {TWICE: {"type": "null"}}}, "", "patternProperties", "backreference"),
    (
        {"patternProperties": {TWICE: True}, "additionalProperties": False},
        "",
        "additionalProperties",
        "backref",
    ),
    ({"propertyNames": {"not": {"pattern": TWICE}}}, "/propertyNames/not", "pattern", "backreference"),
    ({"pattern": "a{2"}, "", "pattern", "incomplete quantifier"),
    (
        {
            "anyOf": [{"properties": {"a": {"type": "null"}}}],
            "patternProperties": {TWICE: True},
            "unevaluatedProperties": False,
        },
        "",
        "unevaluatedProperties",
        "backreference",
    ),
]


@pytest.mark.parametrize(("schema", "pointer", "keyword", "reason"), UNSUPPORTED, ids=lambda v: str(v)[:40])
def test_refused_or_left_out(schema: dict[str, Any], pointer: str, keyword: str, reason: str) -> None:
    with pytest.raises(UnsupportedSchemaError) as caught:
        read(schema)
    error = caught.value
    assert (error.pointer, error.keyword) == (pointer, keyword)
    assert reason in error.reason
    assert "pass strict=False" in str(error)
    _, reading = read(schema, strict=False)
    assert not reading.is_exact
    assert (pointer, keyword, "relaxed") in [entry[:3] for entry in reading.relaxed()]


def test_unique_items_are_enforced_wherever_they_stand() -> None:
    schemas: list[dict[str, Any]] = [
        {"uniqueItems": True},
        {"not": {"uniqueItems": False}},
        {"not": {"uniqueItems": True}},
        {"oneOf": [{"uniqueItems": True}, {"maxItems": 1}]},
        {"if": {"items": {"uniqueItems": True}}, "then": False},
        {"contains": {"uniqueItems": True}, "maxContains": 2},
        {"not": {"not": {"uniqueItems": True}}},
        {"oneOf": [{"type": "array", "uniqueItems": True}, {"type": "string"}]},
        {"if": {"minItems": 1}, "then": {"uniqueItems": True}},
        {"contains": {"uniqueItems": True}, "minContains": 2},
        {"dependentSchemas": {"a": {"uniqueItems": True}}, "not": {"type": "null"}},
    ]
    for schema in schemas:
        assert read(schema)[1].is_exact
    assert verdicts({"not": {"not": {"uniqueItems": True}}}, [1, 1.0], [1, True]) == [False, True]


def test_relaxing_widens_under_every_number_of_negations() -> None:
    schema: dict[str, Any] = {"pattern": TWICE, "maxLength": 2}
    for depth in range(4):
        for text in ("aa", "ab", "abc"):
            exact = (text == "aa") == (depth % 2 == 0)
            held = verdicts(schema, text, strict=False)[0]
            assert held or not exact
        schema = {"not": schema}
    # What can be enforced still is.
    assert verdicts({"pattern": TWICE, "maxLength": 2}, "abc", strict=False) == [False]
    assert verdicts({"not": {"not": {"pattern": TWICE, "maxLength": 2}}}, "abc", strict=False) == [False]


def test_relaxing_one_of_keeps_what_is_known() -> None:
    schema = {"oneOf": [{"pattern": TWICE}, {"maxLength": 1}, {"const": "abc"}]}
    # In truth each is in exactly one; whether "abc" is in the first as well cannot be told.
    assert verdicts(schema, "aa", "abc", "a", strict=False) == [True, True, True]
    schema = {"oneOf": [{"pattern": TWICE}, {"maxLength": 1}, {"minLength": 0}]}
    assert verdicts(schema, "", strict=False) == [False]  # in two that are known


def test_a_relaxed_schema_in_both_signs() -> None:
    schema = {
        "properties": {"a": {"$ref": "#/$defs/x"}, "b": {"not": {"$ref": "#/$defs/x"}}},
        "$defs": {"x": {"pattern": TWICE, "items": {"$ref": "#"}}},
    }
    for value in ({"a": "aa", "b": "ab"}, {"a": "ab"}, {"b": "aa"}, {"a": [{"b": "ab"}]}):
        assert verdicts(schema, value, strict=False) == [True]


def test_too_many_cases_of_what_is_evaluated() -> None:
    branches = [{"properties": {f"p{index}": {"type": "null"}}} for index in range(13)]
    schema = {"anyOf": branches, "unevaluatedProperties": False}
    with pytest.raises(UnsupportedSchemaError, match=f"more than {MOST_OPTIONS:,} cases"):
        read(schema)
    assert verdicts(schema, {"p1": None}, {"q": 1}, strict=False) == [True, True]
    assert verdicts({**schema, "anyOf": branches[:6]}, {"p1": None}, {"q": 1}) == [True, False]
    many = [{"required": [f"p{index}"]} for index in range(200)]  # which evaluate nothing
    assert verdicts({"anyOf": many, "unevaluatedProperties": False}, {"p1": None}) == [False]


def test_the_report_tells_what_became_of_each_keyword() -> None:
    schema = {
        "$schema": DRAFT_7,
        "title": "a title",
        "properties": {"a": {"$ref": "#/definitions/x", "maxLength": 3}, "b": {"format": "unheard-of"}},
        "definitions": {"x": {"pattern": TWICE, "minLength": 1}, "unused": {"type": "string"}},
        "then": True,
        "items": {"type": "null"},
        "additionalItems": False,
        "unevaluatedItems": False,
    }
    report = read(schema, strict=False)[1].report()
    assert [entry[:3] for entry in report if entry.status != "annotation"] == [
        ("", "properties", "enforced"),
        ("", "items", "enforced"),
        ("/properties/a", "$ref", "enforced"),
        ("/definitions/x", "pattern", "relaxed"),
        ("/definitions/x", "minLength", "enforced"),
        ("/items", "type", "enforced"),
    ]
    reasons = {(entry.pointer, entry.keyword): entry.reason for entry in report if entry.reason}
    assert reasons == {
        ("", "$schema"): "names the draft",
        ("", "title"): "asserts nothing in draft 7",
        ("", "definitions"): "holds schemas for references",
        ("", "then"): "means nothing without 'if'",
        ("", "additionalItems"): "means nothing unless 'items' is an array",
        ("", "unevaluatedItems"): "asserts nothing in draft 7",
        ("/properties/a", "maxLength"): "draft 7 ignores what stands beside $ref",
        ("/properties/b", "format"): "no format of this name is known",
        (
            "/definitions/x",
            "pattern",
        ): "backreference \\1: no regular language can say this at position 4 of the pattern",
    }


def test_the_report_is_in_the_order_of_the_document() -> None:
    schema = {"properties": {"b": {"type": "null"}, "a": {"items": {"minimum": 1}}}, "type": "object"}
    assert read(schema)[1].report() == [
        ReportEntry("", "properties", "enforced", ""),
        ReportEntry("", "type", "enforced", ""),
        ReportEntry("/properties/b", "type", "enforced", ""),
        ReportEntry("/properties/a", "items", "enforced", ""),
        ReportEntry("/properties/a/items", "minimum", "enforced", ""),
    ]
    assert read(True)[1].report() == []
    reason = "asserts nothing in draft 2020-12; there are dependentRequired and dependentSchemas"
    assert read({"dependencies": {}})[1].report() == [ReportEntry("", "dependencies", "annotation", reason)]
