"""Tokens a second of Gemma 3 270M with and without drafts; the texts must be the same.

    python -m benchmarks.drafts.generation

The model writes JSON under a schema whose names are long, greedily, one text at a time, on the CPU.  Smaller
models are its own first layers.  A second table says how often the most probable token of a smaller model is
the next token of these texts, with the constraint's mask and without.
"""

from __future__ import annotations

import copy
import time
from typing import Any

import numpy as np
import torch

import tokamata as tk
from benchmarks.common.gemma import load_gemma, print_facts
from tokamata.decoding.hosts import vocabulary_of

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
_LAYERS = (6, 12, 15)
_THREADS = 2


def main() -> None:
    """Prints a row for each kind of draft, two rounds of each in turns."""
    print_facts(_THREADS)
    model, tokenizer = load_gemma(torch.bfloat16, _THREADS)
    constraint = tk.json_schema(_SCHEMA)
    settings: dict[str, Any] = {"greedy": True, "max_new_tokens": 80}
    expected = [tk.generate(model, tokenizer, prompt, constraint, **settings).tokens for prompt in _PROMPTS]
    smaller = {count: first_layers(model, count) for count in _LAYERS}
    drafts = {"none": None, "constraint": "constraint", "prompt": "prompt"}
    drafts |= {f"the first {count} layers": one for count, one in smaller.items()}
    print("\n| draft | tokens a second | drafted | accepted |\n|---|---:|---:|---:|")
    for name, draft in 2 * list(drafts.items()):
        start = time.perf_counter()
        texts = [
            tk.generate(model, tokenizer, prompt, constraint, draft=draft, **settings) for prompt in _PROMPTS
        ]
        seconds = time.perf_counter() - start
        assert [one.tokens for one in texts] == expected
        count = sum(len(one.tokens) for one in texts)
        drafted, accepted = sum(one.drafted for one in texts), sum(one.accepted for one in texts)
        print(f"| {name} | {count / seconds:.1f} | {drafted} | {accepted} |")
    print("\n| model | right with the mask | right without |\n|---|---:|---:|")
    for count, one in smaller.items():
        with_mask, without = acceptance(one, tokenizer, constraint, expected)
        print(f"| the first {count} layers | {with_mask:.0%} | {without:.0%} |")


def first_layers(model: Any, count: int) -> Any:
    """The same model without its last layers; what remains shares the weights."""
    layers = model.model.layers
    model.model.layers = layers[:count]
    smaller = copy.copy(model)
    smaller._modules = {**model._modules, "model": copy.copy(model.model)}
    smaller.model._modules = {**model.model._modules, "layers": layers[:count]}
    smaller.config = smaller.model.config = copy.deepcopy(model.config)
    smaller.config.num_hidden_layers = count
    smaller.config.layer_types = model.config.layer_types[:count]
    model.model.layers = layers
    return smaller


def acceptance(
    model: Any, tokenizer: Any, constraint: tk.Constraint, texts: list[list[int]]
) -> tuple[float, float]:
    """How often the model's most probable token is the next one, with the mask and without."""
    compiled = constraint.compile(vocabulary_of(model, tokenizer))
    right = np.zeros(2)
    for prompt, tokens in zip(_PROMPTS, texts, strict=True):
        ids = tokenizer(prompt)["input_ids"]
        logits = model(torch.tensor([ids + tokens])).logits[0, len(ids) - 1 : -1].float()
        masks = compiled.allocate_mask(len(tokens) + 1)
        compiled.matcher().fill_draft_masks(masks, tokens)
        free = logits.argmax(-1)
        tk.apply_mask(logits, masks[:-1])
        wanted = torch.tensor(tokens)
        right += (int((logits.argmax(-1) == wanted).sum()), int((free == wanted).sum()))
    shares = right / sum(map(len, texts))
    return float(shares[0]), float(shares[1])


if __name__ == "__main__":
    main()
