"""What is proved about the probabilities of values by masses that are partly known.

Each value has a *closed* mass, which is surely its own.  *Open* masses may still go to several values each,
in any shares, or to none of them.  With ``l(v)`` the closed mass of value v, ``f(v)`` the open mass that
may go to v, ``o(v)`` the open mass that can go to v alone, and ``L`` and ``F`` the sums of all that is closed
and open::

                 l(v)                                       l(v) + f(v)
    -------------------------   <=   P(v | a value)   <=   ---------------
         L + F - o(v)                                        L + f(v)

On the left everything that can go elsewhere does, and what can only go to v is lost; on the right everything
that can go to v does, and the rest is lost.  Both cases are possible, so no bounds are tighter.

Cost: linear in the sizes of the sets of values.  The bounds are computed anew from all masses: subtracting
what was closed since would leave rounding errors in them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["intervals"]


def intervals(
    closed: npt.NDArray[np.float64], masses: Iterable[tuple[npt.NDArray[np.intp], float]]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The tightest bounds of the probability of each value, ``float64[values]`` each.

    Args:
        closed: ``float64[values]``, the closed masses.
        masses: each open mass, with the numbers of the values that it may go to, each once.
    """
    import numpy as np

    may_go, only = np.zeros_like(closed), np.zeros_like(closed)
    every = 0.0
    for values, mass in masses:
        may_go[values] += mass
        if len(values) == 1:
            only[values] += mass
        every += mass
    total = float(closed.sum())
    with np.errstate(invalid="ignore", divide="ignore"):
        lower = closed / (total + np.maximum(every - only, 0.0))
        upper = (closed + may_go) / (total + may_go)
    # 0 / 0: no closed mass, and nothing that must go elsewhere; or no mass that could come.
    return np.nan_to_num(lower, nan=0.0), np.where(np.isnan(upper), 0.0, np.minimum(upper, 1.0))
