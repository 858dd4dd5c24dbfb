"""What the tests of schemas share."""

from __future__ import annotations

from typing import Any

from tests.support.schemas.kernel_oracle import oracle_of
from tokamata.patterns.json_schema import ReadSchema, RecordingTable, read_schema

__all__ = ["names_in_order", "read", "verdicts"]


def read(schema: Any, **options: Any) -> tuple[RecordingTable, ReadSchema]:
    table = RecordingTable()
    return table, read_schema(schema, table=table, **options)


def verdicts(schema: Any, *values: Any, **options: Any) -> list[bool]:
    """Whether each value is in the schema."""
    return list(map(oracle_of(schema, **options), values))


def names_in_order(table: RecordingTable, root: int) -> list[str]:
    """The keys of an object in the order in which they are written, as the engine derives it."""
    found: dict[str, None] = {}
    later: dict[str, None] = {}
    seen: set[int] = set()
    stack = [root]
    while stack:
        number = stack.pop()
        if number in seen:
            continue
        seen.add(number)
        kind, *parts = table.nodes[number]
        if kind in ("all_of", "any_of", "one_of"):
            stack.extend(reversed(parts[0]))
        elif kind in ("negate", "defined"):
            stack.append(parts[0])
        elif kind == "property":
            found[parts[0]] = None
        elif kind == "has":
            later[parts[0]] = None
    return [*found, *(name for name in later if name not in found)]
