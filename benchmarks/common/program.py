"""What all programs do alike: their options, threads, progress, and where results go."""

from __future__ import annotations

import os
import sys
import tempfile
from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from benchmarks.common.child import ChildError
from benchmarks.common.report import Report
from benchmarks.common.tokenizers import KNOWN, SHARED, NoTokenizerError

SCHEMAS = SHARED.parent / "maskbench-dev.jsonl.xz"


def parser_for(description: str) -> ArgumentParser:
    """A parser with the options that every program has.

    ``--quick``: few of everything, to see that it works.  ``--markdown``, ``--json`` and ``--plot`` store
    the tables, all figures, and a picture.  ``--tokenizers`` and ``--schemas`` say where the data are.
    """
    parser = ArgumentParser(description=description, formatter_class=RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--quick", action="store_true", help="few of everything, to see that it works")
    add("--seed", type=int, default=0, metavar="N", help="of everything that is drawn")
    add("--count", type=int, metavar="N", help="how many cases")
    names = ", ".join(KNOWN)
    add("--tokenizers", type=Path, default=SHARED, metavar="FOLDER", help=f"with NAME.json(.gz): {names}")
    add("--schemas", type=Path, default=SCHEMAS, metavar="FILE", help="MaskBench's, .jsonl.xz")
    add("--markdown", type=Path, metavar="FILE", help="store the tables")
    add("--json", type=Path, metavar="FILE", help="store all figures")
    add("--plot", type=Path, metavar="FILE", help="draw the main figures (.svg, .png)")
    return parser


def add_engines(parser: ArgumentParser, known: Collection[str], default: str) -> None:
    """Adds ``--engines``: names with semicolons, of which the options get a list.

    Args:
        parser: of the program.
        known: the names of all engines.
        default: those that are taken, as on the command line.
    """

    def names(text: str) -> list[str]:
        found = [name.strip() for name in text.split(";")]
        if unknown := set(found) - set(known):
            raise ArgumentTypeError(f"no engine is called {min(unknown)!r}; known are {'; '.join(known)}")
        return found

    shown = f"with semicolons (default {default})"
    parser.add_argument("--engines", type=names, default=default, metavar="NAMES", help=shown)


def run(measure: Callable[[Namespace, Path], Report], options: Namespace) -> int:
    """Measures and publishes; returns the exit status.

    0: all is right; 1: an answer of ours was wrong; 2: something that is needed is not on this machine.

    Args:
        measure: gets the options, and a folder for temporary files.
        options: from :func:`parser_for`.
    """
    use_one_thread()
    try:
        with tempfile.TemporaryDirectory(prefix="tokamata-benchmark-") as work:
            report = measure(options, Path(work))
    except (NoTokenizerError, ChildError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    report.publish(options)
    return int(report.is_wrong)


def use_one_thread() -> None:
    """Peers start their threads when they are imported, so this comes first."""
    for name in ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    os.environ["TOKENIZERS_PARALLELISM"] = "false"


def say(line: str) -> None:
    """A line about progress, to standard error."""
    print(line, file=sys.stderr)


def is_installed(engine: str, package: str) -> bool:
    """Whether a package is installed; says so if it is not."""
    if find_spec(package.replace("-", "_")) is None:
        say(f"{engine}: left out, {package} is not installed; pip install -r benchmarks/requirements.txt")
        return False
    return True


@contextmanager
def progress(title: str, total: int) -> Iterator[Callable[[str], None]]:
    """A bar with the time left; the function that it gives is called after each of ``total`` steps.

    The bar is redrawn in these calls alone: a thread that draws would take time from measurements.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), auto_refresh=False) as bar:
        task = bar.add_task(title, total=total)
        every = max(1, total // 50)
        done = 0

        def step(what: str) -> None:
            nonlocal done
            done += 1
            bar.update(task, advance=1, description=f"{title}: {what}")
            if done % every == 0 and bar.console.is_terminal:
                bar.refresh()

        yield step
