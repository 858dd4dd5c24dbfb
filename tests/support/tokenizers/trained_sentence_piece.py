"""SentencePiece models that are trained where they are needed."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

import pytest


def trained(sentences: Iterable[str], **options: Any) -> bytes:
    """The file of a model; a skip of the running test where the package is not installed."""
    trainer = pytest.importorskip("sentencepiece", reason="sentencepiece is an extra").SentencePieceTrainer
    written = io.BytesIO()
    settings = {"hard_vocab_limit": False, "minloglevel": 2} | options
    trainer.train(sentence_iterator=iter(sentences), model_writer=written, **settings)
    return written.getvalue()
