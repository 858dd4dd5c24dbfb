"""Events: the values that are completed while a text is written, for every constraint.

Problem: a text of ``text_until("</think>") + json_schema(s)`` is written token by token, and some tokens may
be taken back.  Which values have closed since the last call, and under which name?

Example: of ``Hm.</think>{"age": 42}``, read by ``text_until(…).captured("thought") + json_schema(s)``,

===============  ============  ========================================
after            pointer       value
===============  ============  ========================================
``</think>``     ``/thought``  ``"Hm.</think>"``
``42}``          ``/1/age``    ``42``
``42}``          ``/1``        ``{"age": 42}``
the end          (the whole)   ``Parts(("Hm.</think>", {"age": 42}), …)``
===============  ============  ========================================

Method: each form has a tracker.  The tracker of a form with parts gets from the splitter the certain borders:
those that every continuation of the text has in common.  A part is tracked once its beginning is certain, up
to the first position where it may end.  It closes when its end is certain, at the latest with the text.  An
alternative is certain when all others are dead; then it is read from its beginning.

Where the reading has deltas, a text that is its own value, such as reasoning, and a string in JSON have an
event for each part that is certain, too.  However the text is cut, the deltas of a value are its text, one
after another, and merged they stand at the same place among the other events.

Cost: that of the splitter, and for each call a copy of the open parts, but not of the closed ones.  A text of
n bytes that may be taken back keeps log(n) such copies.
"""

from __future__ import annotations

import codecs
from typing import Any, Protocol

import tokamata._core as _core
from tokamata.errors import ParseError
from tokamata.values.forms import (
    Called,
    Captured,
    Converted,
    Form,
    Framed,
    Json,
    Pattern,
    Plain,
    Reading,
    Split,
    Value,
)
from tokamata.values.json_events import Event, JsonTracker, Path
from tokamata.values.tagged import Tagged, TaggedTracker

__all__ = ["Event", "EventReader", "TextEvents"]

_Text = bytes | bytearray


class _Tracker(Protocol):
    """Follows the text of one form from its beginning."""

    def fork(self) -> _Tracker:
        """A second one at the same position."""

    def feed(self, text: _Text, until: int, events: list[Event]) -> None:
        """Reads more of the text, up to ``until``; appends the events of values that close."""

    def end(self, text: _Text, end: int, events: list[Event]) -> Value:
        """Ends the text of the form; appends the last events, and returns its value with its captures."""


class EventReader:
    """Reports the values that close in a text that arrives piece by piece."""

    def __init__(self, form: Form, reading: Reading) -> None:
        self._buffer = bytearray()
        self._tracker = _tracker(form, reading, 0, None)

    def feed(self, data: bytes) -> list[Event]:
        """Reads more of the text; returns the events of values that closed."""
        self._buffer += data
        events: list[Event] = []
        self._tracker.feed(self._buffer, len(self._buffer), events)
        return events

    def start_of(self, name: str) -> int | None:
        """Where the captured part of a sequence begins; ``None``: another part began last."""
        return _start_of(self._tracker, name)

    def end(self) -> list[Event]:
        """The events of values that the end of the text closes; nothing may be fed after it."""
        events: list[Event] = []
        self._tracker.end(self._buffer, len(self._buffer), events)
        return events


class TextEvents:
    """The same for a text whose end may be taken back: the events since the last call."""

    def __init__(self, form: Form, reading: Reading) -> None:
        self._text = b""
        # Trackers at the ends of calls, each with its position: the last one, and fewer the further back.
        self._trackers = [(0, _tracker(form, reading, 0, None))]
        self._is_ended = False

    def fork(self) -> TextEvents:
        """A second one at the same position."""
        copy = TextEvents.__new__(TextEvents)
        copy._text, copy._trackers, copy._is_ended = self._text, self._trackers.copy(), self._is_ended
        return copy

    def start_of(self, name: str) -> int | None:
        """Where the captured part of a sequence begins; ``None``: another part began last."""
        return _start_of(self._trackers[-1][1], name)

    def moved(self, text: bytes, is_ended: bool) -> list[Event]:
        """The events of ``text`` after its common prefix with the text of the last call.

        Raises:
            LimitExceeded, Cancelled: finding the parts of the text was stopped; the call can be repeated.
            ParseError: parts nest deeper than Python's stack, or a border of parts cuts a code point.
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
            # The bytes up to `known` were read by an earlier call, which reported their events.
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
    """Drops trackers so that distances from the end about double from one to the next.

    A rollback then reads again about as many bytes as it takes back, and a text of n bytes keeps log(n)
    trackers.
    """
    kept = [trackers[-1]]
    for older, one in zip(trackers[-3::-1], trackers[-2:0:-1], strict=True):
        if end - older[0] > 2 * (end - kept[-1][0]):
            kept.append(one)
    if len(trackers) > 1:
        kept.append(trackers[0])
    return kept[::-1]


def _common(one: bytes, other: bytes) -> int:
    """The length of the longest common prefix of two texts."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _start_of(tracker: _Tracker, name: str) -> int | None:
    while isinstance(tracker, (_ConvertedTracker, _FramedTracker)):
        tracker = tracker._inner
    return tracker.start_of(name) if isinstance(tracker, _SplitTracker) else None


def _tracker(form: Form, reading: Reading, start: int, path: Path, is_frame: bool = False) -> _Tracker:
    """A tracker for a text of a form that begins at ``start``.

    Args:
        is_frame: whether only captured parts have events (:class:`~.forms.Framed`).
    """
    if isinstance(form, Captured):
        return _CapturedTracker(form, _tracker(form.form, reading, start, path))
    if isinstance(form, Called):
        return _CalledTracker(form, _tracker(form.form, reading, start, path, is_frame=True), start, path)
    if isinstance(form, Framed):
        return _FramedTracker(form, _tracker(form.form, reading, start, path, is_frame=True), start, path)
    if isinstance(form, Split):
        return _SplitTracker(form, reading, start, path, is_frame)
    if is_frame:
        return _HiddenTracker(form, reading, start, path)
    if isinstance(form, Converted):
        return _ConvertedTracker(form, _tracker(form.form, reading, start, path), path)
    if isinstance(form, Json):
        return JsonTracker(start, path, has_deltas=reading.has_deltas)
    if isinstance(form, Tagged):
        return TaggedTracker(form, reading, start, path)
    if reading.has_deltas and isinstance(form, (Plain, Pattern)):
        return _TextTracker(form, reading, start, path)
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


class _ConvertedTracker:
    """A form whose value is converted; so is the value of its event."""

    __slots__ = ("_form", "_inner", "_path")

    def __init__(self, form: Converted, inner: _Tracker, path: Path) -> None:
        self._form = form
        self._inner = inner
        self._path = path

    def fork(self) -> _ConvertedTracker:
        return _ConvertedTracker(self._form, self._inner.fork(), self._path)

    def feed(self, text: _Text, until: int, events: list[Event]) -> None:
        self._inner.feed(text, until, events)

    def end(self, text: _Text, end: int, events: list[Event]) -> Value:
        found = self._inner.end(text, end, events)
        converted = self._form.convert(found.value)
        if events and events[-1]._path == self._path and not events[-1].is_delta:  # of the whole, the last
            events.append(Event(self._path, converted, events.pop().start, end))
        return Value(converted, {})


class _FramedTracker:
    """Captured parts in a frame: the events of these parts, and that of the whole."""

    __slots__ = ("_form", "_inner", "_path", "_start")

    def __init__(self, form: Framed, inner: _Tracker, start: int, path: Path) -> None:
        self._form = form
        self._inner = inner
        self._start = start
        self._path = path

    def fork(self) -> _FramedTracker:
        return _FramedTracker(self._form, self._inner.fork(), self._start, self._path)

    def feed(self, text: _Text, until: int, events: list[Event]) -> None:
        self._inner.feed(text, until, events)

    def end(self, text: _Text, end: int, events: list[Event]) -> Value:
        whole = self._form.convert(self._inner.end(text, end, events).value)
        events.append(Event(self._path, whole, self._start, end))
        return Value(whole, {})


class _CalledTracker(_FramedTracker):
    """A call of a tool: its name comes first."""

    __slots__ = ("_is_named",)
    _form: Called

    def __init__(self, form: Called, inner: _Tracker, start: int, path: Path) -> None:
        super().__init__(form, inner, start, path)
        self._is_named = False

    def fork(self) -> _CalledTracker:
        copy = _CalledTracker(self._form, self._inner.fork(), self._start, self._path)
        copy._is_named = self._is_named
        return copy

    def feed(self, text: _Text, until: int, events: list[Event]) -> None:
        if not self._is_named:
            events.append(Event((self._path, "name"), self._form.name, self._start, self._start))
            self._is_named = True
        super().feed(text, until, events)

    def end(self, text: _Text, end: int, events: list[Event]) -> Value:
        self.feed(text, end, events)
        return super().end(text, end, events)


class _WholeTracker:
    """A text that is read at its end."""

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


class _HiddenTracker(_WholeTracker):
    """A part of a frame: it has a value, and no event."""

    __slots__ = ()

    def end(self, text: _Text, end: int, events: list[Event]) -> Value:
        return super().end(text, end, [])


class _TextTracker:
    """A text whose value is the text itself: it has deltas, of whole code points."""

    __slots__ = ("_form", "_path", "_reading", "_start", "_told")

    def __init__(self, form: Form, reading: Reading, start: int, path: Path) -> None:
        self._form = form
        self._reading = reading
        self._start = self._told = start
        self._path = path

    def fork(self) -> _TextTracker:
        copy = _TextTracker(self._form, self._reading, self._start, self._path)
        copy._told = self._told
        return copy

    def feed(self, text: _Text, until: int, events: list[Event]) -> None:
        new = bytes(text[self._told : until])
        _, length = codecs.utf_8_decode(new, "replace", False)
        self._tell(new[: self._reading.whole_length(new[:length])], events)

    def end(self, text: _Text, end: int, events: list[Event]) -> Value:
        self._tell(bytes(text[self._told : end]), events)
        value = self._form.read(bytes(text[self._start : end]), self._reading)
        events.append(Event(self._path, value.value, self._start, end))
        return value

    def _tell(self, new: bytes, events: list[Event]) -> None:
        begin, self._told = self._told, self._told + len(new)
        plain = self._reading.plain(new)
        if plain:
            events.append(Event(self._path, plain, begin, self._told, is_delta=True))


_Pieces = tuple[Any, int, Value] | None  # a linked list, last first: earlier pieces, the part, its value


class _SplitTracker:
    """A text with parts.

    Attributes; forks share all but ``_split`` and ``_inner``:
        _split: finds the borders.
        _fed: the position up to which it has read.
        _certain: the number of borders that are certain.
        _part, _opened, _inner: the part that began last, where it begins, and its tracker, which is ``None``
            when it has closed.
        _pieces, _count, _closed: the pieces that have closed, their number, and the tracker of the last one.
    """

    __slots__ = (
        "_certain", "_closed", "_count", "_fed", "_form", "_inner", "_is_frame", "_opened", "_part", "_path",
        "_pieces", "_reading", "_split", "_start",
    )  # fmt: skip

    def __init__(self, form: Split, reading: Reading, start: int, path: Path, is_frame: bool) -> None:
        self._form = form
        self._reading = reading
        self._start = start
        self._path = path
        self._is_frame = is_frame
        self._split: _core.Split = reading.splitter(form).begin()
        self._fed = start
        self._certain = 0
        self._part = 0
        self._opened = start
        self._inner: _Tracker | None = None
        self._closed: _Tracker | None = None
        self._pieces: _Pieces = None
        self._count = 0

    def fork(self) -> _SplitTracker:
        copy = _SplitTracker.__new__(_SplitTracker)
        for name in _SplitTracker.__slots__:
            setattr(copy, name, getattr(self, name))
        copy._split = self._split.fork()
        copy._inner = None if self._inner is None else self._inner.fork()
        return copy

    def start_of(self, name: str) -> int | None:
        """Where a captured part begins, if it began last."""
        if self._form.is_transparent:
            inner = self._inner or self._closed
            return None if inner is None else _start_of(inner, name)
        return self._opened if self._certain and self._form.key(self._part, self._count) == name else None

    def feed(self, text: _Text, until: int, events: list[Event]) -> None:
        self._split.feed(bytes(text[self._fed : until]))
        self._fed = until
        self._follow(self._split.certain(self._certain), text, events)
        if self._inner is not None:
            self._inner.feed(text, self._start + self._split.bound, events)

    def end(self, text: _Text, end: int, events: list[Event]) -> Value:
        if self._fed < end:
            self.feed(text, end, events)
        borders = self._form.found(self._split.end())
        self._follow(borders[self._certain :], text, events)
        pieces: list[tuple[int, Value]] = []
        while self._pieces is not None:
            self._pieces, part, value = self._pieces
            pieces.append((part, value))
        whole = self._form.assemble(pieces[::-1])
        if not (self._form.is_transparent or self._is_frame):
            events.append(Event(self._path, whole.value, self._start, end))
        return whole

    def _follow(self, borders: list[tuple[int, int]], text: _Text, events: list[Event]) -> None:
        """Begins and closes parts at borders that have become certain."""
        self._certain += len(borders)
        for mark, position in borders:
            at = self._start + position
            if mark % 2 == 0:
                self._part, self._opened = mark // 2, at
                part, is_frame = self._form.parts[self._part], self._is_frame
                self._inner = _tracker(part, self._reading, at, self._part_path(), is_frame)
            else:
                assert self._inner is not None, "a part ends that has begun"
                self._pieces = self._pieces, self._part, self._inner.end(text, at, events)
                self._inner, self._closed = None, self._inner
                self._count += 1

    def _part_path(self) -> Path:
        """The path that events have for the part that begins."""
        key = self._form.key(self._part, self._count)
        if self._form.is_transparent or (self._is_frame and isinstance(key, int)):
            return self._path
        return self._path, key
