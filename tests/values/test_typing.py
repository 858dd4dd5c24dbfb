"""The types of values and of results, as type checkers see them: by assert_type, in tests/support/types."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

FOLDER = ROOT / "tests" / "support" / "types"
EXAMPLES, GENERATION = FOLDER / "typed_examples.py", FOLDER / "typed_generation.py"
SOURCES = ROOT / "src"
WRONG = "\n\ndef wrong() -> None:\n    assert_type(tk.type(Person).parse(''), int)\n"
WRONG_GENERATION = """

def wrong(model: Any, tokenizer: Any, number: tk.Constraint[int]) -> None:
    assert_type(tk.generate(model, tokenizer, "x", number).parse(), str)
"""
# No type that is asserted is theirs, and to read all of torch takes three quarters of the time.
OTHERS = ("torch", "transformers", "lark", "tokenizers", "scipy", "gguf", "sentencepiece", "huggingface_hub")


def checked_by_mypy(files: list[Path], folder: Path) -> str:
    """Of all files at once, since it reads tokamata first."""
    settings = ["[mypy]", "strict = True", "follow_imports = silent", f"cache_dir = {os.devnull}"]
    settings += [f"[mypy-{','.join(f'{name}.*' for name in OTHERS)}]", "follow_imports = skip"]
    settings += ["ignore_missing_imports = True"]
    configuration = folder / "mypy.ini"
    configuration.write_text("\n".join(settings))
    command = [sys.executable, "-m", "mypy", "--config-file", str(configuration), *map(str, files)]
    run = subprocess.run(command, capture_output=True, text=True, cwd=SOURCES, check=False)
    return run.stdout + run.stderr


def checked_by_pyright(files: list[Path], folder: Path) -> dict[str, list[str]]:
    """By basedpyright, which comes with its own node; with the rules of pyright.  What is wrong, by file."""
    config = {"extraPaths": [str(SOURCES)], "typeCheckingMode": "standard", "include": list(map(str, files))}
    (folder / "pyrightconfig.json").write_text(json.dumps(config))
    command = [sys.executable, "-m", "basedpyright", "-p", str(folder), "--pythonpath", sys.executable]
    run = subprocess.run([*command, "--outputjson"], capture_output=True, text=True, check=False)
    report = json.loads(run.stdout)
    assert report["summary"]["filesAnalyzed"] == len(files), run.stdout + run.stderr
    errors = [one for one in report["generalDiagnostics"] if one["severity"] == "error"]
    return {
        file.name: [one["rule"] for one in errors if Path(one["file"]).name == file.name] for file in files
    }


def wrong_file(folder: Path, right: Path, more: str) -> Path:
    """A file of which one line is wrong, so that a test shows that it checks."""
    file = folder / f"wrong_{right.name}"
    file.write_text(right.read_text() + more)
    return file


@pytest.mark.slow
def test_mypy_sees_the_types_of_values(tmp_path: Path) -> None:
    wrong = wrong_file(tmp_path, EXAMPLES, WRONG)
    wrong_too = wrong_file(tmp_path, GENERATION, WRONG_GENERATION)
    found = checked_by_mypy([EXAMPLES, GENERATION, wrong, wrong_too], tmp_path)
    assert 'is of type "Person", not "int"' in found
    assert 'is of type "int", not "str"' in found
    assert "Found 2 errors in 2 files (checked 4 source files)" in found


@pytest.mark.slow
def test_pyright_sees_the_types_of_values(tmp_path: Path) -> None:
    if importlib.util.find_spec("basedpyright") is None:
        pytest.skip("basedpyright is not installed")
    wrong = wrong_file(tmp_path, EXAMPLES, WRONG)
    found = checked_by_pyright([EXAMPLES, wrong], tmp_path)
    assert found == {EXAMPLES.name: [], wrong.name: ["reportAssertTypeFailure"]}
