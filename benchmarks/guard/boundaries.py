"""``guard.boundary``: the first call for a tokenizer, calls with further boundaries, and Det_3 of paper 004.

python -m benchmarks.guard.boundaries
python -m benchmarks.guard.boundaries --quick --only gemma-3

Each figure is from a process of its own (``boundary_calls.py``), whose imports and whose live tokenizer are
there before.

- *cold*: the first call.  *object*: with the live tokenizer.  *file*: with its path.  *first ever*: with the
  live tokenizer and an empty cache folder, as once on a machine.  The others find on disk what an earlier
  process has left there.
- *warm*: each of some 60 further boundaries, once.  *again*: the last of them, after its first call.
- *load*: ``Vocabulary.load`` alone.
- *Det_3*: the detector as ``benchmarks/guard/windows.py`` makes it possible for real vocabularies.  *build*:
  schedules of the merges and sorted texts.  *check*: the least L of the detector that rejects, for each
  boundary.  *graph*: the Merge-DAG of strings with the boundary, the first three boundaries; it ends at its
  limit where the last column says so, and answers for no other boundary.

Boundaries are control tokens and structure of ``catalogue.py``.  Verdicts with the object and with the file
must be the same; otherwise the exit status is 1.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from benchmarks.common import environment
from benchmarks.common.child import ChildError
from benchmarks.common.program import parser_for, progress, run
from benchmarks.common.report import Report, Target
from benchmarks.guard.catalogue import CONTROLS, STRUCTURE

_MODES = ("object", "file", "first ever", "load", "Det_3")
_FIRST = "<|im_end|>"
_FURTHER = 60
_LARGEST = "gemma-3"
_TIMEOUT_S = 600


def main() -> int:
    """The program; its exit status is 1 if verdicts depend on where the tokenizer is from."""
    parser = parser_for(__doc__)
    parser.add_argument("--only", metavar="NAMES", help="tokenizers, with commas")
    return run(measure, parser.parse_args())


def boundaries(seed: int, count: int) -> list[str]:
    """The boundaries after the first, in an order that the seed gives."""
    found = [text for text in [*CONTROLS, *STRUCTURE] if text != _FIRST]
    random.Random(seed).shuffle(found)
    return found[:count]


def measure(options: Namespace, work: Path) -> Report:
    """A row for each tokenizer."""
    import pytest

    from tests.support.tokenizers.manifest_sources import NAMES, tokenizer_of

    report = Report(environment.describe())
    report.facts["boundaries"] = f"{_FIRST}, and {options.count or _FURTHER} others"
    report.facts["seed"] = str(options.seed)
    names = options.only.split(",") if options.only else ["gpt2", "llama-2"] if options.quick else NAMES
    rows, notes, largest = [], [], {}
    with progress("boundaries", len(names) * len(_MODES)) as step:
        for name in names:
            try:
                source = tokenizer_of(name)
            except pytest.skip.Exception as skipped:
                notes.append(f"{name}: {skipped}")
                continue
            file = str(source) if isinstance(source, Path) else ""
            found: dict[str, dict[str, Any]] = {}
            for mode in _MODES:
                if file or mode != "file":
                    found[mode] = _asked(mode, name, file, options, work)
                step(f"{name}, {mode}")
            if "file" in found and found["file"].get("verdicts") != found["object"].get("verdicts"):
                report.is_wrong = True
                notes.append(f"WRONG: {name}: verdicts differ with the object and with the file")
            if "refused" in found["object"]:
                notes.append(f"{name}: {found['object']['refused']}")
                continue
            rows.append(_row(name, found))
            if name == _LARGEST:
                largest = rows[-1]
    report.add("guard.boundary, milliseconds", rows, notes)
    cold, warm = largest.get("cold object", float("nan")), largest.get("warm p50", float("nan"))
    report.targets += [
        Target(f"cold, {_LARGEST}, live object", cold, 1000, "ms"),
        Target(f"warm, {_LARGEST}, median", warm, 2, "ms"),
    ]
    return report


def _asked(mode: str, name: str, file: str, options: Namespace, work: Path) -> dict[str, Any]:
    """What a process says; the first one of a tokenizer finds a cache that another has filled."""
    cache = work / ("empty" if mode == "first ever" else "cache") / name
    texts = [_FIRST, *boundaries(options.seed, options.count or _FURTHER)]
    request = json.dumps({"mode": mode, "name": name, "file": file, "boundaries": texts})
    command = [sys.executable, "-m", "benchmarks.guard.boundary_calls", request]
    environ = {**os.environ, "TOKAMATA_CACHE": str(cache)}
    runs = 2 if mode in ("object", "file") else 1
    for _ in range(runs):
        done = subprocess.run(
            command, env=environ, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [""])[-1]
        if "UnsupportedTokenizerError" in last:
            return {"refused": last[-200:]}
        raise ChildError(f"{name}, {mode}: {last[-400:]}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def _row(name: str, found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    live, detector = found["object"], found["Det_3"]
    row: dict[str, Any] = {"tokenizer": name}
    for mode in ("object", "file", "first ever"):
        row[f"cold {mode}"] = found.get(mode, {}).get("cold")
    row["load"] = found["load"].get("load")
    row |= _ranks("warm", live["warm"])
    row["again p50"] = statistics.median(live["again"])
    row["MB"] = live["MB"]
    if detector:
        row["Det_3 build"] = detector["build"]
        row |= _ranks("check", detector["check"])
        row["graph p50"] = statistics.median(detector["graph"])
        row["limit"] = detector["limit"]
    return row


def _ranks(name: str, times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    return {
        f"{name} p50": statistics.median(ordered),
        f"{name} p90": ordered[-(-9 * len(ordered) // 10) - 1],
        f"{name} max": ordered[-1],
    }


if __name__ == "__main__":
    sys.exit(main())
