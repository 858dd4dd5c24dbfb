"""References: two routes that agree, ids, anchors, recursion, loops, documents from elsewhere."""

from __future__ import annotations

import json
from typing import Any

import pytest
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT7, DRAFT202012

from tests.support.schemas.random_schemas import DRAFTS, RandomSchemas
from tests.support.schemas.schema_tables import read, verdicts
from tokamata.errors import SchemaError

DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"
TREE = {
    "type": "object",
    "properties": {"value": {"type": "integer"}, "children": {"type": "array", "items": {"$ref": "#"}}},
    "required": ["value"],
}


def test_recursion() -> None:
    good = {"value": 1, "children": [{"value": 2}, {"value": 3, "children": []}]}
    bad = {"value": 1, "children": [{"value": 2}, {"children": []}]}
    assert verdicts(TREE, good, bad) == [True, False]


def test_recursion_between_definitions_in_either_order() -> None:
    odd = {"items": {"$ref": "#/$defs/even"}, "maxItems": 1}
    even = {"items": {"$ref": "#/$defs/odd"}, "minItems": 1}
    for definitions in ({"odd": odd, "even": even}, {"even": even, "odd": odd}):
        schema = {"$ref": "#/$defs/odd", "$defs": definitions}
        assert verdicts(schema, [], [[]], [[[]]], [[[]], [[]]]) == [True, False, True, False]


def test_pointers_are_unescaped() -> None:
    schema = {
        "properties": {
            "a": {"$ref": "#/$defs/a~1b"},
            "b": {"$ref": "#/$defs/c~0d"},
            "c": {"$ref": "#/$defs/e%25f"},
            "d": {"$ref": "#/$defs/g%22h"},
            "e": {"$ref": "#/$defs/l/allOf/1"},
        },
        "$defs": {
            "a/b": {"const": 1},
            "c~d": {"const": 2},
            "e%f": {"const": 3},
            'g"h': {"const": 4},
            "l": {"allOf": [True, {"const": 5}]},
        },
    }
    good = {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}
    assert verdicts(schema, good, *({**good, key: 0} for key in good)) == [True] + [False] * 5


def test_ids_anchors_and_absolute_references() -> None:
    schema = {
        "$id": "https://example.com/root.json",
        "properties": {
            "a": {"$ref": "#name"},
            "b": {"$ref": "inner.json#/$defs/x"},
            "c": {"$ref": "https://example.com/inner.json"},
            "d": {"$ref": "root.json#/$defs/inner/$defs/y"},
            "e": {"$ref": "inner.json#name"},
        },
        "$defs": {
            "inner": {
                "$id": "inner.json",
                "type": "string",
                "$defs": {
                    "x": {"$ref": "#/$defs/y"},
                    "y": {"const": "inner y"},
                    "z": {"$anchor": "name", "const": "inner name"},
                },
            },
            "y": {"const": "outer y"},
            "z": {"$anchor": "name", "const": "outer name"},
        },
    }
    good = {"a": "outer name", "b": "inner y", "c": "any", "d": "inner y", "e": "inner name"}
    assert verdicts(schema, good, *({**good, key: 0} for key in good)) == [True] + [False] * 5


def test_anchors_and_ids_of_draft_4() -> None:
    schema = {
        "$schema": DRAFT_4,
        "id": "http://example.com/root.json",
        "properties": {"a": {"$ref": "#foo"}, "b": {"$ref": "x.json"}, "id": {"type": "string"}},
        "definitions": {"a": {"id": "#foo", "type": "null"}, "b": {"id": "x.json", "type": "boolean"}},
    }
    assert verdicts(schema, {"a": None, "b": True, "id": "i"}, {"a": 1}, {"b": 1}, {"id": 1}) == [
        True,
        False,
        False,
        False,
    ]


def test_what_looks_like_an_id_in_a_value_is_none() -> None:
    schema = {
        "properties": {"a": {"$ref": "x.json"}},
        "$id": "https://example.com/",
        "enum": [{"$id": "x.json", "type": "null"}],
        "const": {"$id": "x.json"},
    }
    with pytest.raises(SchemaError, match=r"no document 'https://example\.com/x\.json'"):
        read(schema)


def test_dynamic_references() -> None:
    schema = {
        "$id": "https://example.com/strict-tree",
        "$dynamicAnchor": "node",
        "$ref": "tree",
        "unevaluatedProperties": False,
        "$defs": {
            "tree": {
                "$id": "tree",
                "$dynamicAnchor": "node",
                "properties": {"data": True, "children": {"items": {"$dynamicRef": "#node"}}},
            }
        },
    }
    assert verdicts(schema, {"children": [{"data": 1}]}, {"children": [{"daat": 1}]}) == [True, False]
    plain = {"$ref": "#/$defs/tree", "$defs": schema["$defs"]}
    assert verdicts(plain, {"children": [{"daat": 1}]}) == [True]


def test_recursive_references() -> None:
    tree = {
        "$id": "tree",
        "$recursiveAnchor": True,
        "properties": {"data": True, "children": {"items": {"$recursiveRef": "#"}}},
    }
    schema = {
        "$schema": DRAFT_2019,
        "$id": "https://example.com/strict-tree",
        "$recursiveAnchor": True,
        "$ref": "tree",
        "unevaluatedProperties": False,
        "$defs": {"tree": tree},
    }
    assert verdicts(schema, {"children": [{"data": 1}]}, {"children": [{"daat": 1}]}) == [True, False]
    assert verdicts({**schema, "$recursiveAnchor": False}, {"children": [{"daat": 1}]}) == [True]


def test_a_schema_is_read_anew_where_dynamic_references_lead_elsewhere() -> None:
    listed = {
        "$id": "list",
        "items": {"$dynamicRef": "#item"},
        "$defs": {"item": {"$dynamicAnchor": "item"}},
    }
    schema = {
        "$id": "https://example.com/root",
        "properties": {
            "numbers": {"$ref": "numbers"},
            "strings": {"$ref": "strings"},
            "all": {"$ref": "list"},
        },
        "$defs": {
            "list": listed,
            "numbers": {
                "$id": "numbers",
                "$ref": "list",
                "$defs": {"item": {"$dynamicAnchor": "item", "type": "number"}},
            },
            "strings": {
                "$id": "strings",
                "$ref": "list",
                "$defs": {"item": {"$dynamicAnchor": "item", "type": "string"}},
            },
        },
    }
    good = {"numbers": [1], "strings": ["a"], "all": [1, "a", None]}
    assert verdicts(schema, good, {"numbers": ["a"]}, {"strings": [1]}) == [True, False, False]


# ---- two routes ---------------------------------------------------------------------------------


def with_ids(schema: Any) -> dict[str, Any]:
    """The same schema with an id, and references that need it."""

    def changed(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: f"https://example.com/s{inner}" if key == "$ref" else changed(inner)
                for key, inner in value.items()
            }
        return [changed(one) for one in value] if isinstance(value, list) else value

    name = "id" if schema["$schema"] == DRAFT_4 else "$id"
    return {name: "https://example.com/s", **changed(schema)}


@pytest.mark.parametrize("draft", DRAFTS)
def test_both_routes_make_the_same_nodes(draft: str) -> None:
    references = 0
    for seed in range(60):
        schema = RandomSchemas(seed, draft).schema()
        if "$ref" in schema:  # beside which old drafts ignore an id
            continue
        references += json.dumps(schema).count('"$ref"')
        plain, other = (read(one, strict=False)[0].nodes for one in (schema, with_ids(schema)))
        assert [shape(node) for node in plain] == [shape(node) for node in other]
    assert references > 40


def shape(node: tuple[Any, ...]) -> tuple[Any, ...]:
    """A node without its languages, which are other objects each time."""
    parts = (len(part) if isinstance(part, tuple) and node[0] == "others" else part for part in node)
    return tuple(part for part in parts if type(part).__name__ != "Expression")


# ---- documents from elsewhere -------------------------------------------------------------------


def registry_of(**documents: Any) -> Registry[Any]:
    resources = [
        (f"https://example.com/{name}", Resource.from_contents(contents, default_specification=DRAFT202012))
        for name, contents in documents.items()
    ]
    return Registry().with_resources(resources)


def test_documents_from_the_registry() -> None:
    registry = registry_of(
        a={"properties": {"b": {"$ref": "b#/$defs/x"}, "self": {"$ref": "#"}}},
        b={"$defs": {"x": {"type": "null"}}},
    )
    schema = {"$ref": "https://example.com/a"}
    values = [{"b": None}, {"b": 1}, {"self": {"self": {"b": 1}}}]
    assert verdicts(schema, *values, registry=registry) == [True, False, False]


def test_drafts_meet() -> None:
    old = {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "null"}]}
    registry = Registry().with_resource("https://example.com/old", DRAFT7.create_resource(old))
    schema = {"prefixItems": [True, {"type": "string"}], "$ref": "https://example.com/old"}
    assert verdicts(schema, [None, "a"], [1, "a"], [None, 1], registry=registry) == [True, False, False]


def test_nothing_is_fetched_but_by_the_registry() -> None:
    with pytest.raises(SchemaError) as caught:
        read({"properties": {"a": {"$ref": "https://example.com/elsewhere.json"}}})
    assert (caught.value.pointer, caught.value.keyword) == ("/properties/a", "$ref")
    assert "taken from the referencing.Registry passed as registry= alone" in str(caught.value)
    asked: list[str] = []

    def retrieve(uri: str) -> Resource[Any]:
        asked.append(uri)
        return DRAFT202012.create_resource({"type": "null"})

    schema = {"$ref": "https://example.com/elsewhere.json#"}
    assert verdicts(schema, None, 1, registry=Registry(retrieve=retrieve)) == [True, False]
    assert asked == ["https://example.com/elsewhere.json"]


def test_a_retrieval_that_fails_is_told() -> None:
    def retrieve(uri: str) -> Resource[Any]:
        raise TimeoutError("no answer")

    with pytest.raises(SchemaError, match=r"has no document 'https://x\.org/' \(TimeoutError: no answer\)"):
        read({"$ref": "https://x.org/"}, registry=Registry(retrieve=retrieve))


def test_errors_in_other_documents_name_them() -> None:
    registry = registry_of(a={"$defs": {"x": {"minimum": "1"}}})
    with pytest.raises(SchemaError) as caught:
        read({"$ref": "https://example.com/a#/$defs/x"}, registry=registry)
    assert caught.value.pointer == "https://example.com/a#/$defs/x"


def test_vocabularies_of_a_metaschema() -> None:
    metaschema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$vocabulary": {
            "https://json-schema.org/draft/2020-12/vocab/core": True,
            "https://json-schema.org/draft/2020-12/vocab/applicator": True,
            "https://example.com/vocab/mine": False,
        },
    }
    schema = {"$schema": "https://example.com/meta", "properties": {"a": False, "b": {"minimum": 3}}}
    registry = registry_of(meta=metaschema)
    assert verdicts(schema, {"b": 1}, {"a": 1}, registry=registry) == [True, False]
    metaschema["$vocabulary"]["https://example.com/vocab/mine"] = True  # type: ignore[index]
    with pytest.raises(SchemaError, match=r"it needs https://example\.com/vocab/mine"):
        read(schema, registry=registry_of(meta=metaschema))
    with pytest.raises(
        SchemaError, match=r"the keyword '\$schema' is \"https://example\.com/meta\"; expected"
    ):
        read(schema)


# ---- references that cannot be followed ---------------------------------------------------------


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("#/$defs/y", "the schema has nothing at /$defs/y"),
        ("#/allOf/1", "the schema has nothing at /allOf/1"),
        ("#/allOf/01x", "the schema has nothing at /allOf/01x"),
        ("#/title", "a reference to a schema; no object and no boolean is there"),
        ("#nobody", "the schema has no anchor 'nobody'"),
        ("other.json", "there is no document 'other.json' within the schema"),
        (5, "a URI reference, as a string"),
    ],
)
def test_dangling_references(reference: Any, message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        read({"title": "t", "allOf": [{"items": {"$ref": reference}}]})
    error = caught.value
    assert (error.pointer, error.keyword) == ("/allOf/0/items", "$ref")
    assert message in str(error)
    assert str(reference) in error.found


@pytest.mark.parametrize(
    ("schema", "pointers"),
    [
        ({"$ref": "#"}, "the root → the root"),
        ({"allOf": [{"$ref": "#"}]}, "the root → /allOf/0 → the root"),
        ({"not": {"anyOf": [True, {"$ref": "#"}]}}, "the root → /not → /not/anyOf/1 → the root"),
        (
            {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
            "/$defs/a → /$defs/b → /$defs/a",
        ),
        (
            {
                "properties": {"x": {"$ref": "#/$defs/b"}},
                "allOf": [{"$ref": "#/$defs/b"}],
                "$defs": {"b": {"$ref": "#"}},
            },
            "→",
        ),
        ({"$dynamicAnchor": "n", "if": {"$dynamicRef": "#n"}, "then": False}, "the root → /if → the root"),
        ({"$schema": DRAFT_2019, "oneOf": [{"$recursiveRef": "#"}]}, "the root → /oneOf/0 → the root"),
        ({"dependentSchemas": {"a": {"$ref": "#"}}}, "the root → /dependentSchemas/a → the root"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_loops_about_the_same_value(schema: Any, pointers: str) -> None:
    with pytest.raises(SchemaError) as caught:
        read(schema)
    assert pointers in caught.value.found
    assert "part of a loop about the same value" in str(caught.value)


def test_what_is_recursion_is_no_loop() -> None:
    schema = {
        "allOf": [{"properties": {"a": {"$ref": "#"}}}, {"items": {"$ref": "#"}}],
        "not": {"contains": {"not": {"$ref": "#"}}, "minProperties": 1},
        "additionalProperties": {"$ref": "#"},
    }
    assert verdicts(schema, {}, [], [[]], {"a": 1}) == [True, True, True, False]
