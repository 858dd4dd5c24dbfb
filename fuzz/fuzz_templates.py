"""Random templates about unknown texts: every rendering is what transformers writes, or is named as not
settled.

    python -m fuzz.fuzz_templates --seconds 3600 --seed 1

Templates, texts and the judge are those of the tests (``tests/support/templates``).
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from fuzz import timed
from tests.support.templates.expressions import drawn_template
from tests.support.templates.judge import compare, draws
from tokamata.guard.templates.reading import read_template
from tokamata.guard.templates.shapes import Shape

SHAPE = Shape.of("user", "assistant")


@dataclass
class Tally(timed.Tally):
    """What was done: templates read, those with every rendering settled, texts compared."""

    templates: int = 0
    settled: int = 0
    compared: int = 0


def run(seconds: float, seed: int) -> Tally:
    """Fuzzes for so long; returns what was done."""
    chooser = random.Random(seed)
    tally = Tally()
    for _ in timed.turns(seconds):
        source = drawn_template(chooser)
        with timed.naming(f"template {tally.templates}", source):
            template = read_template(source)
            renderings = template.renderings(SHAPE)
            tally.templates += 1
            tally.settled += all(rendering.unsettled is None for rendering in renderings)
            for values in draws(SHAPE, renderings, chooser, 10):
                compare(template, SHAPE, renderings, values)
                tally.compared += 1
    return tally


if __name__ == "__main__":
    timed.main(__doc__, run)
