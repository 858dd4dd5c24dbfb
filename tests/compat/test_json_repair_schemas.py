"""The drop-in with a schema: values that jsonschema finds valid, and nothing made up in silence."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import jsonschema
import pydantic
import pytest

import tokamata as tk
from tests.support.mutations import mutated
from tokamata.compat import json_repair

ITEM = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "score": {"type": "number"}},
    "required": ["id", "score"],
}
REPORT: dict[str, Any] = {
    "$defs": {"Item": ITEM},
    "type": "object",
    "properties": {
        "items": {"type": "array", "items": {"$ref": "#/$defs/Item"}},
        "title": {"type": "string", "default": "none"},
        "flag": {"type": "boolean"},
        "kind": {"enum": ["draft", "final"]},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
    },
    "required": ["items", "kind"],
}


def loads(text: str, schema: Any = REPORT, **options: Any) -> Any:
    """The value, which jsonschema finds valid; the schema is as it was."""
    before = copy.deepcopy(schema)
    value = json_repair.loads(text, schema=schema, **options)
    if isinstance(schema, dict):
        jsonschema.Draft202012Validator(schema).validate(value)
    assert schema == before
    return value


def test_a_valid_value_is_not_changed() -> None:
    for text in (
        '{"kind": "draft", "items": []}',
        '{"items": [{"id": 1.0, "score": 2}], "kind": "final", "x": 1}',
    ):
        assert loads(text) == json.loads(text)
        assert json_repair.loads(text, schema=REPORT, logging=True) == (json.loads(text), [])
    assert loads('{"kind": "draft", "kind": "final", "items": []}') == {"kind": "final", "items": []}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # values of another type
        ('{"kind": "final", "items": [{"id": "7", "score": "2.5"}]}', {"items": [{"id": 7, "score": 2.5}]}),
        ('{"kind": "final", "items": [], "flag": "yes"}', {"flag": True, "items": []}),
        ('{"kind": "final", "items": [], "flag": 0}', {"flag": False, "items": []}),
        # mistakes in the text
        ("{'kind': 'final', 'items': [{'id': 1, 'score': 2}", {"items": [{"id": 1, "score": 2}]}),
        ('{"kind": "finall", "items": [],}', {"items": []}),
        # values that are missing
        ('{"kind": "final", "items": , "title": }', {"items": [], "title": "none"}),
        ('{"kind": "final", "items": [{"id": , "score": }]}', {"items": [{"id": 0, "score": 0}]}),
        # JSON within a string
        ('{"kind": "final", "items": "[{\\"id\\": 1, \\"score\\": 2}]"}', {"items": [{"id": 1, "score": 2}]}),
    ],
)
def test_repairs(text: str, value: dict[str, Any]) -> None:
    expected = {"kind": "final", "title": "none", "note": None, **value}
    assert loads(text) == expected
    assert loads(text, schema_repair_mode="salvage") == expected


def test_a_required_member_is_not_made_up() -> None:
    for text in ('{"kind": "draft"}', '{"kind": "draft",', '{"kind": "draft", "items": [{"id": 1}]}'):
        with pytest.raises(tk.ArgumentError, match=r"not one without \$\.items"):
            loads(text)
    with pytest.raises(tk.ArgumentError, match="without a value"):
        loads("")
    with pytest.raises(ValueError, match=r"\$\.items\[0\]\.score"):
        loads('{"kind": "draft", "items": [{"id": 1}]}', schema_repair_mode="salvage")


def test_salvage_takes_what_the_schema_names() -> None:
    assert loads("{}", schema_repair_mode="salvage") == {
        "kind": "draft",
        "items": [],
        "title": "none",
        "note": None,
    }
    schema = {
        "properties": {"a": {"const": 7}, "b": {"items": {}}, "c": {"default": "x"}},
        "required": ["a", "b", "c"],
    }
    assert loads("{}", schema, schema_repair_mode="salvage") == {"a": 7, "b": [], "c": "x"}


def test_a_value_that_does_not_fit_is_refused_or_its_element_dropped() -> None:
    text = '{"kind": "final", "items": [{"id": 1, "score": 85.6}, {"id": 2, "score": "N/A"}]}'
    with pytest.raises(tk.ArgumentError, match=r"\$\.items"):
        loads(text)
    assert loads(text, schema_repair_mode="salvage")["items"] == [{"id": 1, "score": 85.6}]


def test_a_mistyped_name_is_no_missing_one() -> None:
    assert loads('{"kinnd": "draft", "items": []}')["kind"] == "draft"
    with pytest.raises(tk.ArgumentError, match=r"without \$\.kind"):
        loads('{"ki": "draft", "items": []}')  # of two letters none is a typo


def test_models_of_pydantic() -> None:
    class Inner(pydantic.BaseModel):
        tags: list[str] = pydantic.Field(default_factory=list)

    class Model(pydantic.BaseModel):
        value: int
        inner: Inner
        note: str = "none"

    expected = {"value": 1, "inner": {"tags": []}, "note": "none"}
    assert json_repair.loads('{"value": "1", "inner": {"tags": }', schema=Model) == expected
    assert json_repair.repair_json("{'value': 1, 'inner': {}}", schema=Model, sort_keys=True) == (
        '{"inner": {}, "note": "none", "value": 1}'
    )


def test_schemas_of_one_value_and_none() -> None:
    assert loads("[1, 2", True) == [1, 2]
    assert loads('"1"', {"type": "integer"}) == 1
    with pytest.raises(tk.EmptyConstraintError):
        json_repair.loads("[1, 2", schema=False)
    with pytest.raises(tk.SchemaError):
        json_repair.loads("[1, 2", schema={"type": "bogus"})


def test_the_log_says_what_was_made_up() -> None:
    _, log = json_repair.loads('{"kind": "final", "items": }', schema=REPORT, logging=True)  # type: ignore[misc]
    texts = [entry["text"] for entry in log]  # type: ignore[union-attr]
    assert "write a missing value: ':' became ':[]'" in texts
    assert "filled in the default of $.title" in texts


def test_defaults_are_copies_and_bounded() -> None:
    schema = {"items": {"properties": {"a": {"default": ["x" * 100]}}}}
    value = loads("[{}, {},]", schema)
    value[0]["a"].append(1)
    assert value[1] == {"a": ["x" * 100]}
    with pytest.raises(tk.LimitExceeded, match="memory_bytes"):
        loads("[" + "{}, " * 5000 + "]", schema, limits=tk.Limits(memory_bytes=1 << 22))


def test_references_that_lead_nowhere_or_around_propose_nothing() -> None:
    for reference in ("#/none", "#/properties/a", "https://e.org/x"):
        schema = {"properties": {"b": {"type": "integer"}, "a": {"$ref": reference}}}
        try:
            value = loads('{"b": "1",}', schema)
        except (tk.SchemaError, tk.UnsupportedSchemaError):
            continue
        assert value == {"b": 1}


def test_members_that_the_schema_forbids_are_dropped() -> None:
    schema = {"properties": {"a": {"type": "integer"}}, "additionalProperties": False}
    for text in ('{"a": "1", "x": {"y": [1]}}', '{"x": {"y": [1]}, "a": 1', '{"a": 1, "x": 2, "z": 3}'):
        assert loads(text, schema) == {"a": 1}


def test_elements_that_do_not_fit_are_dropped_at_any_depth() -> None:
    row = {"type": "array", "items": ITEM, "minItems": 1}
    schema = {"type": "array", "items": row}
    text = '[[{"id": 1, "score": 2}, {"id": {"x": [1]}, "score": 3}], [{"id": "none", "score": []}]]'
    assert loads(text, schema, schema_repair_mode="salvage") == [[{"id": 1, "score": 2}]]
    with pytest.raises(tk.ArgumentError, match=r"at \$|without \$"):
        loads('[[{"id": "none", "score": 1}]]', {**schema, "minItems": 1}, schema_repair_mode="salvage")


def test_random_texts_are_valid_or_refused() -> None:
    draw = random.Random("schemas")
    valid = refused = 0  # or not ended within the limits
    items = [{"id": 1, "score": 2.5}, {"id": 2, "score": 3}]
    text = json.dumps({"items": items, "kind": "final", "flag": True}).encode()
    for _ in range(40):
        broken = mutated(text, draw).decode("utf-8", "replace")
        try:
            loads(
                broken, limits=tk.Limits(seconds=1), schema_repair_mode=draw.choice(["standard", "salvage"])
            )
            valid += 1
        except (tk.ArgumentError, tk.LimitExceeded):
            refused += 1
    assert valid > 20
    assert refused < 20
