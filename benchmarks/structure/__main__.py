"""The structure of the sources: lines, the largest classes, includes, files by folder; nothing is run.

python -m benchmarks.structure
python -m benchmarks.structure --before REVISION --format     # beside an earlier state

Lines are those of :mod:`benchmarks.structure.lines`, methods those of :mod:`benchmarks.structure.classes`.
``--format`` formats the C++ of both states before it is counted.  Then the two can be compared across the
commit that introduced the formatter.
"""

from __future__ import annotations

import re
import sys
from argparse import Namespace
from collections import Counter
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from benchmarks.common.program import parser_for, run
from benchmarks.common.report import Report, Target
from benchmarks.structure.classes import Class, classes
from benchmarks.structure.includes import reach
from benchmarks.structure.lines import KINDS, count
from benchmarks.structure.state import CPP, State, formatted, is_in, of_revision, of_working_tree

AREAS = {  # by name: the folders, and the suffixes of their files
    "core": (("core",), CPP),
    "src": (("src",), (".py",)),
    "stubs": (("src",), (".pyi",)),
    "tests, Python": (("tests",), (".py",)),
    "tests, C++": (("tests",), CPP),
    "benchmarks": (("benchmarks",), (".py",)),
    "fuzz, tools, examples": (("fuzz", "tools", "examples"), (*CPP, ".py")),
}
_HEADER = "expression/expression.hpp"
_PART = re.compile(rb"\bPart of (?:[A-Z]\w+|\w+\.[ch]pp)\b")
_MOST_CODE = {"core": 0.94, "src": 0.85}  # targets: shares of the state before
_MOST_METHODS = 40
_MOST_INCLUDING = 40


def main() -> int:
    """The program."""
    parser = parser_for(__doc__ or "")
    parser.add_argument("--before", metavar="REVISION", help="count an earlier state too")
    parser.add_argument("--format", action="store_true", help="format the C++ of each state first")
    return run(measure, parser.parse_args())


@dataclass(frozen=True)
class Structure:
    """What is counted of a state.

    Attributes:
        lines: by area and kind.
        files: how many each area has.
        folders: files and lines of code by folder.
        classes: all of them, those with the most methods first; of C++, and of Python.
        parts: files that say that they are a part of a class or of a file.
        reach: by header, how many .cpp files include it.
        sources: the number of .cpp files of the core.
    """

    lines: dict[str, Counter[str]]
    files: Counter[str]
    folders: dict[str, tuple[int, int]]
    classes: tuple[list[Class], list[Class]]
    parts: list[str]
    reach: Counter[str]
    sources: int


def measure(options: Namespace, work: Path) -> Report:
    """Both states."""
    after = of_working_tree()
    before = of_revision(options.before) if options.before else None
    if options.format:
        after, before = formatted(after), before and formatted(before)
    now = structure(after)
    then = structure(before) if before is not None else None
    report = Report(
        {
            "before": options.before or "not counted",
            "C++": "formatted before it was counted" if options.format else "as it is",
        }
    )
    _add_lines(report, now, then)
    for number, language in enumerate(("C++", "Python")):
        _add_classes(report, language, now, then, number, 10 if options.quick else options.count or 20)
    _add_includes(report, now, then)
    _add_folders(report, now, then)
    _add_targets(report, now, then)
    return report


def structure(state: State) -> Structure:
    """All that is counted of a state."""
    lines = {area: Counter[str]() for area in AREAS}
    files: Counter[str] = Counter()
    folders: dict[str, tuple[int, int]] = {}
    for path, source in state.items():
        area = _area(path)
        if area is None:
            continue
        counted = count(path, source)
        lines[area] += counted
        files[area] += 1
        if area in ("core", "src"):
            folder = str(PurePosixPath(path).parent)
            before_it = folders.get(folder, (0, 0))
            folders[folder] = (before_it[0] + 1, before_it[1] + counted["code"])
    product = [(path, source) for path, source in state.items() if _area(path) in ("core", "src")]
    found = [one for path, source in product for one in classes(path, source)]
    found.sort(key=lambda one: (-one.methods, one.name))
    parts = [path for path, source in product if _PART.search(source)]
    by_header, sources = reach(state)
    of_cpp = [one for one in found if one.path.endswith(CPP)]
    of_python = [one for one in found if not one.path.endswith(CPP)]
    return Structure(lines, files, folders, (of_cpp, of_python), parts, by_header, sources)


def _area(path: str) -> str | None:
    for area, (folders, suffixes) in AREAS.items():
        if path.endswith(suffixes) and any(is_in(path, folder) for folder in folders):
            return area
    return None


Row = dict[str, Any]


def _add_lines(report: Report, now: Structure, then: Structure | None) -> None:
    rows: list[Row] = []
    for area in AREAS:
        row: Row = {"area": area, "files": now.files[area]} | {kind: now.lines[area][kind] for kind in KINDS}
        if then is not None:
            row |= {"files before": then.files[area], "code before": then.lines[area]["code"]}
            row["code, share of before"] = _share(now, then, area)
        rows.append(row)
    notes = ["A line of code is no blank line, comment or docstring; the imports are some of these lines."]
    report.add("Lines", rows, notes)


def _share(now: Structure, then: Structure, area: str) -> float:
    code = then.lines[area]["code"]
    return round(now.lines[area]["code"] / code, 3) if code else float("nan")


def _add_classes(
    report: Report, language: str, now: Structure, then: Structure | None, number: int, most: int
) -> None:
    for what, state in (("", now), (" before", then)):
        if state is not None:
            rows = [vars(one) for one in state.classes[number][:most]]
            report.add(f"Classes of {language} with the most methods{what}", rows)


def _add_includes(report: Report, now: Structure, then: Structure | None) -> None:
    headers = [name for name, _ in now.reach.most_common(15)]
    headers += [] if _HEADER in headers else [_HEADER]
    rows: list[Row] = []
    for name in headers:
        row: Row = {"header": name, "files": now.reach[name]}
        if then is not None:
            row["files before"] = then.reach[name]
        rows.append(row)
    of_all = f"{now.sources} .cpp files" + (f", {then.sources} before" if then is not None else "")
    report.add(f"Files of the core that include a header, directly or through others, of {of_all}", rows)


def _add_folders(report: Report, now: Structure, then: Structure | None) -> None:
    rows: list[Row] = []
    for folder in sorted(now.folders.keys() | (then.folders.keys() if then is not None else set())):
        files, code = now.folders.get(folder, (0, 0))
        row: Row = {"folder": folder, "files": files, "code": code}
        if then is not None:
            row["files before"], row["code before"] = then.folders.get(folder, (0, 0))
        rows.append(row)
    report.add("Files and lines of code by folder", rows)


def _add_targets(report: Report, now: Structure, then: Structure | None) -> None:
    nan = float("nan")
    for area, most in _MOST_CODE.items():
        share = _share(now, then, area) if then is not None else nan
        report.targets.append(Target(f"code of {area}, share of before", share, most, ""))
    largest = max(one.methods for some in now.classes for one in some)
    report.targets.append(Target("methods of the largest class", largest, _MOST_METHODS, ""))
    report.targets.append(Target("files that say 'Part of'", len(now.parts), 0, "files"))
    report.targets.append(
        Target(f"files of the core that include {_HEADER}", now.reach[_HEADER], _MOST_INCLUDING, "files")
    )


if __name__ == "__main__":
    sys.exit(main())
