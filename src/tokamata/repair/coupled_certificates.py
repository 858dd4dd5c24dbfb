"""What proves a repair whose edits are coupled, and what it leaves unproven."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

import tokamata._core as _core
from tokamata.repair.bounded_patterns import BoundedPatterns
from tokamata.repair.names import different_names, names_of
from tokamata.repair.raised_costs import HIGHEST_COST, RaisedCosts
from tokamata.repair.results import Certificate
from tokamata.resources.limits import CancelToken, Limits, checked_cancel, checked_limits, core_limits

__all__ = ["CoupledCertificate"]


@dataclass(frozen=True)
class CoupledCertificate(Certificate):
    """What proves a repair with ``at_most`` or ``alike``: edits, their number and cost, and a lower bound.

    The bound is that of the multipliers: with every cost times ``scale`` and the multipliers added, no repair
    costs less than the nodes prove.  It may be below :attr:`.Repair.lower_bound`: what branch and bound adds
    to it can only be checked by solving the program again.

    Attributes:
        at_most: how many edits of each name there may be.
        multipliers: what each edit of a name costs more, in the costs of the proof.
        scale: by what the proof multiplies all costs.
        alike: the pattern of the names that are written alike; ``None``: there is none.
    """

    at_most: Mapping[str, int] = field(default_factory=dict)
    multipliers: Mapping[str, int] = field(default_factory=dict)
    scale: int = 1
    alike: bytes | None = None

    def flaw(self, *, limits: Limits | None = None, cancel: CancelToken | None = None) -> str | None:
        """What is wrong with the certificate; ``None`` if it holds.

        Edits, cost and text are checked as in every certificate; the edits of each name are counted, and the
        spellings of names that are to be written alike are compared; then the bound is checked in the raised
        costs, edge by edge.

        Raises:
            LimitExceeded, Cancelled: the check was stopped.
        """
        if self.lower_bound > self.cost:
            return "the lower bound is above the cost"
        for name, count in Counter(edit.name for edit in self.edits).items():
            if count > self.at_most.get(name, count):
                return f"there are {count} edits {name!r}, of at most {self.at_most[name]}"
        if self.scale < 1 or any(value < 0 for value in self.multipliers.values()):
            return "a multiplier is negative, or the scale is below 1"
        if not set(self.multipliers) <= set(self.at_most):
            return "a multiplier belongs to no bound"
        costs = self.costs.of_text(self.broken)
        if costs.most() * self.scale + max(self.multipliers.values(), default=0) > HIGHEST_COST:
            return "a raised cost is too high"
        own = {one.name: getattr(self, one.name) for one in fields(Certificate)}
        flaw = Certificate(**{**own, "lower_bound": 0, "nodes": b""}).flaw(limits=limits, cancel=cancel)
        if flaw is None and self.alike is not None:
            bounds = BoundedPatterns(checked_limits(limits), checked_cancel(cancel))
            names = names_of(self.alike, self.broken, bounds)
            for number in sorted(different_names(names, self.broken, self.edits)):
                return f"the name {names[number].broken[:80]!r} is written in two ways"
        if flaw is not None or self.lower_bound == 0:
            return flaw
        raised = RaisedCosts.of(costs, self.scale, self.multipliers)
        return (
            _core.flaw_of_bound(
                self.expression,
                self.broken,
                raised.machine,
                raised.rewrites,
                raised.doubts,
                raised.firm,
                self.raised_bound(),
                self.nodes,
                self.is_exact,
                core_limits(checked_limits(limits)),
                checked_cancel(cancel),
                "",
            )
            or None
        )

    def raised_bound(self) -> int:
        """What every repair must cost in the raised costs, so that the lower bound holds."""
        added = sum(multiplier * self.at_most[name] for name, multiplier in self.multipliers.items())
        return self.scale * (self.lower_bound - 1) + 1 + added
