"""What all programs here do alike: threads, progress, and where results go."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, TypeVar

from report import Table, markdown, show


def use_one_thread() -> None:
    """Before any peer is imported, since they start their threads then."""
    for name in ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    os.environ["TOKENIZERS_PARALLELISM"] = "false"


def say(line: str) -> None:
    """Progress, on a line of its own that is written over where a person watches."""
    if sys.stderr.isatty():
        print(f"\r\x1b[2K{line}", end="", file=sys.stderr, flush=True)
    elif line and "round" not in line:
        print(line, file=sys.stderr)


class Progress:
    """A bar with the time left, by rich where a person watches and it is installed; else plain lines.

    Plain lines come at most every ``1 / _PLAIN_LINES`` of the way.
    """

    _PLAIN_LINES = 20
    _DRAWN_EVERY_S = 0.5

    def __init__(self, title: str, total: int) -> None:
        self._title, self._total, self._done, self._bar = title, total, 0, None
        self._drawn = 0.0
        if sys.stderr.isatty():
            self._bar = _rich_bar()

    def __enter__(self) -> Progress:
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task(self._title, total=self._total)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def step(self, what: str) -> None:
        """One more is done; ``what`` says which."""
        before, self._done = self._done, self._done + 1
        if self._bar is not None:
            self._bar.update(self._task, advance=1, description=f"{self._title}: {what}")
            if time.monotonic() - self._drawn > self._DRAWN_EVERY_S or self._done == self._total:
                self._drawn = time.monotonic()
                self._bar.refresh()
        elif before * self._PLAIN_LINES // self._total != self._done * self._PLAIN_LINES // self._total:
            print(f"{self._title}: {self._done:,} of {self._total:,}: {what}", file=sys.stderr)


def _rich_bar() -> Any:
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar
    except ImportError:
        return None
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    # It is drawn between measurements alone: a thread that draws would take time from them.
    return Bar(*columns, console=Console(stderr=True), auto_refresh=False)


def add_sample_options(parser: ArgumentParser, schemas: Path, count: str, seed: str) -> None:
    """Adds ``--schemas``, ``--count`` and ``--seed``, of which the texts say how many and of what.

    ``--count`` is ``None`` where it is not given.
    """
    parser.add_argument(
        "--schemas", type=Path, default=schemas, metavar="FILE", help=f".jsonl.xz (default: {schemas})"
    )
    parser.add_argument("--count", type=int, metavar="N", help=count)
    parser.add_argument("--seed", type=int, default=0, metavar="N", help=seed)


def is_installed(engine: str, package: str) -> bool:
    """Whether an engine is here; says so where it is not."""
    if importlib.util.find_spec(package) is None:
        say(f"{engine}: left out, {package} is not installed; pip install -r benchmarks/requirements.txt")
        return False
    return True


def add_output_options(parser: ArgumentParser) -> None:
    """Adds ``--json`` and ``--markdown``."""
    parser.add_argument("--json", type=Path, metavar="FILE", help="store all figures")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="store the tables")


def publish(
    tables: Sequence[Table], facts: dict[str, str], content: dict[str, object], options: Namespace
) -> None:
    """Shows the tables, and stores them and all figures where the options say."""
    show(tables, facts)
    for path in (options.json, options.markdown):
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
    if options.json:
        text = json.dumps(content, indent=1, ensure_ascii=False)
        options.json.write_text(text + "\n", encoding="utf-8")
    if options.markdown:
        options.markdown.write_text(markdown(tables, facts), encoding="utf-8")


def draw(module: str, function: str, figures: object, path: Path | None) -> None:
    """Draws a picture, if one is asked for; where what draws is not installed, says how to come by it.

    Args:
        module, function: what draws ``(figures, path)``; imported here, as it needs matplotlib.
        figures: what was measured.
        path: of the picture (.svg, .png); ``None`` where none is asked for.
    """
    if path is None:
        return
    try:
        draws = getattr(importlib.import_module(module), function)
    except ImportError as error:
        print(f"no picture: {error}; pip install -r benchmarks/requirements.txt", file=sys.stderr)
        return
    draws(figures, path)


class Figures(Protocol):
    """What a program measures, and shows as tables."""

    @property
    def facts(self) -> dict[str, str]:
        """What the figures hang on: the machine, versions, limits."""

    def tables(self) -> Sequence[Table]:
        """What is shown."""

    def as_json(self) -> dict[str, object]:
        """All that was measured."""


Measured = TypeVar("Measured", bound=Figures)


def measured(
    measure: Callable[[Namespace], Measured],
    options: Namespace,
    reasons: tuple[type[Exception], ...],
    picture: str = "",
) -> Measured | None:
    """Measures, and publishes; ``None`` where it cannot, for one of the reasons, which is told.

    Args:
        measure: gives figures.
        options: with those of :func:`add_output_options`, and ``plot`` where there is a picture.
        reasons: errors that say all there is to say.
        picture: the module whose ``draw`` makes one of the figures; none where it is empty.
    """
    use_one_thread()
    try:
        figures = measure(options)
    except reasons as error:
        print(error, file=sys.stderr)
        return None
    publish(figures.tables(), figures.facts, figures.as_json(), options)
    if picture:
        draw(picture, "draw", figures, options.plot)
    return figures
