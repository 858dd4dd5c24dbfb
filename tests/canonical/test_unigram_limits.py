"""Canonical masks of Unigram models where searches, scores and pieces are out of the ordinary."""

from __future__ import annotations

import pytest

import tokamata as tk
from tests.canonical.test_unigram import unigram
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
