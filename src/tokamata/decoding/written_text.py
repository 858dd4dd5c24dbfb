"""The text of some tokens: whole code points, without the healed end of the prompt, up to a stop text.

Problem.  Tokens end anywhere: within a code point, within the part of the prompt that is written again,
within a stop text.  What has been shown cannot be taken back.
Example.  With the stop text ``\\n\\n``, the tokens ``a.``, ``\\n``, ``\\nB`` give the pieces ``a.``, ``""``,
and the text ends after ``a.``.  With ``a.``, ``\\n``, ``b``, the line feed is shown together with ``b``,
since no stop text begins there.
How.  The end of the text that may be the beginning of a stop text is held back.

A stop text ends a text only where the text before it is accepted.  Elsewhere, as within a string of JSON, it
is ordinary text.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence

__all__ = ["WrittenText"]


class WrittenText:
    """The text so far.

    Args:
        to_skip: how many bytes at the beginning are not part of the text.
        stops: the stop texts.
        may_end: whether the text may end with these bytes.
    """

    def __init__(self, to_skip: int, stops: Sequence[str], may_end: Callable[[bytes], bool]) -> None:
        self._to_skip = to_skip
        self._by_first_byte: dict[int, list[bytes]] = {}
        for stop in map(str.encode, stops):
            self._by_first_byte.setdefault(stop[0], []).append(stop)
        self._longest = max((len(stop.encode()) for stop in stops), default=0)
        self._may_end = may_end
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._data = bytearray()
        self._shown = 0  # bytes
        self._texts: list[str] = []
        self.stop_text: str | None = None

    @property
    def to_skip(self) -> int:
        """How many bytes of the next tokens are not part of the text."""
        return self._to_skip

    @property
    def pending(self) -> bytes:
        """The bytes at the end of what was shown that are no whole code point yet."""
        return self._decoder.getstate()[0]

    @property
    def shown(self) -> int:
        """How many bytes were shown."""
        return self._shown

    def shown_since(self, begin: int) -> bytes:
        """The bytes that were shown, from the ``begin``-th on."""
        return bytes(self._data[begin : self._shown])

    @property
    def text(self) -> str:
        """What was shown."""
        return "".join(self._texts)

    @property
    def data(self) -> bytes:
        """All bytes of the text, also those that were not shown."""
        return bytes(self._data)

    def skipped(self, data: bytes) -> bytes:
        """The bytes of the next token that are part of the text."""
        new = data[self._to_skip :]
        self._to_skip = max(0, self._to_skip - len(data))
        return new

    def add(self, new: bytes) -> str:
        """The code points that become certain with new bytes; :attr:`stop_text` is set if the text ends."""
        begin = len(self._data)
        self._data += new
        if not self._by_first_byte:
            return self._show(len(self._data))
        end = self._stopped(begin)
        return self._show(self._certain_end() if end is None else end)

    def end(self) -> str:
        """The code points that were held back, of a text that ends without a stop text."""
        return self._show(len(self._data)) if self.stop_text is None else ""

    def _stopped(self, begin: int) -> int | None:
        """Where the text ends before a stop text that new bytes complete; the first such end."""
        for at in range(max(self._shown, begin - self._longest + 1), len(self._data)):
            for stop in self._by_first_byte.get(self._data[at], ()):
                is_new = at + len(stop) > begin
                if is_new and self._data.startswith(stop, at) and self._may_end(bytes(self._data[:at])):
                    self.stop_text = stop.decode()
                    return at
        return None

    def _certain_end(self) -> int:
        """Where the part begins that may be the beginning of a stop text."""
        size = len(self._data)
        for at in range(max(self._shown, size - self._longest + 1), size):
            tail = self._data[at:]
            if any(stop.startswith(tail) for stop in self._by_first_byte.get(tail[0], ())):
                return at
        return size

    def _show(self, end: int) -> str:
        text = self._decoder.decode(bytes(self._data[self._shown : end]))
        self._shown = end
        self._texts.append(text)
        return text
