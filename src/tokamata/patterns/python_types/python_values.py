"""From Python source to values, led by shapes; nothing is evaluated.

Example: ``Point(x=1, y=2)`` is parsed by :mod:`ast`, found to be a call of the name that the record has, with
its fields as keywords, and the class is called with the two integers.

Only what :mod:`.python_syntax` writes is read, with any white space that Python allows: names stand for what
the type names, and for nothing else.

Cost: linear; what was tried for a part of a union is remembered.
"""

from __future__ import annotations

import ast
import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from tokamata.errors import ParseError
from tokamata.patterns.python_types.python_syntax import constructor_name, constructors
from tokamata.patterns.python_types.shapes import (
    Alias,
    Boolean,
    Choices,
    Collection,
    Float,
    Integer,
    Mapping,
    Record,
    Row,
    Shape,
    String,
    Text,
    Union,
    Written,
)
from tokamata.patterns.python_types.texts import DURATION_UNITS

__all__ = ["value_of_source"]


def value_of_source(shape: Shape, text: str) -> Any:
    """The value that a Python expression stands for.

    Raises:
        ParseError: it is no expression, or none of the shape.
        pydantic.ValidationError: a validator of pydantic's refuses a model.
    """
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        place = f"line {error.lineno or 1}, column {error.offset or 1}"
        raise ParseError(place, f"no Python expression: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise ParseError("", f"no Python expression: {str(error)[:200] or 'it nests too deep'}") from None
    try:
        return _Reader().read(shape, node)
    except _Mismatch as mismatch:
        found = ast.get_source_segment(text, mismatch.node) or "something else"
        found = found if len(found) <= 80 else found[:79] + "…"
        place = f"line {mismatch.node.lineno}, column {mismatch.node.col_offset + 1}"
        raise ParseError(place, f"there is {found}; expected {mismatch.expected}") from None
    except RecursionError:
        raise ParseError("", "the value nests deeper than Python's stack") from None


class _Mismatch(Exception):
    """An expression that a shape does not have."""

    def __init__(self, node: ast.expr, expected: str) -> None:
        super().__init__(expected)
        self.node, self.expected = node, expected


_FAILED = object()


class _Reader:
    """One reading, and what was tried in it."""

    def __init__(self) -> None:
        self._tried: dict[tuple[int, int], Any] = {}
        self._options: dict[int, dict[str, Any]] = {}

    def read(self, shape: Shape, node: ast.expr) -> Any:
        return _READERS[type(shape)](self, shape, node)

    def boolean(self, shape: Shape, node: ast.expr) -> bool:
        if isinstance(node, ast.Constant) and (node.value is True or node.value is False):
            return bool(node.value)
        raise _Mismatch(node, "True or False")

    def integer(self, shape: Shape, node: ast.expr) -> int:
        value = _number(node)
        if type(value) is int:
            return value
        raise _Mismatch(node, "a whole number")

    def float(self, shape: Shape, node: ast.expr) -> float:
        value = _number(node)
        if value is not None:
            try:
                return float(value)
            except OverflowError:
                pass
        raise _Mismatch(node, "a number")

    def string(self, shape: Shape, node: ast.expr) -> str:
        return _string(node)

    def written(self, shape: Shape, node: ast.expr) -> Decimal:
        text = _string(_only_argument(node, ("Decimal",)))
        try:
            return Decimal(text)
        except ArithmeticError:
            raise _Mismatch(node, "a decimal") from None

    def text(self, shape: Text, node: ast.expr) -> Any:
        if shape.cls is bytes:
            if isinstance(node, ast.Constant) and isinstance(node.value, bytes):
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

    def choices(self, shape: Choices, node: ast.expr) -> Any:
        options = self._options.get(id(shape))
        if options is None:
            options = self._options[id(shape)] = {
                ast.dump(ast.parse(option.spelled[0], mode="eval").body): option.value
                for option in reversed(shape.options)
            }
        found = options.get(ast.dump(node), _FAILED)
        if found is _FAILED:
            raise _Mismatch(node, f"one of {shape.described}")
        return found

    def collection(self, shape: Collection, node: ast.expr) -> Any:
        return shape.make([self.read(shape.item, one) for one in self._elements(shape, node)])

    def _elements(self, shape: Collection, node: ast.expr) -> list[ast.expr]:
        inside: ast.expr = node
        display: type[ast.List] | type[ast.Tuple] | type[ast.Set] = ast.List
        if shape.is_set:
            display = ast.Set
            if isinstance(node, ast.Call) and not node.args:
                _called(node, (shape.name,))
                return []
            if shape.name == "frozenset":
                inside = _only_argument(node, ("frozenset",))
        elif shape.name == "tuple":
            display = ast.Tuple
        elif shape.name != "list":
            inside = _only_argument(node, (shape.name,))
        if not isinstance(inside, display):
            raise _Mismatch(node, f"a {shape.name}")
        return inside.elts

    def row(self, shape: Row, node: ast.expr) -> tuple[Any, ...]:
        count = len(shape.items)
        if not isinstance(node, ast.Tuple) or len(node.elts) < count:
            raise _Mismatch(node, f"a tuple of {count} elements")
        if len(node.elts) > count and shape.rest is None:
            raise _Mismatch(node, f"a tuple of {count} elements")
        parts = [self.read(item, one) for item, one in zip(shape.items, node.elts, strict=False)]
        if shape.rest is not None:
            parts += [self.read(shape.rest, one) for one in node.elts[count:]]
        return tuple(parts)

    def mapping(self, shape: Mapping, node: ast.expr) -> Any:
        inside = node if shape.name == "dict" else _only_argument(node, (shape.name,))
        if not isinstance(inside, ast.Dict):
            raise _Mismatch(node, f"a {shape.name}")
        entries = {}
        for key, value in zip(inside.keys, inside.values, strict=True):
            if key is None:
                raise _Mismatch(value, "a key")
            entries[self.read(shape.key, key)] = self.read(shape.value, value)
        return shape.make(entries)

    def record(self, shape: Record, node: ast.expr) -> Any:
        given: dict[str, ast.expr] = {}
        for name, value in _fields_in_dict(node) if shape.form == "dict" else _fields_in_call(shape, node):
            if name in given:
                raise _Mismatch(value, f"{name!r} once")
            given[name] = value
        built: dict[str, Any] = {}
        for field in shape.fields:
            if field.name in given:
                built[field.keyword] = self.read(field.shape, given.pop(field.name))
            elif field.required:
                raise _Mismatch(node, f"{field.name!r} as well")
        for name, value in given.items():
            raise _Mismatch(value, f"a field of {shape.name}, not {name!r:.60}")
        return shape.build(built)

    def union(self, shape: Union, node: ast.expr) -> Any:
        members = list(shape.members)
        if any(isinstance(one, Integer) for one in members):
            members.sort(key=lambda one: isinstance(one, Float))  # whole numbers are rather integers
        refused: ValueError | None = None
        for member in members:
            known = (id(member), id(node))
            if known not in self._tried:
                try:
                    self._tried[known] = self.read(member, node)
                except _Mismatch:
                    self._tried[known] = _FAILED
                except ValueError as error:
                    self._tried[known], refused = _FAILED, refused or error
            if self._tried[known] is not _FAILED:
                return self._tried[known]
        if refused is not None:
            raise refused
        raise _Mismatch(node, shape.described)

    def alias(self, shape: Alias, node: ast.expr) -> Any:
        assert shape.target is not None
        return self.read(shape.target, node)


def _number(node: ast.expr) -> int | float | None:
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        sign, node = -1, node.operand
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        value: int | float = node.value  # type: ignore[assignment]
        return sign * value
    return None


def _string(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise _Mismatch(node, "a string")


def _called(node: ast.expr, names: tuple[str, ...]) -> ast.Call:
    """A call of one of these names, with dots or without."""
    if isinstance(node, ast.Call) and _dotted(node.func) in names:
        return node
    raise _Mismatch(node, f"{names[0]}(…)")


def _only_argument(node: ast.expr, names: tuple[str, ...]) -> ast.expr:
    call = _called(node, names)
    if len(call.args) == 1 and not call.keywords:
        return call.args[0]
    raise _Mismatch(node, f"{names[0]}(…) with one argument")


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return ""


def _fields_in_call(shape: Record, node: ast.expr) -> list[tuple[str, ast.expr]]:
    call = _called(node, (constructor_name(shape),))
    if call.args:
        raise _Mismatch(call.args[0], "arguments by keyword")
    fields = []
    for keyword in call.keywords:
        if keyword.arg is None:
            raise _Mismatch(keyword.value, "arguments by keyword")
        fields.append((keyword.arg, keyword.value))
    return fields


def _fields_in_dict(node: ast.expr) -> list[tuple[str, ast.expr]]:
    if not isinstance(node, ast.Dict):
        raise _Mismatch(node, "a dictionary")
    fields = []
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            raise _Mismatch(value, "a key")
        fields.append((_string(key), value))
    return fields


# ---- dates --------------------------------------------------------------------------------------


def _integers(call: ast.Call) -> list[int]:
    values = [_number(one) for one in call.args]
    if not all(type(value) is int for value in values):
        raise ValueError("no whole numbers")
    return [int(value) for value in values if value is not None]


def _zone(call: ast.Call) -> datetime.timezone | None:
    if not call.keywords:
        return None
    (keyword,) = call.keywords
    if keyword.arg != "tzinfo":
        raise ValueError("no tzinfo")
    if _dotted_name(keyword.value) in ("timezone.utc", "datetime.timezone.utc"):
        return datetime.timezone.utc
    offset = _only_argument(keyword.value, ("timezone", "datetime.timezone"))
    return datetime.timezone(_timedelta(_called(offset, ("timedelta", "datetime.timedelta"))))


def _dotted_name(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _timedelta(call: ast.Call) -> datetime.timedelta:
    if call.args:
        if _integers(call) != [0] or call.keywords:
            raise ValueError("units by keyword")
        return datetime.timedelta(0)
    values: dict[str, int] = {}
    for keyword in call.keywords:
        value = _number(keyword.value)
        if keyword.arg not in DURATION_UNITS or type(value) is not int:
            raise ValueError("no unit")
        values[keyword.arg] = value
    return datetime.timedelta(**values)


def _date(call: ast.Call) -> datetime.date:
    year, month, day = _integers(call)
    return datetime.date(year, month, day)


def _date_time(call: ast.Call) -> datetime.datetime:
    return datetime.datetime(*_integers(call), tzinfo=_zone(call))  # type: ignore[arg-type, misc]


def _time(call: ast.Call) -> datetime.time:
    return datetime.time(*_integers(call), tzinfo=_zone(call))  # type: ignore[arg-type, misc]


_CONSTRUCTORS: dict[type, Callable[[ast.Call], Any]] = {
    datetime.date: _date,
    datetime.datetime: _date_time,
    datetime.time: _time,
    datetime.timedelta: _timedelta,
}

_READERS: dict[type, Callable[[_Reader, Any, ast.expr], Any]] = {
    Alias: _Reader.alias,
    Boolean: _Reader.boolean,
    Choices: _Reader.choices,
    Collection: _Reader.collection,
    Float: _Reader.float,
    Integer: _Reader.integer,
    Mapping: _Reader.mapping,
    Record: _Reader.record,
    Row: _Reader.row,
    String: _Reader.string,
    Text: _Reader.text,
    Union: _Reader.union,
    Written: _Reader.written,
}
