"""The table that front ends write and the engine reads: nodes that denote sets of JSON values.

Problem: JSON Schema in five drafts, and what else describes JSON, say the same things in many ways.  They
meet in few kinds of nodes, each a set of values.  A front end makes them by the members of a table; every
member gives the number of the node that it made.

Example: ``{"type": "string", "maxLength": 3}`` becomes ``types(STRING)`` (node 0), ``string_length(0, 3)``
(node 1) and ``all_of([0, 1])`` (node 2).

Nodes that are about one type hold of every value of the others: ``string_length(0, 3)`` holds of ``12345``.
The order in which operands are given is the order in which an object's keys are written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import tokamata._core as _core

__all__ = [
    "ALL_TYPES",
    "ARRAY",
    "FALSE",
    "NULL",
    "NUMBER",
    "OBJECT",
    "STRING",
    "TRUE",
    "RecordingTable",
    "Table",
]

NULL = _core.JsonType.NULL.value
FALSE = _core.JsonType.FALSE.value
TRUE = _core.JsonType.TRUE.value
NUMBER = _core.JsonType.NUMBER.value
STRING = _core.JsonType.STRING.value
ARRAY = _core.JsonType.ARRAY.value
OBJECT = _core.JsonType.OBJECT.value
ALL_TYPES = NULL | FALSE | TRUE | NUMBER | STRING | ARRAY | OBJECT


class Table(Protocol):
    """What makes nodes; every member but ``define`` gives the number of one."""

    def any_value(self) -> int:
        """Every value."""

    def no_value(self) -> int:
        """No value."""

    def all_of(self, nodes: list[int], /) -> int:
        """The values that are in all of the nodes."""

    def any_of(self, nodes: list[int], /) -> int:
        """The values that are in at least one of the nodes."""

    def one_of(self, nodes: list[int], /) -> int:
        """The values that are in exactly one of the nodes."""

    def negate(self, node: int, /) -> int:
        """The values that are not in the node."""

    def types(self, mask: int, /) -> int:
        """The values of these types, a sum of ``NULL``, ``FALSE``, ``TRUE``, …"""

    def integral(self) -> int:
        """Numbers that are integers."""

    def number_range(
        self,
        minimum: str | None,
        exclusive_minimum: str | None,
        maximum: str | None,
        exclusive_maximum: str | None,
        multiple_of: str | None,
        /,
    ) -> int:
        """Numbers within bounds, which are exact decimals, and multiples of ``multiple_of``."""

    def string(self, language: _core.Expression, /) -> int:
        """Strings whose value is a text of the language."""

    def string_length(self, minimum: int, maximum: int | None, /) -> int:
        """Strings of so many code points."""

    def items(self, prefix: list[int], rest: int, /) -> int:
        """Arrays whose element ``i`` is in ``prefix[i]``, and whose further ones are in ``rest``."""

    def array_length(self, minimum: int, maximum: int | None, /) -> int:
        """Arrays of so many elements."""

    def contains(self, node: int, minimum: int, maximum: int | None, /) -> int:
        """Arrays with so many elements that are in the node."""

    def unique(self) -> int:
        """Arrays no two elements of which are equal."""

    def property(self, name: str, node: int, /) -> int:
        """Objects without the key, or whose value for it is in the node."""

    def matching(self, language: _core.Expression, node: int, /) -> int:
        """Objects in which every key of the language has a value in the node."""

    def others(self, names: list[str], languages: list[_core.Expression], node: int, /) -> int:
        """Objects whose value of every key that is not named, and in no language, is in the node."""

    def has(self, name: str, /) -> int:
        """Objects with the key."""

    def property_count(self, minimum: int, maximum: int | None, /) -> int:
        """Objects with so many keys."""

    def constant(self, value: Any, /) -> int:
        """The value alone."""

    def constants(self, values: list[Any], /) -> int:
        """These values alone."""

    def reserve(self) -> int:
        """A node that is defined later."""

    def define(self, number: int, node: int, /) -> None:
        """Makes a reserved node equal to another."""


class RecordingTable:
    """A table that records its calls, for tests and for whoever wants to see what a schema becomes.

    Attributes:
        nodes: each node, as the name of the member that made it and what that was given; a reserved one is
            ``("defined", node)`` once it is defined.
    """

    def __init__(self) -> None:
        self.nodes: list[tuple[Any, ...]] = []

    def _add(self, *node: Any) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def any_value(self) -> int:
        """As in :class:`Table`, and so are all others."""
        return self._add("any_value")

    def no_value(self) -> int:
        """See :class:`Table`."""
        return self._add("no_value")

    def all_of(self, nodes: Sequence[int], /) -> int:
        """See :class:`Table`."""
        return self._add("all_of", tuple(nodes))

    def any_of(self, nodes: Sequence[int], /) -> int:
        """See :class:`Table`."""
        return self._add("any_of", tuple(nodes))

    def one_of(self, nodes: Sequence[int], /) -> int:
        """See :class:`Table`."""
        return self._add("one_of", tuple(nodes))

    def negate(self, node: int, /) -> int:
        """See :class:`Table`."""
        return self._add("negate", node)

    def types(self, mask: int, /) -> int:
        """See :class:`Table`."""
        return self._add("types", mask)

    def integral(self) -> int:
        """See :class:`Table`."""
        return self._add("integral")

    def number_range(
        self,
        minimum: str | None,
        exclusive_minimum: str | None,
        maximum: str | None,
        exclusive_maximum: str | None,
        multiple_of: str | None,
        /,
    ) -> int:
        """See :class:`Table`."""
        return self._add("number_range", minimum, exclusive_minimum, maximum, exclusive_maximum, multiple_of)

    def string(self, language: _core.Expression, /) -> int:
        """See :class:`Table`."""
        return self._add("string", language)

    def string_length(self, minimum: int, maximum: int | None, /) -> int:
        """See :class:`Table`."""
        return self._add("string_length", minimum, maximum)

    def items(self, prefix: Sequence[int], rest: int, /) -> int:
        """See :class:`Table`."""
        return self._add("items", tuple(prefix), rest)

    def array_length(self, minimum: int, maximum: int | None, /) -> int:
        """See :class:`Table`."""
        return self._add("array_length", minimum, maximum)

    def contains(self, node: int, minimum: int, maximum: int | None, /) -> int:
        """See :class:`Table`."""
        return self._add("contains", node, minimum, maximum)

    def unique(self) -> int:
        """See :class:`Table`."""
        return self._add("unique")

    def property(self, name: str, node: int, /) -> int:
        """See :class:`Table`."""
        return self._add("property", name, node)

    def matching(self, language: _core.Expression, node: int, /) -> int:
        """See :class:`Table`."""
        return self._add("matching", language, node)

    def others(self, names: Sequence[str], languages: Sequence[_core.Expression], node: int, /) -> int:
        """See :class:`Table`."""
        return self._add("others", tuple(names), tuple(languages), node)

    def has(self, name: str, /) -> int:
        """See :class:`Table`."""
        return self._add("has", name)

    def property_count(self, minimum: int, maximum: int | None, /) -> int:
        """See :class:`Table`."""
        return self._add("property_count", minimum, maximum)

    def constant(self, value: Any, /) -> int:
        """See :class:`Table`."""
        return self._add("constant", value)

    def constants(self, values: Sequence[Any], /) -> int:
        """See :class:`Table`."""
        return self._add("constants", tuple(values))

    def reserve(self) -> int:
        """See :class:`Table`."""
        return self._add("reserved")

    def define(self, number: int, node: int, /) -> None:
        """See :class:`Table`."""
        assert self.nodes[number] == ("reserved",)
        self.nodes[number] = ("defined", node)
