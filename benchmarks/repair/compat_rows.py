"""``tokamata.compat.json_repair`` beside ``json_repair``: times, right values, and values that stay."""

from __future__ import annotations

import itertools
import json
import random
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import Any

import json_repair
import numpy as np

from benchmarks.common.program import progress
from benchmarks.common.report import Report, Target
from benchmarks.repair.corruptions import STRUCTURE, Corruption
from benchmarks.repair.instances import Instance, drawn_cases, of_a_kilobyte
from tests.support.repair.streams import grows
from tokamata.compat import json_repair as compat

__all__ = ["add_compat", "add_streams"]

_MOST_RATIO = 5.0
_LIBRARIES: dict[str, Callable[..., Any]] = {"compat": compat.loads, "json_repair": json_repair.loads}


def add_compat(report: Report, instances: Sequence[Instance], options: Namespace, count: int) -> None:
    """The table; each text is repaired by both, one after the other, in an order that is drawn."""
    short = [one for one in instances if len(json.dumps(one.value, ensure_ascii=False)) >= 500]
    long = of_a_kilobyte(options.schemas, is_training=options.training)
    rows = []
    for size, some in (("500 to 600 characters", short), ("1 kB", long)):
        for number in (1, 2, 3):
            kinds = list(itertools.combinations(STRUCTURE, number))
            seed = f"{options.seed} compat {size} {number}"
            cases = [corruption for corruption, _ in drawn_cases(kinds, some, count, seed)]
            rows.append({"texts of": size, "mistakes": number, **_row(cases, seed, f"compat, {size}")})
        ratio = _median([row["ratio of p50"] for row in rows if row["texts of"] == size])
        report.targets.append(
            Target(f"compat.json_repair, {size}: p50 over json_repair's", ratio, _MOST_RATIO, "×")
        )
    report.add("The drop-in for json_repair, ms", rows, _NOTES)


def add_streams(report: Report, instances: Sequence[Instance], options: Namespace, count: int) -> None:
    """Texts of up to 160 characters, cut off after each: how often a value changes other than at its end."""
    short = [one for one in instances if len(json.dumps(one.value)) <= 160]
    draw = random.Random(f"{options.seed} streams")
    valid = [json.dumps(draw.choice(short).value, ensure_ascii=False) for _ in range(count)]
    kinds = [(kind,) for kind in STRUCTURE]
    broken = [one.broken for one, _ in drawn_cases(kinds, short, count, f"{options.seed} streams")]
    rows = []
    for title, texts in (("no mistake", valid), ("one mistake", broken)):
        for name, library in _LIBRARIES.items():
            changes = [_changes(library, text) for text in texts]
            cuts = sum(map(len, changes))
            rows.append(
                {
                    "texts with": title,
                    "library": name,
                    "count": len(texts),
                    "cuts": cuts,
                    "changed %": 100 * sum(map(sum, changes)) / max(cuts, 1),
                    "texts that never change %": 100 * sum(not any(one) for one in changes) / len(texts),
                }
            )
    report.add("stream_stable=True, after each character", rows)
    report.targets.append(
        Target("compat.json_repair, streams without mistakes that change", rows[0]["changed %"], 0.0, "%")
    )


def _changes(library: Callable[..., Any], text: str) -> list[bool]:
    """For each character but the first, whether the value before does not go on in the one after it."""
    values = [library(text[:end], stream_stable=True) for end in range(1, len(text) + 1)]
    return [before != "" and not grows(before, now) for before, now in itertools.pairwise(values)]


_NOTES = [
    "p50, p99: of loads(text), in one process; the target is for the median of the ratios",
    "right: the value that was meant",
]


def _row(cases: Sequence[Corruption], seed: str, title: str) -> dict[str, Any]:
    draw = random.Random(seed)
    ms: dict[str, list[float]] = {name: [] for name in _LIBRARIES}
    right = dict.fromkeys(_LIBRARIES, 0)
    with progress(title, len(cases)) as step:
        for case in cases:
            meant = json.loads(case.meant)
            for name in draw.sample(sorted(_LIBRARIES), len(_LIBRARIES)):
                start = time.perf_counter()
                value = _LIBRARIES[name](case.broken)
                ms[name].append(1e3 * (time.perf_counter() - start))
                right[name] += value == meant
            step(case.kind)
    cells: dict[str, Any] = {"count": len(cases)}
    for name in _LIBRARIES:
        cells |= {
            f"{name} p50": _median(ms[name]),
            f"{name} p99": float(np.percentile(ms[name], 99, method="inverted_cdf")),
            f"{name}, right %": 100 * right[name] / len(cases),
        }
    return cells | {"ratio of p50": cells["compat p50"] / cells["json_repair p50"]}


def _median(samples: Sequence[float]) -> float:
    return float(np.percentile(samples, 50, method="inverted_cdf"))
