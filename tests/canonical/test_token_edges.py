"""Token edges under canonical tokenization: ``TEXT_TOKEN`` and ``PARAGRAPH_TOKEN``, against all texts.

The judge has two parts, and neither is the engine: the tokenizer's own program writes the one token sequence
of each text, and ``re`` decides whether the sequence is one of the pattern, on a spelling that shows where
tokens begin and end (``|a|ab|``).
"""

from __future__ import annotations

import os
import random
import re

import pytest

import tokamata as tk
from tests.support.masks import bits
from tests.support.texts import all_texts
from tests.support.tokenizers.exhaustive_cases import LONGEST, Tokens, at
from tests.support.tokenizers.random_tokenizers import random_tokenizer

_CASES = int(os.environ.get("TOKAMATA_CASES", "16"))
_PLACES = int(os.environ.get("TOKAMATA_PLACES", "30"))  # of one pattern

# A token in that spelling, from bar to bar; and characters, whose bytes any tokens may spell.
T = r"\|[^|]+(?=\|)"
P = r"\|[^|\n\r]+(?=\|)"
A, B, AB = r"\|?a", r"\|?b", r"(?:\|?[ab])"
ANY = r"(?:\|?[\x00-\x7b\x7d-\x7f]|\|?[\xc2-\xdf]\|?[\x80-\xbf]|\|?[\xe0-\xef](?:\|?[\x80-\xbf]){2})"
PATTERNS = {
    "(?P<TEXT_TOKEN>{2})": f"{T}{T}",
    "(?P<TEXT_TOKEN>+)": f"(?:{T})+",
    "(?P<TEXT_TOKEN>{1,3})b": f"(?:{T}){{1,3}}{B}",
    "a(?P<TEXT_TOKEN>)": f"{A}{T}",
    "a(?P<TEXT_TOKEN>)b": f"{A}{T}{B}",
    "(?P<PARAGRAPH_TOKEN>+)": f"(?:{P})+",
    "(?P<PARAGRAPH_TOKEN>)\n(?P<PARAGRAPH_TOKEN>*)": f"{P}\\|?\n(?:{P})*",
    "(?s:.)*(?P<TEXT_TOKEN>)a": f"{ANY}*{T}{A}",
    "(?:(?P<TEXT_TOKEN>)b)*": f"(?:{T}{B})*",
    "[ab]{1,2}(?P<TEXT_TOKEN>)[ab]?": f"{AB}{{1,2}}{T}{AB}?",
    "ab|(?P<TEXT_TOKEN>)b|(?P<TEXT_TOKEN>{3})": f"{A}{B}|{T}{B}|(?:{T}){{3}}",
    "(?s:.){0,2}(?P<TEXT_TOKEN>{2,})": f"{ANY}{{0,2}}(?:{T}){{2,}}",
}


class Case:
    """A tokenizer, a pattern with edges, and all sequences that are canonical for one of its texts."""

    def __init__(
        self, seed: int, pattern: str, texts: dict[Tokens, str], letters: str, vocabulary: tk.Vocabulary
    ):
        self.vocabulary = vocabulary
        self.name = f"{seed}: {pattern!r}"
        # Finite over this alphabet.
        self.constraint = tk.regex(f"(?=[{letters}]{{0,{LONGEST}}}\\Z)(?:{pattern})")
        judge = re.compile(rf"(?:{PATTERNS[pattern]})\|?", re.DOTALL)
        self.sequences = {tokens for tokens, written in texts.items() if judge.fullmatch(written)}
        self.following: dict[Tokens, set[int]] = {}
        for sequence in self.sequences:
            for size in range(len(sequence)):
                self.following.setdefault(sequence[:size], set()).add(sequence[size])
            self.following.setdefault(sequence, set())

    def compiled(self) -> tk.CompiledConstraint | None:
        """``None`` where nothing is canonical."""
        try:
            compiled = self.constraint.compile(self.vocabulary, tokenization="canonical")
            compiled.matcher()
        except (tk.NoncanonicalError, tk.EmptyConstraintError, tk.UnspellableError):
            return None
        return compiled


def written_sequences(seed: int) -> tuple[dict[Tokens, str], str, tk.Vocabulary]:
    """All canonical sequences of short texts, as ``re`` reads them; the alphabet; the vocabulary."""
    tokenizer, alphabet = random_tokenizer(seed)
    vocabulary = tk.Vocabulary.load(tokenizer, stop=())
    start = vocabulary.start_tokens() or vocabulary.tokens
    found = {}
    for text in all_texts(alphabet, LONGEST):
        tokens = tokenizer.encode(text, add_special_tokens=False).ids
        if tokenizer.decode(tokens, skip_special_tokens=False) != text:
            continue
        if any(vocabulary[token] is None for token in tokens):
            continue
        pieces = [(vocabulary.tokens if place else start)[token] or b"" for place, token in enumerate(tokens)]
        # A first token of which the decoder leaves nothing is no token of the text.
        found[tuple(tokens)] = "|" + "".join(piece.decode("latin-1") + "|" for piece in pieces if piece)
    return found, "".join(map(re.escape, alphabet)), vocabulary


def cases(seed: int) -> list[Case]:
    texts, letters, vocabulary = written_sequences(seed)
    return [Case(seed, pattern, texts, letters, vocabulary) for pattern in PATTERNS]


@pytest.mark.parametrize("seed", range(_CASES))
def test_every_mask(seed: int) -> None:
    draw = random.Random(seed)
    for case in cases(seed):
        compiled = case.compiled()
        assert (compiled is not None) == bool(case.sequences), case.name
        if compiled is None:
            continue
        start = compiled.matcher()
        # In no order: what one place has left in the memos changes no answer of another.
        for place in draw.sample(sorted(case.following), min(len(case.following), _PLACES)):
            following = case.following[place]
            matcher = at(start, place)
            assert bits(matcher.mask) == following, (case.name, place)
            assert matcher.is_accepting == (place in case.sequences), (case.name, place)
            for token in {*following, *draw.sample(range(len(case.vocabulary)), 8)}:
                allowed = token in following
                assert matcher.explain(token).allowed == allowed, (case.name, place, token)
                assert matcher.advance(token) == allowed, (case.name, place, token)
                if allowed:
                    matcher.rollback(1)
