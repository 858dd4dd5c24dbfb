"""Lattices with a constraint over tokens, against those of all segmentations whose tokens are accepted."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter

import numpy as np
import pytest

import tokamata as tk
from tests.support.tokenizers.unigram_models import (
    NORMAL,
    UNKNOWN,
    random_hugging_face,
    random_sentence_piece,
    random_text,
)
from tokamata.automata import EPSILON, Acceptor
from tokamata.errors import ArgumentError, LimitExceeded, TokenIdError, UnspellableError
from tokamata.resources.limits import Limits
from tokamata.tokenization.lattice import Lattice, Segmentation, UnigramModel

SMALL = UnigramModel.hugging_face(
    [("<unk>", -9.0), ("a", -1.0), ("b", -1.25), ("ab", -2.0), ("ba", -2.25), ("aba", -3.5)], 0
)
A, B, AB, BA, ABA = range(1, 6)


def random_automaton(draw: random.Random, tokens: list[int]) -> Acceptor:
    """A random automaton, mostly not deterministic, that accepts about a half of short sequences."""
    states = draw.randrange(1, 5)
    arcs = [
        (draw.randrange(states), draw.choice([*tokens, EPSILON]), draw.randrange(states))
        for _ in range(states * len(tokens) * 2)
    ]
    return Acceptor.from_transitions(
        arcs, draw.sample(range(states), k=draw.randrange(1, states + 1)), 0, states
    )


def test_against_accepted_segmentations() -> None:
    draw = random.Random(1)
    accepted = refused = ambiguous = 0
    while accepted < 120:
        judged = draw.choice([random_hugging_face, random_sentence_piece])(draw)
        text = random_text(draw, judged, 10)
        lattice = Lattice(judged.model, text)
        if lattice.log_partition(0.0) > math.log(150):
            continue
        everything = list(lattice.n_best())
        tokens = sorted({token for one in everything for token in one.ids})
        automaton = random_automaton(draw, tokens)
        kept = [one for one in everything if automaton.accepts(one.ids)]
        if not kept:
            refused += 1
            with pytest.raises(UnspellableError):
                lattice.constrained(automaton)
            continue
        accepted += 1
        ambiguous += not automaton.is_deterministic and len(kept) > 1
        both = lattice.constrained(automaton)
        assert list(both.n_best()) == kept, (judged.made_of, text, automaton.rows)
        assert both.best() == kept[0]
        by_tokens = [one for one in lattice.n_best("lexicographic") if automaton.accepts(one.ids)]
        assert list(both.n_best("lexicographic")) == by_tokens
        check_sums(both, kept)
    assert refused > 10
    assert ambiguous > 30


def check_sums(lattice: Lattice, kept: list[Segmentation]) -> None:
    """A segmentation counts once, however many runs the automaton has for it."""
    weights = np.exp([one.score - max(one.score for one in kept) for one in kept])
    expected: Counter[tuple[int, int, int]] = Counter()
    for one, weight in zip(kept, weights / weights.sum(), strict=True):
        for arc in one.arcs:
            expected[arc[:3]] += weight
    found: Counter[tuple[int, int, int]] = Counter()
    for start, end, token, marginal in zip(
        lattice.starts, lattice.ends, lattice.tokens, lattice.marginals(), strict=True
    ):
        found[int(start), int(end), int(token)] += float(marginal)
    assert math.exp(lattice.log_partition(0.0)) == pytest.approx(len(kept))
    for place in expected.keys() | found.keys():
        assert found[place] == pytest.approx(expected[place], abs=1e-9)
    drawn = list(lattice.distinct_samples(np.random.default_rng(1)))
    assert sorted(one.arcs for one in drawn) == sorted(one.arcs for one in kept)


def test_samples_of_an_ambiguous_automaton() -> None:
    """Two runs accept ``a b a``, and one ``ab a``: a product with the runs would draw the first too often."""
    automaton = Acceptor.from_transitions(
        [(0, A, 1), (0, A, 2), (1, B, 3), (2, B, 3), (3, A, 4), (0, AB, 3)], [4], 0, 5
    )
    assert not automaton.is_deterministic
    lattice = Lattice(SMALL, "aba").constrained(automaton)
    share = 1 / (1 + math.exp(-2.0 + 2.25))
    assert lattice.n_best().__next__().ids == (AB, A)
    drawn = Counter(one.ids for one in itertools.islice(lattice.samples(np.random.default_rng(2)), 4000))
    assert drawn[A, B, A] / 4000 == pytest.approx(share, abs=4 * math.sqrt(0.25 / 4000))
    assert drawn.keys() == {(A, B, A), (AB, A)}


def test_a_compiled_constraint() -> None:
    """The segmentations of a text in at least three pieces that all begin with a."""
    vocabulary = tk.Vocabulary.load([None, b"a", b"b", b"ab", b"ba", b"aba"], stop=[])
    compiled = tk.regex("(?P<TEXT_TOKEN>)(a|b)(a|b)(a|b|ab)?").compile(vocabulary)
    lattice = Lattice(SMALL, "abab").constrained(compiled.token_automaton())
    accepted = [one for one in Lattice(SMALL, "abab").n_best() if compiled.token_automaton().accepts(one.ids)]
    assert list(lattice.n_best()) == accepted
    assert accepted


def test_unknown_characters_are_read_as_the_host_writes_them() -> None:
    """One token for two unknown characters, by both hosts; with byte fallback the bytes."""
    pieces = [("<unk>", 0.0, UNKNOWN), ("a", -1.0, NORMAL)]
    for model in (
        UnigramModel.sentence_piece(pieces),
        UnigramModel.hugging_face([("<unk>", 0.0), ("a", -1.0)], 0),
    ):
        assert Lattice(model, "xya").constrained(Acceptor.from_strings([[0, 1]])).best().ids == (0, 1)
        assert Lattice(model, "axy").constrained(Acceptor.from_strings([[1, 0]])).best().ids == (1, 0)
        with pytest.raises(UnspellableError, match="accepts no segmentation of 'xya'"):
            Lattice(model, "xya").constrained(Acceptor.from_strings([[0, 0, 1]]))
    by_bytes = [(f"<0x{byte:02X}>", -1.0) for byte in range(256)]
    model = UnigramModel.hugging_face([("<unk>", 0.0), ("a", -1.0), *by_bytes], 0, True)
    ids = Lattice(model, "é漢a").best().ids
    assert len(ids) == 6
    assert Lattice(model, "é漢a").constrained(Acceptor.from_strings([ids])).best().ids == ids


@pytest.mark.parametrize("byte_fallback", [False, True])
def test_joined_unknown_characters_that_are_a_piece(byte_fallback: bool) -> None:
    """Hugging Face looks the joined text up, so a row is read when it ends, or is longer than all pieces."""
    by_bytes = [(f"<0x{byte:02X}>", -1.0) for byte in range(256)] * byte_fallback
    vocab = [("<unk>", -1.0), ("a", -1.0), ("xy", -1.0), ("xyx", -2.0), ("ya", -1.0), *by_bytes]
    model = UnigramModel.hugging_face(vocab, 0, byte_fallback)
    assert model.longest_joined == (6 if byte_fallback else 3)  # <0x41>, in letters
    for text in ("xyxya", "axyxyxxya", "x<unk>y", "<unk>", "xya<unk>", "y<unk><unk>xy"):
        lattice = Lattice(model, text)
        everything = list(lattice.n_best())
        assert list(lattice.constrained(Acceptor.universal(range(len(vocab)))).n_best()) == everything
        for one in everything:
            same = [other for other in everything if other.ids == one.ids]
            assert list(lattice.constrained(Acceptor.from_strings([one.ids])).n_best()) == same


def test_errors_and_limits() -> None:
    lattice = Lattice(SMALL, "abab")
    for wrong in (5, None, [AB, AB], tk.regex("a")):
        with pytest.raises(ArgumentError):
            lattice.constrained(wrong)  # type: ignore[arg-type]
    narrow = tk.regex("a*").compile(tk.Vocabulary.load([None, b"a", b"b"], stop=[])).token_automaton()
    with pytest.raises(TokenIdError):
        lattice.constrained(narrow)
    large = Lattice(SMALL, "ab" * 5000, Limits(memory_bytes=1 << 23))
    counting = Acceptor.from_transitions(
        [(state, token, (state + 1) % 50) for state in range(50) for token in range(1, 6)], [0], 0, 50
    )
    with pytest.raises(LimitExceeded):
        large.constrained(counting)
