"""Pairs of features that are cheap alone: their values are accepted, and each call takes a bounded work.

The work is counted in steps of the engine, states and bytes, which are the same in every run.  A step takes
between 5 ns and some µs, so that the bound of steps is far above what most masks take; it is there for work
that grows with the number of texts, of names, or of divisors, which is a thousand times as much.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tokamata as tk
from tests.support.masks import has
from tests.support.schemas import json_texts
from tests.support.schemas.feature_pairs import PAIRS, Pair
from tests.support.schemas.schema_judges import Judges
from tests.support.tokenizers.real_tokenizers import REAL
from tokamata import _core

STEPS = 1_000_000  # of one call
LIMITS = tk.Limits(states=150_000, memory_bytes=100_000_000, seconds=20.0)


@pytest.fixture(scope="module")
def llama() -> tuple[tk.Vocabulary, Callable[[str], list[int]]]:
    """Llama 3.1: 128,000 tokens, and the tokenizer's own program."""
    real = next(one for one in REAL if one.name == "llama-3.1")
    return tk.Vocabulary.load(real.path(), stop=["<|eot_id|>"]), real.reference().encode


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_each_call_takes_a_bounded_work(pair: Pair, llama: Any) -> None:
    vocabulary, encode = llama
    tokens = encode(pair.text)
    style: dict[str, Any] = {"property_order": "any", **pair.style}
    before = _core.steps_of_thread()

    def work() -> int:
        nonlocal before
        steps, before = _core.steps_of_thread() - before, _core.steps_of_thread()
        return steps

    compiled = tk.json_schema(pair.schema, **style).compile(
        vocabulary, limits=LIMITS, tokenization=pair.tokenization
    )
    matcher, row = compiled.matcher(), compiled.allocate_mask()[0]
    for place, token in enumerate(tokens):
        matcher.fill_mask(row, budget=len(tokens) - place if pair.budget else None)
        assert work() <= STEPS, matcher.text
        assert has(row, token), (matcher.text, vocabulary[token])
        assert matcher.advance(token)
        assert work() <= STEPS, matcher.text
    assert matcher.is_accepting


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_the_values_are_valid(pair: Pair) -> None:
    assert Judges(pair.schema, formats=True).by_validators(json_texts.read(pair.text))
