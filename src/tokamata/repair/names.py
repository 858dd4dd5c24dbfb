"""Names that a repair writes alike: where they stand in the broken text, and what became of each.

Problem.  A name that is misspelled wherever it stands is one mistake and not many, but the cheapest repair
corrects each occurrence by itself.  ``alike`` couples the occurrences: what it matches is a name, and all
occurrences of a name that are spelled alike in the broken text must be spelled alike in the repaired one.
Example.  ``in cuont; out cuont``, where ``count`` or ``mount`` comes after ``in``, and ``mount`` or ``font``
after ``out``.  The cheapest repair of each occurrence by itself is ``count`` and ``font``; written alike it
is ``mount`` twice.

What is the spelling of an occurrence ``broken[begin:end]``?  What the edits have written in its place:
1. of its own bytes, those that were kept, and what edits of them or between them have written;
2. the word bytes (ASCII letters and digits, ``_``, and all bytes of other characters) that are inserted
   right before it or right after it.  A comma that is inserted there is no part of a name, a letter is.
   Where one name follows another without a byte between them, such letters belong to the first.
3. A rewrite that reads further than the occurrence, such as one of a whole string with its quotes, counts if
   it writes again what surrounds the name.  Otherwise it gives the occurrence up.
An occurrence that is given up, or of which nothing is left, has no spelling and need not agree with the
others.  No letters may be joined to a name: where bytes beside it are removed, none are inserted on their
other side, up to the next name.  Otherwise ``in cuont`` could become ``in count`` with ``co`` written before
the blank, which is removed, and the spelling would be ``unt``.

Cost.  In proportion to the edits and the occurrences.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tokamata.errors import ArgumentError, shown_argument
from tokamata.repair.bounded_patterns import BoundedPatterns
from tokamata.repair.edits import Edit

__all__ = [
    "WORD_BYTES",
    "Name",
    "Occurrence",
    "Sides",
    "checked_alike",
    "different_names",
    "middle_of",
    "names_of",
    "respelled",
]

WORD_BYTES = frozenset(b"0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") | frozenset(
    range(0x80, 0x100)
)
_NO_WORD = re.compile(rb"[^0-9A-Za-z_\x80-\xff]")


class Occurrence(NamedTuple):
    """Where a name stands: ``broken[begin:end]``; ``follows``: another name ends where it begins."""

    begin: int
    end: int
    follows: bool


class Name(NamedTuple):
    """A name that stands in a broken text more than once: how it is spelled there, and where it stands."""

    broken: bytes
    occurrences: tuple[Occurrence, ...]


class Sides(NamedTuple):
    """Where names begin and end, in a text."""

    begins: frozenset[int]
    both: list[int]

    @staticmethod
    def of(names: Sequence[Name]) -> Sides:
        """The sides of all occurrences."""
        places = [one for name in names for one in name.occurrences]
        begins = frozenset(one.begin for one in places)
        return Sides(begins, sorted(begins.union(one.end for one in places)))

    def stand_within(self, first: int, last: int) -> bool:
        """Whether a name begins or ends at one of some positions, the last one among them."""
        at = bisect_left(self.both, first)
        return at < len(self.both) and self.both[at] <= last


def checked_alike(alike: object) -> bytes | None:
    """The argument ``alike``, or an :class:`.ArgumentError`."""
    if alike is None:
        return None
    expected = "a pattern of bytes for re, such as rb'[a-z_]+'"
    if not isinstance(alike, bytes):
        raise ArgumentError("alike", shown_argument(alike), expected)
    try:
        re.compile(alike)
    except re.error as error:
        raise ArgumentError("alike", shown_argument(alike), f"{expected}: {error}") from None
    return alike


def names_of(alike: bytes, broken: bytes, bounds: BoundedPatterns) -> list[Name]:
    """The names that stand in a text more than once, in the order of their first occurrences.

    Raises:
        LimitExceeded, Cancelled: the search was stopped.
    """
    found: dict[bytes, list[Occurrence]] = {}
    last = -1
    for match in bounds.matches(alike, broken):
        begin, end = match.span()
        if begin < end:
            found.setdefault(match[0], []).append(Occurrence(begin, end, begin == last))
            last = end
    return [Name(name, tuple(where)) for name, where in found.items() if len(where) > 1]


def different_names(names: Sequence[Name], broken: bytes, edits: Sequence[Edit]) -> set[int]:
    """The numbers of the names that some edits do not write alike."""
    begins, sides = [edit.begin for edit in edits], Sides.of(names)
    different: set[int] = set()
    for number, name in enumerate(names):
        spellings = {_spelling(one, broken, edits, begins, sides) for one in name.occurrences}
        if None in spellings or len(spellings - {b""}) > 1:
            different.add(number)
    return different


def respelled(broken: bytes, spellings: Mapping[Name, bytes]) -> bytes:
    """A text with other spellings of some names."""
    places = sorted((one, spelling) for name, spelling in spellings.items() for one in name.occurrences)
    text, position = bytearray(), 0
    for (begin, end, _), spelling in places:
        text += broken[position:begin] + spelling
        position = end
    return bytes(text + broken[position:])


def _spelling(
    one: Occurrence, broken: bytes, edits: Sequence[Edit], begins: list[int], sides: Sides
) -> bytes | None:
    """What an occurrence is after some edits; empty: it is gone; ``None``: letters are joined to it."""
    begin, end, follows = one
    first = bisect_left(begins, begin)
    head, inner, tail = b"", b"", b""
    position, is_joined = begin, False
    if first and edits[first - 1].end > begin:
        edit = edits[first - 1]
        middle = middle_of(one, broken, edit.begin, edit.end, edit.written)
        if middle is None:
            return b""
        inner, position = middle, edit.end
    elif not follows:
        is_joined = _joins_before(edits, first, begin, sides)
    last = first
    while last < len(edits):
        edit = edits[last]
        if edit.begin > end or (edit.begin == end and edit.end > end):
            break
        if edit.begin == edit.end == begin:
            head += edit.written
        elif edit.begin == edit.end == end:
            tail += edit.written
        else:
            written: bytes | None = edit.written
            if edit.end > end:
                written = middle_of(one, broken, edit.begin, edit.end, edit.written)
            if written is None:
                return b""
            inner += broken[position : edit.begin] + written
            position = edit.end
        last += 1
    inner += broken[position:end]
    is_joined &= _NO_WORD.search(head) is None
    after = _NO_WORD.search(tail)
    if position > end:
        tail = b""
    elif after is None and end not in sides.begins:
        is_joined |= _joins_after(edits, last, end, sides)
    head = b"" if follows else head[max((match.end() for match in _NO_WORD.finditer(head)), default=0) :]
    spelling = head + inner + (tail if after is None else tail[: after.start()])
    return None if is_joined and spelling else spelling


def _joins_before(edits: Sequence[Edit], first: int, position: int, sides: Sides) -> bool:
    """Whether letters are inserted before bytes that are removed right before a name."""
    while first:
        first -= 1
        edit = edits[first]
        if edit.end != position:
            return False
        if edit.begin == position:
            return edit.written[-1] in WORD_BYTES
        if edit.written or sides.stand_within(edit.begin, position - 1):
            return False
        position = edit.begin
    return False


def _joins_after(edits: Sequence[Edit], first: int, position: int, sides: Sides) -> bool:
    """Whether letters are inserted after bytes that are removed right after a name."""
    begin = position
    for number in range(first, len(edits)):
        edit = edits[number]
        if edit.begin != position:
            return False
        if edit.end == position:
            return position > begin and edit.written[0] in WORD_BYTES
        if edit.written or sides.stand_within(position + 1, edit.end):
            return False
        position = edit.end
    return False


def middle_of(one: Occurrence, broken: bytes, begin: int, end: int, written: bytes) -> bytes | None:
    """What an edit that reads past an occurrence makes of it; ``None``: it gives the occurrence up."""
    if begin > one.begin or end < one.end:
        return None
    before, after = broken[begin : one.begin], broken[one.end : end]
    is_kept = written.startswith(before) and written.endswith(after)
    if not is_kept or len(written) < len(before) + len(after):
        return None
    return written[len(before) : len(written) - len(after)]
