"""What the fuzzers share: a command line, turns for so many seconds, tallies, and the name of what failed."""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Tally:
    """What a fuzzer did; a subclass is a dataclass whose fields count it."""

    def __str__(self) -> str:
        """Each count with the name of its field."""
        counts = dataclasses.asdict(self).items()  # type: ignore[call-overload]
        shown = {name: f"{n:,}" if isinstance(n, int) else dict(n) for name, n in counts}
        return ", ".join(f"{name}: {count}" for name, count in shown.items())


def turns(seconds: float) -> Iterator[int]:
    """1, 2, 3 and so on, until the time is up."""
    end = time.monotonic() + seconds
    return itertools.takewhile(lambda turn: time.monotonic() < end, itertools.count(1))


@contextmanager
def naming(turn: str, tried: object) -> Iterator[None]:
    """Prints what was tried inside where that fails, so that it can be tried again.

    Args:
        turn: says how to come there again.
        tried: what it is about, in which more may be noted inside.
    """
    try:
        yield
    except BaseException as error:
        print(f"{turn}: {type(error).__name__}: {error}\n  {tried!r}", file=sys.stderr)
        raise


def main(description: str, run: Callable[[float, int], object]) -> None:
    """Runs a fuzzer, and says what it did.

    Args:
        description: of the program; its first line is shown.
        run: takes seconds and a seed; what it returns says as text what was done.
    """
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # re warns of sets that may change their meaning
    start = time.monotonic()
    tally = run(arguments.seconds, arguments.seed)
    print(f"{tally}, in {time.monotonic() - start:.0f} s; nothing failed")
