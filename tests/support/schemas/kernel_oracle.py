"""What the nodes of a table mean, by the definition: the slowest interpreter that is obviously right.

The schema is read once more, with naive_core.py in place of the engine, so that patterns and names are judged
by their definition too.  Formats alone are the engine's languages, over the bare text of a string; their own
tests hold those against other judges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from typing import Any
from unittest.mock import patch

from tests.support.patterns import naive_core
from tests.support.patterns.engine import Engine
from tokamata.patterns.json_schema import RecordingTable, key_languages, read_schema
from tokamata.patterns.json_schema.formats import FORMATS, format_language
from tokamata.patterns.json_schema.keywords import strings
from tokamata.patterns.json_schema.table import (
    ARRAY,
    FALSE,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    TRUE,
)

_MOST_EXPONENT = 5000  # fractions of numbers beyond would be too large to compute with


def oracle_of(schema: Any, **options: Any) -> Callable[[Any], bool]:
    """Whether a value is in a schema; ``options`` are those of ``read_schema``."""
    table = RecordingTable()
    with in_place_of_the_engine():
        root = read_schema(schema, table=table, **options).root
    return partial(Oracle(table).holds, root)


@contextmanager
def in_place_of_the_engine() -> Iterator[None]:
    """Inside, schemas are read into tables that :class:`Oracle` understands."""
    with ExitStack() as stack:
        stack.enter_context(naive_core.in_place_of_the_engine())
        for module in (strings, key_languages):
            stack.enter_context(patch.object(module, "_core", naive_core))
        for kept in ("_patterns", "_formats"):
            stack.enter_context(patch.object(strings, kept, {}))
        stack.enter_context(patch.object(strings, "_any_string", []))
        stack.enter_context(patch.object(strings, "_format_language", [_format]))
        yield


def _format(name: str) -> naive_core.Expression | None:
    return naive_core.judged(partial(_is_of_format, name)) if name in FORMATS else None


def _is_of_format(name: str, text: str) -> bool:
    return _engine_of_format(name).accepts(text)


@cache
def _engine_of_format(name: str) -> Engine:
    language = format_language(name)
    assert language is not None
    return Engine(language)


class Oracle:
    """Answers for the nodes of one table, which was read in place of the engine."""

    def __init__(self, table: RecordingTable) -> None:
        self._nodes = table.nodes
        self._texts: dict[tuple[int, str], bool] = {}

    def holds(self, node: int, value: Any) -> bool:
        """Whether the value is in the node."""
        return self._holds(node, value, {})

    def is_text_of(self, language: naive_core.Expression, text: str) -> bool:
        """Whether the language has the text."""
        key = (id(language), text)
        if key not in self._texts:
            self._texts[key] = naive_core.accepts(language, text)
        return self._texts[key]

    def _holds(self, node: int, value: Any, known: dict[tuple[int, int], bool]) -> bool:
        key = (node, id(value))
        if key not in known:
            known[key] = self._answer(self._nodes[node], value, known)
        return known[key]

    def _answer(self, node: tuple[Any, ...], value: Any, known: dict[tuple[int, int], bool]) -> bool:
        kind, *parts = node
        if kind in _ABOUT:
            return _type_of(value) != _ABOUT[kind] or self._of_type(kind, parts, value, known)
        if kind == "any_value":
            return True
        if kind == "no_value":
            return False
        if kind == "all_of":
            return all(self._holds(one, value, known) for one in parts[0])
        if kind == "any_of":
            return any(self._holds(one, value, known) for one in parts[0])
        if kind == "one_of":
            return sum(self._holds(one, value, known) for one in parts[0]) == 1
        if kind == "negate":
            return not self._holds(parts[0], value, known)
        if kind == "types":
            return bool(_type_of(value) & parts[0])
        if kind == "defined":
            return self._holds(parts[0], value, known)
        if kind == "constant":
            return equal(value, parts[0])
        assert kind == "constants", kind
        return any(equal(value, one) for one in parts[0])

    def _of_type(self, kind: str, parts: list[Any], value: Any, known: dict[tuple[int, int], bool]) -> bool:
        if kind == "integral":
            return number(value).denominator == 1
        if kind == "number_range":
            return _in_range(
                number(value), *[None if part is None else number(Decimal(part)) for part in parts]
            )
        if kind == "string":
            return self.is_text_of(parts[0], value)
        if kind in ("string_length", "array_length", "property_count"):
            return bool(parts[0] <= len(value) and (parts[1] is None or len(value) <= parts[1]))
        if kind == "items":
            prefix, rest = parts
            return all(
                self._holds(prefix[index] if index < len(prefix) else rest, one, known)
                for index, one in enumerate(value)
            )
        if kind == "contains":
            count = sum(self._holds(parts[0], one, known) for one in value)
            return bool(parts[1] <= count and (parts[2] is None or count <= parts[2]))
        if kind == "unique":
            return not any(equal(value[i], value[j]) for i in range(len(value)) for j in range(i))
        if kind == "property":
            return parts[0] not in value or self._holds(parts[1], value[parts[0]], known)
        if kind == "matching":
            return all(
                self._holds(parts[1], value[key], known) for key in value if self.is_text_of(parts[0], key)
            )
        if kind == "others":
            names, languages, node = parts
            return all(
                self._holds(node, value[key], known)
                for key in value
                if key not in names and not any(self.is_text_of(language, key) for language in languages)
            )
        assert kind == "has", kind
        return parts[0] in value


_ABOUT = {
    "integral": NUMBER,
    "number_range": NUMBER,
    "string": STRING,
    "string_length": STRING,
    "items": ARRAY,
    "array_length": ARRAY,
    "contains": ARRAY,
    "unique": ARRAY,
    "property": OBJECT,
    "matching": OBJECT,
    "others": OBJECT,
    "has": OBJECT,
    "property_count": OBJECT,
}


def number(value: int | float | Decimal) -> Fraction:
    """Exactly; a float is what Python writes for it."""
    if isinstance(value, float):
        value = Decimal(repr(value))
    if isinstance(value, Decimal):
        assert abs(value.adjusted()) < _MOST_EXPONENT
    return Fraction(value)


def equal(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal: 1 is 1.0, true is not 1, objects have no order."""
    if _type_of(one) != _type_of(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if _type_of(one) == NUMBER:
        return number(one) == number(other)
    return bool(one == other)


def _type_of(value: Any) -> int:
    if value is None:
        return NULL
    if isinstance(value, bool):
        return TRUE if value else FALSE
    for python_type, mask in ((str, STRING), (list, ARRAY), (dict, OBJECT), ((int, float, Decimal), NUMBER)):
        if isinstance(value, python_type):  # type: ignore[arg-type]
            return mask
    raise AssertionError(f"no JSON value: {value!r}")


def _in_range(
    value: Fraction,
    minimum: Fraction | None,
    exclusive_minimum: Fraction | None,
    maximum: Fraction | None,
    exclusive_maximum: Fraction | None,
    multiple_of: Fraction | None,
) -> bool:
    return (
        (minimum is None or value >= minimum)
        and (exclusive_minimum is None or value > exclusive_minimum)
        and (maximum is None or value <= maximum)
        and (exclusive_maximum is None or value < exclusive_maximum)
        and (multiple_of is None or (value / multiple_of).denominator == 1)
    )
