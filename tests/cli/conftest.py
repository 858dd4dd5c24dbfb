"""The small model and tokenizer of tests/decoding, here too."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "decoding"))

from small_models import small_model, small_tokenizer


@pytest.fixture(scope="session")
def tokenizer() -> Any:
    return small_tokenizer()


@pytest.fixture(scope="session")
def model(tokenizer: Any) -> Any:
    return small_model(len(tokenizer) + 37)
