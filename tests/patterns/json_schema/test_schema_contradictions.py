"""Schemas without a value: the error names the schemas, and the keywords, that contradict each other."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from annotated_types import Ge, Le

import tokamata as tk
from tests.support.schemas.random_schemas import DRAFTS, RandomSchemas
from tests.support.vocabularies import BYTE_VOCABULARY

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
LINKED = {"type": "object", "properties": {"next": {"$ref": "#/$defs/list"}}, "required": ["next"]}


def error(schema: Any, **options: Any) -> tk.EmptyConstraintError:
    with pytest.raises(tk.EmptyConstraintError) as caught:
        tk.json_schema(schema, **options).compile(BYTE_VOCABULARY)
    return caught.value


CASES: list[tuple[Any, dict[str, list[str]]]] = [
    ({"allOf": [{"type": "string"}, {"type": "integer"}, {}]}, {"/allOf/0": ["type"], "/allOf/1": ["type"]}),
    ({"type": "integer", "minimum": 5, "maximum": 3}, {"": ["type", "minimum", "maximum"]}),
    ({"type": "string", "minLength": 5, "maxLength": 3}, {"": ["type", "minLength", "maxLength"]}),
    ({"enum": ["a", "b"], "pattern": "^c", "maxLength": 9}, {"": ["enum", "pattern"]}),
    ({"const": 1, "not": {"minimum": 0}}, {"": ["const", "not"]}),
    (
        {
            "type": "object",
            "properties": {"a": {"enum": []}, "b": {"type": "string"}},
            "required": ["a", "b"],
        },
        {"": ["type", "required"], "/properties/a": ["enum"]},
    ),
    (
        {
            "title": "t",
            "type": "object",
            "properties": {"x/y": {"type": "string"}, "z": {"$ref": "#/$defs/n"}},
            "required": ["x/y"],
            "anyOf": [{"properties": {"x/y": {"$ref": "#/$defs/n"}}}],
            "$defs": {"n": {"type": "null"}},
        },
        {"": ["type", "required"], "/properties/x~1y": ["type"], "/$defs/n": ["type"]},
    ),
    (
        {"type": "object", "required": ["a", "b"], "maxProperties": 1},
        {"": ["type", "required", "maxProperties"]},
    ),
    (
        {"type": "object", "required": ["a"], "additionalProperties": False, "properties": {"b": {}}},
        {"": ["type", "required", "additionalProperties"]},
    ),
    (
        {"type": "array", "prefixItems": [{"type": "null"}, False], "minItems": 2},
        {"": ["type", "prefixItems", "minItems"]},
    ),
    ({"$ref": "#/$defs/list", "$defs": {"list": LINKED}}, {"/$defs/list": ["type", "required"]}),
    ({"oneOf": [{"type": "null"}, {"type": "null"}]}, {"/oneOf/0": ["type"], "/oneOf/1": ["type"]}),
    ({"if": {"type": "string"}, "then": False, "type": "string"}, {"": ["type", "if", "then"]}),
    ({"$ref": "#/$defs/no", "$defs": {"no": False}}, {"": ["$ref"]}),
    (
        {"$schema": DRAFT_7, "$ref": "#/definitions/a", "type": "null", "definitions": {"a": {"enum": []}}},
        {"/definitions/a": ["enum"]},
    ),
    (
        {
            "type": "object",
            "allOf": [{"properties": {"a": {}}}],
            "properties": {"b": {"type": "null"}},
            "unevaluatedProperties": False,
            "required": ["c"],
        },
        {"": ["type", "required", "unevaluatedProperties"]},
    ),
    (False, {"": []}),
]


@pytest.mark.parametrize(("schema", "blamed"), CASES, ids=lambda value: str(value)[:40])
def test_the_nodes_that_contradict_each_other(schema: Any, blamed: dict[str, list[str]]) -> None:
    found = error(schema)
    assert sorted(found.pointers) == sorted(blamed)
    told = str(found)
    for pointer, keywords in blamed.items():
        assert f"at {pointer or 'its root'}" in told
        for keyword in keywords:
            assert repr(keyword) in told


def test_two_lines_among_thousands() -> None:
    names = {f"p{index}": {"type": "string", "maxLength": index} for index in range(2000)}
    names["p1234"]["minLength"] = 1235
    found = error({"type": "object", "properties": names, "required": ["p7", "p1234"]})
    assert set(found.pointers) == {"", "/properties/p1234"}
    assert len(str(found)) < 1000


def test_of_a_type() -> None:
    with pytest.raises(tk.EmptyConstraintError) as caught:
        tk.type(Annotated[int, Ge(5), Le(4)]).compile(BYTE_VOCABULARY)
    assert caught.value.pointers


def test_what_is_relaxed_is_not_blamed() -> None:
    schema = {"type": "string", "pattern": r"(a)\1", "enum": [1]}
    assert error(schema, strict=False).pointers == ("",)
    assert "pattern" not in str(error(schema, strict=False)).rpartition("together")[2]


def test_no_more_time_than_is_given() -> None:
    """What was found until then is told, or nothing."""
    names = {f"p{index}": {"type": "string", "enum": []} for index in range(300)}
    schema = {"type": "object", "properties": names, "required": sorted(names)}
    with pytest.raises((tk.EmptyConstraintError, tk.LimitExceeded)):
        tk.json_schema(schema).compile(BYTE_VOCABULARY, limits=tk.Limits(seconds=1e-6))


@pytest.mark.parametrize("seed", range(150))
def test_what_is_not_blamed_can_be_left_out(seed: int) -> None:
    """Random schemas that have to hold together: those of them that are named have no value either."""
    draft = ("draft2019-09", "draft2020-12")[seed % 2]  # where an id stands beside $ref
    parts = [{"$id": f"part{n}", **RandomSchemas(10 * seed + n, draft).schema()} for n in range(4)]
    try:
        tk.json_schema({"$schema": DRAFTS[draft], "allOf": parts}).compile(BYTE_VOCABULARY)
    except tk.EmptyConstraintError as found:
        named = {pointer.split("/")[2] for pointer in found.pointers if pointer.startswith("/allOf/")}
        kept = [parts[int(index)] for index in sorted(named)]
        assert kept
        error({"$schema": DRAFTS[draft], "allOf": kept})
    except (tk.LimitExceeded, tk.UnsupportedSchemaError):
        pass
