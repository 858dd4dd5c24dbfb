"""One request in the engine: a matcher, and the rows of a draft.

vLLM asks for the masks of a draft row by row: fill, accept a token, fill, …, roll back.  Before that it calls
:meth:`TokamataGrammar.validate_tokens`.  This call computes all rows at once, and keeps them.  The calls that
follow move a position in the kept rows, and the matcher stays where it is::

    validate [5, 7, 9]     rows 0 to 2 are kept: 9 is not allowed after 5 7
    fill                   row 0
    accept [5], fill       row 1
    accept [7], fill       row 2
    rollback 2             position 0
    accept [5, 3]          the model did not take 7: now the matcher reads 5 and 3, and the rows go
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tokamata.errors import BudgetError, LengthError, LimitExceeded, TokamataError
from tokamata.matching.masks import allocate_mask
from tokamata.matching.matchers import CompiledConstraint

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["TokamataGrammar"]

_FAILURES = (TokamataError, MemoryError)
_LOG = logging.getLogger("vllm.tokamata")  # a child of vLLM's logger, so that it is shown where vLLM's is


class TokamataGrammar:
    """vLLM's ``StructuredOutputGrammar`` of one request.

    It is *terminated* after a stop token.  A finished text is not enough: vLLM allows all tokens in the row
    of a terminated grammar, so the text would go on.

    A call that raised, such as :class:`tokamata.LimitExceeded`, would end the engine with all its requests.
    Instead the request fails alone: from then on its rows have the stop tokens only, and it accepts no token.

    Args:
        compiled: the constraint.
        stop: the request's stop tokens.
        deadline_seconds: the time for the rows of a call; ``None``: any.  A row that is not whole by then has
            the tokens that are known.  If none are, it is made without a deadline.

    Attributes:
        left: how many tokens the request may still write, the stop token included; ``None``: any number.  A
            row allows only tokens after which a text can be finished in time.  If no text can be, it allows
            all tokens of the constraint, and vLLM cuts the text off.
    """

    left: Callable[[], int] | None = None

    def __init__(
        self, compiled: CompiledConstraint[Any], stop: Sequence[int], deadline_seconds: float | None = None
    ) -> None:
        self._compiled = compiled
        self._deadline_seconds = deadline_seconds
        self._width = compiled.vocabulary.width
        self._stop = frozenset(stop)
        is_usual = self._stop == set(compiled.vocabulary.stop)
        self._own_stop = None if is_usual else list(stop)
        self._least = 0  # tokens of a text
        self._buffer: npt.NDArray[np.int32] | None = None  # for the rows of a draft
        self.reset()

    def set_least(self, tokens: int) -> None:
        """Allow only texts of at least so many tokens; at the start of a text.

        If none was found the texts are shorter, as vLLM has it where nothing but a stop token can follow.
        """
        if tokens == self._least:
            return
        try:
            self._matcher = self._compiled.matcher(stop=self._own_stop, min_tokens=tokens)
            self._least = tokens
        except LengthError as error:
            _LOG.warning("min_tokens has no effect: %s", error)
        except _FAILURES as error:
            self._fail(error)

    def reset(self) -> None:
        """Go back to the start of the text."""
        self._matcher = self._compiled.matcher(stop=self._own_stop, min_tokens=self._least)
        self._has_stopped = False  # the matcher's last token was a stop token
        self._after_stop = 0  # tokens after it: accepted, not read, and counted for rollback
        self._draft: list[int] = []  # tokens that the matcher has not read
        self._position = 0  # how many of them have been accepted
        self._rows: npt.NDArray[np.int32] | None = None  # the mask before each token of the draft, and after
        self._has_failed = False

    def is_terminated(self) -> bool:
        """Whether a stop token was accepted."""
        if self._position:
            return self._draft[self._position - 1] in self._stop
        return self._has_stopped

    def accept_tokens(self, request_id: str, tokens: list[int]) -> bool:
        """Accept all tokens, or none.

        Returns:
            Whether the constraint allows them.  After a stop token, any token is accepted.
        """
        if self._has_failed:
            return False
        try:
            if self._rows is not None:
                end = self._position + len(tokens)
                if self._after_stop == 0 and self._draft[self._position : end] == tokens:
                    self._position = end
                    return True
                self._read_draft()
            return self._read(tokens)
        except _FAILURES as error:
            self._fail(error, request_id)
            return False

    def validate_tokens(self, tokens: list[int]) -> list[int]:
        """The tokens before the first that is not allowed, and at most one stop token, the last.

        The state is the same afterwards.
        """
        if not tokens or self._has_failed or self.is_terminated():
            return []
        try:
            if self._rows is not None:
                self._read_draft()
            self._keep_rows(tokens)
        except _FAILURES as error:
            self._fail(error)
            return []
        return list(self._draft)

    def rollback(self, num_tokens: int) -> None:
        """Take back the last tokens.

        Raises:
            RollbackError: there are fewer.
        """
        if self._has_failed:  # nothing that follows depends on the state
            return
        ignored = min(num_tokens, self._after_stop)
        drafted = min(num_tokens - ignored, self._position)
        left = num_tokens - ignored - drafted
        if left:
            self._matcher.rollback(left)  # first, since it may raise
            self._has_stopped = False
            self._draft, self._rows = [], None
        self._after_stop -= ignored
        self._position -= drafted

    def fill_bitmask(self, bitmask: Any, batch_index: int) -> None:
        """Write the mask of the next token.

        Args:
            bitmask: torch's ``int32[rows, ceil(width / 32)]``, on the CPU.
            batch_index: the row.
        """
        row = bitmask.numpy()[batch_index]  # torch takes ten times as long to make a view of a row
        if self._rows is not None and self._after_stop == 0:
            row[:] = self._rows[self._position]
            return
        if not self._has_failed:
            try:
                self._fill(row)
            except _FAILURES as error:
                self._fail(error)
        if self._has_failed:
            row[:] = 0
            for token in self._stop:
                row.view("uint32")[token // 32] |= 1 << token % 32

    def _fill(self, row: npt.NDArray[np.int32]) -> None:
        if self.left is not None:
            try:
                self._fill_in_time(row, self.left(), count_stop=True)
                return
            except BudgetError:
                pass  # no text fits, so that the text is cut off with any mask
        self._fill_in_time(row)

    def _fill_in_time(
        self, row: npt.NDArray[np.int32], budget: int | None = None, count_stop: bool = False
    ) -> None:
        if (seconds := self._deadline_seconds) is not None:
            try:
                self._matcher.fill_mask(row, budget, count_stop, deadline_seconds=seconds, on_deadline="some")
                return
            except LimitExceeded as error:
                if error.limit != "deadline_seconds":
                    raise
        self._matcher.fill_mask(row, budget, count_stop)

    def _read(self, tokens: list[int]) -> bool:
        """Let the matcher read tokens up to a stop token, and count those after it."""
        end = 0
        if not self._has_stopped:
            end = self._end(tokens)
            if not self._is_read(tokens[:end]):
                return False
            self._has_stopped = end > 0 and tokens[end - 1] in self._stop
        self._after_stop += len(tokens) - end
        return True

    def _is_read(self, tokens: list[int]) -> bool:
        """Let the matcher read all of some tokens, or none; returns whether it has."""
        if not all(0 <= token < self._width for token in tokens):  # vLLM has placeholders of -1 among drafts
            return False
        # `advance` answers what is known already without releasing the interpreter's lock.
        return self._matcher.advance(tokens[0]) if len(tokens) == 1 else self._matcher.advance_all(tokens)

    def _end(self, tokens: list[int]) -> int:
        """How many tokens there are up to the first stop token, which counts."""
        return next((i + 1 for i, token in enumerate(tokens) if token in self._stop), len(tokens))

    def _read_draft(self) -> None:
        """Let the matcher read the accepted tokens of the draft, and forget the rest."""
        accepted = self._draft[: self._position]
        self._draft, self._position, self._rows = [], 0, None
        if accepted:
            self._read(accepted)  # known to be allowed

    def _keep_rows(self, tokens: list[int]) -> None:
        """Compute the masks along a draft."""
        end = self._end(tokens)
        if self._buffer is None or len(self._buffer) <= end:
            self._buffer = allocate_mask(end + 1, self._width)
        rows = self._buffer
        left = None if self.left is None else self.left()
        legal = self._rows_in_time(rows, tokens[:end], left)
        if left is not None and not rows[0].any():  # no text fits
            legal = self._rows_in_time(rows, tokens[:end], None)
        self._draft, self._rows = tokens[: int(legal.sum())], rows

    def _rows_in_time(
        self, rows: npt.NDArray[np.int32], tokens: list[int], left: int | None
    ) -> npt.NDArray[np.bool_]:
        """Which tokens are legal, as far as is known in time."""
        if (seconds := self._deadline_seconds) is not None:
            try:
                legal, _ = self._matcher.fill_draft_masks(
                    rows, tokens, budget=left, count_stop=True, deadline_seconds=seconds, on_deadline="some"
                )
                return legal
            except LimitExceeded as error:
                if error.limit != "deadline_seconds":
                    raise
        return self._matcher.fill_draft_masks(rows, tokens, budget=left, count_stop=True)

    def _fail(self, error: Exception, request_id: str = "") -> None:
        _LOG.error("the request %s ends, since a mask could not be computed: %s", request_id, error)
        self._has_failed = True
        self._draft, self._position, self._rows = [], 0, None
