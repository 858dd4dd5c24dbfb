"""A minute of fuzzing in every run: twenty seconds of the core (ctest), forty of the whole library.

The campaign that ran for an hour is described in CONTRIBUTING.md; what it found is in the tests.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))

from fuzz_patterns import run


def test_patterns_vocabularies_and_calls() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # re warns of sets that may change their meaning
        tally = run(seconds=40, seed=20261121)
    assert tally.tried > tally.walked > 0
    assert tally.judged > 0
