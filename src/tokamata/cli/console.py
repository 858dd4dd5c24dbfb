"""What the commands share: two consoles, progress, errors, and how tokens are drawn."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from rich.console import Console
from rich.panel import Panel
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.style import Style
from rich.text import Text

from tokamata.display.texts import shown_text
from tokamata.errors import BudgetError, caret
from tokamata.integrations.models import Progress as Report

__all__ = ["Bar", "Screen"]

# Neighbouring tokens differ in colour, and where there are no colours, in an underline.
_COLOURS = (Style(color="black", bgcolor="#a8d8ea"), Style(color="black", bgcolor="#ffd3b6"))
_UNDERLINES = (Style(), Style(underline=True))

_LATE_S = 1.0  # work that takes less shows no bar


class Screen:
    """Where the commands write: ``out`` for the result, ``err`` for everything else."""

    def __init__(self) -> None:
        self.out = Console(highlight=False)
        self.err = Console(stderr=True, highlight=False)

    def mark(self, good: bool) -> Text:
        """Return a green ✓ or a red ✗, or words where the terminal cannot show them."""
        plain = not (self.out.encoding or "").lower().startswith("utf")
        if good:
            return Text("yes" if plain else "✓", style="bold green")
        return Text("no" if plain else "✗", style="bold red")

    def token_style(self, index: int) -> Style:
        """Return the style of the token at ``index`` of a text."""
        plain = self.out.no_color or self.out.color_system in (None, "standard", "windows")
        return (_UNDERLINES if plain else _COLOURS)[index % 2]

    def foreign_style(self, index: int) -> Style:
        """Return the style of a token that the tokenizer would not have written there."""
        return self.token_style(index) + Style(color="red", bold=True, strike=True)

    @contextmanager
    def progress(self) -> Iterator[Report]:
        """Show the current task, how long it has taken, and how much of it is done, if that is known."""
        if not self.err.is_terminal:
            yield self._lines()
            return
        with Progress(*_columns(), console=self.err, transient=True) as bars:
            task = bars.add_task("starting", total=None)

            def report(what: str, share: float) -> None:
                # A share of 0 is shown as a bar that moves without end.
                if share == 0:
                    bars.reset(task, total=None, description=what)
                else:
                    bars.update(task, total=1.0, completed=share, description=what)

            yield report

    @contextmanager
    def late_bar(self) -> Iterator[Bar]:
        """Show a bar once the work has taken a second; none in a file or a pipe."""
        bar = Bar(self.err)
        with bar:
            yield bar

    def _lines(self) -> Report:
        """Report into a file or a pipe: a line for each task that begins."""
        last = ""
        start = time.monotonic()

        def report(what: str, share: float) -> None:
            nonlocal last
            if what != last:
                last = what
                self.err.print(f"[{time.monotonic() - start:5.1f} s] {what}", markup=False)

        return report

    def show_error(self, error: Exception) -> None:
        """Draw a red panel; carets stay under their characters in narrow windows too."""
        message = str(error)
        pattern, position = getattr(error, "pattern", None), getattr(error, "position", None)
        if pattern is not None and position is not None:
            # The panel takes 4 columns, the caret's indent 4, and an ellipsis at either end 2.
            room = max(8, self.err.width - 10)
            message = message.replace(caret(pattern, position), caret(pattern, position, min(72, room)))
        if isinstance(error, BudgetError) and error.needed is not None:
            message += f"\nuse --max-new-tokens {error.needed} or more"
        title = Text(type(error).__name__)
        self.err.print(Panel(Text(message), title=title, title_align="left", border_style="red"))


class Bar:
    """A bar that appears after a second: of bytes where their number is known, else one without an end.

    Standard output is not redirected, since it may lead elsewhere.
    """

    def __init__(self, console: Console) -> None:
        self._bars = Progress(*_columns(), console=console, transient=True, redirect_stdout=False)
        self._task = self._bars.add_task("starting", total=None)
        self._total = 0
        self._is_shown = False
        self._lock = threading.Lock()
        self._timer = threading.Timer(_LATE_S, self._appear)
        self._timer.daemon = True
        self._is_drawn = console.is_terminal

    def __enter__(self) -> Bar:
        if self._is_drawn:
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_drawn:
            self._timer.cancel()
            self._timer.join()
            self._bars.stop()

    def _appear(self) -> None:
        with self._lock:
            self._bars.start()
            self._is_shown = True

    def describe(self, what: str) -> None:
        """Say what is done now."""
        self._bars.update(self._task, description=shown_text(what))

    def grow(self, size_bytes: int) -> None:
        """More is to be done."""
        self._total += size_bytes
        self._bars.update(self._task, total=self._total)

    def advance(self, size_bytes: int) -> None:
        """So much is done."""
        self._bars.advance(self._task, size_bytes)

    def paused(self, is_paused: bool) -> AbstractContextManager[None]:
        """Take the bar away while something else writes to the terminal."""
        return self._away() if is_paused else nullcontext()

    @contextmanager
    def _away(self) -> Iterator[None]:
        with self._lock:
            if self._is_shown:
                self._bars.stop()
            try:
                yield
            finally:
                if self._is_shown:
                    self._bars.start()


def _columns() -> tuple[ProgressColumn, ...]:
    return (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TaskProgressColumn(),
        TimeElapsedColumn(),
    )
