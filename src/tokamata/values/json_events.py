"""Events of a JSON text: its values as they are completed, each with its JSON Pointer.

Problem: while a text streams in, applications want its parts as soon as they are complete, without parsing
the whole text again after every token.

Example: ``{"name": "Ann", "ages": [3, 4]}``, in pieces of any size, has the events

================  ==================  ====================
after             pointer             value
================  ==================  ====================
``"Ann"``         ``/name``           ``"Ann"``
``3,``            ``/ages/0``         ``3``
``4]``            ``/ages/1``         ``4``
``4]``            ``/ages``           ``[3, 4]``
the last brace    (the empty text)    all of it
================  ==================  ====================

A string closes with its quote, ``true`` with its last letter.  A number closes at the next byte after it,
since more digits might follow, or at the end of the text.

With deltas, a string also has an event for each part of it, before the event of the whole string: of
``"Paul Klee"``, in the pieces ``"Pau``, ``l Klee"``, these are ``"Pau"``, ``"l Klee"`` and ``"Paul Klee"``.

Method: a pushdown automaton over bytes.  Its states are immutable and share their parts, so a copy costs
nothing.  Strings are skipped to the next quote or backslash, and decoded once, when they are complete; so
a piece may end within a code point.  A delta holds back what may still change: a part of a code point or of
an escape, the first half of a surrogate pair.

Cost: linear in the text, however it is cut.  Values of objects and arrays refer to the values within them,
without copies.
"""

from __future__ import annotations

import codecs
import json
import re
from decimal import Decimal
from typing import Any, NamedTuple

from tokamata.patterns.json_schema.text import escaped
from tokamata.values.forms import Value

__all__ = ["Event", "JsonState", "JsonTracker", "Path", "decoded", "in_order", "open_literal"]

# The path of the container of a value, and its name or number there; None for the whole.
Path = tuple[Any, "str | int"] | None

# Modes: the syntax that comes next, or that is being read.
_VALUE, _FIRST_VALUE, _NAME, _COLON, _COMMA, _STRING, _NAME_STRING, _SCALAR, _END = range(9)

_QUOTE_OR_BACKSLASH = re.compile(rb'["\\]')
_NO_NUMBER = re.compile(rb"[^-+.0-9Ee]")
# Not a part of an escape, nor a first surrogate that the second one may still follow.
_WHOLE_CHARACTERS = re.compile(
    rb"(?:[^\\]|\\[^u]|\\u(?![dD][89abAB][0-9a-fA-F]{2}(?:\Z|\\\Z|\\u[0-9a-fA-F]{0,3}\Z))[0-9a-fA-F]{4})*",
    re.DOTALL,
)
_NUMBER = re.compile(rb"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_LITERALS = {b"t": True, b"f": False, b"n": None}
_LENGTHS = {ord("t"): 4, ord("f"): 5, ord("n"): 4}
_BLANKS = frozenset(b" \t\n\r")


class Event:
    """A value that has closed; or, where ``is_delta``, a part of a text that is still open.

    Attributes:
        value: the value, as :meth:`tokamata.Constraint.parse` returns it; in JSON, the result of
            ``json.loads``, even if parsing makes an instance of a type.  Objects, arrays and sequences refer
            to the values of earlier events: do not change them.  Of a delta, the characters that are new.
        start, end: its offsets in the text, in bytes.
        is_delta: whether it is a part of a ``str``.  The deltas of a string, one after another, are its
            value, which has its own event when it closes.
    """

    __slots__ = ("_path", "end", "is_delta", "start", "value")

    def __init__(self, path: Path, value: Any, start: int, end: int, is_delta: bool = False) -> None:
        self._path = path
        self.value = value
        self.start = start
        self.end = end
        self.is_delta = is_delta

    def shifted(self, start: int, end: int) -> Event:
        """The same event at other offsets."""
        return Event(self._path, self.value, start, end, self.is_delta)

    @property
    def pointer(self) -> str:
        """JSON Pointer to the value in the value of the whole text; ``""`` for the whole."""
        parts: list[str] = []
        path = self._path
        while path is not None:
            path, key = path
            parts.append("/" + escaped(str(key)))
        return "".join(reversed(parts))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Event):
            return NotImplemented
        mine = (self.start, self.end, self.is_delta, self.pointer)
        theirs = (other.start, other.end, other.is_delta, other.pointer)
        return mine == theirs and bool(self.value == other.value)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        delta = ", is_delta=True" if self.is_delta else ""
        return f"Event({self.pointer!r}, {self.value!r}, {self.start}, {self.end}{delta})"


class _Container(NamedTuple):
    """An object or an array that is open.

    Attributes:
        outer: its container.
        path: its path.
        start: the offset of its first byte.
        is_object: whether it is an object.
        size: the number of its values so far.
        name: the name of the current member.
        members: the values so far, last first, with their names.
    """

    outer: _Container | None
    path: Path
    start: int
    is_object: bool
    size: int = 0
    name: str = ""
    members: tuple[Any, ...] | None = None

    def value(self) -> Any:
        """The object or array."""
        names, values = in_order(self.members)
        return dict(zip(names, values, strict=True)) if self.is_object else values


def in_order(members: tuple[Any, ...] | None) -> tuple[list[str], list[Any]]:
    """The names and the values of a container, which are linked from the last to the first."""
    names: list[str] = []
    values: list[Any] = []
    while members is not None:
        members, name, value = members
        names.append(name)
        values.append(value)
    return names[::-1], values[::-1]


class JsonState(NamedTuple):
    """A state of the automaton.

    Attributes:
        mode: the syntax that comes next, or that is being read.
        at: the number of bytes read.
        start: the offset of the string or scalar that is being read.
        container: the innermost open one.
        value: the whole value, once it has closed.
        told: the offset up to which deltas have the string that is being read.
    """

    mode: int = _VALUE
    at: int = 0
    start: int = 0
    container: _Container | None = None
    value: Any = None
    told: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether the whole value has closed; a number that is the whole text never does."""
        return self.mode == _END

    @property
    def is_in_string(self) -> bool:
        """Whether a string that is a value is being read."""
        return self.mode == _STRING

    @property
    def is_in_scalar(self) -> bool:
        """Whether a number, ``true``, ``false`` or ``null`` is being read."""
        return self.mode == _SCALAR


class JsonTracker:
    """Reports the values that close in a JSON text, which may begin anywhere in a growing text.

    Args:
        start: where it begins.
        path: of its value.
        has_deltas: whether strings have deltas.
    """

    __slots__ = ("_has_deltas", "_root", "_state")

    def __init__(self, start: int, path: Path, *, has_deltas: bool = False) -> None:
        self._state = JsonState(at=start)
        self._root = path
        self._has_deltas = has_deltas

    @property
    def state(self) -> JsonState:
        """What is open, and what is in it."""
        return self._state

    def fork(self) -> JsonTracker:
        """A second one at the same position."""
        copy = JsonTracker(0, self._root, has_deltas=self._has_deltas)
        copy._state = self._state
        return copy

    def feed(self, text: bytes | bytearray, until: int, events: list[Event]) -> None:
        """Reads more of the text, up to ``until``; appends the events of values that close."""
        state = _followed(self._state, text, until, self._root, events, self._has_deltas)
        if self._has_deltas and state.is_in_string:
            new, told = decoded(text, state.told, state.at)
            if new:
                path = _path(state.container, self._root)
                events.append(Event(path, new, state.told, told, is_delta=True))
                state = state._replace(told=told)
        self._state = state

    def value_so_far(self, text: bytes | bytearray) -> Any:
        """The value of a text that was read to its end, with what is open in it; ``None``: there is none."""
        state = self._state
        if state.mode == _END:
            return state.value
        has_value, value = False, None
        if state.mode in (_STRING, _SCALAR):
            has_value, value = _open_value(text[state.start :], state.mode == _STRING)
        container = state.container
        while container is not None:
            if has_value:
                members = (container.members, container.name, value)
                container = container._replace(members=members)
            has_value, value, container = True, container.value(), container.outer
        return value

    def end(self, text: bytes | bytearray, end: int, events: list[Event]) -> Value:
        """Ends the text, which closes a number that is the whole text; returns the whole value."""
        self.feed(text, end, events)
        state = self._state
        if state.mode != _SCALAR:
            return Value(state.value, {})
        value = _scalar(text[state.start : end])
        events.append(Event(self._root, value, state.start, end))
        return Value(value, {})


def decoded(text: bytes | bytearray, begin: int, end: int) -> tuple[str, int]:
    """The characters of a JSON string between two offsets that no later byte changes, and where they end."""
    whole = _WHOLE_CHARACTERS.match(text, begin, end)
    assert whole is not None
    content, length = codecs.utf_8_decode(whole[0], "replace", False)
    return json.loads(f'"{content}"', strict=False), begin + length


def open_literal(byte: int) -> tuple[bool, Any]:
    """Whether a byte begins ``true``, ``false`` or ``null``, and which value that is."""
    first = bytes([byte])
    return first in _LITERALS, _LITERALS.get(first)


def _followed(
    state: JsonState,
    text: bytes | bytearray,
    length: int,
    root: Path,
    events: list[Event],
    has_deltas: bool,
) -> JsonState:
    """The state after the first ``length`` bytes of a text; appends the events of values that close."""
    mode, at, start, container, whole, told = state
    while at < length:
        if mode in (_STRING, _NAME_STRING):
            found = _QUOTE_OR_BACKSLASH.search(text, at, length)
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
                if has_deltas and told < at - 1:
                    rest = json.loads(b'"' + text[told:at])
                    events.append(Event(_path(container, root), rest, told, at - 1, is_delta=True))
                mode, container, whole = _closed(container, value, start, at, root, events)
            elif container is not None:
                mode, container = _COLON, container._replace(name=value)
        elif mode == _SCALAR:
            end = _end_of_scalar(text, start, at, length)
            if end < 0:
                at = length
                break
            at = end
            mode, container, whole = _closed(container, _scalar(text[start:end]), start, end, root, events)
        elif text[at] in _BLANKS:
            at += 1
        elif mode in (_VALUE, _FIRST_VALUE) and text[at] != 0x5D:
            start, told = at, at + 1
            mode, container = _opened(text[at], at, container, root)
            at += mode != _SCALAR
        else:
            if container is not None and text[at] in b"}]":
                start, value = container.start, container.value()
                mode, container, whole = _closed(container.outer, value, start, at + 1, root, events)
            else:
                mode = _punctuated(text[at], mode, container)
            start = at
            at += 1
    return JsonState(mode, at, start, container, whole, told)


def _opened(byte: int, at: int, container: _Container | None, root: Path) -> tuple[int, _Container | None]:
    """The mode and the container after the first byte of a value."""
    if byte == 0x22:
        return _STRING, container
    if byte == 0x7B or byte == 0x5B:
        inner = _Container(container, _path(container, root), at, byte == 0x7B)
        return (_NAME if inner.is_object else _FIRST_VALUE), inner
    return _SCALAR, container


def _punctuated(byte: int, mode: int, container: _Container | None) -> int:
    """The mode after a byte between values."""
    if container is not None:
        if byte == 0x2C:
            return _NAME if container.is_object else _VALUE
        if byte == 0x3A:
            return _VALUE
        if byte == 0x22 and mode == _NAME:
            return _NAME_STRING
    return mode


def _closed(
    container: _Container | None, value: Any, start: int, end: int, root: Path, events: list[Event]
) -> tuple[int, _Container | None, Any]:
    """Adds a value to its container; returns the mode, the container, and the value if it is the whole."""
    events.append(Event(_path(container, root), value, start, end))
    if container is None:
        return _END, None, value
    members = (container.members, container.name, value)
    return _COMMA, container._replace(size=container.size + 1, members=members), None


def _path(container: _Container | None, root: Path) -> Path:
    """The path of the next value of a container."""
    if container is None:
        return root
    return container.path, container.name if container.is_object else container.size


def _end_of_scalar(text: bytes | bytearray, start: int, at: int, length: int) -> int:
    """The offset of the end of a scalar; -1 if more of it may come."""
    letters = _LENGTHS.get(text[start])
    if letters is not None:
        return start + letters if length >= start + letters else -1
    found = _NO_NUMBER.search(text, at, length)
    return -1 if found is None else found.start()


def _scalar(text: bytes | bytearray) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        data = bytes(text)
        if _NUMBER.fullmatch(data):  # more digits than Python accepts for an int
            return Decimal(data.decode("ascii"))
        return None  # of a text that no JSON begins with


def _open_value(text: bytes | bytearray, is_string: bool) -> tuple[bool, Any]:
    """Whether a string or a scalar that is not complete has a value, and the value."""
    data = bytes(text)
    if not is_string:
        if data[:1] in _LITERALS:
            return True, _LITERALS[data[:1]]
        number = _NUMBER.match(data)
        return (True, _scalar(number[0])) if number else (False, None)
    return True, decoded(data, 1, len(data))[0]
