"""A model that reads one text again and again, of which mostly the end has changed.

The cache of keys and values is kept up to the longest common prefix with the text that was read before:

    read before   5 9 2 7
    read now      5 9 4        5 9 stays in the cache, 4 is read

The last token is always read again where it was read before, since its logits are needed.
"""

# transformers has no usable types for models, hence `Any`.

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tokamata.decoding.model import CachedModel

if TYPE_CHECKING:
    import torch

__all__ = ["Reader"]


class Reader:
    """Reads texts one after another with one model.

    Args:
        model: a transformers causal language model, or an object with the same interface.
        width: of the vocabulary.

    Attributes:
        calls: how often the model was called.
    """

    def __init__(self, model: Any, width: int) -> None:
        self._model, self._width = CachedModel(model), width
        self._read: list[int] = []
        self.calls = 0

    def logits(self, tokens: list[int]) -> torch.Tensor:
        """The logits after the tokens, ``[width]``; minus infinity where the model has none.

        The caller may change the tensor.
        """
        import torch

        common = 0
        for ours, theirs in zip(self._read, tokens[:-1], strict=False):
            if ours != theirs:
                break
            common += 1
        self._model.take_back(len(self._read) - common)
        logits = self._model.next_logits([tokens[common:]])[0]
        self.calls += 1
        self._read = list(tokens)
        if logits.shape[-1] >= self._width:
            return logits[: self._width]
        missing = self._width - logits.shape[-1]
        return torch.nn.functional.pad(logits, (0, missing), value=float("-inf"))
