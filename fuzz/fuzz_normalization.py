"""Throws hostile texts at what the guard proves of normal forms; judged by ``unicodedata.normalize``.

    python -m fuzz.fuzz_normalization --seconds 3600 --seed 1

Each text, in each form, is compared with all texts of up to four code points of an alphabet around it
(``tests/support/normal_form_judge.py``): no proof may be refuted, and witnesses are real, shortest and
smallest.  Longer texts are attacked by texts that are drawn.
"""

from __future__ import annotations

import random
import unicodedata
from dataclasses import dataclass, field

from fuzz import timed
from tests.support.normal_form_judge import FORMS, attack, boundaries, judge

_TEXTS = 100_000


@dataclass
class Tally(timed.Tally):
    """What was done: short texts tried, long ones, and how often each pair of outcomes was found."""

    tried: int = 0
    long: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)


def run(seconds: float, seed: int, texts: int = _TEXTS) -> Tally:
    """Fuzzes for so long; returns what was done."""
    draw = random.Random(seed)
    tally = Tally()
    for _ in timed.turns(seconds):
        boundary = next(boundaries(draw, 1))
        tally.tried += 1
        for form in FORMS:
            with timed.naming(f"text {tally.tried}", (form, ascii(boundary))):
                found = judge(boundary, form, draw, texts)
            outcome = f"{found.kept.outcome}, {found.not_made.outcome}"
            tally.outcomes[outcome] = tally.outcomes.get(outcome, 0) + 1
        for form in FORMS:
            long = unicodedata.normalize(form, "".join(boundaries(draw, draw.randint(2, 4))))
            tally.long += 1
            with timed.naming(f"text {tally.tried}", (form, ascii(long))):
                attack(long, form, draw, texts // 20)
    return tally


if __name__ == "__main__":
    timed.main(__doc__, run)
