"""A model that wants to write a given text, takes a given time for a call, and fails as it is told.

It gives the next token of the text a logit far above random others, as long as what was written is the
beginning of the text; then it is random.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch

Fault = Callable[[torch.Tensor, int, torch.Generator], None]
_WANTED = 12.0


class Writer:
    """The model."""

    def __init__(
        self, width: int, wanted: list[int], prompt: int, seed: int, seconds: float, fault: Fault
    ) -> None:
        self.config = SimpleNamespace(vocab_size=width)
        self._wanted, self._prompt, self._seconds, self._fault = wanted, prompt, seconds, fault
        self._random = torch.Generator().manual_seed(seed)
        self._noise = torch.randn(width + 4096, generator=self._random)
        self._read: list[int] = []
        self.calls = 0

    def __call__(self, input_ids: Any, past_key_values: Any = None, **options: Any) -> Any:
        """As models of transformers are called."""
        begin = time.perf_counter()
        new = input_ids[0].tolist()
        self._read = (self._read if past_key_values is not None else []) + new
        width = self.config.vocab_size
        shift = int(torch.randint(4096, (1,), generator=self._random))
        logits = self._noise[shift : shift + width].clone()
        written = self._read[self._prompt :]
        if written == self._wanted[: len(written)] and len(written) < len(self._wanted):
            logits[self._wanted[len(written)]] += _WANTED
        self._fault(logits, self.calls, self._random)
        self.calls += 1
        while time.perf_counter() - begin < self._seconds:
            time.sleep(max(0.0, min(1e-3, self._seconds - (time.perf_counter() - begin))))
        return SimpleNamespace(logits=logits.expand(1, len(new), -1), past_key_values=_Cache())


class _Cache:
    """Says that what was read is known."""


def sound(logits: torch.Tensor, call: int, random: torch.Generator) -> None:
    """No fault."""


def not_numbers(logits: torch.Tensor, call: int, random: torch.Generator) -> None:
    """One call in five says nothing."""
    if float(torch.rand(1, generator=random)) < 0.2:
        logits[:] = float("nan")


def filtered(logits: torch.Tensor, call: int, random: torch.Generator) -> None:
    """One call in five keeps five tokens, as top-k before the mask does."""
    if float(torch.rand(1, generator=random)) < 0.2:
        logits[int(logits.argmax())] = -1.0  # what it wants is not among them
        kept = logits.topk(5).indices
        values = logits[kept].clone()
        logits[:] = float("-inf")
        logits[kept] = values
