"""Everything that a matcher says, for small tokenizers and finite patterns, against all their texts.

For a finite pattern all canonical sequences can be written down: encode each of its texts, and keep what
decodes to that text.  A mask is then exactly what follows in one of them, a budget bounds their
lengths, and what is forced is what they have in common.
"""

from __future__ import annotations

import itertools
import os
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pytest
from random_tokenizers import PATTERNS, random_tokenizer

import tokamata as tk

_CASES = int(os.environ.get("TOKAMATA_CASES", "36"))
_LONGEST = 5

Tokens = tuple[int, ...]


@dataclass(frozen=True)
class Case:
    """A tokenizer, a pattern, and all sequences that are canonical for one of its texts."""

    vocabulary: tk.Vocabulary
    constraint: tk.Constraint
    sequences: frozenset[Tokens]

    @cached_property
    def following(self) -> dict[Tokens, set[int]]:
        """For each beginning of a sequence the tokens that may come next."""
        following: dict[Tokens, set[int]] = {(): set()}
        for sequence in self.sequences:
            for size in range(len(sequence) + 1):
                next_tokens = following.setdefault(sequence[:size], set())
                if size < len(sequence):
                    next_tokens.add(sequence[size])
        return following

    def rests(self, place: Tokens) -> list[Tokens]:
        """What may be written behind a beginning, as a whole."""
        return [sequence[len(place) :] for sequence in self.sequences if sequence[: len(place)] == place]

    def matcher(self) -> tk.Matcher | None:
        """A matcher at the start; ``None`` where nothing is canonical."""
        try:
            return self.constraint.compile(self.vocabulary, tokenization="canonical").matcher()
        except (tk.NoncanonicalError, tk.EmptyConstraintError, tk.UnspellableError):
            return None


def cases(seed: int) -> list[Case]:
    tokenizer, alphabet = random_tokenizer(seed)
    vocabulary = tk.Vocabulary.load(tokenizer, stop=())
    letters = "".join(map(re.escape, alphabet))
    found = []
    for pattern in PATTERNS:
        # Finite over this alphabet: other characters are left out of what a text may hold.
        constraint = tk.regex(f"(?=[{letters}]{{0,{_LONGEST}}}\\Z)(?:{pattern})")
        sequences = frozenset(_sequences(tokenizer, vocabulary, alphabet, pattern))
        found.append(Case(vocabulary, constraint, sequences))
    return found


def _sequences(tokenizer: Any, vocabulary: tk.Vocabulary, alphabet: str, pattern: str) -> set[Tokens]:
    compiled = re.compile(pattern)
    found = set()
    for size in range(_LONGEST + 1):
        for text in map("".join, itertools.product(alphabet, repeat=size)):
            if not compiled.fullmatch(text):
                continue
            tokens = tokenizer.encode(text, add_special_tokens=False).ids
            again = tokenizer.decode(tokens, skip_special_tokens=False)
            if again == text and all(vocabulary[token] is not None for token in tokens):
                found.add(tuple(tokens))
    return found


def bits(mask: Any) -> set[int]:
    return {token for token in range(32 * len(mask)) if mask[token // 32] >> (token % 32) & 1}


def at(start: tk.Matcher, place: Tokens) -> tk.Matcher:
    matcher = start.fork()
    assert all(map(matcher.advance, place)), place
    return matcher


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
            for budget in range(1, _LONGEST + 2):
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
