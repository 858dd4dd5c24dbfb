"""The command line of the fuzzers: for how long, and from which seed."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable


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
