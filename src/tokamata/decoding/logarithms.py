"""Sums, draws and averages of numbers that are given by their logarithms.

A text of a hundred tokens has a probability of perhaps 1e-300, so probabilities stay logarithms, in float64.
Three traps are avoided here:

- the logarithm of a sum subtracts the greatest term first; where all are minus infinity the sum is too, and
  not NaN, which ``-inf - -inf`` is;
- a draw never returns an entry of probability zero, also where rounding makes the random number equal to the
  sum of all;
- what remains of a sum is added up again, and not found by subtraction: ``1 - 0.999…`` has no digits left.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["cumulative", "drawn", "effective_size", "log_add", "log_mean", "log_sum", "systematic"]


def log_sum(logs: Any) -> float:
    """``log(sum(exp(logs)))``; minus infinity for none."""
    import numpy as np

    values = np.asarray(logs, dtype=np.float64)
    if values.size < 2:
        return float(values[0]) if values.size else -math.inf
    peak = float(values.max())
    if peak == -math.inf:
        return -math.inf
    return peak + math.log(float(np.exp(values - peak).sum()))


def log_add(first: float, second: float) -> float:
    """``log(exp(first) + exp(second))``, of two numbers without an array for them."""
    high, low = max(first, second), min(first, second)
    return high if low == -math.inf else high + math.log1p(math.exp(low - high))


def log_mean(logs: Sequence[float]) -> float:
    """``log(mean(exp(logs)))``; minus infinity for none."""
    return log_sum(logs) - math.log(max(len(logs), 1))


def effective_size(logs: Sequence[float]) -> float:
    """The effective sample size of weights, ``sum(w)² / sum(w²)``; 0 where all are zero.

    Source: Kong, Liu and Wong, 1994.
    """
    total = log_sum(logs)
    return 0.0 if total == -math.inf else math.exp(2 * total - log_sum([2 * one for one in logs]))


def cumulative(logs: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The running sums of ``exp(logs)``, with the greatest term as 1; not all are minus infinity."""
    import numpy as np

    sums: npt.NDArray[np.float64] = np.exp(logs - logs.max()).cumsum()
    return sums


def drawn(sums: npt.NDArray[np.float64], uniform: float) -> int:
    """The entry at which a uniform number from 0 to 1, 1 excluded, falls; one of probability above zero.

    Args:
        sums: of :func:`cumulative`.
        uniform: the random number.
    """
    index = int(sums.searchsorted(uniform * sums[-1], side="right"))
    if index == len(sums):  # rounded up to the whole sum
        index = int(sums.searchsorted(sums[-1], side="left"))
    return index


def systematic(logs: Sequence[float], uniform: float) -> list[int]:
    """As many indices as there are weights, each in proportion to its weight on average.

    One random number places points at equal distances on the line of all weights, so an index of relative
    weight ``w`` occurs ``floor(n w)`` or ``ceil(n w)`` times.  Source: Kitagawa, 1996.

    Args:
        logs: logarithms of the weights, one above minus infinity.
        uniform: a random number from 0 to 1, 1 excluded.
    """
    import numpy as np

    sums = cumulative(np.asarray(logs, dtype=np.float64))
    count = len(sums)
    return [drawn(sums, (point + uniform) / count) for point in range(count)]
