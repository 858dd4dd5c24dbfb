"""Pairs of features that are cheap alone: their values are accepted, and each call does a bounded work.

The work is counted in steps of the engine, states and bytes, which hardly differ from run to run.  A step
takes about 0.05 µs, and up to 0.6 µs where it makes much of one state.  Work that grows with the number of
texts, names or divisors takes millions of steps.  Pairs that take more than they should have a bound of their
own in the table, with what they cost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tokamata as tk
from tests.support.masks import has
from tests.support.schemas import json_texts
from tests.support.schemas.feature_pairs import PAIRS, STEPS, Pair
from tests.support.schemas.schema_judges import Judges
from tests.support.tokenizers.real_tokenizers import REAL
from tokamata import _core

BOUNDED = [pair for pair in PAIRS if pair.steps is not None]
UNBOUNDED = [pair for pair in PAIRS if pair.steps is None]
FIRST_STEPS = 1_000_000  # of compiling and the first mask
STATES = 150_000


@pytest.fixture(scope="module")
def llama() -> tuple[tk.Vocabulary, Callable[[str], list[int]]]:
    """Llama 3.1: 128,000 tokens, and the tokenizer's own program."""
    real = next(one for one in REAL if one.name == "llama-3.1")
    return tk.Vocabulary.load(real.path(), stop=["<|eot_id|>"]), real.reference().encode


def steps_of(call: Callable[[], Any]) -> tuple[Any, int]:
    """What a call returns, and the steps that it takes."""
    before = _core.steps_of_thread()
    result = call()
    return result, _core.steps_of_thread() - before


@pytest.mark.parametrize("pair", BOUNDED, ids=str)
def test_each_call_does_a_bounded_work(pair: Pair, llama: Any) -> None:
    vocabulary, encode = llama
    tokens = encode(pair.text)
    style: dict[str, Any] = {"property_order": "any", **pair.style}
    limits = tk.Limits(states=STATES, memory_bytes=pair.memory_bytes)
    options: dict[str, Any] = {"limits": limits, "tokenization": pair.tokenization}
    compiled, steps = steps_of(lambda: tk.json_schema(pair.schema, **style).compile(vocabulary, **options))
    matcher, row = compiled.matcher(), compiled.allocate_mask()[0]
    assert pair.steps is not None
    for place, token in enumerate(tokens):
        budget = len(tokens) - place if pair.budget else None
        _, more = steps_of(lambda budget=budget: matcher.fill_mask(row, budget=budget))
        assert steps + more <= (pair.steps if place else max(pair.steps, FIRST_STEPS)), matcher.text
        # Masks within a budget may lack some tokens (core/composition/rule_completions.hpp).
        assert pair.budget or has(row, token), (matcher.text, vocabulary[token])
        taken, steps = steps_of(lambda token=token: matcher.advance(token))
        assert taken
        assert steps <= STEPS, matcher.text
        steps = 0
    assert matcher.is_accepting


@pytest.mark.parametrize("pair", UNBOUNDED, ids=str)
def test_masks_that_take_seconds_end_at_the_limit(pair: Pair, llama: Any) -> None:
    vocabulary, encode = llama
    tokens = encode(pair.text)
    style: dict[str, Any] = {"property_order": "any", **pair.style}
    options: dict[str, Any] = {"limits": tk.Limits(seconds=0.3), "tokenization": pair.tokenization}
    compiled = tk.json_schema(pair.schema, **style).compile(vocabulary, **options)
    matcher, row = compiled.matcher(), compiled.allocate_mask()[0]

    def walk() -> None:
        for place, token in enumerate(tokens):
            matcher.fill_mask(row, budget=len(tokens) - place if pair.budget else None)
            matcher.advance(token)

    with pytest.raises(tk.LimitExceeded):
        walk()
    unmasked = compiled.matcher()
    assert all(unmasked.advance(token) for token in tokens)
    assert unmasked.is_accepting


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_the_values_are_valid(pair: Pair) -> None:
    assert Judges(pair.schema, formats=True).by_validators(json_texts.read(pair.text))
