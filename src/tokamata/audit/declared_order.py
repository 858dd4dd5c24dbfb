"""The order in which a schema declares the names of objects.

Engines that write members in one order take that of the schema.  So an instance is put in this order before
it is said that an engine refuses its value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["in_order", "pointed_at"]

_IN_PLACE = ("allOf", "anyOf", "oneOf")
_SINGLE = ("if", "then", "else", "not")
_BY_NAME = ("dependentSchemas", "dependencies")
_MOST_NESTING = 64  # of values, and of schemas that hold for one value
_MOST_SCHEMAS = 20_000  # that are read for one value: references may double at every level


def in_order(schema: Any, value: Any) -> Any:
    """The value with members in the order in which the schema declares them, those that it does not last.

    What ``properties`` lists comes before what is required alone.  As far as that is simple: through ``$ref``
    to pointers, and what applies in place; of schemas that exclude each other, as in ``anyOf``, all count.
    """
    return _ordered([schema], value, schema, 0, [_MOST_SCHEMAS])


def _ordered(schemas: list[Any], value: Any, root: Any, depth: int, left: list[int]) -> Any:
    if depth > _MOST_NESTING:
        return value
    applied = [one for schema in schemas for one in _in_place(schema, root, 0, left)]
    if isinstance(value, list):
        return [
            _ordered(_elements(applied, index), one, root, depth + 1, left) for index, one in enumerate(value)
        ]
    if not isinstance(value, dict):
        return value
    declared: dict[str, None] = {}
    for kind in (_properties, _required):
        for one in applied:
            declared.update(dict.fromkeys(kind(one)))
    names = [name for name in declared if name in value] + [name for name in value if name not in declared]
    return {name: _ordered(_members(applied, name), value[name], root, depth + 1, left) for name in names}


def _in_place(schema: Any, root: Any, depth: int, left: list[int]) -> Iterator[dict[str, Any]]:
    """The schema, and those that apply to the same value, in the order of reading."""
    if not isinstance(schema, dict) or depth > _MOST_NESTING or left[0] <= 0:
        return
    left[0] -= 1
    yield schema
    for key, part in schema.items():
        inner: list[Any] = []
        if key == "$ref" and isinstance(part, str):
            inner = [pointed_at(root, part)]
        elif key in _IN_PLACE and isinstance(part, list):
            inner = part
        elif key in _SINGLE:
            inner = [part]
        elif key in _BY_NAME and isinstance(part, dict):
            inner = list(part.values())
        for one in inner:
            yield from _in_place(one, root, depth + 1, left)


def pointed_at(root: Any, reference: str) -> Any:
    """What a reference within the document leads to; ``None`` where that is nothing."""
    if not reference.startswith("#"):
        return None
    place = root
    for step in reference[1:].split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(place, dict):
            place = place.get(step)
        elif isinstance(place, list) and step.isdigit() and int(step) < len(place):
            place = place[int(step)]
        else:
            return None
    return place


def _properties(schema: dict[str, Any]) -> list[str]:
    part = schema.get("properties")
    return list(part) if isinstance(part, dict) else []


def _required(schema: dict[str, Any]) -> list[str]:
    part = schema.get("required")
    return [name for name in part if isinstance(name, str)] if isinstance(part, list) else []


def _members(schemas: list[dict[str, Any]], name: str) -> list[Any]:
    found = []
    for schema in schemas:
        properties = schema.get("properties")
        if isinstance(properties, dict) and name in properties:
            found.append(properties[name])
        elif "additionalProperties" in schema:
            found.append(schema["additionalProperties"])
        patterns = schema.get("patternProperties")
        if isinstance(patterns, dict):
            found += patterns.values()
    return found


def _elements(schemas: list[dict[str, Any]], index: int) -> list[Any]:
    found = []
    for schema in schemas:
        items = schema.get("prefixItems", schema.get("items"))
        if isinstance(items, list) and index < len(items):
            found.append(items[index])
        elif isinstance(items, list):
            found.append(schema.get("items" if "prefixItems" in schema else "additionalItems"))
        else:
            found.append(items)
    return found
