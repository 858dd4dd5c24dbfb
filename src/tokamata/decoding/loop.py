"""The loop: logits of the model, masks of the constraints, and a token for each text.

    texts      without the model     the model reads     masks, draws
    "A: "      jumps "20"            "A: " "20"          "2"
    "B: x"                           "B: x"              "y"; the text is complete and leaves the batch

The model reads the texts as a batch; each text leaves it at its own end.  After a jump, a text has more
unread tokens than the others.  In each round, all texts read as many tokens as the one with the fewest, and
texts with unread tokens left draw nothing (:mod:`tokamata.decoding.model` says why).

With drafts, a text may get ahead of the others: it reads more tokens, and the others are padded at their
ends.  Before the next round the model forgets the padding, and of all texts what was read beside it.  So no
padding stays inside a text.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

from tokamata.decoding.bias import Bias
from tokamata.decoding.deadlines import Pace
from tokamata.decoding.drafts import Draft
from tokamata.decoding.model import CachedModel
from tokamata.decoding.results import Cause, Clock, Step, Timing
from tokamata.decoding.row import Row
from tokamata.errors import LimitExceeded
from tokamata.matching.batches import fill_masks
from tokamata.matching.masks import allocate_mask, apply_mask

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import torch

    from tokamata.matching.matchers import Matcher

__all__ = ["write"]

_LEAD = 2  # drafts by which a text may be ahead; the model reads its lead again in each call


def write(
    model: CachedModel,
    rows: list[Row[Any]],
    timing: Timing,
    pace: Pace,
    bias: Bias,
    draft_tokens: int = 0,
) -> Generator[tuple[Row[Any], Step], None, None]:
    """Write all texts to their end, and yield each token as it is written.

    Args:
        model: the model.
        rows: the texts.
        timing: where the times are added.
        pace: the clock of the call.
        bias: what is added to the logits.
        draft_tokens: how many tokens each text may draft for a call of the model.

    Raises:
        NoTokenError: a text has no policy, and the model's logits leave it no allowed token.
        RefusedError: a text has no policy, and a validator refuses it.
        GenerationError: the model cannot read the texts as a batch.
        MaskError: the model's logits are narrower than the vocabulary.
        LimitExceeded: a constraint exceeded its limits.
    """
    while True:
        for row in rows:
            for step in row.safely(row.write_certain()):
                yield row, step
        pace.begin_round()
        if pace.is_over:
            for row in rows:
                if row.result is None:
                    for step in row.safely(row.end_at_deadline()):
                        yield row, step
        going = [index for index, row in enumerate(rows) if row.result is None]
        if not going:
            return
        with Clock(timing, "model_seconds"):
            model.keep(going)
        rows = [rows[index] for index in going]
        may_draft = draft_tokens > 0 and model.has_read and model.forgets
        lead = _LEAD * draft_tokens if may_draft else 0
        most = min(len(row.unread) for row in rows) + lead
        drafts = [row.propose(min(draft_tokens, most - len(row.unread)) if lead else 0) for row in rows]
        yield from _round(model, rows, drafts, lead, timing, pace, bias)
        if draft_tokens > 0:
            model.expect_returns()


def _round(
    model: CachedModel,
    rows: list[Row[Any]],
    drafts: list[Draft],
    lead: int,
    timing: Timing,
    pace: Pace,
    bias: Bias,
) -> Iterator[tuple[Row[Any], Step]]:
    """One call of the model: it reads what is unread and drafts, and each text goes on as far as it may.

        unread   draft    read together   chosen   known to the model afterwards   unread then
        a b      c d e    a b c d e       c d x    a b                             c d x
        f g               f g - - -       y        f g                             y

    The dashes are padding.  The model forgets the tokens after the last that is right in every text; what it
    forgets of a text is unread again.

    Args:
        lead: how many tokens a text may read beyond those of the text with the fewest.
    """
    unread = [list(row.unread) for row in rows]
    count = _count(unread, drafts, lead) if model.has_read else None
    read = [(tokens + draft.tokens)[:count] for tokens, draft in zip(unread, drafts, strict=True)]
    drafts = [_cut(draft, len(new) - len(old)) for draft, new, old in zip(drafts, read, unread, strict=True)]
    ready = [index for index, tokens in enumerate(unread) if len(tokens) <= len(read[index])]
    # A text that is ready needs the logits from its last unread token on.
    first = 0 if count is None else min(len(unread[index]) for index in ready) - 1
    positions = 1 if count is None else count - first
    has_read = model.has_read
    with Clock(timing, "model_seconds" if has_read else "prompt_seconds"):
        logits = model.next_logits(read if count is None else _padded(read, count), positions)
    if not has_read and logits.shape[-1] != model.width:  # otherwise it was checked before
        constrained = next((row for row in rows if row.matcher is not None), None)
        if constrained is not None:
            constrained.check_width(logits.shape[-1])
    if positions == 1:
        logits = logits.unsqueeze(1)
    logits = bias.added(logits)
    for row in rows:
        row.unread = []
    begins = [0 if count is None else len(unread[index]) - 1 - first for index in ready]
    with Clock(timing, "constraint_seconds"):
        some = logits if len(ready) == len(rows) else logits[ready]
        unmasked = some.clone() if any(rows[index].reads_unmasked for index in ready) else None
        masked = _masked([rows[index] for index in ready], [drafts[index] for index in ready], some, begins)
    pace.end_step()
    right = [min(len(old), len(new)) for old, new in zip(unread, read, strict=True)]
    for place, (index, scores) in enumerate(zip(ready, masked, strict=True)):
        row, before = rows[index], rows[index].accepted
        free = None if unmasked is None else unmasked[place, begins[place] :]
        steps = row.end(scores) if isinstance(scores, str) else row.read_draft(scores, drafts[index], free)
        for step in row.safely(steps):
            yield row, step
        right[index] += row.accepted - before
    if count is not None:
        _forget(model, rows, unread, count, right)


def _count(unread: list[list[int]], drafts: list[Draft], lead: int) -> int:
    """How many tokens all texts read together."""
    lengths = [len(tokens) + len(draft.tokens) for tokens, draft in zip(unread, drafts, strict=True)]
    return min(max(lengths), min(lengths) + lead)


def _padded(read: list[list[int]], count: int) -> list[list[int]]:
    return [tokens + tokens[-1:] * (count - len(tokens)) for tokens in read]


def _cut(draft: Draft, count: int) -> Draft:
    """So many tokens of a draft."""
    count = max(count, 0)
    masks = None if draft.masks is None else draft.masks[: count + 1]
    return Draft(draft.tokens[:count], masks, draft.probabilities[:count])


def _forget(
    model: CachedModel, rows: list[Row[Any]], unread: list[list[int]], count: int, right: list[int]
) -> None:
    """Takes back what the model has read beyond the text with the fewest right tokens; that is unread again.

    Args:
        model: it has read ``count`` tokens of each text in this round.
        rows: the texts; ``unread`` has the tokens that were written in this round, if any.
        unread: what was unread before.
        count: as above.
        right: of the tokens that were read, how many are of the text.
    """
    going = [index for index, row in enumerate(rows) if row.result is None]
    if not going:
        return
    kept = min(right[index] for index in going)
    for index in going:
        rows[index].unread = (unread[index] + rows[index].unread)[kept:]
    model.take_back(count - kept)


def _masked(
    rows: list[Row[Any]], drafts: list[Draft], logits: torch.Tensor, begins: list[int]
) -> list[torch.Tensor | Cause]:
    """The logits of each row before each token of its draft, and after the last: ``[tokens + 1, width]``.

    They are minus infinity for tokens that the constraint or the budget does not allow.  Of a row whose mask
    could not be made, the cause.

    Args:
        rows: the texts.
        drafts: of each.
        logits: ``[rows, positions, width]``; changed in place.
        begins: the position of each row from which its logits are needed.
    """
    result: list[torch.Tensor | Cause] = [
        scores[begin : begin + 1 + len(draft.tokens)]
        for begin, draft, scores in zip(begins, drafts, logits, strict=True)
    ]
    plain = [
        index for index, draft in enumerate(drafts) if draft.masks is None and rows[index].matcher is not None
    ]
    if plain:
        matchers = [row.matcher for row in (rows[index] for index in plain) if row.matcher is not None]
        mask = allocate_mask(len(matchers), matchers[0].compiled.vocabulary.width)
        causes = _filled([rows[index] for index in plain], matchers, mask)
        are_all = len(plain) == len(rows) and logits.shape[1] == 1
        constrained = logits[:, 0] if are_all else logits[plain, [begins[index] for index in plain]]
        apply_mask(constrained, mask)
        for index, scores, cause in zip(plain, constrained, causes, strict=True):
            result[index] = cause or scores.unsqueeze(0)
    for draft, scores in zip(drafts, result, strict=True):
        if draft.masks is not None and not isinstance(scores, str):
            apply_mask(scores, draft.masks)
    return result


def _filled(rows: list[Row[Any]], matchers: list[Matcher], mask: npt.NDArray[np.int32]) -> list[Cause | None]:
    """Fills the masks of some rows; for each why there is none, or ``None``."""
    if not any(row.is_apart for row in rows):
        try:
            fill_masks(matchers, mask, budgets=[row.mask_budget for row in rows])
        except LimitExceeded:
            if not any(row.has_policy for row in rows):
                raise
        else:
            for row, words in zip(rows, mask, strict=True):
                row.note_bans(words)
            return [None] * len(rows)
    return [row.fill_mask(words) for row, words in zip(rows, mask, strict=True)]
