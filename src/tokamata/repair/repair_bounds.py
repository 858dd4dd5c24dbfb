"""How much content a repair may lose, invent and change before it is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from tokamata.errors import ArgumentError, RepairRefusedError, shown_argument
from tokamata.repair.losses import ContentChange
from tokamata.repair.results import Repair

__all__ = ["RepairBounds"]


@dataclass(frozen=True)
class RepairBounds:
    """Bounds on the content that a repair may lose, invent and change; ``None``: any amount.

        tk.json_schema(schema).repair(text, strict=tk.RepairBounds())            # structure alone
        tk.json_schema(schema).repair(text, strict=tk.RepairBounds(changed=2))

    They count words, numbers and symbols; of other constraints than JSON, characters.
    :class:`.ContentChange` has the size of each entry.

    Attributes:
        lost: of :attr:`.Repair.lost`, without prose.
        invented: of :attr:`.Repair.invented`.
        changed: of :attr:`.Repair.changed`.
        prose: lost text before or after the value.

    Raises:
        ArgumentError: a bound is no whole number from 0.
    """

    lost: int | None = 0
    invented: int | None = 0
    changed: int | None = 0
    prose: int | None = None

    def __post_init__(self) -> None:
        for one in fields(self):
            bound = getattr(self, one.name)
            if bound is not None and (isinstance(bound, bool) or not isinstance(bound, int) or bound < 0):
                expected = "a whole number from 0, or None"
                raise ArgumentError(f"RepairBounds.{one.name}", shown_argument(bound), expected)

    def check(self, repair: Repair[object]) -> None:
        """Checks a repair.

        Raises:
            RepairRefusedError: it passes a bound.
        """
        sizes = {
            "lost": _size([one for one in repair.lost if one.kind != "prose"]),
            "invented": _size(repair.invented),
            "changed": _size(repair.changed),
            "prose": _size([one for one in repair.lost if one.kind == "prose"]),
        }
        bounds = {name: getattr(self, name) for name in sizes}
        exceeded = {
            name: (size, bounds[name])
            for name, size in sizes.items()
            if bounds[name] is not None and size > bounds[name]
        }
        if exceeded:
            raise RepairRefusedError(repair, exceeded)


def _size(changes: Sequence[ContentChange]) -> int:
    return sum(change.size for change in changes)
