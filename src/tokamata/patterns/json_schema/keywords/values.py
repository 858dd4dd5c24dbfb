"""``type``, ``enum`` and ``const`` (validation 6.1).  1.0 is an integer in every draft, as it is in 6 and
later."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from tokamata.patterns.json_schema.faults import Fault
from tokamata.patterns.json_schema.table import ARRAY, FALSE, NULL, NUMBER, OBJECT, STRING, TRUE
from tokamata.patterns.json_schema.text import MOST_BITS, is_text, why_no_value

if TYPE_CHECKING:
    from tokamata.patterns.json_schema.keyword_reader import KeywordReader

__all__ = ["TYPE_MASKS", "const", "enum", "type_"]

TYPE_MASKS = {
    "null": NULL,
    "boolean": FALSE | TRUE,
    "integer": NUMBER,
    "number": NUMBER,
    "string": STRING,
    "array": ARRAY,
    "object": OBJECT,
}
_NAMES = ", ".join(f'"{name}"' for name in TYPE_MASKS)
_FLAT = {str, bool, type(None)}
_SHORT = {*_FLAT, float}
_SHORT_BITS = 64  # of a whole number that is compared as it is
_SHORT_EXPONENT = 300  # decimal digits of a number, and of its exponent as a value


def type_(reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]) -> None:
    """Values of one type, or of several."""
    if type(value) is str:
        node = reader.type_nodes.get(value)
        if node is None:
            if value not in TYPE_MASKS:
                raise Fault(schema, "type", value, f"one of {_NAMES}, or an array of these")
            node = reader.type_nodes[value] = reader.table.types(TYPE_MASKS[value])
        operands.append(node)
        if value == "integer":
            operands.append(reader.integral())
        return
    if type(value) is not list or not value:
        raise Fault(schema, "type", value, f"one of {_NAMES}, or an array of these")
    mask = 0
    for name in value:
        if type(name) is not str or name not in TYPE_MASKS:
            raise Fault(schema, "type", name, f"one of {_NAMES}, or an array of these")
        mask |= TYPE_MASKS[name]
    operands.append(reader.table.types(mask))
    if "integer" in value and "number" not in value:
        operands.append(reader.integral())


def enum(reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]) -> None:
    """One of some values; those that no text can have are none."""
    if type(value) is not list:
        raise Fault(schema, "enum", value, "an array of values")
    if not set(map(type, value)) <= _FLAT:
        _check(reader, schema, "enum", value)
    try:
        "".join([one for one in value if type(one) is str]).encode()
    except UnicodeEncodeError:
        value = [one for one in value if type(one) is not str or is_text(one)]
    if any(type(one) is list or type(one) is dict for one in value):
        value = [one for one in value if _is_writable(one)]
    _among(reader, schema, "enum", value, operands)


def const(reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]) -> None:
    """One value."""
    if type(value) not in _FLAT:
        _check(reader, schema, "const", value)
    _among(reader, schema, "const", [value] if _is_writable(value) else [], operands)


def _among(
    reader: KeywordReader, schema: dict[str, Any], keyword: str, values: list[Any], operands: list[int]
) -> None:
    """One of these values."""
    try:
        if not values:
            operands.append(reader.nothing)
            return
        for number in _long_numbers(values):
            reader.table.number_range(number, None, None, None, None)  # which says what is wrong with it
        if keyword == "const":
            operands.append(reader.table.constant(values[0]))
        else:
            operands.append(reader.table.constants(values))
    except ValueError as error:  # a number that is too long, or a value that nests too deep
        reason = str(error)
        operands.append(reader.refuse(schema, keyword, reason.removeprefix("minimum: ")))


def _long_numbers(values: list[Any]) -> Iterator[str]:
    """The numbers in some values that may have more digits, or a longer exponent, than can be written."""
    if set(map(type, values)) <= _SHORT:
        return
    stack: list[Any] = list(values)
    while stack:
        one = stack.pop()
        if type(one) is list:
            stack.extend(one)
        elif type(one) is dict:
            stack.extend(one.values())
        elif type(one) is int:
            if one.bit_length() > _SHORT_BITS:
                yield str(one)
        elif type(one) is Decimal and (
            abs(one.adjusted()) > _SHORT_EXPONENT or len(str(one)) > _SHORT_EXPONENT
        ):
            yield str(one)


def _check(reader: KeywordReader, schema: dict[str, Any], keyword: str, value: Any) -> None:
    if type(value) is int and value.bit_length() <= MOST_BITS:
        return
    if why := why_no_value(value, reader.depth):
        raise Fault(schema, keyword, value, "values that JSON can write", found=f"something with {why} in it")


def _is_writable(value: Any) -> bool:
    """Whether some text has this value: no string in it has a lone surrogate."""
    if type(value) is str:
        return is_text(value)
    if type(value) is not list and type(value) is not dict:
        return True
    values: list[Any] = [value]
    while values:
        one = values.pop()
        if type(one) is str:
            if not is_text(one):
                return False
        elif type(one) is list:
            values.extend(one)
        elif type(one) is dict:
            values.extend(one)
            values.extend(one.values())
    return True
