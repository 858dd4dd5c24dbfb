"""What is kept of a model's choices while a text is written, for the probabilities of its fields.

Of each step the log-probability of the token that was written is kept, and the legal tokens that were most
probable: at most 64, so that a text of 256 tokens keeps some 200 KB.  The mass of all others is known too:
probabilities under the mask add up to 1.
"""

from __future__ import annotations

import math
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
        token: the token that was written.
        log_probability: of that token, under the mask, at temperature 1.
        tokens: the most probable legal tokens, the most probable first.
        log_probabilities: of these, likewise.
    """

    token: int
    log_probability: float
    tokens: tuple[int, ...]
    log_probabilities: tuple[float, ...]

    @property
    def has_all(self) -> bool:
        """Whether no legal token is missing in ``tokens``."""
        return len(self.tokens) < _KEPT


class Record:
    """The choices of a text: one for each token that was written, and for a stop token.

    Attributes:
        choices: the choices.
        data: the bytes of the tokens; empty for control tokens and stop tokens.
    """

    def __init__(self) -> None:
        self.choices: list[Choice] = []
        self.data: list[bytes] = []
        self._likely: tuple[tuple[int, ...], tuple[float, ...]] | None = None

    def see(self, logits: torch.Tensor) -> None:
        """Keeps the most probable tokens of the next choice.

        Args:
            logits: ``[width]``, minus infinity for tokens that are not legal; NaN counts as such.
        """
        import torch

        scores = torch.log_softmax(logits.double().nan_to_num(nan=-math.inf, neginf=-math.inf), dim=-1)
        found = scores.topk(min(_KEPT, len(scores)))
        legal = int((found.values > -math.inf).sum())
        self._likely = tuple(found.indices[:legal].tolist()), tuple(found.values[:legal].tolist())

    def write(self, token: int, data: bytes, log_probability: float) -> None:
        """A token was written; without :meth:`see`, nothing else was possible."""
        tokens, scores = self._likely or ((token,), (log_probability,))
        self.choices.append(Choice(token, log_probability, tokens, scores))
        self.data.append(data)
        self._likely = None
