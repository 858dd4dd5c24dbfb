"""Where the values of a JSON text stand: their bytes, and the path that leads to them.

One pass over the lexemes keeps the containers that are open; it has no recursion, since texts nest deep.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

__all__ = ["Open", "Path", "path_at", "path_of", "shown_path", "spans"]

Path = tuple[str | int, ...]
"""Names and indices that lead to a value from the root."""

_LEXEME = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)


class Open:
    """A container that is not closed yet.

    Attributes:
        begin: where it begins.
        is_object: whether it is an object.
        key: how many members are before the current one.
        comma: the position of the comma before that; -1: there is none.
        name: where the name of that is, if it is read.
    """

    __slots__ = ("begin", "comma", "is_object", "key", "name")

    def __init__(self, begin: int, is_object: bool) -> None:
        self.begin = begin
        self.is_object = is_object
        self.key = 0
        self.comma = -1
        self.name: tuple[int, int] | None = None


def spans(text: bytes) -> Iterator[tuple[int, int, Sequence[Open]]]:
    """Each value where it ends: its bytes, and the containers around it, which change afterwards.

    Args:
        text: a JSON text.
    """
    containers: list[Open] = []
    for lexeme in _LEXEME.finditer(text):
        begin, end = lexeme.span()
        first = text[begin : begin + 1]
        around = containers[-1] if containers else None
        if first in (b"{", b"["):
            containers.append(Open(begin, first == b"{"))
        elif first in (b"}", b"]"):
            yield containers.pop().begin, end, containers
        elif first == b",":
            assert around is not None
            around.key, around.name, around.comma = around.key + 1, None, begin
        elif around is not None and around.is_object and around.name is None:
            around.name = begin, end
        elif first != b":":
            yield begin, end, containers


def path_of(text: bytes, containers: Sequence[Open]) -> Path:
    """The path of the current member of the innermost container."""
    return tuple(one.key if one.name is None else json.loads(text[slice(*one.name)]) for one in containers)


def path_at(text: bytes, position: int) -> Path:
    """The path of the innermost value around a byte; that of the root if there is none."""
    for begin, end, containers in spans(text):
        if begin <= position < end:
            return path_of(text, containers)
    return ()


def shown_path(path: Path) -> str:
    """A path as messages show it: ``$.items[0].name``."""
    return "$" + "".join(f".{one}" if isinstance(one, str) else f"[{one}]" for one in path)
