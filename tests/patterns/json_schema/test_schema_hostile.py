"""Schemas from strangers: they are read, or stopped by a typed error, in little time."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from typing import Any

import pytest
import referencing

import tokamata as tk
from tests.support.schemas.schema_tables import read, verdicts
from tokamata.errors import LimitExceeded, SchemaError, TokamataError, UnsupportedSchemaError
from tokamata.patterns.json_schema import reading
from tokamata.patterns.json_schema.table import NULL
from tokamata.resources.limits import Watch

DEEP = 10_000
DRAFT = "https://json-schema.org/draft/2020-12/schema"
NESTED: dict[str, Any] = {
    "not": lambda inner: {"not": inner},
    "items": lambda inner: {"items": inner},
    "properties": lambda inner: {"properties": {"a": inner}},
    "allOf": lambda inner: {"allOf": [inner]},
    "oneOf": lambda inner: {"oneOf": [inner, {"type": "null"}]},
    "if": lambda inner: {"if": inner, "then": inner},
    "unevaluatedItems": lambda inner: {"anyOf": [inner], "unevaluatedItems": False},
    "propertyNames": lambda inner: {"propertyNames": {"not": inner}},
    "dependentSchemas": lambda inner: {"dependentSchemas": {"a": inner}},
}


def nested(keyword: str, depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "null"}
    for _ in range(depth):
        schema = NESTED[keyword](schema)
    return schema


@pytest.mark.timeout(60)
@pytest.mark.parametrize("keyword", NESTED)
def test_deep_nesting_ends_in_a_typed_error(keyword: str) -> None:
    with pytest.raises((LimitExceeded, UnsupportedSchemaError)):
        read(nested(keyword, DEEP))


@pytest.mark.timeout(60)
@pytest.mark.parametrize("keyword", ["not", "items", "properties", "allOf", "oneOf", "dependentSchemas"])
def test_deep_nesting_is_read_where_the_limits_allow_it(keyword: str) -> None:
    table, reading = read(nested(keyword, DEEP), limits=tk.Limits(depth=10 * DEEP))
    assert ("types", NULL) in table.nodes  # the innermost
    assert reading.is_exact


def test_deep_text() -> None:
    with pytest.raises(LimitExceeded) as caught:
        read('{"not":' * 100_000 + "true" + "}" * 100_000)
    assert caught.value.limit == "depth"


def test_deep_constants() -> None:
    value: Any = 1
    for _ in range(DEEP):
        value = [value]
    for schema in ({"const": value}, {"enum": [value]}):
        with pytest.raises(LimitExceeded):
            read(schema)


def test_nesting_through_references_is_no_nesting() -> None:
    count = 3000
    definitions = {f"d{i}": {"properties": {"a": {"$ref": f"#/$defs/d{i + 1}"}}} for i in range(count)}
    table, _ = read({"$ref": "#/$defs/d0", "$defs": {**definitions, f"d{count}": {"type": "null"}}})
    assert sum(node[0] == "property" for node in table.nodes) == count
    chain = {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(count)}
    assert verdicts({"$ref": "#/$defs/d0", "$defs": {**chain, f"d{count}": {"type": "null"}}}, None, 1) == [
        True,
        False,
    ]


def test_a_loop_longer_than_the_stack() -> None:
    count = 2000
    chain = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{(i + 1) % count}"}]} for i in range(count)}
    with pytest.raises(SchemaError, match="part of a loop about the same value"):
        read({"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": chain})


@pytest.mark.timeout(60)
@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_branches_that_share_their_targets(keyword: str) -> None:
    """Each definition leads to the next twice: millions of ways, few schemas."""
    count = 60
    definitions: dict[str, Any] = {
        f"d{i}": {keyword: [{"$ref": f"#/$defs/d{i + 1}"}, {"$ref": f"#/$defs/d{i + 1}"}]}
        for i in range(count)
    }
    definitions[f"d{count}"] = {"properties": {"a": True}, "pattern": "x"}
    for use in ({"$ref": "#/$defs/d42"}, {"propertyNames": {"$ref": "#/$defs/d42"}}):
        read({**use, "$defs": definitions})
        read({**use, "unevaluatedProperties": False, "$defs": definitions}, strict=False)


@pytest.mark.timeout(60)
def test_many_resources_that_lead_to_each_other() -> None:
    count = 9
    definitions = {
        f"r{i}": {
            "$id": f"r{i}",
            "$dynamicAnchor": f"n{i % 3}",
            "properties": {str(j): {"$ref": f"r{j}"} for j in range(count)},
            "items": {"$dynamicRef": f"#n{i % 3}"},
        }
        for i in range(count)
    }
    schema = {"$id": "https://example.com/", "properties": {"a": {"$ref": "r0"}}, "$defs": definitions}
    with suppress(LimitExceeded):
        read(schema)


@pytest.mark.timeout(20)
def test_large_schemas() -> None:
    values = [f"value number {index} é" for index in range(60_000)]
    text = json.dumps({"type": "string", "enum": values})
    assert len(text) > 1_000_000
    assert read(text)[0].nodes[3] == ("constants", tuple(values))
    kinds = [{"type": "object", "properties": {"k": {"const": i}}, "required": ["k"]} for i in range(5000)]
    assert len(read({"oneOf": kinds})[0].nodes) > 5000
    names = {f"p{index}": {"$ref": "#/$defs/x"} for index in range(20_000)}
    read({"properties": names, "additionalProperties": False, "$defs": {"x": {"type": "null"}}})
    read(
        {
            "allOf": [{"properties": {f"p{index}": True}} for index in range(3000)],
            "unevaluatedProperties": False,
        }
    )


def test_python_objects_within_themselves() -> None:
    schema: dict[str, Any] = {"type": "array"}
    schema["items"] = schema
    assert verdicts(schema, [[], [[]]], [1]) == [True, False]
    schema = {"type": "array"}
    schema["allOf"] = [schema]
    with pytest.raises(SchemaError, match="loop"):
        read(schema)
    values: list[Any] = []
    values.append(values)
    with pytest.raises(LimitExceeded):
        read({"const": values})


@pytest.mark.parametrize("seed", range(10))
def test_damaged_schemas_never_fail_otherwise(seed: int) -> None:
    """Schemas of every keyword, with values in places where they do not belong."""
    chance = random.Random(seed)
    junk = [
        None,
        True,
        5,
        -1,
        0.5,
        "",
        "#",
        "#/allOf/0",
        "(",
        [],
        {},
        [[]],
        [{}],
        {"a": []},
        {"a": {"$ref": "#"}},
    ]
    keywords = [
        *(
            "$id",
            "id",
            "$ref",
            "$anchor",
            "$dynamicRef",
            "$dynamicAnchor",
            "$recursiveRef",
            "$recursiveAnchor",
        ),
        *("type", "enum", "const", "minimum", "exclusiveMinimum", "multipleOf", "minLength", "maxLength"),
        *("pattern", "format", "items", "prefixItems", "additionalItems", "contains", "minContains"),
        *("maxContains", "uniqueItems", "unevaluatedItems", "properties", "patternProperties", "required"),
        *("additionalProperties", "propertyNames", "maxProperties", "dependentRequired", "dependentSchemas"),
        *("dependencies", "unevaluatedProperties", "allOf", "anyOf", "oneOf", "not", "if", "then", "else"),
        *("$defs", "definitions", "$vocabulary"),
    ]
    drafts = [
        "draft-04/schema#",
        "draft-06/schema#",
        "draft-07/schema",
        "draft/2019-09/schema",
        "draft/2020-12/schema",
    ]

    def schema(depth: int) -> Any:
        found = {}
        for keyword in chance.sample(keywords, chance.randint(1, 4)):
            inner = chance.random()
            if depth == 0 or inner < 0.5:
                found[keyword] = chance.choice(junk)
            else:
                one = schema(depth - 1)
                found[keyword] = chance.choice([one, [one], {"a": one}])
        return found

    for _ in range(300):
        one = {"$schema": f"http://json-schema.org/{chance.choice(drafts)}", **schema(3)}
        for strict in (True, False):
            try:
                reading = read(one, strict=strict)[1]
            except TokamataError as error:
                assert str(error)  # noqa: PT017 - any typed error will do
            else:
                assert isinstance(reading.report(), list)


# ---- limits and cancelling -------------------------------------------------------------------


def test_time_bounds_reading() -> None:
    for make in (
        lambda limits: tk.json_schema({"type": "null"}, limits=limits),
        lambda limits: tk.json_schema('{"properties": {"a": {"pattern": "^a"}}}', limits=limits),
        lambda limits: tk.response_format({"type": "json_object"}, limits=limits),
        lambda limits: tk.tool_call([{"name": "f"}], limits=limits),
        lambda limits: tk.type(list[int], limits=limits),
        lambda limits: tk.regex(r"[a-z]+\d", limits=limits),
        lambda limits: tk.regex(r"(?P<QUOTED_TEXT>)(a|b)", limits=limits),
    ):
        with pytest.raises(LimitExceeded) as caught:
            make(tk.Limits(seconds=1e-9))
        assert caught.value.limit == "seconds"
        make(tk.Limits())


def test_reading_can_be_cancelled() -> None:
    cancel = tk.CancelToken()
    cancel.cancel()
    for make in (
        lambda: tk.json_schema({"type": "null"}, cancel=cancel),
        lambda: tk.response_format({"type": "json_schema", "schema": {}}, cancel=cancel),
        lambda: tk.tool_call([{"name": "f"}], cancel=cancel),
        lambda: tk.type(int, cancel=cancel),
        lambda: tk.regex("[a-z]+", cancel=cancel),
    ):
        with pytest.raises(tk.Cancelled):
            make()


def test_reading_under_way_can_be_cancelled() -> None:
    """By what is called for a document, so that it surely is under way."""
    cancel = tk.CancelToken()

    def retrieve(uri: str) -> Any:
        cancel.cancel()
        return referencing.Resource.from_contents({"$schema": DRAFT, "properties": {"a": {"items": {}}}})

    registry: referencing.Registry[Any] = referencing.Registry(retrieve=retrieve)  # type: ignore[call-arg]
    with pytest.raises(tk.Cancelled):
        tk.json_schema(
            {"properties": {"a": {"$ref": "https://example.com/a"}}}, registry=registry, cancel=cancel
        )


def test_patterns_in_a_schema_count_for_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    letters = [f"[\\p{{L}}{chr(0x4E00 + index)}]{{2}}" for index in range(50)]
    schema = {"allOf": [{"pattern": one} for one in letters]}
    asked: list[None] = []

    class Counting(Watch):
        def check(self) -> None:
            asked.append(None)
            super().check()

    monkeypatch.setattr(reading, "Watch", Counting)
    read(schema)
    assert len(asked) > 3 * len(letters)  # at each schema, and within each pattern


def test_patterns_that_are_too_long() -> None:
    with pytest.raises(tk.UnsupportedPatternError, match="4,000,000"):
        tk.regex("a" * 4_000_001)
    with pytest.raises(UnsupportedSchemaError, match="4,000,000"):
        tk.json_schema({"pattern": "a" * 4_000_001})


@pytest.mark.timeout(20)
def test_exactly_one_of_thousands_that_are_read_by_sign() -> None:
    """Where what is left out depends on the sign, a oneOf is written out: no more than linearly."""
    kinds = [{"minimum": index, "items": {"$ref": "#/$defs/u"}} for index in range(3000)]
    table, found = read({"oneOf": kinds, "$defs": {"u": {"pattern": "(.)\\1"}}}, strict=False)
    assert not found.is_exact
    assert sum(len(node[1]) for node in table.nodes if node[0] in ("all_of", "any_of")) < 100_000
