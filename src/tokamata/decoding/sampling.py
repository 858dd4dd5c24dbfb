"""Draws a token from masked logits.

The order is fixed: the mask, then temperature, then top-k, then top-p.  So top-k and top-p select
among allowed tokens, and always leave some.  If they came first, the mask could forbid all the
tokens that they keep.
"""

# torch is imported when a sampler is made, not with this module: `import tokamata` must be quick.

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokamata.calls.arguments import checked_flag, checked_number, checked_whole
from tokamata.calls.keywords import checked_fields
from tokamata.errors import ArgumentError, GenerationError, shown_argument

if TYPE_CHECKING:
    import torch

__all__ = ["NoChoice", "Sampler", "Sampling"]


@checked_fields
@dataclass(frozen=True)
class Sampling:
    """How tokens are drawn.

    Attributes:
        temperature: the divisor of the logits; 0 is the same as ``greedy``.
        top_k: keep the ``top_k`` most probable of the allowed tokens; ``None`` keeps all.
        top_p: keep the smallest set of most probable tokens whose probabilities, after
            temperature and top-k, reach ``top_p``; 1 keeps all.
        greedy: take the most probable token; the settings above then have no effect.
        seed: makes the draws repeatable, on one machine and torch version; ``None``: a random seed.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0
    greedy: bool = False
    seed: int | None = None

    def __post_init__(self) -> None:
        if checked_number("temperature", self.temperature, 0.0) == math.inf:
            raise ArgumentError("temperature", "inf", "a number of at least 0")
        if self.top_k is not None:
            checked_whole("top_k", self.top_k, 1, 1 << 62)
        if checked_number("top_p", self.top_p, 0.0, 1.0) == 0.0:
            raise ArgumentError("top_p", shown_argument(self.top_p), "a number above 0 and at most 1")
        checked_flag("greedy", self.greedy)
        if self.seed is not None:
            checked_whole("seed", self.seed, -(1 << 63), 1 << 64)


class NoChoice(GenerationError):
    """Logits that leave no token."""


class Sampler:
    """Draws tokens under one :class:`Sampling`, from one random generator.

    Args:
        sampling: the settings.
        device: the torch device of the logits.
    """

    def __init__(self, sampling: Sampling, device: torch.device) -> None:
        import torch

        self._sampling = sampling
        self._random = torch.Generator(device)
        if sampling.seed is None:
            self._random.seed()
        else:
            self._random.manual_seed(sampling.seed)

    def choose(self, logits: torch.Tensor) -> tuple[int, float]:
        """Choose a token.

        Args:
            logits: floating point ``[width]``, minus infinity for tokens that are not allowed.
                NaN counts as not allowed.

        Returns:
            The token, and its natural log-probability under the softmax of ``logits``: at
            temperature 1, before top-k and top-p.

        Raises:
            NoChoice: no token has a logit above minus infinity, or one is plus infinity.
        """
        import torch

        logits = _checked(logits)
        # Most masks leave few tokens, and all that follows is linear in their number.
        tokens = (logits > -math.inf).nonzero().squeeze(-1)
        logits = logits[tokens]
        index = self._draw(logits)
        return int(tokens[index]), float(logits[index] - torch.logsumexp(logits, dim=-1))

    def drawn(self, logits: torch.Tensor) -> tuple[int, torch.Tensor]:
        """Draw a token for a draft.

        Args:
            logits: as for :meth:`choose`.

        Returns:
            The token, and the probabilities that it was drawn from, ``[width]``.

        Raises:
            NoChoice: as for :meth:`choose`.
        """
        probabilities = self._probabilities(_checked(logits))
        return self._index(probabilities), probabilities

    def choose_or_accept(
        self, logits: torch.Tensor, token: int, drawn_from: torch.Tensor
    ) -> tuple[int, float]:
        """Choose a token where another sampler has drawn one; its distribution is that of :meth:`choose`.

        Args:
            logits: as for :meth:`choose`.
            token: the token that was drawn.
            drawn_from: the probabilities that it was drawn from, ``[width]``.

        Returns:
            As :meth:`choose`; mostly the token that was drawn.

        Raises:
            NoChoice: as for :meth:`choose`.
        """
        import torch

        logits = _checked(logits)
        log_probabilities = torch.log_softmax(logits, dim=-1)
        wanted = self._probabilities(logits)
        height = torch.rand(1, generator=self._random, device=wanted.device) * drawn_from[token]
        if float(height) >= float(wanted[token]):
            rest = (wanted - drawn_from).clamp(min=0)
            # No mass is left where both distributions are equal except for rounding.
            rest = rest if float(rest.sum()) > 0 else wanted
            token = self._index(rest)
        return token, float(log_probabilities[token])

    def _probabilities(self, logits: torch.Tensor) -> torch.Tensor:
        """What :meth:`choose` draws from, ``[width]``; of logits whose largest is 0."""
        import torch

        if self._is_greedy:
            return torch.nn.functional.one_hot(logits.argmax(), logits.shape[-1]).float()
        weights, tokens = self._warped(logits)
        weights = weights / weights.sum()
        return weights if tokens is None else torch.zeros_like(logits).scatter(0, tokens, weights)

    def _draw(self, logits: torch.Tensor) -> int:
        """Draw from ``logits``, whose largest is 0."""
        if self._is_greedy:
            return int(logits.argmax())
        weights, tokens = self._warped(logits)
        index = self._index(weights)
        return index if tokens is None else int(tokens[index])

    @property
    def _is_greedy(self) -> bool:
        return self._sampling.greedy or self._sampling.temperature == 0

    def _warped(self, logits: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Weights by temperature, top-k and top-p, and the tokens that have them; ``None``: all, in order."""
        import torch

        settings = self._sampling
        logits = logits / settings.temperature
        tokens: torch.Tensor | None = None
        if settings.top_k is not None:
            logits, tokens = logits.topk(min(settings.top_k, logits.shape[-1]))
        elif settings.top_p < 1:
            logits, tokens = logits.sort(descending=True)
        probabilities = torch.softmax(logits, dim=-1)
        if settings.top_p < 1:
            before = probabilities.cumsum(dim=-1) - probabilities
            probabilities = probabilities.masked_fill(before >= settings.top_p, 0.0)
        return probabilities, tokens

    def _index(self, weights: torch.Tensor) -> int:
        """An index, each in proportion to its weight, by one random number.

        ``torch.multinomial`` draws a number for each weight, which takes milliseconds for a vocabulary.
        """
        import torch

        kind = torch.float32 if weights.device.type == "mps" else torch.float64  # Metal has no doubles
        sums = weights.cumsum(dim=-1, dtype=kind)
        below = torch.rand(1, generator=self._random, device=weights.device, dtype=kind) * sums[-1]
        index = int(torch.searchsorted(sums, below, right=True))
        # Rounding may lead past the last weight that is not 0.
        return min(index, int((weights > 0).nonzero()[-1]))


def _checked(logits: torch.Tensor) -> torch.Tensor:
    """The logits in float32, less the largest; NaN becomes minus infinity."""
    logits = logits.float().nan_to_num(nan=-math.inf, posinf=math.inf, neginf=-math.inf)
    largest = float(logits.max())
    if math.isinf(largest):
        raise NoChoice(
            "the model's logits leave no token to choose: all allowed ones are NaN or minus infinity"
            if largest < 0
            else "the model gave a token the logit plus infinity, which has no probability"
        )
    return logits - largest
