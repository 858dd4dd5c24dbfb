"""Canonical masks of Unigram models, against the program: all short texts, and models trained here."""

from __future__ import annotations

import os
import random
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

import tokamata as tk
from tests.support.masks import bits
from tests.support.tokenizers.exhaustive_cases import Tokens, at, cases_of
from tests.support.tokenizers.small_unigrams import random_unigram
from tokamata.tokenization.pipelines.unigram_scores import NO_PIECE, scores_of

_CASES = int(os.environ.get("TOKAMATA_CASES", "24"))


def unigram(pieces: dict[str, float], **fields: Any) -> Tokenizer:
    """Words with a space before each; the pieces of a space and of unknown characters come first."""
    vocab = [("<unk>", -100.0), *({"▁": -1.0} | pieces).items()]
    tokenizer = Tokenizer(models.Unigram(vocab, 0, False))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.add_special_tokens(["<unk>"])
    return tokenizer


def anything(tokenizer: Tokenizer) -> tk.Matcher:
    vocabulary = tk.Vocabulary.load(tokenizer, stop=())
    return tk.regex("(?s:.*)").compile(vocabulary, tokenization="canonical").matcher()


@pytest.mark.parametrize("seed", range(_CASES))
def test_every_mask(seed: int) -> None:
    tokenizer, alphabet = random_unigram(seed)
    for case in cases_of(tokenizer, alphabet[-4:]):
        start = case.matcher()
        assert (start is not None) == bool(case.sequences), case.constraint
        if start is None:
            continue
        places: list[Tokens] = sorted(case.following)
        for place in random.Random(seed).sample(places, min(20, len(places))):
            following = case.following[place]
            matcher = at(start, place)
            assert bits(matcher.mask) == following, (case.constraint, place)
            assert matcher.is_accepting == (place in case.sequences), (case.constraint, place)
            for token in range(len(case.vocabulary)):
                assert matcher.advance(token) == (token in following), (case.constraint, place, token)
                if token in following:
                    matcher.rollback(1)
            assert len(matcher.shortest_completion()) == min(map(len, case.rests(place)))


EXAMPLE = {"a": -1.0, "b": -2.0, "c": -3.0, "ab": -2.0, "bc": -3.0, "cab": -4.0}  # of unigram_pieces.hpp


def after(tokenizer: Tokenizer, *pieces: str) -> dict[str, bool]:
    """Which pieces may follow a word that begins so."""
    matcher = anything(tokenizer)
    for piece in ("▁", *pieces):
        assert matcher.advance(tokenizer.token_to_id(piece)), piece
    allowed = bits(matcher.mask)
    return {piece: tokenizer.token_to_id(piece) in allowed for piece in EXAMPLE}


def test_the_worked_example() -> None:
    tokenizer = unigram(EXAMPLE)
    assert after(tokenizer, "a") == {"a": True, "b": False, "c": True, "ab": True, "bc": True, "cab": True}
    assert not after(tokenizer, "c", "a")["b"]  # cab
    assert not after(tokenizer, "c")["ab"]  # cab


def test_of_equal_sums_the_arc_that_begins_first_wins() -> None:
    tokenizer = unigram({"a": -1.0, "aa": -2.0, "ab": -2.0, "b": -1.0})
    assert tokenizer.encode("aab").tokens == ["▁", "a", "ab"]
    space, one, two, both = (tokenizer.token_to_id(name) for name in ("▁", "a", "aa", "ab"))
    matcher = anything(tokenizer)
    assert matcher.advance(space)
    assert bits(matcher.mask) >= {one, two, both}
    assert matcher.advance(one)
    assert not matcher.advance(one)  # aa
    assert matcher.advance(both)


def test_a_text_may_end_after_each_token() -> None:
    """A prefix of a best segmentation is the best one of its own text."""
    for seed in range(20):
        tokenizer, alphabet = random_unigram(seed)
        matcher = anything(tokenizer)
        draw = random.Random(seed)
        for _ in range(20):
            ids = tokenizer.encode("".join(draw.choices(alphabet, k=12))).ids
            text = tokenizer.decode(ids, skip_special_tokens=False)
            if tokenizer.encode(text).ids != ids or "<" in text:
                continue
            walked = matcher.fork()
            for token in ids:
                assert walked.advance(token)
                is_space = walked.compiled.vocabulary[token] == b" "
                assert walked.is_accepting or is_space or 0 < token < 257


def test_near_ties_are_decided_by_the_sums_of_the_program() -> None:
    """Which of two equal sums is higher depends on what is before them."""
    tokenizer = unigram({"a": -1.1, "aa": -0.7, "b": -0.3})
    start = anything(tokenizer)
    ends = set()
    for size in range(1, 60):
        ids = tokenizer.encode("b" * size + "aaa").ids
        ends.add(tuple(tokenizer.decode([token]) for token in ids[-2:]))
        matcher = start.fork()
        for place in range(size, len(ids) + 1):
            assert all(map(matcher.advance, ids[len(matcher.tokens) : place]))
            for token in range(2, 5):
                longer = [*ids[:place], token]
                assert (token in bits(matcher.mask)) == (
                    tokenizer.encode(tokenizer.decode(longer)).ids == longer
                )
    assert ends == {("aa", "a"), ("a", "aa")}


def test_rounding_decides_which_tokens_begin_a_word() -> None:
    """-0.1 and -0.7 are more than -0.8 as floats; after other tokens it may be otherwise."""
    tokenizer = unigram({"▁": -0.1, "y": -0.7, "▁y": -0.8})
    assert tokenizer.encode("y").tokens == ["▁", "y"]
    matcher = anything(tokenizer)
    assert tokenizer.token_to_id("▁y") not in bits(matcher.mask)
    assert not matcher.advance(tokenizer.token_to_id("▁y"))


def test_scores_of_float32_are_exact_as_whole_numbers() -> None:
    draw = np.random.default_rng(1)
    scores = draw.uniform(-20, -2, 1000).astype(np.float32).astype(np.float64)
    found = scores_of(np.append(scores, np.nan), float(scores.min()) - 10)
    np.testing.assert_array_equal(found.whole[:-1] / found.units, scores)
    assert not found.floats.size
    assert found.whole[-1] == NO_PIECE


def test_other_scores_keep_their_floats() -> None:
    scores = np.array([np.nan, -0.1, -2.5])
    found = scores_of(scores, -12.5)
    np.testing.assert_array_equal(found.floats, [0.0, -0.1, -2.5])
    assert abs(found.whole[1] / found.units + 0.1) < 1e-8
    with pytest.raises(tk.UnsupportedTokenizerError, match="100010, where sums round"):
        scores_of(np.array([-100000.1]), -100010.1)
