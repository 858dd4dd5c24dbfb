"""Which schemas never hold of the same value, as far as that is plain to see.

Problem: ``oneOf`` needs the negation of each of its schemas beside the others, which is dear, and
impossible for some.  Mostly its schemas never hold together: they are about different types, or each
requires another value of one property, as the variants of a union do.

Example: ``[{"type": "string"}, {"type": "integer"}, {"enum": [1, 2]}]`` falls into the groups
``[string]`` and ``[integer, enum]``; objects that require ``"kind": "a"`` and ``"kind": "b"`` into two.

Method: a schema is put where its types are, and objects where the values of the property are that all
schemas of objects in question require and enumerate; schemas that meet are one group.

Cost: linear, each schema is read no deeper than a few references.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from tokamata.patterns.json_schema.keywords.values import TYPE_MASKS
from tokamata.patterns.json_schema.table import ALL_TYPES, ARRAY, FALSE, NULL, NUMBER, OBJECT, STRING, TRUE

if TYPE_CHECKING:
    from tokamata.patterns.json_schema.keyword_reader import KeywordReader

__all__ = ["apart", "types_of"]

_MOST_NESTING = 8  # of schemas that are read to tell two apart
_MOST_VALUES = 1000  # of an enumeration
_FLAT = {str, int, bool, type(None), Decimal}
_BITS = (NULL, FALSE, TRUE, NUMBER, STRING, ARRAY, OBJECT)
_BY_PYTHON_TYPE = {
    type(None): NULL,
    int: NUMBER,
    float: NUMBER,
    Decimal: NUMBER,
    str: STRING,
    list: ARRAY,
    dict: OBJECT,
}


def apart(reader: KeywordReader, schemas: list[Any], types: int = ALL_TYPES) -> list[list[Any]]:
    """The schemas in groups, such that no value of some types is in schemas of different groups."""
    masks = [types & types_of(reader, schema) for schema in schemas]
    kinds: list[dict[str, set[Any]] | None] = [
        _required_values(reader, schema) if mask & OBJECT else None
        for schema, mask in zip(schemas, masks, strict=True)
    ]
    named = [kind for kind in kinds if kind is not None]
    key = next((name for name in named[0] if all(name in kind for kind in named)), None) if named else None
    leaders = list(range(len(schemas)))  # a forest: following it leads to the first schema of the group
    places: dict[Any, int] = {}
    for index, (mask, kind) in enumerate(zip(masks, kinds, strict=True)):
        here: list[Any] = [bit for bit in _BITS if mask & bit and (bit != OBJECT or key is None)]
        if kind is not None and key is not None:
            here += [("value", value) for value in kind[key]]
        for place in here:
            one, other = _leader(leaders, places.setdefault(place, index)), _leader(leaders, index)
            leaders[max(one, other)] = min(one, other)
    groups: dict[int, list[Any]] = {}
    for index, schema in enumerate(schemas):
        groups.setdefault(_leader(leaders, index), []).append(schema)
    return list(groups.values())


def _leader(leaders: list[int], index: int) -> int:
    while leaders[index] != index:
        leaders[index] = index = leaders[leaders[index]]
    return index


def types_of(reader: KeywordReader, schema: Any, nesting: int = 0) -> int:
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


def _types_of(reader: KeywordReader, schema: dict[str, Any], nesting: int) -> int:
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


def _required_values(reader: KeywordReader, schema: Any, nesting: int = 0) -> dict[str, set[Any]]:
    """The properties that every object of the schema has, with one of a few values."""
    found: dict[str, set[Any]] = {}
    if type(schema) is not dict or nesting > _MOST_NESTING or reader.scope.id_keyword in schema:
        return found
    keywords = reader.effective(schema)
    if "required" in keywords and "properties" in keywords:
        names, properties = schema["required"], schema["properties"]
        if type(names) is list and type(properties) is dict:
            for name in names:
                if type(name) is str and (values := _few_values(reader, properties.get(name))) is not None:
                    found[name] = values
    if "$ref" in keywords:
        target, scope = reader.target(schema, "$ref")
        if scope is reader.scope:
            found = {**_required_values(reader, target, nesting + 1), **found}
    if "allOf" in keywords and type(schema["allOf"]) is list and len(schema["allOf"]) <= _MOST_NESTING:
        for one in schema["allOf"]:  # two levels of these at most, since their numbers multiply
            found = {**_required_values(reader, one, nesting + _MOST_NESTING // 2), **found}
    return found


def _few_values(reader: KeywordReader, schema: Any) -> set[Any] | None:
    """The values of a schema that lists them; equal ones, and 1 and true, count as one."""
    for _ in range(_MOST_NESTING):
        if type(schema) is not dict or reader.scope.id_keyword in schema:
            return None
        keywords = reader.effective(schema)
        if "const" in keywords:
            values = [schema["const"]]
        elif "enum" in keywords and type(schema["enum"]) is list:
            values = schema["enum"]
        elif keywords == ["$ref"]:
            schema, scope = reader.target(schema, "$ref")
            if scope is not reader.scope:
                return None
            continue
        else:
            return None
        flat = all(type(value) in _FLAT for value in values)
        return set(values) if flat and len(values) <= _MOST_VALUES else None
    return None


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
