"""Where the first JSON value of a text ends, found byte by byte while the text is written.

All answers end themselves: objects and strings.  So one rule ends the texts of all arms, and no stop token
has to be drawn: the model is pretrained only, and would rather begin another line.

A text that does not begin with a value ends with its first line that is not blank.
"""

from __future__ import annotations

__all__ = ["End"]

_BLANKS = b" \t\r\n"
_QUOTE, _BACKSLASH, _LINE = b'"\\\n'


class End:
    """Reads a text in pieces.

    Attributes:
        size: the length of the text up to its end in bytes; ``None`` before.
    """

    def __init__(self) -> None:
        self.size: int | None = None
        self._read = self._depth = 0
        self._has_begun = self._is_value = self._in_string = self._is_escaped = False

    def feed(self, piece: bytes) -> bool:
        """Reads on, up to the end of the value; whether it was reached."""
        for byte in piece:
            if self.size is not None:
                break
            if self._ends_with(byte):
                self.size = self._read + self._is_value  # a line break is not part of the text
            self._read += 1
        return self.size is not None

    def _ends_with(self, byte: int) -> bool:
        if not self._has_begun:
            if byte in _BLANKS:
                return False
            self._has_begun, self._is_value = True, byte in b'{["'
        if not self._is_value:
            return byte == _LINE
        if self._in_string:
            if self._is_escaped or byte == _BACKSLASH:
                self._is_escaped = not self._is_escaped
                return False
            self._in_string = byte != _QUOTE
        elif byte == _QUOTE:
            self._in_string = True
        else:
            self._depth += (byte in b"{[") - (byte in b"}]")
        return self._depth <= 0 and not self._in_string
