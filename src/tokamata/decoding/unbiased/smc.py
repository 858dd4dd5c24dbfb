"""Sequential Monte Carlo: a population of texts that are written in lock-step and compete.

Each *particle* is a text with a weight.  At each step the model reads all texts as a batch; each particle's
weight is multiplied by the legal mass of its prefix, and its next token is drawn under the mask.  So its
weight is ``P / q``, as in local sampling.  Where the weights have become unequal, the particles are
*resampled*: those with small weights are replaced by copies of those with large ones, and all weights become
their mean.

    weights   0.9  0.1  0.1  0.1     effective size 1.7 of 4: below half, so resample
    chosen    1    1    1    3       systematically: 0.75 of four points fall on the first
    weights   0.3  0.3  0.3  0.3     the mean

The legal mass is known before the token is drawn, so weights are updated and resampled first: copies of a
particle then draw tokens of their own.  A text that has ended stays in the population with its weight.
Particles with the same tokens are one row of the batch and one matcher.

**Properties.**  The mean of all weights at the end is an unbiased estimate of the evidence ``Z``, also with
systematic resampling at a threshold: given all before, resampling keeps the expected total weight of every
particle, and a step multiplies it by what it should.  Weighted averages tend to the target law with the
number of particles; for a finite number they are biased, of the order of one by that number.

A particle whose legal mass is zero has no next token; the population is resampled at once, whatever the
threshold.

Populations are split where one would not fit into memory.  The weights of all parts stay as they are, so
their mean is an unbiased estimate too.

Source: Loula et al. 2025 (2504.13139), with exact legal masses in place of sampled ones.  The fully adapted
auxiliary filter of Pitt and Shephard (1999) resamples in the same order.  Cost: one call of the model for
each token of the longest text.
"""

# transformers has no usable types for models, hence `Any`.

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tokamata.decoding.logarithms import (
    cumulative,
    drawn,
    effective_size,
    log_mean,
    log_sum,
    systematic,
)
from tokamata.decoding.model import CachedModel
from tokamata.decoding.results import Clock, Timing
from tokamata.decoding.unbiased.law import Law
from tokamata.decoding.unbiased.walks import Path
from tokamata.errors import GenerationError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tokamata.matching.matchers import Matcher

__all__ = ["Population"]

_BYTES_OF_A_LOGIT = 12  # from the model in float32, copied, and with some room
_MOST_TOGETHER = 1024


@dataclass(frozen=True)
class _Particle:
    """A text of the population.

    Attributes:
        row: the row of the batch with its tokens; ``None`` once it has ended.
    """

    row: int | None = 0
    log_weight: float = 0.0
    log_probability: float = 0.0
    tokens: list[int] = field(default_factory=list)
    log_masses: list[float] = field(default_factory=list)

    @property
    def path(self) -> Path:
        return Path(self.tokens, self.log_probability, self.log_weight, self.log_masses)


class Population:
    """Particles of one prompt under one constraint.

    Args:
        law: the target law.
        model: the model.
        threshold: the share of the particles below which the effective size makes them resample.
        memory_bytes: the bound on the logits of one call.
        allow: called before each call of the model; raises where it is one too many.
        timing: where the times are added.

    Attributes:
        calls: how often the model was called.
        positions: how many tokens it has read in these calls.
        ended: the texts that have ended so far.
        died: how many particles were in parts of the population in which no particle had a legal token of a
            probability above zero; they count with a weight of zero.
    """

    def __init__(
        self,
        law: Law,
        model: Any,
        threshold: float,
        memory_bytes: int,
        allow: Callable[[int], None],
        timing: Timing,
    ) -> None:
        self._law, self._model, self._threshold = law, model, threshold
        self._allow, self._timing = allow, timing
        size = _BYTES_OF_A_LOGIT * law.task.vocabulary.width
        self._most = max(2, min(memory_bytes // size, _MOST_TOGETHER))
        self.calls = self.positions = 0
        self.ended: list[Path] = []
        self.died = 0

    def sample(self, count: int, random: np.random.Generator) -> None:
        """Write all texts to their end.

        Raises:
            GenerationError: the model's logits are no distribution, or all particles have died.
        """
        parts = -(-count // self._most)
        for part in range(parts):
            size = count * (part + 1) // parts - count * part // parts
            earlier = list(self.ended)
            self._write([_Particle()] * size, random, earlier)
        if self.died == count:
            raise GenerationError(
                "no text of the population could go on: the model gives no token that the constraint allows "
                "a probability above 0; check the prompt, or the temperature, or pass a larger n"
            )

    def _write(self, particles: list[_Particle], random: np.random.Generator, earlier: list[Path]) -> None:
        """One part of the population, from the start to the end of its texts."""
        model = CachedModel(self._model)
        matchers = [self._law.start()]
        unread = [self._law.task.prompt]
        length = 0
        while matchers:
            self._allow(self.calls)
            scores, legal = self._read(model, unread, matchers, length)
            particles = self._weighted(particles, scores)
            if all(one.log_weight == -math.inf for one in particles):
                self.died += len(particles)
                return
            particles = self._resampled(particles, random)
            particles, rows = self._advanced(particles, scores, legal, random)
            matchers = self._forks(matchers, rows)
            going = [row for row, matcher in enumerate(matchers) if not matcher.is_finished]
            numbers = {row: number for number, row in enumerate(going)}
            # A text that is complete has no row any more.
            particles = [
                one if one.row is None else replace(one, row=numbers.get(one.row)) for one in particles
            ]
            self.ended = [*earlier, *(one.path for one in particles if one.row is None)]
            matchers = [matchers[row] for row in going]
            if going:
                with Clock(self._timing, "model_seconds"):
                    model.keep([rows[row][0] for row in going])
            unread = [[rows[row][1]] for row in going]
            length += 1

    def _read(
        self, model: CachedModel, unread: list[list[int]], matchers: list[Matcher], length: int
    ) -> tuple[list[npt.NDArray[np.float64]], list[npt.NDArray[np.int64]]]:
        """The logarithms of the probabilities of the legal tokens of each row, and these tokens."""
        with Clock(self._timing, "constraint_seconds"):
            legal = self._law.legal(matchers, [length] * len(matchers))
        with Clock(self._timing, "model_seconds" if model.has_read else "prompt_seconds"):
            self.calls += 1
            self.positions += sum(map(len, unread))
            return self._law.log_probabilities(model.next_logits(unread), legal), legal

    def _weighted(self, particles: list[_Particle], scores: list[npt.NDArray[np.float64]]) -> list[_Particle]:
        """The particles with the legal masses of their prefixes in their weights."""
        masses = [min(log_sum(row), 0.0) for row in scores]  # rounding may exceed 0
        found = []
        for one in particles:
            if one.row is not None:
                mass = masses[one.row]
                one = replace(one, log_weight=one.log_weight + mass, log_masses=[*one.log_masses, mass])
            found.append(one)
        return found

    def _resampled(self, particles: list[_Particle], random: np.random.Generator) -> list[_Particle]:
        weights = [one.log_weight for one in particles]
        is_equal_enough = effective_size(weights) >= self._threshold * len(weights)
        if is_equal_enough and min(weights) > -math.inf:
            return particles
        mean = log_mean(weights)
        chosen = systematic(weights, random.random())
        return [replace(particles[index], log_weight=mean) for index in chosen]

    def _advanced(
        self,
        particles: list[_Particle],
        scores: list[npt.NDArray[np.float64]],
        legal: list[npt.NDArray[np.int64]],
        random: np.random.Generator,
    ) -> tuple[list[_Particle], list[tuple[int, int]]]:
        """Each particle with one more token, and the new rows: the row before, and the token."""
        sums: dict[int, npt.NDArray[np.float64]] = {}
        rows: dict[tuple[int, int], int] = {}
        found = []
        with Clock(self._timing, "sampling_seconds"):
            for one in particles:
                if one.row is None:
                    found.append(one)
                    continue
                if one.row not in sums:
                    sums[one.row] = cumulative(scores[one.row])
                index = drawn(sums[one.row], random.random())
                token = int(legal[one.row][index])
                row = None if token in self._law.stop else rows.setdefault((one.row, token), len(rows))
                found.append(
                    replace(
                        one,
                        row=row,
                        tokens=[*one.tokens, token],
                        log_probability=one.log_probability + float(scores[one.row][index]),
                    )
                )
        return found, list(rows)

    def _forks(self, matchers: list[Matcher], rows: list[tuple[int, int]]) -> list[Matcher]:
        """The matcher of each new row."""
        forks = []
        with Clock(self._timing, "constraint_seconds"):
            for row, token in rows:
                fork = matchers[row].fork()
                if not fork.advance(token):
                    raise GenerationError(f"token {token} was drawn although the mask forbids it")
                forks.append(fork)
        return forks
