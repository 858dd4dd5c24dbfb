"""Throws patterns and small tokenizers at canonical constraints; judged by encoding every short text.

    python -m fuzz.fuzz_canonical --seconds 3600 --seed 1

Tokenizers are random ones of every kind and family (``tests/support/tokenizers/``), and patterns
are made of the characters of their texts.  Cut down to short texts, what is canonical can be written down:
the encodings of all texts that ``re`` accepts, where they come back as they were.  Masks, ends, explanations,
budgets and forced tokens are held against that.  As they are, without a bound, patterns are walked: what a
walk ends in must be accepted and encode to itself, and the encodings of longer texts must be let through.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import tokamata as tk
from fuzz import timed
from tests.support.masks import bits
from tests.support.matchers import step, takes
from tests.support.patterns.judged import NoVerdict, by_others
from tests.support.texts import all_texts
from tests.support.tokenizers.exhaustive_cases import spelled_by
from tests.support.tokenizers.random_tokenizers import random_tokenizer
from tests.support.tokenizers.tokenizer_families import FAMILIES, of_family

LIMITS = tk.Limits(states=50_000, memory_bytes=1 << 26, seconds=10.0, depth=100)
LONGEST = 4  # characters of the texts that are all encoded
PLACES = 25  # at most so many beginnings of each case are looked at
NOTHING = (tk.NoncanonicalError, tk.EmptyConstraintError, tk.UnspellableError)
LEFT_OUT = (tk.LimitExceeded, tk.UnsupportedPatternError, NoVerdict, *NOTHING)

Tokens = tuple[int, ...]
Accepts = Callable[[str], bool]


@dataclass
class Tally(timed.Tally):
    """What was done: tokenizers refused, patterns tried, masks held against all texts, walks, more texts."""

    refused: int = 0
    tried: int = 0
    masks: int = 0
    walks: int = 0
    texts: int = 0


class Judge:
    """A tokenizer's own program."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        family = random.Random(seed).choice([None, *FAMILIES])
        self.tokenizer, self.alphabet = random_tokenizer(seed) if family is None else of_family(family, seed)
        self.vocabulary = tk.Vocabulary.load(self.tokenizer, stop=())

    def canonical(self, text: str) -> Tokens | None:
        """The tokens of a text; ``None`` where they do not come back as it."""
        tokens: list[int] = self.tokenizer.encode(text, add_special_tokens=False).ids
        return tuple(tokens) if spelled_by(self.vocabulary, tokens) == text else None

    def all_texts(self) -> list[tuple[str, Tokens]]:
        """All short texts that are canonical in some tokens, with them."""
        texts = all_texts(self.alphabet, LONGEST)
        return [(text, tokens) for text in texts if (tokens := self.canonical(text)) is not None]


def random_pattern(draw: random.Random, alphabet: str, depth: int) -> str:
    """A regular expression over some characters."""

    def inner() -> str:
        return random_pattern(draw, alphabet, depth - 1)

    some = "".join(re.escape(c) for c in draw.sample(alphabet, draw.randint(1, len(alphabet))))
    leaf = draw.choice(
        [
            re.escape(draw.choice(alphabet)),
            f"[{some}]",
            f"[^{some}]",
            "(?s:.)",
            r"\w",
            r"\s",
            re.escape("".join(draw.choices(alphabet, k=3))),
        ]
    )
    if depth == 0:
        return leaf
    return draw.choice(
        [
            lambda: leaf,
            lambda: inner() + inner(),
            lambda: inner() + inner(),
            lambda: f"(?:{inner()}|{inner()})",
            lambda: f"(?:{inner()})" + draw.choice(["*", "*", "+", "?", "{1,2}", "{2}", "{0,3}", "{2,}"]),
            lambda: f"(?:{inner()})" + draw.choice(["*", "*", "+", "?", "{1,2}", "{2}", "{0,3}", "{2,}"]),
            lambda: f"(?{draw.choice('=!')}{inner()}){inner()}",
            lambda: f"{inner()}(?<{draw.choice('=!')}{random_pattern(draw, alphabet, 0)}){inner()}",
            lambda: rf"{inner()}\b{inner()}",
        ]
    )()


def random_constraint(draw: random.Random, alphabet: str) -> tuple[tk.Constraint, Accepts]:
    """A constraint, and what says which texts it accepts; that may raise :class:`NoVerdict`."""
    pattern = random_pattern(draw, alphabet, draw.randint(1, 4))
    constraint, accepts = tk.regex(pattern), by_others(pattern, 0)
    assert accepts is not None, pattern

    if draw.random() < 0.75:
        return constraint, accepts
    other, also = random_constraint(draw, alphabet)
    operator = draw.randrange(3)
    both = (constraint & other, constraint | other, constraint - other)[operator]
    return both, (
        lambda text: accepts(text) and also(text),
        lambda text: accepts(text) or also(text),
        lambda text: accepts(text) and not also(text),
    )[operator]


def check_place(matcher: tk.Matcher, rests: list[Tokens], draw: random.Random) -> None:
    """What must hold where exactly ``rests`` may be written."""
    following = {rest[0] for rest in rests if rest}
    assert bits(matcher.mask) == following, (matcher.tokens, bits(matcher.mask), following)
    assert matcher.is_accepting == (() in rests)
    for token in draw.choices(range(len(matcher.compiled.vocabulary)), k=4):
        assert matcher.explain(token).allowed == (token in following), token
        assert matcher.advance(token) == (token in following), token
        if token in following:
            matcher.rollback(1)
    shortest = min(map(len, rests))
    assert len(matcher.shortest_completion()) == shortest
    forced = tuple(matcher.forced_tokens())
    assert all(rest[: len(forced)] == forced for rest in rests)
    row = matcher.compiled.allocate_mask()[0]
    budget = draw.randint(max(shortest, 1), LONGEST + 1) if shortest <= LONGEST else shortest
    matcher.fill_mask(row, budget)
    assert bits(row) == {rest[0] for rest in rests if rest and len(rest) <= budget}, budget


def check_all_texts(
    judge: Judge,
    texts: list[tuple[str, Tokens]],
    constraint: tk.Constraint,
    accepts: Accepts,
    draw: random.Random,
) -> int:
    """Holds a constraint, cut down to short texts, against all of them; how many masks were looked at."""
    letters = "".join(map(re.escape, judge.alphabet))
    short = constraint & tk.regex(f"[{letters}]{{0,{LONGEST}}}")
    sequences = [tokens for text, tokens in texts if accepts(text)]
    try:
        start = short.compile(judge.vocabulary, tokenization="canonical", limits=LIMITS).matcher()
    except NOTHING:
        assert not sequences, sequences[0]
        return 0
    assert sequences
    rests: dict[Tokens, list[Tokens]] = {}
    for sequence in sequences:
        for size in range(len(sequence) + 1):
            rests.setdefault(sequence[:size], []).append(sequence[size:])
    places = draw.sample(sorted(rests), min(PLACES, len(rests)))
    for place in places:
        matcher = start.fork()
        assert all(map(matcher.advance, place)), place
        check_place(matcher, rests[place], draw)
    return len(places)


def check_walk(judge: Judge, matcher: tk.Matcher, accepts: Accepts, draw: random.Random) -> None:
    """A random walk that is ended as soon as can be: its text is accepted, and encodes to it."""
    for _ in range(draw.randint(1, 8)):
        if not step(matcher, draw):
            break
    for token in matcher.shortest_completion():
        assert matcher.advance(token)
    assert matcher.is_accepting
    tokens = list(matcher.tokens)
    text = spelled_by(judge.vocabulary, tokens)
    if any(judge.vocabulary[token] is None for token in tokens):
        return  # a control token, which begins a text anew
    assert text is not None, tokens
    if any(unicodedata.category(character) == "Cn" for character in text):
        return  # Python's tables may be older than the engine's
    assert accepts(text), (tokens, text)
    assert judge.canonical(text) == tuple(tokens), (tokens, text, judge.canonical(text))


def check_longer_text(judge: Judge, matcher: tk.Matcher, accepts: Accepts, draw: random.Random) -> bool:
    """A random text, if it is accepted and canonical: it is let through."""
    text = "".join(draw.choices(judge.alphabet, k=draw.randint(LONGEST, 12)))
    try:
        tokens = judge.canonical(text) if accepts(text) else None
    except NoVerdict:
        return False
    if tokens is None:
        return False
    assert takes(matcher, tokens), (text, tokens)
    return True


def try_one(judge: Judge, texts: list[tuple[str, Tokens]], draw: random.Random, tally: Tally) -> None:
    """One constraint, in every way."""
    tally.tried += 1
    met: list[tk.Constraint] = []
    with timed.naming(f"the tokenizer of seed {judge.seed}", met), suppress(*LEFT_OUT):
        constraint, accepts = random_constraint(draw, judge.alphabet)
        met.append(constraint)
        tally.masks += check_all_texts(judge, texts, constraint, accepts, draw)
        start = constraint.compile(judge.vocabulary, tokenization="canonical", limits=LIMITS).matcher()
        for _ in range(3):
            check_walk(judge, start.fork(), accepts, draw)
            tally.walks += 1
        tally.texts += sum(check_longer_text(judge, start.fork(), accepts, draw) for _ in range(10))


def run(seconds: float, seed: int) -> Tally:
    """Fuzzes for so long; returns what was done."""
    draw = random.Random(seed)
    tally = Tally()
    for _ in timed.turns(seconds):
        judge = Judge(draw.randrange(1 << 32))
        try:
            tk.regex("a").compile(judge.vocabulary, tokenization="canonical")
        except tk.UnsupportedTokenizerError:
            tally.refused += 1
            continue
        except NOTHING:
            pass
        texts = judge.all_texts()
        for _ in range(10):
            try_one(judge, texts, draw, tally)
    return tally


if __name__ == "__main__":
    timed.main(__doc__, run)
