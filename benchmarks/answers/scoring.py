"""Judges a text: which fields of the known answer it has, whether it is right, and whether it is valid.

A *field* is a value that the schema does not fix: of a declared member, within objects too; lists count as
one.  A field is right if its value is equal: numbers exactly, moments of time whatever their zone, strings
and lists code point by code point.  An optional member that the text of the question does not mention is a
field too, which is right if it is absent.

The judge of validity is ``jsonschema``, with exact numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any, NoReturn

import jsonschema
from jsonschema import validators

from benchmarks.answers.questions import Question

__all__ = ["Score", "score"]

_ABSENT = object()
_TIME = re.compile(r"\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Score:
    """How good a text is.

    Attributes:
        fields: the share of the fields that are right.
        is_right: whether the value is the known answer.
        is_valid: whether the schema accepts it.
    """

    fields: float
    is_right: bool
    is_valid: bool


def score(question: Question, text: str) -> Score:
    """Judges a text, which ``json.loads`` reads."""
    schema, known = json.loads(question.schema), question.value
    try:
        value = json.loads(text, parse_float=Decimal, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return Score(0.0, False, False)
    if isinstance(value, dict) != isinstance(known, dict):  # no member is "rightly absent" there
        return Score(0.0, False, _validator(question.schema).is_valid(value))
    right = [_equal(_at(value, path), _at(known, path), part) for path, part in _fields(schema, known)]
    is_valid = _validator(question.schema).is_valid(value)
    is_right = _equal(value, known, schema) or (all(right) and _names(value) == _names(known))
    return Score(sum(right) / len(right), is_valid and is_right, is_valid)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


# ---- fields -----------------------------------------------------------------------------------


def _fields(
    schema: dict[str, Any], known: Any, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """The paths of the fields, and their schemas; ``{}`` for members that are not declared."""
    if not isinstance(known, dict):
        if "const" not in schema:
            yield path, schema
        return
    declared = schema.get("properties", {})
    for name in dict.fromkeys([*declared, *known]):
        yield from _fields(declared.get(name, {}), known.get(name), (*path, name))


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return _ABSENT
        value = value[name]
    return value


def _names(value: Any) -> Any:
    """The names of an object's members, and of those within."""
    return {name: _names(inner) for name, inner in value.items()} if isinstance(value, dict) else None


def _equal(one: Any, other: Any, schema: dict[str, Any]) -> bool:
    if one is _ABSENT or other is _ABSENT:
        return one is other
    kinds = [_kind(value) for value in (one, other)]
    if kinds[0] is not kinds[1]:
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(_equal(*pair, {}) for pair in zip(one, other, strict=True))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_equal(one[name], other[name], {}) for name in one)
    if schema.get("format") == "date-time" and _is_date_time(one):
        return _moment(one) == _moment(other)
    return bool(one == other)


def _kind(value: Any) -> type:
    """``bool`` is not a number."""
    return Decimal if isinstance(value, (int, Decimal)) and not isinstance(value, bool) else type(value)


# ---- validity ---------------------------------------------------------------------------------


def _is_date(text: Any) -> bool:
    if not isinstance(text, str):
        return True
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_date_time(text: Any) -> bool:
    if not isinstance(text, str):
        return True
    if not _is_date(text[:10]) or text[10:11] not in ("T", "t") or not _TIME.fullmatch(text[11:]):
        return False
    try:
        _moment(text)
    except ValueError:
        return False
    return True


def _moment(text: str) -> tuple[datetime, Fraction]:
    """A moment to the second, and the rest; a leap second counts as the one before."""
    head, tail = text[:19].upper(), text[19:].upper().replace("Z", "+00:00")
    fraction, zone = tail[:-6], tail[-6:]
    if head.endswith(":60"):
        head = head[:-2] + "59"
    return datetime.fromisoformat(head + zone), Fraction(f"0{fraction}" if fraction else "0")


def _multiple_of(validator: Any, divisor: Any, value: Any, schema: Any) -> Iterator[Any]:
    if validator.is_type(value, "number") and Fraction(value) % Fraction(divisor):
        yield jsonschema.ValidationError(f"{value} is not a multiple of {divisor}")


def _is_integer(checker: Any, value: Any) -> bool:
    if isinstance(value, Decimal):
        return value == value.to_integral_value()
    return isinstance(value, int) and not isinstance(value, bool)


_FORMATS = jsonschema.FormatChecker(["email"])
_FORMATS.checks("date")(_is_date)
_FORMATS.checks("date-time")(_is_date_time)
_DRAFT = jsonschema.Draft202012Validator
_VALIDATOR = validators.extend(
    _DRAFT, {"multipleOf": _multiple_of}, type_checker=_DRAFT.TYPE_CHECKER.redefine("integer", _is_integer)
)


@cache
def _validator(schema: str) -> Any:
    return _VALIDATOR(json.loads(schema, parse_float=Decimal), format_checker=_FORMATS)
