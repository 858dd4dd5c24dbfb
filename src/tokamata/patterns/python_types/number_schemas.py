"""JSON Schemas of numbers within bounds."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

from tokamata.patterns.python_types.shapes import Bounds
from tokamata.patterns.python_types.texts import decimal_pattern

__all__ = ["decimal_schema", "number_schema"]

Schema = dict[str, Any]


def number_schema(kind: str, bounds: Bounds) -> Schema:
    """Numbers of a type, ``"number"`` or ``"integer"``."""
    keywords = {
        "minimum": bounds.ge,
        "exclusiveMinimum": bounds.gt,
        "maximum": bounds.le,
        "exclusiveMaximum": bounds.lt,
        "multipleOf": bounds.multiple_of,
    }
    return {"type": kind, **{keyword: bound for keyword, bound in keywords.items() if bound is not None}}


def decimal_schema(bounds: Bounds) -> Schema:
    """Decimals: numbers, and strings where these can be held to the bounds.

    So many digits behind the point are multiples of a power of ten; so many in front of it are a bound.
    Where only the sum of the two is bounded, only a string can be.
    """
    is_bounded = bounds.of_numbers
    if bounds.max_digits is None:
        bounds = _finite(bounds)
    pattern = decimal_pattern(bounds.max_digits, bounds.decimal_places)
    string = {"type": "string", "pattern": f"^(?:{pattern})$"}
    if bounds.max_digits is not None and bounds.decimal_places is None:
        return string if not is_bounded else number_schema("number", bounds)
    number = number_schema("number", bounds)
    if bounds.decimal_places is not None:
        if bounds.multiple_of is None:
            number["multipleOf"] = Decimal(1).scaleb(-bounds.decimal_places)
        if bounds.max_digits is not None:
            size = Decimal(1).scaleb(max(bounds.max_digits - bounds.decimal_places, 0))
            for keyword, known, bound in (
                ("exclusiveMinimum", bounds.ge, -size),
                ("exclusiveMaximum", bounds.le, size),
            ):
                if known is None and keyword not in number:
                    number[keyword] = bound
    return number if is_bounded else {"anyOf": [number, string]}


def _finite(bounds: Bounds) -> Bounds:
    """Numbers that floats reach, which is what readers of JSON may make of them on the way."""
    size = Decimal("1e300")
    if bounds.gt is None and bounds.ge is None:
        bounds = replace(bounds, ge=-size)
    if bounds.lt is None and bounds.le is None:
        bounds = replace(bounds, le=size)
    return bounds
