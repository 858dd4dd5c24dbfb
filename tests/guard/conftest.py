"""Tokenizers that the tests of the guard share: what is derived from one is kept as long as it exists."""

from __future__ import annotations

import pytest
from tokenizers import Tokenizer

from tests.support.templates.small_chats import made
from tests.support.tokenizers.real_tokenizers import REAL
from tokamata.tokenization import self_test

_OF_THE_SELF_TEST = ("test_self_test", "test_kept_verdicts", "test_manifest")


@pytest.fixture(autouse=True)
def few_texts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tokenizers are tested first, with a tenth of the texts: there are hundreds of them here."""
    if not request.module.__name__.endswith(_OF_THE_SELF_TEST):
        monkeypatch.setattr(self_test, "_DRAWN", 200)


@pytest.fixture(scope="session")
def qwen() -> Tokenizer:
    """Qwen 3's tokenizer, which reads ``<|im_start|>`` and ``<|im_end|>`` as control tokens."""
    return Tokenizer.from_file(str(next(real for real in REAL if real.name == "qwen-3").path()))


@pytest.fixture(scope="session")
def small() -> Tokenizer:
    """Its merges are those of tried texts, and one more: ``v`` and ``w``."""
    return made(("\u010a", "\u010a"), ("\u010a", "a"), ("\u0120", "a"), ("v", "w"))
