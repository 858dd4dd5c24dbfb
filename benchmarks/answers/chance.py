"""Whether a difference between two arms is more than chance.  Both have answered the same questions.

Bootstrap intervals: Efron and Tibshirani, An Introduction to the Bootstrap (1993), section 13.3.  Correction
for the number of tests: Holm, A simple sequentially rejective multiple test procedure (1979).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["corrected", "interval", "p_value"]

_DRAWS = 10_000
_PIECE = 500  # drawn at once

Differences = npt.NDArray[np.float64]


def interval(differences: Differences, seed: int) -> tuple[float, float]:
    """The 95 % interval of the mean of differences, by resampling them (percentiles)."""
    random = np.random.default_rng(seed)
    size = len(differences)
    means = [
        differences[random.integers(0, size, (_PIECE, size))].mean(axis=1) for _ in range(_DRAWS // _PIECE)
    ]
    low, high = np.percentile(np.concatenate(means), (2.5, 97.5))
    return float(low), float(high)


def p_value(differences: Differences, seed: int) -> float:
    """The two-sided permutation test of paired differences: if chance decides their signs, how often is
    their sum as far from zero?
    """
    changed = differences[differences != 0.0]
    if changed.size == 0:
        return 1.0
    random = np.random.default_rng(seed)
    seen = abs(changed.sum()) - 1e-9  # sums in another order round otherwise
    as_far = 0
    for _ in range(_DRAWS // _PIECE):
        signs = random.integers(0, 2, (_PIECE, changed.size)) * 2.0 - 1.0
        as_far += int((np.abs(signs @ changed) >= seen).sum())
    return (1 + as_far) / (1 + _DRAWS)


def corrected(values: Sequence[float]) -> list[float]:
    """p-values corrected for their number, by Holm's method."""
    result = [1.0] * len(values)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=lambda place: values[place])):
        largest = max(largest, min(1.0, (len(values) - rank) * values[place]))
        result[place] = largest
    return result
