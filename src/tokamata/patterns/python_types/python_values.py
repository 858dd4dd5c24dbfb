"""From Python source to values, led by shapes; nothing is evaluated.

Example: ``Point(x=1, y=2)`` is parsed (:mod:`.python_source`), found to be a call of the name that the record
has, with its fields as keywords, and the class is called with the two integers.

Only what :mod:`.python_syntax` writes is read, with any white space that Python allows: names stand for what
the type names, and for nothing else.

Values of recursive types are as deep as their texts, so that reading does not call itself: what reads a shape
with parts is a generator, which yields each part with its shape and is given the value (:func:`_run`).

Cost: linear; what was tried for a part of a union is remembered.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Generator
from decimal import Decimal
from typing import Any

from tokamata.errors import ParseError
from tokamata.patterns.python_types import shapes
from tokamata.patterns.python_types.bounded_values import is_within_bounds
from tokamata.patterns.python_types.python_source import Node, parse_source, place_of
from tokamata.patterns.python_types.python_syntax import constructor_name, constructors
from tokamata.patterns.python_types.texts import DURATION_UNITS

__all__ = ["value_of_source"]


def value_of_source(shape: shapes.Shape, text: str) -> Any:
    """The value that a Python expression stands for.

    Raises:
        ParseError: it is no expression, or none of the shape.
        pydantic.ValidationError: a validator of pydantic's refuses a model.
    """
    node = parse_source(text)
    try:
        return _run(_Reader().read(shape, node))
    except _Mismatch as mismatch:
        found = text[mismatch.node.start : mismatch.node.end]
        found = found if len(found) <= 80 else found[:79] + "…"
        reason = f"there is {found}; expected {mismatch.expected}"
        raise ParseError(place_of(text, mismatch.node.start), reason) from None
    except RecursionError:
        raise ParseError("", "the value nests deeper than Python's stack") from None


class _Mismatch(Exception):
    """An expression that a shape does not have."""

    def __init__(self, node: Node, expected: str) -> None:
        super().__init__(expected)
        self.node, self.expected = node, expected


_FAILED = object()

_Reading = Generator["_Reading", Any, Any]  # yields the readings of parts, and is sent their values


def _run(reading: _Reading) -> Any:
    """What a reading returns; those that wait for another one stand on a list and not on the stack."""
    waiting: list[_Reading] = []
    value: Any = None
    error: Exception | None = None
    while True:
        try:
            part = reading.send(value) if error is None else reading.throw(error)
        except StopIteration as stop:
            value, error = stop.value, None
        except Exception as raised:
            value, error = None, raised
        else:
            waiting.append(reading)
            reading, value, error = part, None, None
            continue
        if not waiting:
            if error is not None:
                raise error
            return value
        reading = waiting.pop()


class _Reader:
    """One reading, and what was tried in it."""

    def __init__(self) -> None:
        self._tried: dict[tuple[int, int], Any] = {}
        self._options: dict[int, dict[Any, Any]] = {}

    def read(self, shape: shapes.Shape, node: Node) -> _Reading:
        """The reading of a value; not begun."""
        whole = _WITH_PARTS.get(type(shape))
        return self._simple(shape, node) if whole is None else whole(self, shape, node)

    def _simple(self, shape: shapes.Shape, node: Node) -> _Reading:
        value = _SIMPLE[type(shape)](self, shape, node)
        written = str(value) if isinstance(shape, shapes.Written) else value
        if not is_within_bounds(shape, written):
            raise _Mismatch(node, f"a {shape.described} within its bounds")
        return value
        yield  # a generator like the others

    # ---- without parts ------------------------------------------------------------------------

    def boolean(self, shape: shapes.Shape, node: Node) -> bool:
        if node.kind == "constant" and (node.value is True or node.value is False):
            return bool(node.value)
        raise _Mismatch(node, "True or False")

    def integer(self, shape: shapes.Shape, node: Node) -> int:
        value = _number(node)
        if type(value) is int:
            return value
        raise _Mismatch(node, "a whole number")

    def float(self, shape: shapes.Shape, node: Node) -> float:
        value = _number(node)
        if value is not None:
            try:
                return float(value)
            except OverflowError:
                pass
        raise _Mismatch(node, "a number")

    def string(self, shape: shapes.Shape, node: Node) -> str:
        return _string(node)

    def written(self, shape: shapes.Shape, node: Node) -> Decimal:
        text = _string(_only_argument(node, ("Decimal",)))
        try:
            return Decimal(text)
        except ArithmeticError:
            raise _Mismatch(node, "a decimal") from None

    def text(self, shape: shapes.Text, node: Node) -> Any:
        if shape.cls is bytes:
            if node.kind == "constant" and isinstance(node.value, bytes):
                return node.value
            raise _Mismatch(node, "bytes")
        names = constructors(shape)
        read = _CONSTRUCTORS.get(shape.cls)
        try:
            if read is not None:
                return read(_called(node, names))
            return shape.kind.read(_string(_only_argument(node, names)))
        except (ValueError, TypeError, OverflowError):
            raise _Mismatch(node, f"a {shape.described}") from None

    def choices(self, shape: shapes.Choices, node: Node) -> Any:
        options = self._options.get(id(shape))
        if options is None:
            options = self._options[id(shape)] = {
                _key(parse_source(option.spelled[0])): option.value for option in reversed(shape.options)
            }
        found = options.get(_key(node), _FAILED)
        if found is _FAILED:
            raise _Mismatch(node, f"one of {shape.described}")
        return found

    # ---- with parts ---------------------------------------------------------------------------

    def collection(self, shape: shapes.Collection, node: Node) -> _Reading:
        parts = []
        for one in self._elements(shape, node):
            parts.append((yield self.read(shape.item, one)))
        self._check_length(shape, node, parts)
        return shape.make(parts)

    def _elements(self, shape: shapes.Collection, node: Node) -> list[Node]:
        inside, display = node, "list"
        if shape.is_set:
            display = "set"
            if node.kind == "call" and not node.items:
                _called(node, (shape.name,))
                return []
            if shape.name == "frozenset":
                inside = _only_argument(node, ("frozenset",))
        elif shape.name == "tuple":
            display = "tuple"
        elif shape.name != "list":
            inside = _only_argument(node, (shape.name,))
        if inside.kind != display:
            raise _Mismatch(node, f"a {shape.name}")
        return inside.items

    def row(self, shape: shapes.Row, node: Node) -> _Reading:
        count = len(shape.items)
        if node.kind != "tuple" or len(node.items) < count:
            raise _Mismatch(node, f"a tuple of {count} elements")
        if len(node.items) > count and shape.rest is None:
            raise _Mismatch(node, f"a tuple of {count} elements")
        parts = []
        for item, one in zip(shape.items, node.items, strict=False):
            parts.append((yield self.read(item, one)))
        if shape.rest is not None:
            for one in node.items[count:]:
                parts.append((yield self.read(shape.rest, one)))
        self._check_length(shape, node, parts)
        return tuple(parts)

    def mapping(self, shape: shapes.Mapping, node: Node) -> _Reading:
        inside = node if shape.name == "dict" else _only_argument(node, (shape.name,))
        if inside.kind != "dict":
            raise _Mismatch(node, f"a {shape.name}")
        entries = {}
        for key, value in zip(inside.keys, inside.items, strict=True):
            name = yield self.read(shape.key, key)
            entries[name] = yield self.read(shape.value, value)
        self._check_length(shape, node, inside.items)
        return shape.make(entries)

    def _check_length(self, shape: shapes.Shape, node: Node, parts: list[Any]) -> None:
        if not is_within_bounds(shape, parts):
            raise _Mismatch(node, f"a {shape.described} of another length, not {len(parts)}")

    def record(self, shape: shapes.Record, node: Node) -> _Reading:
        given: dict[str, Node] = {}
        for name, value in _fields_in_dict(node) if shape.form == "dict" else _fields_in_call(shape, node):
            if name in given:
                raise _Mismatch(value, f"{name!r} once")
            given[name] = value
        built: dict[str, Any] = {}
        for field in shape.fields:
            if field.name in given:
                built[field.keyword] = yield self.read(field.shape, given.pop(field.name))
            elif field.required:
                raise _Mismatch(node, f"{field.name!r} as well")
        for name, value in given.items():
            raise _Mismatch(value, f"a field of {shape.name}, not {name!r:.60}")
        return shape.build(built)

    def union(self, shape: shapes.Union, node: Node) -> _Reading:
        members = list(shape.members)
        if any(isinstance(one, shapes.Integer) for one in members):
            members.sort(key=lambda one: isinstance(one, shapes.Float))  # whole numbers are rather integers
        refused: ValueError | None = None
        for member in members:
            known = (id(member), id(node))
            if known not in self._tried:
                try:
                    self._tried[known] = yield self.read(member, node)
                except _Mismatch:
                    self._tried[known] = _FAILED
                except ValueError as error:
                    self._tried[known], refused = _FAILED, refused or error
            if self._tried[known] is not _FAILED:
                return self._tried[known]
        if refused is not None:
            raise refused
        raise _Mismatch(node, shape.described)

    def alias(self, shape: shapes.Alias, node: Node) -> _Reading:
        assert shape.target is not None
        return (yield self.read(shape.target, node))


def _key(node: Node) -> tuple[str, str, str]:
    """What tells constants and names apart."""
    if node.kind in ("constant", "name"):
        return node.kind, type(node.value).__name__, repr(node.value)
    return node.kind, "", ""


def _number(node: Node) -> int | float | None:
    if node.kind == "constant" and type(node.value) in (int, float):
        value: int | float = node.value
        return value
    return None


def _string(node: Node) -> str:
    if node.kind == "constant" and isinstance(node.value, str):
        return node.value
    raise _Mismatch(node, "a string")


def _called(node: Node, names: tuple[str, ...]) -> Node:
    """A call of one of these names, with dots or without."""
    if node.kind == "call" and node.value in names:
        return node
    raise _Mismatch(node, f"{names[0]}(…)")


def _only_argument(node: Node, names: tuple[str, ...]) -> Node:
    call = _called(node, names)
    if len(call.items) == 1 and not call.keywords:
        return call.items[0]
    raise _Mismatch(node, f"{names[0]}(…) with one argument")


def _fields_in_call(shape: shapes.Record, node: Node) -> list[tuple[str, Node]]:
    call = _called(node, (constructor_name(shape),))
    if call.items:
        raise _Mismatch(call.items[0], "arguments by keyword")
    return call.keywords


def _fields_in_dict(node: Node) -> list[tuple[str, Node]]:
    if node.kind != "dict":
        raise _Mismatch(node, "a dictionary")
    return [(_string(key), value) for key, value in zip(node.keys, node.items, strict=True)]


# ---- dates --------------------------------------------------------------------------------------


def _integers(call: Node) -> list[int]:
    values = [_number(one) for one in call.items]
    if not all(type(value) is int for value in values):
        raise ParseError("", "no whole numbers")
    return [int(value) for value in values if value is not None]


def _zone(call: Node) -> datetime.timezone | None:
    if not call.keywords:
        return None
    ((name, zone),) = call.keywords
    if name != "tzinfo":
        raise ParseError("", "no tzinfo")
    if zone.kind == "name" and zone.value in ("timezone.utc", "datetime.timezone.utc"):
        return datetime.timezone.utc
    offset = _only_argument(zone, ("timezone", "datetime.timezone"))
    return datetime.timezone(_timedelta(_called(offset, ("timedelta", "datetime.timedelta"))))


def _timedelta(call: Node) -> datetime.timedelta:
    if call.items:
        if _integers(call) != [0] or call.keywords:
            raise ParseError("", "units by keyword")
        return datetime.timedelta(0)
    values: dict[str, int] = {}
    for unit, one in call.keywords:
        value = _number(one)
        if unit not in DURATION_UNITS or type(value) is not int:
            raise ParseError("", "no unit")
        values[unit] = value
    return datetime.timedelta(**values)


def _date(call: Node) -> datetime.date:
    year, month, day = _integers(call)
    return datetime.date(year, month, day)


def _date_time(call: Node) -> datetime.datetime:
    return datetime.datetime(*_integers(call), tzinfo=_zone(call))  # type: ignore[arg-type, misc]


def _time(call: Node) -> datetime.time:
    return datetime.time(*_integers(call), tzinfo=_zone(call))  # type: ignore[arg-type, misc]


_CONSTRUCTORS: dict[type, Callable[[Node], Any]] = {
    datetime.date: _date,
    datetime.datetime: _date_time,
    datetime.time: _time,
    datetime.timedelta: _timedelta,
}

_SIMPLE: dict[type, Callable[[_Reader, Any, Node], Any]] = {
    shapes.Boolean: _Reader.boolean,
    shapes.Choices: _Reader.choices,
    shapes.Float: _Reader.float,
    shapes.Integer: _Reader.integer,
    shapes.String: _Reader.string,
    shapes.Text: _Reader.text,
    shapes.Written: _Reader.written,
}

_WITH_PARTS: dict[type, Callable[[_Reader, Any, Node], _Reading]] = {
    shapes.Alias: _Reader.alias,
    shapes.Collection: _Reader.collection,
    shapes.Mapping: _Reader.mapping,
    shapes.Record: _Reader.record,
    shapes.Row: _Reader.row,
    shapes.Union: _Reader.union,
}
