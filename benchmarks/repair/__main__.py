"""Repairs of broken JSON: how often the value that was meant comes back, and how soon, beside the peers.

python -m benchmarks.repair --jsonrepair FOLDER    # where `npm install jsonrepair` was run
python -m benchmarks.repair --quick

The texts are instances of MaskBench with mistakes (corruptions.py), from the half of the schemas on which
costs were not tuned.
"""

from __future__ import annotations

import json
import lzma
import random
import subprocess
import sys
import time
import zlib
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import json_repair
import jsonschema

import tokamata as tk
from benchmarks.common import environment
from benchmarks.common.program import parser_for, progress, run
from benchmarks.common.report import Report, Target, ranks
from benchmarks.repair.corruptions import KINDS, SCHEMA_KINDS, STRUCTURE, TRUNCATED, Corruption, corrupted

_SHORTEST, _LONGEST = 30, 600  # bytes of an instance
_NODE = Path(__file__).parent / "jsonrepair.mjs"


class Instance(NamedTuple):
    """A schema, and a value that it accepts."""

    schema: Any
    value: Any


class Answer(NamedTuple):
    """What an engine makes of a broken text.

    Attributes:
        text: ``None`` if it raises.
        ns: the time in nanoseconds.
        first_ns: until its first answer.
        is_proven: whether no accepted text is nearer.
    """

    text: str | None
    ns: float
    first_ns: float = 0.0
    is_proven: bool = False


Engine = Callable[[Sequence[Corruption], Sequence[Instance]], list[Answer]]


def main() -> int:
    """The program; its exit status is 1 if an answer of ours is not accepted."""
    parser = parser_for(__doc__ or "")
    parser.add_argument(
        "--jsonrepair", type=Path, metavar="FOLDER", help="where npm has installed jsonrepair"
    )
    parser.add_argument("--deadline", type=float, default=1.0, metavar="S", help="seconds for a repair (1)")
    parser.add_argument("--training", action="store_true", help="the half on which costs are tuned")
    return run(measure, parser.parse_args())


def measure(options: Namespace, work: Path) -> Report:
    """All kinds of mistakes in all engines."""
    count = options.count or (5 if options.quick else 100)
    instances = load(options.schemas, is_training=options.training)
    facts = environment.describe()
    facts["peers"] = f"json_repair {version('json_repair')}"
    facts["instances"] = f"{len(instances)} of {options.schemas.name}, {count} texts of each row"
    report = Report(facts)
    engines: dict[str, Engine] = {"tokamata": ours(None, options.deadline), "json_repair": python_peer(False)}
    with_schema: dict[str, Engine] = {
        "tokamata": ours("schema", options.deadline),
        "json_repair": python_peer(False),
        "json_repair, schema": python_peer(True),
    }
    if options.jsonrepair is not None:
        engines["jsonrepair"] = with_schema["jsonrepair"] = node_peer(options.jsonrepair.resolve())
    pairs = [(first, second) for first in STRUCTURE for second in STRUCTURE if first < second]
    triples = [(*pair, third) for pair in pairs for third in STRUCTURE if pair[1] < third]
    tables: list[tuple[str, dict[str, list[tuple[str, ...]]]]] = [
        ("One mistake, no schema", {kind: [(kind,)] for kind in KINDS if kind != TRUNCATED}),
        ("Several mistakes, no schema", {"two": pairs, "three": triples}),
    ]
    for title, rows in tables:
        answered = {
            row: _cases(kinds, instances, count, f"{options.seed} {row}") for row, kinds in rows.items()
        }
        _quality(report, title, answered, engines)
    kinds_of = {**{kind: [(kind,)] for kind in (*KINDS, *SCHEMA_KINDS)}, "two": pairs, "three": triples}
    _under_schema(
        report,
        {
            row: _cases(kinds, instances, max(count // 2, 5), f"{options.seed} schema {row}")
            for row, kinds in kinds_of.items()
        },
        with_schema,
    )
    return report


# ---- texts ----


def load(path: Path, *, is_training: bool) -> list[Instance]:
    """Valid instances of the schemas of one half, which the CRC of their names decides."""
    found = []
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            content = json.loads(line)
            if (zlib.crc32(content["id"].encode()) % 2 == 0) != is_training:
                continue
            for test in content["tests"]:
                text = json.dumps(test["data"], ensure_ascii=False)
                is_text = not any("\ud800" <= one <= "\udfff" for one in text)
                if test["valid"] and is_text and _SHORTEST <= len(text) <= _LONGEST:
                    found.append(Instance(content["schema"], test["data"]))
    return found


def _cases(
    kinds: Sequence[tuple[str, ...]], instances: Sequence[Instance], count: int, seed: str
) -> list[tuple[Corruption, Instance]]:
    draw = random.Random(seed)
    cases: list[tuple[Corruption, Instance]] = []
    for _ in range(1000 * count):
        if len(cases) == count:
            break
        instance = draw.choice(instances)
        made = corrupted(instance.value, draw.choice(kinds), draw)
        if made is not None:
            cases.append((made, instance))
    return cases


# ---- engines ----


def ours(schema: str | None, deadline: float) -> Engine:
    """JSON, or the schema of each instance."""

    def answer(corruption: Corruption, instance: Instance) -> Answer:
        if schema is None:
            constraint: tk.Constraint[Any] = tk.json(whitespace="any", spelling="any")
        else:
            constraint = tk.json_schema(
                instance.schema, property_order="any", whitespace="any", spelling="any", strict=False
            )
        start = time.perf_counter()
        found = constraint.repair(corruption.broken, deadline_seconds=deadline)
        ns = 1e9 * (time.perf_counter() - start)
        first_ns = ns if found.first_feasible_us is None else 1e3 * found.first_feasible_us
        return Answer(found.text, ns, first_ns, found.optimal)

    def answers(corruptions: Sequence[Corruption], instances: Sequence[Instance]) -> list[Answer]:
        made = []
        for corruption, instance in zip(corruptions, instances, strict=True):
            try:
                made.append(answer(corruption, instance))
            except (tk.SchemaError, tk.LimitExceeded, tk.EmptyConstraintError) as error:
                made.append(Answer(None, 0.0))
                print(f"tokamata: {str(error)[:100]}", file=sys.stderr)
        return made

    return answers


def python_peer(has_schema: bool) -> Engine:
    """json_repair, as its documentation has it."""

    def answers(corruptions: Sequence[Corruption], instances: Sequence[Instance]) -> list[Answer]:
        made = []
        for corruption, instance in zip(corruptions, instances, strict=True):
            start = time.perf_counter()
            try:
                value = json_repair.loads(corruption.broken, schema=instance.schema if has_schema else None)
                text: str | None = json.dumps(value)
            except Exception:
                text = None
            made.append(Answer(text, 1e9 * (time.perf_counter() - start)))
        return made

    return answers


def node_peer(folder: Path) -> Engine:
    """jsonrepair, in one process of node."""

    def answers(corruptions: Sequence[Corruption], instances: Sequence[Instance]) -> list[Answer]:
        lines = "".join(json.dumps(corruption.broken) + "\n" for corruption in corruptions)
        done = subprocess.run(
            ["node", str(_NODE), str(folder)], input=lines, capture_output=True, text=True, check=True
        )
        found = [json.loads(line) for line in done.stdout.splitlines()]
        return [Answer(text, 1e3 * us) for text, us in found]

    return answers


# ---- tables ----


_Cases = dict[str, list[tuple[Corruption, Instance]]]


def _with_progress(cases: _Cases, title: str) -> Iterator[tuple[str, list[tuple[Corruption, Instance]]]]:
    with progress(title, len(cases)) as step:
        for row, drawn in cases.items():
            yield row, drawn
            step(row)


def _value(text: str | None) -> Any:
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_meant(answer: Answer, corruption: Corruption) -> bool:
    written = json.dumps(_value(answer.text), sort_keys=True)
    return answer.text is not None and written == json.dumps(json.loads(corruption.meant), sort_keys=True)


def _quality(
    report: Report,
    title: str,
    cases: _Cases,
    engines: dict[str, Engine],
) -> None:
    rows: list[dict[str, Any]] = []
    times: list[Answer] = []
    of_structure = {name: [0, 0] for name in engines}
    for row, drawn in _with_progress(cases, title):
        corruptions, instances = [one for one, _ in drawn], [one for _, one in drawn]
        cells: dict[str, Any] = {"mistake": row, "texts": len(drawn)}
        for name, engine in engines.items():
            answers = engine(corruptions, instances)
            right = sum(map(_is_meant, answers, corruptions))
            cells[f"{name}, right %"] = round(100 * right / max(len(drawn), 1), 1)
            if row in STRUCTURE:
                of_structure[name][0] += right
                of_structure[name][1] += len(drawn)
            if name == "tokamata":
                times += answers
                report.is_wrong |= any(_value(answer.text) is None for answer in answers)
        rows.append(cells)
    report.add(title, rows)
    shares = {name: 100 * right / texts for name, (right, texts) in of_structure.items() if texts}
    if shares:
        rows = [{"engine": name, "right %": round(share, 1)} for name, share in shares.items()]
        report.add("Ten kinds of one mistake, no schema", rows)
        report.targets.append(Target("ten kinds, right", shares["tokamata"], 98.0, "%", at_least=True))
    found = {
        f"first {rank}": us for rank, us in ranks([one.first_ns for one in times], ["p50", "p99"]).items()
    }
    found |= {f"whole {rank}": us for rank, us in ranks([one.ns for one in times], ["p50", "p99"]).items()}
    found["proven %"] = 100 * sum(one.is_proven for one in times) / max(len(times), 1)
    report.add(f"{title}: times of tokamata, µs", [found])


def _under_schema(report: Report, cases: _Cases, engines: dict[str, Engine]) -> None:
    rows: list[dict[str, Any]] = []
    for row, drawn in _with_progress(cases, "with the schema"):
        corruptions, instances = [one for one, _ in drawn], [one for _, one in drawn]
        cells: dict[str, Any] = {"mistake": row, "texts": len(drawn)}
        for name, engine in engines.items():
            answers = engine(corruptions, instances)
            valid = sum(
                _is_valid(answer, instance) for answer, instance in zip(answers, instances, strict=True)
            )
            right = sum(map(_is_meant, answers, corruptions))
            cells[f"{name}, valid %"] = round(100 * valid / max(len(drawn), 1), 1)
            cells[f"{name}, right %"] = round(100 * right / max(len(drawn), 1), 1)
        rows.append(cells)
    report.add("With the schema", rows)


def _is_valid(answer: Answer, instance: Instance) -> bool:
    if answer.text is None:
        return False
    try:
        value = json.loads(answer.text)
        kind = jsonschema.validators.validator_for(instance.schema, jsonschema.Draft202012Validator)
        return bool(kind(instance.schema).is_valid(value))
    except Exception:
        return False


if __name__ == "__main__":
    sys.exit(main())
