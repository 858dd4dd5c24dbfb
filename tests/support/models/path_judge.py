"""A judge of probabilities: every token sequence that spells a text, each scored by itself.

The model reads prompt and sequence from the beginning, one sequence at a time and without a cache.  No code
of the library is used but the bytes of the tokens.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache
from typing import Any

import torch


class PathJudge:
    """Scores token sequences after one prompt.

    Args:
        model: a causal language model.
        prompt: token ids.
        tokens: the bytes of each token; ``None`` for control tokens.
        stop: the stop tokens.
    """

    def __init__(
        self, model: Any, prompt: list[int], tokens: list[bytes | None], stop: Iterable[int]
    ) -> None:
        self.model, self.prompt, self.stop = model, prompt, sorted(stop)
        self.by_bytes: dict[bytes, list[int]] = {}
        for token, data in enumerate(tokens):
            if data:
                self.by_bytes.setdefault(data, []).append(token)
        self._scores = cache(self._read)

    def _read(self, sequence: tuple[int, ...]) -> torch.Tensor:
        with torch.inference_mode():
            output = self.model(input_ids=torch.tensor([[*self.prompt, *sequence]]))
        return torch.log_softmax(output.logits[0, -1].double(), -1)

    def log_probability(self, sequence: tuple[int, ...]) -> float:
        """That of a sequence, after the prompt."""
        return sum(float(self._scores(sequence[:place])[token]) for place, token in enumerate(sequence))

    def stop_probability(self, sequence: tuple[int, ...]) -> float:
        """That of any stop token after a sequence."""
        return math.fsum(math.exp(float(self._scores(sequence)[token])) for token in self.stop)

    def spellings(self, text: bytes) -> list[tuple[int, ...]]:
        """All token sequences of a text."""
        if not text:
            return [()]
        return [
            (token, *rest)
            for end in range(1, len(text) + 1)
            for token in self.by_bytes.get(text[:end], ())
            for rest in self.spellings(text[end:])
        ]

    def masses(self, sequences: dict[str, list[tuple[int, ...]]], needs_stop: bool) -> dict[str, float]:
        """The probability of each text, by the sequences that spell it.

        A sequence that another one continues needs a stop token; with ``needs_stop``, all do.
        """
        every = {each for some in sequences.values() for each in some}
        begun = {each[:end] for each in every for end in range(len(each))}
        return {
            text: math.fsum(
                math.exp(self.log_probability(each))
                * (self.stop_probability(each) if needs_stop or each in begun else 1.0)
                for each in some
            )
            for text, some in sequences.items()
        }
