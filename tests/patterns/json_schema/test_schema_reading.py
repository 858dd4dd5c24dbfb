"""What schemas become: nodes, their order, their sharing; numbers and texts as JSON has them."""

from __future__ import annotations

import collections
import json
from decimal import Decimal
from typing import Any

import jsonschema
import pytest

import tokamata as tk
from tests.support.schemas.schema_tables import names_in_order, read, verdicts
from tokamata.calls.recipes import copied
from tokamata.patterns.json_schema.table import NUMBER, OBJECT, STRING

DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"


def nodes(schema: Any, **options: Any) -> list[tuple[Any, ...]]:
    return read(schema, **options)[0].nodes[2:]  # the first two are anything and nothing


def test_the_example_of_the_module() -> None:
    schema = {"properties": {"next": {"$ref": "#"}}, "required": ["value"]}
    assert nodes(schema) == [
        ("defined", 5),
        ("property", "next", 2),
        ("has", "value"),
        ("all_of", (3, 4)),
    ]


def test_what_says_nothing_is_no_node() -> None:
    table, reading = read({"title": "all", "properties": {"a": {"description": "anything"}}})
    assert table.nodes == [("any_value",), ("no_value",), ("property", "a", 0)]
    assert reading.root == 2
    assert read(True)[1].root == read({})[1].root == 0
    assert read(False)[1].root == 1
    assert read("false")[1].root == read(b"false")[1].root == 1


def test_types() -> None:
    assert nodes({"type": "string"}) == [("types", STRING)]
    assert nodes({"type": ["object", "string"]}) == [("types", OBJECT | STRING)]
    assert nodes({"type": "integer"}) == [("types", NUMBER), ("integral",), ("all_of", (2, 3))]
    assert nodes({"type": ["integer", "number"]}) == [("types", NUMBER)]
    assert verdicts({"type": ["integer", "string"]}, 1, 1.0, 1.5, "a", None) == [
        True,
        True,
        False,
        True,
        False,
    ]


def test_bounds_are_exact_decimals() -> None:
    text = '{"minimum": 0.1, "exclusiveMaximum": 1e-7, "multipleOf": 0.30}'
    assert nodes(text) == [("number_range", "0.1", None, None, "1E-7", "0.30")]
    assert nodes({"minimum": 0.1, "maximum": 3}) == [("number_range", "0.1", None, "3", None, None)]
    assert verdicts('{"multipleOf": 0.1}', Decimal("0.3"), 0.3, Decimal("0.35")) == [True, True, False]
    big = 10**40
    assert verdicts({"minimum": big}, big, big - 1) == [True, False]


def test_exclusive_bounds_of_draft_4() -> None:
    schema = {
        "$schema": DRAFT_4,
        "minimum": 1,
        "exclusiveMinimum": True,
        "maximum": 3,
        "exclusiveMaximum": False,
    }
    assert nodes(schema) == [("number_range", None, "1", "3", None, None)]


def test_counts_may_be_written_with_a_fraction() -> None:
    assert nodes('{"minLength": 2.0, "maxLength": 3e0}') == [("string_length", 2, 3)]
    assert nodes({"minItems": 2.0}) == [("array_length", 2, None)]


def test_keywords_that_belong_together_are_one_node() -> None:
    assert [node[0] for node in nodes({"maxLength": 3, "title": "", "minLength": 1})] == ["string_length"]
    schema = {"maximum": 3, "items": {"type": "string"}, "minimum": 1, "prefixItems": [{"type": "null"}]}
    assert sorted(node[0] for node in nodes(schema)) == ["all_of", "items", "number_range", "types", "types"]


def test_properties_in_the_order_of_the_document() -> None:
    schema = {
        "required": ["z", "b"],
        "allOf": [{"$ref": "#/$defs/first"}, {"properties": {"c": True, "a": True}}],
        "properties": {"d": True, "b": True},
        "unevaluatedProperties": False,
        "$defs": {"first": {"properties": {"e": True, "c": True}}},
    }
    table, reading = read(schema)
    assert names_in_order(table, reading.root) == ["e", "c", "a", "d", "b", "z"]


def test_unevaluated_properties_come_last_wherever_they_stand() -> None:
    schema = {
        "unevaluatedProperties": False,
        "properties": {"b": True},
        "anyOf": [{"properties": {"c": {"type": "null"}}}, {"properties": {"a": {"type": "null"}}}],
    }
    table, reading = read(schema)
    assert names_in_order(table, reading.root) == ["b", "c", "a"]


def test_a_schema_is_read_once_however_often_it_is_referred_to() -> None:
    names = [f"p{index}" for index in range(50)]
    definition = {"type": "string", "maxLength": 7}
    schema = {"properties": {name: {"$ref": "#/$defs/x"} for name in names}, "$defs": {"x": definition}}
    assert [node[0] for node in nodes(schema)].count("string_length") == 1


def test_one_of_without_negation_where_schemas_share_no_type() -> None:
    assert [node[0] for node in nodes({"oneOf": [{"type": "string"}, {"type": "null"}]})][-1] == "any_of"
    schema = {"oneOf": [{"type": "string"}, {"type": "integer"}, {"enum": [1, 1.5]}]}
    assert [node[0] for node in nodes(schema)][-2:] == ["one_of", "any_of"]
    assert verdicts(schema, "a", 1, 2, 1.5, None) == [True, False, True, True, False]


def variant(value: Any, *others: str) -> dict[str, Any]:
    """An object that requires a kind, whose value is this one."""
    return {"type": "object", "properties": {"kind": value}, "required": ["kind", *others]}


def test_one_of_without_negation_where_a_property_tells_schemas_apart() -> None:
    schema = {
        "oneOf": [variant({"const": "a"}), variant({"enum": ["b", "c"]}, "x"), {"$ref": "#/$defs/d"}],
        "$defs": {"d": {"allOf": [variant({"$ref": "#/$defs/kind"})]}, "kind": {"const": "d"}},
    }
    assert "one_of" not in [node[0] for node in nodes(schema)]
    values = [{"kind": "a"}, {"kind": "b"}, {"kind": "c", "x": 1}, {"kind": "d"}, {"kind": "e"}, {}]
    assert verdicts(schema, *values) == [True, False, True, True, False, False]


def test_one_of_objects_by_themselves_where_all_else_is_in_every_schema() -> None:
    """Variants that do not say that they are objects hold of everything else together."""
    variants = [{"properties": {"kind": {"const": kind}}, "required": ["kind"]} for kind in ("a", "b")]
    schema = {"oneOf": [*variants, {"type": "string"}]}
    constraint = tk.json_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for value in ({"kind": "a"}, {"kind": "b", "x": 1}, {"kind": "c"}, {}, [], 1, None, "a"):
        assert constraint.accepts(json.dumps(value, separators=(",", ":"))) == validator.is_valid(value), (
            value
        )


@pytest.mark.parametrize(
    "schemas",
    [
        [variant({"const": "a"}), variant({"enum": ["a", "b"]})],
        [variant({"const": 1}), variant({"const": 1.0})],
        [variant({"const": "a"}), {"type": "object"}],
        [variant({"const": "a"}), {**variant({"const": "b"}), "required": []}],
        [
            {**variant({"const": 0}), "type": ["object", "null"]},
            {**variant({"const": 1}), "type": ["object", "null"]},
        ],
    ],
    ids=["shared value", "equal numbers", "no kind", "kind not required", "other types"],
)
def test_one_of_with_negation_where_nothing_tells_schemas_apart(schemas: list[Any]) -> None:
    assert "one_of" in [node[0] for node in nodes({"oneOf": schemas})]


def test_array_form_of_items_by_draft() -> None:
    schema = {"items": [{"type": "null"}], "additionalItems": False}
    for draft in (DRAFT_4, DRAFT_7, DRAFT_2019):
        found = verdicts({"$schema": draft, **schema}, [None], [1], [None, None], [])
        assert found == [True, False, False, True]
    assert verdicts({"prefixItems": [{"type": "null"}], "additionalItems": False}, [None, 2]) == [True]


def test_siblings_of_references_by_draft() -> None:
    schema = {"$ref": "#/definitions/x", "maxLength": 1, "definitions": {"x": {"type": "string"}}}
    assert verdicts({"$schema": DRAFT_7, **schema}, "ab", 1) == [True, False]
    assert verdicts({"$schema": DRAFT_2019, **schema}, "ab", "a", 1) == [False, True, False]
    assert verdicts(schema, "ab", "a", 1) == [False, True, False]


def test_dependencies_say_nothing_since_2019() -> None:
    schema = {"dependencies": {"a": ["b"], "c": {"maxProperties": 1}}}
    values = [{"a": 1}, {"a": 1, "b": 1}, {"c": 1}, {"c": 1, "d": 1}, 1]
    assert verdicts({"$schema": DRAFT_7, **schema}, *values) == [False, True, True, False, True]
    assert verdicts(schema, *values) == [True] * 5


def test_dependent_schemas_are_about_objects_alone() -> None:
    assert verdicts({"dependentSchemas": {"a": {"type": "null"}}}, {"b": 1}, {"a": 1}, 1, None) == [
        True,
        False,
        True,
        True,
    ]


def test_patterns_are_searched_for() -> None:
    assert verdicts({"pattern": "b+"}, "abbc", "ac", 5) == [True, False, True]
    assert verdicts({"pattern": r"^\p{Lu}"}, "Éa", "éa") == [True, False]


def test_names_of_properties_are_strings_of_a_schema() -> None:
    schema = {
        "propertyNames": {
            "type": ["string", "null"],
            "anyOf": [{"pattern": "^a"}, {"$ref": "#/$defs/short"}],
            "not": {"const": "abc"},
            "if": {"minLength": 4},
            "then": {"enum": ["abcd", "axyz", 3]},
            "oneOf": [{"maxLength": 5}, {"pattern": "x"}],
            "minimum": 7,
        },
        "$defs": {"short": {"maxLength": 1, "minLength": 1}},
    }
    keys = ["a", "b", "ab", "abc", "abcd", "axyz", "abce", "x", ""]
    found = verdicts(schema, *({key: 1} for key in keys))
    assert found == [True, True, True, False, True, False, False, False, False]
    assert verdicts({"propertyNames": {"minLength": 3, "maxLength": 2}}, {}, {"abc": 1}) == [True, False]
    assert verdicts({"propertyNames": False}, {}, {"a": 1}, 3) == [True, False, True]
    assert verdicts({"propertyNames": {"type": "integer"}}, {}, {"a": 1}) == [True, False]


def test_formats_are_assertions_or_annotations(monkeypatch: pytest.MonkeyPatch) -> None:
    from tokamata.patterns.json_schema.keywords import strings

    monkeypatch.setattr(
        strings,
        "format_expression",
        lambda name: strings.pattern_expression("^[0-9]$") if name == "digit" else None,
    )
    assert verdicts({"format": "digit"}, "1", "a", 5) == [True, False, True]
    assert verdicts({"format": "digit"}, "1", "a", formats="annotate") == [True, True]
    assert verdicts({"format": "unheard-of"}, "1", "a") == [True, True]


def test_lone_surrogates_are_in_no_text() -> None:
    text = (
        r'{"properties": {"\ud800": false}, "required": ["a"], "enum": [{"a": "\udc00"}, {"a": 1}, "\ud800"]}'
    )
    table, _ = read(text)
    assert ("constants", ({"a": 1},)) in table.nodes
    assert not any(node[0] == "property" for node in table.nodes)
    assert verdicts(r'{"required": ["\ud800"]}', {}, 5) == [False, True]
    assert verdicts(r'{"const": "\ud800"}', "a") == [False]
    assert verdicts(
        r'{"properties": {"\ud800": true, "a": true}, "additionalProperties": false}', {"a": 1}, {"b": 1}
    ) == [
        True,
        False,
    ]


def test_dicts_that_are_like_those_of_json() -> None:
    schema = collections.OrderedDict(
        type="object",
        properties=collections.OrderedDict(a=collections.OrderedDict(enum=("x", 2))),
    )
    assert verdicts(copied(schema), {"a": "x"}, {"a": "y"}, []) == [True, False, False]
    assert tk.json_schema(schema).report() == tk.json_schema(copied(schema)).report()


def test_text_and_dict_say_the_same() -> None:
    schema = {"properties": {"a": {"minimum": 0.1, "enum": [0.1, 1e3, "é", None, [1.5]]}}, "minProperties": 1}
    from_text, from_dict = read(json.dumps(schema))[0], read(schema)[0]
    assert [node[0] for node in from_text.nodes] == [node[0] for node in from_dict.nodes]
    values = [{"a": 0.1}, {"a": 1000}, {"a": "é"}, {"a": [1.5]}, {"a": 2}, {}]
    assert verdicts(json.dumps(schema), *values) == verdicts(schema, *values)


def test_the_caller_is_told_about_wrong_arguments() -> None:
    with pytest.raises(ValueError, match='formats must be "assert" or "annotate"'):
        read({}, formats="maybe")
    with pytest.raises(TypeError, match=r"registry must be a referencing\.Registry, not dict"):
        read({}, registry={})
    with pytest.raises(TypeError, match="a schema must be a dict, a bool, or its JSON text, not list"):
        read([])
