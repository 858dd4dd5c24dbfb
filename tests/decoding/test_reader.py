"""A model that reads texts one after another: its logits are those of a single pass."""

from __future__ import annotations

import random

import pytest
import torch
import transformers

from tests.support.models.fakes import Counting
from tests.support.models.small_models import KINDS, config_of, small_model
from tokamata.decoding.reader import Reader

WIDTH = 40


def model_of(kind: str) -> object:
    torch.manual_seed(1)
    if kind == "llama":
        return small_model(WIDTH)
    return transformers.AutoModelForCausalLM.from_config(config_of(kind, WIDTH)).eval()


@pytest.mark.parametrize(("kind", "cache"), [("llama", False), *((kind, True) for kind in ("llama", *KINDS))])
def test_logits_are_those_of_a_single_pass(kind: str, cache: bool) -> None:
    """Random texts that share prefixes, of up to 30 tokens, with up to four continuations each."""
    model = model_of(kind)
    counting = Counting(model, cache)
    reader = Reader(counting)
    counting.device = "cpu"
    draw = random.Random(1)
    texts = [[draw.randrange(WIDTH) for _ in range(25)]]
    positions = whole_length = 0
    for _ in range(15):
        origin = draw.choice(texts)
        text = origin[: draw.randint(1, len(origin))] + [
            draw.randrange(WIDTH) for _ in range(draw.randint(0, 5))
        ]
        ends = [[draw.randrange(WIDTH) for _ in range(draw.randint(0, 4))] for _ in range(draw.randint(1, 4))]
        texts.append(text)
        positions += sum(len(text) + len(end) for end in ends) + len(text)
        whole_length += 2 * len(text)
        found = reader.logits_ahead(text, ends)
        assert found.shape == (len(ends), 1 + max(map(len, ends)), WIDTH)
        for row, end in zip(found, ends, strict=True):
            with torch.inference_mode():
                whole = model(input_ids=torch.tensor([text + end])).logits[0]
            torch.testing.assert_close(row[: len(end) + 1], whole[len(text) - 1 :], atol=2e-4, rtol=2e-4)
        torch.testing.assert_close(reader.logits(text), found[0, 0], atol=2e-4, rtol=2e-4)
    assert reader.calls == counting.calls
    if cache and kind in ("llama", "learned positions", "alibi"):  # most of each text is not read again
        assert reader.positions < 0.5 * positions
        assert len(counting.read) < 0.5 * whole_length
