"""Costs of edits as they are fitted to the training half, beside the default costs.

python -m benchmarks.repair.fitting --held-out --markdown benchmarks/results/repair_costs.md
python -m benchmarks.repair.fitting --quick

Problem.  Which costs make the repair that was meant the cheapest?
How.  Hard EM (Viterbi training).  Each broken text of the training half is repaired into the text that was
meant, with the costs so far; the edits are counted (:mod:`.counted_edits`); the new cost of a kind is
``-1000 · ln((made + 1/2) / (possible + 1))`` (Krichevsky and Trofimov's estimate).  That is repeated until no
cost changes by more than 1, five times at most.  Kinds that were possible nowhere keep their default.

Then tables are judged: each repairs the training half into any JSON, and the values that were meant are
counted.  Fitted costs are *adopted* one kind after another, scaled, where no row of texts loses a value.

Source.  Ristad and Yianilos, *Learning string edit distance*, 1998, with the cheapest path instead of all.
What a text that was cut off lacks is not counted: it is one mistake, however much is missing.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import tokamata as tk
from benchmarks.common import environment
from benchmarks.common.program import parser_for, progress, run, say
from benchmarks.common.report import Report
from benchmarks.repair.corruption_rows import is_seen
from benchmarks.repair.corruptions import KINDS, SCHEMA_KINDS, STRUCTURE, TRUNCATED
from benchmarks.repair.counted_edits import (
    Counts,
    Kind,
    KnownText,
    costs_by_kind,
    fitted_cost,
    is_possible,
    meant_as,
    with_costs,
)
from benchmarks.repair.instances import Instance, drawn_cases, load
from benchmarks.repair.members import complete_members, has
from tests.support.repair.library_cases import library_cases, value_of

_LIBRARIES = ("json_repair", "jsonrepair")  # the cases of the others judge the costs
_MOST_ROUNDS = 5
_SECONDS = 2.0  # for a repair
_LEAST_MADE = 5  # so often an edit must be made for its fitted cost to be tried
# Not scaled: what is missing of a text that was cut off is no measure of a mistake.
_AT_THE_ENDS = ("prepend", "append", "resume")


class Case(NamedTuple):
    """A broken text of the training half.

    Attributes:
        row: of the table of results.
        broken: the text.
        value: the value that was meant, as :func:`.value_of` writes it.
        known: the same text, for counting; ``None``: it was cut off.
        constraint: what it is repaired into when tables are compared.
    """

    row: str
    broken: str
    value: str
    known: KnownText | None
    constraint: tk.Constraint[Any]


def main() -> int:
    """The program."""
    parser = parser_for(__doc__ or "")
    parser.add_argument("--deadline", type=float, default=1.0, metavar="S", help="seconds for a repair (1)")
    parser.add_argument("--held-out", action="store_true", help="compare on the other half too")
    return run(measure, parser.parse_args())


def measure(options: Namespace, work: Path) -> Report:
    """Fits, and compares tables."""
    count = options.count or (5 if options.quick else 60)
    training = cases(load(options.schemas, is_training=True), count, options.seed)
    facts = environment.describe()
    facts["texts"] = f"{len(training)} of the training half of {options.schemas.name}"
    report = Report(facts)
    default = tk.DEFAULT_COSTS
    fitted, counts = fit(default, [one.known for one in training if one.known], report)
    scale = scale_of(default, fitted, counts)
    tables = {"default": default}
    changes = mixtures(default, fitted, counts, scale)
    chosen = adopted(default, changes["scaled"], counts, training, options.deadline)
    for name, changed in {**changes, "adopted": chosen}.items():
        tables[name] = with_costs(default, changed)
    _add_kinds(report, default, fitted, counts, scale, chosen)
    _compare(report, "Value back, % of the training half", training, tables, options.deadline)
    if options.held_out:
        judged = cases(load(options.schemas, is_training=False), count, options.seed)
        three = {name: tables[name] for name in ("default", "fitted", "adopted")}
        _compare(report, "Value back, % of the held-out half", judged, three, options.deadline)
    return report


# ---- texts ----


def cases(instances: Sequence[Instance], count: int, seed: int) -> list[Case]:
    """Texts with one to three mistakes, those of schemas, and those of the libraries' own tests."""
    plain = tk.json(whitespace="any", spelling="any")
    pairs = [(first, second) for first in STRUCTURE for second in STRUCTURE if first < second]
    triples = [(*pair, third) for pair in pairs for third in STRUCTURE if pair[1] < third]
    rows: dict[str, Sequence[tuple[str, ...]]] = {kind: [(kind,)] for kind in KINDS}
    rows |= {"two": pairs, "three": triples}
    found = []
    for row, kinds in rows.items():
        drawn = drawn_cases(kinds, instances, count * (2 if len(kinds) > 1 else 1), f"{seed} fit {row}")
        for (_, meant, broken), _ in drawn:
            known = None if row == TRUNCATED else KnownText(broken, meant_as(meant))
            found.append(Case(row, broken, value_of(meant) or "", known, plain))
    schema_rows: dict[str, Sequence[tuple[str, ...]]] = {
        "typing, with the schema": [(kind,) for kind in SCHEMA_KINDS],
        "two, with the schema": pairs,
    }
    for row, kinds in schema_rows.items():
        drawn = drawn_cases(kinds, instances, 2 * count, f"{seed} fit {row}", is_wanted=is_seen)
        for (_, meant, broken), instance in drawn:
            constraint = tk.json_schema(
                instance.schema, property_order="any", whitespace="any", spelling="any", strict=False
            )
            words = constraint.repair(meant).certificate.costs.words
            found.append(
                Case(
                    row, broken, value_of(meant) or "", KnownText(broken, meant_as(meant), words), constraint
                )
            )
    for library in _LIBRARIES:
        chosen = [case for case in library_cases(library) if case.expected is not None and not case.is_json]
        random.Random(seed).shuffle(chosen)
        for case in chosen[: 8 * count]:
            expected = json.dumps(json.loads(case.expected or ""), ensure_ascii=False)
            found.append(
                Case(
                    library,
                    case.input,
                    value_of(case.expected) or "",
                    KnownText(case.input, meant_as(expected)),
                    plain,
                )
            )
    return found


# ---- fitting ----


def fit(default: tk.EditCosts, texts: Sequence[KnownText], report: Report) -> tuple[dict[Kind, int], Counts]:
    """The fitted cost of each kind that was possible, and the last counts."""
    costs, fitted, counts, rows = default, {}, Counts(), []
    with progress("fitting", _MOST_ROUNDS * len(texts)) as step:
        for number in range(_MOST_ROUNDS):
            counts = Counts()
            for text in texts:
                counts.add(text, costs, _SECONDS)
                step(f"round {number + 1}")
            before = costs_by_kind(costs)
            fitted = {
                kind: fitted_cost(counts.made[kind], possible)
                for kind, possible in counts.possible.items()
                if possible
            }
            costs = with_costs(default, fitted)
            change = max(abs(cost - before[kind]) for kind, cost in fitted.items())
            rows.append(
                {"round": number + 1, "texts": counts.texts, "not proven": counts.unread,
                 "edits": counts.made.total(), "largest change of a cost": change}
            )  # fmt: skip
            say(str(rows[-1]))
            if change <= 1:
                break
    report.add("Rounds", rows)
    return fitted, counts


def scale_of(default: tk.EditCosts, fitted: dict[Kind, int], counts: Counts) -> float:
    """By what the fitted costs are multiplied beside default costs: the median ratio of single bytes."""
    own = costs_by_kind(default)
    ratios = [
        own[kind] / cost
        for kind, cost in fitted.items()
        if kind.group in ("insert", "remove") and counts.made[kind] >= _LEAST_MADE
    ]
    return statistics.median(ratios) if ratios else 1.0


def mixtures(
    default: tk.EditCosts, fitted: dict[Kind, int], counts: Counts, scale: float
) -> dict[str, dict[Kind, int]]:
    """Tables between the default costs and the fitted ones."""
    own = costs_by_kind(default)
    scaled = {
        kind: round(scale * cost)
        for kind, cost in fitted.items()
        if counts.made[kind] >= _LEAST_MADE and kind.group not in _AT_THE_ENDS
    }
    return {
        "fitted": fitted,
        "half of each": {kind: (own[kind] + cost) // 2 for kind, cost in fitted.items()},
        "scaled": scaled,
    }


def adopted(
    default: tk.EditCosts, scaled: dict[Kind, int], counts: Counts, judged: Sequence[Case], seconds: float
) -> dict[Kind, int]:
    """The kinds whose fitted costs are at least as good as the default ones, taken one after another.

    At least as good: no row of texts loses a value.  The kinds that were made most often come first.  A cost
    that changes concerns the texts alone in which the edit is possible.
    """
    chosen: dict[Kind, int] = {}
    hits = [_is_repaired(case, default, seconds) for case in judged]
    kinds = sorted(scaled, key=lambda kind: -counts.made[kind])
    with progress("adopting", len(kinds)) as step:
        for kind in kinds:
            costs = with_costs(default, {**chosen, kind: scaled[kind]})
            tried = {
                number: _is_repaired(case, costs, seconds)
                for number, case in enumerate(judged)
                if is_possible(kind, default, case.broken, case.known.words if case.known else None)
            }
            changes = Counter[str]()
            for number, hit in tried.items():
                changes[judged[number].row] += hit - hits[number]
            say(f"{_shown(default, kind)}, {scaled[kind]}: {changes.total():+} of {len(tried)}")
            if min(changes.values(), default=0) >= 0:
                chosen[kind] = scaled[kind]
                for number, hit in tried.items():
                    hits[number] = hit
            step(_shown(default, kind))
    return chosen


def _add_kinds(
    report: Report,
    default: tk.EditCosts,
    fitted: dict[Kind, int],
    counts: Counts,
    scale: float,
    chosen: dict[Kind, int],
) -> None:
    rows = [
        {
            "edit": _shown(default, kind),
            "possible": counts.possible[kind],
            "made": counts.made[kind],
            "fitted": fitted.get(kind),
            "default": cost,
            "adopted": chosen.get(kind),
        }
        for kind, cost in costs_by_kind(default).items()
    ]
    notes = [
        "of a rewrite with several patterns, each has a row",
        f"adopted: the fitted cost times {scale:.2f}, the median ratio of default to fitted, of single bytes",
    ]
    report.add("Edits", rows, notes)


def _shown(costs: tk.EditCosts, kind: Kind) -> str:
    if kind.group in ("rewrites", "doubts"):
        one = getattr(costs, kind.group)[kind.key]
        return one.name if kind.group == "rewrites" else f"keep {one.name}"
    if kind.group == "typo":
        return "typo"
    return f"{kind.group} {_of_bytes(str(kind.key))}"


def _of_bytes(key: str) -> str:
    if len(key) < 10 and key.isprintable():
        return key
    if "!" in key:
        return "any byte of ASCII"
    return "a letter or digit" if "z" in key else "white space" if "\t" in key else "NUL"


# ---- judging ----


def is_right(case: Case, text: str) -> bool:
    """Whether a repair has the value that was meant; of a text that was cut off, all its complete members."""
    if case.row != TRUNCATED:
        return value_of(text) == case.value
    return all(has(json.loads(text), member) for member in complete_members(case.broken))


def _is_repaired(case: Case, costs: tk.EditCosts, seconds: float) -> bool:
    try:
        return is_right(case, case.constraint.repair(case.broken, costs=costs, deadline_seconds=seconds).text)
    except tk.LimitExceeded:
        return False


def _compare(
    report: Report, title: str, judged: Sequence[Case], tables: dict[str, tk.EditCosts], seconds: float
) -> None:
    rows: dict[str, dict[str, Any]] = {}
    with progress(title, len(tables)) as step:
        for name, costs in tables.items():
            cells: dict[str, list[bool]] = {}
            for case in judged:
                cells.setdefault(case.row, []).append(_is_repaired(case, costs, seconds))
            own = [hit for row, hits in cells.items() for hit in hits if row not in _LIBRARIES]
            cells = {"all but the libraries": own, **cells}
            for row, hits in cells.items():
                cell = rows.setdefault(row, {"texts of": row, "texts": len(hits)})
                cell[name] = round(100 * sum(hits) / len(hits), 1)
            say(f"{title}, {name}: {100 * sum(own) / len(own):.1f} %")
            step(name)
    report.add(title, list(rows.values()))


if __name__ == "__main__":
    sys.exit(main())
