"""A token automaton as tensors, which step a whole batch of states by indexing.

The next state is ``table[state, class_of_token[token]]``: two look-ups, through the class of the token.
A table of states by tokens would take 1 GB for 1,000 states and 262,145 tokens; the table of states by
classes takes two bytes for each pair (four from 32,766 states on), and the classes one number for each
token.  The table covers all cases, so there are no branches:

    column  classes       tokens without any transition: always to ``dead``
    column  classes + 1   stop tokens: from accepting states, and from ``ended``, to ``ended``
    row     states        ``ended``, after a stop token
    row     states + 1    ``dead``, after a refused token

A mask is the table's row, compared with ``dead``, and indexed by the classes of the tokens.

Rejected: rows packed into one another (Tarjan and Yao, 1979).  They also need only indexing and take less
memory if the table is sparse, but more if it is dense, as it is once equal columns are merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tokamata.automata.token_rows import TokenRows
from tokamata.errors import LimitExceeded, MissingExtraError
from tokamata.resources.limits import Limits

if TYPE_CHECKING:
    import torch


class TokenTensors:
    """Steps batches of states on a device; made by :meth:`TokenAutomaton.to_torch`.

    States are ``int64`` tensors of any shape, with the automaton's numbers.  Another number is an index out
    of range: an error on a CPU, undefined elsewhere.

    Attributes:
        start: the start state.
        ended: the state after a stop token.
        dead: the state after a refused token, which refuses all tokens.
        width: the number of token ids.
    """

    __slots__ = ("_class_of_token", "_table", "dead", "ended", "start", "width")

    def __init__(self, rows: TokenRows, stop_tokens: Sequence[int], device: object, limits: Limits) -> None:
        host = _torch()
        states = len(rows.accepting)
        self.start, self.ended, self.dead = rows.start, states, states + 1
        self.width = len(rows.class_of_token)
        classes = int(rows.class_of_token.max(initial=-1)) + 1
        none, stop = classes, classes + 1  # the two columns besides those of the classes
        shape = (states + 2, classes + 2)
        dtype = np.dtype(np.int16 if shape[0] <= 1 << 15 else np.int32)
        if shape[0] * shape[1] * dtype.itemsize > limits.memory_bytes:
            raise LimitExceeded("memory_bytes", limits.memory_bytes)
        table = np.full(shape, self.dead, dtype=dtype)
        table[rows.sources, rows.classes] = rows.targets
        table[:states, stop][rows.accepting] = self.ended
        table[self.ended, stop] = self.ended
        class_of_token = np.append(rows.class_of_token, np.int32(-1))  # one more: ids outside the width
        class_of_token[class_of_token < 0] = none
        class_of_token[list(stop_tokens)] = stop
        self._table: torch.Tensor = host.from_numpy(table).to(device)
        self._class_of_token: torch.Tensor = host.from_numpy(class_of_token).to(device)

    @property
    def memory_bytes(self) -> int:
        """The size of the tensors in bytes."""
        return sum(tensor.numel() * tensor.element_size() for tensor in (self._table, self._class_of_token))

    def next_states(self, states: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """The states after one token each.

        Args:
            states: ``int64[...]``.
            tokens: ``int64[...]`` of the same shape; an id outside the width is refused.

        Returns:
            ``int64[...]``.
        """
        within = (tokens >= 0) & (tokens < self.width)
        classes = self._class_of_token[_torch().where(within, tokens, self.width)]
        return self._table[states, classes.long()].long()

    def masks(self, states: torch.Tensor) -> torch.Tensor:
        """Which tokens may come next, including stop tokens: ``bool[..., width]`` for ``int64[...]``."""
        allowed = self._table[states] != self.dead
        return allowed.index_select(-1, self._class_of_token[: self.width])

    def mask_words(self, states: torch.Tensor) -> torch.Tensor:
        """The same in bits, for :func:`tokamata.apply_mask`: ``int32[..., ceil(width / 32)]``.

        Bit ``t % 32`` of word ``t // 32`` is token ``t``.
        """
        host = _torch()
        masks = host.nn.functional.pad(self.masks(states), (0, -self.width % 32))
        weights = host.tensor([1 << bit for bit in range(8)], dtype=host.uint8, device=masks.device)
        octets = (masks.unflatten(-1, (-1, 8)) * weights).sum(dim=-1, dtype=host.uint8)
        words: torch.Tensor = octets.view(host.int32)
        return words


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError("torch", "transformers", "stepping batches of states") from error
    return torch
