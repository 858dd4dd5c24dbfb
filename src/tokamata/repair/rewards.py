"""How near a text is to being accepted, as a number from 0 to 1.

Problem.  Reinforcement learning wants more than "accepted or not": a text with one missing bracket should
earn more than prose.
Example.  ``[1, 2`` under ``tk.json()``: the bracket costs 40.  To remove all five bytes and to write another
text costs 19,133, so the reward is 1 - 40 / 19,133 = 0.998.

How.  The reward is 1 - distance / price.  The distance is the cost of the cheapest repair.  The price is that
of removing the text byte by byte, and of appending a text that the constraint accepts, byte by byte.  That
text is the first answer of the search (``write_anew`` in ``core/repair/search.cpp``).  It depends on the
constraint and on the costs of appending alone: not on the text, the limits, or the time.  Each of its bytes
lowers the length of a shortest text that the engine knows, the cheapest byte first.  So it is a shortest
text wherever the engine knows that length exactly, which it may not with lookaround.

The search begins with this answer, so the distance is never above the price.  Both are 0 if the costs of all
these edits are 0; then the reward is 1, as for any text that edits without cost lead to an accepted one.

Not taken.  The cheapest text as the price: that is the repair of the empty text, another search that may meet
a limit, and the reward would depend on it.
"""

from __future__ import annotations

import math
from typing import Generic, TypeVar

from tokamata.repair.results import Repair

__all__ = ["Reward"]

_T_co = TypeVar("_T_co", covariant=True)


class Reward(float, Generic[_T_co]):
    """How near a text is to being accepted: a ``float`` from 0 to 1, with its proof.

    It is 1 exactly if the text is accepted, or if edits that cost nothing lead to an accepted text.  It is
    ``1 - repair.cost / price``, and so a lower bound where a deadline or a limit stopped the search.

    Attributes:
        upper_bound: the reward is not above it, whatever a longer search finds; equal to the reward if
            ``repair.optimal``.
        price: the cost of removing the whole text and writing a shortest accepted one; ``None`` for a text
            that is accepted, whose reward needs none.
        repair: the repair; ``repair.certificate`` proves its cost and its lower bound.
    """

    __slots__ = ("price", "repair", "upper_bound")

    upper_bound: float
    price: int | None
    repair: Repair[_T_co]

    def __new__(cls, repair: Repair[_T_co], price: int | None) -> Reward[_T_co]:
        """The reward of a repair; Constraint.reward makes both."""
        made = super().__new__(cls, _share_left(repair.cost, price))
        made.upper_bound = _share_left(repair.lower_bound, price)
        made.price = price
        made.repair = repair
        return made

    @property
    def lower_bound(self) -> float:
        """The reward itself, as a ``float``: what the repair proves."""
        return float(self)

    def __reduce__(self) -> tuple[type[Reward[_T_co]], tuple[Repair[_T_co], int | None]]:
        return type(self), (self.repair, self.price)

    def __repr__(self) -> str:
        shown = f"{float(self):.6g}"
        return f"Reward({shown})" if self.repair.optimal else f"Reward({shown} to {self.upper_bound:.6g})"


def _share_left(cost: int, price: int | None) -> float:
    """``1 - cost / price``, below 1 for any cost that rounding would lose."""
    if cost == 0 or price is None:
        return 1.0
    return min(1.0 - cost / price, math.nextafter(1.0, 0.0))
