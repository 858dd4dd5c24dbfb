"""What was made once and may be needed again: found by its key, bounded by memory, least recently used.

A memo keeps values until their memory is more than it may be.  Then those that were not used for longest go;
whoever still uses one keeps it alive.  A value grows when it is used.  So its memory is read when it is
found, once more after 16 to 32 others were found or added, and again after as many additions as there are
values.

No lock: a process may be forked while another thread is here, and a value may be forgotten by a finalizer in
the middle of any line.  Each step leaves the memo whole.  Two threads may make one value at the same time;
both get the one that was kept first.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

__all__ = ["Memo"]

_T = TypeVar("_T")
_MOST_TOUCHED = 16  # values that were used last, and may have grown since they were measured


class _Entry(Generic[_T]):
    __slots__ = ("memory_bytes", "value")

    def __init__(self, value: _T, memory_bytes: int) -> None:
        self.value: _T | None = value  # None: it has gone
        self.memory_bytes = memory_bytes


class Memo(Generic[_T]):
    """Values by key.

    Args:
        most_bytes: how much memory the values may have together.  One that has more alone is not kept.
        bytes_of: the memory of a value.
    """

    def __init__(self, most_bytes: int, bytes_of: Callable[[_T], int]) -> None:
        self._most_bytes = most_bytes
        self._bytes_of = bytes_of
        self._entries: dict[Hashable, _Entry[_T]] = {}  # the least recently used first
        self._total = 0  # of their memory, as it was read last
        self._additions = 0  # since all were read
        self._touched: list[_Entry[_T]] = []  # found or added, and to be read once more

    def get(self, key: Hashable) -> _T | None:
        """The value of a key, which is now the most recently used one; ``None`` if there is none."""
        entry = self._entries.pop(key, None)
        if entry is None:
            return None
        entry = self._entries.setdefault(key, entry)
        value = entry.value
        self._read(entry)
        self._touch(entry)
        return value

    def take(self, key: Hashable) -> _T | None:
        """The value of a key, which the memo forgets: for what one call at a time may use."""
        entry = self._entries.pop(key, None)
        if entry is None:
            return None
        value, entry.value = entry.value, None
        self._total -= entry.memory_bytes
        return value

    def keep(self, key: Hashable, value: _T) -> _T:
        """Keeps a value; returns the one that the key has from now on."""
        added = _Entry(value, self._bytes_of(value))
        entry = self._entries.setdefault(key, added)
        if entry is added:
            self._total += added.memory_bytes
            self._additions += 1
        kept = entry.value
        if self._additions > len(self._entries):
            self._measure()
        self._touch(entry)
        return value if kept is None else kept

    def drop(self, is_unwanted: Callable[[Hashable], bool]) -> None:
        """Forgets the values of some keys."""
        for key in list(self._entries):
            if is_unwanted(key):
                self._remove(key)

    def clear(self) -> None:
        """Forgets all values."""
        self.drop(lambda _: True)

    @property
    def memory_bytes(self) -> int:
        """The memory of all values, read now."""
        self._measure()
        return self._total

    def __len__(self) -> int:
        return len(self._entries)

    def _read(self, entry: _Entry[_T]) -> None:
        if entry.value is None:
            return
        now = self._bytes_of(entry.value)
        self._total += now - entry.memory_bytes
        entry.memory_bytes = now

    def _touch(self, entry: _Entry[_T]) -> None:
        self._touched.append(entry)
        if len(self._touched) > 2 * _MOST_TOUCHED:  # the later ones are just about to grow
            touched = self._touched
            self._touched = touched[_MOST_TOUCHED:]
            for one in touched[:_MOST_TOUCHED]:
                self._read(one)
        self._make_room()

    def _measure(self) -> None:
        entries = list(self._entries.values())
        for entry in entries:
            self._read(entry)
        self._total = sum(entry.memory_bytes for entry in entries)
        self._additions = 0

    def _make_room(self) -> None:
        while self._total > self._most_bytes and self._entries:
            try:
                oldest = next(iter(self._entries))
            except RuntimeError:  # another thread has changed them between the two steps
                continue
            self._remove(oldest)

    def _remove(self, key: Hashable) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            entry.value = None
            self._total -= entry.memory_bytes
