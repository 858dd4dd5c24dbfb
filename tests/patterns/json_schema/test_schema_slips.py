"""Keywords, formats and patterns that are slips: which are, which are not, and what is said of them."""

from __future__ import annotations

import random
import warnings
from functools import cache
from typing import Any

import pytest

import tokamata as tk
from tests.support.paths import DATA
from tests.support.schemas.schema_suite import in_draft, load, remotes
from tokamata.patterns.json_schema.slips import edit_distance

FOLDER = DATA / "json_schema_test_suite"
DRAFTS = sorted(path.name for path in (FOLDER / "tests").iterdir())
DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_6 = "http://json-schema.org/draft-06/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"


def slips(schema: Any, **options: Any) -> list[tk.SchemaWarning]:
    """The warnings that a schema gives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tk.json_schema(schema, **options)
    found = [warning.message for warning in caught]
    assert all(isinstance(one, tk.SchemaWarning) for one in found)
    return found  # type: ignore[return-value]


SLIPS = [
    ({"minLenght": 3}, "minLength"),
    ({"maxLenght": 3}, "maxLength"),
    ({"propertes": {"a": {}}}, "properties"),
    ({"proprties": {"a": {}}}, "properties"),
    ({"additonalProperties": False}, "additionalProperties"),
    ({"additionalproperties": False}, "additionalProperties"),
    ({"additional_properties": False}, "additionalProperties"),
    ({"reqiured": ["a"]}, "required"),
    ({"require": ["a"]}, "required"),
    ({"enmu": [1]}, "enum"),
    ({"enums": ["a"]}, "enum"),
    ({"typ": "string"}, "type"),
    ({"Type": ["string", "null"]}, "type"),
    ({"item": {}}, "items"),
    ({"anyof": [{}]}, "anyOf"),
    ({"ref": "#/$defs/a"}, "$ref"),
    ({"patern": "a"}, "pattern"),
    ({"min_length": 3}, "minLength"),
    ({"minimun": 3}, "minimum"),
    ({"exclusiveMinimun": 3}, "exclusiveMinimum"),
    ({"inclusiveMinimum": 3}, "minimum"),
    ({"divisibleBy": 3}, "multipleOf"),
    ({"uniqeItems": True}, "uniqueItems"),
    ({"regex": "a"}, "pattern"),
    ({"min": 3}, "minimum"),
    ({"choices": ["a"]}, "enum"),
    ({"type": "string", "optional": True}, "required"),
    ({"type": "object", "name": {"type": "string"}}, "properties"),
    ({"name": "Paul", "age": 3}, "properties"),
    ({"format": "emial"}, "email"),
    ({"format": "datetime"}, "date-time"),
    ({"format": "dateTime"}, "date-time"),
    ({"format": "url"}, "uri"),
    ({"format": "UUID"}, "uuid"),
    ({"format": "guid"}, "uuid"),
    ({"format": "host-name"}, "hostname"),
    ({"type": "string", "nullable": True}, "type"),
    ({"nullable": True, "enum": ["a"]}, "type"),
    ({"dependencies": {"a": ["b"]}}, "dependentRequired and dependentSchemas"),
    ({"prefixItems": [{}], "additionalItems": False}, "items beside prefixItems"),
    ({"$recursiveRef": "#"}, "$dynamicRef"),
    ({"id": "http://example.org/a"}, "$id"),
    ({"$schema": DRAFT_4, "$id": "http://example.org/a"}, "id"),
    ({"$schema": DRAFT_4, "const": 1}, ""),
    ({"$schema": DRAFT_6, "if": {}, "then": {}}, ""),
    ({"$schema": DRAFT_7, "unevaluatedProperties": False}, ""),
    ({"$schema": DRAFT_7, "dependentRequired": {"a": ["b"]}}, ""),
    ({"$schema": DRAFT_7, "prefixItems": [{}]}, ""),
    ({"$schema": DRAFT_2019, "$dynamicRef": "#a"}, ""),
    ({"pattern": "^[[:alpha:]]+$"}, "[A-Za-z]"),
    ({"pattern": "[[:^digit:]]"}, "[0-9]"),
    ({"patternProperties": {"^[[:space:]]$": {}}}, r"\s"),
]


@pytest.mark.parametrize(("schema", "near"), SLIPS, ids=lambda value: str(value)[:40])
def test_what_is_a_slip(schema: dict[str, Any], near: str) -> None:
    found = slips(schema)
    assert found, schema
    assert found[0].near == near
    assert found[0].pointer == ""
    assert found[0].keyword in schema
    with pytest.raises(tk.SchemaError) as refused:
        tk.json_schema(schema, unknown="error")
    assert refused.value.pointer == ""
    assert refused.value.keyword == found[0].keyword
    assert slips(schema, unknown="ignore") == []


QUIET: list[dict[str, Any]] = [
    {"title": "a", "description": "b", "default": 1, "examples": [1], "example": 1, "deprecated": True},
    {"readOnly": True, "writeOnly": True, "$comment": "c", "x-order": 1, "X-Order": 2},
    {"contentEncoding": "base64", "contentMediaType": "a/b", "contentSchema": {}},
    {"discriminator": {"propertyName": "a"}, "xml": {}, "externalDocs": {}, "nullable": False},
    {"$defs": {"a": {"minLenght": 3}}, "definitions": {"a": {}}},
    {"then": {}, "else": {}, "minContains": 1, "additionalItems": False},
    {"format": "int32"},
    {"format": "password"},
    {"format": "uuid4"},
    {"format": "ipv4network"},
    {"format": "made-up-by-somebody"},
    {"id": "User"},
    {"$schema": DRAFT_4, "id": "http://example.org/a"},
    {"$schema": DRAFT_7, "dependencies": {"a": ["b"]}, "$id": "http://example.org/a"},
    {"pattern": r"[\w:]+:[a-z]"},
    {"pattern": "[a[:b]"},
    {"pattern": "(?:a|[b:])"},
]
QUIET_UNLESS_REFUSED: list[dict[str, Any]] = [
    {"note": "a text, and no schema"},
    {"num": 3, "count": "three", "ip": "1.2.3.4", "types": [{"a": 1}], "requires": "a"},
    {"_format": "email", "_uniqueItems": True, "#ref": "#/a", "//type": "string"},
    {"propertyOrder": 3, "ref": "User", "extends": "./base.json", "disallow": 3},
    {"markdown": "a", "tags": ["a"], "rules": {"a": {}}, "m" * 4000: 1},
]


@pytest.mark.parametrize("schema", [*QUIET, *QUIET_UNLESS_REFUSED], ids=lambda value: str(value)[:40])
def test_what_is_none(schema: dict[str, Any]) -> None:
    """A whole schema of such names alone is another matter: it accepts every value."""
    assert slips({"description": "all", **schema}) == []


@pytest.mark.parametrize("schema", QUIET[:6], ids=lambda value: str(value)[:40])
def test_annotations_are_never_refused(schema: dict[str, Any]) -> None:
    tk.json_schema(schema, unknown="error")


@pytest.mark.parametrize(
    "schema",
    [*({key: value} for one in QUIET_UNLESS_REFUSED for key, value in one.items()), {"format": "made-up"}],
    ids=lambda value: str(value)[:40],
)
def test_all_that_is_not_known_can_be_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(tk.SchemaError, match=r"known|expected a format"):
        tk.json_schema({"properties": {"a": schema}}, unknown="error")


@pytest.mark.parametrize("draft", DRAFTS)
def test_the_official_suite_is_quiet(draft: str) -> None:
    """Its schemas use every keyword as it should be, but for those that test what is ignored."""
    pytest.importorskip("jsonschema_specifications", reason="schemas of the suite refer to metaschemas")
    registry = remotes(FOLDER / "remotes", draft)
    found = [
        slip
        for path in sorted((FOLDER / "tests" / draft).glob("*.json"))
        for case in load(path)
        for slip in slips(in_draft(case["schema"], draft), strict=False, registry=registry)
    ]
    assert [slip for slip in found if slip.keyword not in ("$id", "id", "if", "then", "else")] == []


def test_models_of_pydantic_are_quiet() -> None:
    pydantic = pytest.importorskip("pydantic", reason="pydantic is an extra")
    fields = {
        "a": (pydantic.UUID4, ...),
        "b": (pydantic.SecretStr, pydantic.Field(json_schema_extra={"x-secret": True})),
        "c": (pydantic.FilePath | None, None),
        "d": (pydantic.AnyUrl, pydantic.Field(deprecated=True, examples=["a:b"])),
        "e": (pydantic.Base64Bytes, b""),
        "f": (pydantic.IPvAnyNetwork, ...),
        "g": (dict[str, pydantic.PositiveInt], pydantic.Field(min_length=1, max_length=2)),
    }
    model = pydantic.create_model("Model", **fields)
    schema = model.model_json_schema()
    assert slips(schema) == []
    tk.json_schema(schema, unknown="error")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tk.type(pydantic.create_model("Other", a=(int, ...), b=(str, "x")))


def test_each_once_with_its_first_place() -> None:
    wrong = {"type": "string", "minLenght": 3, "format": "emial"}
    schema = {"properties": {"a": wrong, "b/c": {"items": dict(wrong)}, "d": {"minLenght": 4}}}
    first, second = slips(schema)
    assert (first.pointer, first.keyword, first.count) == ("/properties/a", "minLenght", 3)
    assert (second.pointer, second.keyword, second.count) == ("/properties/a", "format", 2)
    assert str(first) == (
        "in the schema at /properties/a (and in 2 more): the keyword 'minLenght' says nothing in "
        "draft 2020-12; did you mean 'minLength'?"
    )
    assert "/properties/b~1c" in str(slips({"properties": {"b/c": wrong}})[0])


def test_places_that_no_reference_leads_to_are_not_read() -> None:
    defs = {"$defs": {"a": {"minLenght": 3}}}
    assert slips(defs) == []
    assert [slip.pointer for slip in slips({**defs, "$ref": "#/$defs/a"})] == ["/$defs/a"]


def test_what_a_metaschema_leaves_out_is_none() -> None:
    referencing = pytest.importorskip("referencing", reason="referencing is an extra")
    uri = "https://example.org/meta"
    core = "https://json-schema.org/draft/2020-12/vocab/core"
    meta = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$vocabulary": {core: True}}
    registry = referencing.Registry().with_contents([(uri, meta)])
    assert slips({"$schema": uri, "minLength": 3}, registry=registry) == []


def test_the_warning_names_the_line_of_the_caller() -> None:
    calls = (
        lambda schema: tk.json_schema(schema),
        lambda schema: tk.response_format({"type": "json_schema", "json_schema": {"schema": schema}}),
        lambda schema: tk.tool_call({"name": "f", "parameters": schema}),
        lambda schema: tk.tool_calls([{"name": "f", "parameters": schema}]),
        lambda schema: tk.structural_tag(
            {"type": "structural_tag", "format": {"type": "json_schema", "json_schema": schema}}
        ),
    )
    places = ("", "/json_schema/schema", "/0/parameters", "/0/parameters", "/format/json_schema")
    for call, place in zip(calls, places, strict=True):
        with pytest.warns(tk.SchemaWarning, match="minLenght") as caught:
            call({"properties": {"a": {"minLenght": 3}}})
        assert caught[0].filename == __file__
        assert caught[0].message.pointer == f"{place}/properties/a"  # type: ignore[union-attr]


def test_all_functions_can_refuse() -> None:
    schema = {"minLenght": 3}
    for call in (
        lambda **options: tk.response_format({"type": "json_schema", "schema": schema}, **options),
        lambda **options: tk.tool_call({"name": "f", "parameters": schema}, **options),
        lambda **options: tk.tool_calls([{"name": "f", "parameters": schema}], **options),
        lambda **options: tk.structural_tag(
            {"format": {"type": "json_schema", "json_schema": schema}}, **options
        ),
    ):
        with pytest.raises(tk.SchemaError, match="minLenght"):
            call(unknown="error")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            call(unknown="ignore")
    with pytest.raises(tk.ArgumentError, match="unknown must be"):
        tk.json_schema(True, unknown="refuse")  # type: ignore[arg-type]


@cache
def by_definition(one: str, other: str) -> int:
    """The distance, from the recursive definition of optimal string alignment."""
    if not one or not other:
        return len(one) + len(other)
    costs = [
        by_definition(one[:-1], other) + 1,
        by_definition(one, other[:-1]) + 1,
        by_definition(one[:-1], other[:-1]) + (one[-1] != other[-1]),
    ]
    if one[-2:] == other[-2:][::-1] and len(one) > 1 and len(other) > 1:
        costs.append(by_definition(one[:-2], other[:-2]) + 1)
    return min(costs)


def test_distances() -> None:
    random_ = random.Random(1)
    for _ in range(400):
        one, other = ("".join(random_.choices("ab1", k=random_.randint(0, 7))) for _ in range(2))
        assert edit_distance(one, other) == by_definition(one, other), (one, other)
    assert edit_distance("minlenght", "minlength") == 1


def test_one_letter_is_enough_for_every_keyword() -> None:
    """Each keyword with two neighbours swapped, a letter twice, or a letter less is found."""
    examples: dict[str, Any] = {
        "minLength": 3,
        "maxItems": 3,
        "properties": {"a": {}},
        "required": ["a"],
        "enum": [1],
        "type": "string",
        "additionalProperties": False,
        "patternProperties": {"a": {}},
        "propertyNames": {},
        "allOf": [{}],
        "unevaluatedProperties": False,
        "multipleOf": 2,
        "uniqueItems": True,
        "dependentRequired": {"a": ["b"]},
        "format": "email",
        "pattern": "a",
        "contains": {},
        "minContains": 2,
        "const": 1,
        "items": {},
    }
    for keyword, value in examples.items():
        for place in range(1, len(keyword) - 1):
            swapped = keyword[:place] + keyword[place + 1] + keyword[place] + keyword[place + 2 :]
            doubled = keyword[:place] + keyword[place] + keyword[place:]
            dropped = keyword[:place] + keyword[place + 1 :]
            for wrong in {swapped, doubled, dropped} - {keyword}:
                nears = [slip.near for slip in slips({wrong: value})]
                assert nears == [keyword] or (wrong in examples and not nears), wrong


@pytest.mark.parametrize(
    ("schema", "advice"),
    [
        ({"name": "Paul", "age": 3}, 'write {"type": "object", "properties": {…}}'),
        ({"name": str, "age": int}, "tokamata.type"),
        ({"name": "painter", "strict": True, "schema": {"type": "string"}}, 'pass its "schema"'),
        ({"name": "weather", "parameters": {"type": "object"}}, "tokamata.tool_calls takes a tool"),
    ],
)
def test_a_schema_without_any_keyword(schema: dict[str, Any], advice: str) -> None:
    """An example, or what holds a schema: it would accept every value."""
    [slip] = slips(schema)
    assert "'name' is no keyword, nor is another name there" in str(slip)
    assert advice in str(slip)
    assert slips(schema, unknown="ignore") == []
    assert tk.json_schema(schema, unknown="ignore").accepts("[1]")


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"title": "Anything"},
        {"x-note": 1},
        {"name": "Paul", "type": "object"},
        {"name": "Paul", "description": "all values"},
        {"items": {"name": "Paul", "age": 3}},
        {"type": "object", "properties": {}, "name": {"type": "string"}},
        {"type": "object", "name": {"a": {"type": "string"}}},
        {"type": "string", "optional": {}},
    ],
)
def test_names_that_are_left_alone(schema: dict[str, Any]) -> None:
    assert slips(schema) == []
