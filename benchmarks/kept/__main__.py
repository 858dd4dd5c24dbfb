"""Compiled constraints in files: size, seconds to save and to load, and the masks that follow.

python -m benchmarks.kept
python -m benchmarks.kept --quick

Texts are drawn from the masks of a constraint until so many states have masks.  The constraint is saved, and a
new process reads the same texts twice: with the constraint compiled afresh, and with the one that was loaded; once
without the cache folder and once with one that an earlier process has filled.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

import tokamata as tk
from benchmarks.common import environment
from benchmarks.common.program import parser_for, progress, run
from benchmarks.common.report import Report
from benchmarks.common.schemas import load
from benchmarks.common.tokenizers import Tokenizer, load_known
from tests.support.constraints import SCHEMA

_SIZES = (10, 100, 1_000, 10_000)
_GRAMMAR = """
root ::= statement+
statement ::= name " = " expression ";\\n" | "if (" expression ") {\\n" statement+ "}\\n"
expression ::= term ([-+*] term)*
term ::= name | [0-9]+ | "(" expression ")" | name "(" (expression (", " expression)*)? ")"
name ::= [a-z] [a-z0-9_]*
"""
_OPEN: dict[str, Any] = {  # names and elements that were written are kept in the state
    "type": "object",
    "additionalProperties": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
}


@dataclass(frozen=True)
class _Case:
    """A constraint."""

    name: str
    constraint: tk.Constraint[Any]
    tokenization: Literal["any", "canonical"] = "any"


_CASES = (
    _Case("JSON Schema, closed", tk.json_schema(SCHEMA)),
    _Case("JSON Schema, open, unique", tk.json_schema(_OPEN)),
    _Case("regex, counted", tk.regex(r"([a-z]{1,40}[ ,]){2,200}\d{3,9}")),
    _Case("regex, lookaheads", tk.regex(r"(?=.*[a-z])(?=.*[A-Z])(?=.*\d)(?!.*\d{5}).{20,200}")),
    _Case("grammar", tk.grammar(_GRAMMAR, syntax="gbnf")),
    _Case("JSON Schema, canonical", tk.json_schema(SCHEMA), "canonical"),
)


def main() -> int:
    """The program."""
    parser = parser_for(__doc__)
    parser.add_argument("--child", metavar="JSON", help="what the processes of this program are given")
    options = parser.parse_args()
    if options.child is not None:
        print(json.dumps(_child(json.loads(options.child), options)))
        return 0
    return run(measure, options)


def measure(options: Namespace, work: Path) -> Report:
    """All constraints, and schemas of MaskBench."""
    tokenizer = load_known("llama-3.1", options.tokenizers, work)
    report = Report(environment.describe())
    report.facts["vocabulary"] = f"{tokenizer.vocabulary!r}, from {tokenizer.origin}"
    report.facts["cache"] = "cold: no cache folder; warm: one that an earlier process has filled with segments"
    sizes = _SIZES[:2] if options.quick else _SIZES
    rows = []
    with progress("kept", len(_CASES) * len(sizes)) as step:
        for case in _CASES:
            for size in sizes:
                step(f"{case.name}, {size:,}")
                rows.append(_row(case, size, tokenizer, options, work))
    notes = [
        "'states' have masks in the file; a second row of a constraint with as many states is one whose texts "
        "lead to no more.",
        "'fresh' and 'loaded' are microseconds for a mask, on the average over the texts by which the "
        "constraint was used, in a new process; 'load' is compiling and putting masks back, 'compile' the same "
        "without a file.",
    ]
    report.add("1. States", rows, notes)
    count = options.count or (5 if options.quick else 60)
    title = f"2. {count} schemas of MaskBench, each used by its instances (means)"
    report.add(title, [_maskbench(count, tokenizer, options, work)])
    return report


def _row(case: _Case, size: int, tokenizer: Tokenizer, options: Namespace, work: Path) -> dict[str, Any]:
    compiled = case.constraint.compile(tokenizer.vocabulary, tokenization=case.tokenization)
    texts = list(_used(compiled, size, options.seed))
    path = work / "kept"
    start = time.perf_counter()
    compiled.save(path)
    saved = time.perf_counter() - start
    again = case.constraint.compile(tokenizer.vocabulary, tokenization=case.tokenization)
    states = again._core.read_masks(compiled._core.kept_masks(None), 60.0, None) or 0
    row: dict[str, Any] = {"constraint": case.name, "states": states, "tokens": sum(map(len, texts))}
    row |= {"file (kB)": path.stat().st_size / 1e3, "bytes a state": path.stat().st_size / max(states, 1)}
    row |= {"memory (kB)": compiled.memory_bytes / 1e3, "save (ms)": 1e3 * saved}
    return row | _measured([(_CASES.index(case), None, str(path), texts)], options, work)


def _maskbench(count: int, tokenizer: Tokenizer, options: Namespace, work: Path) -> dict[str, Any]:
    tasks, sizes, saved = [], [], 0.0
    for case in load(options.schemas, count, options.seed, tokenizer):
        try:
            compiled = tk.json_schema(case.text).compile(tokenizer.vocabulary)
        except tk.TokamataError:
            continue
        for text in case.ordered:
            _read(compiled, text)
        path = work / f"kept-{len(tasks)}"
        start = time.perf_counter()
        compiled.save(path)
        saved += time.perf_counter() - start
        sizes.append(path.stat().st_size)
        tasks.append((None, case.text, str(path), case.ordered))
    row = {"schemas": len(tasks), "file (kB)": np.mean(sizes) / 1e3, "save (ms)": 1e3 * saved / len(tasks)}
    return row | _measured(tasks, options, work)


def _measured(tasks: list[Any], options: Namespace, work: Path) -> dict[str, Any]:
    """What new processes measure: means over the tasks."""
    row: dict[str, float] = {}
    (work / "tasks").write_text(json.dumps(tasks))
    folder = work / "cache"
    for cache in ("off", str(folder), str(folder)):  # the second one fills the folder
        which = "cold" if cache == "off" else "warm"
        for mode in ("fresh", "loaded"):
            given = json.dumps({"mode": mode, "tasks": str(work / "tasks"), "work": str(work)})
            command = [sys.executable, "-m", "benchmarks.kept", "--child", given]
            command += ["--tokenizers", str(options.tokenizers)]
            done = subprocess.run(
                command, env={**os.environ, "TOKAMATA_CACHE": cache}, capture_output=True, text=True, check=True
            )
            found = json.loads(done.stdout)
            row[f"{'compile' if mode == 'fresh' else 'load'}, {which} (ms)"] = found["begin_ms"]
            row[f"{mode}, {which} (µs)"] = found["mask_us"]
    return row


def _child(given: dict[str, Any], options: Namespace) -> dict[str, float]:
    """Compiles or loads, and reads the texts."""
    vocabulary = load_known("llama-3.1", options.tokenizers, Path(given["work"])).vocabulary
    vocabulary.core  # noqa: B018  # made here, so that nobody pays for it
    tk.regex("a").compile(vocabulary).matcher().mask  # noqa: B018
    begin = masks = 0.0
    count = 0
    tasks = json.loads(Path(given["tasks"]).read_text())
    for number, schema, path, texts in tasks:
        start = time.perf_counter()
        if given["mode"] == "loaded":
            compiled = tk.load(path, vocabulary)
        else:
            case = _Case("", tk.json_schema(schema)) if number is None else _CASES[number]
            compiled = case.constraint.compile(vocabulary, tokenization=case.tokenization)
        begin += time.perf_counter() - start
        for text in texts:
            spent, read = _read(compiled, text)
            masks += spent
            count += read
    return {"begin_ms": 1e3 * begin / len(tasks), "mask_us": 1e6 * masks / count}


def _read(compiled: tk.CompiledConstraint[Any], text: list[int]) -> tuple[float, int]:
    """Seconds for the masks along a text, and their number."""
    matcher, row = compiled.matcher(), compiled.allocate_mask()[0]
    spent, count = 0.0, 0
    for token in [*text, None]:
        start = time.perf_counter()
        matcher.fill_mask(row)
        spent += time.perf_counter() - start
        count += 1
        if token is None or not matcher.advance(token):
            break
    return spent, count


def _used(compiled: tk.CompiledConstraint[Any], size: int, seed: int) -> Iterator[list[int]]:
    """Texts that are drawn from masks until so many states have masks, or 20 texts bring no more."""
    draw = random.Random(seed)
    idle = count = 0
    stop = set(compiled.vocabulary.stop)
    while count < size and idle < 20:
        matcher, before = compiled.matcher(), compiled.states
        for _ in range(min(200, size - count)):
            ids = np.flatnonzero(np.unpackbits(matcher.mask.view(np.uint8), bitorder="little"))
            open_ids = [int(one) for one in ids[draw.sample(range(len(ids)), min(3, len(ids)))] if int(one) not in stop]
            count += 1
            if not open_ids or not matcher.advance(draw.choice(open_ids)):
                break
        idle = idle + 1 if compiled.states == before else 0
        yield matcher.tokens


if __name__ == "__main__":
    sys.exit(main())
