"""A causal language model that reads several texts as a batch.

The model's cache of keys and values is kept between calls, so each token is read once.

Texts of different lengths are padded on the left in the first call, and the model gets an attention mask and
positions that ignore the padding.  Later calls read equally many tokens of each text, so padding is never
inside a text:

    first call   . . 5 6      attention mask  0 0 1 1      positions  0 0 0 1
                 7 8 9 4                      1 1 1 1                 0 1 2 3
    next call        3                          0 0 1 1 1                    2
                     2                          1 1 1 1 1                    4

Rejected: padding that stays inside a text.  It would save calls after a jump, but layers with a sliding
window count padding as positions, and would forget text too early.
"""

# transformers has no usable types for models, hence `Any`.

from __future__ import annotations

import copy
import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tokamata.decoding.hosts import check_model, logits_width
from tokamata.errors import ArgumentError, GenerationError, MissingExtraError

if TYPE_CHECKING:
    import torch

__all__ = ["CachedModel"]


class CachedModel:
    """A transformers causal language model, with the tokens of each text that it has read.

    Attributes:
        device: the torch device of the model's input.
        forgets: whether tokens can be taken back without reading everything again, as far as is known.
        width: the number of logits that the model declares, or ``None``.
    """

    def __init__(self, model: Any) -> None:
        try:
            import torch
        except ImportError as error:
            raise MissingExtraError("torch", "transformers", "generating text") from error
        check_model(model)
        self.device: torch.device = torch.device(getattr(model, "device", "cpu"))
        self.width = logits_width(model)
        self._model = model
        self._read: list[list[int]] = []
        self._padding: list[int] = []
        self._cache: Any = None
        self._mark: tuple[list[list[int]], list[int], Any] = [], [], None
        parameters = inspect.signature(getattr(model, "forward", model)).parameters
        self._names = set(parameters)
        # A wrapper that names no input passes all inputs on.
        takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
        self._takes_all = takes_any and "input_ids" not in parameters
        self._takes_mask = takes_any or "attention_mask" in parameters
        # State-space models multiply what they read by the mask: it must have the tokens that are read alone.
        self._is_stateful = bool(getattr(model, "_is_stateful", False))
        self.forgets = not self._is_stateful
        self._masks_what_is_read = self._is_stateful and "position_ids" not in self._names
        # transformers 5.24 renames it.
        self._cache_name = "cache" if "cache" in self._names else "past_key_values"

    @property
    def has_read(self) -> bool:
        """Whether it has read any tokens."""
        return bool(self._read)

    def next_logits(self, tokens: Sequence[list[int]], positions: int = 1) -> torch.Tensor:
        """Read ``tokens``, after all those read before, and return the next logits ``[texts, width]``.

        The caller may change the tensor.

        Args:
            tokens: a list for each text.  After the first call, all lists have the same length.
            positions: with more than one, the logits after each of the last tokens, ``[texts, positions,
                width]``.

        Raises:
            GenerationError: the texts have different lengths, and the model accepts no attention mask; or it
                returned too few logits.
        """
        import torch

        if self._is_stateful and self._cache is not None and len(tokens[0]) > 1:
            # transformers' state-space models begin anew where they read several tokens with a state.
            steps = [self.next_logits([[token] for token in column]) for column in zip(*tokens, strict=True)]
            return steps[-1] if positions == 1 else torch.stack(steps[-positions:], 1)
        if not self._read:
            self._read = [[] for _ in tokens]
        for read, new in zip(self._read, tokens, strict=True):
            read += new
        unread = list(tokens)
        if self._cache is None:  # the first call, or a model without a cache
            unread = self._read
            longest = max(map(len, unread))
            self._padding = [longest - len(text) for text in unread]
            unread = [[0] * padding + text for padding, text in zip(self._padding, unread, strict=True)]
        with torch.inference_mode():
            output = self._model(
                input_ids=torch.tensor(unread, device=self.device),
                use_cache=True,
                **{self._cache_name: self._cache},
                **self._options(len(unread[0]), positions),
            )
            self._cache = getattr(output, self._cache_name, None)
            if not hasattr(output, "logits"):
                raise ArgumentError(
                    "model",
                    f"{type(self._model).__name__}, whose output has none",
                    "a causal language model, whose output has logits",
                    "load it with transformers.AutoModelForCausalLM.from_pretrained",
                )
            logits: torch.Tensor = output.logits[:, -positions:].clone()
        if logits.shape[1] < positions:
            raise GenerationError(
                f"the model returned logits of {logits.shape[1]} positions, and a draft needs those of "
                f"{positions}; generate without a draft"
            )
        return logits if positions > 1 else logits[:, 0]

    def expect_returns(self) -> None:
        """Says, before the first call with drafts, that tokens may be taken back."""
        if hasattr(self._cache, "activate_past_recording"):  # layers with a window forget too much otherwise
            self._cache.activate_past_recording()

    def take_back(self, count: int) -> None:
        """Forgets the last tokens of each text."""
        if count == 0:
            return
        for read in self._read:
            del read[len(read) - count :]
        if not any(self._read):  # nothing is left: it begins afresh, with any number of texts
            self._read, self._cache = [], None
        if self._cache is None:  # everything is read again in any case
            return
        try:
            self._cache.crop(-count)
        except (AttributeError, NotImplementedError, RuntimeError, ValueError):
            self._cache = None  # it cannot forget: everything is read again
            self.forgets = False

    def mark(self) -> None:
        """Remembers what was read up to here, for :meth:`return_to_mark`; takes the memory of the cache."""
        self._mark = copy.deepcopy((self._read, self._padding, self._cache))

    def return_to_mark(self) -> None:
        """Continues with the texts that :meth:`mark` has remembered, any number of times.

        Unlike :meth:`take_back`, it suits every cache: a window, or a state, has lost what came before.
        """
        self._read, self._padding, self._cache = copy.deepcopy(self._mark)

    def keep(self, texts: list[int]) -> None:
        """Continue with some of the texts, in this order.

        Args:
            texts: their indices; a text that is named several times goes on as several.
        """
        import torch

        if not self._read or texts == list(range(len(self._read))):
            return
        self._read = [list(self._read[index]) for index in texts]  # copies: an index may occur twice
        self._padding = [self._padding[index] for index in texts]
        if hasattr(self._cache, "reorder_cache"):
            self._cache.reorder_cache(torch.tensor(texts, device=self.device))
        else:
            self._cache = None  # everything is read again

    def _options(self, count: int, positions: int) -> dict[str, Any]:
        """The model's other arguments, besides the last ``count`` tokens of each text."""
        import torch

        options: dict[str, Any] = {}
        # The logits of all positions of a long prompt, over a wide vocabulary, would fill gigabytes.
        if "logits_to_keep" in self._names:
            options["logits_to_keep"] = positions
        if not any(self._padding):
            return options
        if not self._takes_mask:
            raise GenerationError(
                "prompts of different lengths are padded, and this model accepts no attention_mask to ignore "
                "the padding; generate one prompt at a time"
            )
        padding = torch.tensor(self._padding, device=self.device).unsqueeze(1)
        length = self._padding[0] + len(self._read[0])
        slots = torch.arange(length, device=self.device).unsqueeze(0)
        mask = (slots >= padding).long()
        options["attention_mask"] = mask[:, length - count :] if self._masks_what_is_read else mask
        if "position_ids" in self._names or self._takes_all:
            options["position_ids"] = (slots - padding).clamp(min=0)[:, length - count :]
        return options
