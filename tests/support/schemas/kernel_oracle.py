"""What the nodes of a table mean, by the definition: the slowest interpreter that is obviously right."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

from tests.support.patterns.engine import Engine
from tokamata import _core
from tokamata.patterns.json_schema.table import (
    ARRAY,
    FALSE,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    TRUE,
    RecordingTable,
)

__all__ = ["Oracle", "equal"]

_MOST_EXPONENT = 5000  # fractions of numbers beyond would be too large to compute with


class Oracle:
    """Answers for the nodes of one table."""

    def __init__(self, table: RecordingTable) -> None:
        self._nodes = table.nodes
        self._texts: dict[tuple[int, str], bool] = {}
        self._engines: dict[int, Engine] = {}

    def holds(self, node: int, value: Any) -> bool:
        """Whether the value is in the node."""
        return self._holds(node, value, {})

    def is_text_of(self, language: _core.Expression, text: str) -> bool:
        """Whether the language has the text: compiled over single bytes, and walked."""
        key = (id(language), text)
        if key not in self._texts:
            if id(language) not in self._engines:
                self._engines[id(language)] = Engine(language)
            self._texts[key] = self._engines[id(language)].accepts(text)
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
