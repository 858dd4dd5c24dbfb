"""Importing tokamata brings in no host and little else."""

from __future__ import annotations

import subprocess
import sys

HEAVY = (
    "torch", "transformers", "tokenizers", "tiktoken", "sentencepiece", "gguf", "llama_cpp",
    "typer", "rich", "huggingface_hub", "numpy", "pydantic",
)  # fmt: skip


def test_import_brings_in_no_host() -> None:
    code = f"import sys, tokamata; print([name for name in {HEAVY!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_what_few_programs_need_is_imported_when_they_do() -> None:
    rooms = (
        "audit",
        "cli",
        "compat",
        "demo",
        "integrations",
        "matching.kept_compiled",
        "tokenization.papers",
    )
    grammars = ("patterns.grammars.diagnosis.determinism", "patterns.grammars.files.lark_loader")
    names = [f"tokamata.{name}" for name in (*rooms, *grammars)]
    code = f"import sys, tokamata; print([name for name in {names!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_all_public_names_are_there_and_described() -> None:
    import tokamata

    for name in tokamata.__all__:
        assert getattr(tokamata, name).__doc__, name


WORK = """
import sys
import tokamata as tk
from tokamata import _core
if {reports}: _core.report_leaks()
vocabulary = tk.Vocabulary.load([bytes([byte]) for byte in range(256)] + [None], stop=[256])
keep = []
for constraint in (tk.regex("a*"), tk.json(), tk.choice(["a", "b"]) & ~tk.literal("c"), tk.type(list[int])):
    compiled = constraint.compile(vocabulary, cancel=tk.CancelToken())
    matcher = compiled.matcher()
    row = compiled.allocate_mask()[0]
    keep += [matcher.mask, matcher.advance, matcher.fork()]
    matcher.fill_mask(row, 9)
    for wrong in (lambda: matcher.advance("a"), lambda: matcher.fill_mask(5), lambda: tk.regex("(")):
        try:
            wrong()
        except tk.TokamataError as error:
            keep.append(error)  # a circle: error, traceback, frame, this list
import ctypes
if {leaks}: ctypes.pythonapi.Py_IncRef(ctypes.py_object(matcher))
"""


def notes_of(reports: bool, leaks: bool) -> str:
    code = WORK.format(reports=reports, leaks=leaks)
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return result.stdout + result.stderr


def test_nothing_of_the_engine_outlives_its_holders() -> None:
    assert notes_of(reports=True, leaks=False) == ""
    assert "leaked" in notes_of(reports=True, leaks=True)  # which is how it would be seen


def test_what_another_package_keeps_alive_is_not_reported() -> None:
    assert notes_of(reports=False, leaks=True) == ""
