"""Drafts: tokens that are proposed without the model, which then reads several of them in one call.

Problem: a model takes hardly longer to read eight tokens than one, but it can only read what is there.
Example: after ``{"name": "x", `` a schema leaves ``"age": `` alone.  These tokens are read in one call.  The
model's logits after each of them decide whether it stands, and choose the token after the last that does.

How: a drafter proposes tokens.  The constraint masks all positions at once (``fill_draft_masks``), and what
it refuses is cut off.  At each position the loop then draws a token, as it would without a draft.

- A draft that is certain or guessed stands as long as the drawn tokens are those of the draft.  So the text
  is the same, token by token and draw by draw, as without a draft; only the number of calls differs.
- The tokens of a smaller model are themselves drawn.  A token that it drew with probability q, and to which
  the model gives p, stands with probability min(1, p / q); otherwise the text goes on with a token drawn from
  max(0, p - q), scaled.  So each token has the distribution p (Leviathan, Kalman and Matias 2023).  Both come
  from masked logits, warped alike.

Cost: a draft costs its drafter's time, and k more positions in a call of the model.
Source: Koo, Liu and He 2024, section 5.3, which asks that both models are constrained, and that each mask is
computed once.  Prompt look-up: Saxena 2023.
Not taken: trees of drafts, which need attention masks that models of transformers do not share.
"""

# transformers has no usable types for models and tokenizers, hence `Any` for the two.

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tokamata.decoding.jump import certain_tokens
from tokamata.matching.masks import allocate_mask
from tokamata.matching.matchers import Matcher

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import torch

__all__ = ["Certain", "Draft", "Drafter", "Guess", "Repeated"]

_LONGEST_NGRAM, _SHORTEST_NGRAM = 3, 2


@dataclass(frozen=True)
class Draft:
    """Tokens that may follow a text.

    Attributes:
        tokens: their ids; each is legal after those before.
        masks: ``int32[len(tokens) + 1, words]``: what the constraint allows at each of them, and after the
            last; ``None`` for a free text.
        probabilities: for each token, those that it was drawn from, ``[width]``; empty if it was not drawn.
    """

    tokens: list[int]
    masks: npt.NDArray[np.int32] | None
    probabilities: list[torch.Tensor] = field(default_factory=list)


class Drafter(ABC):
    """Proposes tokens for one text."""

    @abstractmethod
    def draft(self, tokens: list[int], matcher: Matcher | None, most: int, budget: int) -> Draft:
        """A draft of at most ``most`` tokens.

        Args:
            tokens: prompt and text so far.
            matcher: at the end of the text; it is not advanced.  ``None``: the text is free.
            most: how many tokens may be drafted.
            budget: how many tokens may still be written.
        """


class Guess(Drafter):
    """A drafter whose tokens follow from the text."""

    def draft(self, tokens: list[int], matcher: Matcher | None, most: int, budget: int) -> Draft:
        """A draft of at most ``most`` tokens."""
        guessed = self._guessed(tokens, matcher, most)[:most]
        if matcher is None:
            return Draft(guessed, None)
        masks = allocate_mask(len(guessed) + 1, matcher.compiled.vocabulary.width)
        legal = matcher.fill_draft_masks(masks, guessed, budget=budget)
        count = int(legal.argmin()) if not legal.all() else len(guessed)
        return Draft(guessed[:count], masks[: count + 1])

    @abstractmethod
    def _guessed(self, tokens: list[int], matcher: Matcher | None, most: int) -> list[int]:
        """Tokens that may follow; more than ``most`` are of no use."""


class Certain(Guess):
    """Drafts what the constraint forces, in the tokens that the tokenizer writes."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    def _guessed(self, tokens: list[int], matcher: Matcher | None, most: int) -> list[int]:
        if matcher is None:
            return []
        if matcher.compiled.tokenization == "canonical":
            return matcher.forced_tokens() or certain_tokens(matcher, self._tokenizer)
        return certain_tokens(matcher, self._tokenizer)


class Repeated(Guess):
    """Drafts what followed the last tokens where they stood before, in the prompt or in the text."""

    def _guessed(self, tokens: list[int], matcher: Matcher | None, most: int) -> list[int]:
        for length in range(_LONGEST_NGRAM, _SHORTEST_NGRAM - 1, -1):
            last = tokens[-length:]
            for start in range(len(tokens) - length - 1, -1, -1):
                if tokens[start : start + length] == last:
                    return tokens[start + length :]
        return []
