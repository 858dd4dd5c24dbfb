"""Which values of a repaired JSON text stand nowhere in the broken one.

Problem.  A repair writes what a text lacks: ``{"a": 1, "b":`` becomes ``{"a": 1, "b":0}``.  The 0 is no value
that anybody has written, and a library that has another convention for such values must find them.

Example.  Of ``{"a": 1, "b":0}``, the edits have written the last two bytes.  The value of ``b`` has no other
byte, so it is made up; its name is not.

How.  One pass over the lexemes of the repaired text keeps the containers that are open.  Where a value ends,
the next byte of its span that was in the broken text is searched.  An edit that only adds (``:`` becomes
``:null``) makes up what it adds; one that replaces (``'`` becomes ``"``) makes up nothing.  Of nested values
that are made up, only the outermost is reported.

Cost.  Linear in the text, since a search ends at the first byte that is kept, and a made-up value is read
once for each container around it that is made up too; and for each made-up value, the number of removals.

Not taken.  To compare the values before and after: there is no value before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tokamata.repair.results import Edit

__all__ = ["MadeUp", "Path", "made_up", "shown_path"]

Path = tuple[str | int, ...]
"""Names and indices that lead to a value from the root."""

_CONTENT = re.compile(rb"[0-9A-Za-z\x80-\xff]+")
_VALUE = re.compile(rb'\w|".*"|\[.*\]|\{.*\}', re.DOTALL)
_LEXEME = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)


class MadeUp(NamedTuple):
    """A value that was made up.

    Attributes:
        path: where it is.
        has_name: whether it is that of a member whose name, at least in part, was in the broken text.
        is_last: whether nothing of the broken text follows it.
        lost: the letters and digits that the broken text had in its place.
    """

    path: Path
    has_name: bool
    is_last: bool
    lost: bytes


class _Open:
    """A container that is not closed yet: where it begins, and what is read of its current member."""

    __slots__ = ("begin", "is_object", "key", "name")

    def __init__(self, begin: int, is_object: bool) -> None:
        self.begin = begin
        self.is_object = is_object
        self.key = 0  # of an element
        self.name: tuple[int, int] | None = None  # of a member


def made_up(text: bytes, edits: Sequence[Edit]) -> list[MadeUp]:
    """The values of a repaired text that were made up, in the order of the text.

    Args:
        text: the repaired text, which is JSON.
        edits: those that have led to it.
    """
    if not _may_be_value(edits):
        return []
    kept, removals = _kept(len(text), edits)
    found: list[tuple[int, MadeUp]] = []
    containers: list[_Open] = []
    for lexeme in _LEXEME.finditer(text):
        begin, end = lexeme.span()
        first = text[begin : begin + 1]
        around = containers[-1] if containers else None
        if first in (b"{", b"["):
            containers.append(_Open(begin, first == b"{"))
            continue
        if first == b":":
            continue
        if first == b",":
            assert around is not None
            around.key, around.name = around.key + 1, None
            continue
        if first in (b"}", b"]"):
            begin = containers.pop().begin
        elif around is not None and around.is_object and around.name is None:
            around.name = begin, end
            continue
        if kept.find(1, begin, end) < 0:
            while found and found[-1][0] >= begin:  # inside this one
                found.pop()
            around = containers[-1] if containers else None
            name = around.name if around is not None else None
            has_name = name is not None and kept.find(1, *name) >= 0
            lost = b"".join(removed for position, removed in removals if begin <= position <= end)
            found.append((begin, MadeUp(_path(text, containers), has_name, kept.find(1, end) < 0, lost)))
    return [one for _, one in found]


def shown_path(path: Path) -> str:
    """A path as messages show it: ``$.items[0].name``."""
    return "$" + "".join(f".{one}" if isinstance(one, str) else f"[{one}]" for one in path)


def _may_be_value(edits: Iterable[Edit]) -> bool:
    """Whether what was added has the bytes of any value: most repairs add marks of structure alone."""
    added = b"".join([edit.written.replace(edit.removed, b"", 1) for edit in edits])
    return _VALUE.search(added) is not None


def _kept(size: int, edits: Iterable[Edit]) -> tuple[bytearray, list[tuple[int, bytes]]]:
    """1 for each byte of the repaired text that was in the broken one, or stands for something that was.

    And what was removed without a replacement, by its position in the repaired text.
    """
    kept = bytearray(b"\x01") * size
    removals: list[tuple[int, bytes]] = []
    shift = 0
    for edit in edits:
        removed, written = edit.removed, edit.written
        begin = edit.begin + shift
        added = len(written) - len(removed)
        shift += added
        if written.startswith(removed):
            kept[begin + len(removed) : begin + len(written)] = bytes(added)
        elif written.endswith(removed):
            kept[begin : begin + added] = bytes(added)
        elif not written:
            removals.append((begin, b"".join(_CONTENT.findall(removed))))
    return kept, [one for one in removals if one[1]]


def _path(text: bytes, containers: list[_Open]) -> Path:
    return tuple(one.key if one.name is None else json.loads(text[slice(*one.name)]) for one in containers)
