"""How repairs with ``at_most`` grow with the text: ``python -m benchmarks.repair.couplings``.

Broken JSON of some lengths: cut off, and without two commas and a colon.  There may be one insertion fewer
than the cheapest repair makes, and two removals.  Each text is repaired in a process of its own, so that the
memory is that of one repair.  Three things are published of each length, as paper 004 has them in section
9.7: how many texts need a program after the multipliers, of how many programs the matrix is proven not to be
totally unimodular (the relaxation has a vertex that is not whole), and what branch and bound takes for them.
Counts are the same on every machine.
"""

from __future__ import annotations

import json
import math
import random
import resource
import statistics
import subprocess
import sys
import time
from argparse import Namespace
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd

import tokamata as tk
from benchmarks.common import environment
from benchmarks.common.program import parser_for, run
from benchmarks.common.report import Report
from tokamata.repair import couplings

LENGTHS = (10, 30, 100, 300, 1000)


def broken_text(length: int, seed: int) -> str:
    """A text of about so many bytes."""
    draw = random.Random(seed)
    rows: list[dict[str, Any]] = []
    while len(json.dumps(rows)) < length:
        rows.append(
            {"id": draw.randrange(100), "ok": draw.random() < 0.5, "tags": ["x", str(draw.randrange(99))]}
        )
    text = json.dumps(rows)[:length]
    lost = [at for at, byte in enumerate(text) if byte == ","]
    gone = set(draw.sample(lost, min(len(lost), 2)))
    colons = [at for at, byte in enumerate(text) if byte == ":"]
    gone.update(draw.sample(colons, min(len(colons), 1)))
    return "".join(byte for at, byte in enumerate(text) if at not in gone)


def measured(length: int, seed: int) -> dict[str, Any]:
    """The figures of one text."""
    text, constraint = broken_text(length, seed), tk.json(whitespace="any", spelling="any")
    free = constraint.repair(text)
    made = Counter(edit.name for edit in free.edits)
    at_most = {"insert": max(0, made["insert"] - 1), "remove": 2}
    constraint.repair("[1", at_most={"insert": 5})  # scipy is imported
    searches: list[Any] = []
    graphs: list[Any] = []
    programs: list[Any] = []

    def timed(into: list[Any], function: Any, figure: Any) -> Any:
        def call(*arguments: Any) -> Any:
            start = time.perf_counter()
            found = function(*arguments)
            into.append((time.perf_counter() - start, figure(arguments, found)))
            return found

        return call

    search = couplings._CoupledSearch
    search._graph = timed(graphs, search._graph, lambda _, found: len(found[0].source))  # type: ignore[method-assign]
    search._next_multipliers = timed(searches, search._next_multipliers, lambda *_: 0)  # type: ignore[method-assign]
    couplings.solved = timed(programs, couplings.solved, lambda given, _: len(given[0].source))  # type: ignore[attr-defined]
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    try:
        repair = constraint.repair(text, at_most=at_most)
    except tk.TokamataError as error:
        return {
            "length": length,
            "seed": seed,
            "error": type(error).__name__,
            "ms": 1e3 * (time.perf_counter() - start),
        }
    seconds = time.perf_counter() - start
    assert repair.program is not None
    return {
        "length": length,
        "seed": seed,
        "at_most": at_most,
        "free": free.cost,
        "cost": repair.cost,
        "lower_bound": repair.lower_bound,
        "proven": repair.certificate.lower_bound,
        "expansions": repair.expansions,
        "multipliers": len(searches),
        "ms": 1e3 * seconds,
        "ms_graphs": 1e3 * sum(one for one, _ in graphs),
        "ms_programs": 1e3 * sum(one for one, _ in programs),
        "edges": max((edges for _, edges in programs), default=0),
        "rows": repair.program.rows,
        "branch_nodes": repair.program.branch_nodes,
        "programs": repair.program.programs,
        "unimodular": repair.program.unimodular,
        "mib": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024,
    }


def rows_of(length: int, texts: int) -> list[dict[str, Any]]:
    """The figures of all texts of a length."""
    rows = []
    for seed in range(texts):
        command = [sys.executable, "-m", "benchmarks.repair.couplings", "--one", str(length), str(seed)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        rows.append(json.loads(done.stdout))
    return rows


def summary(length: int, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """One line of the table."""
    solved = [row for row in rows if "error" not in row]
    programs = [row for row in solved if row["programs"]]
    fractional = [row for row in programs if row["unimodular"] == "not totally unimodular"]
    nodes = [row["branch_nodes"] for row in fractional]

    def median(name: str, of: list[dict[str, Any]]) -> float:
        return statistics.median(row[name] for row in of) if of else math.nan

    return {
        "bytes": length,
        "texts": len(rows),
        "no repair or limit": len(rows) - len(solved),
        "optimal %": _share(sum(row["cost"] == row["lower_bound"] for row in solved), len(solved)),
        "with a program %": _share(len(programs), len(solved)),
        "not unimodular %": _share(len(fractional), len(programs)),
        "nodes, mean": statistics.mean(nodes) if nodes else math.nan,
        "nodes, most": max(nodes, default=math.nan),
        "programs p50, ms": median("ms_programs", programs),
        "whole p50, ms": median("ms", solved),
        "whole largest, ms": max((row["ms"] for row in solved), default=math.nan),
        "edges p50": median("edges", programs),
        "expansions p50": median("expansions", solved),
        "memory p50, MiB": median("mib", solved),
    }


def _share(part: int, whole: int) -> float:
    return 100 * part / whole if whole else math.nan


def measure(options: Namespace, _: Path) -> Report:
    """The table, and the figures of each text for ``--json``."""
    texts = options.count or (2 if options.quick else 20)
    report = Report(environment.describe())
    lengths = LENGTHS[:2] if options.quick else LENGTHS
    every = [(length, rows_of(length, texts)) for length in lengths]
    report.keep("texts", pd.DataFrame([row for _, rows in every for row in rows]))
    report.add("Repairs with at_most", [summary(*one) for one in every], _NOTES)
    return report


def main() -> int:
    """The program; with ``--one LENGTH SEED``, it prints the figures of one text as JSON."""
    parser = parser_for(__doc__ or "")
    parser.add_argument("--one", nargs=2, type=int, help="one text, as JSON")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measured(*options.one)))
        return 0
    return run(measure, options)


_NOTES = [
    "*With a program*: the multipliers have left a gap, and an integer program was solved.  *Not "
    "unimodular*: of those, the share whose matrix is proven not to be totally unimodular.  For the others "
    "the relaxation had a whole optimum, which proves nothing of the matrix.  *Nodes*: of branch and bound, "
    "for these; 0 where HiGHS closes the gap at the root, by cuts."
]


if __name__ == "__main__":
    sys.exit(main())
