"""json_repair's own tests, with only the import rewritten, and where tokamata.compat.json_repair differs.

    python -m tests.support.repair.json_repair_suite     # after a change of repairs: renews the differences

``tests/data/repair/json_repair/tests`` has the files as they are, of the commit that ``differences.json``
names.  A test is *public* if it uses no other names of json_repair than those of ``PUBLIC``, at any remove;
the others are listed with the name that they use.

Each ``assert`` and each ``with pytest.raises`` of a test is a *check*: where one fails, the test goes on.  So
``differences.json`` lists lines, each with a reason of ``REASONS``, and it is exact: a check that begins to
hold must be taken off.  With json_repair 0.64.6 at hand, the program above also finds the checks that this
version fails itself, since it is newer than the tests; without it, it keeps those that are listed.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import inspect
import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.paths import DATA
from tests.support.repair.library_cases import LIMITS
from tokamata.compat import searches, under_schema

FOLDER = DATA / "repair" / "json_repair" / "tests"
DIFFERENCES = DATA / "repair" / "json_repair" / "differences.json"
OURS = "tokamata.compat.json_repair"
PUBLIC = ("JSONReturnType", "from_file", "load", "loads", "repair_json")
REASONS = {
    "newer version": "json_repair 0.64.6 fails it too: the tests are older",
    "message": "it raises a ValueError as json_repair does; the message is another one",
    "log": "it is about the wording of the log",
    "salvage": "another value with schema_repair_mode='salvage'",
    "schema": "another value with a schema",
    "no error": "json_repair refuses the text; tokamata repairs it",
    "error": "json_repair repairs the text; tokamata refuses it",
    "stream": "another value with stream_stable=True",
    "value": "another value",
}
_SOURCE = "json_repair, commit 600ede6be7d125d14812be3bbd7ef3e0b526a84e (https://github.com/mangiucugna/json_repair)"
_ABOUT = [
    "json_repair's tests run against tokamata.compat.json_repair with only the import rewritten.",
    "internal: tests that use other names of json_repair, and are left out; the first such name of each.",
    "differences: by test, the lines whose check fails, each with its reason.",
    "Written by tests/support/repair/json_repair_suite.py.",
]

Differences = dict[str, dict[str, str]]  # by test, by line


class Test(NamedTuple):
    """A test with its arguments.

    Attributes:
        name: file, function, and the number of its arguments.
        run: calls it; returns the lines of its checks, and of those that fail the error.
    """

    name: str
    run: Callable[[], tuple[set[int], dict[int, BaseException]]]
    source: str


class Suite(NamedTuple):
    """The tests of all files: the public ones, and of the others the name that they use."""

    tests: list[Test]
    internal: dict[str, str]


def suite(module: str = OURS) -> Suite:
    """The tests, for a module with the names of ``PUBLIC``."""
    tests: list[Test] = []
    internal: dict[str, str] = {}
    for path in sorted(FOLDER.glob("*.txt")):
        read = _File(path, module)
        tests += read.tests()
        internal |= read.internal
    return Suite(tests, internal)


def failures(tests: list[Test]) -> tuple[int, Differences]:
    """How many checks there are, and the lines of those that fail, each with a reason.

    Searches end by their number of states, and not by the clock, so that any machine has the same answers.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searches, "_WEIGHTS", tuple((weight, 60.0) for weight, _ in searches._WEIGHTS))
        patch.setattr(under_schema, "_SECONDS_FOR_VALUES", 60.0)
        return _failures(tests)


def _failures(tests: list[Test]) -> tuple[int, Differences]:
    count, found = 0, {}
    for test in tests:
        checks, failed = test.run()
        count += len(checks | failed.keys())
        if failed:
            found[test.name] = {
                str(line): _reason(error, test.source, line) for line, error in sorted(failed.items())
            }
    return count, found


class _File:
    """A file of tests, compiled with the import rewritten.

    Attributes:
        internal: the tests that use other names of json_repair, with the first of these.
    """

    def __init__(self, path: Path, module: str) -> None:
        self._source = path.read_text("utf-8")
        self._name = path.name.removesuffix(".py.txt")
        tree = ast.parse(self._source)
        self._hidden = _hidden_names(tree)
        self._defined = {name: node for node in tree.body for name in _names_defined(node)}
        self.internal: dict[str, str] = {}
        self._checks: set[int] = set()
        self._failed: dict[int, BaseException] = {}
        self._module: dict[str, Any] = {
            "__file__": str(path),
            "__name__": self._name,
            "_check": self._check,
        }
        tree.body = [one for one in tree.body if not _names_defined(one) or self._hidden_name(one) is None]
        _ImportRewritten(module).visit(tree)
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                _Checked().visit(node)
        exec(compile(ast.fix_missing_locations(tree), str(path), "exec"), self._module)
        for name in PUBLIC[1:] if module == OURS else ():
            if name in self._module:
                self._module[name] = functools.partial(self._module[name], limits=LIMITS)

    def tests(self) -> list[Test]:
        found: list[Test] = []
        for name, node in self._defined.items():
            if not (name.startswith("test_") and isinstance(node, ast.FunctionDef)):
                continue
            hidden = self._hidden_name(node)
            if hidden is not None:
                self.internal[f"{self._name}::{name}"] = hidden
                continue
            function = self._module[name]
            for number, arguments in enumerate(_arguments(function)):
                suffix = f"[{number}]" if arguments else ""
                run = self._runner(function, arguments)
                found.append(Test(f"{self._name}::{name}{suffix}", run, self._source))
        return found

    def _hidden_name(self, node: ast.AST) -> str | None:
        """A name of json_repair that a definition uses, itself or through others of the file."""
        seen: set[str] = set()
        waiting = [node]
        while waiting:
            names = [one.id for one in ast.walk(waiting.pop()) if isinstance(one, ast.Name)]
            for name in names:
                if name in self._hidden:
                    return name
                if name in self._defined and name not in seen:
                    seen.add(name)
                    waiting.append(self._defined[name])
        return None

    def _runner(
        self, function: Callable[..., None], arguments: dict[str, Any]
    ) -> Callable[[], tuple[set[int], dict[int, BaseException]]]:
        def run() -> tuple[set[int], dict[int, BaseException]]:
            self._checks, self._failed = set(), {}
            try:
                function(**arguments)
            except Exception as error:
                self._failed[_line_of(error, str(FOLDER))] = error
            return self._checks, self._failed

        return run

    @contextmanager
    def _check(self, line: int) -> Iterator[None]:
        self._checks.add(line)
        try:
            yield
        except (Exception, pytest.fail.Exception) as error:
            self._failed[line] = error


class _ImportRewritten(ast.NodeTransformer):
    """Imports from json_repair become those from another module, and lose what is not public."""

    def __init__(self, module: str) -> None:
        self._module = module

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        if "json_repair" not in (node.module or ""):
            return node
        node.module = self._module
        node.names = [one for one in node.names if one.name in PUBLIC]
        return node if node.names else None


class _Checked(ast.NodeTransformer):
    """Each check stands in a context of its own, which notes whether it holds."""

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        return self._noted(node)

    def visit_With(self, node: ast.With) -> ast.AST:
        if "pytest.raises" in ast.unparse(node.items[0].context_expr):
            return self._noted(node)
        return self.generic_visit(node)

    def _noted(self, node: ast.stmt) -> ast.With:
        call = ast.Call(ast.Name("_check", ast.Load()), [ast.Constant(node.lineno)], [])
        return ast.copy_location(ast.With([ast.withitem(call)], [node]), node)


def _hidden_names(tree: ast.Module) -> set[str]:
    """Names of a file that stand for parts of json_repair other than the public ones."""
    hidden: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and "json_repair" in (node.module or ""):
            hidden |= {one.asname or one.name for one in node.names if one.name not in PUBLIC}
        elif isinstance(node, ast.Assign) and "import_module" in ast.unparse(node.value):
            hidden |= _names_defined(node)
    return hidden


def _names_defined(node: ast.AST) -> set[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, ast.Assign):
        return {one.id for target in node.targets for one in ast.walk(target) if isinstance(one, ast.Name)}
    return set()


def _arguments(function: Callable[..., None]) -> list[dict[str, Any]]:
    """What a test is called with: nothing, or the arguments of its one ``parametrize``."""
    marks = [mark for mark in getattr(function, "pytestmark", []) if mark.name == "parametrize"]
    if not marks:
        assert not inspect.signature(function).parameters, f"{function.__name__} needs fixtures"
        return [{}]
    (mark,) = marks
    names = mark.args[0].replace(" ", "").split(",") if isinstance(mark.args[0], str) else mark.args[0]
    rows = [one if len(names) > 1 else (one,) for one in mark.args[1]]
    return [dict(zip(names, row, strict=True)) for row in rows]


def _line_of(error: BaseException, folder: str) -> int:
    """The line of a file of the folder where an error came from."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.startswith(folder):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _reason(error: BaseException, source: str, line: int) -> str:
    statement = _statement(source, line)
    if isinstance(error, pytest.fail.Exception):
        return "no error"
    if "pytest.raises" in statement:
        return "message" if "did not match" in str(error) else "error"
    if re.search(r"\blogs?\b|logging=True", statement):
        return "log"
    for word, reason in (("salvage", "salvage"), ("schema", "schema"), ("stream_stable=True", "stream")):
        if word in statement:
            return reason
    return "value" if isinstance(error, AssertionError) else "error"


def _statement(source: str, line: int) -> str:
    """The check at a line, and the head of its test."""
    for test in ast.parse(source).body:
        if isinstance(test, ast.FunctionDef) and test.lineno <= line <= (test.end_lineno or 0):
            inner = [one for one in ast.walk(test) if isinstance(one, ast.stmt) and one.lineno == line]
            return f"{test.name}\n{ast.unparse(inner[0])}" if inner else test.name
    return ""


# ---- the list ----


def stated() -> dict[str, Any]:
    """``differences.json``."""
    return json.loads(DIFFERENCES.read_text("utf-8"))


def main() -> None:
    """Writes the differences, and prints how many there are."""
    start = time.perf_counter()
    mine = suite()
    count, found = failures(mine.tests)
    seconds = time.perf_counter() - start
    for test, lines in _newer(found).items():
        for line in lines:
            found[test][line] = "newer version"
    content = {
        "source": _SOURCE,
        "licence": "MIT (LICENSE in this folder)",
        "about": _ABOUT,
        "reasons": REASONS,
        "internal": mine.internal,
        "differences": found,
    }
    DIFFERENCES.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    reasons = [reason for lines in found.values() for reason in lines.values()]
    whole = sum(test.name not in found for test in mine.tests)
    print(
        f"{count - len(reasons)} of {count} checks hold; {whole} of {len(mine.tests)} tests; {seconds:.1f} s"
    )
    for reason in REASONS:
        print(f"{reasons.count(reason):5} {reason}: {REASONS[reason]}")
    print(f"{len(mine.internal)} tests use internal names")


def _newer(found: Differences) -> Differences:
    """Of some checks, those that json_repair fails too; if it is not installed, those that are stated."""
    if importlib.util.find_spec("json_repair") is not None:
        _, theirs = failures(suite("json_repair").tests)
    else:
        print("json_repair is not installed: 'newer version' is kept as it was", file=sys.stderr)
        theirs = {
            test: {line: reason for line, reason in lines.items() if reason == "newer version"}
            for test, lines in stated()["differences"].items()
        }
    return {
        test: {line: lines[line] for line in lines if line in theirs.get(test, {})}
        for test, lines in found.items()
    }


if __name__ == "__main__":
    main()
