"""Where schemas come from: random ones, and MaskBench's; and how one is written differently."""

from __future__ import annotations

import json
import lzma
import random
from pathlib import Path
from typing import Any

from tests.support.schemas.random_schemas import DRAFTS, RandomSchemas

_HOLDERS = ("$defs", "definitions")


class Schemas:
    """A source: random schemas, and as many of a file.

    Args:
        path: lines of JSON with a ``schema`` each; without, or where it is missing, all are random.
        share: of those of the file.
    """

    def __init__(self, path: Path | None = None, share: float = 0.4) -> None:
        self._share = share
        self._lines: list[str] = []
        if path is not None and path.exists():
            with lzma.open(path, "rt", encoding="utf-8") as lines:
                self._lines = list(lines)

    def __call__(self, chooser: random.Random) -> Any:
        """One schema."""
        if self._lines and chooser.random() < self._share:
            return json.loads(chooser.choice(self._lines))["schema"]
        draft = chooser.choice(list(DRAFTS))
        return RandomSchemas(chooser.randrange(1 << 30), draft).schema()


def written_differently(schema: Any, chooser: random.Random) -> dict[str, Any] | None:
    """Another schema of the same values; ``None`` where nothing is safe to do."""
    if not isinstance(schema, dict) or "$id" in schema or "id" in schema:
        return None
    outer = {key: schema[key] for key in ("$schema", *_HOLDERS) if key in schema}
    inner = {key: value for key, value in schema.items() if key not in outer}
    if any(
        "#/" in line for line in _references(schema) if not line.startswith(("#/$defs/", "#/definitions/"))
    ):
        return None
    modern = "$schema" not in schema or any(draft in schema["$schema"] for draft in ("2019", "2020"))
    holder = "$defs" if modern else "definitions"
    ways = [{"allOf": [inner]}, {"anyOf": [inner, inner]}, {"not": {"not": inner}}, {"oneOf": [inner]}]
    ways.append({"allOf": [inner, {}]})
    found = {**outer, **chooser.choice(ways)}
    if chooser.random() < 0.2:
        found = {**outer, "allOf": [{"$ref": f"#/{holder}/itself"}]}
        found[holder] = {**found.get(holder, {}), "itself": inner}
    return found


def _references(schema: Any) -> list[str]:
    """All of them, and what looks like one."""
    if isinstance(schema, list):
        return [one for part in schema for one in _references(part)]
    if not isinstance(schema, dict):
        return []
    found = [
        value for key, value in schema.items() if key.endswith(("Ref", "$ref")) and isinstance(value, str)
    ]
    return found + [one for part in schema.values() for one in _references(part)]
