"""What a beam search does with a beginning that no token of the model continues.

Problem.  The tokens that may follow a beginning may all have probability 0: a model or a filter before the
mask gives them minus infinity, its logits are NaN, or all of them are banned.
How.  Each beginning goes on by itself, with the states of :mod:`tokamata.decoding.policy`:

    Decode ──no token──▶ Shadow ──▶ Decode            a detour by bytes; it keeps its place among the beams
                            └──no detour──▶ dropped   while the other beams go on
    no text at all ──▶ Repair ──▶ Abstain             the most probable dropped beginning is closed

A beginning is closed by its shortest completion, which the model did not choose.  It would count as certain
and displace texts that the model wrote, so it is closed only where no text was found.

Example, with 2 beams.  All that may follow "a" has minus infinity, and half of the model's tokens there begin
with "b", the only byte that may follow::

    "a" .6   "b" .3          "ab" .6 * .5   "ba" .28

Source: Xu, *OIP-CAD*, listings 1 and 4.  The listing ends its loop over the beams at the first one without
tokens, which loses all others (``docs/errata.md``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tokamata.decoding.bias import Bias
from tokamata.decoding.recovery import MOST_DETOURS
from tokamata.decoding.results import Abstention, Cause, Clock, Switch, Timing
from tokamata.decoding.written_text import WrittenText
from tokamata.errors import NoTokenError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tokamata.decoding.beams.beginnings import Beginning
    from tokamata.decoding.row import Task
    from tokamata.matching.matchers import Matcher

__all__ = ["Backoff"]


@dataclass(frozen=True)
class _Dropped:
    """A beginning that was dropped, and why."""

    beginning: Beginning
    cause: Cause
    reason: str

    @property
    def rank(self) -> tuple[float, int, list[int]]:
        """The most probable one is the smallest; ties in shortlex order."""
        each = self.beginning
        return -each.log_probability, each.depth, each.tokens()


class Backoff:
    """The detours of a search, and the beginnings that had none.

    Args:
        task: the task.
        kept: how many of the dropped beginnings are kept, at least.
        timing: where the times are added.
    """

    def __init__(self, task: Task[Any], kept: int, timing: Timing) -> None:
        self._task, self._kept, self._timing = task, kept, timing
        self._recovery = task.recovery
        self._bias = Bias(dict.fromkeys(task.recovery.banned, -math.inf))
        self._dropped: list[_Dropped] = []

    def detour(
        self, beginning: Beginning, cause: Cause, logits: npt.NDArray[np.floating]
    ) -> tuple[Beginning, bool] | None:
        """The beginning after a detour by bytes; ``None``: there is none.

        Args:
            beginning: where it begins.
            cause: why no token follows there.
            logits: of the model there, ``[width]``, unmasked.

        Returns:
            The longer beginning, and whether it ends there: it is accepted, and no tokens follow.
        """
        import torch

        if beginning.detours == MOST_DETOURS:
            return None
        with Clock(self._timing, "backoff_seconds"):
            scores = self._bias.added(torch.from_numpy(logits))
            left = self._task.budget - beginning.depth
            found = self._recovery.detour(beginning.matcher, beginning.tokens(), scores, left)
        if found is None:
            return None
        matcher = self._after(found.start, found.tokens) if found.back is None else found.back
        longer = self._longer(beginning, "shadow", cause, found.tokens, found.log_probabilities, matcher)
        longer.detours = beginning.detours + 1
        return longer, found.back is None

    def drop(self, beginning: Beginning, cause: Cause, reason: str) -> None:
        """Keeps a beginning for the case that no text is found."""
        self._dropped.append(_Dropped(beginning, cause, reason))
        if len(self._dropped) > 2 * self._kept:
            self._dropped = self._ranked()[: self._kept]

    def closed(self) -> Beginning | None:
        """The most probable dropped beginning that can be closed, with its shortest completion.

        ``None``: there is none, or the policy closes none.
        """
        if self._recovery.policy is None or not self._recovery.policy.repair:
            return None
        for dropped in self._ranked():
            each = dropped.beginning
            if dropped.cause == "limits":
                continue
            with Clock(self._timing, "repair_seconds"):
                closing = self._recovery.closing(each.matcher, each.tokens(), None)
            if closing is not None and len(closing.tokens) <= self._task.budget - each.depth:
                matcher = self._after(closing.start, closing.tokens)
                scores = [0.0] * len(closing.tokens)
                return self._longer(each, "closing", dropped.cause, closing.tokens, scores, matcher)
        return None

    def abstention(self) -> Abstention:
        """The result of a search with a policy that has found no text.

        Raises:
            NoTokenError: there is no policy.
        """
        first = self._ranked()[0]
        each = first.beginning
        if self._recovery.policy is None:
            raise self.error(each, first.cause, first.reason)
        return self._recovery.abstention(
            first.cause,
            each.matcher,
            self._written(each),
            each.tokens(),
            self._task.prompt,
            each.switches,
            self._timing,
            None,
        )

    def error(self, beginning: Beginning, cause: Cause, reason: str) -> NoTokenError:
        """The error that a search without a policy raises for a beginning."""
        text = self._written(beginning)
        return NoTokenError(cause, reason, len(text.data), text.text)

    def _ranked(self) -> list[_Dropped]:
        return sorted(self._dropped, key=lambda dropped: dropped.rank)

    def _longer(
        self,
        beginning: Beginning,
        state: Literal["shadow", "closing"],
        cause: Cause,
        tokens: list[int],
        scores: list[float],
        matcher: Matcher,
    ) -> Beginning:
        """A beginning with more tokens, and a switch for their bytes less the healed end of the prompt."""
        spelling, before = self._task.spelling, beginning.tokens()
        text = self._written(beginning)
        data = b"".join(spelling.each([*before, *tokens])[len(before) :])[text.to_skip :]
        switch = Switch(state, cause, len(text.data), data, sum(scores)) if data else None
        return beginning.undrawn(tokens, scores, matcher, spelling, switch)

    def _written(self, beginning: Beginning) -> WrittenText:
        text = WrittenText(len(self._task.healed.encode()), (), lambda _: True)
        for data in self._task.spelling.each(beginning.tokens()):
            text.add(text.skipped(data))
        return text

    @staticmethod
    def _after(start: Matcher, tokens: list[int]) -> Matcher:
        matcher = start.fork()
        is_whole = matcher.advance_all(tokens)
        assert is_whole  # they were found by following them
        return matcher
