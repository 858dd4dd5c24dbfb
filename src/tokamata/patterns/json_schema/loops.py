"""Schemas that lead back to themselves about the same value, and so say nothing (core 9.4.1).

Problem: ``{"properties": {"child": {"$ref": "#"}}}`` is recursion, each turn of which is about a smaller
value; ``{"allOf": [{"$ref": "#"}]}`` asks whether a value is in the schema in order to tell whether it is.

Method: every loop comes through a schema that was under way, or put off, when something led back to it.  From
each of these a depth-first search follows what is about the same value: combinations, conditions, references.

Cost: linear in the schemas; nothing where nothing leads back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tokamata.patterns.json_schema.dialect import subschemas
from tokamata.patterns.json_schema.faults import Fault
from tokamata.patterns.json_schema.scopes import Scope

if TYPE_CHECKING:
    from tokamata.patterns.json_schema.keyword_reader import KeywordReader

__all__ = ["refuse_loops", "same_value"]

_Place = tuple[int, int]  # the identities of a schema and of the scope it is read in


def refuse_loops(reader: KeywordReader, starts: list[tuple[dict[str, Any], Scope]]) -> None:
    """Raises :class:`.faults.Fault` where a schema leads back to itself about the same value."""
    done: set[_Place] = set()
    for schema, scope in starts:
        _search(reader, schema, scope, done)


def same_value(
    reader: KeywordReader, schema: dict[str, Any], scope: Scope
) -> Iterator[tuple[dict[str, Any], Scope]]:
    """The schemas that a schema asks about the same value, each with its scope."""
    with reader.within(scope):
        for keyword in reader.effective(schema):
            if keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
                target, inner = reader.target(schema, keyword)
                if type(target) is dict:
                    yield target, inner
        if scope.dialect.lone_references and "$ref" in schema:
            return
        for path, value in subschemas(schema, scope.dialect):
            if path[0] in scope.dialect.in_place and type(value) is dict:
                with reader.inside(value):
                    inner = reader.scope
                yield value, inner


def _search(reader: KeywordReader, schema: dict[str, Any], scope: Scope, done: set[_Place]) -> None:
    if (id(schema), id(scope)) in done:
        return
    under_way: dict[_Place, dict[str, Any]] = {(id(schema), id(scope)): schema}
    stack = [list(same_value(reader, schema, scope))]
    while stack:
        if not stack[-1]:
            stack.pop()
            done.add(under_way.popitem()[0])
            continue
        schema, scope = stack[-1].pop()
        place = (id(schema), id(scope))
        if place in done:
            continue
        if place in under_way:
            loop = list(under_way)[list(under_way).index(place) :]
            _refuse(reader, [under_way[one] for one in loop])
        under_way[place] = schema
        stack.append(list(same_value(reader, schema, scope)))


def _refuse(reader: KeywordReader, schemas: list[dict[str, Any]]) -> None:
    pointers = [reader.pointer(schema) or "the root" for schema in [*schemas, schemas[0]]]
    if len(pointers) > 8:
        pointers = [*pointers[:6], "…", pointers[-1]]
    last = schemas[-1]
    keyword = next((name for name in ("$ref", "$dynamicRef", "$recursiveRef") if name in last), "")
    found = "part of a loop about the same value: " + " → ".join(pointers)
    expected = "references that lead back only through properties or items"
    raise Fault(last, keyword, None, expected, found=found)
