"""Importing tokamata brings in no host and little else."""

from __future__ import annotations

import subprocess
import sys

HEAVY = (
    "torch", "transformers", "tokenizers", "tiktoken", "sentencepiece", "gguf", "llama_cpp",
    "typer", "rich", "huggingface_hub", "numpy", "pydantic",
)  # fmt: skip


def test_import_brings_in_no_host() -> None:
    code = f"import sys, tokamata; print([name for name in {HEAVY!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_all_public_names_are_there_and_described() -> None:
    import tokamata

    for name in tokamata.__all__:
        assert getattr(tokamata, name).__doc__, name
