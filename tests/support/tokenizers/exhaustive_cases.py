"""Finite patterns under canonical tokenization of random tokenizers, with all of their token sequences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import tokamata as tk
from tests.support.texts import all_texts
from tests.support.tokenizers.random_tokenizers import PATTERNS, random_tokenizer
from tests.support.tokenizers.tokenizer_families import of_family

LONGEST = 5

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


def cases(seed: int, family: str | None = None) -> list[Case]:
    """Patterns for a random tokenizer, of any family if none is named."""
    return cases_of(*(random_tokenizer(seed) if family is None else of_family(family, seed)))


def cases_of(tokenizer: Any, alphabet: str) -> list[Case]:
    """Patterns for a tokenizer, over some characters."""
    vocabulary = tk.Vocabulary.load(tokenizer, stop=())
    letters = "".join(map(re.escape, alphabet))
    found = []
    for pattern in PATTERNS:
        # Finite over this alphabet: other characters are left out of what a text may hold.
        constraint = tk.regex(f"(?=[{letters}]{{0,{LONGEST}}}\\Z)(?:{pattern})")
        sequences = frozenset(_sequences(tokenizer, vocabulary, alphabet, pattern))
        found.append(Case(vocabulary, constraint, sequences))
    return found


def _sequences(tokenizer: Any, vocabulary: tk.Vocabulary, alphabet: str, pattern: str) -> set[Tokens]:
    compiled = re.compile(pattern)
    found = set()
    for text in filter(compiled.fullmatch, all_texts(alphabet, LONGEST)):
        tokens = tokenizer.encode(text, add_special_tokens=False).ids
        again = tokenizer.decode(tokens, skip_special_tokens=False)
        # A decoder may drop a space at the end, which the tokenizer then does not need.
        comes_back = again == text or tokenizer.encode(again, add_special_tokens=False).ids == tokens
        if comes_back and spelled_by(vocabulary, tokens) == text:
            found.add(tuple(tokens))
    return found


def spelled_by(vocabulary: tk.Vocabulary, tokens: Sequence[int]) -> str | None:
    """The text of tokens; ``None`` if one of them is a control token, or they are no text.

    It is what the tokenizer decodes them to, except for a space at the end of a text that a decoder drops.
    """
    first = vocabulary.start_tokens() or vocabulary.tokens
    pieces = [(first if place == 0 else vocabulary.tokens)[token] for place, token in enumerate(tokens)]
    if None in pieces:
        return None
    try:
        return b"".join(piece for piece in pieces if piece is not None).decode()
    except UnicodeDecodeError:
        return None


def at(start: tk.Matcher, place: Tokens) -> tk.Matcher:
    matcher = start.fork()
    assert all(map(matcher.advance, place)), place
    return matcher
