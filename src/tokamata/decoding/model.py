"""A causal language model asked for one position after another.

The model's cache of keys and values is kept between calls, so that each token is read once.
"""

# transformers has no usable types for models and tokenizers, hence `Any` for the two.

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tokamata.arguments import checked_list, checked_whole
from tokamata.errors import GenerationError, MissingExtraError

if TYPE_CHECKING:
    import torch

__all__ = ["CachedModel", "prompt_tokens"]


def prompt_tokens(tokenizer: Any, prompt: str | Sequence[int]) -> list[int]:
    """Return the ids of a prompt: a text as ``tokenizer`` encodes it, or the ids themselves.

    Raises:
        GenerationError: there are none, so that a model would have nothing to go on from.
    """
    tokens = tokenizer(prompt)["input_ids"] if isinstance(prompt, str) else prompt
    given = checked_list("prompt", tokens, "a text, or a list of token ids")
    tokens = [checked_whole("a token of the prompt", token) for token in given]
    if not tokens:
        raise GenerationError(
            "the prompt has no tokens, and this tokenizer begins a text with none; give a prompt, "
            "or the id of a token that begins a text"
        )
    return tokens


class CachedModel:
    """A transformers causal language model, one sequence, one reader.

    Attributes:
        device: where the model's input lies.
    """

    def __init__(self, model: Any) -> None:
        try:
            import torch
        except ImportError as error:
            raise MissingExtraError("torch", "transformers", "generating text") from error
        self.device: torch.device = torch.device(getattr(model, "device", "cpu"))
        self._model = model
        self._read: list[int] = []
        self._cache: Any = None
        forward = getattr(model, "forward", model)
        # Where a model can be told to, it computes the logits of the last position alone: those
        # of a long prompt over a wide vocabulary would fill gigabytes.
        knows = "logits_to_keep" in inspect.signature(forward).parameters
        self._options: dict[str, Any] = {"logits_to_keep": 1} if knows else {}

    @property
    def has_read(self) -> bool:
        """Whether it was asked before."""
        return bool(self._read)

    def next_logits(self, tokens: Sequence[int]) -> torch.Tensor:
        """Read ``tokens``, after all those read before, and return the logits ``[width]`` that follow.

        The tensor is the caller's to change.
        """
        import torch

        self._read.extend(tokens)
        unread = self._read if self._cache is None else list(tokens)
        with torch.inference_mode():
            output = self._model(
                input_ids=torch.tensor([unread], device=self.device),
                past_key_values=self._cache,
                use_cache=True,
                **self._options,
            )
            self._cache = getattr(output, "past_key_values", None)
            logits: torch.Tensor = output.logits[0, -1].clone()
        return logits
