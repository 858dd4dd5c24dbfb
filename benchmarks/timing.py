"""Timing that can be compared: one clock, no garbage collection, and its own cost taken off.

All times are kept in nanoseconds as the clock gives them, and reported in microseconds.
"""

from __future__ import annotations

import gc
import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

clock = time.perf_counter_ns


@dataclass(frozen=True)
class Summary:
    """What is reported of repeated measurements, in microseconds.

    ``p90_us``, ``p99_us`` and ``p999_us`` (99.9 %) are by nearest rank: of 20 runs, ``p99_us`` is the
    largest.
    """

    runs: int
    median_us: float
    p90_us: float
    p99_us: float
    p999_us: float
    largest_us: float
    mean_us: float = math.nan


def summarize(samples_ns: Sequence[float], overhead_ns: float = 0.0) -> Summary | None:
    """The summary of some samples, less what the measuring itself costs; ``None`` without samples."""
    if not samples_ns:
        return None
    ordered = sorted(max(0.0, sample - overhead_ns) / 1e3 for sample in samples_ns)

    def rank(share: float) -> float:
        return ordered[max(0, math.ceil(share * len(ordered)) - 1)]

    return Summary(
        len(ordered),
        statistics.median(ordered),
        rank(0.9),
        rank(0.99),
        rank(0.999),
        ordered[-1],
        statistics.fmean(ordered),
    )


@contextmanager
def quiet() -> Iterator[None]:
    """No garbage collection within; what there is to collect is collected before."""
    gc.collect()
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def clock_cost_ns() -> float:
    """What one reading of the clock adds to what is timed between two."""
    with quiet():
        return statistics.median(-clock() + clock() for _ in range(20_000))


Loop = Callable[[], None]


def time_loops(
    loops: Mapping[str, Loop], empty: Loop, calls: int, runs: int, prepare: Callable[[], None] | None = None
) -> dict[str, Summary]:
    """Times loops that repeat something ``calls`` times, in turns, less the cost of the empty loop.

    Args:
        loops: by name; each does its thing ``calls`` times.
        empty: the same loop around nothing.
        calls: by which times are divided.
        runs: how often each is timed; one more run warms up and is dropped.
        prepare: called before each timing, outside of it.
    """
    samples: dict[str, list[float]] = {name: [] for name in loops}
    blank: list[float] = []
    with quiet():
        for _ in range(runs + 1):
            for name, loop in (("", empty), *loops.items()):
                if prepare is not None:
                    prepare()
                start = clock()
                loop()
                taken = (clock() - start) / calls
                (samples[name] if name else blank).append(taken)
    cost = statistics.median(blank[1:])
    return {name: found for name, values in samples.items() if (found := summarize(values[1:], cost))}
