"""What the project has set itself, beside what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from report import Table, us


@dataclass(frozen=True)
class Target:
    """One figure that the project has set itself.

    Attributes:
        name: what is measured.
        value: the figure measured, or ``None`` where this run has not measured it.
        limit: what it may be at most, or must be at least.
        unit: of both.
        at_least: whether more is better.
    """

    name: str
    value: float | None
    limit: float
    unit: str
    at_least: bool = False

    @property
    def verdict(self) -> str:
        """``met``, ``MISSED`` or ``not measured``."""
        if self.value is None:
            return "not measured"
        is_met = self.value >= self.limit if self.at_least else self.value <= self.limit
        return "met" if is_met else "MISSED"


def target_table(targets: Sequence[Target]) -> Table:
    """All targets, one a row."""
    columns = ("what", "measured", "target", "unit", "")
    table = Table("What the project has set itself", columns, left=1)
    for target in targets:
        shown = ("at least " if target.at_least else "at most ") + f"{target.limit:,g}"
        table.rows.append((target.name, us(target.value), shown, target.unit, target.verdict))
    return table


def as_json(targets: Sequence[Target]) -> list[dict[str, object]]:
    """The targets in plain types."""
    return [asdict(target) | {"verdict": target.verdict} for target in targets]
