"""Which types of values a schema can hold of, as far as that is plain to see.

Problem: ``oneOf`` needs the negation of each of its schemas beside the others, which is dear, and
impossible for some.  Mostly its schemas are about different types, or differ in nothing but a type.

Example: ``[{"type": "string"}, {"type": "integer"}, {"enum": [1, 2]}]`` falls into ``[[string], [integer,
enum]]``.

Cost: linear, each schema looked at no deeper than a few references.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from tokamata.patterns.json_schema.keywords.values import TYPE_MASKS
from tokamata.patterns.json_schema.table import ALL_TYPES, ARRAY, FALSE, NULL, NUMBER, OBJECT, STRING, TRUE

if TYPE_CHECKING:
    from tokamata.patterns.json_schema.reading import Reader

__all__ = ["apart", "types_of"]

_MOST_NESTING = 8
_BY_PYTHON_TYPE = {
    type(None): NULL,
    int: NUMBER,
    float: NUMBER,
    Decimal: NUMBER,
    str: STRING,
    list: ARRAY,
    dict: OBJECT,
}


def apart(reader: Reader, schemas: list[Any]) -> list[list[Any]]:
    """The schemas in groups, such that those of different groups have no type in common."""
    groups: list[tuple[int, list[Any]]] = []
    for schema in schemas:
        mask = types_of(reader, schema)
        touched = [group for group in groups if group[0] & mask]
        if not touched:
            groups.append((mask, [schema]))
            continue
        joined = [one for group in touched for one in group[1]]
        for group in touched:
            mask |= group[0]
        first = groups.index(touched[0])
        groups[first] = (mask, [*joined, schema])
        groups = [group for group in groups if group not in touched[1:]]
    return [group for _, group in groups]


def types_of(reader: Reader, schema: Any, nesting: int = 0) -> int:
    """A sum of types that every value of the schema is of; what is not well formed counts as anything."""
    if type(schema) is not dict:
        return 0 if schema is False else ALL_TYPES
    scope = reader.scope
    if nesting > _MOST_NESTING or scope.id_keyword in schema:
        return ALL_TYPES
    key = (id(scope), id(schema))
    mask = reader.masks.get(key)
    if mask is None:
        reader.masks[key] = ALL_TYPES  # for what leads back here
        mask = reader.masks[key] = _types_of(reader, schema, nesting + 1)
    return mask


def _types_of(reader: Reader, schema: dict[str, Any], nesting: int) -> int:
    mask = ALL_TYPES
    for keyword in reader.effective(schema):
        value = schema[keyword]
        if keyword == "type":
            mask &= _named(value)
        elif keyword == "const" or (keyword == "enum" and type(value) is list):
            mask &= _of_values(value if keyword == "enum" else [value])
        elif keyword == "$ref":
            target, scope = reader.target(schema, "$ref")
            if scope is reader.scope:
                mask &= types_of(reader, target, nesting)
        elif keyword == "allOf" and type(value) is list:
            for one in value:
                mask &= types_of(reader, one, nesting)
        elif keyword in ("anyOf", "oneOf") and type(value) is list:
            either = 0
            for one in value:
                either |= types_of(reader, one, nesting)
            mask &= either
    return mask


def _named(value: Any) -> int:
    names = [value] if type(value) is str else value if type(value) is list else [""]
    mask = 0
    for name in names:
        mask |= TYPE_MASKS.get(name, ALL_TYPES) if type(name) is str else ALL_TYPES
    return mask


def _of_values(values: list[Any]) -> int:
    mask = 0
    for value in values:
        if type(value) is bool:
            mask |= TRUE if value else FALSE
        else:
            mask |= _BY_PYTHON_TYPE.get(type(value), ALL_TYPES)
    return mask
