"""The texts that a beam search has finished, with all token sequences that were found to spell each.

Of each text the sum of the probabilities is kept, and the best sequence.  The number of texts is bounded: the
least probable go first, and what goes is added up.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokamata.decoding.logarithms import log_add
from tokamata.decoding.results import FinishReason

if TYPE_CHECKING:
    from tokamata.decoding.beams.beginnings import Beginning

__all__ = ["FinishedText", "FinishedTexts"]

_MOST = 4096  # texts, and four times the beams


@dataclass
class FinishedText:
    """A text.

    Attributes:
        best: its most probable token sequence, the end of a beam.
        reason: how that one ended.
        log_probability: natural logarithm of the sum of all its sequences.
        is_drawn: whether the model drew them all, without detours.
        sequences: how many these are.
    """

    best: Beginning
    reason: FinishReason
    log_probability: float
    is_drawn: bool
    sequences: int = 1


class FinishedTexts:
    """The texts."""

    def __init__(self, beams: int) -> None:
        self._most = _MOST + 4 * beams
        self._texts: dict[bytes, FinishedText] = {}
        self.log_dropped = -math.inf

    def add(self, end: Beginning, reason: FinishReason) -> None:
        """Adds the end of a beam; of equally probable ones of a text, the first in shortlex order is best."""
        if end.log_probability == -math.inf:
            return
        known = self._texts.get(end.text)
        if known is None:
            self._texts[end.text] = FinishedText(end, reason, end.log_probability, end.is_drawn)
            if len(self._texts) > 2 * self._most:
                self._shrink()
            return
        known.log_probability = log_add(known.log_probability, end.log_probability)
        known.sequences += 1
        known.is_drawn = known.is_drawn and end.is_drawn
        if _comes_before(end, known.best):
            known.best, known.reason = end, reason

    def scores(self, count: int) -> list[float]:
        """Of the best texts, the log-probabilities, largest first."""
        return heapq.nlargest(count, (text.log_probability for text in self._texts.values()))

    def best(self, count: int) -> list[FinishedText]:
        """The best texts; of equally probable ones, fewer tokens first, then smaller ids."""
        ordered = heapq.nsmallest(
            count,
            self._texts.values(),
            key=lambda text: (-text.log_probability, text.best.depth, text.best.tokens()),
        )
        return list(ordered)

    def _shrink(self) -> None:
        kept = {id(text) for text in self.best(self._most)}
        for data, text in list(self._texts.items()):
            if id(text) not in kept:
                self.log_dropped = log_add(self.log_dropped, text.log_probability)
                del self._texts[data]


def _comes_before(first: Beginning, second: Beginning) -> bool:
    if first.log_probability != second.log_probability:
        return first.log_probability > second.log_probability
    return (first.depth, first.tokens()) < (second.depth, second.tokens())
