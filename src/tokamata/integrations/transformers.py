"""Constraints inside transformers' own ``generate``: beams, batches, and all its sampling.

    from tokamata.integrations.transformers import ConstraintLogitsProcessor

    processor = ConstraintLogitsProcessor(compiled, max_new_tokens=100)
    model.generate(
        **inputs,
        logits_processor=[processor],
        max_new_tokens=100,
        eos_token_id=list(compiled.vocabulary.stop),
    )

``generate`` cuts off at ``max_new_tokens`` whatever has been written; the processor that is told of it
allows only what can still be finished within it.

Processors that are passed in this way come after transformers' penalties and before temperature,
top-k and top-p (``GenerationMixin._get_logits_processor``), which therefore cut among the allowed
tokens.  ``eos_token_id`` is needed only where the model's generation config names other stop
tokens than the vocabulary does.

A processor is called with the ids of all rows so far and nothing else, so each row's place in the
pattern is found from its ids after the prompt.  Rows that beam search reorders, copies or drops
are therefore of no matter:

    step 1     rows ()                    one matcher, at the start
    step 2     rows (5,) (9,)             two forks of it
    step 3     rows (9, 2) (9, 7)         two forks of (9,); (5,) is forgotten

Only the matchers of the last step are kept, and rows with equal ids share one.
"""

# transformers is not imported: it takes any callable with this signature.

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tokamata.compiled import CompiledConstraint
from tokamata.errors import BudgetError, GenerationError, NoStopTokenError
from tokamata.masks import apply_mask
from tokamata.matcher import Matcher

if TYPE_CHECKING:
    import numpy.typing as npt
    import torch

__all__ = ["ConstraintLogitsProcessor"]

_Row = tuple[int, ...]


class ConstraintLogitsProcessor:
    """A transformers ``LogitsProcessor`` that lets every row write what the constraint allows.

    The first call of a generation shows where the prompt ends.  A call that does not go on by one
    token from the rows of the call before begins another generation, so that one processor serves
    for many.  It cannot tell a second generation from the first where the second's prompt is all of
    what the first has read and one token more: call :meth:`reset` between the two.  Where
    transformers goes back in its ids, as in assisted generation, give ``prompt_length``.

    A row that took a stop token may be padded with whatever; its mask holds the stop tokens alone.
    So does that of a row that the constraint or the budget refuses.  Only beam search makes such rows,
    when it has more beams than there are texts; their score is minus infinity.

    Args:
        compiled: the constraint, compiled for the model's vocabulary.
        prompt_length: the length of the prompt in ids, padding included; found out where ``None``.
        max_new_tokens: the same as for ``model.generate``; rows are then whole texts when it ends there.
            Without it they may be cut off.

    Raises:
        BudgetError: ``max_new_tokens`` is below 1, or no accepted text fits into it.
        NoStopTokenError: the vocabulary names no stop token, so no row could end.
    """

    def __init__(
        self,
        compiled: CompiledConstraint,
        prompt_length: int | None = None,
        max_new_tokens: int | None = None,
    ) -> None:
        if not compiled.vocabulary.stop:
            raise NoStopTokenError(
                "the vocabulary names no stop token, so a text could not end; "
                "load it with Vocabulary.load(..., stop=[...])"
            )
        self._compiled = compiled
        self._stop = frozenset(compiled.vocabulary.stop)
        self._ended = compiled.allocate_mask()[0]
        for token in self._stop:
            self._ended.view(np.uint32)[token // 32] |= np.uint32(1 << token % 32)
        self._budget = max_new_tokens
        if max_new_tokens is not None:
            compiled.matcher().fill_mask(compiled.allocate_mask()[0], max_new_tokens)
        self._given_length = prompt_length
        self._prompt: torch.Tensor | None = None
        self._matchers: dict[_Row, Matcher | None] = {}

    def reset(self) -> None:
        """Forget the generation under way; the next call begins another."""
        self._prompt = None
        self._matchers = {}

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        """Mask the scores of the next token.

        Args:
            input_ids: ``int64[rows, length]``, prompt and continuation of each row.
            scores: floating point ``[rows, width]``; they are not changed.

        Returns:
            The masked scores, on the same device: minus infinity for all that is not allowed.

        Raises:
            GenerationError: the scores of all tokens that a row is allowed are NaN or minus infinity.
            MaskError: the scores are narrower than the vocabulary.
            LimitExceeded: the constraint passed its limits.
        """
        rows = self._continuations(input_ids)
        matchers = {row: self._matcher(row) for row in dict.fromkeys(rows)}
        mask = self._compiled.allocate_mask(len(rows))
        live = [self._fill(mask[index], row, matchers[row]) for index, row in enumerate(rows)]
        masked: Any = scores.clone()  # transformers may keep the raw ones for its caller
        apply_mask(masked, mask)
        self._matchers = matchers
        _check(masked, live)
        return cast("torch.FloatTensor", masked)

    def _fill(self, mask: npt.NDArray[np.int32], row: _Row, matcher: Matcher | None) -> bool:
        """Fill the mask of a row; returns whether the row is alive or has ended well."""
        if matcher is None:
            mask[:] = self._ended
            return False
        if self._budget is None or not self._stop.isdisjoint(row):
            matcher.fill_mask(mask)
            return True
        left = self._budget - len(row)
        mask[:] = self._ended
        try:
            if left > 0:
                matcher.fill_mask(mask, left)
        except BudgetError:  # a token that the budget refused was taken all the same
            return False
        return left > 0 or matcher.is_accepting

    def _continuations(self, input_ids: torch.LongTensor) -> list[_Row]:
        """Return each row's ids after the prompt, having found out where that ends."""
        if self._given_length is not None:
            return _rows(input_ids, self._given_length)
        if self._prompt is not None and _begins_with(input_ids, self._prompt):
            rows = _rows(input_ids, self._prompt.shape[1])
            if all(row and row[:-1] in self._matchers for row in rows):
                return rows
        self.reset()
        self._prompt = input_ids.clone()
        return _rows(input_ids, input_ids.shape[1])

    def _matcher(self, row: _Row) -> Matcher | None:
        """Return the matcher at the end of ``row``; ``None`` where the constraint refuses it.

        It is forked from that of the longest prefix that the last step knew.
        """
        known = next((n for n in range(len(row), -1, -1) if row[:n] in self._matchers), None)
        if known is None:
            known, matcher = 0, self._compiled.matcher()
        else:
            origin = self._matchers[row[:known]]
            if origin is None or not self._stop.isdisjoint(row[:known]):
                return origin
            matcher = origin.fork()
        for token in row[known:]:
            if not 0 <= token < self._compiled.vocabulary.width or not matcher.advance(token):
                return None
            if token in self._stop:
                break
        return matcher


def _check(scores: torch.Tensor, live: list[bool]) -> None:
    """Refuse rows without a single score: argmax would take id 0 of them, allowed or not."""
    largest = scores.nan_to_num(nan=-math.inf, posinf=math.inf, neginf=-math.inf).amax(dim=-1)
    for index, score in enumerate(largest.tolist()):
        if live[index] and score == -math.inf:
            raise GenerationError(
                f"row {index} has no token to choose: all scores that the constraint allows are NaN or "
                "minus infinity; look to the model, and to other logits processors"
            )


def _rows(input_ids: torch.LongTensor, start: int) -> list[_Row]:
    return [tuple(row) for row in input_ids[:, start:].tolist()]


def _begins_with(input_ids: torch.LongTensor, prompt: torch.Tensor) -> bool:
    """Whether ``input_ids`` are the rows of ``prompt``, gone on."""
    rows, length = prompt.shape
    same_rows = input_ids.shape[0] == rows and input_ids.shape[1] > length
    return same_rows and bool((input_ids[:, :length] == prompt).all())
