"""How tokamata's costs grow: with the vocabulary, the pattern, the bound of a repetition, the batch.

python -m benchmarks.growth --plot growth.svg
python -m benchmarks.growth --quick
"""

from __future__ import annotations

import gc
import math
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import tokamata as tk
from benchmarks.common import environment, plots
from benchmarks.common.patterns import PAPER, Case
from benchmarks.common.program import parser_for, progress, run
from benchmarks.common.report import Report, ranks
from benchmarks.common.timing import clock, clock_cost_ns, quiet
from benchmarks.common.tokenizers import KNOWN, Tokenizer, load_known
from benchmarks.growth.cases import BOUNDS, PATTERN_SIZES, UNLIKE_PREFIX, Family, unlike

_MAIN = "gemma-3"  # the vocabulary of all but the first part
_BATCHES = (1, 4, 16, 64, 256, 1024)
_WIDE = (Case(r"(.|\n)*", r"(.|\n)*"), Case(r"\w+( \w+)*", r"\w+( \w+)*\.", ("The quick brown fox.",)))
_LEAST_RUNS = 3
_BUDGET_S = 20.0  # of a point, after three runs


def main() -> int:
    """The program."""
    parser = parser_for(__doc__)
    parser.add_argument("--runs", type=int, metavar="N", help="of each point (default 20, quick 3)")
    parser.add_argument("--summary-plot", type=Path, metavar="FILE", help="draw the four plots of the docs")
    return run(measure, parser.parse_args())


def measure(options: Namespace, work: Path) -> Report:
    """Every point."""
    facts = environment.describe("one thread is used, except for batches")
    runs = options.runs or (3 if options.quick else 20)
    facts["runs"] = f"{runs} for each point, after one that warms up"
    tokenizers = [load_known(name, options.tokenizers, work) for name in KNOWN]
    tokenizers.sort(key=lambda tokenizer: tokenizer.vocabulary.width)
    for tokenizer in tokenizers:
        tokenizer.vocabulary.core  # noqa: B018  # made here, so that no point pays for it
        facts[f"vocabulary, {tokenizer.title}"] = f"{tokenizer.vocabulary!r}, from {tokenizer.origin}"
    main_one = next(tokenizer for tokenizer in tokenizers if tokenizer.title == KNOWN[_MAIN].title)
    gc.collect()
    gc.freeze()  # what is loaded now stays, and need not be examined again
    growth = _Growth(runs, clock_cost_ns())
    cases, families = (*PAPER, *_WIDE), (*PATTERN_SIZES, *BOUNDS)
    batches = _BATCHES[:4] if options.quick else _BATCHES
    every = 2 if options.quick else 1
    total = len(cases) * len(tokenizers) + sum(len(one.sizes[::every]) for one in families) + len(batches)
    with progress("growth", total) as step:
        by_vocabulary = pd.DataFrame([growth.case(case, one, step) for case in cases for one in tokenizers])
        by_size, by_bound = (
            pd.DataFrame(
                [row for one in part for row in growth.family(one, one.sizes[::every], main_one, step)]
            )
            for part in (PATTERN_SIZES, BOUNDS)
        )
        by_batch = pd.DataFrame([row for size in batches for row in growth.batch(size, main_one, step)])
    report = Report(facts)
    note = ["A step is a token and the mask after it, in states not seen before on this constraint."]
    report.add("1. With the vocabulary (µs)", by_vocabulary, note)
    report.add(f"2. With the pattern's size, {main_one.title} (µs)", by_size, note)
    report.add(f"3. With the bound of a repetition, {main_one.title} (µs)", by_bound, note)
    notes = [
        "Each matcher has a constraint of its own. 'seen before' is a copy of each mask: memory bounds it."
    ]
    report.add(
        f"4. With the number of matchers, {main_one.title}: tk.fill_masks (µs for all, medians)",
        by_batch,
        notes,
    )
    frames = (by_vocabulary, by_size, by_bound, by_batch)

    def picture(path: Path) -> None:
        _draw(frames, facts, path)
        if options.summary_plot is not None:
            _draw_summary(frames, facts, options.summary_plot)

    report.picture = picture
    return report


class _Growth:
    """Measures points; one more run of each warms up and is dropped."""

    def __init__(self, runs: int, clock_ns: float) -> None:
        self._runs, self._clock_ns = runs, clock_ns

    def case(self, case: Case, tokenizer: Tokenizer, step: Callable[[str], None]) -> dict[str, Any]:
        """One pattern with one vocabulary."""
        text = case.texts[0] if case.texts else "The quick brown fox."
        step(f"{case.name}, {tokenizer.title}")
        return self._point(
            case.name, partial(tk.regex, case.pattern), text, tokenizer.vocabulary.width, tokenizer
        )

    def family(
        self, family: Family, sizes: Sequence[int], tokenizer: Tokenizer, step: Callable[[str], None]
    ) -> list[dict[str, Any]]:
        """The sizes of a family, up to the first that is refused."""
        rows: list[dict[str, Any]] = []
        for size in sizes:
            step(f"{family.name}, n = {size:,}")
            if not (rows and rows[-1]["refused"]):
                rows.append(
                    self._point(family.name, family.prepare(size), family.text(size), size, tokenizer)
                )
        return rows

    def _point(
        self, name: str, make: Callable[[], tk.Constraint[Any]], text: str, size: int, tokenizer: Tokenizer
    ) -> dict[str, Any]:
        tokens = tokenizer.encode(text)
        row = np.zeros((tokenizer.vocabulary.width + 31) // 32, dtype=np.int32)
        firsts: list[float] = []
        steps: list[float] = []
        held, refused, begun = math.nan, "", clock()
        try:
            for count in range(self._runs + 1):
                if count > _LEAST_RUNS and clock() - begun > _BUDGET_S * 1e9:
                    break
                tk.forget_constraints()
                with quiet():
                    start = clock()
                    compiled = make().compile(tokenizer.vocabulary)
                    matcher = compiled.matcher()
                    matcher.fill_mask(row)
                    firsts.append(clock() - start)
                    walked = _walk(matcher, tokens, row)
                steps += walked if count > 0 else []
                held = compiled.memory_bytes / 1e6
        except tk.TokamataError as error:
            refused = " ".join(str(error).split())[:200]
        first = ranks(firsts[1:], ("p50", "p90", "largest"), self._clock_ns)
        later = ranks(steps, ("p50", "p90", "p99", "largest"), self._clock_ns)
        return {
            "what": name,
            "n": size,
            **{f"first mask, {rank}": value for rank, value in first.items()},
            **{f"step, {rank}": value for rank, value in later.items()},
            "held, MB": held,
            "refused": refused,
        }

    def batch(self, size: int, tokenizer: Tokenizer, step: Callable[[str], None]) -> list[dict[str, Any]]:
        """One size of a batch, with each number of threads in turns."""
        step(f"{size} matchers")
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        threads = sorted({1 << i for i in range(cores.bit_length()) if 1 << i <= cores} | {cores})
        mask = np.zeros((size, (tokenizer.vocabulary.width + 31) // 32), dtype=np.int32)
        times: dict[tuple[int, str], list[float]] = {}
        for count in range(self._runs + 1):
            for number in threads:
                matchers = [_begun(each, tokenizer) for each in range(size)]
                for states in ("new states", "seen before"):
                    with quiet():
                        start = clock()
                        tk.fill_masks(matchers, mask, threads=number)
                        taken = clock() - start
                    times.setdefault((number, states), []).extend([taken] if count > 0 else [])
        medians = {key: ranks(found, ["p50"], self._clock_ns)["p50"] for key, found in times.items()}
        return [
            {
                "matchers": size,
                "threads": number,
                **{
                    f"{states}{what}": value
                    for states in ("new states", "seen before")
                    for what, value in (
                        ("", medians[number, states]),
                        (", for one", medians[number, states] / size),
                        (", speedup", medians[1, states] / medians[number, states]),
                    )
                },
            }
            for number in threads
        ]


def _walk(matcher: tk.Matcher, tokens: Sequence[int], row: Any) -> list[float]:
    """Times of the steps after the first mask: a token, and the mask after it."""
    times = []
    for token in tokens:
        start = clock()
        taken = matcher.advance(token)
        matcher.fill_mask(row)
        times.append(float(clock() - start))
        if taken is not True:
            raise AssertionError(f"{matcher!r} refuses token {token}")
    return times


def _begun(number: int, tokenizer: Tokenizer) -> tk.Matcher:
    """A matcher some tokens into a text, of a constraint that no other shares; its next mask is new."""
    matcher = unlike(number).compile(tokenizer.vocabulary).matcher()
    for token in tokenizer.encode(UNLIKE_PREFIX.format(number=number)):
        if not matcher.advance(token):
            raise AssertionError(f"{matcher!r} refuses token {token}")
    return matcher


# ---- plots ------------------------------------------------------------------------------------

_ACROSS = ("tokens in the vocabulary", "n, the size of the pattern", "n, the bound")
_FIRST = "compile + first mask, µs"


def _draw(frames: Sequence[pd.DataFrame], facts: dict[str, str], path: Path) -> None:
    """All plots: the first mask and a step for each of what grows, and batches."""
    figure, axes = plots.subplots(4, 2, (11, 15))
    for (left, right), frame, across in zip(axes, frames, _ACROSS, strict=False):
        _lines(left, frame, "first mask, p50", across, _FIRST)
        _lines(right, frame, "step, p50", across, "one step in new states, µs")
    for axis, states in zip(axes[3], ("new states", "seen before"), strict=True):
        _batches(axis, frames[3], states)
    _save(figure, facts, path)


def _draw_summary(frames: Sequence[pd.DataFrame], facts: dict[str, str], path: Path) -> None:
    """Four plots for the docs."""
    figure, axes = plots.subplots(2, 2, (10, 6.8))
    for axis, frame, across in zip(axes.flat, frames, _ACROSS, strict=False):
        _lines(axis, frame, "first mask, p50", across, _FIRST)
    _batches(axes.flat[3], frames[3], "new states")
    _save(figure, facts, path)


def _lines(axis: Any, frame: pd.DataFrame, column: str, across: str, up: str) -> None:
    for i, (name, part) in enumerate(frame.groupby("what", sort=False)):
        plots.line(axis, i, part["n"], part[column], str(name))
    plots.log_axes(axis, across, up)


def _batches(axis: Any, frame: pd.DataFrame, states: str) -> None:
    for i, (threads, part) in enumerate(frame.groupby("threads")):
        plots.line(axis, i, part["matchers"], part[states], f"{threads} thread{'s' * (threads != 1)}")
    plots.log_axes(axis, "matchers, each of its own constraint", f"all masks, µs, {states}")


def _save(figure: Any, facts: dict[str, str], path: Path) -> None:
    title = KNOWN[_MAIN].title
    plots.save(
        figure, path, f"Medians; {title} except for the first plots. {facts['processor']}, {facts['date']}"
    )


if __name__ == "__main__":
    sys.exit(main())
