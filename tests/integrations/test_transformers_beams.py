"""Beam search of transformers under a constraint, against the enumeration of all texts.

transformers masks after the softmax (``GenerationMixin._beam_search``), so with ``length_penalty=0`` its
scores are the model's own log-probabilities, a stop token included.
"""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

import tokamata as tk
from tests.support.models.fakes import byte_level
from tests.support.models.path_judge import PathJudge
from tests.support.models.small_models import small_model
from tokamata.decoding.hosts import vocabulary_of
from tokamata.integrations.rows import Row
from tokamata.integrations.transformers import ConstraintLogitsProcessor

TOKENIZER = byte_level(["a b", "b a", "ab a", "c c"])
MODEL = small_model(len(TOKENIZER), seed=8, eos=0)
VOCABULARY = vocabulary_of(MODEL, TOKENIZER)
TEXTS = ["ab", "aba", "ba", "cc", "ccc", "abab", "b", "acb"]
PROMPT = TOKENIZER("x: ")["input_ids"]


def judge() -> PathJudge:
    tokens = [VOCABULARY[token] for token in range(VOCABULARY.width)]
    return PathJudge(MODEL, PROMPT, tokens, VOCABULARY.stop)


def beams(processor: Any, count: int, **settings: Any) -> Any:
    return MODEL.generate(
        torch.tensor([PROMPT]),
        attention_mask=torch.ones(1, len(PROMPT), dtype=torch.long),
        logits_processor=[processor],
        do_sample=False,
        num_beams=count,
        num_return_sequences=count,
        length_penalty=0.0,
        early_stopping="never",
        max_new_tokens=10,
        eos_token_id=list(VOCABULARY.stop),
        return_dict_in_generate=True,
        output_scores=True,
        **settings,
    )


def test_the_best_texts_are_those_of_the_enumeration() -> None:
    compiled = tk.choice(TEXTS).compile(VOCABULARY, tokenization="canonical")
    processor = ConstraintLogitsProcessor(compiled, max_new_tokens=10, on_noncanonical="fresh")
    found = beams(processor, len(TEXTS))
    masses = judge().masses({text: [tuple(TOKENIZER(text)["input_ids"])] for text in TEXTS}, True)
    expected = sorted(masses.items(), key=lambda one: -one[1])
    texts = [TOKENIZER.decode(ids[len(PROMPT) :], skip_special_tokens=True) for ids in found.sequences]
    assert texts == [text for text, _ in expected]
    scores = found.sequences_scores.tolist()
    assert scores == pytest.approx([math.log(mass) for _, mass in expected], abs=1e-4)
    own = tk.beam_search(MODEL, TOKENIZER, PROMPT, compiled, beams=8, on_noncanonical="fresh")
    both = dict(zip(texts, scores, strict=True))
    for beam in own:  # a complete text needs no stop token there
        end = 0.0
        if beam.stop_token is None:
            end = math.log(judge().stop_probability(tuple(beam.tokens)))
        assert beam.model_log_probability + end == pytest.approx(both[beam.text], abs=1e-4)


def test_matchers_move_with_the_beams_and_nothing_is_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    advanced: list[int] = []
    advance = Row.advance
    monkeypatch.setattr(Row, "advance", lambda row, token: (advanced.append(token), advance(row, token))[1])
    compiled = tk.regex("[abc]{8}").compile(VOCABULARY)
    found = beams(ConstraintLogitsProcessor(compiled, max_new_tokens=10), 4)
    steps = found.sequences.shape[1] - len(PROMPT)
    assert steps > 3
    assert len(advanced) <= 4 * steps  # one id for each beam and step
