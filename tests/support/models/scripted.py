"""A model that writes what a function says, byte by byte, in answer to the prompt that it reads."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch


class Scripted:
    """Writes ``answer(prompt)``, and then a stop token; it has no cache, so it reads all each time.

    Args:
        tokenizer: one with all bytes as tokens, and ``<eos>``.
        answer: says what follows a prompt.
        marker: the text that every prompt ends with, and that no answer contains.

    Attributes:
        prompts: those that it has read, in their order.
    """

    def __init__(self, tokenizer: Any, answer: Callable[[str], str], marker: str) -> None:
        self.tokenizer, self.answer, self.marker = tokenizer, answer, marker
        self.config = SimpleNamespace(vocab_size=len(tokenizer))
        self.prompts: list[str] = []

    def __call__(self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None, **_: Any) -> Any:
        logits = torch.zeros(*input_ids.shape, len(self.tokenizer))
        for row, ids in enumerate(input_ids):
            read = ids if attention_mask is None else ids[attention_mask[row].bool()]
            logits[row, -1, self._next(self.tokenizer.decode(read))] = 1000.0
        return SimpleNamespace(logits=logits)

    def _next(self, text: str) -> int:
        before, _, written = text.rpartition(self.marker)
        prompt = before + self.marker
        if prompt not in self.prompts:
            self.prompts.append(prompt)
        target = self.answer(prompt)
        if not target.startswith(written) or target == written:
            return int(self.tokenizer.eos_token_id)
        return int(self.tokenizer(target[len(written)], add_special_tokens=False)["input_ids"][0])
