"""Keywords about arrays (core 10.3.1, validation 6.4).

The schemas of the first elements and of the others have three forms: ``items`` with ``additionalItems`` up
to 2019-09, where ``additionalItems`` means nothing unless ``items`` is an array; ``prefixItems`` with
``items`` since.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tokamata.patterns.json_schema.faults import Fault
from tokamata.patterns.json_schema.keywords.numbers import led_by, whole_number

if TYPE_CHECKING:
    from tokamata.patterns.json_schema.keyword_reader import KeywordReader

__all__ = ["contains", "contains_some", "items_or_list", "lengths", "prefix_and_rest", "unique"]


def lengths(*keywords: str) -> dict[str, Any]:
    """Both of them together."""
    return led_by(_length, *keywords)


def items_or_list(*keywords: str) -> dict[str, Any]:
    """``items``, which may be an array, and ``additionalItems``."""
    return led_by(_items_or_list, *keywords)


def prefix_and_rest(*keywords: str) -> dict[str, Any]:
    """``prefixItems`` and ``items``."""
    return led_by(_prefix_and_rest, *keywords)


def contains(*keywords: str) -> dict[str, Any]:
    """``contains`` with its bounds, which mean nothing without it."""
    handled = led_by(_contains, *keywords)
    return {**handled, **{keyword: _check_count(keyword) for keyword in keywords[1:]}}


def contains_some(reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]) -> None:
    """Up to draft 7: at least one element is in it."""
    operands.append(reader.table.contains(reader.read(value), 1, None))


def unique(reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]) -> None:
    """No two elements are equal, where it is true."""
    if type(value) is not bool:
        raise Fault(schema, "uniqueItems", value, "true or false")
    if value:
        operands.append(reader.table.unique())


def _length(reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]) -> None:
    minimum, maximum = whole_number(schema, "minItems", 0), whole_number(schema, "maxItems", None)
    operands.append(reader.table.array_length(minimum or 0, maximum))


def _items_or_list(reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]) -> None:
    if "items" not in schema or "items" not in reader.handlers:
        return
    items = schema["items"]
    if type(items) is not list:
        operands.append(reader.table.items([], reader.read(items)))
        return
    prefix = [reader.read(one) for one in items]
    rest = reader.anything
    if "additionalItems" in schema:
        rest = reader.read(schema["additionalItems"])
    operands.append(reader.table.items(prefix, rest))


def _prefix_and_rest(reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]) -> None:
    prefix: list[int] = []
    if "prefixItems" in schema:
        schemas = schema["prefixItems"]
        if type(schemas) is not list:
            raise Fault(schema, "prefixItems", schemas, "an array of schemas")
        prefix = [reader.read(one) for one in schemas]
    rest = reader.anything
    if "items" in schema:
        items = schema["items"]
        if type(items) is list:
            expected = (
                'a schema; in draft 2020-12 the schemas of the first items are "prefixItems" '
                '(or name the draft that the schema is written in, by "$schema")'
            )
            raise Fault(schema, "items", items, expected)
        rest = reader.read(items)
    operands.append(reader.table.items(prefix, rest))


def _contains(reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]) -> None:
    minimum, maximum = 1, None
    if "minContains" in reader.handlers:
        minimum = whole_number(schema, "minContains", 1) or 0
        maximum = whole_number(schema, "maxContains", None)
    if maximum is None:
        node = reader.read(value)
        if minimum:
            operands.append(reader.table.contains(node, minimum, None))
        return
    if not reader.polar:
        reader.negated = True
        operands.append(reader.table.contains(reader.read(value), minimum, maximum))
        return
    if minimum:
        operands.append(reader.table.contains(reader.read(value), minimum, None))
    operands.append(reader.table.contains(reader.read_negated(value), 0, maximum))


def _check_count(keyword: str) -> Any:
    def check(reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]) -> None:
        if "contains" not in schema:
            whole_number(schema, keyword, None)

    return check
