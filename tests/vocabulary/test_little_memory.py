"""Masks of rules under small limits on memory: nothing that a mask is made of may go meanwhile."""

from __future__ import annotations

import numpy as np
import pytest

import tokamata as tk
from tests.support.tokenizers.real_tokenizers import REAL

SCHEMA = {"type": "array", "uniqueItems": True}
TOKENS = (1204, 101866, 17995, 74854, 81992)  # of Llama 3
MEMORY_BYTES = sorted({*range(500_000, 5_000_000, 250_000), 10_000_000, 50_000_000})


@pytest.fixture(scope="module")
def vocabulary() -> tk.Vocabulary:
    real = next(real for real in REAL if real.name == "llama-3")
    return tk.Vocabulary.load(real.path(), stop=[])


@pytest.fixture(scope="module")
def masks(vocabulary: tk.Vocabulary) -> list[np.ndarray]:
    matcher = tk.json_schema(SCHEMA).compile(vocabulary).matcher()
    found = [matcher.mask.copy()]
    for token in TOKENS:
        assert matcher.advance(token)
        found.append(matcher.mask.copy())
    return found


@pytest.mark.parametrize("memory_bytes", MEMORY_BYTES)
def test_masks_are_exact_or_the_limit_is_told(
    memory_bytes: int, vocabulary: tk.Vocabulary, masks: list[np.ndarray]
) -> None:
    compiled = tk.json_schema(SCHEMA).compile(vocabulary, limits=tk.Limits(memory_bytes=memory_bytes))
    matcher = compiled.matcher()
    try:
        for token, mask in zip((*TOKENS, None), masks, strict=True):
            assert np.array_equal(matcher.mask, mask)
            assert token is None or matcher.advance(token)
            assert compiled.memory_bytes <= 1.1 * memory_bytes  # it is looked at now and then
    except tk.LimitExceeded as error:
        if error.limit != "memory_bytes" or memory_bytes >= 3_000_000:
            raise
