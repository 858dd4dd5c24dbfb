"""The tokens that may follow each beginning of a beam search.

They are those of the mask for the rest of the budget, less the banned tokens.  With canonical tokenization
masks do not count with bans, so a beginning may meet a mask of banned tokens alone.  From the first mask on
that allows banned tokens, a policy keeps room for a detour in the budget.  That may exclude texts, whose
probability must be counted as given up, so :class:`Following` has both sets of tokens.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tokamata.errors import BudgetError, LimitExceeded
from tokamata.matching.batches import fill_masks
from tokamata.matching.masks import allocate_mask, allowed_tokens

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tokamata.decoding.beams.beginnings import Beginning
    from tokamata.decoding.row import Task

__all__ = ["BeamMasks", "Following"]


@dataclass(frozen=True)
class Following:
    """The tokens that may follow a beginning.

    Attributes:
        tokens: their ids, in ascending order.
        with_room: those after which a detour still fits into the budget; ``None``: no room is kept.
    """

    tokens: npt.NDArray[np.intp]
    with_room: npt.NDArray[np.intp] | None = None


class BeamMasks:
    """Makes the masks of a search."""

    def __init__(self, task: Task[Any]) -> None:
        self._recovery, self._width = task.recovery, task.vocabulary.width

    def of(self, beginnings: list[Beginning], budget: int) -> list[Following | None]:
        """The tokens that may follow each of the beginnings; ``None`` where a limit was exceeded.

        Args:
            beginnings: at least one.
            budget: how many tokens each of them may still have.

        Raises:
            LimitExceeded: there is no policy, and a limit was exceeded.
        """
        mask = allocate_mask(len(beginnings), self._width)
        has_mask = self._fill(beginnings, mask, budget)
        return [
            self._following(each, row, budget) if is_whole else None
            for each, row, is_whole in zip(beginnings, mask, has_mask, strict=True)
        ]

    def _fill(self, beginnings: list[Beginning], mask: npt.NDArray[np.int32], budget: int) -> list[bool]:
        try:
            fill_masks([each.matcher for each in beginnings], mask, budgets=[budget] * len(beginnings))
        except LimitExceeded:
            if self._recovery.policy is None:
                raise
            return [self._has_filled(each, row, budget) for each, row in zip(beginnings, mask, strict=True)]
        return [True] * len(beginnings)

    def _has_filled(self, beginning: Beginning, row: npt.NDArray[np.int32], budget: int) -> bool:
        try:
            beginning.matcher.fill_mask(row, budget)
        except LimitExceeded:
            return False
        return True

    def _following(self, beginning: Beginning, row: npt.NDArray[np.int32], budget: int) -> Following:
        room = self._recovery.room(beginning.matcher)
        if room > 0 and not beginning.meets_bans:
            beginning.meets_bans = self._recovery.has_banned(row)
        tokens = self._tokens(row)
        if not beginning.meets_bans or budget <= room:
            return Following(tokens)
        tight = allocate_mask(1, self._width)[0]
        with suppress(BudgetError, LimitExceeded):
            beginning.matcher.fill_mask(tight, budget - room)
            return Following(tokens, self._tokens(tight))
        return Following(tokens)

    def _tokens(self, row: npt.NDArray[np.int32]) -> npt.NDArray[np.intp]:
        return allowed_tokens(self._recovery.allowed(row))
