"""The tokenizers whose manifests lie in ``tests/data/manifests``: the real ones, as objects that encode.

A file of ranks has no regex, so it is measured as a ``tiktoken.Encoding`` with the regex of its model.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.paths import ROOT
from tests.support.tokenizers.canonical_tokenizers import encoding_with, named_encoding
from tests.support.tokenizers.made_tokenizers import LLAMA_3_PATTERN, O200K_PATTERN, QWEN_PATTERN
from tests.support.tokenizers.real_tokenizers import REAL, Real, package_file

MANIFESTS = ROOT / "tests" / "data" / "manifests"

_ENCODINGS: dict[str, Callable[[Path], Any]] = {
    "gpt2": named_encoding("gpt2"),
    "whisper": named_encoding("gpt2"),
    "cl100k": named_encoding("cl100k_base"),
    "o200k": named_encoding("o200k_base"),
    "llama-3": encoding_with(LLAMA_3_PATTERN),
    "llama-4": encoding_with(O200K_PATTERN),
    "qwen": encoding_with(QWEN_PATTERN),
}

NAMES = [*(real.name for real in REAL), "mistral-sp"]


def tokenizer_of(name: str) -> object:
    """A path or an object, or a skip of the running test."""
    if name == "mistral-sp":  # the SentencePiece model that "llama-2" is made of
        return package_file("mistral_common", "data/tokenizer.model.v1")
    real = _REAL[name]
    make = _ENCODINGS.get(name)
    return real.path() if make is None else make(real.path())


_REAL: dict[str, Real] = {real.name: real for real in REAL}
