"""How long repairs of token sequences take: ``python -m benchmarks.repair.tokens``.

JSON of some lengths, under a schema and without one, with the vocabulary of Llama 3.1.  One to three tokens
are removed, doubled, or replaced by others of the text.  For each length and number of mistakes: the time to
an answer that costs no more than the mistakes, and the time to the proof, within a deadline.  Counts are the
same on every machine.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import time
from argparse import Namespace
from pathlib import Path
from typing import Any, Literal

import tokamata as tk
from benchmarks.common import environment
from benchmarks.common.program import parser_for, run
from benchmarks.common.report import Report, ranks
from benchmarks.common.tokenizers import load_known

LENGTHS = (10, 100, 1000)
SCHEMA: dict[str, Any] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "id": {"type": "integer"},
            "name": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "active": {"type": "boolean"},
            "place": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "zip": {"type": "string"}},
                "required": ["city", "zip"],
                "additionalProperties": False,
            },
        },
        "required": ["id", "name", "tags", "active", "place"],
        "additionalProperties": False,
    },
}
_NAMES = ["Ann Lee", "Bob", "Carla Braun", "Deniz", "Élise", "Farid"]
_CITIES = ["Paris", "New York", "Köln", "Lima"]


def text_of(draw: random.Random, tokens: int, encode: Any) -> str:
    """A valid text of about so many tokens."""
    rows: list[dict[str, Any]] = []
    while True:
        rows.append(
            {
                "id": draw.randrange(10_000),
                "name": draw.choice(_NAMES),
                "tags": [draw.choice(["red", "blue green", "x"]) for _ in range(draw.randrange(3))],
                "active": draw.random() < 0.5,
                "place": {"city": draw.choice(_CITIES), "zip": str(draw.randrange(100_000))},
            }
        )
        text = json.dumps(rows, ensure_ascii=False)
        if len(encode(text)) >= tokens:
            return text


def with_mistakes(ids: list[int], mistakes: int, draw: random.Random) -> list[int]:
    """Some tokens removed, doubled or replaced."""
    for _ in range(mistakes):
        at, kind = draw.randrange(len(ids)), draw.randrange(3)
        ids = (
            ids[:at]
            + ([] if kind == 0 else [ids[at]] * 2 if kind == 1 else [draw.choice(ids)])
            + ids[at + 1 :]
        )
    return ids


def row_of(
    compiled: tk.CompiledConstraint[Any], encode: Any, length: int, mistakes: int, texts: int, deadline: float
) -> dict[str, Any]:
    """One line of a table."""
    first, whole, costs, steps, proven = [], [], [], [], 0
    for seed in range(texts):
        draw = random.Random(f"{length} {seed}")
        ids = with_mistakes(encode(text_of(draw, length, encode)), mistakes, draw)
        start, reached = time.perf_counter_ns(), None
        for found in compiled.repairs(ids, deadline_seconds=deadline):
            if reached is None and found.cost <= mistakes:
                reached = time.perf_counter_ns() - start
        whole.append(time.perf_counter_ns() - start)
        first.append(whole[-1] if reached is None else reached)
        proven += found.optimal
        costs.append(found.cost)
        steps.append(found.expansions)
    times = {
        f"{what} {rank}, ms": us / 1e3
        for what, samples in (("answer", first), ("whole", whole))
        for rank, us in ranks(samples, ("p50", "p99")).items()
    }
    return {
        "tokens": length,
        "mistakes": mistakes,
        "texts": texts,
        **times,
        "proven %": 100 * proven / texts,
        "cost, mean": statistics.mean(costs),
        "expansions p50": statistics.median(steps),
    }


def measure(options: Namespace, work: Path) -> Report:
    """A table for each constraint and tokenization."""
    tokenizer = load_known(options.tokenizer, options.tokenizers, work)
    report = Report(environment.describe())
    lengths, texts = ((10, 100), 2) if options.quick else (LENGTHS, 30)
    every: tuple[tuple[str, tk.Constraint[Any]], ...] = (
        ("a schema", tk.json_schema(SCHEMA)),
        ("any JSON", tk.json()),
    )
    for tokenization in _TOKENIZATIONS:
        for name, constraint in every:
            compiled = constraint.compile(tokenizer.vocabulary, tokenization=tokenization)
            rows = [
                row_of(
                    compiled,
                    tokenizer.encode_as_model,
                    length,
                    mistakes,
                    options.count or texts,
                    options.deadline,
                )
                for length in lengths
                for mistakes in (1, 2, 3)
            ]
            report.add(f"Repairs of token sequences, {name}, {tokenization} tokenization", rows, _NOTES)
    return report


_TOKENIZATIONS: tuple[Literal["any", "canonical"], ...] = ("any", "canonical")
_NOTES = [
    "*Answer*: until there is one that costs no more than the mistakes.  *Whole*: until the proof, or the "
    "deadline."
]


def main() -> int:
    """The program."""
    parser = parser_for(__doc__ or "")
    parser.add_argument(
        "--tokenizer", default="llama-3.1", metavar="NAME", help="which vocabulary (llama-3.1)"
    )
    parser.add_argument("--deadline", type=float, default=10.0, metavar="S", help="seconds for a repair (10)")
    return run(measure, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
