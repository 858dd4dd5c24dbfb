"""The types of values, as type checkers see them: typed_examples.py says which, by assert_type."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

EXAMPLES = ROOT / "tests" / "support" / "types" / "typed_examples.py"
SOURCES = ROOT / "src"
WRONG = "\n\ndef wrong() -> None:\n    assert_type(tk.type(Person).parse(''), int)\n"


def checked_by_mypy(*files: Path) -> str:
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--follow-imports=silent",
        "--cache-dir",
        os.devnull,
        *map(str, files),
    ]
    run = subprocess.run(command, capture_output=True, text=True, cwd=SOURCES, check=False)
    return run.stdout + run.stderr


def checked_by_pyright(file: Path, folder: Path) -> str:
    """By basedpyright, which comes with its own node; with the rules of pyright."""
    config = {"extraPaths": [str(SOURCES)], "typeCheckingMode": "standard", "include": [str(file)]}
    (folder / "pyrightconfig.json").write_text(json.dumps(config))
    command = [sys.executable, "-m", "basedpyright", "-p", str(folder), "--pythonpath", sys.executable]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return run.stdout + run.stderr


@pytest.mark.slow
def test_mypy_sees_the_types_of_values(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong_examples.py"
    wrong.write_text(EXAMPLES.read_text() + WRONG)
    found = checked_by_mypy(EXAMPLES, wrong)
    assert 'is of type "Person", not "int"' in found
    assert "Found 1 error in 1 file (checked 2 source files)" in found


@pytest.mark.slow
def test_pyright_sees_the_types_of_values(tmp_path: Path) -> None:
    if importlib.util.find_spec("basedpyright") is None:
        pytest.skip("basedpyright is not installed")
    wrong = tmp_path / "wrong_examples.py"
    wrong.write_text(EXAMPLES.read_text() + WRONG)
    assert "0 errors" in checked_by_pyright(EXAMPLES, tmp_path)
    found = checked_by_pyright(wrong, tmp_path)
    assert "reportAssertTypeFailure" in found
    assert "1 error" in found
