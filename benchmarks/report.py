"""Tables: made once, shown by rich where it is installed, as plain text where not, or as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from timing import Summary


@dataclass
class Table:
    """A table with a title, rows that may be parted by lines, and notes below.

    Attributes:
        title: what the figures are, with their unit.
        columns: their heads; all but the first ``left`` are set to the right.
        rows: cells; ``None`` is a line between groups.
        notes: what a reader has to know.
        left: how many columns hold words.
    """

    title: str
    columns: Sequence[str]
    rows: list[Sequence[str] | None] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    left: int = 2

    def groups(self, groups: Iterable[Sequence[Sequence[str]]]) -> Table:
        """Adds groups of rows, parted by lines."""
        for group in groups:
            if self.rows and group:
                self.rows.append(None)
            self.rows += group
        return self


def us(value: float | None) -> str:
    """Microseconds, to three digits or so."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def median(summary: Summary | None) -> str:
    """The median alone."""
    return us(None if summary is None else summary.median_us)


def cells(summary: Summary | None) -> list[str]:
    """Median, p90, p99, largest, and how many."""
    if summary is None:
        return ["–"] * 4 + ["0"]
    figures = (summary.median_us, summary.p90_us, summary.p99_us, summary.largest_us)
    return [*map(us, figures), f"{summary.runs:,}"]


STATISTICS = ("median", "p90", "p99", "largest", "samples")


def ratio(ours: Summary | None, theirs: Summary | None) -> str:
    """How many times as long as tokamata a peer takes, by the medians."""
    if ours is None or theirs is None or not ours.median_us:
        return "–"
    value = theirs.median_us / ours.median_us
    return f"{value:,.0f}×" if value >= 10 else f"{value:.2f}×"


def markdown(tables: Sequence[Table], facts: dict[str, str]) -> str:
    """Everything, to be quoted."""
    parts = ["\n".join(f"- {key}: {value}" for key, value in facts.items())]
    for table in tables:
        marks = ["---" if i < table.left else "---:" for i in range(len(table.columns))]
        lines = [table.columns, marks, *(row for row in table.rows if row is not None)]
        body = "\n".join(
            "| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines
        )
        notes = "\n".join(f"- {note}" for note in table.notes)
        parts.append(f"### {table.title}\n\n{body}" + (f"\n\n{notes}" if notes else ""))
    return "\n\n".join(parts) + "\n"


def show(tables: Sequence[Table], facts: dict[str, str]) -> None:
    """Everything, to the terminal."""
    try:
        from rich.console import Console
    except ImportError:
        _show_plain(tables, facts)
        return
    from rich import box
    from rich.markup import escape
    from rich.table import Table as RichTable

    console = Console()
    if not console.is_terminal:
        console = Console(width=150)
    for key, value in facts.items():
        console.print(f"[dim]{escape(key)}:[/] {escape(value)}", highlight=False)
    for table in tables:
        drawn = RichTable(title=table.title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
        for i, column in enumerate(table.columns):
            drawn.add_column(escape(column), justify="left" if i < table.left else "right")
        for row in table.rows:
            if row is None:
                drawn.add_section()
            else:
                drawn.add_row(*(escape(cell) for cell in row), style=_style(row))
        console.print(drawn)
        for note in table.notes:
            console.print(f"  {escape(note)}", style="dim", highlight=False)


def _style(row: Sequence[str]) -> str:
    if row[-1] in ("MISSED", "met"):
        return "red" if row[-1] == "MISSED" else "green"
    return "bold" if "tokamata" in row else ""


def _show_plain(tables: Sequence[Table], facts: dict[str, str]) -> None:
    for key, value in facts.items():
        print(f"{key}: {value}")
    for table in tables:
        lines = [table.columns, *(row for row in table.rows if row is not None)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(table.columns))]
        rule = "  ".join("-" * width for width in widths)
        print(f"\n{table.title}\n{rule}")
        for line in (table.columns, None, *table.rows):
            print(rule if line is None else _plain_line(line, widths, table.left))
        for note in table.notes:
            print(f"  {note}")


def _plain_line(line: Sequence[str], widths: list[int], left: int) -> str:
    padded = [
        cell.ljust(width) if i < left else cell.rjust(width)
        for i, (cell, width) in enumerate(zip(line, widths, strict=True))
    ]
    return "  ".join(padded).rstrip()
