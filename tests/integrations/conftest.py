"""What the tests of transformers share."""

from __future__ import annotations

from typing import Any

import pytest

import tokamata as tk


@pytest.fixture(scope="session")
def vocabulary(tokenizer: Any) -> tk.Vocabulary:
    """As wide as the logits of the fixture ``model``."""
    return tk.Vocabulary.load(tokenizer, stop=[1], width=len(tokenizer) + 37)
