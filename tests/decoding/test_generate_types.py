"""What type checkers know of generate: the value of the constraint, and one result or several."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tokamata as tk

CODE = """
from typing import Any
from typing_extensions import assert_type
import tokamata as tk


def check(
    model: Any, tokenizer: Any, number: tk.Constraint[int], text: tk.CompiledConstraint[str],
    ids: list[int], chat: list[dict[str, str]], texts: list[str],
) -> None:
    assert_type(tk.generate(model, tokenizer, "x", number), "tk.Generation[int]")
    assert_type(tk.generate(model, tokenizer, "x", number, seed=1, on_text=print).parse(), int)
    assert_type(tk.generate(model, tokenizer, ids, text).parse(), str)
    assert_type(tk.generate(model, tokenizer, chat, number).parse(), int)
    assert_type(tk.generate(model, tokenizer, [{"role": "user", "content": "x"}], text).parse(), str)
    assert_type(tk.generate(model, tokenizer, "x", None), "tk.Generation[Any]")
    assert_type(tk.generate(model, tokenizer, texts, number), "list[tk.Generation[int]]")
    assert_type(tk.generate(model, tokenizer, ["a", "b"], [number, number]), "list[tk.Generation[int]]")
    assert_type(tk.generate(model, tokenizer, [ids, ids], text, max_new_tokens=5)[0].parse(), str)
    assert_type(tk.generate(model, tokenizer, [chat], number)[0].parse(), int)
    assert_type(tk.generate(model, tokenizer, ["a", ids, chat], number)[0].parse(), int)
    assert_type(tk.generate(model, tokenizer, ["a", "b"], [number, None]), "list[tk.Generation[Any]]")
    assert_type(tk.generate(model, tokenizer, ["a", "b"], None), "list[tk.Generation[Any]]")
    steps = tk.stream(model, tokenizer, chat, number)
    assert_type(steps, "tk.Stream[int]")
    assert steps.generation is not None
    assert_type(steps.generation.parse(), int)
    assert_type(steps.generation.parse(), str)  # wrong, so that the test shows that it checks
"""


@pytest.mark.slow
def test_types(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    file = tmp_path / "checked.py"
    file.write_text(CODE, encoding="utf-8")
    result = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(file)],
        env={**os.environ, "MYPYPATH": str(Path(tk.__file__).parents[1])},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    errors = [line for line in result.stdout.splitlines() if "error:" in line]
    assert len(errors) == 1, result.stdout + result.stderr
    assert 'Expression is of type "int", not "str"' in errors[0]
