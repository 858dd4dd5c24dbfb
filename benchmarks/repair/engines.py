"""The engines of repairs: tokamata, json_repair and jsonrepair, for JSON and for schemas."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import json_repair
import jsonschema

import tokamata as tk
from benchmarks.common.program import say
from tests.support.repair.library_cases import value_of

__all__ = [
    "NO_SCHEMA",
    "OURS",
    "Answer",
    "Engine",
    "is_valid",
    "node_peer",
    "ours",
    "python_peer",
]

OURS = "tokamata"
NO_SCHEMA: Any = object()
_NODE = Path(__file__).parent / "jsonrepair.mjs"


class Answer(NamedTuple):
    """What an engine makes of a broken text.

    Attributes:
        text: ``None`` if it raises.
        ns: the time in nanoseconds.
        first_ns: until its first answer.
        is_proven: whether no accepted text is nearer.
        expansions: nodes that the search expanded.
        repair: the repair, if the engine is tokamata.
    """

    text: str | None
    ns: float
    first_ns: float = 0.0
    is_proven: bool = False
    expansions: int = 0
    repair: tk.Repair[Any] | None = None


Engine = Callable[[Sequence[str], Sequence[Any]], list[Answer]]
"""Broken texts, and the schema of each (``NO_SCHEMA``: any JSON), to answers."""


def ours(deadline: float) -> Engine:
    """JSON or a schema in any order, white space and spelling; compiling a schema is not timed."""
    plain = tk.json(whitespace="any", spelling="any")

    def answer(broken: str, schema: Any) -> Answer:
        constraint: tk.Constraint[Any] = plain
        if schema is not NO_SCHEMA:
            constraint = tk.json_schema(
                schema, property_order="any", whitespace="any", spelling="any", strict=False
            )
        return answered(constraint, broken, deadline)

    def answers(texts: Sequence[str], schemas: Sequence[Any]) -> list[Answer]:
        made = []
        for broken, schema in zip(texts, schemas, strict=True):
            try:
                made.append(answer(broken, schema))
            except (tk.SchemaError, tk.EmptyConstraintError) as error:
                made.append(Answer(None, 0.0))
                say(f"tokamata: {str(error)[:100]}")
        return made

    return answers


def answered(constraint: tk.Constraint[Any], broken: str | bytes, deadline: float, **options: Any) -> Answer:
    """One repair, timed; ``options`` are those of ``constraint.repair``."""
    start = time.perf_counter()
    try:
        found = constraint.repair(broken, deadline_seconds=deadline, **options)
    except tk.LimitExceeded as error:
        say(f"tokamata: {str(error)[:100]}")
        return Answer(None, 1e9 * deadline, 1e9 * deadline)
    ns = 1e9 * (time.perf_counter() - start)
    first_ns = ns if found.first_feasible_us is None else 1e3 * found.first_feasible_us
    return Answer(found.text, ns, first_ns, found.optimal, found.expansions, found)


def python_peer(has_schema: bool) -> Engine:
    """json_repair, as its documentation has it."""

    def answers(texts: Sequence[str], schemas: Sequence[Any]) -> list[Answer]:
        made = []
        for broken, schema in zip(texts, schemas, strict=True):
            given = {"schema": schema} if has_schema and schema is not NO_SCHEMA else {}
            start = time.perf_counter()
            try:
                found: Any = json_repair.repair_json(broken, ensure_ascii=False, **given)
            except Exception:  # any error of the peer is a text that it does not repair
                found = None
            ns = 1e9 * (time.perf_counter() - start)
            made.append(Answer(found if isinstance(found, str) else None, ns))
        return made

    return answers


def node_peer(folder: Path) -> Engine:
    """jsonrepair, in one process of node."""

    def answers(texts: Sequence[str], schemas: Sequence[Any]) -> list[Answer]:
        lines = "".join(json.dumps(broken) + "\n" for broken in texts)
        done = subprocess.run(
            ["node", str(_NODE), str(folder)], input=lines, capture_output=True, text=True, check=True
        )
        # Not splitlines(): JSON may hold other line separators of Unicode, such as U+2028.
        found = [json.loads(line) for line in done.stdout.split("\n") if line]
        return [Answer(text, 1e3 * us) for text, us in found]

    return answers


def is_valid(text: str | None, schema: Any) -> bool:
    """Whether a text is JSON that ``jsonschema`` finds valid."""
    if text is None or value_of(text) is None:
        return False
    try:
        kind = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)
        return bool(kind(schema).is_valid(json.loads(text)))
    except Exception:  # the validator cannot evaluate the schema
        return False
