"""The time that reading a grammar takes, beside lark: real grammars, and terminals that are alike.

python -m benchmarks.grammars.reading [--files FILE:START …]

The grammars are those of lark's package and of tests/data/grammars, and any other Lark files.  Each is read
under each lexer: by lark, which makes its parser; by tokamata with an empty cache folder; and again with what
that has kept.  Times are of the processor, so others on the machine matter little.
"""

from __future__ import annotations

import itertools
import math
import os
import sys
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lark
from lark.indenter import PythonIndenter

import tokamata as tk
from benchmarks.common import environment
from benchmarks.common.program import parser_for, run, say
from benchmarks.common.report import Report, Target
from benchmarks.grammars.__main__ import GRAMMARS

LEXERS = ("dynamic", "basic", "contextual", "longest")
_LARKS = Path(lark.__file__).parent / "grammars"
_REAL = [
    (_LARKS / "python.lark", "file_input"),
    (_LARKS / "lark.lark", "start"),
    *((GRAMMARS / f"{name}.lark", "start") for name in ("json", "c", "java")),
]
_COUNTS = (10, 20, 40, 80, 160, 320)
_SECONDS = 120.0
_TIMES, _MORE_S = 3.0, 0.5  # the most that reading may take: times of lark, and seconds besides


def main() -> int:
    """The program."""
    parser = parser_for(__doc__ or "")
    parser.add_argument("--files", nargs="*", default=[], metavar="FILE:START", help="more Lark files")
    return run(measure, parser.parse_args())


def measure(options: Namespace, work: Path) -> Report:
    """Both tables."""
    os.environ["TOKAMATA_CACHE"] = str(work / "cache")
    report = Report(environment.describe())
    files = [(Path(name), start) for name, _, start in (one.rpartition(":") for one in options.files)]
    rows = []
    for path, start in [*_REAL, *files][: 2 if options.quick else None]:
        for lexer in LEXERS:
            say(f"{path.name}, {lexer}")
            rows.append(_row(path, start, lexer, report))
    notes = (
        "lark: lark.Lark(…), with its own parser for the lexer; longest is no lexer of lark's, and stands "
        "beside its basic one.",
        "kept: the same again, with the file that the first reading has kept; what takes less than 0.2 s is "
        "not kept.",
    )
    report.add("Reading real grammars, seconds", rows, notes)
    counts = _COUNTS[: 3 if options.quick else None]
    report.add(
        "Terminals that are alike, seconds",
        [_growth(lexer, counts) for lexer in ("characters", *LEXERS)],
        ("start: (T0|T1|…)+ with T7: /x7[a-z]*y/; exponent: of their number, from the first to the last",),
    )
    return report


def _row(path: Path, start: str, lexer: str, report: Report) -> dict[str, Any]:
    larks = _seconds(lambda: _by_lark(path, start, lexer))
    first = _seconds(lambda: _by_tokamata(path, start, lexer))
    kept = _seconds(lambda: _by_tokamata(path, start, lexer))
    if not math.isnan(first) and not math.isnan(larks):
        what = f"{path.name}, {lexer}: {_TIMES:g} times lark's time and {_MORE_S} s"
        report.targets.append(Target(what, first, _TIMES * larks + _MORE_S, "s"))
    return {"grammar": path.name, "lexer": lexer, "lark": larks, "first": first, "kept": kept}


def _by_lark(path: Path, start: str, lexer: str) -> object:
    text = path.read_text(encoding="utf-8")
    return lark.Lark(
        text,
        parser="lalr" if lexer == "contextual" else "earley",
        lexer="basic" if lexer == "longest" else lexer,  # type: ignore[arg-type]
        start=start,
        source_path=str(path),
        propagate_positions=True,
        postlex=PythonIndenter() if "_INDENT" in text and lexer != "dynamic" else None,
    )


def _by_tokamata(path: Path, start: str, lexer: str) -> object:
    return tk.grammar(path, start=start, lexer=lexer, limits=tk.Limits(seconds=_SECONDS))  # type: ignore[arg-type]


def _growth(lexer: str, counts: tuple[int, ...]) -> dict[str, Any]:
    os.environ["TOKAMATA_CACHE"] = "off"
    tk.grammar(_alike(2), lexer=lexer)  # type: ignore[arg-type]  # what is imported once
    times = [
        _seconds(lambda count=count: tk.grammar(_alike(count), lexer=lexer))  # type: ignore[misc]
        for count in counts
    ]
    exponents = [
        math.log(after / before) / math.log(many / few)
        for (few, before), (many, after) in itertools.pairwise(zip(counts, times, strict=True))
    ]
    columns = {f"{count}": seconds for count, seconds in zip(counts, times, strict=True)}
    mean = math.log(times[-1] / times[0]) / math.log(counts[-1] / counts[0])
    return {"lexer": lexer, **columns, "exponent": mean, "of the last step": exponents[-1]}


def _alike(count: int) -> str:
    names = "|".join(f"T{number}" for number in range(count))
    return f"start: ({names})+\n" + "".join(f"T{number}: /x{number}[a-z]*y/\n" for number in range(count))


def _seconds(work: Callable[[], object]) -> float:
    """Of the processor; NaN if a grammar is refused or not read in time."""
    begin = time.process_time()
    try:
        work()
    except (tk.TokamataError, lark.exceptions.LarkError) as error:
        say(f"  {str(error).splitlines()[0]}")
        return math.nan
    return time.process_time() - begin


if __name__ == "__main__":
    sys.exit(main())
