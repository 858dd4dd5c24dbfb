"""What threads share, so that a forked process does not wait for a thread which it does not have.

``fork`` copies a lock that another thread holds as locked, and nobody unlocks it in the child.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload
from weakref import WeakSet

__all__ = ["Lock", "kept_property"]

_T = TypeVar("_T")


class Lock:
    """A lock that is free in a forked process.  What it guards must be whole at any time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _locks.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def _renew(self) -> None:
        self._lock = threading.Lock()


class kept_property(Generic[_T]):  # named like the property that it replaces
    """``functools.cached_property`` without a lock: until Python 3.11 that has one for all objects.

    Two threads may compute a value at the same time; both get the one that was kept first.
    """

    def __init__(self, make: Callable[[Any], _T]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> kept_property[_T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> _T: ...
    def __get__(self, instance: object | None, owner: type) -> kept_property[_T] | _T:
        if instance is None:
            return self
        kept: _T = instance.__dict__.setdefault(self._name, self._make(instance))
        return kept


_locks: WeakSet[Lock] = WeakSet()


def _renew_all() -> None:
    for lock in list(_locks):
        lock._renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
