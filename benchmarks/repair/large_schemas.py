"""A schema of 2 MB, as large and as recursive as those of HL7 FHIR, and texts that lack one brace.

Closed objects, each of which a ``resourceType`` of its own tells apart, are the variants of ``oneOf``; their
members refer to some forty closed types, to each other, and to extensions of each member.
"""

from __future__ import annotations

import json
import random
import time
from argparse import Namespace
from typing import Any

import tokamata as tk
from benchmarks.common.report import Report, Target

__all__ = ["add_large_schema", "large_schema"]

_RESOURCES, _TYPES, _MEMBERS, _PARTS = 60, 40, 18, 3
_WORDS = [
    "status",
    "code",
    "system",
    "value",
    "display",
    "text",
    "period",
    "start",
    "end",
    "reference",
    "identifier",
    "type",
    "subject",
    "encounter",
    "performer",
    "note",
    "category",
    "priority",
    "reason",
    "location",
    "contact",
    "address",
    "telecom",
    "given",
    "family",
    "birth",
    "active",
    "organization",
    "part",
    "link",
    "language",
    "contained",
    "meta",
    "version",
    "profile",
    "security",
    "source",
    "author",
    "date",
    "title",
]
_PRIMITIVES: dict[str, Any] = {
    "string": {"type": "string", "pattern": "^[ \\r\\n\\t\\S]+$"},
    "code": {"type": "string", "pattern": "^[^\\s]+(\\s[^\\s]+)*$"},
    "boolean": {"type": "boolean"},
    "decimal": {"type": "number"},
    "id": {"type": "string", "pattern": "^[A-Za-z0-9\\-\\.]{1,64}$"},
    "uri": {"type": "string", "pattern": "^\\S*$"},
}
_TARGET_S = 1.0


def large_schema(seed: str) -> dict[str, Any]:
    """Some 290 definitions; the first variant is ``Resource0``."""
    draw = random.Random(seed)
    types = [f"Type{number}" for number in range(_TYPES)]
    resources = [f"Resource{number}" for number in range(_RESOURCES)]
    parts = [f"{name}Part{number}" for name in resources for number in range(_PARTS)]
    definitions = {**_PRIMITIVES, **{name: _object(draw, types) for name in (*types, *parts, *resources)}}
    for name in resources:
        properties = {"resourceType": {"const": name}, **definitions[name]["properties"]}
        for number in range(_PARTS):
            properties[f"part{number}"] = {"type": "array", "items": _to(f"{name}Part{number}")}
        properties["contained"] = {"type": "array", "items": _to("ResourceList")}
        definitions[name] |= {"properties": properties, "required": ["resourceType"]}
    variants = [_to(name) for name in resources]
    definitions["ResourceList"] = {"oneOf": variants}
    return {
        "oneOf": variants,
        "definitions": definitions,
        "$schema": "http://json-schema.org/draft-06/schema#",
    }


def _to(name: str) -> dict[str, Any]:
    return {"$ref": f"#/definitions/{name}"}


def _object(draw: random.Random, types: list[str]) -> dict[str, Any]:
    properties: dict[str, Any] = {"id": _to("string"), "extension": {"type": "array", "items": _to(types[0])}}
    for _ in range(_MEMBERS):
        name = "".join([draw.choice(_WORDS), draw.choice(_WORDS).capitalize()])
        kind = draw.randrange(4)
        if kind < 2:
            properties[name], properties[f"_{name}"] = _to(draw.choice(list(_PRIMITIVES))), _to(types[0])
        elif kind == 2:
            properties[name] = {"enum": draw.sample(_WORDS, 6)}
        else:
            properties[name] = {"type": "array", "items": _to(draw.choice(types))}
        properties[name] |= {"description": " ".join(draw.choices(_WORDS, k=40))}
    return {"properties": properties, "additionalProperties": False}


def add_large_schema(report: Report, options: Namespace) -> None:
    """The first repair of a text, which makes the automaton, and a later one of another text."""
    schema = large_schema(f"{options.seed} large")
    constraint = tk.json_schema(schema, property_order="any", whitespace="any", strict=False)
    extension = [{"id": f"e{number}"} for number in range(20)]
    text = json.dumps({"resourceType": "Resource7", "id": "x", "extension": extension}, indent=1)
    limits = tk.Limits(memory_bytes=4 << 30, seconds=60)
    rows: list[dict[str, Any]] = []
    for title, broken in (("the last brace", text[:-1]), ("a brace within", text.replace("},", ",", 1))):
        start = time.process_time()
        found = constraint.repair(broken, limits=limits)
        seconds = time.process_time() - start
        rows.append({"lost": title, "processor s": seconds, "proven": found.optimal, "cost": found.cost})
    size = len(json.dumps(schema)) / 1e6
    report.add(f"A schema of {size:.1f} MB, one text after the other", rows)
    report.targets.append(
        Target("schema of 2 MB, first repair", rows[0]["processor s"], _TARGET_S, "s of processor time")
    )
