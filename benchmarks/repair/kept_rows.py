"""What is kept of texts that were cut off, and of texts that Gemma 3 270M writes for schemas."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.common.program import say
from benchmarks.common.report import Report, Target
from benchmarks.repair.corruptions import TRUNCATED
from benchmarks.repair.engines import NO_SCHEMA, OURS, Answer, Engine, is_valid
from benchmarks.repair.instances import Instance, drawn_cases, is_of_half, schemas_of
from benchmarks.repair.members import Member, complete_members, has, valid_members
from tests.support.paths import DATA
from tests.support.repair.library_cases import value_of

__all__ = ["add_truncated", "add_written"]

_WRITTEN = DATA / "repair" / "gemma_texts.json"


def add_truncated(
    report: Report,
    instances: list[Instance],
    engines: dict[str, Engine],
    with_schema: dict[str, Engine],
    options: Namespace,
    count: int,
) -> None:
    """Texts that end anywhere: every complete member is kept, and under the schema they become valid."""
    cases = drawn_cases([(TRUNCATED,)], instances, count, f"{options.seed} cut off")
    broken = [corruption.broken for corruption, _ in cases]
    members = [complete_members(text) for text in broken]
    schemas = [instance.schema for _, instance in cases]
    rows = [
        *_kept("no schema", broken, [NO_SCHEMA] * len(cases), members, engines),
        *_kept("with the schema", broken, schemas, members, with_schema),
    ]
    report.add("Texts that were cut off", rows)
    for row in rows:
        if row["engine"] == OURS:
            what = f"cut off, {row['']}: all complete members kept"
            report.targets.append(Target(what, row["texts with all kept %"], 100.0, "%", at_least=True))


def add_written(report: Report, engines: dict[str, Engine], options: Namespace, most: int | None) -> None:
    """Texts that a model has written without a constraint: valid afterwards, with the members that were."""
    written = _texts_of(_WRITTEN, lambda name: is_of_half(name, options.training))[:most]
    schemas_by_name = schemas_of(options.schemas, {name for name, _ in written})
    broken, schemas = [text for _, text in written], [schemas_by_name[name] for name, _ in written]
    members = [
        list(valid_members(complete_members(text), schema))
        for text, schema in zip(broken, schemas, strict=True)
    ]
    rows = _kept("with the schema", broken, schemas, members, engines)
    notes = [
        "kept: the members of the outermost object that were complete, and valid under the schema",
        f"valid as written: {sum(map(is_valid, broken, schemas))} of {len(broken)}",
    ]
    report.add("Texts that Gemma 3 270M writes", rows, notes)
    if rows:
        best = max((row["valid %"] for row in rows if row["engine"] != OURS), default=0.0)
        mine = next(row for row in rows if row["engine"] == OURS)
        report.targets.append(
            Target("Gemma's texts, valid", mine["valid %"], max(best, 100.0), "%", at_least=True)
        )


def _texts_of(path: Path, chosen: Callable[[str], bool]) -> list[tuple[str, str]]:
    if not path.exists():
        say(f"{path.name}: left out, benchmarks/repair/gemma_texts.py makes it")
        return []
    content = json.loads(path.read_text("utf-8"))
    return [(one["id"], one["text"]) for one in content["texts"] if chosen(one["id"])]


def _kept(
    title: str,
    broken: Sequence[str],
    schemas: Sequence[Any],
    members: Sequence[list[Member]],
    engines: dict[str, Engine],
) -> list[dict[str, Any]]:
    return [
        {"": title, "engine": name, **_row(engine(broken, schemas), schemas, members)}
        for name, engine in engines.items()
    ]


def _row(
    answers: Sequence[Answer], schemas: Sequence[Any], members: Sequence[list[Member]]
) -> dict[str, Any]:
    valid = kept = all_kept = 0
    for answer, schema, expected in zip(answers, schemas, members, strict=True):
        is_json = value_of(answer.text) is not None
        value = json.loads(answer.text or "null") if is_json else None
        found = sum(has(value, member) for member in expected)
        valid += is_json if schema is NO_SCHEMA else is_valid(answer.text, schema)
        kept += found
        all_kept += found == len(expected)
    count, total = max(len(answers), 1), max(sum(map(len, members)), 1)
    return {
        "texts": len(answers),
        "valid %": round(100 * valid / count, 1),
        "members": sum(map(len, members)),
        "members kept %": round(100 * kept / total, 1),
        "texts with all kept %": round(100 * all_kept / count, 1),
        "proven %": round(100 * sum(answer.is_proven for answer in answers) / count, 1),
    }
