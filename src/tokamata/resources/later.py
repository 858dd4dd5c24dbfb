"""What is found when it is first needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from tokamata.resources.limits import Watch

__all__ = ["Later"]

_T = TypeVar("_T")


class Later(Generic[_T]):
    """What is found when it is first needed, within the limits of the call that needs it, and then kept.

    Args:
        find: finds it.  If it raises, the next call tries again.
    """

    __slots__ = ("_find", "_found")

    def __init__(self, find: Callable[[Watch], _T]) -> None:
        self._find: Callable[[Watch], _T] | None = find
        self._found: _T

    @classmethod
    def found(cls, value: _T) -> Later[_T]:
        """What was found already."""
        return cls(lambda _: value)

    def __call__(self, watch: Watch) -> _T:
        """What is found; raises what ``find`` raises."""
        if (find := self._find) is not None:
            self._found = find(watch)
            self._find = None  # with what it refers to
        return self._found
