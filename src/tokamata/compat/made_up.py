"""Which values of a repaired JSON text stand nowhere in the broken one.

Problem.  A repair writes what a text lacks: ``{"a": 1, "b":`` becomes ``{"a": 1, "b":0}``.  The 0 is no value
that anybody has written, and a library that has another convention for such values must find them.

Example.  Of ``{"a": 1, "b":0}``, the edits have written the last two bytes.  The value of ``b`` has no other
byte, so it is made up; its name is not.

How.  One pass over the repaired text (:mod:`.json_spans`).  Where a value ends, the next byte of its span
that was in the broken text is searched.  An edit that only adds (``:`` becomes ``:null``) makes up what it
adds; one that replaces (``'`` becomes ``"``) makes up nothing.  Of nested values that are made up, only the
outermost is reported.

Cost.  Linear in the text, since a search ends at the first byte that is kept, and a made-up value is read
once for each container around it that is made up too; and for each made-up value, the number of removals.

Not taken.  To compare the values before and after: there is no value before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tokamata.compat.json_spans import Open, Path, path_of, spans
from tokamata.repair.edits import Edit

__all__ = ["MadeUp", "made_up", "rewritten"]

_COMMA = re.compile(rb"\s*,")
_CONTENT = re.compile(rb"[0-9A-Za-z\x80-\xff]+")
_VALUE = re.compile(rb'\w|".*"|\[.*\]|\{.*\}', re.DOTALL)


class MadeUp(NamedTuple):
    """A value that was made up.

    Attributes:
        path: where it is.
        has_name: whether it is that of a member whose name, at least in part, was in the broken text.
        is_last: whether nothing of the broken text follows it.
        lost: the letters and digits that the broken text had in its place.
        member: its bytes in the repaired text, from its name on, or of an element.
        begin: where the value itself begins; it ends with the member.
        comma: the position of the comma before the member; -1: there is none.
    """

    path: Path
    has_name: bool
    is_last: bool
    lost: bytes
    member: tuple[int, int]
    begin: int
    comma: int


def made_up(text: bytes, edits: Sequence[Edit]) -> list[MadeUp]:
    """The values of a repaired text that were made up, in the order of the text.

    Args:
        text: the repaired text, which is JSON.
        edits: those that have led to it.
    """
    if not _may_be_value(edits):
        return []
    kept, removals = _kept(len(text), edits)
    found: list[MadeUp] = []
    for begin, end, containers in spans(text):
        if kept.find(1, begin, end) < 0:
            while found and found[-1].begin >= begin:  # inside this one
                found.pop()
            found.append(_made_up_one(text, begin, end, containers, kept, removals))
    return found


def _made_up_one(
    text: bytes,
    begin: int,
    end: int,
    containers: Sequence[Open],
    kept: bytearray,
    removals: list[tuple[int, bytes]],
) -> MadeUp:
    around = containers[-1] if containers else None
    name = around.name if around is not None else None
    return MadeUp(
        path_of(text, containers),
        name is not None and kept.find(1, *name) >= 0,
        kept.find(1, end) < 0,
        b"".join(removed for position, removed in removals if begin <= position <= end),
        (begin if name is None else name[0], end),
        begin,
        -1 if around is None else around.comma,
    )


def rewritten(text: bytes, values: Sequence[tuple[MadeUp, bytes | None]]) -> bytes:
    """The text with other values in place of some that were made up; ``None``: without the member.

    Of a member that is dropped, one of the commas beside it goes too.  From the end on, so that a member
    knows which of those after it are dropped.
    """
    cuts: list[tuple[int, int, bytes]] = []  # the last first
    for one, value in reversed(values):
        begin, end = one.member
        if value is not None:
            cuts.append((one.begin, end, value))
            continue
        if one.comma >= 0:
            begin = one.comma
        else:
            following = _COMMA.match(text, end)
            while following and cuts and cuts[-1][0] == following.end() - 1:  # that member is dropped
                end = cuts.pop()[1]
                following = _COMMA.match(text, end)
            end = following.end() if following else end
        cuts.append((begin, end, b""))
    pieces, position = [], 0
    for begin, end, value in reversed(cuts):
        pieces += [text[position:begin], value]
        position = end
    return b"".join([*pieces, text[position:]])


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
