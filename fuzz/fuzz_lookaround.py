"""Throws patterns full of lookaround at the library, alone and in the algebra; judged by the definition.

    python -m fuzz.fuzz_lookaround --seconds 3600 --seed 1

Lookarounds nest, stand in loops, and lookbehinds have any length (lookarounds.py).  Of each pattern every
short text is judged, by its bytes; then the constraint, or what the algebra makes of it, is walked in a small
vocabulary with all checks of fuzz_patterns.py.  ``re`` and ``regex`` say whether the judge itself is right.
"""

from __future__ import annotations

import itertools
import random
from contextlib import suppress
from dataclasses import dataclass

import tokamata as tk
from fuzz import timed
from fuzz.fuzz_patterns import check_texts, walk
from tests.support.matchers import takes
from tests.support.patterns.judged import LIMITS, Judged, NoVerdict, by_others, random_judged
from tests.support.patterns.lookarounds import Pattern, random_lookaround
from tests.support.vocabularies import BYTE_VOCABULARY

LEFT_OUT = (tk.EmptyConstraintError, tk.UnspellableError, tk.LimitExceeded)
MOST_TEXTS = 400  # of one pattern, the shortest ones


@dataclass
class Tally(timed.Tally):
    """What was done.

    Attributes:
        tried, walked: patterns; those whose constraint was walked within the limits.
        texts: that were judged by the definition.
        confirmed: of these, those that ``re`` or ``regex`` judged too.
    """

    tried: int = 0
    walked: int = 0
    texts: int = 0
    confirmed: int = 0


def short_texts(alphabet: str) -> list[str]:
    """All texts of these characters, from the shortest on, as many as are judged."""
    by_size = (itertools.product(alphabet, repeat=size) for size in itertools.count())
    return list(map("".join, itertools.islice(itertools.chain.from_iterable(by_size), MOST_TEXTS)))


def check_all_texts(pattern: Pattern, texts: list[str]) -> None:
    """The constraint accepts exactly the texts that match."""
    expected = {text for text in texts if pattern.matches(text)}
    try:
        start = tk.regex(pattern.written).compile(BYTE_VOCABULARY, limits=LIMITS).matcher()
    except tk.EmptyConstraintError:
        assert not expected, (pattern.written, expected)
        return
    for text in texts:
        assert takes(start, text.encode()) == (text in expected), (pattern.written, text)


def check_judge(pattern: Pattern, texts: list[str]) -> int:
    """``re`` or ``regex`` says the same; how many texts were asked about."""
    other = by_others(pattern.written, 0)
    asked = 0
    for text in texts if other else []:
        try:
            assert other(text) == pattern.matches(text), ("the judges differ", pattern.written, text)
        except NoVerdict:
            continue
        asked += 1
    return asked


def trial(chooser: random.Random, tally: Tally, met: list[str]) -> None:
    """One pattern, alone; and with up to two others in the algebra."""

    def leaf(chooser: random.Random) -> Judged:
        pattern, _ = random_lookaround(chooser)
        met.append(pattern.written)
        return Judged(tk.regex(pattern.written), pattern.matches)

    pattern, alphabet = random_lookaround(chooser)
    met.append(pattern.written)
    texts = short_texts(alphabet)
    tally.confirmed += check_judge(pattern, chooser.sample(texts, 20))
    check_all_texts(pattern, texts)
    tally.texts += len(texts)
    depth = chooser.choice([0, 0, 1, 2])
    one = Judged(tk.regex(pattern.written), pattern.matches)
    judged = random_judged(chooser, depth, leaf) if depth else one
    tally.texts += check_texts(judged, chooser)
    walk(judged, chooser)
    tally.walked += 1


def run(seconds: float, seed: int) -> Tally:
    """Fuzzes for so long; returns what was done."""
    tally = Tally()
    for turn in timed.turns(seconds):
        tally.tried = turn
        met: list[str] = []
        with timed.naming(f"seed {seed}, pattern {turn}", met), suppress(*LEFT_OUT):
            trial(random.Random(f"{seed} {turn}"), tally, met)
    return tally


if __name__ == "__main__":
    timed.main(__doc__, run)
