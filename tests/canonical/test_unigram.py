"""Canonical masks of Unigram models, against the program: all short texts, and models trained here."""

from __future__ import annotations

import json
import os
import random
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

import tokamata as tk
from tests.support.masks import bits
from tests.support.tokenizers.exhaustive_cases import Tokens, at, cases_of
from tests.support.tokenizers.small_unigrams import unigram_document
from tokamata.tokenization.pipelines.exact_scores import NO_PIECE, whole_scores

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
    document, alphabet = unigram_document(random.Random(seed))
    tokenizer = Tokenizer.from_str(json.dumps(document))
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
    assert tokenizer.encode("aab").tokens == ["▁", "aa", "b"]
    matcher = anything(tokenizer)
    names = ("▁", "a", "ab", "b", "aa")
    space, one, both, last, two = (tokenizer.token_to_id(name) for name in names)
    assert matcher.advance(space) and not matcher.advance(one) and matcher.advance(two)
    assert matcher.advance(last) and not matcher.advance(both)


def test_a_text_may_end_after_each_token() -> None:
    """A prefix of a best segmentation is the best one of its own text."""
    for seed in range(20):
        document, alphabet = unigram_document(random.Random(seed))
        tokenizer = Tokenizer.from_str(json.dumps(document))
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


def test_sums_that_round_are_refused_by_name() -> None:
    """With -0.1, -0.2 and -0.3, which of two equal sums is higher depends on what is before them."""
    vocab = [("<unk>", -9.0), ("a", -0.2), ("aa", -0.1), ("b", -0.3)]
    tokenizer = Tokenizer(models.Unigram(vocab, 0, False))
    first = [tokenizer.encode("b" * size + "aaa").tokens[size:] for size in range(40)]
    assert ["aa", "a"] in first and ["a", "aa"] in first
    with pytest.raises(tk.UnsupportedTokenizerError, match=r"score -0\.\d of '.+' has so many digits that sums round"):
        anything(unigram({"a": -0.2, "aa": -0.1, "b": -0.3}))


def test_pieces_that_never_win_may_have_any_score() -> None:
    scores = np.array([np.nan, -1.0, -2.0, -50.1])
    assert whole_scores(scores, [None, "a", "b", "ab"]).tolist() == [NO_PIECE, -1, -2, NO_PIECE]
    with pytest.raises(tk.UnsupportedTokenizerError, match="'ab'"):
        whole_scores(np.array([np.nan, -1.0, -2.0, -2.9]), [None, "a", "b", "ab"])


def test_whole_scores_keep_every_digit() -> None:
    draw = np.random.default_rng(1)
    scores = draw.uniform(-20, -2, 1000).astype(np.float32).astype(np.float64)
    whole = whole_scores(scores, [str(i) for i in range(1000)])
    ratio = whole[0] / scores[0]
    assert np.log2(ratio).is_integer()
    np.testing.assert_array_equal(whole / ratio, scores)
    assert not whole_scores(np.array([np.nan, 0.0]), [None, "a"])[1]
