"""From pattern text to mask bits, against `re` and brute force.

The patterns drawn here match finitely many texts over three code points, so that the language can
be written down with ``re.fullmatch``, and "this token may come next" can be decided by definition:
some text of the language continues so far plus token, and the rest of it is a sequence of tokens.
"""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

import tokamata as tk
from tests.support.masks import allowed
from tests.support.patterns.finite_patterns import TEXTS, finite_patterns, tokens


class Language:
    """The texts of a pattern in bytes, and what a vocabulary makes of them."""

    def __init__(self, pattern: str, vocabulary: list[bytes | None]) -> None:
        self.texts = [text.encode() for text in TEXTS if re.fullmatch(pattern, text)]
        self.pieces = {token for token in vocabulary if token}

    def can_be_spelled(self, rest: bytes) -> bool:
        reached = {0}
        for end in range(1, len(rest) + 1):
            if any(rest[begin:end] in self.pieces for begin in reached if begin < end):
                reached.add(end)
        return len(rest) in reached

    def lives(self, prefix: bytes) -> bool:
        return any(t.startswith(prefix) and self.can_be_spelled(t[len(prefix) :]) for t in self.texts)

    def forced(self, prefix: bytes) -> bytes:
        rests = [t[len(prefix) :] for t in self.texts if t.startswith(prefix)]
        rests = [rest for rest in rests if self.can_be_spelled(rest)]
        low, high = min(rests), max(rests)
        same = next(
            (i for i, (x, y) in enumerate(zip(low, high, strict=False)) if x != y),
            min(len(low), len(high)),
        )
        return low[:same]


@settings(max_examples=400)
@given(finite_patterns(), st.lists(tokens, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_masks_are_what_brute_force_says(
    drawn: tuple[str, int], texts: list[bytes | None], random: object
) -> None:
    pattern, _ = drawn
    vocabulary = tk.Vocabulary.load([*texts, None], stop=len(texts))
    language = Language(pattern, texts)
    constraint = tk.regex(pattern)
    if not language.lives(b""):
        try:
            constraint.compile(vocabulary)
        except tk.UnspellableError:
            return
        raise AssertionError(f"{pattern!r} cannot be spelled by {texts}, and was compiled")
    matcher = constraint.compile(vocabulary).matcher()
    while True:
        expected = {i for i, token in enumerate(texts) if token and language.lives(matcher.text + token)}
        accepting = matcher.text in language.texts
        assert matcher.is_accepting == accepting
        assert allowed(matcher) == expected | ({len(texts)} if accepting else set())
        assert matcher.is_finished == (accepting and not expected)
        assert matcher.forced_text() == language.forced(matcher.text)
        for token in range(len(texts)):
            assert matcher.explain(token).allowed == (token in expected)
            assert matcher.fork().advance(token) == (token in expected)
        if not expected:
            return
        assert matcher.advance(random.choice(sorted(expected)))  # type: ignore[attr-defined]
