"""The loop: logits of the model, masks of the constraints, and a token for each text.

    texts      without the model     the model reads     masks, draws
    "A: "      jumps "20"            "A: " "20"          "2"
    "B: x"                           "B: x"              "y"; the text is complete and leaves the batch

The model reads the texts as a batch; each text leaves it at its own end.  After a jump, a text has more
unread tokens than the others.  In each round, all texts read as many tokens as the one with the fewest, and
texts with unread tokens left draw nothing (:mod:`tokamata.decoding.model` says why).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tokamata.batches import fill_masks
from tokamata.decoding.drafts import Draft
from tokamata.decoding.model import CachedModel
from tokamata.decoding.results import Clock, Step, Timing
from tokamata.decoding.row import Row
from tokamata.masks import allocate_mask, apply_mask

if TYPE_CHECKING:
    import torch

__all__ = ["write"]


def write(
    model: CachedModel, rows: list[Row[Any]], timing: Timing, draft_tokens: int = 0
) -> Iterator[tuple[Row[Any], Step]]:
    """Write all texts to their end, and yield each token as it is written.

    Args:
        model: the model.
        rows: the texts.
        timing: where the times are added.
        draft_tokens: how many tokens each text may draft for a call of the model.

    Raises:
        GenerationError: the model's logits leave a text no allowed token, or the model cannot read the texts
            as a batch.
        MaskError: the model's logits are narrower than the vocabulary.
        LimitExceeded: a constraint exceeded its limits.
    """
    while True:
        for row in rows:
            for step in row.write_certain():
                yield row, step
        going = [index for index, row in enumerate(rows) if row.generation is None]
        if not going:
            return
        with Clock(timing, "model_seconds"):
            model.keep(going)
        rows = [rows[index] for index in going]
        may_draft = draft_tokens > 0 and model.has_read and model.forgets
        drafts = [row.propose(draft_tokens if may_draft else 0) for row in rows]
        yield from _round(model, rows, drafts, timing)
        if draft_tokens > 0:
            model.expect_returns()


def _round(
    model: CachedModel, rows: list[Row[Any]], drafts: list[Draft], timing: Timing
) -> Iterator[tuple[Row[Any], Step]]:
    """One call of the model: it reads what is unread and drafts, and each text goes on as far as it may.

        unread   draft      read together   chosen      known to the model afterwards
        a        b c d      a b c d         b c x       a b c     x is unread
        e f g               e f g           y           e f g     y is unread

    All texts read equally many tokens, those of the text with the fewest.  The model forgets the tokens after
    the last that is right in every text; what it forgets of others is unread again.
    """
    unread = [list(row.unread) for row in rows]
    count = _most_together(unread, drafts) if model.has_read else None
    read = [(tokens + draft.tokens)[:count] for tokens, draft in zip(unread, drafts, strict=True)]
    drafts = [_cut(draft, len(new) - len(old)) for draft, new, old in zip(drafts, read, unread, strict=True)]
    positions = 1 + max(len(draft.tokens) for draft in drafts)
    with Clock(timing, "model_seconds" if model.has_read else "prompt_seconds"):
        logits = model.next_logits(read, positions)
    if positions == 1:
        logits = logits.unsqueeze(1)
    ready = [index for index, tokens in enumerate(unread) if len(tokens) <= len(read[index])]
    for row in rows:
        row.unread = []
    with Clock(timing, "constraint_seconds"):
        some = logits if len(ready) == len(rows) else logits[ready]
        masked = _masked([rows[index] for index in ready], [drafts[index] for index in ready], some)
    right = [min(len(old), len(new)) for old, new in zip(unread, read, strict=True)]
    for index, scores in zip(ready, masked, strict=True):
        row, before = rows[index], rows[index].accepted
        for step in row.read_draft(scores, drafts[index]):
            yield row, step
        right[index] += row.accepted - before
    if count is not None:
        _forget(model, rows, unread, count, right)


def _most_together(unread: list[list[int]], drafts: list[Draft]) -> int:
    return min(len(tokens) + len(draft.tokens) for tokens, draft in zip(unread, drafts, strict=True))


def _cut(draft: Draft, count: int) -> Draft:
    """So many tokens of a draft."""
    count = max(count, 0)
    masks = None if draft.masks is None else draft.masks[: count + 1]
    return Draft(draft.tokens[:count], masks, draft.probabilities[:count])


def _forget(
    model: CachedModel, rows: list[Row[Any]], unread: list[list[int]], count: int, right: list[int]
) -> None:
    """Makes what texts and model know fit.

    Args:
        model: it has read ``count`` tokens of each text in this round.
        rows: the texts; ``unread`` has the tokens that were written in this round, if any.
        unread: what was unread before.
        count: as above.
        right: of the tokens that were read, how many are of the text.
    """
    going = [index for index, row in enumerate(rows) if row.generation is None]
    if not going:
        return
    kept = min(right[index] for index in going)
    for index in going:
        rows[index].unread = (unread[index] + rows[index].unread)[kept:]
    model.take_back(count - kept)


def _masked(rows: list[Row[Any]], drafts: list[Draft], logits: torch.Tensor) -> list[torch.Tensor]:
    """The logits of each row before each token of its draft, and after the last: ``[tokens + 1, width]``.

    They are minus infinity for tokens that the constraint or the budget does not allow.
    """
    result = [
        scores[len(scores) - 1 - len(draft.tokens) :] for draft, scores in zip(drafts, logits, strict=True)
    ]
    plain = [
        index for index, draft in enumerate(drafts) if draft.masks is None and rows[index].matcher is not None
    ]
    if plain:
        matchers = [row.matcher for row in (rows[index] for index in plain) if row.matcher is not None]
        mask = allocate_mask(len(matchers), matchers[0].compiled.vocabulary.width)
        fill_masks(matchers, mask, budgets=[rows[index].tokens_left for index in plain])
        constrained = logits[:, -1] if len(plain) == len(rows) else logits[plain, -1]
        apply_mask(constrained, mask)
        for index, scores in zip(plain, constrained, strict=True):
            result[index] = scores.unsqueeze(0)
    for index, draft in enumerate(drafts):
        if draft.masks is not None:
            apply_mask(result[index], draft.masks)
    return result
