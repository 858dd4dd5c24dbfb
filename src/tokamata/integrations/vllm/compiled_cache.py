"""Compiled constraints, bounded by number and memory.

A service gets the same schemas again and again.  A compiled constraint keeps its masks, so the second
request computes almost none.  The least recently used constraints go first; requests that still use one keep
it alive.
Requests for one constraint that come at the same time compile it once: the others wait for the first.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Any

from tokamata.locks import Lock
from tokamata.matching import CompiledConstraint

__all__ = ["CompiledCache"]

_Entry = Future[CompiledConstraint[Any]]


class CompiledCache:
    """A mapping from keys to compiled constraints; safe to use from many threads.

    Args:
        most: how many constraints it keeps.
        most_bytes: how much memory they may hold together, as :attr:`.CompiledConstraint.memory_bytes` counts
            it.  It is checked when a constraint is added; one may grow later.
    """

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._lock = Lock()

    def get(
        self, key: Hashable, compile_: Callable[[], CompiledConstraint[Any]]
    ) -> tuple[CompiledConstraint[Any], bool]:
        """The constraint of a key, and whether this call compiled it.

        Raises:
            Exception: what ``compile_`` raises, also for those who waited; the next call tries again.
        """
        with self._lock:
            entry = self._entries.get(key)
            is_new = entry is None
            if entry is None:
                entry = self._entries[key] = Future()
            self._entries.move_to_end(key)
        if not is_new:
            return entry.result(), False
        try:
            entry.set_result(compile_())
        except BaseException as error:
            with self._lock:
                self._entries.pop(key, None)
            entry.set_exception(error)
            raise
        self._make_room()
        return entry.result(), True

    def clear(self) -> None:
        """Forget all constraints."""
        with self._lock:
            self._entries.clear()

    def __len__(self) -> int:
        return len(self._entries)

    def _make_room(self) -> None:
        """Remove the least recently used constraints, but not the last one used."""
        with self._lock:
            held = {key: _bytes_of(entry) for key, entry in self._entries.items()}
            total = sum(held.values())
            for key in list(self._entries)[:-1]:
                if len(self._entries) <= self._most and total <= self._most_bytes:
                    break
                total -= held[key]
                del self._entries[key]


def _bytes_of(entry: _Entry) -> int:
    """None as long as it is being compiled."""
    return entry.result().memory_bytes if entry.done() and entry.exception() is None else 0
