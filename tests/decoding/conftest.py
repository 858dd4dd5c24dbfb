"""What the tests of generation share."""

from __future__ import annotations

from typing import Any

import pytest
from small_models import small_model, small_tokenizer


@pytest.fixture(scope="session")
def tokenizer() -> Any:
    return small_tokenizer()


@pytest.fixture(scope="session")
def model(tokenizer: Any) -> Any:
    """Logits wider than the tokenizer, as where they are padded to a round number."""
    return small_model(len(tokenizer) + 37)
