"""Measuring how costs grow: one point for each size of a family, and for each size of a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from cases import Case
from growth_cases import UNLIKE_PREFIX, Family, unlike
from timing import Summary, clock, quiet, summarize
from tokenizer import Tokenizer

import tokamata as tk

LEAST_RUNS = 3


@dataclass
class Point:
    """What something costs at one size, in microseconds.

    Attributes:
        size: the size.
        first: from the text of the pattern to the first mask.
        step: a mask and a token, along a text, in states not seen before.
        memory_bytes: what the compiled constraint holds at the end.
        refused: what was said where it did not work.
    """

    size: int
    first: Summary | None = None
    step: Summary | None = None
    memory_bytes: int | None = None
    refused: str | None = None


@dataclass
class Series:
    """Points of one family."""

    name: str
    points: list[Point] = field(default_factory=list)


def measure(
    make: Callable[[], tk.Constraint],
    text: str,
    size: int,
    tokenizer: Tokenizer,
    runs: int,
    seconds: float,
    clock_ns: float,
) -> Point:
    """One point; one more run warms up and is dropped, and none begins after ``seconds``, but for three."""
    point = Point(size)
    tokens = tokenizer.encode(text)
    row = np.zeros((tokenizer.vocabulary.width + 31) // 32, dtype=np.int32)
    firsts: list[float] = []
    steps: list[float] = []
    begun = clock()
    try:
        for run in range(runs + 1):
            if run > LEAST_RUNS and clock() - begun > seconds * 1e9:
                break
            with quiet():
                start = clock()
                compiled = make().compile(tokenizer.vocabulary)
                matcher = compiled.matcher()
                matcher.fill_mask(row)
                firsts.append(clock() - start)
                steps_of_run = _walk(matcher, tokens, row)
            if run > 0:
                steps += steps_of_run
            point.memory_bytes = compiled.memory_bytes
    except tk.TokamataError as error:
        point.refused = " ".join(str(error).split())[:200]
    point.first = summarize(firsts[1:], clock_ns)
    point.step = summarize(steps, clock_ns)
    return point


def _walk(
    matcher: tk.Matcher, tokens: Sequence[int], row: np.ndarray[tuple[int], np.dtype[np.int32]]
) -> list[float]:
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


def family(
    one: Family,
    tokenizer: Tokenizer,
    runs: int,
    seconds: float,
    clock_ns: float,
    step: Callable[[str], None],
) -> Series:
    """All sizes of a family, up to the first that is refused."""
    series = Series(one.name)
    for size in one.sizes:
        if not (series.points and series.points[-1].refused):
            series.points.append(
                measure(one.prepare(size), one.text(size), size, tokenizer, runs, seconds, clock_ns)
            )
        step(f"{one.name}, n = {size:,}")
    return series


def by_vocabulary(
    case: Case, tokenizers: Sequence[Tokenizer], runs: int, clock_ns: float, step: Callable[[str], None]
) -> Series:
    """One pattern with every vocabulary."""
    series = Series(case.name)
    for tokenizer in tokenizers:
        text = case.texts[0] if case.texts else "The quick brown fox."
        point = measure(
            partial(tk.regex, case.pattern), text, tokenizer.vocabulary.width, tokenizer, runs, 60.0, clock_ns
        )
        series.points.append(point)
        step(f"{case.name}, {tokenizer.title}")
    return series


# ---- batches ----------------------------------------------------------------------------------


@dataclass
class BatchPoint:
    """What ``tk.fill_masks`` takes for a batch, in microseconds for the whole of it.

    Attributes:
        size: how many matchers, each of a constraint of its own.
        threads: how many threads.
        new: in states whose masks nobody has asked for.
        seen: the same again.
    """

    size: int
    threads: int
    new: Summary | None
    seen: Summary | None


def batch(
    size: int, threads: Sequence[int], tokenizer: Tokenizer, runs: int, clock_ns: float
) -> list[BatchPoint]:
    """One size of a batch, with each number of threads in turns."""
    mask = np.zeros((size, (tokenizer.vocabulary.width + 31) // 32), dtype=np.int32)
    new: dict[int, list[float]] = {count: [] for count in threads}
    seen: dict[int, list[float]] = {count: [] for count in threads}
    for run in range(runs + 1):
        for count in threads:
            matchers = [_begun(number, tokenizer) for number in range(size)]
            for times in (new, seen):
                with quiet():
                    start = clock()
                    tk.fill_masks(matchers, mask, threads=count)
                    taken = clock() - start
                if run > 0:
                    times[count].append(taken)
    return [
        BatchPoint(size, count, summarize(new[count], clock_ns), summarize(seen[count], clock_ns))
        for count in threads
    ]


def _begun(number: int, tokenizer: Tokenizer) -> tk.Matcher:
    """A matcher some tokens into a text, of a constraint that no other shares; its next mask is new."""
    matcher = unlike(number).compile(tokenizer.vocabulary).matcher()
    for token in tokenizer.encode(UNLIKE_PREFIX.format(number=number)):
        if not matcher.advance(token):
            raise AssertionError(f"{matcher!r} refuses token {token}")
    return matcher
