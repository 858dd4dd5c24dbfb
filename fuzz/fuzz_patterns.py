"""Throws patterns, vocabularies and calls at the whole library, and checks what must always hold.

    python -m fuzz.fuzz_patterns --seconds 3600 --seed 1

Constraints are patterns made by mutating and splicing pieces of regular expressions, so that most are
odd and many do not parse, and what the algebra makes of them (judged.py).  Each either raises an error
of tokamata's own, within the limits given, or becomes a constraint whose matcher keeps the invariants: a
bit is set if and only if ``advance`` takes the token; a refused token and a raised error change
nothing; ``rollback`` brings the bits back; budgets agree with the shortest completions; a batch is
the masks of its matchers; and the accepted texts are those that a judge accepts.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

import tokamata as tk
from fuzz import timed
from tests.support.masks import allowed, has
from tests.support.matchers import takes
from tests.support.patterns.judged import (
    LIMITS,
    Judged,
    NoVerdict,
    accepts,
    check_text,
    random_judged,
    random_texts,
)
from tests.support.vocabularies import BYTES

VOCABULARIES: list[list[bytes | None]] = [
    [*BYTES, b"ab", b"abc", "é".encode(), b"\xe6\xbc", b"", None, b"aaaaaaaa", b"a]"],
    [b"a", b"ab", b"b", b"ba", b"\xc3", b"\xa9", None, b"", b"aab", "漢".encode(), b"bbbb"],
    [b"ab", b"ba", b"aa", b"x", b"1", b" ", b"-"],
]
STEPS = 25


@dataclass
class Tally(timed.Tally):
    """What was done: constraints tried, those of them that were walked, texts that a judge decided on."""

    tried: int = 0
    walked: int = 0
    judged: int = 0


def check_step(matcher: tk.Matcher, vocabulary: tk.Vocabulary, chooser: random.Random) -> set[int]:
    """Checks what must hold at one place; returns the tokens that are allowed there."""
    live = allowed(matcher)
    before = matcher.tokens
    probes = {chooser.randrange(vocabulary.width) for _ in range(6)} | set(
        chooser.sample(sorted(live), min(4, len(live)))
    )
    for token in probes:
        assert matcher.explain(token).allowed == (token in live), (token, live)
        assert matcher.advance(token) == (token in live), (token, live)
        if token in live:
            matcher.rollback(1)
        assert matcher.tokens == before
    assert allowed(matcher) == live
    assert bool(live & set(vocabulary.stop)) == matcher.is_accepting
    assert live or matcher.is_accepting, "a dead end"
    forced = matcher.forced_text()
    text = matcher.text
    for token in chooser.sample(
        sorted(live - set(vocabulary.stop)), min(4, len(live - set(vocabulary.stop)))
    ):
        follows = vocabulary[token] or b""
        assert forced.startswith(follows) or follows.startswith(forced), (text, forced, follows)
    return live


def check_budgets(matcher: tk.Matcher, chooser: random.Random) -> None:
    """Masks with a budget hold exactly the tokens after which the shortest completion fits."""
    completion = matcher.shortest_completion()
    assert takes(matcher, completion)
    needed = len(completion)
    row = np.full_like(matcher.mask, 7)
    if needed > 1:
        refused = None
        try:
            matcher.fill_mask(row, budget=needed - 1)
        except tk.BudgetError as error:
            refused = error
        assert refused is not None, (needed, matcher.text)
        assert (refused.budget, refused.needed) == (needed - 1, needed)
        assert (row == 7).all()
    live = sorted(allowed(matcher) - set(matcher.compiled.vocabulary.stop))
    for token in chooser.sample(live, min(3, len(live))):
        after = matcher.fork()
        assert after.advance(token)
        least = 1 + len(after.shortest_completion())
        for budget in {max(needed, 1), max(least - 1, needed, 1), least, least + 1}:
            matcher.fill_mask(row, budget=budget)
            assert has(row, token) == (least <= budget), (token, budget, least)
            matcher.fill_mask(row, budget=budget + 1, count_stop=True)
            assert has(row, token) == (least <= budget), (token, budget, least)


def check_batch(matchers: list[tk.Matcher], chooser: random.Random) -> None:
    """A batch is the masks of its matchers."""
    mask = matchers[0].compiled.allocate_mask(len(matchers))
    chooser.shuffle(matchers)
    tk.fill_masks(matchers, mask, threads=chooser.choice([1, 1, 2]))
    for row, matcher in zip(mask, matchers, strict=True):
        assert np.array_equal(row, matcher.mask)


def walk(judged: Judged, chooser: random.Random) -> bool:
    """One random text in a random vocabulary; whether a judge decided on it."""
    tokens = chooser.choice(VOCABULARIES)
    vocabulary = tk.Vocabulary.load(
        [*tokens, None, None], stop=[len(tokens), len(tokens) + 1], width=len(tokens) + 5
    )
    matcher = judged.constraint.compile(vocabulary, limits=LIMITS).matcher()
    met = []
    for step in range(STEPS):
        live = check_step(matcher, vocabulary, chooser)
        met.append(matcher.fork())
        if chooser.random() < 2 / (step + 2):
            check_budgets(matcher, chooser)
        if matcher.is_finished:
            break
        text_tokens = sorted(live - set(vocabulary.stop))
        assert matcher.advance(chooser.choice(text_tokens))
    check_batch(met, chooser)
    return matcher.is_accepting and check_text(judged, matcher.text.decode(), accepted=True)


def check_texts(judged: Judged, chooser: random.Random) -> int:
    """Short random texts, accepted or not; on how many of them a judge decided."""
    decided = 0
    for text in random_texts(chooser, 6):
        try:
            decided += check_text(judged, text, accepts(judged.constraint, text))
        except NoVerdict:
            break
    return decided


def trial(chooser: random.Random, tally: Tally, met: list[tk.Constraint]) -> None:
    """One constraint, in every way."""
    judged = random_judged(chooser, chooser.choice([0, 0, 0, 1, 2]))
    met.append(judged.constraint)
    expression = judged.constraint._expression
    if not (expression.sees_edges or expression.control_tokens):
        tally.judged += check_texts(judged, chooser)
    tally.judged += walk(judged, chooser)
    tally.walked += 1


def run(seconds: float, seed: int) -> Tally:
    """Fuzzes for so long; returns what was done."""
    chooser = random.Random(seed)
    tally = Tally()
    for turn in timed.turns(seconds):
        tally.tried = turn
        met: list[tk.Constraint] = []
        with timed.naming(f"seed {seed}, constraint {turn}", met):
            try:
                trial(chooser, tally, met)
            except tk.TokamataError as error:
                if not str(error):
                    raise
    return tally


if __name__ == "__main__":
    timed.main(__doc__, run)
