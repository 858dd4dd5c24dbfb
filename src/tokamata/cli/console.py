"""What the commands share: two consoles, progress, errors, and how tokens are drawn."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Literal, TypeAlias

from rich.console import Console
from rich.panel import Panel
from rich.progress import Progress
from rich.style import Style
from rich.text import Text

from tokamata.cli.constraints import OptionError
from tokamata.display.progress import LATE_S, columns
from tokamata.display.texts import in_one_line, shown_text
from tokamata.errors import BudgetError, caret
from tokamata.integrations.models import Progress as Report
from tokamata.integrations.models import no_progress

__all__ = ["Bar", "Form", "Screen", "form_of"]

Form: TypeAlias = Literal["report", "summary", "json"]
"""How a command shows its result: all of it for people, in short for people, or for programs."""

# Neighbouring tokens differ in colour, and where there are no colours, in an underline.
_COLOURS = (Style(color="black", bgcolor="#a8d8ea"), Style(color="black", bgcolor="#ffd3b6"))
_UNDERLINES = (Style(), Style(underline=True))


def form_of(as_json: bool, summary: bool) -> Form:
    """The form that the options request.

    Raises:
        OptionError: they request both.
    """
    if as_json and summary:
        raise OptionError("--json has all that --summary has; give one of them")
    return "json" if as_json else "summary" if summary else "report"


class Screen:
    """Where the commands write.

    Attributes:
        out: the result.
        err: everything else, which ``quiet`` leaves out.
        errors: errors, which are always shown.
    """

    def __init__(self, quiet: bool = False) -> None:
        self.out = Console(highlight=False)
        self.err = Console(stderr=True, highlight=False, quiet=quiet)
        # The same console as long as it writes, since a bar makes room for its own console alone.
        self.errors = Console(stderr=True, highlight=False) if quiet else self.err

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

    def refused_style(self, index: int) -> Style:
        """Return the style of a token that the masks refuse."""
        return self.token_style(index) + Style(color="red", bold=True, strike=True)

    @contextmanager
    def progress(self) -> Iterator[Report]:
        """Show the current task, how long it has taken, and how much of it is done, if that is known."""
        if self.err.quiet or not self.err.is_terminal:
            yield no_progress if self.err.quiet else self._lines()
            return
        with Progress(*columns(), console=self.err, transient=True) as bars:
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
            room = max(8, self.errors.width - 10)
            message = message.replace(caret(pattern, position), caret(pattern, position, min(72, room)))
        if isinstance(error, BudgetError) and error.needed is not None:
            message += f"\nuse --max-new-tokens {error.needed} or more"
        title = Text(type(error).__name__)
        self.errors.print(Panel(Text(message), title=title, title_align="left", border_style="red"))

    def show_line(self, *parts: str | tuple[str, str], console: Console | None = None) -> None:
        """Write one line, which no width of a terminal breaks into two where programs read it.

        Args:
            parts: texts, or texts with their styles.
            console: where; ``err`` by default.
        """
        shown = [
            in_one_line(part) if isinstance(part, str) else (in_one_line(part[0]), part[1]) for part in parts
        ]
        (console or self.err).print(Text.assemble(*shown), soft_wrap=True)


class Bar:
    """A bar that appears after a second: of bytes where their number is known, else one without an end.

    Standard output is not redirected, since it may lead elsewhere.
    """

    def __init__(self, console: Console) -> None:
        self._bars = Progress(*columns(), console=console, transient=True, redirect_stdout=False)
        self._task = self._bars.add_task("starting", total=None)
        self._total = 0
        self._is_shown = False
        self._lock = threading.Lock()
        self._timer = threading.Timer(LATE_S, self._appear)
        self._timer.daemon = True
        self._is_drawn = console.is_terminal and not console.quiet

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
