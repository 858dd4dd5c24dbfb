"""Schemas, and values of schemas, as `hypothesis-jsonschema` draws them, which knows no engine of ours.

It has a strategy for the values of a schema.  The metaschema of draft 7 is a schema, too, whose values are
schemas; since references that come back to themselves are not followed, it is unrolled to some depth.
"""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import jsonschema
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis_jsonschema import from_schema

LEAVES = [True, False, {}, {"type": "integer"}, {"type": "string"}, {"type": ["null", "object"]}]
# References lead nowhere here, and what says nothing of a value only takes up time.
LEFT_OUT = {
    "$id", "$schema", "$ref", "$comment", "definitions", "title", "description", "default", "examples",
    "readOnly", "writeOnly", "contentMediaType", "contentEncoding", "format",
}  # fmt: skip
DEPTHS = (1, 2)  # of schemas
SMALL = 4  # bounds, members and elements of schemas; with larger ones most schemas have no short value


def values_of(schema: Any, number: int, count: int) -> list[Any]:
    """At most so many values, by a number that stands for them.

    Raises:
        Exception: of `hypothesis` and others, where the schema has no value, or is beyond that package.
    """
    return _drawn(from_schema(schema), number, count)


def schemas(number: int, count: int) -> list[Any]:
    """At most so many schemas of draft 7, by a number that stands for them; those of one list are alike."""
    dialect = jsonschema.Draft7Validator.META_SCHEMA["$schema"]
    found = _drawn(_schemas(DEPTHS[number % len(DEPTHS)]), number, count)
    return [{"$schema": dialect, **one} for one in found]


def prepare() -> None:
    """Does what the first schemas would take seconds for."""
    for depth in DEPTHS:
        _schemas(depth)


def _drawn(strategy: st.SearchStrategy[Any], number: int, count: int) -> list[Any]:
    found: list[Any] = []

    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(value: Any) -> None:
        found.append(value)

    collect()
    return found


@cache
def _schemas(depth: int) -> st.SearchStrategy[Any]:
    return from_schema(_unrolled(depth))


def _unrolled(depth: int) -> dict[str, Any]:
    """The metaschema without references: in place of itself it has itself one level less deep."""
    if depth == 0:
        return {"enum": LEAVES}
    inner = _unrolled(depth - 1)
    metaschema = copy.deepcopy(jsonschema.Draft7Validator.META_SCHEMA)
    definitions = metaschema["definitions"]
    definitions["nonNegativeInteger"] = {"type": "integer", "minimum": 0, "maximum": SMALL}

    def resolved(part: Any) -> Any:
        if isinstance(part, list):
            return [resolved(one) for one in part]
        if not isinstance(part, dict):
            return part
        reference = part.get("$ref")
        if reference == "#":
            return inner
        if isinstance(reference, str):
            return resolved(definitions[reference.rpartition("/")[2]])
        found = {name: resolved(one) for name, one in part.items() if name != "default"}
        if found.get("type") == "array":
            found["maxItems"] = SMALL
        if found.get("type") == "object":
            found["maxProperties"] = SMALL
        return found

    properties = {name: one for name, one in metaschema["properties"].items() if name not in LEFT_OUT}
    return {
        "type": "object",
        "properties": resolved(properties),
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": SMALL,
    }
