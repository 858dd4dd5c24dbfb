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

from tokamata.decoding.model import CachedModel
from tokamata.decoding.results import Clock, Step, Timing
from tokamata.decoding.row import Row
from tokamata.masks import allocate_mask, apply_mask
from tokamata.matching import fill_masks

if TYPE_CHECKING:
    import torch

__all__ = ["write"]


def write(model: CachedModel, rows: list[Row[Any]], timing: Timing) -> Iterator[tuple[Row[Any], Step]]:
    """Write all texts to their end, and yield each token as it is written.

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
        logits = _read(model, rows, timing)
        ready = [index for index, row in enumerate(rows) if not row.unread]
        if len(ready) < len(rows):
            logits = logits[ready]
        drawing = [rows[index] for index in ready]
        with Clock(timing, "constraint_seconds"):
            masked = _masked(drawing, logits)
        for row, scores in zip(drawing, masked, strict=True):
            drawn = row.draw(scores)
            if drawn is not None:
                yield row, drawn


def _read(model: CachedModel, rows: list[Row[Any]], timing: Timing) -> torch.Tensor:
    """Let the model read the prompts, or later equally many tokens of each text; returns the next logits."""
    count = min(len(row.unread) for row in rows) if model.has_read else None
    tokens = [row.unread[:count] for row in rows]
    with Clock(timing, "model_seconds" if model.has_read else "prompt_seconds"):
        logits = model.next_logits(tokens)
    for row, read in zip(rows, tokens, strict=True):
        del row.unread[: len(read)]
    return logits


def _masked(rows: list[Row[Any]], logits: torch.Tensor) -> list[torch.Tensor]:
    """The logits of each row, minus infinity for tokens that its constraint or budget does not allow."""
    result = list(logits)
    indices = [index for index, row in enumerate(rows) if row.matcher is not None]
    matchers = [row.matcher for row in rows if row.matcher is not None]
    if not matchers:
        return result
    mask = allocate_mask(len(matchers), matchers[0].compiled.vocabulary.width)
    fill_masks(matchers, mask, budgets=[rows[index].tokens_left for index in indices])
    constrained = logits if len(indices) == len(rows) else logits[indices]
    apply_mask(constrained, mask)
    for index, scores in zip(indices, constrained, strict=True):
        result[index] = scores
    return result
