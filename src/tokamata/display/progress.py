"""A bar for work that takes more than a second, on a terminal or in a notebook.

    with late_bar("generating", len(rows), lambda: sum(row.is_done for row in rows)):
        ...

A thread of the bar's own waits for a second, and then asks again and again how much is done, so the work
itself pays nothing.  The bar is written to standard error and taken away at the end.

There is none where standard error is a file or a pipe, where rich is not installed, while another bar is
shown, and where the environment variable ``TQDM_DISABLE`` is set, as for the bars of tqdm.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

__all__ = ["LATE_S", "columns", "late_bar"]

LATE_S = 1.0  # work that takes less shows no bar
_REFRESH_S = 0.1
_OFF = "TQDM_DISABLE"
_shown = threading.Lock()  # held by the one bar that is shown


@contextmanager
def late_bar(what: str, total: int | None = None, done: Callable[[], int] = lambda: 0) -> Iterator[None]:
    """Show a bar once the work in the block has taken a second.

    Args:
        what: what is done, such as ``"generating"``.
        total: how much there is to do; ``None`` shows a bar without an end.
        done: how much of it is done, called on another thread.
    """
    if not _can_show():
        yield
        return
    is_over = threading.Event()
    given = (what, total, done, is_over)
    thread = threading.Thread(target=_show, args=given, name="tokamata bar", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def columns() -> tuple[ProgressColumn, ...]:
    """The columns of all bars: what is done, how much of it, and for how long."""
    from rich.progress import BarColumn, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

    return (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TaskProgressColumn(),
        TimeElapsedColumn(),
    )


def _can_show() -> bool:
    """Whether there is a place for a bar, and rich to draw it; asked before anything is imported."""
    if os.environ.get(_OFF) or sys.stderr is None:
        return False
    # rich draws in notebooks with ipywidgets.
    is_notebook = "ipykernel" in sys.modules and find_spec("ipywidgets") is not None
    return (is_notebook or sys.stderr.isatty()) and find_spec("rich") is not None


def _show(what: str, total: int | None, done: Callable[[], int], is_over: threading.Event) -> None:
    if is_over.wait(LATE_S) or not _shown.acquire(blocking=False):
        return
    try:
        from rich.console import Console
        from rich.progress import Progress

        console = Console(file=sys.stderr)
        with Progress(*columns(), console=console, transient=True, redirect_stdout=False) as bars:
            task = bars.add_task(what, total=total)
            while not is_over.wait(_REFRESH_S):
                bars.update(task, completed=done())
    finally:
        _shown.release()
