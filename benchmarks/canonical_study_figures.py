"""The figures of the study, from the texts that were judged.

Means come with an interval by the bootstrap: the draws behind each prompt are drawn again, with replacement,
and the mean is taken anew; 95 % of such means lie in it.  Resampling n draws spreads them too little, by the
square root of (n - 1) / n, which is made good.  The interval says how much chance there is in the draws, not
what other prompts would give.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from canonical_study_scoring import Judged
from canonical_study_writing import ANY, CANONICAL, HEALED, WAYS

_RESAMPLES = 2_000


@dataclass(frozen=True)
class Estimate:
    """A mean, and where 95 % of the resampled means lie; all NaN without values."""

    mean: float
    low: float
    high: float


def estimate(groups: Iterable[Sequence[float]], seed: int = 0) -> Estimate:
    """The mean of all values, resampled within each group."""
    values = [np.asarray(group, dtype=float) for group in groups if len(group)]
    if not values:
        return Estimate(float("nan"), float("nan"), float("nan"))
    random = np.random.default_rng(seed)
    total = np.zeros(_RESAMPLES)
    for group in values:
        drawn = group[random.integers(len(group), size=(_RESAMPLES, len(group)))].sum(axis=1)
        total += group.sum() + (drawn - group.sum()) * math.sqrt(len(group) / max(1, len(group) - 1))
    count = sum(map(len, values))
    low, high = np.quantile(total / count, (0.025, 0.975))
    return Estimate(float(sum(group.sum() for group in values) / count), float(low), float(high))


@dataclass
class CaseFigures:
    """One constraint.

    Attributes:
        name, pattern, prompts, budget: see ``StudyCase``.
        judged: by prompt, then by way; of each the greedy text, then the samples.
    """

    name: str
    pattern: str
    prompts: tuple[str, ...]
    budget: int
    judged: list[dict[str, list[Judged]]]

    def of(self, way: str, *, greedy: bool) -> list[list[Judged]]:
        """The texts of a way, by prompt: the greedy ones, or the samples."""
        return [by_way[way][:1] if greedy else by_way[way][1:] for by_way in self.judged]


@dataclass
class StudyFigures:
    """What a run has found, and where."""

    facts: dict[str, str]
    cases: list[CaseFigures]

    def as_json(self) -> dict[str, object]:
        """Everything in plain types."""
        return asdict(self)

    @property
    def wrong(self) -> list[str]:
        """Texts written canonically that the tokenizer writes otherwise: there must be none."""
        return [
            f"{case.name}: {one.output.text!r}"
            for case in self.cases
            for by_way in case.judged
            for one in by_way[CANONICAL]
            if not one.is_canonical
        ]


def left(groups: Sequence[Sequence[Judged]]) -> tuple[int, int]:
    """How many texts are not in the tokenizer's own tokens, and of how many."""
    return sum(not one.is_canonical for group in groups for one in group), sum(map(len, groups))


def foreign(groups: Sequence[Sequence[Judged]]) -> tuple[int, int]:
    """How many tokens are not the tokenizer's own, and of how many that were written."""
    texts = [one for group in groups for one in group]
    return sum(len(one.foreign) for one in texts), sum(len(one.output.tokens) for one in texts)


def gains(groups: Sequence[Sequence[Judged]], *, of_left: bool = False) -> list[list[float]]:
    """Log-probability of the tokens written less that of the tokenizer's own, in nats a text.

    Args:
        of_left: those alone that are not the tokenizer's own; all others are 0.
    """
    return [[one.gain for one in group if not (of_left and one.is_canonical)] for group in groups]


def preferences(case: CaseFigures, way: str, *, greedy: bool) -> list[list[float]]:
    """By prompt and draw: log p of the text written canonically less that of the other way's, in nats.

    Both are of the tokenizer's own tokens, by the model alone: which text the model holds more probable when
    it reads the two as it reads all others.
    """
    pairs = zip(case.of(CANONICAL, greedy=greedy), case.of(way, greedy=greedy), strict=True)
    return [
        [ours.own_log_probability - theirs.own_log_probability for ours, theirs in zip(*pair, strict=True)]
        for pair in pairs
    ]


def per_code_point(groups: Sequence[Sequence[Judged]]) -> float:
    """Log-probability of the texts by the tokenizer's own tokens, in nats a code point."""
    texts = [one for group in groups for one in group]
    return sum(one.own_log_probability for one in texts) / max(1, sum(len(one.output.text) for one in texts))


def differing(case: CaseFigures, way: str) -> int:
    """How many greedy texts are other texts than those that were written canonically."""
    pairs = zip(case.of(CANONICAL, greedy=True), case.of(way, greedy=True), strict=True)
    return sum(ours[0].output.text != theirs[0].output.text for ours, theirs in pairs)


def example(case: CaseFigures) -> int | None:
    """The prompt whose greedy text in any tokens has most foreign ones; ``None`` where none has any."""
    counts = [len(one[ANY][0].foreign) for one in case.judged]
    return counts.index(max(counts)) if any(counts) else None


__all__ = [
    "ANY", "CANONICAL", "HEALED", "WAYS", "CaseFigures", "Estimate", "StudyFigures", "differing", "estimate",
    "example", "foreign", "gains", "left", "per_code_point", "preferences",
]  # fmt: skip
