"""The regexes that schemas hold, and the texts in their tests that they apply to.

The file has one JSON object a line: ``schema``, and ``tests`` with ``data`` and ``valid`` (MaskBench).
Regexes are the values of ``pattern`` and the keys of ``patternProperties``.  A valid instance is walked
beside its schema, and each string that stands where a regex applies is a text for it.
"""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tokamata.audit.declared_order import pointed_at

# Keywords whose value is a schema, a list of schemas, or an object of schemas.
_ONE = (
    "additionalProperties", "items", "additionalItems", "not", "if", "then", "else", "contains",
    "propertyNames",
)  # fmt: skip
_MANY = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
_NAMED = ("properties", "patternProperties", "definitions", "$defs", "dependencies", "dependentSchemas")
_SAME_INSTANCE = ("allOf", "anyOf", "oneOf")
_DEEPEST = 200


@dataclass
class SchemaPattern:
    """A regex of schemas.

    Attributes:
        pattern: its text, ECMA-262 as a rule.
        texts: strings of valid instances that stand where it applies, in the order found.
    """

    pattern: str
    texts: dict[str, None] = field(default_factory=dict)


def collect(path: Path) -> dict[str, SchemaPattern]:
    """All regexes in a file of schemas (``.jsonl``, or the same with xz), each once, with their texts."""
    found: dict[str, SchemaPattern] = {}
    opened = lzma.open if path.suffix == ".xz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            for pattern in _patterns(record["schema"]):
                found.setdefault(pattern, SchemaPattern(pattern))
            for test in record["tests"]:
                if test["valid"]:
                    for pattern, text in _Walk(record["schema"]).texts(test["data"]):
                        found[pattern].texts[text] = None
    return found


def sample(found: dict[str, SchemaPattern], count: int, seed: int) -> list[SchemaPattern]:
    """``count`` of the regexes, or all where there are fewer; the same for the same seed."""
    patterns = sorted(found)
    chosen = random.Random(seed).sample(patterns, min(count, len(patterns)))
    return [found[pattern] for pattern in chosen]


def _patterns(schema: Any) -> Iterator[str]:
    """The regexes in a schema; data in it (enum, default, examples) are left out."""
    if not isinstance(schema, dict):
        return
    if isinstance(schema.get("pattern"), str):
        yield schema["pattern"]
    if isinstance(schema.get("patternProperties"), dict):
        yield from schema["patternProperties"]
    for keyword in _ONE:
        yield from _patterns(schema.get(keyword))
    for keyword in _MANY:
        if isinstance(schema.get(keyword), list):
            for one in schema[keyword]:
                yield from _patterns(one)
    for keyword in _NAMED:
        if isinstance(schema.get(keyword), dict):
            for one in schema[keyword].values():
                yield from _patterns(one)


class _Walk:
    """A valid instance beside its schema."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._known = frozenset(_patterns(root))
        self._seen: set[tuple[int, int]] = set()

    def texts(self, instance: Any) -> Iterator[tuple[str, str]]:
        """Pairs of a regex and a string that it applies to."""
        for pattern, text in self._visit(self._root, instance, 0):
            if pattern in self._known:  # not one that only a $ref into data leads to
                yield pattern, text

    def _visit(self, schema: Any, instance: Any, depth: int) -> Iterator[tuple[str, str]]:
        place = id(schema), id(instance)
        if not isinstance(schema, dict) or place in self._seen or depth > _DEEPEST:
            return
        self._seen.add(place)
        if isinstance(schema.get("$ref"), str):
            yield from self._visit(pointed_at(self._root, schema["$ref"]), instance, depth + 1)
        for keyword in _SAME_INSTANCE:
            for one in schema.get(keyword) or ():
                yield from self._visit(one, instance, depth + 1)
        if isinstance(instance, str) and isinstance(schema.get("pattern"), str):
            yield schema["pattern"], instance
        if isinstance(instance, dict):
            yield from self._members(schema, instance, depth)
        elif isinstance(instance, list):
            items = schema.get("items")
            first = items if isinstance(items, list) else schema.get("prefixItems") or []
            rest = schema.get("additionalItems") if isinstance(items, list) else items
            for i, element in enumerate(instance):
                yield from self._visit(first[i] if i < len(first) else rest, element, depth + 1)

    def _members(
        self, schema: dict[str, Any], instance: dict[str, Any], depth: int
    ) -> Iterator[tuple[str, str]]:
        """What applies to the members of an object; whether a key matches a regex is settled later."""
        properties = schema.get("properties") or {}
        for name, value in instance.items():
            if isinstance(schema.get("propertyNames"), dict):
                yield from self._visit(schema["propertyNames"], name, depth + 1)
            if name in properties:
                yield from self._visit(properties[name], value, depth + 1)
                continue
            for pattern, one in (schema.get("patternProperties") or {}).items():
                yield pattern, name
                yield from self._visit(one, value, depth + 1)
            yield from self._visit(schema.get("additionalProperties"), value, depth + 1)
