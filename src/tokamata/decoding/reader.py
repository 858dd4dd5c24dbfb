"""A model that reads texts one after another, of which mostly the ends differ.

The cache of keys and values is kept up to the longest common prefix with a text that was read before:

    read before   5 9 2 7
    read now      5 9 4        5 9 stays in the cache, 4 is read

The last token is always read again where it was read before, since its logits are needed.  A cache that
cannot be cut, such as one of a window that is full, is dropped, and the whole text is read again.

Several continuations of one text can be read in one call, as a batch whose rows are padded at their ends.
The next text then goes on with the row that has most in common with it:

    read before   5 9 | 2 7    two rows
                  5 9 | 4 4    the second 4 is padding
    read now      5 9   4 6    the second row is kept, its padding is forgotten, 6 is read
"""

# transformers has no usable types for models, hence `Any`.

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tokamata.decoding.model import CachedModel

if TYPE_CHECKING:
    import torch

__all__ = ["Reader"]

# So many tokens before several continuations are read in a call of their own: each row would read them again.
_MOST_REPEATED = 16


class Reader:
    """Reads texts one after another with one model.

    Args:
        model: a transformers causal language model, or an object with the same interface.
        width: how many logits are returned: others are cut off, and missing ones are minus infinity;
            ``None``: those of the model.

    Attributes:
        calls: how often the model was called.
        positions: how many tokens it has read in these calls, padding included.
    """

    def __init__(self, model: Any, width: int | None = None) -> None:
        self._model, self._width = CachedModel(model), width
        self._rows: list[list[int]] = []  # what each row of the batch has read
        self.calls = self.positions = 0

    def logits(self, tokens: list[int]) -> torch.Tensor:
        """The logits after the tokens, ``[width]``; the caller may change the tensor."""
        return self.logits_ahead(tokens, [[]])[0, 0]

    def logits_ahead(self, tokens: list[int], ends: Sequence[list[int]]) -> torch.Tensor:
        """The logits after the tokens, and after each token of each continuation, in one call.

        The tokens before are read in a call of their own where that saves much.

        Args:
            tokens: a text, at least one token.
            ends: its continuations, at least one.

        Returns:
            ``[continuations, 1 + length of the longest, width]``: entry ``i, j`` has the logits after the
            tokens and ``j`` tokens of continuation ``i``; those after the end of a continuation mean nothing.

        Raises:
            GenerationError: the model returns too few logits.
        """
        import torch

        common = self._return_to(tokens[:-1])
        longest = max(map(len, ends))
        if not self._model.forgets and 0 < common < len(tokens) + longest - 1:
            # A model that cannot forget cannot read several tokens after a state either: all is read again.
            self._model.take_back(common)
            common = 0
        if len(ends) > 1 and self._model.forgets and len(tokens) - 1 - common > _MOST_REPEATED:
            self._read([tokens[common:-1]], 1)
            common = len(tokens) - 1
            self._rows = [tokens[:common]]
        if len(ends) > 1 and common:
            self._model.keep([0] * len(ends))
        new = [tokens[common:] + end for end in ends]
        padded = [row + row[-1:] * (longest - len(end)) for row, end in zip(new, ends, strict=True)]
        logits = self._read(padded, longest + 1)
        self._rows = [tokens[:common] + row for row in padded]
        if longest == 0:
            logits = logits.unsqueeze(1)
        if self._width is None or logits.shape[-1] == self._width:
            return logits
        missing = self._width - logits.shape[-1]  # a negative number cuts
        return torch.nn.functional.pad(logits, (0, missing), value=float("-inf"))

    def _return_to(self, tokens: list[int]) -> int:
        """Forgets all but the longest known prefix of the tokens; returns its length."""
        if not self._rows:
            return 0
        lengths = [_common(row, tokens) for row in self._rows]
        best = max(range(len(lengths)), key=lengths.__getitem__)
        self._model.keep([best])
        self._model.take_back(len(self._rows[best]) - lengths[best])
        self._rows = [self._rows[best][: lengths[best]]]
        return lengths[best]

    def _read(self, tokens: list[list[int]], positions: int) -> torch.Tensor:
        self.calls += 1
        self.positions += sum(map(len, tokens))
        return self._model.next_logits(tokens, positions)


def _common(first: list[int], second: list[int]) -> int:
    """The length of the longest common prefix."""
    count = 0
    for ours, theirs in zip(first, second, strict=False):
        if ours != theirs:
            break
        count += 1
    return count
