"""Skips that nobody expects fail a run; the others are counted and named."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

CONFTEST = """
from tests.support.skips import Skips

def pytest_configure(config):
    config.pluginmanager.register(Skips())
"""
TESTS = """
import pytest

def test_right(): pass
@pytest.mark.skipif(True, reason={reason!r})
def test_left_out(): pass
@pytest.mark.xfail
def test_known(): assert False
"""


def run(folder: Path, reason: str, complete: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(TESTS.format(reason=reason))
    (folder / "conftest.py").write_text(CONFTEST)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, str(folder)],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "TOKAMATA_COMPLETE": complete, "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("reason", "complete", "is_expected"),
    [
        ("there is no CUDA device here", "1", True),
        ("there is no node on this machine, the judge", "0", True),
        ("this node has another version of Unicode", "1", False),
        ("there is no node on this machine, the judge", "1", False),
        ("I did not feel like it", "0", False),
        ("I did not feel like it", "1", False),
    ],
)
def test_unexpected_skips_fail_the_run(tmp_path: Path, reason: str, complete: str, is_expected: bool) -> None:
    result = run(tmp_path, reason, complete)
    assert (result.returncode == 0) == is_expected, result.stdout
    mark = "expected" if is_expected else "UNEXPECTED"
    assert f"\n{mark}, 1: {reason}\n    test_it.py::test_left_out\n" in result.stdout
    assert "1 skipped =" in result.stdout or "1 skipped " in result.stdout


@pytest.mark.parametrize(
    ("reason", "is_expected"), [("there is no CUDA device here", True), ("no reason", False)]
)
def test_skips_of_several_workers_are_counted_once(tmp_path: Path, reason: str, is_expected: bool) -> None:
    """Of tests, and of a file that every worker skips."""
    (tmp_path / "test_file.py").write_text(
        f"import pytest\npytest.skip({reason!r}, allow_module_level=True)\n"
    )
    result = run(tmp_path, reason, "1", "--numprocesses=2")
    assert (result.returncode == 0) == is_expected, result.stdout
    mark = "expected" if is_expected else "UNEXPECTED"
    assert f"\n{mark}, 2: {reason}\n" in result.stdout
