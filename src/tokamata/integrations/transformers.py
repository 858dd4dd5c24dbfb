"""Constraints inside transformers' own ``generate``: batches, beams, sampling, assisted decoding.

    from tokamata.integrations.transformers import ConstraintLogitsProcessor

    processor = ConstraintLogitsProcessor(compiled, max_new_tokens=100)
    model.generate(
        **inputs,
        logits_processor=[processor],
        max_new_tokens=100,
        eos_token_id=list(compiled.vocabulary.stop),
    )

``generate`` cuts a text off at ``max_new_tokens``.  A processor with the same ``max_new_tokens`` only allows
tokens after which the text can still be finished within it.

transformers calls custom processors after its own penalties and before temperature, top-k and top-p
(``GenerationMixin._get_logits_processor``), so top-k and top-p choose among the allowed tokens.
``eos_token_id`` is needed only where the model's generation config names other stop tokens than the
vocabulary.

A processor gets the ids of all rows and nothing else.  :mod:`tokamata.integrations.rows` explains how each
row finds its matcher.
"""

# transformers is not imported: it takes any callable with this signature.

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from tokamata.calls.arguments import (
    advice_on_constraint,
    checked_choice,
    checked_instance,
    checked_list,
    checked_whole,
)
from tokamata.calls.keywords import checked_call
from tokamata.constraints.constraint import Constraint
from tokamata.constraints.given import means_constraint
from tokamata.errors import (
    ArgumentError,
    BudgetError,
    GenerationError,
    NoStopTokenError,
    about,
    shown_argument,
)
from tokamata.integrations.rows import Row, RowTracker
from tokamata.matching.batches import fill_masks
from tokamata.matching.masks import allocate_mask, apply_mask
from tokamata.matching.matchers import CompiledConstraint, OnNoncanonical
from tokamata.vocabulary.misfits import check_logits

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import torch

    from tokamata.vocabulary import Vocabulary

__all__ = ["ConstraintLogitsProcessor"]


class ConstraintLogitsProcessor:
    """A transformers ``LogitsProcessor`` that allows each row only the tokens of its constraint.

    The first call of a generation shows where the prompts end.  A call whose rows do not continue those of
    the call before begins another generation, so one processor serves for many.  It cannot distinguish two
    cases by itself:

    - The next prompt is the whole last row plus one token.
    - With one row: the next prompt is the last prompt plus the beginning of its text, and perhaps one more
      token.  Assisted decoding goes back in the same way.

    Call :meth:`reset` between two such generations, or pass ``prompt_length``.

    After a stop token, a row may be padded with any ids; its mask contains only the stop tokens.  The same
    holds for a row with a token that its constraint or budget refuses.  Only beam search makes such rows, if
    it has more beams than there are texts; their score is minus infinity.

    After a call that raises, the next call begins another generation.

    Args:
        compiled: one constraint for all rows; or a list with one for each prompt, ``None`` for a prompt whose
            text is free.  transformers makes several rows of a prompt with ``num_beams`` and
            ``num_return_sequences``; all of them get its constraint.  All constraints must be compiled for
            the same ``Vocabulary`` object.
        prompt_length: the length of the prompts in ids, including padding.  ``None``: the length of the first
            call's ids.
        max_new_tokens: the same as for ``model.generate``, so that each text is complete when it ends there.
            Without it, texts may be cut off.
        min_new_tokens: the least number of tokens of a text.  transformers' own ``min_new_tokens`` only
            forbids stop tokens, which leaves no token where nothing else can follow.
        pad_token_id: the id of the padding at the start of shorter prompts, which is then not part of the
            prompt.  Needed only with canonical tokenization, and only if it is not a control token.
        on_noncanonical: with canonical tokenization, the text continues the prompt.  If the prompt itself is
            not canonical, raise an error, or (``"fresh"``) make the text canonical by itself.

    Raises:
        ArgumentError: an argument has another type, or the constraints have several vocabularies.
        BudgetError: ``max_new_tokens`` is below 1, or no accepted text fits into it.
        LengthError: no text with ``min_new_tokens`` tokens was found.
        NoStopTokenError: the vocabulary names no stop token, so no row could end.
    """

    @checked_call
    def __init__(
        self,
        compiled: CompiledConstraint[Any] | Sequence[CompiledConstraint[Any] | None],
        prompt_length: int | None = None,
        max_new_tokens: int | None = None,
        *,
        min_new_tokens: int = 0,
        pad_token_id: int | None = None,
        on_noncanonical: OnNoncanonical = "error",
    ) -> None:
        self._is_one = isinstance(compiled, CompiledConstraint)
        self._constraints = _checked_constraints(compiled)
        self._vocabulary = _vocabulary(self._constraints)
        self._prompt_length = prompt_length
        if prompt_length is not None:
            self._prompt_length = checked_whole("prompt_length", prompt_length, 0)
        self._least = checked_whole("min_new_tokens", min_new_tokens, 0, 1 << 30)
        self._budget = max_new_tokens
        if max_new_tokens is not None:
            self._budget = checked_whole("max_new_tokens", max_new_tokens)
        self._check_lengths()
        if pad_token_id is not None:
            pad_token_id = checked_whole("pad_token_id", pad_token_id)
        self._pad = pad_token_id
        checked_choice("on_noncanonical", on_noncanonical, ("error", "fresh"))
        self._on_noncanonical = on_noncanonical
        self._tracker: RowTracker | None = None
        self._checked_width: int | None = None

    def reset(self) -> None:
        """Forget the current generation; the next call begins another."""
        self._tracker = None

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        """Mask the scores of the next token.

        Args:
            input_ids: ``int64[rows, length]``, prompt and text of each row.
            scores: floating point ``[rows, width]``; they are not changed.

        Returns:
            The masked scores, on the same device: minus infinity for all tokens that are not allowed.

        Raises:
            ArgumentError: the number of rows is not a multiple of the number of constraints.
            BudgetError: after its prompt, no accepted text of a row fits into ``max_new_tokens``.
            ContextError, NoncanonicalError: a prompt is not canonical, or no canonical text continues it.
            GenerationError: the scores of all tokens that a row is allowed are NaN or minus infinity.
            MaskError: the scores are narrower than the vocabulary.
            LimitExceeded: a constraint exceeded its limits.
        """
        if self._vocabulary is None:  # no row is constrained
            return scores
        for name, given in (("input_ids", input_ids), ("scores", scores)):
            if getattr(given, "ndim", 0) != 2 or not hasattr(given, "clone"):
                hint = "transformers calls the processor: model.generate(…, logits_processor=[processor])"
                raise ArgumentError(name, shown_argument(given), "a torch tensor of two dimensions", hint)
        width = scores.shape[-1]
        if width != self._checked_width:
            check_logits(len(self._vocabulary), self._vocabulary.width, width)
            self._checked_width = width
        tracker, self._tracker = self._tracker, None
        if tracker is None or not tracker.follow(input_ids):
            tracker = self._begin(input_ids)
        mask, must_choose = self._masks(tracker.rows, self._vocabulary)
        masked: Any = scores.clone()  # transformers may keep the raw ones for its caller
        apply_mask(masked, mask)
        free = [index for index, row in enumerate(tracker.rows) if row.matcher is None]
        if free:
            masked[free] = scores[free]
        _check(masked, must_choose)
        self._tracker = tracker
        return cast("torch.FloatTensor", masked)

    def _begin(self, ids: torch.Tensor) -> RowTracker:
        """Make a matcher for each row, with the row's prompt as its context."""
        rows, prompts = ids.shape[0], len(self._constraints)
        if rows % prompts:
            raise ArgumentError("compiled", f"a list of {prompts} for {rows} rows", "one for each prompt")
        numbers = [0 if self._is_one else row * prompts // rows for row in range(rows)]
        start = ids.shape[1] if self._prompt_length is None else self._prompt_length
        made: dict[tuple[int, tuple[int, ...]], Row] = {}
        begun: list[Row] = []
        for number, prompt in zip(numbers, ids[:, :start].tolist(), strict=True):
            constraint = self._constraints[number]
            is_canonical = constraint is not None and constraint.tokenization == "canonical"
            context = self._without_padding(prompt) if is_canonical else ()
            key = number, tuple(context)
            if key in made:
                begun.append(made[key].fork())
                continue
            matcher = None
            if constraint is not None:
                with about("" if self._is_one else f"constraint {number}"):
                    matcher = constraint.matcher(
                        context, on_noncanonical=self._on_noncanonical, min_tokens=self._least
                    )
            made[key] = Row(matcher)
            begun.append(made[key])
        return RowTracker(ids, start, begun, numbers, self._prompt_length is not None)

    def _without_padding(self, prompt: list[int]) -> list[int]:
        start = 0
        while start < len(prompt) and prompt[start] == self._pad:
            start += 1
        return prompt[start:]

    def _masks(self, rows: list[Row], vocabulary: Vocabulary) -> tuple[npt.NDArray[np.int32], list[bool]]:
        """Make the masks of all rows.

        Returns:
            The masks, and for each row whether a token must be chosen: not for a free or refused row.
        """
        mask = allocate_mask(len(rows), vocabulary.width)
        for token in vocabulary.stop:  # refused rows may write these
            mask.view("uint32")[:, token // 32] |= 1 << token % 32
        must_choose = [False] * len(rows)
        filled: list[int] = []
        budgets: list[int | None] = []
        for index, row in enumerate(rows):
            if row.matcher is None or row.is_refused:
                continue
            left = None if self._budget is None or row.has_stopped else self._budget - row.length
            if left is not None and left <= 0:  # only if model.generate has another max_new_tokens
                must_choose[index] = row.matcher.is_accepting
                continue
            filled.append(index)
            budgets.append(left)
        part = mask[filled]
        written = self._fill([rows[index] for index in filled], part, budgets)
        mask[filled] = part
        for index, is_written in zip(filled, written, strict=True):
            must_choose[index] = is_written
        return mask, must_choose

    def _fill(self, rows: list[Row], mask: npt.NDArray[np.int32], budgets: list[int | None]) -> list[bool]:
        """Write the masks of rows; returns which were written.

        A row is unchanged if no text fits into its budget.  That is an error at the start of a text; later
        it happens only after a token that the budget refused.
        """
        matchers = [row.matcher for row in rows if row.matcher is not None]
        try:
            fill_masks(matchers, mask, budgets=budgets)
        except BudgetError:
            if any(row.length == 0 for row in rows):
                raise
        else:
            return [True] * len(rows)
        written = []
        for matcher, row_mask, budget in zip(matchers, mask, budgets, strict=True):
            try:
                matcher.fill_mask(row_mask, budget)
                written.append(True)
            except BudgetError:
                written.append(False)
        return written

    def _check_lengths(self) -> None:
        """Refuse lengths that no text has; that of canonical texts depends on the prompt, too."""
        if self._budget is not None and self._budget < 1:
            raise BudgetError(self._budget)
        for index, constraint in enumerate(self._constraints):
            if constraint is None or (constraint.tokenization == "canonical" and not self._least):
                continue
            with about("" if self._is_one else f"constraint {index}"):
                matcher = constraint.matcher(min_tokens=self._least)
                if self._budget is not None:
                    matcher.fill_mask(constraint.allocate_mask()[0], self._budget)


def _checked_constraints(given: Any) -> list[CompiledConstraint[Any] | None]:
    if isinstance(given, CompiledConstraint):
        return [given]
    expected = "a CompiledConstraint, or a list with one or None for each prompt"
    if means_constraint(given):  # a class of an Enum could be iterated
        raise ArgumentError("compiled", shown_argument(given), expected, _advice_on_compiling(given))
    constraints = checked_list("compiled", given, expected, _advice_on_compiling(given))
    if not constraints:
        raise ArgumentError("compiled", "an empty list", expected, _advice_on_compiling(given))
    for index, constraint in enumerate(constraints):
        with about(f"constraint {index}" if len(constraints) > 1 else ""):
            hint = _advice_on_compiling(constraint)
            checked_instance("compiled", constraint, (CompiledConstraint, type(None)), expected, hint)
    return constraints


def _advice_on_compiling(given: Any) -> str:
    """What to pass in place of what is not compiled; here is no vocabulary to compile it for."""
    how = "" if isinstance(given, Constraint) else advice_on_constraint(given)
    return f"{how or 'make a constraint'}, and compile it with its compile(vocabulary)"


def _vocabulary(constraints: list[CompiledConstraint[Any] | None]) -> Vocabulary | None:
    """The vocabulary of all constraints; ``None`` if there is no constraint."""
    vocabularies = [constraint.vocabulary for constraint in constraints if constraint is not None]
    for vocabulary in vocabularies:
        if vocabulary is not vocabularies[0]:
            expected = "compiled for one Vocabulary object, that of the model"
            raise ArgumentError("compiled", "a list of constraints for several", expected)
        if not vocabulary.stop:
            raise NoStopTokenError(
                "the vocabulary names no stop token, so a text could not end; "
                "load it with Vocabulary.load(..., stop=[...])"
            )
    return vocabularies[0] if vocabularies else None


def _check(scores: torch.Tensor, must_choose: list[bool]) -> None:
    """Refuse rows without any score: argmax would take id 0, allowed or not."""
    for index, score in enumerate(scores.amax(dim=-1).tolist()):
        if not must_choose[index] or math.isfinite(score) or score == math.inf:
            continue
        # One NaN makes the maximum NaN, but the row may still have other scores.
        if bool((scores[index] > -math.inf).any()):
            continue
        raise GenerationError(
            f"row {index} has no token to choose: all scores that the constraint allows are NaN or "
            "minus infinity; check the model and the other logits processors (min_new_tokens of generate is "
            "one: pass it to ConstraintLogitsProcessor instead)"
        )
