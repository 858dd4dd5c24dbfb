"""How local Unigram is: how many states its segmentations have, by the length of texts.

What may follow a text depends on the ends of it that begin some piece, and on the differences of the best
sums to these places (``core/canonical/unigram_pieces.hpp``).  Paper 004, section 11, leaves this open.
"""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

LETTERS = "abcd"
PIECES = [*LETTERS, *(first + second for first in LETTERS for second in LETTERS)]


def states(scores: dict[str, float], longest: int) -> list[int]:
    """How many states the texts of up to 1, 2, … letters lead to; no piece has more than two letters."""
    found: set[tuple[str, float]] = set()
    level = {("", 0.0)}  # the last letter, and the best sum before it less the one after it
    counts = []
    for _ in range(longest):
        after = set()
        for last, lead in level:
            for letter in LETTERS:
                best = scores[letter]
                if last:
                    best = max(best, lead + scores[last + letter])
                after.add((letter, round(-best, 9)))
        found |= after
        level = after
        counts.append(len(found))
    return counts


@pytest.mark.parametrize("seed", range(5))
def test_scores_that_are_multiples_of_a_fraction_have_few_states(seed: int) -> None:
    draw = random.Random(seed)
    counts = states({piece: -draw.randrange(2, 9 if len(piece) == 1 else 17) / 2 for piece in PIECES}, 40)
    # A lead is a multiple of 1/2, and at most 4, the lowest score of a letter; so the next is at least -3.
    assert counts[-1] <= len(LETTERS) * 15
    assert counts[-1] == counts[-10]


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_other_scores_may_have_more_with_each_letter(seed: int) -> None:
    draw = random.Random(seed)
    counts = states({piece: -draw.uniform(1, 4 * len(piece)) for piece in PIECES}, 12)
    assert all(shorter < longer for shorter, longer in pairwise(counts))
    assert counts[-1] > 80
