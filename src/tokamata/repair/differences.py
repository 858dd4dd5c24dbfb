"""The difference that a repair makes, in pieces: what is kept, removed, written, and what was in doubt.

    [1, 2      kept "[1, 2", written "]"

Far from any edit, kept text is left out.  The command line and notebooks draw the pieces in colours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from tokamata.display.texts import clipped_middle, decoded, in_one_line, shown_text
from tokamata.repair.edits import Edit

__all__ = ["LONGEST", "Piece", "grouped", "pieces_of", "proof_in_words"]

LONGEST = 60  # characters of an edit that are shown
_AROUND = 40  # characters of the text that are shown before and after an edit
_SINGLE = ("insert", "remove", "replace")  # the names of edits of one byte


class Piece(NamedTuple):
    """A piece of the difference.

    Attributes:
        kind: what became of it; ``"doubted"``: it was kept, at a price.
        text: for people: control characters are pictures.
    """

    kind: Literal["kept", "removed", "written", "doubted"]
    text: str


def grouped(edits: Sequence[Edit]) -> list[Edit]:
    """The edits, those of single bytes joined where they have one name and touch; their costs are added."""
    found: list[Edit] = []
    for edit in edits:
        last = found[-1] if found else None
        if last is not None and edit.name == last.name in _SINGLE and edit.begin == last.end:
            removed, written = last.removed + edit.removed, last.written + edit.written
            found[-1] = Edit(last.name, last.begin, edit.end, removed, written, last.cost + edit.cost)
        else:
            found.append(edit)
    return found


def pieces_of(broken: bytes, edits: Sequence[Edit]) -> Iterator[Piece]:
    """The text around each edit, with what was removed and what was written instead.

    Args:
        broken: the text before.
        edits: the edits, in their order.
    """
    position = 0
    for edit in edits:
        yield Piece("kept", _kept(broken[position : edit.begin], position > 0, True))
        if edit.removed == edit.written:
            yield Piece("doubted", _changed(edit.written))
        else:
            if edit.removed:
                yield Piece("removed", _changed(edit.removed))
            if edit.written:
                yield Piece("written", _changed(edit.written))
        position = edit.end
    yield Piece("kept", _kept(broken[position:].removesuffix(b"\n"), True, False))


def proof_in_words(cost: int, lower_bound: int) -> str:
    """How near a repair is to the optimum."""
    if cost == lower_bound:
        return "proven optimal"
    if lower_bound == 0:
        return "no lower bound is proven"
    excess = (cost - lower_bound) / lower_bound
    shown = f"{excess:.2%}" if excess < 0.1 else f"{excess:.0%}"
    return f"at most {shown} above the optimum"


def _kept(data: bytes, is_after: bool, is_before: bool) -> str:
    """Text that was kept, without what is far from any edit.

    Args:
        data: the bytes between two edits, or at an end of the text.
        is_after: there is an edit before it.
        is_before: there is an edit after it.
    """
    text = decoded(data)
    head, tail = _AROUND * is_after, _AROUND * is_before
    if len(text) > head + tail + 1:
        text = text[:head] + "…" + text[len(text) - tail :]
    return shown_text(text)


def _changed(data: bytes) -> str:
    """The bytes of an edit in one line; line ends are pictures, since they may be what has changed."""
    return in_one_line(clipped_middle(decoded(data), LONGEST))
