"""Tables of the answers: measures of each arm, and differences with what chance explains of them.

All differences are paired: of the same question under two arms.  Shares are in percent, differences in
percentage points.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.answers.arms import ARMS, FREE, OURS, Arm
from benchmarks.answers.chance import corrected, interval, p_value
from benchmarks.answers.questions import KINDS, Question
from benchmarks.answers.scoring import score
from benchmarks.common import plots
from benchmarks.common.report import Report, Target

__all__ = ["Answers", "fill_report", "judged"]

_LOWEST, _LEVEL = -2.0, 0.05
_TURNS = 12
_ALL = "all"


@dataclass(frozen=True)
class Answers:
    """The judged answers.

    Attributes:
        frame: a row for each arm and question: ``arm``, ``id``, ``kind``, ``style``, the measures, ``end``.
        arms: those that have answered every question that any has answered, in the order of ``ARMS``.
        unfinished: the names of the other arms that have answered some.
        turns: of each arm and kind, the forbidden tokens and those taken instead, counted.
    """

    frame: pd.DataFrame
    arms: list[Arm]
    unfinished: list[str]
    turns: Mapping[tuple[str, str], Counter[tuple[str, str]]]


def judged(
    rows: Sequence[Mapping[str, Any]],
    accepted: Mapping[str, Mapping[str, bool]],
    questions: Mapping[str, Question],
) -> Answers:
    """Judges what ``write.py`` has written; arms that are not finished are left out.

    Args:
        rows: the answers.
        accepted: by arm and question, whether the masks allow the known answer.
        questions: by id.
    """
    found: dict[str, dict[str, dict[str, Any]]] = {arm.name: {} for arm in ARMS}
    turns: dict[tuple[str, str], Counter[tuple[str, str]]] = {}
    for row in rows:
        if row["arm"] not in found:
            continue
        question = questions[row["id"]]
        given = score(question, row["text"])
        is_valid = given.is_valid and row["end"] == "complete"
        counted = turns.setdefault((row["arm"], question.kind), Counter())
        counted.update((turn[0], turn[1]) for turn in row["turns"])
        found[row["arm"]][question.id] = {
            "arm": row["arm"],
            "id": question.id,
            "kind": question.kind,
            "style": question.style,
            "fields": 100 * given.fields,
            "right": 100.0 * given.is_right,
            "valid and wrong": 100.0 * (is_valid and not given.is_right),
            "invalid": 100.0 * (not is_valid),
            "accepted": 100.0 * accepted.get(row["arm"], {}).get(question.id, True),
            "lost": row["lost"],
            "turns": len(row["turns"]),
            "tokens": row["tokens"],
            "end": row["end"],
        }
    answered = max((len(by_id) for by_id in found.values()), default=0)
    arms = [arm for arm in ARMS if answered and len(found[arm.name]) == answered]
    unfinished = [name for name, by_id in found.items() if 0 < len(by_id) < answered]
    ordered = sorted({name for by_id in found.values() for name in by_id})
    frame = pd.DataFrame([found[arm.name][name] for arm in arms for name in ordered])
    return Answers(frame, arms, unfinished, turns)


def fill_report(answers: Answers, report: Report, seed: int) -> None:
    """Adds all tables, the targets and the picture."""
    frame, names = answers.frame, [arm.name for arm in answers.arms]
    report.facts["answers"] = f"{frame['id'].nunique():,} questions, {len(names)} arms"
    if answers.unfinished:
        report.facts["left out, as not finished"] = "; ".join(answers.unfinished)
    report.is_wrong = _add_measures(answers, report)
    compare = _Comparison(frame, seed)
    if {FREE, OURS} <= set(names):
        _add_against_free(compare, report)
    if OURS in names:
        _add_options(compare, [arm for arm in answers.arms if arm.engine == OURS and arm.options], report)
        _add_peers(compare, [arm for arm in answers.arms if arm.engine not in (FREE, OURS)], report)
        _add_styles(compare, names, report)
        _add_turns(answers, report)
    if FREE in names:
        report.picture = partial(_draw, compare, names, report.facts)
    report.keep("answers", frame)


# ---- measures ---------------------------------------------------------------------------------

_MEASURES = {
    "fields": "Fields right (%)",
    "right": "Whole answers right (%)",
    "valid and wrong": "Valid and wrong (%)",
    "invalid": "Invalid, cut off or refused (%)",
    "accepted": "Known answers that the masks allow, in the spelling of the examples (%)",
    "lost": "Log-probability lost to the mask (nats an answer)",
    "turns": "Steps where the mask forbids the model's choice (an answer)",
    "tokens": "Tokens an answer",
}


def _add_measures(answers: Answers, report: Report) -> bool:
    """A table for each measure; returns whether an answer of ours is invalid."""
    notes = {
        "fields": ["A field is a value that the schema does not fix; see `benchmarks/answers/scoring.py`."],
        "invalid": _endings(answers),
    }
    for measure, title in _MEASURES.items():
        by_arm = answers.frame.pivot_table(measure, "arm", "kind", sort=False)
        whole = answers.frame.groupby("arm")[measure].mean()
        rows = [
            {"arm": name}
            | {kind: by_arm.loc[name, kind] for kind in KINDS if kind in by_arm.columns}
            | {_ALL: whole[name]}
            for name in by_arm.index
        ]
        report.add(title, rows, notes.get(measure, ()))
    ours = answers.frame["arm"].isin([arm.name for arm in answers.arms if arm.engine == OURS])
    return bool((ours & (answers.frame["invalid"] > 0)).any())


def _endings(answers: Answers) -> list[str]:
    """How the texts ended that did not end with their value."""
    cut = answers.frame[answers.frame["end"] != "complete"]
    counts = cut.groupby(["arm", "end"], sort=False).size()
    return [f"{arm}: {count} ended with {end!s:.200}" for (arm, end), count in counts.items()]


# ---- differences ------------------------------------------------------------------------------


class _Comparison:
    """Paired differences between arms."""

    def __init__(self, frame: pd.DataFrame, seed: int) -> None:
        self._seed = seed
        self.kinds = [kind for kind in KINDS if kind in set(frame["kind"])]
        self._by_measure = {
            name: frame.pivot(index="id", columns="arm", values=name) for name in ("fields", "right")
        }
        questions = frame.drop_duplicates("id").set_index("id").loc[self._by_measure["fields"].index]
        self._kind_of, self.style_of = questions["kind"], questions["style"]

    def differences(self, arm: str, other: str, kind: str, measure: str = "fields") -> np.ndarray[Any, Any]:
        """Of each question of a kind, or of all kinds: ``arm`` minus ``other``."""
        values = self._by_measure[measure]
        found: np.ndarray[Any, Any] = (values[arm] - values[other]).to_numpy()
        return found if kind == _ALL else found[(self._kind_of == kind).to_numpy()]

    def mean(self, arm: str, kind: str) -> float:
        values = self._by_measure["fields"][arm]
        return float(values.mean() if kind == _ALL else values[self._kind_of == kind].mean())

    def mean_of(self, arm: str, chosen: pd.Series[bool]) -> float:
        return float(self._by_measure["fields"][arm][chosen].mean())

    def row(self, arm: str, other: str, kind: str, measure: str = "fields") -> dict[str, Any]:
        """The difference, its interval and its p-value."""
        found = self.differences(arm, other, kind, measure)
        low, high = interval(found, self._seed)
        return {
            "difference": float(found.mean()),
            "95 % interval": f"{low:+.1f} to {high:+.1f}",
            "p": p_value(found, self._seed),
            "low": low,
            "high": high,
        }


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    """Without the columns that only targets need."""
    return {
        name: f"{value:+.2f}" if name == "difference" else f"{value:.3f}" if name.startswith("p") else value
        for name, value in row.items()
        if name not in ("low", "high")
    }


def _add_against_free(compare: _Comparison, report: Report) -> None:
    rows = []
    for kind in [*compare.kinds, _ALL]:
        row = compare.row(OURS, FREE, kind)
        whole = compare.row(OURS, FREE, kind, "right")
        rows.append(
            {"kind": kind, FREE: compare.mean(FREE, kind), OURS: compare.mean(OURS, kind)}
            | _shown(row)
            | {"whole answers": f"{whole['difference']:+.2f}", "their interval": whole["95 % interval"]}
        )
        if kind != _ALL:
            what = f"{kind}: fields right, default minus unconstrained, lower end of the 95 % interval"
            report.targets.append(Target(what, row["low"], _LOWEST, "points", at_least=True))
    report.add("The default beside free text: fields right (%), differences in points", rows)


def _add_options(compare: _Comparison, options: Sequence[Arm], report: Report) -> None:
    """Each option alone against the default; p-values are corrected for all options, and for all kinds."""
    if not options:
        return
    whole = [compare.row(arm.name, OURS, _ALL) for arm in options]
    right = [compare.row(arm.name, OURS, _ALL, "right") for arm in options]
    sizes = [(row, other) for row, other in zip(whole, right, strict=True)]
    fixed = corrected([row["p"] for row in whole]), corrected([row["p"] for row in right])
    rows = [
        {"option": arm.name}
        | _shown(row | {"p, corrected": p})
        | {"whole answers": f"{other['difference']:+.2f}", "their p, corrected": f"{other_p:.3f}"}
        for arm, (row, other), p, other_p in zip(options, sizes, *fixed, strict=True)
    ]
    notes = [f"Corrected by Holm's method for the number of options, {len(options)}."]
    report.add("Options alone, minus the default: fields right, all kinds (points)", rows, notes)

    cells = [(arm.name, kind) for arm in options for kind in compare.kinds]
    found = [compare.row(name, OURS, kind) for name, kind in cells]
    by_kind = corrected([row["p"] for row in found])
    table: dict[str, dict[str, Any]] = {arm.name: {"option": arm.name} for arm in options}
    for (name, kind), row, p in zip(cells, found, by_kind, strict=True):
        mark = " *" if p < _LEVEL else ""
        table[name][kind] = f"{row['difference']:+.2f} ({row['95 % interval']}){mark}"
    notes = [
        f"With 95 % intervals; * marks p < {_LEVEL} after Holm's correction for {len(cells)} comparisons.",
    ]
    report.add("The same by kind (points)", list(table.values()), notes)

    def smallest(rows: Iterator[tuple[Mapping[str, Any], float]]) -> float:
        return min((p for row, p in rows if row["difference"] > 0), default=1.0)

    for what, pairs in (
        ("fields, all kinds", zip(whole, fixed[0], strict=True)),
        ("whole answers, all kinds", zip(right, fixed[1], strict=True)),
        ("fields, any kind", zip(found, by_kind, strict=True)),
    ):
        line = f"smallest corrected p of an option that is better than the default: {what}"
        report.targets.append(Target(line, smallest(iter(pairs)), _LEVEL, "", at_least=True))


def _add_peers(compare: _Comparison, peers: Sequence[Arm], report: Report) -> None:
    rows = []
    for kind in [*compare.kinds, _ALL]:
        for arm in peers:
            row = compare.row(OURS, arm.name, kind)
            means = {OURS: compare.mean(OURS, kind), "peer's": compare.mean(arm.name, kind)}
            rows.append({"kind": kind, "peer": arm.name} | means | _shown(row))
    if not rows:
        return
    for kind in compare.kinds:
        best = max(peers, key=lambda arm: compare.mean(arm.name, kind))
        row = compare.row(OURS, best.name, kind)
        what = f"{kind}: default minus the best peer ({best.name}), upper end of the 95 % interval"
        report.targets.append(Target(what, row["high"], 0.0, "points", at_least=True))
    report.add("The default beside its peers: fields right (%), default minus peer (points)", rows)


# ---- where differences come from --------------------------------------------------------------


def _add_styles(compare: _Comparison, names: Sequence[str], report: Report) -> None:
    """Fields right by the spelling of the examples."""
    features: dict[str, Callable[[str], bool]] = {
        "spaced": lambda style: style.startswith("spaced"),
        "compact": lambda style: style.startswith("compact"),
        "braces": lambda style: style.startswith("braces"),
        "indented, tabs": lambda style: style.startswith(("indented", "tabs")),
        "escapes": lambda style: "escapes" in style,
        "other order": lambda style: "other order" in style,
    }
    chosen = {name: compare.style_of.map(has).astype(bool) for name, has in features.items()}
    rows = [
        {"arm": name}
        | {feature: compare.mean_of(name, which) for feature, which in chosen.items() if which.any()}
        for name in names
    ]
    counts = ", ".join(f"{name} {which.sum():,}" for name, which in chosen.items())
    report.add("Fields right by the spelling of the examples (%)", rows, [f"Questions: {counts}."])


def _add_turns(answers: Answers, report: Report) -> None:
    """What the default's masks forbid most often of what the model would write."""
    counted: Counter[tuple[str, str, str]] = Counter()
    for (arm, kind), turns in answers.turns.items():
        if arm == OURS:
            counted.update({(kind, *turn): count for turn, count in turns.items()})
    rows = [
        {"kind": kind, "model's choice": repr(wanted), "written": repr(taken), "times": count}
        for (kind, wanted, taken), count in counted.most_common(_TURNS)
    ]
    report.add("Where the default's masks forbid the model's choice, most frequent", rows)


def _draw(compare: _Comparison, names: Sequence[str], facts: Mapping[str, str], path: Path) -> None:
    """The difference of each arm to free text, with its interval, kind by kind."""
    arms = [name for name in names if name != FREE]
    figure, axes = plots.subplots(2, 3, (11, 1.6 + 0.42 * len(arms)))
    for place, (axis, kind) in enumerate(zip(axes.flat, compare.kinds, strict=False)):
        for i, name in enumerate(arms):
            row = compare.row(name, FREE, kind)
            colour = (
                plots.OURS[0]
                if name == OURS
                else plots.COLOURS[0]
                if name.startswith(OURS)
                else plots.PEERS[2]
            )
            axis.plot([row["low"], row["high"]], [-i, -i], color=colour, linewidth=1.5)
            axis.plot([row["difference"]], [-i], "o", color=colour, markersize=4)
        axis.axvline(0, color=plots.INK, linewidth=0.8)
        axis.axvline(_LOWEST, color=plots.INK, linewidth=0.8, linestyle=":")
        axis.set_title(kind)
        labels = arms if place % 3 == 0 else [""] * len(arms)
        axis.set_yticks([-i for i in range(len(arms))], labels, fontsize=7)
        if place >= 3:
            axis.set_xlabel("fields right, minus free text, points")
    plots.save(figure, path, f"{facts.get('model', '')}, {facts.get('date', '')}")
