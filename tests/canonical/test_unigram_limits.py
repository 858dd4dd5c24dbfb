"""Canonical masks of Unigram models where searches, scores and pieces are out of the ordinary."""

from __future__ import annotations

import pytest

import tokamata as tk
from tests.canonical.test_unigram import unigram
from tests.support.masks import bits
from tests.support.tokenizers.unigram_models import NORMAL, UNKNOWN, model_file
from tokamata import _core
from tokamata.tokenization.canonical import _tables_of

LIMITS = tk.Limits(seconds=3.0, memory_bytes=1 << 26)


@pytest.mark.parametrize("pattern", ["yes|no[ab]*  [ab]*", "[ab]*b|a[ab]*  a"])
def test_a_dead_branch_is_no_search_without_end(pattern: str) -> None:
    vocabulary = tk.Vocabulary.load(
        unigram({**dict.fromkeys("yesno", -0.7), "a": -0.1, "b": -0.3, "ab": -0.4}), stop=()
    )
    matcher = tk.regex(pattern).compile(vocabulary, tokenization="canonical", limits=LIMITS).matcher()
    assert matcher.mask.any()


@pytest.mark.parametrize("pattern", ["[ab]*  a", "[ab]* "])
def test_dead_texts_are_refused_where_sums_round(pattern: str) -> None:
    """The pre-tokenizer drops the spaces; the sums of the words before them are without end."""
    vocabulary = tk.Vocabulary.load(unigram({"a": -0.1, "b": -0.3, "ab": -0.4}), stop=())
    with pytest.raises(tk.NoncanonicalError):
        tk.regex(pattern).compile(vocabulary, tokenization="canonical", limits=LIMITS).matcher()


def test_what_is_dead_behind_near_ties_is_found_dead() -> None:
    """Behind ``a``, rounding says whether each ``aa`` is written, and none leads to the end."""
    pieces = {
        "a": -7.26461124420166,
        "b": -3.494400978088379,
        "ab": -1.9676179885864256,
        "aa": -4.624812126159668,
    }
    program = pytest.importorskip("sentencepiece", reason="sentencepiece is an extra").SentencePieceProcessor
    listed = [
        ("<unk>", 0.0, UNKNOWN),
        *((text, score, NORMAL) for text, score in {"\u2581": -0.7, **pieces}.items()),
    ]
    for own in (
        unigram(pieces),
        program(model_proto=model_file(listed, adds_space=True, writes_sign=True)),
    ):
        vocabulary = tk.Vocabulary.load(own, stop=())
        compiled = tk.regex("(a|ba)*b{10,}").compile(vocabulary, tokenization="canonical", limits=LIMITS)
        matcher = compiled.matcher()
        assert matcher.advance(1)
        assert {vocabulary[token] for token in bits(matcher.mask)} == {b"b", b"ab", b"aa"}


def test_a_search_does_not_follow_one_loop_for_ever() -> None:
    """``ba`` and then each ``aa`` are one letter from the end of the pattern, and stay so."""
    pieces = {"a": -1537.6, "b": -1574.5, "bb": -1985.9, "aa": -1896.5, "ba": -796.7}
    vocabulary = tk.Vocabulary.load(unigram(pieces), stop=())
    compiled = tk.regex("(a{2}|b{3})*").compile(vocabulary, tokenization="canonical", limits=LIMITS)
    matcher = compiled.matcher()
    for piece in (b" ", b"b", b"bb", b"bb", b"bb"):
        assert matcher.advance(vocabulary.tokens.index(piece)), piece
    assert {vocabulary[token] for token in bits(matcher.mask)} == {b"bb"}


def test_a_tiny_score_is_exact_or_rounds() -> None:
    vocabulary = tk.Vocabulary.load(unigram({"a": -1e-300}), stop=())
    tk.regex("a*").compile(vocabulary, tokenization="canonical").matcher()


def test_close_pieces_without_floats_are_refused() -> None:
    """A damaged kept table: without floats nothing is tied, and a tied state has nothing behind it."""
    vocabulary = tk.Vocabulary.load(unigram({"a": -0.1, "b": -0.3}), stop=())
    tables = dict(_tables_of(vocabulary))
    tables["floats"] = tables["floats"][:0]
    tables["close"] = tables["best"]
    with pytest.raises((ValueError, RuntimeError)):
        _core.Tokenization(vocabulary.core, tables)
