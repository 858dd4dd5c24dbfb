"""Reads many continuations of one prompt as batches, and what they share only once.

Problem.  A search over token sequences asks for the model's probabilities after many prefixes, of which most
share their beginnings.  The model's cache of keys and values holds the rows of the last batch alone.

How.  Prefixes are a tree: each knows the prefix before its last token.  If all requested prefixes continue
rows that were read last, these rows are repeated in the new order, and the rest is read in one call.
Otherwise the model goes back to the prompt, of whose cache a copy is kept::

    held           requested      begins with    repeated     read
    p a b          p a b d        p a b          rows 0 0 1   d, e, f
    p a c          p a b e        p a b
                   p a c f        p a c

    p a b d        p x y          the prompt     once         x y
    p a b e

The prompt is read once, in one row.  Beams, of which each continues one of the rows before, cost one token a
row; so does a tree that is read level by level, as long as its levels fit into a batch.

Cost: ``rows * tokens`` that are read, and as many steps to find what they continue.
Memory: the keys and values of as many texts as there are rows in a batch, the prompt included, which the
caller bounds; and of the prompt once more, unless the caller never goes back to it.  A model without a cache,
or with one that cannot be reordered, reads everything again; its results are the same.

Rejected: cutting the cache back to the longest common beginning.  Layers with a sliding window have lost what
came before it, and state-space models keep no past at all; both would read the prompt again.
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
        self.depth: int = 0 if parent is None else parent.depth + 1
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

    A row with NaN or plus infinity has no probabilities; the others have theirs.

    Attributes:
        logits: ``float32`` or ``float64`` ``[rows, width]``, unmasked.
    """

    def __init__(self, logits: npt.NDArray[np.floating]) -> None:
        import numpy as np

        self.logits = logits
        self._faults: dict[int, str] = {}
        # Natural logarithms of the sums of the exponentials of each row.
        self._totals = np.full(len(logits), np.nan)
        for row, scores in enumerate(logits):  # one at a time: float64 of all rows would be large
            peak = float(scores.max())
            if math.isfinite(peak):
                self._totals[row] = peak + math.log(float(np.exp(scores.astype(np.float64) - peak).sum()))
            else:
                what = "NaN" if math.isnan(peak) else "plus infinity" if peak > 0 else "minus infinity alone"
                self._faults[row] = (
                    f"the model's logits contain {what}, so that its tokens have no probabilities"
                )

    def fault(self, row: int) -> str | None:
        """Why the tokens of a row have no probabilities; ``None`` where they have."""
        return self._faults.get(row)

    def log_probabilities(self, row: int, tokens: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
        """Those of some tokens, under the softmax over all tokens, at temperature 1.

        Raises:
            GenerationError: the row has none.
        """
        import numpy as np

        if row in self._faults:
            raise GenerationError(f"{self._faults[row]}; check the model, and its dtype")
        # Rounding could make a probability exceed 1 by an ulp; sums of masses must not.
        scores: npt.NDArray[np.float64] = self.logits[row, tokens].astype(np.float64)
        scores -= self._totals[row]
        return np.minimum(scores, 0.0, out=scores)


class PrefixReader:
    """A model that reads continuations of one prompt.

    Attributes:
        calls: how often the model was called.
        prefixes: how many prefixes it has read.

    Args:
        model: the model.
        prompt: the ids of the prompt.
        vocabulary: whose tokens the model has.
        cancel: stops it before the next call.
        goes_back: whether prefixes may be requested that do not continue those read last; otherwise the cache
            of the prompt is not copied.
    """

    def __init__(
        self,
        model: CachedModel,
        prompt: list[int],
        vocabulary: Vocabulary,
        cancel: CancelToken | None = None,
        *,
        goes_back: bool = True,
    ) -> None:
        self._goes_back = goes_back
        self.calls = self.prefixes = 0
        self._model, self._prompt, self._vocabulary, self._cancel = model, prompt, vocabulary, cancel
        self._held: list[Prefix] = []

    def read(self, prefixes: Sequence[Prefix]) -> NextTokens:
        """What follows each of the prefixes, which have one length.

        Args:
            prefixes: at least one; the prompt alone only in the first call.

        Raises:
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
            if self._goes_back:
                self._model.mark()
            if prefixes[0] is root:
                return first
        kept = self._held[0].depth
        rows = {id(prefix): row for row, prefix in enumerate(self._held)}
        begun = [rows.get(id(prefix.cut(kept))) for prefix in prefixes] if prefixes[0].depth > kept else []
        order = [row for row in begun if row is not None]
        if len(order) < len(prefixes):
            assert self._goes_back, "every prefix continues one of those read last"
            self._model.return_to_mark()
            kept, order = 0, [0] * len(prefixes)
        self._model.keep(order)
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
