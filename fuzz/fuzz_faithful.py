"""Throws usual texts of valid values at random schemas: no text may be led into another value.

    python -m fuzz.fuzz_faithful --seconds 3600 --seed 1

Schemas, values and texts are those of the tests (``tests/support/schemas/writers.py``), and so is the law:
each text is accepted, or some other text of its value continues what was accepted of it, as where its names
are in another order.  Those in order that are accepted are walked in tokens too, without a budget and within
the number of their tokens.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from fuzz import timed
from tests.support.schemas.faithful import check, check_tokens
from tests.support.schemas.writers import drawn, reordered, written


@dataclass
class Tally(timed.Tally):
    """What was done: schemas tried, texts accepted, texts whose value goes on in another way, and texts that
    some mask forbids within a budget with room for them (core/composition/rule_completions.hpp says why).
    """

    tried: int = 0
    accepted: int = 0
    led_on: int = 0
    short: int = 0


def run(seconds: float, seed: int) -> Tally:
    """Fuzzes for so long; returns what was done."""
    chooser, other_orders = random.Random(seed), random.Random(seed)
    tally = Tally()
    for _ in timed.turns(seconds):
        case = drawn(chooser)
        tally.tried += 1
        with timed.naming(f"schema {tally.tried}", case):
            if not check(case, written(other_orders, reordered(other_orders, case.value))):
                tally.led_on += 1
            for _ in range(8):
                text = written(chooser, case.value)
                if not check(case, text):
                    tally.led_on += 1
                    continue
                tally.accepted += 1
                if chooser.random() < 0.3:
                    tally.short += not check_tokens(case, text)
    return tally


if __name__ == "__main__":
    timed.main(__doc__, run)
