"""What a server sees: many different schemas in one process, and processes that have just started.

    python -m benchmarks.server                       # 1,000 schemas, Llama 3.1
    python -m benchmarks.server --quick

Everything runs in processes of its own, with a cache folder of its own.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.common import environment, plots
from benchmarks.common.child import Child
from benchmarks.common.engines import TOKAMATA
from benchmarks.common.program import parser_for, progress, run, say
from benchmarks.common.replaying import start_child
from benchmarks.common.report import Report, Target, ranks
from benchmarks.common.schemas import SchemaCase
from benchmarks.common.tokenizers import Tokenizer, load_known
from benchmarks.server.cases import draw_cases

FIRST, SECOND, WARM = "first process", "second process", "warm process"
_PROBED = {
    "load": "load the vocabulary",
    "trie": "make its trie",
    "TTFM": "TTFM",
    "all masks": "masks of an instance, together",
    "slowest": "the slowest of them",
}
_ANSWER_S = 120.0
_MEMORY_GB = 16.0
_PEAK_MB = 330.0
_OF_WARM = 1.5  # times what a warm process takes, for one that has just started


def main() -> int:
    """The program."""
    parser = parser_for(__doc__)
    parser.add_argument("--probes", type=int, metavar="N", help="schemas in processes of their own (40)")
    return run(measure, parser.parse_args())


def measure(options: Namespace, work: Path) -> Report:
    """The long run, and the first schemas of new processes."""
    maskbench: Path | None = options.schemas
    if maskbench is not None and not maskbench.exists():
        say(f"{maskbench}: no such file; the schemas of the tests, and random ones, are taken alone")
        maskbench = None
    tokenizer = load_known("llama-3.1", options.tokenizers, work)
    cases = draw_cases(maskbench, options.count or (40 if options.quick else 1000), options.seed, tokenizer)
    facts = environment.describe()
    names = f"{maskbench.name}, those of the tests, random ones" if maskbench else "of the tests, random ones"
    facts["schemas"] = f"{len(cases):,}, seed {options.seed}: {names}"
    facts["vocabulary"] = f"{tokenizer.vocabulary!r}, from {tokenizer.origin}"
    served, probes, kept_mb = _served(cases, options.probes or (3 if options.quick else 40), tokenizer, work)
    return _report(facts, served, probes, kept_mb)


def _served(
    cases: list[SchemaCase], count: int, tokenizer: Tokenizer, work: Path
) -> tuple[pd.DataFrame, pd.DataFrame, float]:
    """The run, the probes by kind of process, and what the run has left on disk."""
    shared = work / "kept"
    probes: list[dict[str, Any]] = []
    with progress("server", len(cases) + 3 * count) as step:
        server, _ = _started(tokenizer, shared)
        served = pd.DataFrame([_serve(server, case, step) for case in cases])
        kept_mb = sum(file.stat().st_size for file in shared.rglob("*") if file.is_file()) / (1 << 20)
        chosen = [cases[number] for number in served.index[served["masks"] > 0][:count]]
        probes += [{"process": WARM, **_serve(server, case, step)} for case in chosen]
        server.close()
        for number, case in enumerate(chosen):
            for kind, folder in ((FIRST, work / f"empty-{number}"), (SECOND, shared)):
                server, ready = _started(tokenizer, folder)
                loading = {"load": ready["load"], "trie": ready["trie"]}
                probes.append({"process": kind, **loading, **_serve(server, case, step)})
                server.close()
    return served, pd.DataFrame(probes), kept_mb


def _started(tokenizer: Tokenizer, folder: Path) -> tuple[Child, dict[str, Any]]:
    """A process in which nothing is warm, with a cache folder."""
    environment = {**os.environ, "TOKAMATA_CACHE": str(folder)}
    return start_child(TOKAMATA, "llama-3.1", tokenizer, _MEMORY_GB, cold=True, environment=environment)


def _serve(server: Child, case: SchemaCase, step: Any) -> dict[str, Any]:
    """One schema and its instance; times in nanoseconds."""
    compiled = server.ask({"kind": "schema", "pattern": case.text}, _ANSWER_S)
    step(case.name)
    if compiled["refused"] is not None:
        return {"TTFM": None, "masks": 0, "all masks": 0, "slowest": 0, "memory": compiled["memory_mb"]}
    fill = server.ask({"texts": case.ordered}, _ANSWER_S)["fill"]
    return {
        "TTFM": compiled["compiling"] + compiled["mask"],
        "masks": len(fill),
        "all masks": sum(fill),
        "slowest": max(fill, default=0),
        "memory": compiled["memory_mb"],
    }


def _report(facts: dict[str, str], served: pd.DataFrame, probes: pd.DataFrame, kept_mb: float) -> Report:
    report = Report(facts)
    taken = served[served["TTFM"].notna()].reset_index(drop=True)
    hundreds = pd.DataFrame(
        [
            {
                "schemas": part.index[-1] + 1,
                **ranks(part["TTFM"], ("p50", "p90", "largest")),
                "memory, MB": part["memory"].iloc[-1],
            }
            for _, part in taken.groupby(taken.index // 100)
        ]
    )
    report.add(
        f"{len(served):,} different schemas, one after another in one process: TTFM (µs)",
        hundreds,
        [
            "Each is compiled, one short instance of it is replayed, and then all of it is given up. "
            f"{len(served) - len(taken)} were refused and do not count. They leave {kept_mb:.1f} MB on disk."
        ],
    )
    rows: list[dict[str, Any]] = []
    for what, title in _PROBED.items():
        for rank in ("p50",) if what in ("load", "trie") else ("p50", "p90", "largest"):
            by_kind = {
                kind: ranks(probes.loc[probes["process"] == kind, what].dropna(), [rank])[rank]
                for kind in (FIRST, SECOND, WARM)
            }
            rows.append({"µs": f"{title}, {rank}", **by_kind})
    report.add(
        f"The first schema of a process: {(probes['process'] == WARM).sum()} schemas, a process for each",
        rows,
        [
            "First process: nothing is kept on disk. Second: with what an earlier process has left there. "
            "Warm: the same schemas at the end of the long run. A new process runs cold code."
        ],
    )
    report.targets = [
        Target("memory of a process after all schemas", taken["memory"].iloc[-1], _PEAK_MB, "MB")
    ]
    if len(hundreds) > 1:
        ratio = hundreds["p50"].iloc[-1] / hundreds["p50"].iloc[0]
        report.targets.append(Target("TTFM of the last hundred, relative to the first", ratio, 1.0, "times"))
    for what in ("TTFM", "all masks"):
        by_kind = probes.groupby("process")[what].median()
        ratio = by_kind[SECOND] / by_kind[WARM]
        report.targets.append(
            Target(f"{what}: second process, relative to a warm one", ratio, _OF_WARM, "times")
        )
    report.picture = partial(_draw, hundreds, probes, facts)
    return report


def _draw(hundreds: pd.DataFrame, probes: pd.DataFrame, facts: dict[str, str], path: Path) -> None:
    figure, axes = plots.subplots(1, 3, (12, 3.8))
    left, middle, right = axes.flat
    for rank, colour in zip(("p50", "p90"), plots.COLOURS, strict=False):
        left.plot(hundreds["schemas"], hundreds[rank], "o-", color=colour, label=rank, markersize=3)
    left.set(
        title="schema to first mask, of each hundred", xlabel="schemas so far", ylabel="µs", ylim=(0, None)
    )
    middle.plot(hundreds["schemas"], hundreds["memory, MB"], "o-", color=plots.COLOURS[2], markersize=3)
    middle.set(title="memory of the process", xlabel="schemas so far", ylabel="MB", ylim=(0, None))
    for kind, colour in zip((FIRST, SECOND, WARM), plots.COLOURS, strict=False):
        part = probes[probes["process"] == kind]
        values = ((part["TTFM"] + part["all masks"]) / 1e3).sort_values()
        right.plot(range(1, len(values) + 1), values, "o-", color=colour, label=kind, markersize=3)
    right.set(
        title="first schema: all masks of an instance", xlabel="schemas, sorted", ylabel="µs", yscale="log"
    )
    for axis in (left, right):
        axis.legend(frameon=False, fontsize=8)
    plots.save(figure, path, f"Llama 3.1. {facts['processor']}, {facts['date']}")


if __name__ == "__main__":
    sys.exit(main())
