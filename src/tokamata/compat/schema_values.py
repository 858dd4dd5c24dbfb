"""Values that a schema proposes: for a member that has none in a text, and for members that are left out.

Problem.  A repair makes up the shortest value that a schema accepts.  Users of json_repair expect the default
that the schema names, and of optional members too.

Example.  Of ``{"properties": {"n": {"type": "integer", "default": 3}}}``, the schema at ``("n",)`` is the
inner one, which proposes 3, then 0; ``{}`` becomes ``{"n": 3}``.

How.  The schema of a member is found by ``properties``, ``items`` and ``prefixItems``, through references
within the document and the options of ``allOf``, ``anyOf`` and ``oneOf``.  That is a proposal and no proof:
whoever uses one lets the constraint read the result.  Without recursion, since values nest deep.

Not taken.  Conditions (``if``, ``dependentSchemas``) and patterns of names: which of them holds depends on
the rest of the value, so they propose nothing.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any
from urllib.parse import unquote

from tokamata.compat.json_spans import Path
from tokamata.resources.limits import Watch

__all__ = ["disallowed", "filled_in", "missing", "proposed", "schema_at", "strings_for_containers"]

_MOST_COMPARED = 100  # names
_MOST_SCHEMAS = 100  # of those that are followed for one step of a path
_OF_TYPE: dict[str, Any] = {
    "string": "",
    "integer": 0,
    "number": 0,
    "boolean": False,
    "array": [],
    "object": {},
    "null": None,
}
_BYTES_FOR_EACH = 30  # of a value, for each character of its text: that of many small objects
_KEYWORDS = (("object", "properties"), ("array", "items"))
_EMPTY = ("array", "object")


def schema_at(root: Any, path: Path) -> Any:
    """The schema of the value at a path; ``None`` if none is found."""
    schema = root
    for step in path:
        schema = next(_inner(root, schema, step), None)
    return schema


def proposed(root: Any, schema: Any, *, is_safe: bool) -> Iterator[Any]:
    """Values for a member that has none, the best first.

    Args:
        root: the whole schema.
        schema: that of the member.
        is_safe: whether only values are proposed that the schema names, and empty containers.
    """
    for one in _alternatives(root, schema):
        for keyword in ("default", "const"):
            if keyword in one:
                yield copy.deepcopy(one[keyword])
        enum = one.get("enum")
        if isinstance(enum, list) and enum:
            yield copy.deepcopy(enum[0])
    for one in _alternatives(root, schema):
        for kind in _types(one):
            if kind in _EMPTY or not is_safe:
                yield copy.deepcopy(_OF_TYPE[kind])


def filled_in(root: Any, value: Any, watch: Watch) -> list[Path]:
    """Adds to a value, in place, the defaults of optional members that it lacks; returns where they are.

    Raises:
        LimitExceeded, Cancelled: the defaults are too large together, or the work was stopped.
    """
    added: list[Path] = []
    for path, schema, one in _walked(root, value):
        watch.check()
        for name, default in _defaults(root, schema) if isinstance(one, dict) else ():
            if name not in one:
                one[name] = _copied(default, watch)
                added.append((*path, name))
    return added


def strings_for_containers(root: Any, value: Any) -> list[Path]:
    """Where a value has a string, and the schema an object or an array and no string."""
    found: list[Path] = []
    for path, schema, one in _walked(root, value, (dict, list, str)):
        if isinstance(one, str):
            kinds = {kind for inner in _alternatives(root, schema) for kind in _types(inner)}
            if kinds and kinds <= {*_EMPTY, "null"}:
                found.append(path)
    return found


def disallowed(root: Any, value: Any) -> list[Path]:
    """Where a value has a member that its schema forbids, unless its name may be a typo."""
    return [
        (*path, name)
        for path, schema, one in _walked(root, value)
        if isinstance(one, dict)
        for name in _disallowed_names(root, schema, one)
    ]


def _disallowed_names(root: Any, schema: Any, value: dict[str, Any]) -> Iterator[str]:
    for one in _alternatives(root, schema, of_choices=False):
        if one.get("additionalProperties") is False and not one.get("patternProperties"):
            declared = one.get("properties")
            names = declared if isinstance(declared, dict) else {}
            absent = [name for name in names if name not in value][:_MOST_COMPARED]
            for name in value:
                if name not in names and not get_close_matches(name, absent, 1):
                    yield name


def missing(root: Any, value: Any, *, knows_typos: bool) -> list[Path]:
    """Where a value lacks a required member.

    With ``knows_typos``, members are left out for which the value has a near name that nobody declares.
    """
    return [
        (*path, name)
        for path, schema, one in _walked(root, value)
        if isinstance(one, dict)
        for name in _missing_names(root, schema, one, knows_typos)
    ]


def _missing_names(root: Any, schema: Any, value: dict[str, Any], knows_typos: bool) -> Iterator[str]:
    alternatives = list(_alternatives(root, schema, of_choices=False))
    declared = [one["properties"] for one in alternatives if isinstance(one.get("properties"), dict)]
    others = [name for name in value if not any(name in one for one in declared)][:_MOST_COMPARED]
    others = others if knows_typos else []
    for one in alternatives:
        required = one.get("required")
        for name in required if isinstance(required, list) else ():
            if isinstance(name, str) and name not in value and not get_close_matches(name, others, 1):
                yield name


def _types(schema: dict[str, Any]) -> list[str]:
    """The types that a schema names, or that its keywords are about."""
    types = schema.get("type")
    if types is None:
        return [kind for kind, keyword in _KEYWORDS if keyword in schema]
    return [one for one in (types if isinstance(types, list) else [types]) if one in list(_OF_TYPE)]


def _walked(root: Any, value: Any, kinds: tuple[type, ...] = (dict, list)) -> Iterator[tuple[Path, Any, Any]]:
    """A value and the values of some kinds within it, with their paths and schemas.

    What is added to a value before the next step is walked too.
    """
    waiting: list[tuple[Path, Any, Any]] = [((), root, value)]
    while waiting:
        path, schema, one = waiting.pop()
        yield path, schema, one
        waiting += _steps(root, path, schema, one, kinds)


def _steps(
    root: Any, path: Path, schema: Any, value: Any, kinds: tuple[type, ...]
) -> Iterator[tuple[Path, Any, Any]]:
    """The values of some kinds in an object or an array, with their schemas."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        if isinstance(inner, kinds):
            below = next(_inner(root, schema, step), None)
            if isinstance(below, dict):
                yield (*path, step), below, inner


def _copied(default: Any, watch: Watch) -> Any:
    """A copy, since the value is the caller's; a large default may stand in many elements."""
    written = json.dumps(default)
    watch.hold(_BYTES_FOR_EACH * len(written))
    return json.loads(written)


def _defaults(root: Any, schema: Any) -> Iterator[tuple[str, Any]]:
    for one in _alternatives(root, schema, of_choices=False):
        properties = one.get("properties")
        for name, inner in properties.items() if isinstance(properties, dict) else ():
            for declared in _alternatives(root, inner, of_choices=False):
                if "default" in declared:
                    yield name, declared["default"]
                    break


def _inner(root: Any, schema: Any, step: str | int) -> Iterator[Any]:
    """The schemas of a member or an element."""
    for one in _alternatives(root, schema):
        if isinstance(step, str):
            properties = one.get("properties")
            if isinstance(properties, dict) and step in properties:
                yield properties[step]
            elif isinstance(one.get("additionalProperties"), dict):
                yield one["additionalProperties"]
            continue
        items, first = one.get("items"), one.get("prefixItems")
        first = items if isinstance(items, list) else first
        if isinstance(first, list) and step < len(first):
            yield first[step]
        elif isinstance(items, dict):
            yield items


def _alternatives(root: Any, schema: Any, *, of_choices: bool = True) -> Iterator[dict[str, Any]]:
    """A schema, and those that its references and its options lead to."""
    keywords = ("allOf", "anyOf", "oneOf") if of_choices else ("allOf",)
    waiting, count = [schema], 0
    while waiting and count < _MOST_SCHEMAS:
        one = waiting.pop(0)
        count += 1
        if not isinstance(one, dict):
            continue
        yield one
        if isinstance(one.get("$ref"), str):
            waiting.append(_referred(root, one["$ref"]))
        for keyword in keywords:
            options = one.get(keyword)
            waiting += options if isinstance(options, list) else []


def _referred(root: Any, reference: str) -> Any:
    """The schema that a reference within the document leads to; ``None`` if it leads elsewhere."""
    if not reference.startswith("#"):
        return None
    found = root
    for part in unquote(reference[1:]).split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(found, list) and name.isdecimal() and int(name) < len(found):
            found = found[int(name)]
        elif isinstance(found, dict):
            found = found.get(name)
        else:
            return None
    return found
