"""What stands before and after the value in a broken text: prose, or other values in brackets."""

from __future__ import annotations

import re
from bisect import bisect_right

__all__ = ["Depths"]

_MARKS = re.compile(rb"[{}\[\]]")


class Depths:
    """Which bytes stand outside of the value, and which of these within no brackets."""

    def __init__(self, broken: bytes, value: tuple[int, int] | None) -> None:
        self._begin, self._end = value or (len(broken), len(broken))
        self._marks: list[int] = []
        self._depths: list[int] = []
        for begin, end in ((0, self._begin), (self._end, len(broken))):
            depth = 0
            for match in _MARKS.finditer(broken, begin, end):
                depth = max(0, depth + (1 if match.group() in b"{[" else -1))
                self._marks.append(match.start())
                self._depths.append(depth)
            self._marks.append(end)
            self._depths.append(0)

    def is_outside(self, position: int) -> bool:
        """Whether a byte is no part of what became the value."""
        return position < self._begin or position >= self._end

    def is_prose(self, position: int) -> bool:
        """Whether a byte stands outside of the value and within no brackets."""
        if not self.is_outside(position):
            return False
        number = bisect_right(self._marks, position) - 1
        return number < 0 or self._depths[number] == 0
