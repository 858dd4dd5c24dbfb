"""Which tests may be skipped, and why; any other skip fails the run.

A test that is skipped without notice tests nothing for as long as nobody looks.  So each reason that a test
may give is listed here, and the skipped tests are counted and named at the end of a run.
``TOKAMATA_COMPLETE=1``, as in ``.ci/run``, says that the tests' whole set-up was installed: then only what
the set-up cannot bring may be missing.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from typing import Any

import pytest

# What the set-up cannot bring.
_ALWAYS = (
    r"there is no CUDA device here",
    r"this system has no /proc",
    r"the syntax of Python 3\.12",
    r"it has wheels for Linux on x86-64",  # pynini
    r"vLLM 0\.32 forbids no ends of reasoning",  # its tests run with 0.33 too
    # Data that the repository may not carry for want of a licence.  Both are larger samples of what other
    # tests have without them.
    r"MaskBench is not on this machine",
    r"the published tokenizer\.json is not on this machine",
)
# What the set-up brings.  Somebody who works on a part may do without.
_WHERE_INCOMPLETE = (
    r"there is no node on this machine",
    r"this node has another version of Unicode",
    r"is not installed",
    r"is an extra",
    r"comes with",
    r"could not import",
    r"cannot be imported here",
)
_NAMED = 6  # tests of one reason


def is_expected(reason: str) -> bool:
    """Whether a test may be skipped for this reason."""
    complete = os.environ.get("TOKAMATA_COMPLETE") == "1"
    return any(re.search(known, reason) for known in (*_ALWAYS, *(() if complete else _WHERE_INCOMPLETE)))


class Skips:
    """A plugin of pytest that collects the skipped tests, lists them, and fails the run if one is unexpected.

    With pytest-xdist, workers report their tests to the controller as they run, but not the files that they
    skip; those they hand over when they end.
    """

    def __init__(self) -> None:
        self._tests: dict[str, list[str]] = defaultdict(list)  # by reason

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember a test that was skipped."""
        self._add(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Remember a file that was skipped."""
        self._add(report)

    def _add(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            self._note(reason.removeprefix("Skipped: "), report.nodeid)

    def _note(self, reason: str, test: str) -> None:
        if test not in self._tests[reason]:
            self._tests[reason].append(test)

    @property
    def _unexpected(self) -> list[str]:
        return [reason for reason in self._tests if not is_expected(reason)]

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a run that would have passed; a worker hands over what it skipped."""
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["skipped"] = dict(self._tests)
            return
        passed = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
        if self._unexpected and session.exitstatus in passed:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Takes over what a worker skipped."""
        for reason, tests in getattr(node, "workeroutput", {}).get("skipped", {}).items():
            for test in tests:
                self._note(reason, test)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Count and name them."""
        if not self._tests:
            return
        count = sum(map(len, self._tests.values()))
        terminalreporter.section(f"{count} skipped")
        for reason, tests in sorted(self._tests.items()):
            mark = "UNEXPECTED" if reason in self._unexpected else "expected"
            terminalreporter.line(f"{mark}, {len(tests)}: {reason}")
            for test in tests[:_NAMED]:
                terminalreporter.line(f"    {test}")
            if len(tests) > _NAMED:
                terminalreporter.line(f"    and {len(tests) - _NAMED} more")
        if self._unexpected:
            terminalreporter.line(
                "unexpected skips fail the run: install what they name (make test does), or list the reason "
                "in tests/support/skips.py",
                red=True,
            )
