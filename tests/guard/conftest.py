"""Tokenizers that the tests of the guard share: what is derived from one is kept as long as it exists."""

from __future__ import annotations

import pytest
from tokenizers import Tokenizer

from tests.support.tokenizers.real_tokenizers import REAL


@pytest.fixture(scope="session")
def qwen() -> Tokenizer:
    """Qwen 3's tokenizer, which reads ``<|im_start|>`` and ``<|im_end|>`` as control tokens."""
    return Tokenizer.from_file(str(next(real for real in REAL if real.name == "qwen-3").path()))
