"""The target law: what :func:`tokamata.sample` draws from, and the walk of a matcher over its prefixes.

**Paths.**  A path is a sequence of tokens after the prompt.  It is *final* if

- its last token is a stop token, and the text before is accepted: the model has chosen to end it; or
- its text is accepted, and no path goes on from it but by a stop token, at any budget: it is complete, and
  ends without another call of the model.  The event is that the model writes these tokens, whatever follows.

No final path is the beginning of another one, so their probabilities add up to at most 1.

**Budget.**  A final path has at most ``budget`` tokens together with a stop token, also where it ends without
one.  Each mask is made with the budget that is left, so it holds exactly the tokens that some such path goes
on with.  (For JSON and grammars near the end of a budget, masks may hold fewer; see
:meth:`tokamata.Matcher.fill_mask`.  The law is then that of the paths through the masks.)

**Law.**  ``P(path)`` is the product of the model's probabilities of its tokens, at the temperature, over all
tokens of the model: nothing is renormalized.  The *evidence* ``Z`` is the sum over all final paths, and the
target law is ``P(path) / Z``.  With canonical tokenization the paths are the canonical ones alone, so the law
is that of the model given that it writes an accepted text *in its tokenizer's own tokens*.  With any
tokenization a text may have several paths; its probability is their sum.

    tokens a b ab, stop $, pattern (ab)*, budget 5

    $        P($)                          accepted at once
    ab $     P(ab) P($ | ab)
    a b $    P(a) P(b | a) P($ | a b)      the same text, another path
    …

top-k and top-p are not offered: cutting the model's distribution before the mask can leave no accepted text,
and after the mask it is no property of the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tokamata.decoding.row import Task
from tokamata.errors import GenerationError
from tokamata.matching.batches import fill_draft_masks
from tokamata.matching.masks import allocate_mask, allowed_tokens
from tokamata.vocabulary.misfits import check_logits

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import torch

    from tokamata.matching.matchers import Matcher

__all__ = ["Law", "Position"]

_LOGITS_TOGETHER = 1 << 22  # normalized in float64 at a time, which takes 64 MB


class Law:
    """Which paths there are, and what the model's logits say about them.

    Attributes:
        task: prompt, matcher and budget.
        stop: the stop tokens.
    """

    def __init__(self, task: Task[Any], temperature: float) -> None:
        assert task.matcher is not None  # there is a constraint
        self.task = task
        self.stop = frozenset(task.vocabulary.stop)
        self._start = task.matcher
        self._temperature = temperature

    def start(self) -> Matcher:
        """A matcher at the start of a text."""
        return self._start.fork()

    def legal(self, matchers: list[Matcher], written: list[int]) -> list[npt.NDArray[np.int64]]:
        """The tokens that may come next after each of some prefixes, in ascending order.

        Args:
            matchers: one for each prefix.
            written: how many tokens each prefix has.
        """
        masks = allocate_mask(len(matchers), self.task.vocabulary.width)
        budgets = [self.task.budget - count for count in written]
        fill_draft_masks(matchers, masks, [[]] * len(matchers), budgets=budgets, count_stop=True)
        return [allowed_tokens(mask) for mask in masks]

    def log_probabilities(
        self, logits: torch.Tensor, legal: Sequence[npt.NDArray[np.int64]]
    ) -> list[npt.NDArray[np.float64]]:
        """The logarithms of the model's probabilities of the legal tokens, for each row of logits.

        Args:
            logits: ``[rows, width]``; the width of the model, so that what is outside of the vocabulary
                counts as illegal and not as absent.
            legal: the legal tokens of each row.

        Raises:
            MaskError: the model has fewer logits than the vocabulary has tokens.
            GenerationError: a logit is NaN or plus infinity, or all are minus infinity: they are no
                distribution.
        """
        import torch

        vocabulary = self.task.vocabulary
        check_logits(len(vocabulary), vocabulary.width, logits.shape[-1])
        logits = logits.cpu() if logits.device.type == "mps" else logits  # which has no float64
        found = []
        step = max(1, _LOGITS_TOGETHER // logits.shape[-1])
        for start in range(0, len(legal), step):
            some = logits[start : start + step].double() / self._temperature
            scores = torch.log_softmax(some, dim=-1)
            if bool(scores.isnan().any()):
                raise GenerationError(
                    "the model's logits are no distribution: one is NaN or plus infinity, or all are minus "
                    "infinity; use another dtype of the model"
                )
            for row, tokens in zip(scores, legal[start : start + step], strict=True):
                found.append(row[torch.from_numpy(tokens).to(row.device)].cpu().numpy())
        return found


class Position:
    """A matcher that is moved from prefix to prefix: back to the common part, and forward from there."""

    def __init__(self, law: Law) -> None:
        self._law, self._matcher = law, law.start()
        self._path: list[int] = []

    def move(self, path: Sequence[int]) -> None:
        """Go to a prefix, all of whose tokens are legal."""
        common = 0
        for ours, theirs in zip(self._path, path, strict=False):
            if ours != theirs:
                break
            common += 1
        self._matcher.rollback(len(self._path) - common)
        self._path = self._path[:common]
        if not self._matcher.advance_all(path[common:]):
            raise GenerationError(f"tokens {list(path[common:])} were drawn although the mask forbids them")
        self._path += path[common:]

    @property
    def is_complete(self) -> bool:
        """Whether the text is accepted, and nothing can follow."""
        return self._matcher.is_finished

    def legal(self) -> npt.NDArray[np.int64]:
        """The tokens that may come next."""
        return self._law.legal([self._matcher], [len(self._path)])[0]
