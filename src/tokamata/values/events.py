"""The values that close in a text under way, for every constraint.

Problem: a text of ``text_until("</think>") + json_schema(s)`` is written token by token, some of which may
be taken back. What has closed since the last look, and under which name?

Example: of ``Hm.</think>{"age": 42}``, read by ``text_until(…).captured("thought") + json_schema(s)``,

===============  ============  ========================================
after            pointer       value
===============  ============  ========================================
``</think>``     ``/thought``  ``"Hm.</think>"``
``42}``          ``/1/age``    ``42``
``42}``          ``/1``        ``{"age": 42}``
the end          (the whole)   ``Parts(("Hm.</think>", {"age": 42}), …)``
===============  ============  ========================================

Method: a tracker for each form.  That of a form with parts asks the splitter which borders are certain:
those that every continuation of the text has in common.  A part is tracked from when its beginning is
certain, up to where its end may be, and closes when its end is certain, at the latest with the text.  Which
alternative is meant is certain when all others are dead; then it is read from its beginning.

Cost: that of the splitter, and for each call a copy of what is under way, not of what has closed.  A text
that may be taken back keeps such copies at log(n) of its n bytes.
"""

from __future__ import annotations

from typing import Any, Protocol

from tokamata import _core
from tokamata.errors import ParseError
from tokamata.values.forms import Captured, Form, Json, Reading, Split, Value
from tokamata.values.json_events import Event, JsonTracker, Path

__all__ = ["Event", "EventReader", "TextEvents"]

_Text = bytes | bytearray


class _Tracker(Protocol):
    """Follows the text of one form, from where it begins."""

    def fork(self) -> _Tracker:
        """A second one at the same place."""

    def feed(self, text: _Text, until: int, events: list[Event]) -> None:
        """Reads on, up to ``until``; adds what closes."""

    def end(self, text: _Text, end: int, events: list[Event]) -> Value:
        """The text of the form ends; adds what closes with it, and returns its value with its captures."""


class EventReader:
    """Tells the values that close in a text which comes piece by piece."""

    def __init__(self, form: Form, reading: Reading) -> None:
        self._buffer = bytearray()
        self._tracker = _tracker(form, reading, 0, None)

    def feed(self, data: bytes) -> list[Event]:
        """Reads on; returns what closed."""
        self._buffer += data
        events: list[Event] = []
        self._tracker.feed(self._buffer, len(self._buffer), events)
        return events

    def end(self) -> list[Event]:
        """What the end of the text closes; nothing may be fed after it."""
        events: list[Event] = []
        self._tracker.end(self._buffer, len(self._buffer), events)
        return events


class TextEvents:
    """The same for a text that may be taken back: what has closed since the last call."""

    def __init__(self, form: Form, reading: Reading) -> None:
        self._text = b""
        # At the ends of calls, each with how far it came: the last one, and fewer the further back they are.
        self._trackers = [(0, _tracker(form, reading, 0, None))]
        self._is_ended = False

    def fork(self) -> TextEvents:
        """A second one at the same place."""
        copy = TextEvents.__new__(TextEvents)
        copy._text, copy._trackers, copy._is_ended = self._text, self._trackers.copy(), self._is_ended
        return copy

    def moved(self, text: bytes, is_ended: bool) -> list[Event]:
        """What closes in ``text`` after what it has in common with the text of the last call.

        Raises:
            LimitExceeded, Cancelled: finding the parts of the text was stopped; the call can be made again.
            ParseError: parts nest deeper than Python's stack, or meet within a code point.
        """
        try:
            return self._moved(text, is_ended)
        except RecursionError:
            raise ParseError("", "its parts nest deeper than Python's stack") from None

    def _moved(self, text: bytes, is_ended: bool) -> list[Event]:
        known = len(self._text)
        if not text.startswith(self._text):
            known = _common(text, self._text)
            while self._trackers[-1][0] > known:
                self._trackers.pop()
            # What lies between was read before, and what it closed was told.
            self._read(text, known, [])
        events: list[Event] = []
        self._read(text, len(text), events)
        if is_ended and not (self._is_ended and known == len(text) == len(self._text)):
            self._trackers[-1][1].fork().end(text, len(text), events)
        self._text, self._is_ended = text, is_ended
        return events

    def _read(self, text: bytes, until: int, events: list[Event]) -> None:
        read, tracker = self._trackers[-1]
        if until > read:
            tracker = tracker.fork()
            tracker.feed(text, until, events)
            self._trackers = _thinned(self._trackers, until)
            self._trackers.append((until, tracker))


def _thinned(trackers: list[tuple[int, _Tracker]], end: int) -> list[tuple[int, _Tracker]]:
    """Without those that lie close to one before them, seen from the end.

    A step back then reads again about as much as it takes back, and a text of n bytes keeps log(n) trackers.
    """
    kept = [trackers[-1]]
    for older, one in zip(trackers[-3::-1], trackers[-2:0:-1], strict=True):
        if end - older[0] > 2 * (end - kept[-1][0]):
            kept.append(one)
    if len(trackers) > 1:
        kept.append(trackers[0])
    return kept[::-1]


def _common(one: bytes, other: bytes) -> int:
    """How long a beginning two texts have in common."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _tracker(form: Form, reading: Reading, start: int, path: Path) -> _Tracker:
    """One that follows a text of a form, which begins at ``start``."""
    if isinstance(form, Captured):
        return _CapturedTracker(form, _tracker(form.form, reading, start, path))
    if isinstance(form, Json):
        return JsonTracker(start, path)
    if isinstance(form, Split):
        return _SplitTracker(form, reading, start, path)
    return _WholeTracker(form, reading, start, path)


class _CapturedTracker:
    """A form whose value has a name."""

    __slots__ = ("_form", "_inner")

    def __init__(self, form: Captured, inner: _Tracker) -> None:
        self._form = form
        self._inner = inner

    def fork(self) -> _CapturedTracker:
        return _CapturedTracker(self._form, self._inner.fork())

    def feed(self, text: _Text, until: int, events: list[Event]) -> None:
        self._inner.feed(text, until, events)

    def end(self, text: _Text, end: int, events: list[Event]) -> Value:
        return self._form.capture(self._inner.end(text, end, events))


class _WholeTracker:
    """A text that is read when it has ended."""

    __slots__ = ("_form", "_path", "_reading", "_start")

    def __init__(self, form: Form, reading: Reading, start: int, path: Path) -> None:
        self._form = form
        self._reading = reading
        self._start = start
        self._path = path

    def fork(self) -> _WholeTracker:
        return self

    def feed(self, text: _Text, until: int, events: list[Event]) -> None:
        """Nothing closes before the end."""

    def end(self, text: _Text, end: int, events: list[Event]) -> Value:
        value = self._form.read(bytes(text[self._start : end]), self._reading)
        events.append(Event(self._path, value.value, self._start, end))
        return value


_Pieces = tuple[Any, int, Value] | None  # those before, the part, its value; they share their beginnings


class _SplitTracker:
    """A text with parts.

    Attributes are shared with forks, but for what is under way:
        _split: finds the borders.
        _fed: how much of the text it has read.
        _told: how many borders were certain.
        _part, _inner: the part under way, and what follows it; ``None`` between parts.
        _pieces, _count: those that have closed.
    """

    __slots__ = (
        "_count", "_fed", "_form", "_inner", "_part", "_path", "_pieces", "_reading", "_split", "_start",
        "_told",
    )  # fmt: skip

    def __init__(self, form: Split, reading: Reading, start: int, path: Path) -> None:
        self._form = form
        self._reading = reading
        self._start = start
        self._path = path
        self._split: _core.Split = reading.splitter(form).begin()
        self._fed = start
        self._told = 0
        self._part = 0
        self._inner: _Tracker | None = None
        self._pieces: _Pieces = None
        self._count = 0

    def fork(self) -> _SplitTracker:
        copy = _SplitTracker.__new__(_SplitTracker)
        for name in _SplitTracker.__slots__:
            setattr(copy, name, getattr(self, name))
        copy._split = self._split.fork()
        copy._inner = None if self._inner is None else self._inner.fork()
        return copy

    def feed(self, text: _Text, until: int, events: list[Event]) -> None:
        self._split.feed(bytes(text[self._fed : until]))
        self._fed = until
        self._follow(self._split.certain(self._told), text, events)
        if self._inner is not None:
            self._inner.feed(text, self._start + self._split.bound, events)

    def end(self, text: _Text, end: int, events: list[Event]) -> Value:
        if self._fed < end:
            self.feed(text, end, events)
        borders = self._form.found(self._split.end())
        self._follow(borders[self._told :], text, events)
        pieces: list[tuple[int, Value]] = []
        while self._pieces is not None:
            self._pieces, part, value = self._pieces
            pieces.append((part, value))
        whole = self._form.assemble(pieces[::-1])
        if not self._form.is_transparent:
            events.append(Event(self._path, whole.value, self._start, end))
        return whole

    def _follow(self, borders: list[tuple[int, int]], text: _Text, events: list[Event]) -> None:
        """Parts begin and close at borders that have become certain."""
        self._told += len(borders)
        for mark, position in borders:
            at = self._start + position
            if mark % 2 == 0:
                self._part = mark // 2
                self._inner = _tracker(self._form.parts[self._part], self._reading, at, self._place())
            else:
                assert self._inner is not None, "a part ends that has begun"
                self._pieces = self._pieces, self._part, self._inner.end(text, at, events)
                self._inner = None
                self._count += 1

    def _place(self) -> Path:
        """Where events have the part that begins."""
        if self._form.is_transparent:
            return self._path
        return self._path, self._form.key(self._part, self._count)
