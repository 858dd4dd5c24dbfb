"""How clearly a model chooses: the margin of each token that is written greedily.

Processors round differently, bfloat16 above all: where two allowed tokens have almost the same logit, another
machine writes another text.  The *margin* of a choice is the log-probability of the first allowed token less
that of the second, which is the difference of their logits.  A test that asserts the words of a model asks
for margins of at least ``CLEAR``, several times what rounding to bfloat16 moves a logit of Gemma 3 270M.

    with margins() as found:
        text = tk.generate(model, tokenizer, prompt, constraint, greedy=True).text
    assert min(found) >= CLEAR, text

What is measured are the logits under the mask, just before the token is taken: in tokamata's own loop and in
that of transformers.  Where one token alone is allowed the margin is infinite.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch

from tokamata.decoding.sampling import Sampler
from tokamata.integrations.transformers import ConstraintLogitsProcessor

__all__ = ["CLEAR", "margins"]

CLEAR = 0.5


@contextmanager
def margins() -> Iterator[list[float]]:
    """Collects the margin of every token that is chosen within the block, in the order of writing."""
    found: list[float] = []
    choose, process = Sampler.choose, ConstraintLogitsProcessor.__call__

    def measured_choose(sampler: Sampler, logits: torch.Tensor) -> tuple[int, float]:
        found.append(_margin(logits))
        return choose(sampler, logits)

    def measured_process(processor: ConstraintLogitsProcessor, ids: Any, scores: Any) -> Any:
        masked = process(processor, ids, scores)
        found.extend(_margin(row) for row in masked)
        return masked

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Sampler, "choose", measured_choose)
        patch.setattr(ConstraintLogitsProcessor, "__call__", measured_process)
        yield found


def _margin(logits: torch.Tensor) -> float:
    first, second = logits.float().topk(2).values.tolist()
    return float(first - second)
