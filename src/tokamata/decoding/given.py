"""What a caller gives as a constraint: one that is compiled, or one that is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

from tokamata.matching.matchers import CompiledConstraint
from tokamata.resources.limits import Limits

if TYPE_CHECKING:
    from tokamata.constraints.constraint import Constraint

__all__ = ["constraint_and_limits"]

_T = TypeVar("_T")


def constraint_and_limits(given: Constraint[_T] | CompiledConstraint[_T]) -> tuple[Constraint[_T], Limits]:
    """The constraint itself, and its limits; ``Limits()`` where it is not compiled."""
    if isinstance(given, CompiledConstraint):
        return cast("Constraint[_T]", given.constraint), given.limits
    return given, Limits()
