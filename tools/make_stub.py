"""The stub of the engine, ``src/tokamata/_core.pyi``, from the bindings that are compiled.

    python -m tools.make_stub    # after a change of core/bindings

nanobind's stubgen reads signatures and docstrings from the module.  Where it cannot know a type, a binding
has its signature as ``nb::sig``, or ``core/bindings/stub_patterns.txt`` has it.  mypy, editors and the site
read the stub, so it is committed.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from nanobind.stubgen import StubGen, load_pattern_file

import tokamata._core as _core

__all__ = ["STUB", "stub"]

_ROOT = Path(__file__).parents[1]
STUB = _ROOT / "src" / "tokamata" / "_core.pyi"
_PATTERNS = _ROOT / "core" / "bindings" / "stub_patterns.txt"
_ARRAY = re.compile(r"Annotated\[(NDArray\[[\w.]+\]), dict\([^\[\]]*\)\]")  # shapes are told in words
_HEADER = "# Made by tools/make_stub.py from core/bindings.\n"


def stub() -> str:
    """The text of the stub, as ``ruff`` sorts and formats it."""
    generator = StubGen(_core, include_private=True, patterns=load_pattern_file(str(_PATTERNS)))
    generator.put(_core)
    text = _HEADER + _ARRAY.sub(r"\1", generator.get())
    for command in (["check", "--fix-only"], ["format"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--quiet", f"--stdin-filename={STUB}", "-"]
        text = subprocess.run(ruff, input=text, capture_output=True, text=True, check=True, cwd=_ROOT).stdout
    return text


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
