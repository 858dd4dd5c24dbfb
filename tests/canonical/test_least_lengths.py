"""A least number of tokens under canonical tokenization, beside budgets and token edges, against all texts.

The judge is the list of all canonical sequences of a finite pattern (``exhaustive_cases.py``): a mask is what
follows in those that are long enough, and short enough for the budget.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterable

import pytest

import tokamata as tk
from tests.canonical.test_token_edges import cases as cases_with_edges
from tests.support.masks import bits
from tests.support.tokenizers.exhaustive_cases import LONGEST, Tokens, at, cases

_CASES = int(os.environ.get("TOKAMATA_CASES", "24"))


def check(
    compiled: tk.CompiledConstraint, sequences: Iterable[Tokens], name: object, draw: random.Random
) -> None:
    """All places and budgets for one least number of tokens."""
    least = draw.randrange(1, LONGEST + 2)
    long = [sequence for sequence in sequences if len(sequence) >= least]
    if not long:
        with pytest.raises(tk.LengthError):
            compiled.matcher(min_tokens=least)
        return
    start = compiled.matcher(min_tokens=least)
    row = compiled.allocate_mask()[0]
    places = {sequence[:size] for sequence in long for size in range(len(sequence) + 1)}
    for place in draw.sample(sorted(places), min(len(places), 40)):
        matcher = at(start, place)
        rests = [sequence[len(place) :] for sequence in long if sequence[: len(place)] == place]
        following = {rest[0] for rest in rests if rest}
        assert bits(matcher.mask) == following, (name, least, place)
        assert matcher.is_accepting == (() in rests), (name, least, place)
        completion = tuple(matcher.shortest_completion())
        assert completion in rests, (name, least, place)
        for budget in range(1, LONGEST + 2):
            fits = {rest[0] for rest in rests if rest and len(rest) <= budget}
            if not fits and () not in rests:
                with pytest.raises(tk.BudgetError):
                    matcher.fill_mask(row, budget)
            else:
                matcher.fill_mask(row, budget)
                assert bits(row) == fits, (name, least, place, budget)
        tokens = range(len(compiled.vocabulary))
        for token in {*following, *draw.sample(tokens, min(len(tokens), 20))}:
            assert matcher.explain(token).allowed == (token in following), (name, least, place, token)
            assert matcher.validate([token]) == (token in following), (name, least, place, token)
            assert matcher.advance(token) == (token in following), (name, least, place, token)
            if token in following:
                matcher.rollback(1)


@pytest.mark.parametrize("seed", range(_CASES))
def test_every_mask(seed: int) -> None:
    draw = random.Random(seed)
    for case in cases(seed):
        start = case.matcher()
        if start is not None:
            check(start.compiled, case.sequences, (seed, case.constraint), draw)


@pytest.mark.parametrize("seed", range(5000, 5000 + _CASES // 3))
def test_every_mask_with_token_edges(seed: int) -> None:
    draw = random.Random(seed)
    for case in cases_with_edges(seed):
        compiled = case.compiled()
        if compiled is not None:
            check(compiled, case.sequences, case.name, draw)
