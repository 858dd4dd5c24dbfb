"""What a repair has lost, invented and changed of the content of a text.

Problem.  Edits say which bytes were written.  Most of them are structure: a bracket, other quotes.  A reader
wants to know whether something was said that is now missing, or is said now and was not before.
Example.  Under a schema of an integer ``y`` and a required string ``s``, ``Sure: {y: 99.95, z: 1}`` may
become ``{"y": 99,"s":""}``.  Lost are the prose ``Sure`` and the member ``z: 1``; 99.95 was changed to 99;
the member ``"s":""`` was invented.  That ``y`` has quotes now is none of these.

How.  *Content* are the words, numbers and symbols of a text, as :mod:`.contents` defines them.  Everything
else is structure, and loses and invents nothing: quotes, brackets, commas, whitespace, fences, escapes, the
spelling of a number or of a dialect.

=======================  ======================  ==================================================
text                     value                   content
=======================  ======================  ==================================================
``{'a': 0x1F,}``         ``{"a": 31}``           all kept
``[1_000, True]``        ``[1000, true]``        all kept
``Sure: [1]``            ``[1]``                 ``Sure`` lost (prose)
``{"a": 1, "b": 2}``     ``{"a": 1}``            ``"b": 2`` lost (a member)
``{"a": 1``              ``{"a": 1, "b": 0}``    ``"b": 0`` invented (a member)
``{"a": 99.95}``         ``{"a": 100}``          ``99.95`` changed to ``100``
``["expresionism"]``     ``["expressionism"]``   changed
``["expr``               ``["expressionism"]``   ``essionism`` invented
``[7, 7]``               ``[7]``                 ``7`` lost: each occurrence counts for itself
``"say" 1``              ``"say 1"``             all kept: text within a longer one
=======================  ======================  ==================================================

What an edit is called says nothing here: changes are found in what it has removed and written.

Of other constraints than JSON every character is content: what edits remove is lost, what they write is
invented, and what they do both with is changed.

Cost.  Linear in both texts.
Not taken.  A table of the names of edits: rewrites of callers would be missing in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

__all__ = [
    "BareEdit",
    "ContentChange",
    "ContentChanges",
    "Kind",
    "Path",
    "Piece",
    "character_changes",
    "pieces_of",
]

Path = tuple[str | int, ...]
BareEdit = tuple[int, bytes, bytes]  # where it begins, what it has removed, what it has written
Kind = Literal["member", "name", "text", "number", "literal", "empty", "prose"]


class ContentChange(NamedTuple):
    """A piece of content that a repair has lost, invented or changed.

    Attributes:
        begin, end: where it stood, or where it is written: offsets into the broken text, in bytes.
        removed: the bytes that were there; none of what was invented.
        written: the bytes that are there now; none of what was lost.
        path: where it stands in the value, as names and indexes; of what was lost, the innermost object,
            array or string around it.  ``None``: outside of the value, or the constraint is not one of JSON.
            Of a path of more than 100 steps the last ones.
        kind: ``"member"`` (a name with its value), ``"name"``, ``"text"``, ``"number"``, ``"literal"``
            (``true``, ``false``, ``null``), ``"empty"`` (an empty string, array or object that was missing)
            or ``"prose"`` (text before or after the value).  Of what was changed, the kind that it has now;
            of other constraints than JSON, ``"text"``.
        size: how many words and numbers it has, now or before, whichever is more; of other constraints than
            JSON, characters.
    """

    begin: int
    end: int
    removed: bytes
    written: bytes
    path: Path | None
    kind: Kind
    size: int


class ContentChanges(NamedTuple):
    """What a repair has lost, invented and changed, each in the order of the text."""

    lost: tuple[ContentChange, ...]
    invented: tuple[ContentChange, ...]
    changed: tuple[ContentChange, ...]


class Piece(NamedTuple):
    """``broken[begin:end]`` became ``text[at:until]``."""

    begin: int
    end: int
    at: int
    until: int
    is_kept: bool


def pieces_of(length: int, edits: Iterable[BareEdit]) -> Iterator[Piece]:
    """All of both texts, in order; what an edit writes as it was is kept, and neighbours are joined."""
    last: Piece | None = None
    for piece in _single_pieces(length, edits):
        if last is None:
            last = piece
        elif last.is_kept == piece.is_kept and (
            piece.is_kept
            or (last.at == piece.until and last.end == piece.begin)
            or (last.begin == piece.end and last.until == piece.at)
        ):
            last = Piece(last.begin, piece.end, last.at, piece.until, last.is_kept)
        else:
            yield last
            last = piece
    if last is not None:
        yield last


def _single_pieces(length: int, edits: Iterable[BareEdit]) -> Iterator[Piece]:
    position = at = 0
    for begin, removed, written in edits:
        most = min(len(removed), len(written))
        same = next((i for i in range(most) if removed[i] != written[i]), most)
        most -= same
        tail = next((i for i in range(most) if removed[-1 - i] != written[-1 - i]), most)
        kept = begin + same - position
        if kept:
            yield Piece(position, position + kept, at, at + kept, True)
        position, at = position + kept, at + kept
        taken, made = len(removed) - same - tail, len(written) - same - tail
        if taken or made:
            yield Piece(position, position + taken, at, at + made, False)
        position, at = position + taken, at + made
    if position < length:
        yield Piece(position, length, at, at + length - position, True)


def character_changes(broken: bytes, text: bytes, pieces: Sequence[Piece]) -> ContentChanges:
    """The changes of a text of which each character is content."""
    found: tuple[list[ContentChange], ...] = ([], [], [])
    run: Piece | None = None
    for piece in [*pieces, Piece(len(broken), len(broken), len(text), len(text), True)]:
        if not piece.is_kept:
            run = piece if run is None else Piece(run.begin, piece.end, run.at, piece.until, False)
        elif run is not None:
            begin, end, at, until = _whole(broken, text, run)
            removed, written = broken[begin:end], text[at:until]
            size = max(len(one.decode("utf-8", "surrogateescape")) for one in (removed, written))
            which = 2 if removed and written else 0 if removed else 1
            found[which].append(ContentChange(begin, end, removed, written, None, "text", size))
            run = None
    return ContentChanges(*map(tuple, found))


def _whole(broken: bytes, text: bytes, run: Piece) -> tuple[int, int, int, int]:
    """The run with the whole of the characters that it begins and ends in."""
    begin, end, at, until, _ = run
    while (
        begin > 0
        and at > 0
        and broken[begin - 1] == text[at - 1] >= 0x80
        and _is_inside(broken, begin, text, at)
    ):
        begin, at = begin - 1, at - 1
    while end < len(broken) and until < len(text) and _is_inside(broken, end, text, until):
        end, until = end + 1, until + 1
    return begin, end, at, until


def _is_inside(broken: bytes, position: int, text: bytes, at: int) -> bool:
    """Whether a character of either text goes on here."""
    one, other = broken[position : position + 1], text[at : at + 1]
    return b"\x80" <= one < b"\xc0" or b"\x80" <= other < b"\xc0"
