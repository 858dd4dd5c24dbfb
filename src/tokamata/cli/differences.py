"""What a repair has changed, drawn for people: the text around its edits, a table of them, and the proof."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.style import Style
from rich.table import Table
from rich.text import Text

from tokamata.display.texts import clipped_middle, decoded, in_one_line, shown_bytes, shown_text
from tokamata.repair.differences import LONGEST, grouped, pieces_of, proof_in_words
from tokamata.repair.edits import Edit
from tokamata.repair.losses import ContentChange
from tokamata.repair.results import Margin, Repair

__all__ = [
    "content_table",
    "difference",
    "edit_table",
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
_LOOKS = {  # by kind of a piece: its colours, and without colours what stands around it
    "kept": (Style(), "", ""),
    "removed": (_REMOVED, "[-", "-]"),
    "written": (_WRITTEN, "{+", "+}"),
    "doubted": (_DOUBTED, "", ""),
}


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
        before, now = (
            Text(in_one_line(clipped_middle(decoded(data), LONGEST)), style=style)
            for data in (one.removed, one.written)
        )
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


def difference(console: Console, broken: bytes, edits: Sequence[Edit]) -> Text:
    """The text around each edit, with what was removed and what was written instead.

    Colours tell them apart; where the console has none, ``[-removed-]`` and ``{+written+}``.
    """
    has_colours = not (console.no_color or console.color_system is None)
    shown = Text(overflow="fold")
    for kind, text in pieces_of(broken, edits):
        style, before, after = _LOOKS[kind]
        if has_colours:
            shown.append(text, style=style)
        else:
            shown.append(before + text + after)
    return shown


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
        removed, written = (
            "" if is_kept else clipped_middle(shown_bytes(edit.removed), LONGEST),
            edit.written,
        )
        cells = (name, removed, clipped_middle(shown_bytes(written), LONGEST), f"{edit.cost:,}")
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
        yield f"{line}:{len(decoded(broken[begin:position])) + 1}"


def proof_of(repair: Repair[object]) -> str:
    """How near the repair is to the optimum, in words."""
    return proof_in_words(repair.cost, repair.lower_bound)
