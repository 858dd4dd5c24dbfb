"""``minimum``, ``maximum`` and their exclusive kin, ``multipleOf`` (validation 6.2; draft 4: 5.1).

Bounds are exact decimals: a ``Decimal`` as it is written, a ``float`` as Python writes it.

In draft 4 ``"exclusiveMinimum": true`` changes what ``minimum`` means.
"""

from __future__ import annotations

from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Any

from tokamata.patterns.json_schema.faults import Fault
from tokamata.patterns.json_schema.text import MOST_BITS

if TYPE_CHECKING:
    from tokamata.patterns.json_schema.keyword_reader import Handler, KeywordReader

__all__ = ["handlers", "handlers_of_draft_4", "led_by", "whole_number"]

_MOST_COUNT = (1 << 62) - 1  # more is as good as no bound
_Bounds = tuple["str | None", "str | None", "str | None", "str | None", "str | None"]
_BOUNDS = (  # of ``number_range``: the keywords that each may come from, where draft 4 has others
    ("minimum",),
    ("exclusiveMinimum", "minimum"),
    ("maximum",),
    ("exclusiveMaximum", "maximum"),
    ("multipleOf",),
)


def led_by(handler: Handler, *keywords: str) -> dict[str, Handler]:
    """One handler for keywords that belong together, called where the first of them stands."""

    def later(earlier: tuple[str, ...]) -> Handler:
        def handle(reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]) -> None:
            for keyword in earlier:
                if keyword in schema and keyword in reader.handlers:
                    return
            handler(reader, schema, value, operands)

        return handle

    return {keyword: later(keywords[:index]) if index else handler for index, keyword in enumerate(keywords)}


def handlers(*keywords: str) -> dict[str, Handler]:
    """All of them together."""
    return led_by(_range, *keywords)


def handlers_of_draft_4() -> dict[str, Handler]:
    """Those of draft 4, whose exclusive bounds are booleans."""
    keywords = ("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum")
    return led_by(_range_of_draft_4, *keywords)


def decimal(schema: dict[str, Any], keyword: str) -> str | None:
    """A bound in decimal digits; ``None`` where the schema has none."""
    if keyword not in schema:
        return None
    value = schema[keyword]
    kind = type(value)
    if kind is int:
        if value.bit_length() <= MOST_BITS:
            return str(value)
    elif kind is Decimal:
        if value.is_finite():
            return str(value)
    elif kind is float and isfinite(value):
        return repr(value)
    expected = "a number"
    if kind is bool and keyword.startswith("exclusive"):
        draft = "http://json-schema.org/draft-04/schema#"
        expected += f'; in draft 4 it is a boolean, and "$schema": "{draft}" names that draft'
    raise Fault(schema, keyword, value, expected)


def whole_number(schema: dict[str, Any], keyword: str, default: int | None) -> int | None:
    """A count; ``3.0`` is one too."""
    if keyword not in schema:
        return default
    value: Any = schema[keyword]
    if type(value) is not int:
        if (type(value) is float and value.is_integer()) or (type(value) is Decimal and _is_count(value)):
            value = int(value)
        else:
            raise Fault(schema, keyword, value, "a whole number of at least 0")
    if value < 0:
        raise Fault(schema, keyword, value, "a whole number of at least 0")
    return value if value < _MOST_COUNT else _MOST_COUNT


def _is_count(value: Decimal) -> bool:
    return value.is_finite() and value.adjusted() < 4000 and value == value.to_integral_value()


def _range(reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]) -> None:
    bounds = (
        decimal(schema, "minimum"),
        decimal(schema, "exclusiveMinimum"),
        decimal(schema, "maximum"),
        decimal(schema, "exclusiveMaximum"),
        _factor(schema),
    )
    _bound(reader, schema, bounds, operands)


def _bound(reader: KeywordReader, schema: dict[str, Any], bounds: _Bounds, operands: list[int]) -> None:
    """Numbers within bounds; those bounds that are too long are refused, each by itself."""
    try:
        operands.append(reader.table.number_range(*bounds))
    except ValueError:
        for place, bound in enumerate(bounds):
            if bound is None:
                continue
            alone = [None] * place + [bound] + [None] * (len(bounds) - place - 1)
            try:
                operands.append(reader.table.number_range(*alone))
            except ValueError as error:
                keyword = next(one for one in _BOUNDS[place] if type(schema.get(one, True)) is not bool)
                operands.append(reader.refuse(schema, keyword, str(error).partition(": ")[2]))


def _range_of_draft_4(reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]) -> None:
    minimum, maximum = decimal(schema, "minimum"), decimal(schema, "maximum")
    exclusive_minimum = exclusive_maximum = None
    if _is_exclusive(schema, "exclusiveMinimum"):
        minimum, exclusive_minimum = None, minimum
    if _is_exclusive(schema, "exclusiveMaximum"):
        maximum, exclusive_maximum = None, maximum
    bounds = (minimum, exclusive_minimum, maximum, exclusive_maximum, _factor(schema))
    if any(bound is not None for bound in bounds):
        _bound(reader, schema, bounds, operands)


def _is_exclusive(schema: dict[str, Any], keyword: str) -> bool:
    value = schema.get(keyword, False)
    if type(value) is not bool:
        raise Fault(schema, keyword, value, "true or false, as draft 4 has it")
    return value


def _factor(schema: dict[str, Any]) -> str | None:
    factor = decimal(schema, "multipleOf")
    if factor is not None and not schema["multipleOf"] > 0:
        raise Fault(schema, "multipleOf", schema["multipleOf"], "a number above 0")
    return factor
