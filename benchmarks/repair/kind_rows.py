"""Broken texts by kind of mistake and in the style of model families: how often a careful reader agrees."""

from __future__ import annotations

from benchmarks.common.report import Report, Target
from benchmarks.repair.engines import NO_SCHEMA, OURS, Answer, Engine
from tests.support.repair.kinds import COLLECTIONS, SPLITS, KindCase, cases_of

__all__ = ["add_kinds"]

_TITLES = {
    "kinds": "Kinds of mistakes",
    "long": "Kinds of mistakes in texts of up to 1.2 kB",
    "pairs": "Two kinds of mistakes in one text",
    "families": "Texts in the style of model families",
}


def add_kinds(report: Report, engines: dict[str, Engine], most: int | None) -> None:
    """A table of each collection; ``most`` bounds the cases of each kind.

    Args:
        report: gets the tables, and the held-out kinds as a target.
        engines: they are given the schemas.
        most: how many cases of each kind; ``None``: all.
    """
    for collection in COLLECTIONS:
        cases = [case for case in cases_of(collection) if most is None or _number(case) <= most]
        right = {name: _right(engine, cases) for name, engine in engines.items()}
        rows = []
        for split in SPLITS:
            rows += _rows(collection, split, cases, right)
        notes = [
            "right: a value that a careful reader accepts, or a refusal where that is right",
            "held_out: no cost and no rewrite was chosen by these texts",
        ]
        report.add(_TITLES[collection], rows, notes)
        share = rows[-1][f"{OURS}, right %"]
        report.targets.append(Target(f"{_TITLES[collection]}, held out", share, 95.0, "%", at_least=True))


def _number(case: KindCase) -> int:
    return int(case.name.rpartition("/")[2])


def _right(engine: Engine, cases: list[KindCase]) -> dict[str, bool]:
    answers = engine(
        [case.input for case in cases],
        [NO_SCHEMA if case.schema is None else case.schema for case in cases],
    )
    return {case.name: _is_right(case, answer) for case, answer in zip(cases, answers, strict=True)}


def _is_right(case: KindCase, answer: Answer) -> bool:
    """Spelling is compared for tokamata alone: its peers write everything again."""
    if not case.is_right(answer.text or None):
        return False
    return answer.repair is None or case.keeps_spelling(answer.repair.text)


def _rows(
    collection: str, split: str, cases: list[KindCase], right: dict[str, dict[str, bool]]
) -> list[dict[str, object]]:
    """A row of each kind, and one of all; where kinds have one or two texts, the last alone."""
    of_split = [case for case in cases if case.split == split]
    kinds = {} if collection in ("long", "pairs") else {case.kind: [] for case in of_split}
    groups: dict[str, list[KindCase]] = {**kinds, "all": of_split}
    for case in of_split:
        if case.kind in kinds:
            groups[case.kind].append(case)
    return [
        {
            "texts": split,
            "of": title,
            "count": len(group),
            **{
                f"{name}, right %": round(
                    100 * sum(found[case.name] for case in group) / max(len(group), 1), 1
                )
                for name, found in right.items()
            },
        }
        for title, group in groups.items()
    ]
