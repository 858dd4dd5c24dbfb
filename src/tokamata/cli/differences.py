"""What a repair has changed, drawn for people: the text around its edits, a table of them, and the proof."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.style import Style
from rich.table import Table
from rich.text import Text

from tokamata.cli.console import shown_bytes, shown_text
from tokamata.repair.losses import ContentChange
from tokamata.repair.results import Edit, Margin, Repair

__all__ = [
    "content_table",
    "difference",
    "edit_table",
    "grouped",
    "margin_of",
    "proof_of",
    "show_content",
    "show_edits",
    "shown_path",
    "verdict_of",
]

# Backgrounds show blanks too; terminals of eight colours have these three.
_REMOVED = Style(color="white", bgcolor="red", strike=True)
_WRITTEN = Style(color="black", bgcolor="green")
_DOUBTED = Style(color="black", bgcolor="yellow")

_AROUND = 40  # bytes of the text that are shown before and after an edit
_LONGEST = 60  # bytes of an edit that are shown
_SINGLE = ("insert", "remove", "replace")  # the names of edits of one byte


def verdict_of(repair: Repair[object]) -> str:
    """How many edits there are, what they cost, and how near they are to the optimum."""
    count = len(grouped(repair.edits))
    return f"{count} edit{'s' * (count != 1)}, cost {repair.cost:,}, {proof_of(repair)}"


def show_edits(console: Console, repair: Repair[object], first_line: int = 1) -> None:
    """Show the text around the edits of a repair, and a table of them.

    Args:
        console: where to write.
        repair: the repair.
        first_line: the number of the first line of the text in its file.
    """
    broken, edits = repair.certificate.broken, grouped(repair.edits)
    console.print(difference(console, broken, edits))
    console.print(edit_table(broken, edits, first_line))


def show_content(console: Console, repair: Repair[object], first_line: int = 1) -> None:
    """Show what a repair has lost, invented and changed, or that it has done none of these.

    Args:
        console: where to write.
        repair: the repair.
        first_line: the number of the first line of the text in its file.
    """
    if repair.lost or repair.invented or repair.changed:
        console.print(content_table(repair, first_line))
    else:
        console.print(Text("no content was lost, invented or changed", style="green"))


def content_table(repair: Repair[object], first_line: int) -> Table:
    """Each piece of content that was lost, invented or changed, with its places in text and value."""
    changes = [
        *(("lost", "red", one) for one in repair.lost),
        *(("invented", "green", one) for one in repair.invented),
        *(("changed", "yellow", one) for one in repair.changed),
    ]
    changes.sort(key=lambda row: row[2].begin)
    table = Table(header_style="bold", expand=False)
    table.add_column("at", justify="right", style="dim")
    table.add_column("content")
    table.add_column("kind")
    table.add_column("in the value", overflow="fold")
    table.add_column("before", overflow="fold")
    table.add_column("now", overflow="fold")
    places = _places(repair.certificate.broken, [one for _, _, one in changes], first_line)
    for (what, style, one), place in zip(changes, places, strict=True):
        cells = (Text(what, style=f"bold {style}"), Text(one.kind), Text(shown_path(one.path)))
        before, now = (Text(_clipped(_changed(data)), style=style) for data in (one.removed, one.written))
        table.add_row(place, *cells, before, now)
    return table


def shown_path(path: tuple[str | int, ...] | None) -> str:
    """A path into a value, as JSONPath writes it; nothing outside of a value."""
    if path is None:
        return ""
    steps = (f".{step}" if isinstance(step, str) and step.isidentifier() else f"[{step!r}]" for step in path)
    return shown_text("$" + "".join(steps))


def margin_of(margin: Margin) -> str:
    """How much dearer the next value is, in words."""
    if margin.cost is None:
        return "no other value is accepted"
    return f"the next value costs {'' if margin.is_exact else 'at least '}{margin.cost:,} more"


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


def difference(console: Console, broken: bytes, edits: Sequence[Edit]) -> Text:
    """The text around each edit, with what was removed and what was written instead.

    Colours tell them apart; where the console has none, ``[-removed-]`` and ``{+written+}``.
    """
    has_colours = not (console.no_color or console.color_system is None)
    shown, position = Text(overflow="fold"), 0
    for edit in edits:
        shown.append(_kept(broken[position : edit.begin], position > 0, True))
        if edit.removed == edit.written:
            shown.append(_changed(edit.written), style=_DOUBTED if has_colours else "")
        else:
            for data, style, marks in ((edit.removed, _REMOVED, "[--]"), (edit.written, _WRITTEN, "{++}")):
                if data and has_colours:
                    shown.append(_changed(data), style=style)
                elif data:
                    shown.append(marks[:2] + _changed(data) + marks[2:])
        position = edit.end
    shown.append(_kept(broken[position:].removesuffix(b"\n"), True, False))
    return shown


def _kept(data: bytes, is_after: bool, is_before: bool) -> str:
    """Text that was kept, without what is far from any edit.

    Args:
        data: the bytes between two edits, or at an end of the text.
        is_after: there is an edit before it.
        is_before: there is an edit after it.
    """
    text = _decoded(data)
    head, tail = _AROUND * is_after, _AROUND * is_before
    if len(text) > head + tail + 1:
        text = text[:head] + "…" + text[len(text) - tail :]
    return shown_text(text)


def _changed(data: bytes) -> str:
    """The bytes of an edit in one line; line ends are pictures, since they may be what has changed."""
    text = _clipped(_decoded(data))
    return shown_text(text).replace("\n", "␊").replace("\t", "␉")


def _decoded(data: bytes) -> str:
    """Bytes as text, those that are no UTF-8 as ``<F0>``."""
    return "".join(
        f"<{ord(c) - 0xDC00:02X}>" if 0xDC80 <= ord(c) <= 0xDCFF else c
        for c in data.decode("utf-8", "surrogateescape")
    )


def _clipped(text: str) -> str:
    """Without the middle, if it is long."""
    half = _LONGEST // 2
    return text if len(text) <= _LONGEST else text[:half] + "…" + text[-half:]


def edit_table(broken: bytes, edits: Sequence[Edit], first_line: int) -> Table:
    """Each edit with its place, its reason and its cost.

    Args:
        broken: the text before.
        edits: the edits, in their order.
        first_line: the number of the first line of the text in its file.
    """
    table = Table(header_style="bold", expand=False)
    table.add_column("at", justify="right", style="dim")
    table.add_column("edit", overflow="fold")
    table.add_column("removed", overflow="fold")
    table.add_column("written", overflow="fold")
    table.add_column("cost", justify="right")
    for edit, place in zip(edits, _places(broken, edits, first_line), strict=True):
        is_kept = edit.removed == edit.written
        name = f"{edit.name}, kept" if is_kept else edit.name
        removed, written = ("" if is_kept else _clipped(shown_bytes(edit.removed)), edit.written)
        cells = (name, removed, _clipped(shown_bytes(written)), f"{edit.cost:,}")
        table.add_row(place, *(Text(cell) for cell in cells))
    return table


def _places(broken: bytes, edits: Sequence[Edit | ContentChange], first_line: int) -> Iterator[str]:
    """Line and column of each edit, both counted from 1, the column in code points."""
    line, begin, position = first_line, 0, 0
    for edit in edits:
        passed = broken[position : edit.begin]
        if newline := passed.rfind(b"\n") + 1:
            line, begin = line + passed.count(b"\n"), position + newline
        position = edit.begin
        yield f"{line}:{len(_decoded(broken[begin:position])) + 1}"


def proof_of(repair: Repair[object]) -> str:
    """How near the repair is to the optimum, in words."""
    if repair.optimal:
        return "proven optimal"
    if repair.lower_bound == 0:
        return "no lower bound is proven"
    excess = (repair.cost - repair.lower_bound) / repair.lower_bound
    shown = f"{excess:.2%}" if excess < 0.1 else f"{excess:.0%}"
    return f"at most {shown} above the optimum"
