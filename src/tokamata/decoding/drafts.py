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
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tokamata.decoding.jump import certain_tokens
from tokamata.decoding.model import CachedModel
from tokamata.decoding.sampling import Sampler
from tokamata.errors import ArgumentError, GenerationError, shown_argument
from tokamata.masks import allocate_mask, apply_mask
from tokamata.matching import Matcher

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import torch

    from tokamata.vocabulary import Vocabulary

__all__ = ["Draft", "Drafter", "check_draft", "drafter_of"]

_LONGEST_NGRAM, _SHORTEST_NGRAM = 3, 2
_EXPECTED = '"constraint", "prompt", a causal language model with the same tokens, or None'


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


class _Guess(Drafter):
    """A drafter whose tokens follow from the text."""

    def draft(self, tokens: list[int], matcher: Matcher | None, most: int, budget: int) -> Draft:
        guessed = self._guessed(tokens, matcher)[:most]
        if matcher is None:
            return Draft(guessed, None)
        masks = allocate_mask(len(guessed) + 1, matcher.compiled.vocabulary.width)
        legal = matcher.fill_draft_masks(masks, guessed, budget=budget)
        count = int(legal.argmin()) if not legal.all() else len(guessed)
        return Draft(guessed[:count], masks[: count + 1])

    @abstractmethod
    def _guessed(self, tokens: list[int], matcher: Matcher | None) -> list[int]:
        """Tokens that may follow."""


class _Certain(_Guess):
    """Drafts what the constraint forces, in the tokens that the tokenizer writes."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    def _guessed(self, tokens: list[int], matcher: Matcher | None) -> list[int]:
        if matcher is None:
            return []
        if matcher.compiled.tokenization == "canonical":
            return matcher.forced_tokens() or certain_tokens(matcher, self._tokenizer)
        return certain_tokens(matcher, self._tokenizer)


class _Repeated(_Guess):
    """Drafts what followed the last tokens where they stood before, in the prompt or in the text."""

    def _guessed(self, tokens: list[int], matcher: Matcher | None) -> list[int]:
        for length in range(_LONGEST_NGRAM, _SHORTEST_NGRAM - 1, -1):
            last = tokens[-length:]
            for start in range(len(tokens) - length - 1, -1, -1):
                if tokens[start : start + length] == last:
                    return tokens[start + length :]
        return []


class _Smaller(Drafter):
    """Drafts what a smaller model draws, under the same mask and the same warps."""

    def __init__(self, model: Any, sampler: Sampler, vocabulary: Vocabulary) -> None:
        self._model, self._sampler = CachedModel(model), sampler
        self._width, self._stop = vocabulary.width, vocabulary.stop
        self._read: list[int] = []

    def draft(self, tokens: list[int], matcher: Matcher | None, most: int, budget: int) -> Draft:
        fork = None if matcher is None else matcher.fork()
        masks = None if fork is None else allocate_mask(most + 1, self._width)
        drafted: list[int] = []
        probabilities: list[torch.Tensor] = []
        while True:
            place = len(drafted)
            if fork is not None and masks is not None:
                fork.fill_mask(masks[place], budget - place)
            is_over = drafted[-1:] and drafted[-1] in self._stop
            if place == most or is_over or (fork is not None and fork.is_finished):
                break
            logits = self._logits(tokens + drafted)
            if masks is not None:
                apply_mask(logits, masks[place])
            try:
                token, drawn_from = self._sampler.drawn(logits)
            except GenerationError:  # it has no probabilities here: the other model chooses
                break
            drafted.append(token)
            probabilities.append(drawn_from)
            if fork is not None:
                assert fork.advance(token)  # its mask allows it
        return Draft(drafted, None if masks is None else masks[: len(drafted) + 1], probabilities)

    def _logits(self, tokens: list[int]) -> torch.Tensor:
        """The model's logits after the tokens, in the width of the vocabulary."""
        import torch

        common = 0
        for ours, theirs in zip(self._read, tokens[:-1], strict=False):
            if ours != theirs:
                break
            common += 1
        self._model.take_back(len(self._read) - common)
        logits = self._model.next_logits([tokens[common:]])[0]
        self._read = list(tokens)
        if logits.shape[-1] >= self._width:
            return logits[: self._width]
        missing = self._width - logits.shape[-1]
        return torch.nn.functional.pad(logits, (0, missing), value=float("-inf"))


def check_draft(draft: Any) -> None:
    """Refuses what is no drafter."""
    if (
        draft is None
        or (isinstance(draft, str) and draft in _BY_NAME)
        or (callable(draft) and not isinstance(draft, str))
    ):
        return
    raise ArgumentError("draft", shown_argument(draft), _EXPECTED)


def drafter_of(draft: Any, tokenizer: Any, sampler: Sampler, vocabulary: Vocabulary) -> Drafter | None:
    """The drafter of a text.

    Args:
        draft: the argument of :func:`tokamata.stream`.
        tokenizer: that of the model.
        sampler: that of the text.
        vocabulary: that of the model.
    """
    if draft is None:
        return None
    return _BY_NAME[draft](tokenizer) if isinstance(draft, str) else _Smaller(draft, sampler, vocabulary)


_BY_NAME: dict[str, Callable[[Any], Drafter]] = {"constraint": _Certain, "prompt": lambda _: _Repeated()}
