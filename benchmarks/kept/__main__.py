"""Compiled constraints in files: size, seconds to save and to load, and the masks that follow.

python -m benchmarks.kept
python -m benchmarks.kept --quick

Texts are drawn from the masks of a constraint until so many masks were read.  The constraint is saved, and a
new process reads the same texts: with the constraint compiled afresh or with the one that was loaded, without
the cache folder or with one that an earlier process has filled.
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
from typing import Any, Literal, NamedTuple

import numpy as np

import tokamata as tk
from benchmarks.common import environment
from benchmarks.common.program import parser_for, progress, run
from benchmarks.common.report import Report
from benchmarks.common.schemas import load
from benchmarks.common.tokenizers import Tokenizer, load_known
from tests.support.constraints import SCHEMA

_SIZES = (10, 100, 1_000, 10_000)
_MOST_S = 60.0  # for the texts of a row
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


class _Task(NamedTuple):
    """What a process reads.

    Attributes:
        case: the number of a case; ``None``: a schema.
        schema: its text.
        path: the file.
        texts: in tokens.
    """

    case: int | None
    schema: str
    path: str
    texts: list[list[int]]


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
    report.facts["cache"] = (
        "cold: no cache folder; warm: one that an earlier process has filled with segments"
    )
    sizes = _SIZES[:2] if options.quick else _SIZES
    rows: list[dict[str, Any]] = []
    tasks: list[list[_Task]] = []
    with progress("kept", len(_CASES) * len(sizes)) as step:
        for case in _CASES:
            for size in sizes:
                step(f"{case.name}, {size:,}")
                rows.append(_saved(case, size, tokenizer, options, work))
                tasks.append([_Task(_CASES.index(case), "", rows[-1].pop("file"), rows[-1].pop("texts"))])
    count = options.count or (5 if options.quick else 60)
    last, schemas = _saved_schemas(count, tokenizer, options, work)
    rows.append(last)
    tasks.append(schemas)
    for row, measured in zip(rows, _measured(tasks, tokenizer, options, work), strict=True):
        row.update(measured)
    notes = [
        "'states' have masks in the file; texts meet some of them again.",
        "'fresh' and 'loaded' are microseconds for a mask, on the average over the texts by which the "
        "constraint was used, in a new process; 'load' is compiling and putting masks back, 'compile' "
        "the same without a file.",
    ]
    report.add("1. States", rows[:-1], notes)
    title = f"2. {len(schemas)} schemas of MaskBench, each used by its instances (means of a schema)"
    report.add(title, rows[-1:])
    return report


def _saved(case: _Case, size: int, tokenizer: Tokenizer, options: Namespace, work: Path) -> dict[str, Any]:
    compiled = case.constraint.compile(tokenizer.vocabulary, tokenization=case.tokenization)
    texts = list(_used(compiled, size, options.seed))
    path = work / f"kept-{case.name}-{size}"
    start = time.perf_counter()
    compiled.save(path)
    saved = time.perf_counter() - start
    again = case.constraint.compile(tokenizer.vocabulary, tokenization=case.tokenization)
    states = again._core.read_masks(compiled._core.kept_masks(None), 60.0, None) or 0
    size = path.stat().st_size
    row: dict[str, Any] = {"constraint": case.name, "tokens": sum(map(len, texts)), "states": states}
    row |= {"kB": size / 1e3, "bytes a state": size / max(states, 1), "save (ms)": 1e3 * saved}
    return {**row, "file": str(path), "texts": texts}


def _saved_schemas(
    count: int, tokenizer: Tokenizer, options: Namespace, work: Path
) -> tuple[dict[str, Any], list[_Task]]:
    tasks: list[_Task] = []
    sizes, saved = [], 0.0
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
        tasks.append(_Task(None, case.text, str(path), case.ordered))
    return {"kB": np.mean(sizes) / 1e3, "save (ms)": 1e3 * saved / len(tasks)}, tasks


def _measured(
    tasks: list[list[_Task]], tokenizer: Tokenizer, options: Namespace, work: Path
) -> list[dict[str, float]]:
    """What new processes measure: for each list of tasks, means."""
    rows: list[dict[str, float]] = [{} for _ in tasks]
    (work / "tasks").write_text(json.dumps(tasks))
    folder = str(work / "cache")
    runs = [("fresh", "off"), ("loaded", "off"), ("fresh", folder), ("fresh", folder), ("loaded", folder)]
    for mode, cache in runs:  # the third one fills the folder
        given = json.dumps(
            {"mode": mode, "tasks": str(work / "tasks"), "work": str(work / f"{mode}-{cache == 'off'}")}
        )
        command = [sys.executable, "-m", "benchmarks.kept", "--child", given]
        command += ["--tokenizers", str(options.tokenizers)]
        environ = {**os.environ, "TOKAMATA_CACHE": cache}
        done = subprocess.run(command, env=environ, stdout=subprocess.PIPE, text=True, check=True)
        which = "cold" if cache == "off" else "warm"
        for row, found in zip(rows, json.loads(done.stdout), strict=True):
            row[f"{'compile' if mode == 'fresh' else 'load'}, {which} (ms)"] = found["begin_ms"]
            row[f"{mode}, {which} (µs)"] = found["mask_us"]
    return rows


def _child(given: dict[str, Any], options: Namespace) -> list[dict[str, float]]:
    """Compiles or loads, and reads the texts."""
    known = load_known("llama-3.1", options.tokenizers, Path(given["work"])).vocabulary
    found = []
    for tasks in json.loads(Path(given["tasks"]).read_text()):
        is_canonical = any(
            number is not None and _CASES[number].tokenization == "canonical" for number, *_ in tasks
        )
        vocabulary = known if is_canonical else _without_segments(known)
        begin = masks = 0.0
        count = 0
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
        found.append({"begin_ms": 1e3 * begin / len(tasks), "mask_us": 1e6 * masks / count})
    return found


def _without_segments(known: tk.Vocabulary) -> tk.Vocabulary:
    """An equal vocabulary that has computed nothing."""
    names = {name: token for token, name in known._names.items()}
    made = tk.Vocabulary.load([*known.tokens], stop=[*known.stop], width=known.width, control_tokens=names)
    made.core  # noqa: B018  # made here, so that nobody pays for it
    return made


def _read(compiled: tk.CompiledConstraint[Any], text: list[int]) -> tuple[float, int]:
    """Seconds for the masks along a text, and their number."""
    matcher, row = compiled.matcher(), compiled.allocate_mask()[0]
    spent, count = 0.0, 0
    for token in text:
        start = time.perf_counter()
        matcher.fill_mask(row)
        spent += time.perf_counter() - start
        count += 1
        if not matcher.advance(token):
            break
    return spent, count


def _used(compiled: tk.CompiledConstraint[Any], size: int, seed: int) -> Iterator[list[int]]:
    """Texts that are drawn from masks, half of their tokens single bytes.

    Until so many masks were read, 20 texts bring no new state, or time is up.
    """
    draw = random.Random(seed)
    idle = count = 0
    tokens = enumerate(compiled.vocabulary.tokens)
    single = np.array([token for token, text in tokens if text is not None and len(text) == 1])
    end = time.monotonic() + _MOST_S
    while count < size and idle < 20 and time.monotonic() < end:
        matcher, before = compiled.matcher(), compiled.states
        for _ in range(min(200, size - count)):
            ids = np.flatnonzero(np.unpackbits(matcher.mask.view(np.uint8), bitorder="little"))
            some = ids[np.isin(ids, single)] if draw.random() < 0.5 else ids
            some = some[~np.isin(some, compiled.vocabulary.stop)]
            count += 1
            if not len(some) or not matcher.advance(int(draw.choice(some))):
                break
        idle = idle + 1 if compiled.states == before else 0
        yield matcher.tokens


if __name__ == "__main__":
    sys.exit(main())
