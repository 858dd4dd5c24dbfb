"""How long repairs of token sequences take: ``python -m benchmarks.repair.tokens``.

JSON of some lengths, under a schema and without one, with the vocabulary of Llama 3.1.  One to three tokens
are removed, doubled, or replaced by others of the text.  For each length and number of mistakes: the time to
an answer that costs no more than the mistakes, and the time to the proof, within a deadline.  Counts are the
same on every machine.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any, Literal

import tokamata as tk
from benchmarks.common.tokenizers import SHARED, Tokenizer, load_known

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


def main() -> None:
    """Prints a row for each constraint, length and number of mistakes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokenizer", default="llama-3.1")
    parser.add_argument("--tokenizers", type=Path, default=SHARED, metavar="FOLDER")
    parser.add_argument("--texts", type=int, default=20)
    parser.add_argument("--deadline", type=float, default=10.0, metavar="S")
    parser.add_argument("--lengths", type=int, nargs="*", default=[10, 100, 1000])
    parser.add_argument("--canonical", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:  # the file is read again for canonical tokenization
        _measure(given, load_known(given.tokenizer, given.tokenizers, Path(work)))


def _measure(given: argparse.Namespace, tokenizer: Tokenizer) -> None:
    vocabulary, encode = tokenizer.vocabulary, tokenizer.encode_as_model
    tokenization: Literal["any", "canonical"] = "canonical" if given.canonical else "any"
    for name, constraint in (("schema", tk.json_schema(SCHEMA)), ("any JSON", tk.json())):
        compiled = constraint.compile(vocabulary, tokenization=tokenization)
        start = time.perf_counter()
        compiled.repair([])
        print(f"--- {name}: the first call took {1e3 * (time.perf_counter() - start):.0f} ms")
        for length in given.lengths:
            for mistakes in (1, 2, 3):
                first, whole, proven, costs, steps = [], [], 0, [], []
                for seed in range(given.texts):
                    draw = random.Random(f"{length} {seed}")
                    ids = with_mistakes(encode(text_of(draw, length, encode)), mistakes, draw)
                    start, reached = time.perf_counter(), None
                    for found in compiled.repairs(ids, deadline_seconds=given.deadline):
                        if reached is None and found.cost <= mistakes:
                            reached = time.perf_counter() - start
                    whole.append(time.perf_counter() - start)
                    first.append(reached if reached is not None else whole[-1])
                    proven += found.optimal
                    costs.append(found.cost)
                    steps.append(found.expansions)
                print(
                    f"{length} tokens, {mistakes} mistakes: answer {_times(first)}; whole {_times(whole)}; "
                    f"proven {proven} of {given.texts}; mean cost {statistics.mean(costs):.2f}; "
                    f"expansions p50 {statistics.median(steps):,.0f}",
                    flush=True,
                )


def _times(seconds: list[float]) -> str:
    ordered = sorted(seconds)
    high = ordered[min(len(ordered) - 1, round(0.99 * len(ordered)))]
    return f"p50 {1e3 * statistics.median(ordered):.1f} ms, p99 {1e3 * high:.1f} ms"


if __name__ == "__main__":
    main()
