"""Tables 1 and 2 of paper 004 in kind, for real tokenizers: its detectors beside the guard.

python -m benchmarks.guard.tables --table 1
python -m benchmarks.guard.tables --table 2 --quick --only gpt2,qwen-3
python -m benchmarks.guard.tables --records FILE --json FILE --more tokenizer.json ...

Table 1 (:mod:`.boundary_table`): for each tokenizer, what was measured of the paper's assumptions, and some
seventy boundaries by Det_3, Det_4, Det_5 and by the guard.  A detector is *unsafe* on a boundary that it
accepts although the tokenizer's own program crosses it in some text.  The guard is unsafe if one of the texts
that are drawn to refute a proof does.

Table 2 (:mod:`.unicode_table`): the Unicode set around boundaries, under normal forms and flags.

With ``--records`` each tokenizer is one line of a file.  A run that was stopped goes on with the others, and
one that is complete prints the tables again.  Intervals are Wilson's, of 95 %; the texts are enumerated and
not drawn, and share boundaries and tokenizers, so these intervals are too narrow for other tokenizers.  Times
are those of the processor; on a machine that others use they are upper bounds.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from argparse import Namespace
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from scipy.stats import binomtest

import tokamata as tk
from benchmarks.common import environment
from benchmarks.common.program import progress, run
from benchmarks.common.report import Report
from benchmarks.guard import boundary_table, unicode_table
from benchmarks.guard.boundary_table import HORIZONS, UNSETTLED, UNWRITTEN, Detectors, rejects
from benchmarks.guard.catalogue import CONTROLS
from benchmarks.guard.chosen import parser_with_only
from benchmarks.guard.subjects import AS_IT_IS, Subject, subjects
from tests.support.tokenizers.manifest_sources import NAMES
from tokamata.tokenization.unicode_set import CATEGORIES

STRUCTURE = [
    *("{", '"', '":', '",', '"}', '{"', '"]', '["', "},", "}}", '": "', '", "', "::=", "->", "=>"),
    *("```", "```json\n", "\n```\n", "'''", '"""', "</", "/>", "<!--", "-->", "\n\n", "---"),
]
_KINDS = ("crossed", "destroyed", "made", "unknown")

Record = dict[str, Any]


def main() -> int:
    """The program; its exit status is 1 if a text contradicts a proof, or a witness is not confirmed."""
    parser = parser_with_only(__doc__)
    parser.add_argument("--table", type=int, choices=(1, 2), help="one of the two alone")
    parser.add_argument(
        "--records", type=Path, metavar="FILE", help="keep what is done, and go on from there"
    )
    parser.add_argument("--more", type=Path, nargs="*", default=[], help="further tokenizer.json files")
    return run(measure, parser.parse_args())


def measure(options: Namespace, work: Path) -> Report:
    """Both tables, or one."""
    report = Report(environment.describe())
    files = {path.stem: path for path in options.more}
    wanted = options.only.split(",") if options.only else [*NAMES, *files]
    chosen = [name for name in [*NAMES, *files] if name in wanted]
    records = _records(options.records)
    numbers = [options.table] if options.table else [1, 2]
    with progress("tables", len(chosen)) as step:
        for name in chosen:
            missing = [number for number in numbers if (name, number) not in records]
            for record in _measured(name, files.get(name), missing, options):
                records[name, record["table"]] = record
                if options.records:
                    with options.records.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(record) + "\n")
            step(name)
    report.facts["seed"] = str(options.seed)
    report.facts["times"] = "of the processor; the load average says whether the machine was shared"
    for number, summarize in ((1, boundaries_summarized), (2, unicode_summarized)):
        found = [records[name, number] for name in chosen if (name, number) in records]
        if number in numbers:
            report.facts[f"processor time of table {number}"] = (
                f"{sum(one['seconds'] for one in found):.0f} s"
            )
            summarize(report, found)
    return report


def _records(path: Path | None) -> dict[tuple[str, int], Record]:
    if path is None or not path.exists():
        return {}
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {(line["tokenizer"], line["table"]): line for line in lines}


def _measured(name: str, file: Path | None, numbers: list[int], options: Namespace) -> Iterator[Record]:
    """What is measured of a tokenizer: one record for each table."""
    if not numbers:
        return
    detectors: Detectors | None = None
    runs, seconds = [], 0.0
    refused: dict[str, str] = {}
    for subject in subjects(name, file, with_flags=2 in numbers and not options.quick):
        begin = time.process_time()
        try:
            detectors = detectors or Detectors(subject)
            if subject.flags == AS_IT_IS and 1 in numbers:
                found = _boundaries(subject, detectors, options)
                spent = time.process_time() - begin
                yield {"tokenizer": name, "table": 1, "seconds": spent, **found}
                begin = time.process_time()
            if 2 in numbers:
                counted = unicode_table.measure(subject, detectors, options.quick)
                runs.append({"flags": subject.flags, **counted})
        except tk.UnsupportedTokenizerError as error:
            refused[subject.flags] = f"{error.part}: {error.reason}"
            if subject.flags == AS_IT_IS:
                for number in numbers:
                    yield {"tokenizer": name, "table": number, "seconds": 0.0, "refused": refused}
                return
        seconds += time.process_time() - begin
    if 2 in numbers:
        yield {"tokenizer": name, "table": 2, "seconds": seconds, "runs": runs, "refused": refused}


def _boundaries(subject: Subject, detectors: Detectors, options: Namespace) -> Record:
    texts = [*CONTROLS, *STRUCTURE]
    draws = options.count or (200 if options.quick else 2_000)
    return boundary_table.measure(
        subject, detectors, texts[::6] if options.quick else texts, draws, options.seed
    )


# ---- table 1 -------------------------------------------------------------------------------------


def boundaries_summarized(report: Report, records: list[Record]) -> None:
    """Adds the tables of the boundaries."""
    measured = [record for record in records if "rows" in record]
    notes = [
        f"{one['tokenizer']} is refused: {one['refused'][AS_IT_IS]}" for one in records if "rows" not in one
    ]
    report.add(
        "Table 1: what was measured of each tokenizer", [_manifest_row(one) for one in measured], notes
    )
    every: Record = {
        "tokenizer": "all",
        "rows": [row for one in measured for row in one["rows"]],
        "own": [row for one in measured for row in one["own"]],
    }
    wrong = [row for row in [*every["rows"], *every["own"]] if row["refuted"] or not row["confirmed"]]
    report.is_wrong |= bool(wrong)
    report.add(
        "Table 1: boundaries whose names are ordinary text; unsafe in % of the boundaries",
        [_safety_row(one) for one in [*measured, every]],
        [
            "unsafe: accepted, and crossed by the program in the guard's witness; FP: rejected, and proved",
            f"boundaries that a detector does not settle are left out: {_unsettled(every)}",
            *(f"WRONG: {row}" for row in wrong[:5]),
        ],
    )
    report.add(
        "Table 1: names of own control tokens, which are read", [_own_row(one) for one in [*measured, every]]
    )
    report.add(
        "Table 1: milliseconds",
        [
            {
                "tokenizer": one["tokenizer"],
                "detectors: build": one["build_ms"],
                "a boundary": _median(row["det_ms"] for row in one["rows"]),
                "largest": max(row["det_ms"] for row in one["rows"]),
                "guard: the first boundary": one["cold_ms"],
                "a further one": _median(row["guard_ms"] for row in one["rows"]),
                "the largest": max(row["guard_ms"] for row in one["rows"]),
            }
            for one in measured
        ],
    )


def _manifest_row(record: Record) -> dict[str, Any]:
    found = record["manifest"]
    if found is None:
        return {"tokenizer": record["tokenizer"], "model": None}
    versions = {
        key: value for key, value in found["versions"].items() if key not in ("tokamata", "unicodedata")
    }
    return {
        "tokenizer": record["tokenizer"],
        "program": ", ".join(f"{key} {value}" for key, value in versions.items()),
        "model": found["model"],
        "normal form": found["normal form"],
        "space before": found["space before"],
        "byte fallback": found["byte fallback"],
        "code points filtered": f"{found['filtered']:,}",
        "assumptions that are false": ", ".join(f"({one})" for one in found["false"]) or "none",
    }


def _safety_row(record: Record) -> dict[str, Any]:
    rows = record["rows"]
    sides = Counter(_sides(row) for row in rows)
    row: dict[str, Any] = {"tokenizer": record["tokenizer"], "boundaries": len(rows)}
    for horizon in HORIZONS:
        settled = [(one, rejects(one["least"], horizon)) for one in rows]
        settled = [(one, is_rejected) for one, is_rejected in settled if is_rejected is not None]
        unsafe = sum(_sides(one) == "crossed" and not is_rejected for one, is_rejected in settled)
        row[f"Det_{horizon} unsafe"] = rate(unsafe, len(settled))
        row[f"Det_{horizon} FP"] = sum(
            _sides(one) == "never" and bool(is_rejected) for one, is_rejected in settled
        )
    return {
        **row,
        "guard: never crossed": sides["never"],
        "crossed, by a witness": sides["crossed"],
        "not settled": sides["not settled"],
        "texts against proofs": sum(one["attacks"] for one in rows),
        "guard unsafe": sum(one["refuted"] for one in rows),
    }


def _own_row(record: Record) -> dict[str, Any]:
    own = record["own"]
    return {
        "tokenizer": record["tokenizer"],
        "names": len(own),
        "never crossed": sum(_sides(one) == "never" for one in own),
        "always one token": sum(one["one_token"] == "proved" for one in own),
        "made by their name": sum(one["from_text"] == "witness" for one in own),
        "texts against proofs": sum(one["attacks"] for one in own),
        "guard unsafe": sum(one["refuted"] for one in own),
    }


def _sides(row: Record) -> str:
    outcomes = {row["left"], row["right"]}
    if "witness" in outcomes:
        return "crossed"
    return "never" if outcomes == {"proved"} else "not settled"


def _unsettled(every: Record) -> str:
    counts = Counter(row["least"] for row in every["rows"] if row["least"] in (UNSETTLED, UNWRITTEN))
    return ", ".join(f"{count} {what}" for what, count in sorted(counts.items())) or "none"


# ---- table 2 -------------------------------------------------------------------------------------


def unicode_summarized(report: Report, records: list[Record]) -> None:
    """Adds the tables of the Unicode set."""
    runs = [(one["tokenizer"], each) for one in records for each in one.get("runs", ())]
    wrong = [(name, each["flags"], one) for name, each in runs for one in each["wrong"]]
    report.is_wrong |= bool(wrong)
    by: dict[str, dict[str, Counter[str]]] = {
        name: defaultdict(Counter) for name in ("category", "normal form", "tokenizer", "flag")
    }
    delays: dict[str, list[float]] = defaultdict(list)
    for name, each in runs:
        for key, counts in each["counts"].items():
            reading, form, category = key.split("|")
            flag = each["flags"] if each["flags"] != AS_IT_IS else f"names of control tokens: {reading}"
            values = {
                "category": category,
                "normal form": form,
                "tokenizer": name,
                "flag": flag.partition("=")[0],
            }
            for column, value in values.items():
                by[column][value].update(counts)
        for category, some in each["delays"].items():
            delays[category] += some
    order = {name: place for place, name in enumerate([*CATEGORIES, *unicode_table.FORMS])}
    for column, groups in by.items():
        total: Counter[str] = Counter()
        for counts in groups.values():
            total.update(counts)
        some_delays = delays if column == "category" else {}
        rows = [
            _unicode_row(column, value, counts, some_delays.get(value))
            for value, counts in sorted(groups.items(), key=lambda one: order.get(one[0], -1))
        ]
        if column == "category":
            rows.append(_unicode_row(column, "all", total, [one for some in delays.values() for one in some]))
        notes = []
        if column == "flag":
            notes = [
                f"{one['tokenizer']}, {flags}, is refused: {why}"
                for one in records
                for flags, why in one.get("refused", {}).items()
            ]
        if column == "category":
            notes = [f"WRONG: {one}" for one in wrong[:5]]
        report.add(f"Table 2: the Unicode set, by {column}; % of the texts", rows, notes)


def _unicode_row(column: str, value: str, counts: Counter[str], delays: list[float] | None) -> dict[str, Any]:
    texts = counts["texts"]
    row: dict[str, Any] = {column: value, "texts": texts}
    row |= {kind: _percent(counts[kind], texts) for kind in _KINDS}
    for horizon in HORIZONS:
        settled = counts[f"Det_{horizon} texts"]
        row[f"Det_{horizon} unsafe"] = rate(counts[f"Det_{horizon} unsafe"], settled)
        row[f"Det_{horizon} FN/FP"] = "/".join(
            f"{_percent(counts[f'Det_{horizon} {kind}'], settled):.2f}" for kind in ("FN", "FP")
        )
    row["claims proved"] = counts["claims proved"]
    row["guard unsafe"] = rate(counts["unsafe"], counts["claims proved"])
    row["boundary not proved"] = _percent(counts["witness"] + counts["not settled"], texts)
    row["not settled"] = _percent(counts["not settled"], texts)
    if delays is not None:
        row["fallback succeeds"] = rate(counts["fallback right"], counts["fallback texts"])
        row["fallback wrong"] = counts["fallback wrong"]
        row["p50 Δ ms"] = _median(delays)
    return row


# ---- numbers -------------------------------------------------------------------------------------


def rate(found: int, of: int) -> str:
    """A share in percent, with Wilson's interval of 95 %."""
    if not of:
        return "–"
    interval = binomtest(found, of).proportion_ci(method="wilson")
    digits = 2 if interval.high > 1e-3 else 5
    return " ".join(
        f"{100 * value:.{digits}f}{after}"
        for value, after in ((found / of, ""), (interval.low, ","), (interval.high, "]"))
    ).replace(" ", " [", 1)


def _percent(found: int, of: int) -> float:
    return 100 * found / of if of else float("nan")


def _median(values: Iterable[float]) -> float:
    found = list(values)
    return statistics.median(found) if found else float("nan")


if __name__ == "__main__":
    sys.exit(main())
