"""What is kept of a model's choices while a text is written, for the probabilities of its fields.

Of each step the log-probability of the token that was written is kept, and the texts and log-probabilities
of the legal tokens that were most probable: at most 64, so that a token takes some 3 KB.  The mass of all
others is known too: probabilities under the mask add up to 1.  The vocabulary is not kept, so that results
stay small when they are pickled.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

__all__ = ["Choice", "Record"]

_KEPT = 64  # legal tokens of a step


@dataclass(frozen=True)
class Choice:
    """One step.

    Attributes:
        data: the bytes of the token that was written; empty for a control token and a stop token.
        log_probability: of that token, under the mask, at temperature 1.
        others: the bytes of the other legal tokens that were most probable, likewise, each with its
            log-probability; the most probable first.
        has_all: whether no legal token is missing among them.
    """

    data: bytes
    log_probability: float
    others: tuple[tuple[bytes, float], ...]
    has_all: bool


class Record:
    """The choices of a text: one for each token that was written, and for a stop token.

    Attributes:
        choices: the choices.
    """

    def __init__(self) -> None:
        self.choices: list[Choice] = []
        self._likely: list[tuple[int, bytes, float]] = []

    def see(self, logits: torch.Tensor, text_of: Callable[[int], bytes]) -> None:
        """Keeps the most probable tokens of the next choice.

        Args:
            logits: ``[width]``, minus infinity for tokens that are not legal; NaN counts as such.
            text_of: the bytes of a token there.
        """
        import torch

        scores = torch.log_softmax(logits.float().nan_to_num(nan=-math.inf, neginf=-math.inf), dim=-1)
        found = scores.topk(min(_KEPT, len(scores)))
        self._likely = [
            (token, text_of(token), score)
            for token, score in zip(found.indices.tolist(), found.values.tolist(), strict=True)
            if score > -math.inf
        ]

    def write(self, token: int, data: bytes, log_probability: float) -> None:
        """A token was written; without :meth:`see`, nothing else was possible."""
        others = tuple((text, score) for other, text, score in self._likely if other != token)
        self.choices.append(Choice(data, log_probability, others, len(self._likely) < _KEPT))
        self._likely = []
