"""Gemma 3 270M, the model of the demo, for the programs that run it."""

from __future__ import annotations

from typing import Any

import torch
import transformers

from benchmarks.common import environment
from tokamata.demo import default_model_folder

__all__ = ["load_gemma", "print_facts"]


def load_gemma(dtype: torch.dtype, threads: int) -> tuple[Any, Any]:
    """The model, ready for inference, and its tokenizer.

    Args:
        dtype: in which it is loaded.  A conversion afterwards would leave buffers rounded as in the file's
            dtype, such as the scale of the embeddings, and give other logits.
        threads: of torch, from now on.
    """
    torch.set_num_threads(threads)
    folder = default_model_folder()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    return transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=dtype).eval(), tokenizer


def print_facts(threads: int) -> None:
    """The machine and the versions, before the figures of a program that prints tables itself."""
    for name, value in environment.describe(f"{threads} threads are used").items():
        print(f"- {name}: {value}")
