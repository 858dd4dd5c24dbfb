"""How repairs with ``at_most`` grow with the text: ``python -m benchmarks.repair.couplings``.

Broken JSON of some lengths: cut off, and without two commas and a colon.  There may be one insertion fewer
than the cheapest repair makes, and two removals.  Each text is repaired in a process of its own, so that the
memory is that of one repair.  Times are of one run; counts are the same on every machine.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import time
from collections import Counter
from typing import Any

import tokamata as tk
from tokamata.repair import couplings

LENGTHS = (10, 30, 100, 300, 1000)
TEXTS = 5


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


def main() -> None:
    """Prints a row for each length; with ``--one LENGTH SEED``, the figures of one text as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", nargs=2, type=int)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measured(*given.one)))
        return
    for length in LENGTHS:
        rows = []
        for seed in range(TEXTS):
            command = [sys.executable, "-m", "benchmarks.repair.couplings", "--one", str(length), str(seed)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            rows.append(json.loads(done.stdout))
        print(f"--- {length} bytes")
        for row in rows:
            print(row)
        solved = [row for row in rows if "error" not in row]
        for name in ("ms", "ms_programs", "edges", "expansions", "mib"):
            if solved:
                values = sorted(row[name] for row in solved)
                print(f"{name}: median {statistics.median(values):.1f}, most {values[-1]:.1f}")


if __name__ == "__main__":
    main()
