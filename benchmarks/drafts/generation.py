"""Tokens a second of Gemma 3 270M with and without drafts; the texts must be the same.

    python -m benchmarks.drafts.generation

The model writes JSON under a schema whose names are long, greedily, one text at a time, on the CPU.
"""

from __future__ import annotations

import time
from typing import Any

import torch
import transformers

import tokamata as tk
from benchmarks.common import environment
from tokamata.integrations.models import default_model_folder

_SCHEMA = {
    "type": "object",
    "properties": {
        "first_name": {"type": "string", "maxLength": 20},
        "last_name": {"type": "string", "maxLength": 20},
        "year_of_birth": {"type": "integer", "minimum": 1000, "maximum": 2030},
        "nationality": {"enum": ["French", "Spanish", "German", "Italian"]},
        "is_painter": {"type": "boolean"},
    },
    "required": ["first_name", "last_name", "year_of_birth", "nationality", "is_painter"],
    "additionalProperties": False,
}
_PROMPTS = [
    "Describe the painter as JSON: Pablo Picasso, born in 1881 in Malaga.\n",
    "Describe the painter as JSON: Paul Klee, born in 1879 near Bern.\n",
    "Describe the painter as JSON: Claude Monet, born in 1840 in Paris.\n",
]
_DRAFTS: list[str | None] = [None, "constraint", "prompt"]


def main() -> None:
    """Prints a row for each kind of draft, two rounds of each in turns."""
    for name, value in environment.describe("two threads are used").items():
        print(f"- {name}: {value}")
    torch.set_num_threads(2)
    folder = default_model_folder()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16).eval()
    constraint = tk.json_schema(_SCHEMA)
    settings: dict[str, Any] = {"greedy": True, "max_new_tokens": 80}
    expected = [tk.generate(model, tokenizer, prompt, constraint, **settings).tokens for prompt in _PROMPTS]
    print("\n| draft | tokens a second | drafted | accepted |\n|---|---:|---:|---:|")
    for draft in 2 * _DRAFTS:
        start = time.perf_counter()
        texts = [
            tk.generate(model, tokenizer, prompt, constraint, draft=draft, **settings) for prompt in _PROMPTS
        ]
        seconds = time.perf_counter() - start
        assert [one.tokens for one in texts] == expected
        count = sum(len(one.tokens) for one in texts)
        drafted, accepted = sum(one.drafted for one in texts), sum(one.accepted for one in texts)
        print(f"| {draft or 'none'} | {count / seconds:.1f} | {drafted} | {accepted} |")


if __name__ == "__main__":
    main()
