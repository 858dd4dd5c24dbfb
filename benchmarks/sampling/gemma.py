"""Calls and seconds for each exact sample of Gemma 3 270M, by how much is read ahead; and the other methods.

    python -m benchmarks.sampling.gemma

Each row begins with nothing known.  The first rows of a table differ only in how many rows a call of the
model may read; without reading ahead the calls are those of CARS with all prefixes kept.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import torch

import tokamata as tk
from benchmarks.common.gemma import load_gemma, print_facts
from tokamata.decoding.results import Timing
from tokamata.decoding.start import Options, tasks_of
from tokamata.decoding.unbiased.law import Law
from tokamata.decoding.unbiased.prefix_tree import PrefixTree
from tokamata.decoding.unbiased.walks import walk

_SCHEMA = {
    "type": "object",
    "properties": {
        "sentiment": {"enum": ["positive", "negative", "neutral"]},
        "stars": {"enum": [1, 2, 3, 4, 5]},
    },
    "required": ["sentiment", "stars"],
    "additionalProperties": False,
}
_REVIEWS = (
    'Review: "Great sound, I love it."\n{"sentiment": "positive", "stars": 5}\n'
    'Review: "Broke after a day."\n{"sentiment": "negative", "stars": 1}\n'
    'Review: "It is fine for the price."\n'
)
_MATCH = "Is the text about sports or politics?\nText: The match ended 2:1.\nAnswer:"
_TASKS: dict[str, tuple[str, Any]] = {
    "a label": (_MATCH, " (sports|politics)"),
    "JSON": (_REVIEWS, tk.json_schema(_SCHEMA)),
    "a date": ("Columbus reached America on 1492-10-12.\nNapoleon died on", r" [0-9]{4}-[0-9]{2}-[0-9]{2}"),
}
_COUNT, _BUDGET, _MOST_CALLS = 20, 40, 200
_THREADS = 2


def main() -> None:
    """Prints a table for each task."""
    print_facts(_THREADS)
    model, tokenizer = load_gemma(torch.float32, _THREADS)
    for name, (prompt, pattern) in _TASKS.items():
        constraint = tk.regex(pattern) if isinstance(pattern, str) else pattern
        print(f"\n### {name}, {_COUNT} samples\n")
        print("| method | rows of a call | calls | tokens read | seconds | samples | evidence | size |")
        print("|---|---:|---:|---:|---:|---:|---:|---:|")
        for rows in (0, 1, 8):
            _print("exact", str(rows), *_exact(model, tokenizer, prompt, constraint, rows))
        for method in ("local", "asap", "smc"):
            start = time.perf_counter()
            found = tk.sample(
                model, tokenizer, prompt, constraint, _COUNT, method=method, max_new_tokens=_BUDGET, seed=1
            )  # fmt: skip
            facts = found.forward_passes, found.tokens_read, time.perf_counter() - start, len(found)
            _print(method, "", *facts, math.exp(found.log_evidence), found.effective_size)


def _exact(
    model: Any, tokenizer: Any, prompt: str, constraint: tk.Constraint[Any], rows: int
) -> tuple[int, int, float, int, float, float]:
    timing = Timing()
    [task] = tasks_of(model, tokenizer, [prompt], [constraint], Options(_BUDGET), timing)
    settings: dict[str, Any] = {"memory_bytes": 1 << 28, "allow": lambda _: None, "timing": timing}
    law = Law(task, 1.0)
    tree = PrefixTree(law, model, learns=True, rows=rows, **settings)
    random = np.random.default_rng(1)
    start, samples, estimates = time.perf_counter(), 0, list[float]()
    while samples < _COUNT and tree.reader.calls < _MOST_CALLS:
        bound = math.exp(tree.root.bound)
        is_sample = walk(tree, law.stop, random, learns=True, rejects=True) is not None
        estimates.append(bound * is_sample)
        samples += is_sample
    seconds = time.perf_counter() - start
    evidence = float(np.mean(estimates))
    return tree.reader.calls, tree.reader.positions, seconds, samples, evidence, samples


def _print(
    method: str, rows: str, calls: int, read: int, seconds: float, samples: int, evidence: float, size: float
) -> None:
    cells = [method, rows, f"{calls:,}", f"{read:,}", f"{seconds:.1f}", f"{samples}"]
    print("| " + " | ".join([*cells, f"{evidence:.3g}", f"{size:.1f}"]) + " |", flush=True)


if __name__ == "__main__":
    main()
