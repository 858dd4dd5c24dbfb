"""The costs of one text, with a multiplier added to each edit of some names.

Problem.  Which repair is cheapest if there may be at most k edits of a name?
How.  Let each edit of that name cost λ more.  If no repair then costs less than B, none that makes at most
k of them costs less than B - λ·k: its edits cost at least B, of which λ·k at most is what was added
(Lagrangian relaxation). So the search for repairs bounds repairs with ``at_most`` too, and so does the
proof of its bound.
Example.  ``ab``, the language {b, a, ""}, at most 0 removals, all edits at 1 and λ = 5: no repair costs
less than 6 (one removal), so none without removals costs less than 6.

Costs are whole numbers, and the best multiplier is often a fraction.  So all costs are multiplied by a
scale first.
Source.  Handler and Zang, *A dual algorithm for the constrained shortest path problem*, 1980; Beasley and
Christofides 1989 for several bounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import tokamata._core as _core
from tokamata.repair.costs import NEVER, TextCosts

__all__ = ["HIGHEST_COST", "RaisedCosts", "scale_of"]

# The engine's costs are below 2^32; the last of these numbers is that of an edit that is never made.
HIGHEST_COST = NEVER - 1
_SCALE = 16  # so that multipliers have sixteenths
_NAMES = ("insert", "insert", "insert", "remove", "replace", "")  # of the tables


def scale_of(costs: TextCosts) -> tuple[int, int]:
    """By what costs are multiplied, and the highest multiplier that may then be added to any."""
    scale = _SCALE if costs.most() * _SCALE < NEVER // 2 else 1
    return scale, HIGHEST_COST - costs.most() * scale


@dataclass(frozen=True)
class RaisedCosts:
    """The costs of a text, scaled and raised, as the engine takes them.

    Attributes:
        machine, rewrites, doubts, firm: arguments of the engine.
    """

    machine: _core.EditMachine
    rewrites: _core.Rewrites
    doubts: _core.Doubts
    firm: Sequence[tuple[int, int]]

    @classmethod
    def of(cls, costs: TextCosts, scale: int, multipliers: Mapping[str, int]) -> RaisedCosts:
        """Every cost times the scale, and the multiplier of its name added."""

        def raised(name: str, cost: int) -> int:
            return NEVER if cost == NEVER else cost * scale + multipliers.get(name, 0)

        by_mode = [
            [[raised(name, cost) for cost in table] for name, table in zip(_NAMES, tables, strict=True)]
            for tables in costs.tables.tables
        ]
        return cls(
            costs.tables._replace(tables=by_mode).machine(),
            _core.Rewrites(
                [
                    (one.begin, one.end, one.written, raised(one.name, one.cost), one.within, one.then)
                    for one in costs.spans
                ]
            ),
            _core.Doubts(
                [
                    (position, raised(costs.doubt_of[number].name, cost), within, number)
                    for position, cost, within, number in costs.doubts.all()
                ]
            ),
            [(position, cost * scale) for position, cost in costs.firm.items()],
        )
