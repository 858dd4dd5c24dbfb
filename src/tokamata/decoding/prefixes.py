"""Reads many continuations of one prompt as batches, and what they share only once.

Problem.  A search over token sequences asks for the model's probabilities after many prefixes, of which most
share their beginnings.  The model's cache of keys and values holds the rows of the last batch alone.

How.  Prefixes are a tree: each knows the prefix before its last token.  The rows that were read last are cut
back to the longest length at which they contain the beginning of every prefix that is asked for now, those
rows are repeated in the new order, and the rest is read in one call::

    held           asked for      cut back to    repeated     read
    p a b          p a b d        p a b          rows 0 0 1   d, e, f
    p a c          p a b e        p a c
                   p a c f

    p a b d        p x y          p              row 0        x y
    p a b e

The prompt is read once, in one row.  Beams, of which each continues one of the rows before, cost one token a
row and no search.

Cost: a call reads ``rows * (depth - kept)`` tokens; finding what is kept takes ``rows * (depth - kept)`` steps.
Memory: the keys and values of as many texts as there are rows in a batch, the prompt included, which the
caller bounds.  A model whose cache cannot forget or reorder reads everything again; its results are the same.

Rejected: copies of the cache at each branching, which take the memory of a text for each level of the tree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tokamata.decoding.model import CachedModel
from tokamata.errors import Cancelled, GenerationError
from tokamata.resources.limits import CancelToken
from tokamata.vocabulary.misfits import check_logits

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tokamata.vocabulary import Vocabulary

__all__ = ["NextTokens", "Prefix", "PrefixReader"]


class Prefix:
    """Tokens after a prompt: those of another prefix, and one more.

    Attributes:
        parent: without the last token; ``None`` for the prompt alone.
        token: the last token; -1 for the prompt alone.
        depth: the number of tokens.
        log_probability: natural logarithm of the probability that the model, unmasked and at temperature 1,
            gives to these tokens after the prompt.
    """

    __slots__ = ("depth", "log_probability", "parent", "token")

    def __init__(self, parent: Prefix | None = None, token: int = -1, log_probability: float = 0.0) -> None:
        self.parent = parent
        self.token = token
        self.depth = 0 if parent is None else parent.depth + 1
        self.log_probability = log_probability

    def tokens(self, begin: int = 0) -> list[int]:
        """The tokens, without the first ``begin``."""
        found: list[int] = []
        prefix = self
        while prefix.depth > begin and prefix.parent is not None:
            found.append(prefix.token)
            prefix = prefix.parent
        return found[::-1]

    def cut(self, depth: int) -> Prefix:
        """The first ``depth`` tokens."""
        prefix = self
        while prefix.depth > depth and prefix.parent is not None:
            prefix = prefix.parent
        return prefix


class NextTokens:
    """What a model says about the next token after each of several prefixes.

    Attributes:
        logits: ``float32`` or ``float64`` ``[rows, width]``, unmasked.
        totals: ``float64[rows]``, natural logarithms of the sums of their exponentials.
    """

    def __init__(self, logits: npt.NDArray[np.floating]) -> None:
        import numpy as np

        self.logits = logits
        self.totals = np.empty(len(logits))
        for row, scores in enumerate(logits):  # one at a time: float64 of all rows would be large
            peak = float(scores.max())
            if not math.isfinite(peak):
                what = "NaN" if math.isnan(peak) else "plus infinity" if peak > 0 else "minus infinity alone"
                raise GenerationError(
                    f"the model's logits contain {what}, so that its tokens have no probabilities; check the "
                    "model, and its dtype"
                )
            self.totals[row] = peak + math.log(float(np.exp(scores.astype(np.float64) - peak).sum()))

    def log_probabilities(self, row: int, tokens: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
        """Those of some tokens, under the softmax over all tokens, at temperature 1."""
        import numpy as np

        # Rounding could make a probability exceed 1 by an ulp; sums of masses must not.
        return np.minimum(self.logits[row, tokens].astype(np.float64) - self.totals[row], 0.0)


class PrefixReader:
    """A model that reads continuations of one prompt.

    Attributes:
        calls: how often the model was called.
        prefixes: how many prefixes it has read.
    """

    def __init__(
        self, model: CachedModel, prompt: list[int], vocabulary: Vocabulary, cancel: CancelToken | None = None
    ) -> None:
        self.calls = self.prefixes = 0
        self._model, self._prompt, self._vocabulary, self._cancel = model, prompt, vocabulary, cancel
        self._held: list[Prefix] = []

    def read(self, prefixes: Sequence[Prefix]) -> NextTokens:
        """What follows each of the prefixes, which have one length.

        Args:
            prefixes: at least one; the prompt alone only in the first call.

        Raises:
            GenerationError: the logits contain NaN or plus infinity.
            MaskError: the logits are narrower than the vocabulary.
            Cancelled: the token that was given was cancelled.
        """
        if self._cancel is not None and self._cancel.cancelled:
            raise Cancelled("the CancelToken was cancelled; the model was not called again")
        self.prefixes += len(prefixes)
        if not self._held:
            root = prefixes[0].cut(0)
            first = self._next([self._prompt])
            self._held = [root]
            self._model.expect_returns()
            if prefixes[0] is root:
                return first
        kept = min(self._held[0].depth, prefixes[0].depth - 1)
        held = [prefix.cut(kept) for prefix in self._held]
        wanted = [prefix.cut(kept) for prefix in prefixes]
        rows = {id(prefix): row for row, prefix in enumerate(held)}
        while not all(id(prefix) in rows for prefix in wanted):
            kept -= 1
            held, wanted = [one.cut(kept) for one in held], [one.cut(kept) for one in wanted]
            rows = {id(prefix): row for row, prefix in enumerate(held)}
        self._model.take_back(self._held[0].depth - kept)
        self._model.keep([rows[id(prefix)] for prefix in wanted])
        self._held = list(prefixes)
        return self._next([prefix.tokens(kept) for prefix in prefixes])

    def _next(self, tokens: list[list[int]]) -> NextTokens:
        import torch

        self.calls += 1
        logits = self._model.next_logits(tokens)
        if self.calls == 1:  # it warns where widths differ
            check_logits(len(self._vocabulary), self._vocabulary.width, logits.shape[-1])
        exact = logits if logits.dtype == torch.float64 else logits.float()
        return NextTokens(exact.cpu().numpy())
