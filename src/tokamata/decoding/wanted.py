"""What a constraint takes from a model at a step: how much probability, and the token that it found best.

    the model       yes .6   maybe .3   no .1
    the mask        maybe, no
    legal mass      .4
    wanted          yes, .6

Both are those of the model at temperature 1, with the bias, before the mask.  A small legal mass says that
the model would write something else: the prompt does not ask for what the constraint demands.

Cost: six operations on a row of logits: a copy before the mask, and for the two rows two ``nan_to_num``, two
``logsumexp`` and a maximum.  Without ``probabilities=True`` there is none.
"""

# torch is the caller's, and imported only for its functions.

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from tokamata.decoding.spelling import Spelling

__all__ = ["Wanted", "legal_mass_and_wanted"]


@dataclass(frozen=True)
class Wanted:
    """The token that a model found most probable, and may not write.

    Attributes:
        token: its id.
        data: its bytes; ``None`` for a control token, such as a stop token.
        probability: what the model gives to it, at temperature 1, before the mask.
    """

    token: int
    data: bytes | None
    probability: float

    @property
    def text(self) -> str:
        """Its bytes as text; those that are no whole code point as U+FFFD.  ``""`` for a control token."""
        return (self.data or b"").decode(errors="replace")


def legal_mass_and_wanted(
    logits: torch.Tensor, masked: torch.Tensor, spelling: Spelling, is_first: bool
) -> tuple[float, Wanted | None]:
    """The probability of all tokens that the mask leaves, and what the model wanted.

    Args:
        logits: ``[width]``, before the mask; NaN counts as minus infinity.
        masked: ``[width]``, minus infinity for tokens that are not allowed.
        spelling: the bytes of tokens.
        is_first: whether the token is the first of its text.

    Returns:
        The mass, from 0 to 1; and the token, ``None`` where it may be written.
    """
    import torch

    before = logits.float().nan_to_num(nan=-math.inf, neginf=-math.inf)
    after = masked.float().nan_to_num(nan=-math.inf, neginf=-math.inf)
    whole = torch.logsumexp(before, dim=-1)
    if whole == -math.inf:  # there is no distribution
        return 0.0, None
    mass = min(1.0, math.exp(torch.logsumexp(after, dim=-1) - whole))
    score, best = before.max(dim=-1)
    token = int(best)
    if after[token] > -math.inf:
        return mass, None
    data = None if spelling.is_control(token) else spelling.of(token, is_first=is_first)
    return mass, Wanted(token, data, math.exp(score - whole))
