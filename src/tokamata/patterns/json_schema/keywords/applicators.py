"""References, Boolean combinations and conditions (core 10.2 and 8.2.3).

Where schemas are negated (``not``, the condition of ``if``, ``oneOf``), the reader is informed, since what
cannot be enforced is left out in a way that only widens what the whole means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tokamata.patterns.json_schema.apart import apart
from tokamata.patterns.json_schema.faults import Fault
from tokamata.patterns.json_schema.table import ALL_TYPES, OBJECT

if TYPE_CHECKING:
    from tokamata.patterns.json_schema.keyword_reader import KeywordReader

__all__ = [
    "all_of",
    "any_of",
    "condition",
    "dynamic_reference",
    "later",
    "negation",
    "one_of",
    "recursive_reference",
    "reference",
]

_SCHEMAS = "an array of at least one schema"


def reference(reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]) -> None:
    """What the schema that it leads to says."""
    operands.append(reader.read_reference(schema, "$ref"))


def dynamic_reference(reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]) -> None:
    """The same, by the way that led here (2020-12)."""
    operands.append(reader.read_reference(schema, "$dynamicRef"))


def recursive_reference(
    reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]
) -> None:
    """The same, by the way that led here (2019-09)."""
    operands.append(reader.read_reference(schema, "$recursiveRef"))


def all_of(reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]) -> None:
    """All of the schemas."""
    operands.extend(reader.read(one) for one in _schemas(schema, "allOf"))


def any_of(reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]) -> None:
    """One of the schemas, or more."""
    operands.append(reader.any_of([reader.read(one) for one in _schemas(schema, "anyOf")]))


def one_of(reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]) -> None:
    """Exactly one of the schemas.

    Schemas that share no type never hold together, so that one of them is as good as exactly one of them.
    Variants of an object mostly do not say ``"type": "object"``, so that they all hold of anything else: then
    objects are read by themselves.
    """
    schemas = _schemas(schema, "oneOf")
    groups = apart(reader, schemas) if len(schemas) > 1 else [schemas]
    of_objects = apart(reader, schemas, OBJECT) if len(groups) == 1 and len(schemas) > 1 else groups
    if len(of_objects) == len(groups):
        operands.append(reader.any_of([_exactly_one(reader, group) for group in groups]))
        return
    table = reader.table
    objects = reader.any_of([_exactly_one(reader, group) for group in of_objects])
    others = table.all_of([table.types(ALL_TYPES ^ OBJECT), _exactly_one(reader, schemas)])
    operands.append(table.any_of([table.all_of([table.types(OBJECT), objects]), others]))


def negation(reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]) -> None:
    """Not the schema."""
    operands.append(reader.table.negate(reader.read_negated(value)))


def condition(reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]) -> None:
    """``then`` where the schema holds, ``else`` where it does not."""
    has_then, has_else = "then" in schema, "else" in schema
    if not has_then and not has_else:
        reader.read(value)  # for its shape alone
        return
    table = reader.table
    holds = reader.read(value)
    fails = table.negate(reader.read_negated(value))
    then = table.all_of([holds, reader.read(schema["then"])]) if has_then else holds
    otherwise = table.all_of([fails, reader.read(schema["else"])]) if has_else else fails
    operands.append(table.any_of([then, otherwise]))


def later(reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]) -> None:
    """``unevaluatedProperties`` and ``unevaluatedItems``, which come when all else is read."""


def _schemas(schema: dict[str, Any], keyword: str) -> list[Any]:
    value = schema[keyword]
    if type(value) is not list or not value:
        raise Fault(schema, keyword, value, _SCHEMAS)
    return value


def _exactly_one(reader: KeywordReader, schemas: list[Any]) -> int:
    if len(schemas) == 1:
        return reader.read(schemas[0])
    if not reader.polar:
        reader.negated = True
        return reader.table.one_of([reader.read(one) for one in schemas])
    # What is left out of a schema (strict=False) may differ from what is left out of its negation.
    table = reader.table
    holds = [reader.read(one) for one in schemas]
    fails = [table.negate(reader.read_negated(one)) for one in schemas]
    before, behind = [reader.anything], [reader.anything]  # that none of the first, or of the last, holds
    for i in range(1, len(schemas)):
        before.append(table.all_of([before[-1], fails[i - 1]]))
        behind.append(table.all_of([behind[-1], fails[-i]]))
    behind.reverse()
    return table.any_of([table.all_of([holds[i], before[i], behind[i]]) for i in range(len(schemas))])
