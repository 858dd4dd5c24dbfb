"""Which values have closed in a JSON text under way, each with its place.

Problem: while a text streams in, people want its parts as soon as they are whole, and not parse what there is
anew with every token.

Example: of ``{"name": "Ann", "ages": [3, 4]}``, cut anywhere,

================  ==================  ====================
behind            pointer             value
================  ==================  ====================
``"Ann"``         ``/name``           ``"Ann"``
``3,``            ``/ages/0``         ``3``
``4]``            ``/ages/1``         ``4``
``4]``            ``/ages``           ``[3, 4]``
the last brace    (the empty text)    all of it
================  ==================  ====================

A string closes with its quote, ``true`` with its last letter; a number with what follows it, since more
digits might, and a number that is the whole text at its end.

Method: a machine over bytes with a stack.  Its states are immutable and share their parts, so that one is
kept for every call, and going back to it costs nothing.  Strings are skipped to the next quote or backslash,
and decoded once, when they are whole: a code point that is cut in two does no harm.

Cost: linear in the text, however it is cut; a part of the text that is taken back is read again from the call
before.  Values of objects and arrays hold the values within them, and are not copies.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any, NamedTuple

from tokamata.patterns.json_schema.text import escaped

__all__ = ["Event", "EventReader", "TextEvents"]

_Path = tuple[Any, Any] | None  # where what holds it stands, and the name or number within that

# What comes next, or is under way.
_VALUE, _FIRST_VALUE, _NAME, _COLON, _COMMA, _STRING, _NAME_STRING, _SCALAR, _END = range(9)

_QUOTE_OR_BACKSLASH = re.compile(rb'["\\]')
_NO_NUMBER = re.compile(rb"[^-+.0-9Ee]")
_LENGTHS = {ord("t"): 4, ord("f"): 5, ord("n"): 4}
_BLANKS = frozenset(b" \t\n\r")


class Event:
    """A value that has closed.

    Attributes:
        value: what ``json.loads`` makes of it.  Objects and arrays hold the values of earlier events: leave
            them as they are.
        start, end: where it stands in the text, in bytes.
    """

    __slots__ = ("_path", "end", "start", "value")

    def __init__(self, path: _Path, value: Any, start: int, end: int) -> None:
        self._path = path
        self.value = value
        self.start = start
        self.end = end

    @property
    def pointer(self) -> str:
        """JSON Pointer to the value; ``""`` for the whole."""
        parts: list[str] = []
        path = self._path
        while path is not None:
            path, key = path
            parts.append("/" + escaped(str(key)))
        return "".join(reversed(parts))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Event):
            return NotImplemented
        mine, theirs = (self.start, self.end, self.pointer), (other.start, other.end, other.pointer)
        return mine == theirs and bool(self.value == other.value)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Event({self.pointer!r}, {self.value!r}, {self.start}, {self.end})"


class _Container(NamedTuple):
    """An object or an array under way.

    Attributes:
        outer: the one that holds it.
        path: where it stands.
        start: where it begins.
        is_object: which of the two it is.
        size: how many values it has.
        name: of the member under way.
        members: the values so far, last first, with their names.
    """

    outer: _Container | None
    path: _Path
    start: int
    is_object: bool
    size: int = 0
    name: str = ""
    members: tuple[Any, ...] | None = None

    def value(self) -> Any:
        """All of it."""
        values: list[Any] = []
        names: list[str] = []
        members = self.members
        while members is not None:
            members, name, value = members
            values.append(value)
            names.append(name)
        values.reverse()
        names.reverse()
        return dict(zip(names, values, strict=True)) if self.is_object else values


class _State(NamedTuple):
    """Where the machine is.

    Attributes:
        mode: what comes next, or is under way.
        at: how many bytes were read.
        start: where the string or scalar under way begins.
        container: the innermost one under way.
    """

    mode: int = _VALUE
    at: int = 0
    start: int = 0
    container: _Container | None = None


class EventReader:
    """Tells the values that close in a text which comes piece by piece."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._state = _State()

    def feed(self, data: bytes) -> list[Event]:
        """Reads on; returns what closed."""
        self._buffer += data
        events: list[Event] = []
        self._state = _followed(self._state, self._buffer, events)
        return events

    def end(self) -> list[Event]:
        """What the end of the text closes: a number that is all of it."""
        return _ended(self._state, self._buffer)


class TextEvents:
    """The same for a text that may be taken back: what has closed since the last call."""

    def __init__(self) -> None:
        self._text = b""
        self._states = [_State()]  # one for each call that read on
        self._is_ended = False

    def fork(self) -> TextEvents:
        """A second one at the same place."""
        copy = TextEvents()
        copy._text, copy._states, copy._is_ended = self._text, self._states.copy(), self._is_ended
        return copy

    def moved(self, text: bytes, is_ended: bool) -> list[Event]:
        """What closes in ``text`` behind what it has in common with the text of the last call."""
        known = len(self._text)
        if not text.startswith(self._text):
            known = _common(text, self._text)
            while self._states[-1].at > known:
                self._states.pop()
            # Behind the state lies what was read before, and what it closed was told.
            self._states.append(_followed(self._states[-1], text[:known], []))
        events: list[Event] = []
        if len(text) > known:
            self._states.append(_followed(self._states[-1], text, events))
        if is_ended and not (self._is_ended and known == len(text) == len(self._text)):
            events += _ended(self._states[-1], text)
        self._text, self._is_ended = text, is_ended
        return events


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


def _followed(state: _State, text: bytes | bytearray, events: list[Event]) -> _State:
    """The state behind a text; what closes on the way is added to the events."""
    mode, at, start, container = state
    length = len(text)
    while at < length:
        if mode in (_STRING, _NAME_STRING):
            found = _QUOTE_OR_BACKSLASH.search(text, at)
            if found is None:
                at = length
                break
            at = found.start()
            if text[at] == 0x5C:
                if at + 1 == length:
                    break
                at += 2
                continue
            at += 1
            value = json.loads(text[start:at])
            if mode == _STRING:
                mode, container = _closed(container, value, start, at, events)
            elif container is not None:
                mode, container = _COLON, container._replace(name=value)
        elif mode == _SCALAR:
            end = _end_of_scalar(text, start, at)
            if end < 0:
                at = length
                break
            at = end
            mode, container = _closed(container, _scalar(text[start:end]), start, end, events)
        elif text[at] in _BLANKS:
            at += 1
        elif mode in (_VALUE, _FIRST_VALUE) and text[at] != 0x5D:
            start = at
            mode, container = _opened(text[at], at, container)
            at += mode != _SCALAR
        else:
            mode, container = _punctuated(text[at], mode, at, container, events)
            start = at
            at += 1
    return _State(mode, at, start, container)


def _opened(byte: int, at: int, container: _Container | None) -> tuple[int, _Container | None]:
    """What a first byte of a value begins."""
    if byte == 0x22:
        return _STRING, container
    if byte == 0x7B or byte == 0x5B:
        inner = _Container(container, _path(container), at, byte == 0x7B)
        return (_NAME if inner.is_object else _FIRST_VALUE), inner
    return _SCALAR, container


def _punctuated(
    byte: int, mode: int, at: int, container: _Container | None, events: list[Event]
) -> tuple[int, _Container | None]:
    """What a byte between values, or behind the last, leads to."""
    if container is not None:
        if byte == 0x7D or byte == 0x5D:
            return _closed(container.outer, container.value(), container.start, at + 1, events)
        if byte == 0x2C:
            return (_NAME if container.is_object else _VALUE), container
        if byte == 0x3A:
            return _VALUE, container
        if byte == 0x22 and mode == _NAME:
            return _NAME_STRING, container
    return mode, container


def _closed(
    container: _Container | None, value: Any, start: int, end: int, events: list[Event]
) -> tuple[int, _Container | None]:
    """Adds a value to what holds it."""
    events.append(Event(_path(container), value, start, end))
    if container is None:
        return _END, None
    members = (container.members, container.name, value)
    return _COMMA, container._replace(size=container.size + 1, members=members)


def _path(container: _Container | None) -> _Path:
    """Where the next value of a container stands."""
    if container is None:
        return None
    return container.path, container.name if container.is_object else container.size


def _end_of_scalar(text: bytes | bytearray, start: int, at: int) -> int:
    """Where it ends; -1 where more of it may come."""
    length = _LENGTHS.get(text[start])
    if length is not None:
        return start + length if len(text) >= start + length else -1
    found = _NO_NUMBER.search(text, at)
    return -1 if found is None else found.start()


def _scalar(text: bytes | bytearray) -> Any:
    try:
        return json.loads(text)
    except ValueError:  # more digits than Python takes for an int
        return Decimal(bytes(text).decode("ascii"))


def _ended(state: _State, text: bytes | bytearray) -> list[Event]:
    events: list[Event] = []
    if state.mode == _SCALAR and state.container is None:
        _closed(None, _scalar(text[state.start :]), state.start, len(text), events)
    return events
