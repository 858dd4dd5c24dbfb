"""JSON in the ways in which people and programs write it, for the examples of a prompt.

``json.dumps`` cannot write ``12.50``: it has floats, and no blanks within braces.  Here numbers with a
fraction or an exponent are :class:`Number`, which keeps its spelling, and a :class:`Style` decides the rest::

    >>> write({"price": Number("12.50"), "of": "Zoë"}, Style("braces", True, ("of", "price")))
    '{ "of": "Zo\\u00eb", "price": 12.50 }'
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple

__all__ = ["LAYOUTS", "Number", "Style", "write"]


class Number(Decimal):
    """A number and its spelling: equal to numbers of the same value, written as it was given."""

    spelling: str

    def __new__(cls, spelling: str) -> Number:
        """A number as it is written, such as ``12.50`` or ``1e-5``."""
        made = super().__new__(cls, spelling)
        made.spelling = spelling
        return made


class _Layout(NamedTuple):
    """What stands within brackets, after a comma, after a colon; and an indent, if lines break."""

    inside: str
    comma: str
    colon: str
    indent: str


LAYOUTS = {
    "spaced": _Layout("", ", ", ": ", ""),  # json.dumps, Python
    "compact": _Layout("", ",", ":", ""),  # JSON.stringify
    "braces": _Layout(" ", ", ", ": ", ""),  # people, and formatters of JavaScript
    "indented": _Layout("", ",", ": ", "  "),
    "tabs": _Layout("", ",", ": ", "\t"),
}
"""By name."""


class Style(NamedTuple):
    """How the examples of one prompt are written.

    Attributes:
        layout: a name in :data:`LAYOUTS`.
        ascii_only: whether characters beyond ASCII are escaped, as ``json.dumps`` does.
        order: the names of members that come first, in this order; all others follow as they are.
    """

    layout: str = "spaced"
    ascii_only: bool = False
    order: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """For tables."""
        return ", ".join(
            [self.layout, *(["escapes"] if self.ascii_only else []), *(["other order"] if self.order else [])]
        )


def write(value: Any, style: Style) -> str:
    """A value as JSON."""
    return "".join(_pieces(value, style, LAYOUTS[style.layout], "\n"))


def _pieces(value: Any, style: Style, layout: _Layout, line: str) -> Iterator[str]:
    """The text of a value; ``line`` begins a line at its depth."""
    if isinstance(value, Number):
        yield value.spelling
        return
    if not value or not isinstance(value, (dict, list)):
        yield json.dumps(value, ensure_ascii=style.ascii_only)
        return
    deeper = line + layout.indent
    is_object = isinstance(value, dict)
    members = _ordered(value, style.order) if isinstance(value, dict) else [("", one) for one in value]
    yield "{" if is_object else "["
    for i, (name, inner) in enumerate(members):
        if i:
            yield layout.comma
        yield deeper if layout.indent else "" if i else layout.inside
        if is_object:
            yield json.dumps(name, ensure_ascii=style.ascii_only) + layout.colon
        yield from _pieces(inner, style, layout, deeper)
    yield line if layout.indent else layout.inside
    yield "}" if is_object else "]"


def _ordered(members: dict[str, Any], order: tuple[str, ...]) -> list[tuple[str, Any]]:
    first = [name for name in order if name in members]
    return [(name, members[name]) for name in dict.fromkeys([*first, *members])]
