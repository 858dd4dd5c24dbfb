"""What is added to a model's logits before any mask; for banned tokens that is minus infinity."""

# torch is imported when there is a bias, not with this module: `import tokamata` must be quick.

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

__all__ = ["Bias"]


class Bias:
    """The bias of a call.

    Args:
        by_token: what is added to the logit of each token.
    """

    def __init__(self, by_token: Mapping[int, float]) -> None:
        self._by_token = by_token
        self._tensor: torch.Tensor | None = None

    @property
    def banned(self) -> frozenset[int]:
        """The tokens at minus infinity."""
        return frozenset(token for token, value in self._by_token.items() if value == -math.inf)

    def added(self, logits: torch.Tensor) -> torch.Tensor:
        """The logits ``[..., width]`` with the bias; the same tensor where there is none."""
        if not self._by_token:
            return logits
        if self._tensor is None:
            import torch

            self._tensor = torch.zeros(logits.shape[-1], dtype=torch.float32, device=logits.device)
            tokens = [token for token in self._by_token if token < logits.shape[-1]]
            values = [self._by_token[token] for token in tokens]
            self._tensor[tokens] = torch.tensor(values, device=logits.device)
        return logits.float() + self._tensor
