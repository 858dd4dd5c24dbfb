"""Schemas for vLLM to write a value of: MaskBench's where they are at hand, otherwise those of the tests."""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.paths import DATA
from tokamata.audit.declared_order import in_order

_SHORTEST, _LONGEST = 80, 2000  # characters of a schema
_SHOWN = 300  # of them in a prompt, which has to be short for a first token to come soon


class Case(NamedTuple):
    """A schema.

    Attributes:
        name: its id in the data.
        schema: as JSON text.
        text: a value that the data call valid, with members in the order of the schema; ``None`` without one.
    """

    name: str
    schema: str
    text: str | None

    @property
    def prompt(self) -> str:
        """What the model reads."""
        return f"JSON Schema:\n{self.schema[:_SHOWN]}\n\nAn example with realistic values:\n"


def draw_cases(maskbench: Path | None, count: int, seed: int) -> list[Case]:
    """So many schemas of objects, or as many as there are; drawn by a seed, no two alike.

    Args:
        maskbench: the file; ``None`` where it is not at hand.
        count: how many.
        seed: of the draw.
    """
    found: dict[str, Case] = {}
    entries = list(_lines(maskbench) if maskbench is not None else _own())
    random.Random(seed).shuffle(entries)
    for entry in entries:
        content = json.loads(entry)
        text = json.dumps(content["schema"], ensure_ascii=False)
        if _SHORTEST <= len(text) <= _LONGEST and _is_of_objects(content["schema"]):
            found.setdefault(text, Case(content["id"], text, _some_value(content)))
        if len(found) == count:
            break
    return list(found.values())


def _some_value(content: dict[str, Any]) -> str | None:
    for test in content["tests"]:
        if test["valid"]:
            return json.dumps(in_order(content["schema"], test["data"]), ensure_ascii=False)
    return None


def _lines(path: Path) -> Iterator[str]:
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        yield from lines


def _own() -> Iterator[str]:
    for content in json.loads((DATA / "schema_cases.json").read_text(encoding="utf-8")):
        yield json.dumps(content)


def _is_of_objects(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "object" and "properties" in schema
