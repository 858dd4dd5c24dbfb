"""Timing that can be compared: one clock, no garbage collection, and its own cost subtracted.

Times are kept in nanoseconds, as the clock gives them, and reported in microseconds.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

clock = time.perf_counter_ns


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
    """What one reading of the clock adds to a time between two readings."""
    with quiet():
        return statistics.median(-clock() + clock() for _ in range(20_000))


def time_loops(
    loops: Mapping[str, Callable[[], None]],
    empty: Callable[[], None],
    calls: int,
    runs: int,
    prepare: Callable[[], None] | None = None,
) -> dict[str, list[float]]:
    """Times loops in turns: nanoseconds for each call, less the median of an empty loop.

    Args:
        loops: by name; each makes ``calls`` calls.
        empty: the same loop around nothing.
        calls: the number of calls in a loop.
        runs: how often each loop is timed; one more run warms up and is dropped.
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
                (samples[name] if name else blank).append((clock() - start) / calls)
    cost = statistics.median(blank[1:])
    return {name: [value - cost for value in values[1:]] for name, values in samples.items()}
