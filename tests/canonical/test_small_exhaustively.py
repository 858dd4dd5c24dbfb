"""Every mask of small tokenizers and finite patterns, against all that the tokenizer makes of their texts.

For a finite pattern all canonical sequences can be written down: encode each of its texts, and keep what
decodes to that text and encodes to itself.  A mask is then exactly what follows in one of them.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator

import pytest
from small_tokenizers import PATTERNS, random_tokenizer

import tokamata as tk

_CASES = int(os.environ.get("TOKAMATA_CASES", "150"))
_LONGEST = 5


def canonical_sequences(tokenizer: object, vocabulary: tk.Vocabulary, alphabet: str, pattern: str) -> set[tuple[int, ...]]:
    compiled = re.compile(pattern)
    found = set()
    for size in range(_LONGEST + 1):
        for characters in itertools.product(alphabet, repeat=size):
            text = "".join(characters)
            if not compiled.fullmatch(text):
                continue
            tokens = tokenizer.encode(text, add_special_tokens=False).ids  # type: ignore[attr-defined]
            again = tokenizer.decode(tokens, skip_special_tokens=False)  # type: ignore[attr-defined]
            if again == text and all(vocabulary[token] is not None for token in tokens):
                found.add(tuple(tokens))
    return found


def all_places(sequences: set[tuple[int, ...]]) -> Iterator[tuple[tuple[int, ...], set[int]]]:
    following: dict[tuple[int, ...], set[int]] = {(): set()}
    for sequence in sequences:
        for size in range(len(sequence) + 1):
            following.setdefault(sequence[:size], set())
            if size < len(sequence):
                following[sequence[:size]].add(sequence[size])
    return iter(following.items())


def allowed(matcher: tk.Matcher) -> set[int]:
    mask = matcher.mask
    return {token for token in range(32 * len(mask)) if mask[token // 32] >> (token % 32) & 1}


@pytest.mark.parametrize("seed", range(_CASES))
def test_every_mask(seed: int) -> None:
    tokenizer, alphabet = random_tokenizer(seed)
    vocabulary = tk.Vocabulary.load(tokenizer, stop=())
    # Finite over this alphabet: other characters are left out of what a text may hold.
    letters = "".join(map(re.escape, alphabet))
    for pattern in PATTERNS:
        finite = f"(?=[{letters}]{{0,{_LONGEST}}}\\Z)(?:{pattern})"
        sequences = canonical_sequences(tokenizer, vocabulary, alphabet, pattern)
        constraint = tk.regex(finite)
        try:
            compiled = constraint.compile(vocabulary, tokenization="canonical")
            start = compiled.matcher()
        except (tk.NoncanonicalError, tk.EmptyConstraintError, tk.UnspellableError):
            assert not sequences, (pattern, sequences)
            continue
        assert sequences, (pattern, "nothing is canonical")
        for place, following in all_places(sequences):
            matcher = start.fork()
            assert all(map(matcher.advance, place)), (pattern, place)
            assert allowed(matcher) == following, (pattern, place)
            assert matcher.is_accepting == (place in sequences), (pattern, place)
            for token in range(len(vocabulary)):
                assert matcher.advance(token) == (token in following), (pattern, place, token)
                if token in following:
                    matcher.rollback(1)
