"""MaskBench's schemas and instances, and the order in which a schema declares names."""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.common.tokenizers import Tokenizer

__all__ = ["SchemaCase", "in_order", "instances", "load", "pointed_at"]

_IN_PLACE = ("allOf", "anyOf", "oneOf")
_SINGLE = ("if", "then", "else", "not")
_BY_NAME = ("dependentSchemas", "dependencies")
_DEEPEST = 64


@dataclass
class SchemaCase:
    """A schema and its instances.

    Attributes:
        name: its id in the data.
        text: the schema as JSON text.
        texts: the instances in tokens, as the data have them.
        ordered: the same with members in the order of the schema.
        valid: what the data say of each.
    """

    name: str
    text: str
    texts: list[list[int]] = field(default_factory=list)
    ordered: list[list[int]] = field(default_factory=list)
    valid: list[bool] = field(default_factory=list)


def instances(path: Path, count: int, seed: int) -> list[Any]:
    """The first valid instance of each of so many schemas, drawn by a seed."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        found = list(lines)
    tests = [json.loads(line)["tests"] for line in random.Random(seed).sample(found, min(count, len(found)))]
    valid = [[test["data"] for test in those if test["valid"]] for those in tests]
    return [those[0] for those in valid if those]


def load(path: Path, count: int, seed: int, tokenizer: Tokenizer) -> list[SchemaCase]:
    """So many schemas, drawn by a seed.  Instances that UTF-8 cannot write are left out."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        found = list(lines)
    cases = []
    for line in random.Random(seed).sample(found, min(count, len(found))):
        content = json.loads(line)
        schema = content["schema"]
        case = SchemaCase(content["id"], json.dumps(schema, ensure_ascii=False))
        for test in content["tests"]:
            texts = [_written(value) for value in (test["data"], in_order(schema, test["data"]))]
            if not all(_is_text(text) for text in texts):
                continue
            plain, ordered = (tokenizer.encode_as_model(text) for text in texts)
            case.texts.append(plain)
            case.ordered.append(ordered)
            case.valid.append(test["valid"])
        cases.append(case)
    return cases


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _is_text(text: str) -> bool:
    return not any("\ud800" <= one <= "\udfff" for one in text)


def in_order(schema: Any, value: Any) -> Any:
    """The value with members in the order in which the schema declares them, those that it does not last.

    What ``properties`` lists comes before what is required alone.  As far as that is simple: through ``$ref``
    to pointers, and what applies in place; of schemas that exclude each other, as in ``anyOf``, all count.
    """
    return _ordered([schema], value, schema, 0)


def _ordered(schemas: list[Any], value: Any, root: Any, depth: int) -> Any:
    if depth > _DEEPEST:
        return value
    applied = [one for schema in schemas for one in _in_place(schema, root, 0)]
    if isinstance(value, list):
        return [_ordered(_elements(applied, index), one, root, depth + 1) for index, one in enumerate(value)]
    if not isinstance(value, dict):
        return value
    declared: dict[str, None] = {}
    for kind in (_properties, _required):
        for one in applied:
            declared.update(dict.fromkeys(kind(one)))
    names = [name for name in declared if name in value] + [name for name in value if name not in declared]
    return {name: _ordered(_members(applied, name), value[name], root, depth + 1) for name in names}


def _in_place(schema: Any, root: Any, depth: int) -> Iterator[dict[str, Any]]:
    """The schema, and those that apply to the same value, in the order of reading."""
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return
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
            yield from _in_place(one, root, depth + 1)


def pointed_at(root: Any, reference: str) -> Any:
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
