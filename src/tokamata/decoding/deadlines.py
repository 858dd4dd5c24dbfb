"""Deadlines of a call: the speed so far, as a budget of tokens.

Problem.  A text is to be whole at a deadline.  To stop there cuts it off; to close it there, whatever stands,
surprises the model in the middle of a sentence.
Example.  0.9 s are left, and a round takes 0.1 s: masks get a budget of 9 tokens, so the model itself comes
to an end in time.  If the rounds get slower, the budget shrinks with them.
How.  The time of a round, which is a call of the model and the masks after it, is the median of the last few.
As long as one more fits, masks have a budget of as many tokens as rounds fit; where the text needs more, of
those.  When none fits, the text is closed with the shortest completion, which needs no call of the model.  So
a text passes its deadline by the last call of the model at most, whatever the median says.

Rejected.  The longest of the rounds: one slow round, as for a compilation, would close a text long before its
deadline.  The time from one round to the next: it includes that of whoever reads a stream.
"""

from __future__ import annotations

import time
from collections import deque
from statistics import median

__all__ = ["Pace"]

_LAST = 8  # rounds
_SHORTEST = 1e-6  # seconds


class Pace:
    """The clock of a call.

    Args:
        seconds: the time for all texts, from now on; ``None``: any.
        step_seconds: the time for one round, except the first, which reads the prompt; ``None``: any.
        paces: whether the time left is a budget.
    """

    def __init__(self, seconds: float | None, step_seconds: float | None, *, paces: bool) -> None:
        self._end = None if seconds is None else time.perf_counter() + seconds
        self._step_seconds = step_seconds
        self._paces = paces
        self._rounds: deque[float] = deque(maxlen=_LAST)
        self._begun = 0.0
        self._count = 0
        self._was_slow = False

    @property
    def has_deadline(self) -> bool:
        """Whether there is a deadline of any kind."""
        return self._end is not None or self._step_seconds is not None

    @property
    def is_over(self) -> bool:
        """Whether the texts have to end now: another round does not fit, or the last one was too slow."""
        return self._was_slow or self._rounds_left() == 0

    @property
    def tokens(self) -> int | None:
        """The budget of masks; ``None``: none."""
        left = self._rounds_left() if self._paces else None
        return None if left is None else max(left, 1)

    def seconds_left(self) -> float | None:
        """The time that is left for all texts, 0 at least; ``None``: any."""
        return None if self._end is None else max(0.0, self._end - time.perf_counter())

    def seconds_of_step(self) -> float | None:
        """The time that is left for this step, 0 at least; ``None``: any."""
        left = self.seconds_left()
        if self._step_seconds is None or self._count < 2:
            return left
        of_step = max(0.0, self._begun + self._step_seconds - time.perf_counter())
        return of_step if left is None else min(left, of_step)

    def begin_try(self) -> None:
        """Begins the texts again, with other prompts, in the time that is left."""
        self._count = 0
        self._was_slow = False

    def begin_round(self) -> None:
        """Begins a round.  The first one reads the prompt, and is not counted."""
        self._count += 1
        self._begun = time.perf_counter()

    def end_step(self) -> None:
        """The model's call and the masks of this round are done."""
        spent = time.perf_counter() - self._begun
        if self._count > 1:
            self._rounds.append(spent)
            self._was_slow = self._step_seconds is not None and spent > self._step_seconds

    def _rounds_left(self) -> int | None:
        """How many rounds fit into the time that is left; ``None``: any number, as far as is known."""
        if self._end is None:
            return None
        left = self._end - time.perf_counter()
        if left <= 0:
            return 0
        return int(left / max(median(self._rounds), _SHORTEST)) if self._rounds else None
