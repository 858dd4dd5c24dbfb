"""Closes intervals around the probabilities of values, the largest unread mass first.

Problem.  The probability of a value is the sum over all token sequences that spell one of its texts.  There
may be thousands of them, nearly all of which carry nearly nothing.

How.  The *mass* of a token sequence is its probability under the model, unmasked.  Sequences are *open* until
the model has read them, and *closed* when they spell a whole text.  Reading an open sequence divides its mass
among the legal ones that continue it, and drops the rest.  :mod:`.intervals` says what closed and open masses
prove about the probabilities of values::

    texts yes, no; read: the prompt      open: yes .5   y .02   no .3   n .01        lower   upper
    read: y                              closed yes .5, no .3; open: n .01           yes .617    .625

The order: the length of the sequence with the largest mass, and of that length the heaviest ones, as many as
the batch holds; with a bound of 0 everything has to be read, so the shortest come first, which fills batches.

Cost: a forward pass for each batch.  The bounds are computed again after each, from the open mass of each
position in the texts: subtracting what was read would leave rounding errors in the bounds.
"""

from __future__ import annotations

import heapq
import itertools
import math
from bisect import bisect_left
from typing import TYPE_CHECKING

from tokamata.decoding.logarithms import log_sum
from tokamata.decoding.prefixes import Prefix, PrefixReader
from tokamata.decoding.value_probabilities.intervals import intervals
from tokamata.decoding.value_probabilities.spelling_graph import SpellingGraph, Spot
from tokamata.errors import GenerationError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tokamata.resources.limits import Watch

__all__ = ["Closing", "Texts"]

_OPEN_BYTES = 400  # of an open sequence


class Texts:
    """The texts, in the order of their bytes, and the values that they stand for.

    Attributes:
        texts: the texts, without duplicates.
        values: ``intp[texts]``, the number of the value of each.
        count: how many values there are.
    """

    def __init__(self, values: dict[bytes, int]) -> None:
        import numpy as np

        self.texts = sorted(values)
        self.values = np.array([values[text] for text in self.texts], dtype=np.intp)
        self.count = int(self.values.max()) + 1

    def value_of(self, text: bytes) -> int:
        """The number of the value of a text."""
        place = bisect_left(self.texts, text)
        assert self.texts[place] == text, "the matcher accepts the texts that were listed"
        return int(self.values[place])

    def span(self, prefix: bytes) -> tuple[int, int]:
        """The texts that begin with some bytes."""
        begin = bisect_left(self.texts, prefix)
        return begin, bisect_left(self.texts, prefix + b"\xff", begin)  # no text has this byte


class _Open(Prefix):
    """A token sequence that the model has not read, and its node."""

    __slots__ = ("spot",)

    def __init__(self, spot: Spot, parent: Prefix | None, token: int, log_probability: float) -> None:
        super().__init__(parent, token, log_probability)
        self.spot = spot


class Closing:
    """The search.

    Attributes:
        log_closed: ``float64[values]``, natural logarithms of the closed masses.
        bounds: of each value, ``float64[values]`` each: lower and upper, normalized.
        log_mass: natural logarithms of all closed, and of all closed and open mass.

    Args:
        graph: the token sequences.
        texts: their texts.
        reader: the model.
        needs_stop: whether a text that nothing can follow needs a stop token, too.
        batch_size: how many sequences are read together, at most.
        watch: bounds the memory.
    """

    def __init__(
        self,
        graph: SpellingGraph,
        texts: Texts,
        reader: PrefixReader,
        needs_stop: bool,
        batch_size: int,
        watch: Watch,
    ) -> None:
        import numpy as np

        self._graph, self._texts, self._reader = graph, texts, reader
        self._needs_stop, self._batch_size, self._watch = needs_stop, batch_size, watch
        self._open: dict[int, list[tuple[float, int, _Open]]] = {}  # by length: a heap, heaviest first
        self._order = itertools.count()
        self._spans: dict[bytes, npt.NDArray[np.intp]] = {}
        self.log_closed = np.full(texts.count, -math.inf)
        self._add(graph.start, None, -1, 0.0)

    def run(self, bound: float, most_passes: int) -> None:
        """Reads until no interval is wider than the bound, or the model was called so often.

        Raises:
            GenerationError: the model gives no text any probability.
            LimitExceeded, Cancelled: the work was stopped.
        """
        self._compare()
        while self._open and (bound == 0 or self._width() > bound) and self._reader.calls < most_passes:
            batch = self._next(bound)
            following = self._reader.read(batch)
            for row, prefix in enumerate(batch):
                edges = self._graph.edges(prefix.spot)
                if len(edges.stops):
                    stop = log_sum(following.log_probabilities(row, edges.stops))
                    self._close(prefix.spot.text, prefix.log_probability + stop)
                found = following.log_probabilities(row, edges.tokens).tolist()
                for token, target, score in zip(edges.tokens.tolist(), edges.targets, found, strict=True):
                    if score > -math.inf:
                        self._add(target, prefix, token, prefix.log_probability + score)
            self._compare()

    @property
    def is_complete(self) -> bool:
        """Whether nothing is open."""
        return not self._open

    def _add(self, spot: Spot, parent: Prefix | None, token: int, log_mass: float) -> None:
        if spot.is_finished and not self._needs_stop:
            self._close(spot.text, log_mass)
            return
        self._watch.hold(_OPEN_BYTES)
        made = _Open(spot, parent, token, log_mass)
        heapq.heappush(self._open.setdefault(made.depth, []), (-log_mass, next(self._order), made))

    def _close(self, text: bytes, log_mass: float) -> None:
        import numpy as np

        value = self._texts.value_of(text)
        self.log_closed[value] = np.logaddexp(self.log_closed[value], log_mass)

    def _next(self, bound: float) -> list[_Open]:
        """The sequences to read: of one length, at least one."""
        depth = min(self._open) if bound == 0 else min(self._open, key=lambda each: self._open[each][0])
        heap = self._open[depth]
        # Where an interval suffices, a row that carries less than that of the heaviest one is not worth it.
        least = -math.inf if bound == 0 else -heap[0][0] + math.log(bound)
        batch = [heapq.heappop(heap)[2]]
        while heap and len(batch) < self._batch_size and -heap[0][0] >= least:
            batch.append(heapq.heappop(heap)[2])
        if not heap:
            del self._open[depth]
        return batch

    def _compare(self) -> None:
        """Computes the bounds."""
        import numpy as np

        by_text: dict[bytes, list[float]] = {}
        for heap in self._open.values():
            for negative, _, prefix in heap:
                by_text.setdefault(prefix.spot.text, []).append(-negative)
        peak = max((score for scores in by_text.values() for score in scores), default=-math.inf)
        peak = max(peak, float(self.log_closed.max()))
        if peak == -math.inf:
            raise GenerationError(
                "the model gives every text of the constraint the probability 0; check the prompt and the "
                "model, or ask for other values"
            )
        closed = np.exp(self.log_closed - peak)
        masses = [
            (self._values_after(text), math.fsum(math.exp(score - peak) for score in scores))
            for text, scores in by_text.items()
        ]
        self.bounds = intervals(closed, masses)
        total, every = float(closed.sum()), math.fsum(mass for _, mass in masses)
        self.log_mass = (
            peak + math.log(total) if total > 0 else -math.inf,
            peak + math.log(total + every) if total + every > 0 else -math.inf,
        )

    def _values_after(self, text: bytes) -> npt.NDArray[np.intp]:
        """The values of the texts with this beginning, each once."""
        import numpy as np

        known = self._spans.get(text)
        if known is None:
            begin, end = self._texts.span(text)
            known = self._spans[text] = np.unique(self._texts.values[begin:end])
        return known

    def _width(self) -> float:
        lower, upper = self.bounds
        return float((upper - lower).max())
