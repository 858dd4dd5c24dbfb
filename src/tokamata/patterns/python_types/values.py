"""From parsed JSON to Python values, led by shapes.

Example: the record ``Point`` with two integers makes ``Point(x=1, y=2)`` of ``{"x": 1, "y": 2}``.

The values of a constraint are read as they are: bounds were enforced when they were written and are not
asked again, types are.  Where a union has several members that take a value, an exact one wins (``1`` is an
``int`` rather than a ``float``), and then the first.

Numbers keep their digits until it is known what becomes of them, so that decimals are exact.

Cost: linear; what was tried for a part of a union is remembered, so that nested unions stay so.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

from tokamata.errors import ParseError
from tokamata.patterns.json_schema.text import escaped, read_json, shown
from tokamata.patterns.python_types import shapes
from tokamata.patterns.python_types.schema import key_text

__all__ = ["MOST_DIGITS", "plain_value", "value_of_member", "value_of_text"]

MOST_DIGITS = 4300  # of a whole number; Python reads no more


class _Number(float):
    """A number with a fraction or an exponent, and how it is written."""

    __slots__ = ("text",)
    text: str


class _Mismatch(Exception):
    """A value that a shape does not have."""

    def __init__(self, place: _Place, found: str, expected: str) -> None:
        super().__init__(place, found, expected)
        self.place, self.found, self.expected = place, found, expected


class _Step(NamedTuple):
    """Where a value stands: in what, and under which name or number."""

    outer: _Place
    key: str | int


_Place = _Step | None


def value_of_text(shape: shapes.Shape, text: str) -> Any:
    """The Python value that a JSON text stands for.

    Raises:
        ParseError: it is no JSON, or its value is none of the shape.
        pydantic.ValidationError: a validator of pydantic's refuses it.
    """
    if isinstance(shape, shapes.Foreign):
        return shape.adapter.validate_json(text)
    return _converted(shape, read_json(text, _number), None)


def value_of_member(shape: shapes.Shape, text: str, name: str) -> Any:
    """The Python value that a member of a JSON object stands for; raises as :func:`value_of_text` does."""
    return _converted(shape, read_json(text, _number)[name], _Step(None, name))


def _converted(shape: shapes.Shape, value: Any, place: _Place) -> Any:
    try:
        return _Converter().convert(shape, value, place)
    except _Mismatch as mismatch:
        reason = f"there is {mismatch.found}; expected {mismatch.expected}"
        raise ParseError(_pointer(mismatch.place), reason) from None
    except RecursionError:
        raise ParseError("", "the value nests deeper than Python's stack") from None


def plain_value(value: Any) -> Any:
    """A value as ``json.loads`` has it, of one whose numbers know how they are written."""
    if isinstance(value, _Number):
        return float(value)
    if isinstance(value, list):
        return [plain_value(one) for one in value]
    if isinstance(value, dict):
        return {key: plain_value(one) for key, one in value.items()}
    return value


def _number(text: str) -> _Number:
    value = _Number(text)
    value.text = text
    return value


def _pointer(place: _Place) -> str:
    parts: list[str] = []
    while place is not None:
        parts.append("/" + escaped(str(place.key)))
        place = place.outer
    return "".join(reversed(parts))


class _Converter:
    """One conversion, and what was tried in it."""

    def __init__(self) -> None:
        self._tried: dict[tuple[int, int], Any] = {}

    def convert(self, shape: shapes.Shape, value: Any, place: _Place) -> Any:
        return _CONVERTERS[type(shape)](self, shape, value, place)

    def anything(self, shape: shapes.Shape, value: Any, place: _Place) -> Any:
        return plain_value(value)

    def boolean(self, shape: shapes.Shape, value: Any, place: _Place) -> bool:
        if value is True or value is False:
            return bool(value)
        raise _Mismatch(place, _described(value), "true or false")

    def integer(self, shape: shapes.Shape, value: Any, place: _Place) -> int:
        if type(value) is int:
            return value
        if isinstance(value, _Number):  # 1.0 and 1e2 are whole numbers too
            exact = Decimal(value.text)
            if exact.adjusted() < MOST_DIGITS and exact == exact.to_integral_value():
                return int(exact)
        raise _Mismatch(place, _described(value), "a whole number")

    def float(self, shape: shapes.Shape, value: Any, place: _Place) -> float:
        if type(value) is int:
            try:
                return float(value)
            except OverflowError:
                return math.inf if value > 0 else -math.inf
        if isinstance(value, _Number):
            return float(value)
        raise _Mismatch(place, _described(value), "a number")

    def written(self, shape: shapes.Shape, value: Any, place: _Place) -> Decimal:
        if type(value) is int:
            return Decimal(value)
        text = value.text if isinstance(value, _Number) else value
        try:
            if isinstance(text, str):
                return Decimal(text)
        except ArithmeticError:
            pass
        raise _Mismatch(place, _described(value), "a decimal")

    def string(self, shape: shapes.Shape, value: Any, place: _Place) -> str:
        if isinstance(value, str):
            return value
        raise _Mismatch(place, _described(value), "a string")

    def text(self, shape: shapes.Text, value: Any, place: _Place) -> Any:
        if isinstance(value, str):
            try:
                return shape.kind.read(value)
            except ValueError:
                pass
        raise _Mismatch(place, _described(value), f"a {shape.described} as a string")

    def choices(self, shape: shapes.Choices, value: Any, place: _Place) -> Any:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        for option in shape.options:
            one = option.json
            if number and isinstance(one, (int, float)) and not isinstance(one, bool):
                if one == value:
                    return option.value
            elif type(one) is type(value) and one == value:
                return option.value
        raise _Mismatch(place, _described(value), f"one of {shape.described}")

    def collection(self, shape: shapes.Collection, value: Any, place: _Place) -> Any:
        if not isinstance(value, list):
            raise _Mismatch(place, _described(value), "an array")
        return shape.make([self.convert(shape.item, one, _Step(place, at)) for at, one in enumerate(value)])

    def row(self, shape: shapes.Row, value: Any, place: _Place) -> Any:
        count = len(shape.items)
        if not isinstance(value, list) or len(value) < count or (len(value) > count and shape.rest is None):
            more = " or more" if shape.rest is not None else ""
            raise _Mismatch(place, _described(value), f"an array of {count}{more} elements")
        parts = [
            self.convert(one, part, _Step(place, at))
            for at, (one, part) in enumerate(zip(shape.items, value, strict=False))
        ]
        if shape.rest is not None:
            parts += [
                self.convert(shape.rest, value[at], _Step(place, at)) for at in range(count, len(value))
            ]
        return tuple(parts)

    def mapping(self, shape: shapes.Mapping, value: Any, place: _Place) -> Any:
        if not isinstance(value, dict):
            raise _Mismatch(place, _described(value), "an object")
        return shape.make(
            {
                self.key(shape.key, key, _Step(place, key)): self.convert(shape.value, one, _Step(place, key))
                for key, one in value.items()
            }
        )

    def key(self, shape: shapes.Shape, key: str, place: _Place) -> Any:
        """What a key stands for."""
        if isinstance(shape, shapes.Integer):
            if len(key) <= MOST_DIGITS and key.removeprefix("-").isdecimal() and key.isascii():
                return int(key)
        elif isinstance(shape, shapes.Boolean):
            if key in ("true", "false"):
                return key == "true"
        elif isinstance(shape, shapes.Choices):
            for option in shape.options:
                if key_text(option.json) == key:
                    return option.value
        elif isinstance(shape, shapes.Union):
            for member in shape.members:
                try:
                    return self.key(member, key, place)
                except _Mismatch:
                    continue
        elif isinstance(shape, shapes.Alias) and shape.target is not None:
            return self.key(shape.target, key, place)
        else:
            return self.convert(shape, key, place)
        raise _Mismatch(place, f"the key {shown(key)}", f"one for {shape.described}")

    def record(self, shape: shapes.Record, value: Any, place: _Place) -> Any:
        if shape.form == "array":
            if not isinstance(value, list) or len(value) > len(shape.fields):
                raise _Mismatch(place, _described(value), f"an array of the fields of {shape.name}")
            steps: list[str | int] = list(range(len(value)))
            given = {field.name: one for field, one in zip(shape.fields, value, strict=False)}
        elif isinstance(value, dict):
            given = value
        else:
            raise _Mismatch(place, _described(value), f"an object with the fields of {shape.name}")
        built: dict[str, Any] = {}
        for at, field in enumerate(shape.fields):
            if field.name in given:
                step = _Step(place, steps[at] if shape.form == "array" else field.name)
                built[field.keyword] = self.convert(field.shape, given[field.name], step)
            elif field.required:
                raise _Mismatch(place, f"no {field.name!r}", f"all of {shape.name}")
        if len(built) < len(given):
            names = {field.name for field in shape.fields}
            for name, one in given.items():
                if name not in names:
                    if shape.extra is None:
                        raise _Mismatch(place, f"the name {shown(name)}", f"a field of {shape.name}")
                    built[name] = self.convert(shape.extra, one, _Step(place, name))
        return shape.build(built)

    def union(self, shape: shapes.Union, value: Any, place: _Place) -> Any:
        members = _exact_first(shape.members, value)
        nested = isinstance(value, (list, dict))
        refused: ValueError | None = None  # by a validator in Python
        for member in members:
            known = (id(member), id(value))
            if nested and known in self._tried:
                if self._tried[known] is _FAILED:
                    continue
                return self._tried[known]
            try:
                found = self.convert(member, value, place)
            except _Mismatch:
                found = _FAILED
            except ValueError as error:
                found, refused = _FAILED, refused or error
            if nested:
                self._tried[known] = found
            if found is not _FAILED:
                return found
        if refused is not None:
            raise refused
        raise _Mismatch(place, _described(value), shape.described)

    def foreign(self, shape: shapes.Foreign, value: Any, place: _Place) -> Any:
        return shape.adapter.validate_json(json.dumps(plain_value(value)))

    def alias(self, shape: shapes.Alias, value: Any, place: _Place) -> Any:
        assert shape.target is not None
        return self.convert(shape.target, value, place)


_FAILED = object()


def _exact_first(members: Any, value: Any) -> Any:
    """Whole numbers are rather integers than floats, though they may be either."""
    if type(value) is int and any(isinstance(one, shapes.Integer) for one in members):
        return sorted(members, key=lambda one: isinstance(one, (shapes.Float, shapes.Written)))
    if isinstance(value, _Number) and any(isinstance(one, shapes.Integer) for one in members):
        return sorted(members, key=lambda one: isinstance(one, shapes.Integer))
    return members


def _described(value: Any) -> str:
    return value.text[:80] if isinstance(value, _Number) else shown(value)


_CONVERTERS: dict[type, Callable[[_Converter, Any, Any, _Place], Any]] = {
    shapes.Alias: _Converter.alias,
    shapes.Anything: _Converter.anything,
    shapes.Boolean: _Converter.boolean,
    shapes.Choices: _Converter.choices,
    shapes.Collection: _Converter.collection,
    shapes.Float: _Converter.float,
    shapes.Foreign: _Converter.foreign,
    shapes.Integer: _Converter.integer,
    shapes.Mapping: _Converter.mapping,
    shapes.Record: _Converter.record,
    shapes.Row: _Converter.row,
    shapes.String: _Converter.string,
    shapes.Text: _Converter.text,
    shapes.Union: _Converter.union,
    shapes.Written: _Converter.written,
}
