"""Everything that a matcher says, for small tokenizers and finite patterns, against all their texts.

For a finite pattern all canonical sequences can be written down: encode each of its texts, and keep what
decodes to that text.  A mask is then exactly what follows in one of them, a budget bounds their
lengths, and what is forced is what they have in common.
"""

from __future__ import annotations

import itertools
import os

import pytest

import tokamata as tk
from tests.support.masks import bits
from tests.support.tokenizers.exhaustive_cases import LONGEST, Case, Tokens, at, cases

_CASES = int(os.environ.get("TOKAMATA_CASES", "24"))


@pytest.mark.parametrize("seed", range(_CASES))
def test_every_mask(seed: int) -> None:
    for case in cases(seed):
        start = case.matcher()
        assert (start is not None) == bool(case.sequences), case.constraint
        if start is None:
            continue
        explained = set(itertools.islice(case.following, 0, None, 5))  # what is said of tokens takes longest
        for place, following in case.following.items():
            matcher = at(start, place)
            assert bits(matcher.mask) == following, (case.constraint, place)
            assert matcher.is_accepting == (place in case.sequences), (case.constraint, place)
            for token in range(len(case.vocabulary)):
                if place in explained:
                    allowed = matcher.explain(token).allowed
                    assert allowed == (token in following), (case.constraint, place, token)
                assert matcher.advance(token) == (token in following), (case.constraint, place, token)
                if token in following:
                    matcher.rollback(1)


@pytest.mark.parametrize("seed", range(1000, 1000 + _CASES // 3))
def test_budgets_and_what_is_forced(seed: int) -> None:
    for case in cases(seed):
        start = case.matcher()
        for place, following in case.following.items() if start is not None else ():
            matcher = at(start, place)
            rests = case.rests(place)
            shortest = min(map(len, rests))
            assert len(matcher.shortest_completion()) == shortest
            assert tuple(matcher.shortest_completion()) in rests
            row = matcher.compiled.allocate_mask()[0]
            for budget in range(1, LONGEST + 2):
                fits = {rest[0] for rest in rests if rest and len(rest) <= budget}
                if shortest > budget:
                    with pytest.raises(tk.BudgetError) as caught:
                        matcher.fill_mask(row, budget)
                    assert caught.value.needed == shortest
                else:
                    matcher.fill_mask(row, budget)
                    assert bits(row) == fits, (case.constraint, place, budget)
            assert matcher.forced_text() == _common(case, place, rests), (case.constraint, place)
            forced = matcher.forced_tokens()
            assert all(rest[: len(forced)] == tuple(forced) for rest in rests)
            if len(following) == 1 and place not in case.sequences:
                assert forced


def _common(case: Case, place: Tokens, rests: list[Tokens]) -> bytes:
    """The longest text that all continuations begin with."""
    start = case.vocabulary.start_tokens() or case.vocabulary.tokens
    texts = []
    for rest in rests:
        pieces = [
            (start if not place and number == 0 else case.vocabulary.tokens)[token] or b""
            for number, token in enumerate(rest)
        ]
        texts.append(b"".join(pieces))
    return os.path.commonprefix(texts)  # noqa: RUF071  # character by character is what is meant


@pytest.mark.parametrize("seed", range(2000, 2000 + _CASES // 3))
def test_the_closed_form(seed: int) -> None:
    for case in cases(seed):
        start = case.matcher()
        if start is None:
            continue
        automaton = start.compiled.token_automaton()
        for sequence in case.sequences:
            assert automaton.accepts(sequence)
        for place in case.following.keys() - case.sequences:
            assert not automaton.accepts(place)
        for place, following in itertools.islice(case.following.items(), 40):
            for token in range(0, len(case.vocabulary), 7):
                assert automaton.accepts((*place, token)) == ((*place, token) in case.sequences), following
