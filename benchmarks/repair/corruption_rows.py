"""How often the value that was meant comes back from instances with mistakes, without and with the schema."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from benchmarks.common.program import progress
from benchmarks.common.report import Report, Target
from benchmarks.repair.corruptions import KINDS, SCHEMA_KINDS, STRUCTURE, TRUNCATED, Corruption
from benchmarks.repair.engines import NO_SCHEMA, OURS, Answer, Engine, is_valid
from benchmarks.repair.instances import Instance, drawn_cases
from tests.support.repair.library_cases import value_of

__all__ = ["Cases", "add_corruptions", "is_seen"]

Cases = dict[str, list[tuple[Corruption, Instance]]]
_AHEAD = 10.0  # points, of several mistakes


def add_corruptions(
    report: Report,
    instances: list[Instance],
    engines: dict[str, Engine],
    with_schema: dict[str, Engine],
    options: Namespace,
    count: int,
) -> list[Answer]:
    """Adds the tables; returns tokamata's answers without a schema, for their times."""
    pairs = [(first, second) for first in STRUCTURE for second in STRUCTURE if first < second]
    triples = [(*pair, third) for pair in pairs for third in STRUCTURE if pair[1] < third]

    def cases(rows: dict[str, list[tuple[str, ...]]], name: str, count: int, **wanted: Any) -> Cases:
        return {
            row: drawn_cases(kinds, instances, count, f"{options.seed} {name}{row}", **wanted)
            for row, kinds in rows.items()
        }

    answers: list[Answer] = []
    one = cases({kind: [(kind,)] for kind in KINDS if kind != TRUNCATED}, "", count)
    several = cases({"two": pairs, "three": triples}, "", 2 * count)
    shares = _quality(report, "One mistake, no schema", one, engines, answers)
    _add_ten_kinds(report, shares)
    several_shares = _quality(report, "Several mistakes, no schema", several, engines, answers)
    for row in several:
        best = max((share[row] for name, share in several_shares.items() if name != OURS), default=0.0)
        report.targets.append(
            Target(f"{row} mistakes, right", several_shares[OURS][row], best + _AHEAD, "%", at_least=True)
        )
    kinds = {**{kind: [(kind,)] for kind in (*KINDS, *SCHEMA_KINDS)}, "two": pairs, "three": triples}
    known = cases(kinds, "schema ", max(count // 2, 5), is_wanted=is_seen)
    _under_schema(report, known, with_schema)
    return answers


def is_seen(corruption: Corruption, instance: Instance) -> bool:
    """Whether a validator sees the mistake, and knows the schema.

    A word that is mistyped where any word may stand is a mistake that no schema shows.
    """
    schema = instance.schema
    return is_valid(corruption.meant, schema) and not is_valid(corruption.broken, schema)


def _with_progress(cases: Cases, title: str) -> Iterator[tuple[str, list[str], list[Instance], list[str]]]:
    """Rows of broken texts, their instances, and the values that were meant."""
    with progress(title, len(cases)) as step:
        for row, drawn in cases.items():
            meant = [value_of(corruption.meant) or "" for corruption, _ in drawn]
            yield row, [corruption.broken for corruption, _ in drawn], [one for _, one in drawn], meant
            step(row)


def _quality(
    report: Report, title: str, cases: Cases, engines: dict[str, Engine], times: list[Answer]
) -> dict[str, dict[str, float]]:
    """The table of one title; returns the share of right answers by engine and row."""
    rows: list[dict[str, Any]] = []
    shares: dict[str, dict[str, float]] = {name: {} for name in engines}
    for row, broken, _, meant in _with_progress(cases, title):
        cells: dict[str, Any] = {"mistake": row, "texts": len(broken)}
        for name, engine in engines.items():
            answers = engine(broken, [NO_SCHEMA] * len(broken))
            share = _percent(
                [value_of(answer.text) == value for answer, value in zip(answers, meant, strict=True)]
            )
            shares[name][row] = share
            cells[f"{name}, right %"] = round(share, 1)
            if name == OURS:
                times += answers
                report.is_wrong |= any(value_of(answer.text) is None for answer in answers)
        rows.append(cells)
    report.add(title, rows)
    return shares


def _add_ten_kinds(report: Report, shares: dict[str, dict[str, float]]) -> None:
    means = {name: sum(share[kind] for kind in STRUCTURE) / len(STRUCTURE) for name, share in shares.items()}
    rows = [{"engine": name, "right %": round(mean, 1)} for name, mean in means.items()]
    report.add("Ten kinds of one mistake, no schema", rows)
    report.targets.append(Target("ten kinds, right", means[OURS], 98.0, "%", at_least=True))


def _under_schema(report: Report, cases: Cases, engines: dict[str, Engine]) -> None:
    rows: list[dict[str, Any]] = []
    of_ours: dict[str, list[bool]] = {"valid": [], "right": []}
    for row, broken, instances, meant in _with_progress(cases, "with the schema"):
        cells: dict[str, Any] = {"mistake": row, "texts": len(broken)}
        for name, engine in engines.items():
            answers = engine(broken, [instance.schema for instance in instances])
            pairs = list(zip(answers, instances, strict=True))
            valid = [is_valid(answer.text, instance.schema) for answer, instance in pairs]
            right = [value_of(answer.text) == value for answer, value in zip(answers, meant, strict=True)]
            cells[f"{name}, valid %"] = round(_percent(valid), 1)
            cells[f"{name}, right %"] = round(_percent(right), 1)
            if name == OURS:
                of_ours["valid"] += valid
                of_ours["right"] += [] if row == TRUNCATED else right
        rows.append(cells)
    report.add("With the schema", rows)
    for what, target in (("valid", 100.0), ("right", 98.0)):
        name = f"with the schema, {what}" + (" (without truncated texts)" if what == "right" else "")
        report.targets.append(Target(name, _percent(of_ours[what]), target, "%", at_least=True))


def _percent(hits: list[bool]) -> float:
    return 100 * sum(hits) / max(len(hits), 1)
