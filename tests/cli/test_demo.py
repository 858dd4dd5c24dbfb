"""What ``make demo`` runs, with a small model: every text is checked, and a wrong one is told."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import tokamata as tk
from tests.support.models.margins import CLEAR, margins
from tests.support.paths import ROOT
from tokamata.cli.console import Screen
from tokamata.decoding.hosts import vocabulary_of
from tokamata.integrations.models import load_model

EXAMPLES = ROOT / "examples"
BROKEN = ' {name: "Paul Klee", born: "1879", style: "expression'  # what Gemma 3 270M writes


@pytest.fixture(scope="module")
def demo() -> Any:
    spec = importlib.util.spec_from_file_location("demo_of_examples", EXAMPLES / "demo.py")
    assert spec is not None
    assert spec.loader is not None
    module: ModuleType = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(EXAMPLES))
        patch.setitem(sys.modules, "demo_of_examples", module)
        spec.loader.exec_module(module)
        yield module


@pytest.fixture(scope="module")
def vocabulary(model: Any, tokenizer: Any) -> tk.Vocabulary:
    return vocabulary_of(model, tokenizer)


def cases(demo: Any) -> list[Any]:
    """With budgets for a tokenizer of few words."""
    return [dataclasses.replace(case, budget=5 * case.budget) for case in demo.CASES]


def test_few_tokens_and_what_people_came_for_first(demo: Any) -> None:
    assert sum(case.budget * len(case.sides) for case in (*demo.CASES, demo.BROKEN)) <= 280
    assert [case.title.split(" ")[0] for case in demo.CASES[:2]] == ["JSON", "Canonical"]


@pytest.mark.parametrize("number", range(5))
def test_each_case(
    demo: Any,
    number: int,
    model: Any,
    tokenizer: Any,
    vocabulary: tk.Vocabulary,
    capsys: pytest.CaptureFixture[str],
) -> None:
    case = cases(demo)[number]
    good, tokens = demo.show(Screen(), case, model, tokenizer, vocabulary)
    assert good
    assert 0 < tokens <= case.budget * len(case.sides)
    assert f"✓ checked by {case.judge}" in capsys.readouterr().out


def test_the_repair(
    demo: Any,
    model: Any,
    tokenizer: Any,
    vocabulary: tk.Vocabulary,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The small model writes words, most of which are given up."""
    monkeypatch.setattr(demo, "REPAIR_SECONDS", 1.0)
    good, tokens = demo.show_repair(Screen(), demo.BROKEN, model, tokenizer, vocabulary)
    assert good
    assert 0 < tokens <= demo.BROKEN.budget
    out = capsys.readouterr().out
    assert "without the constraint ✗" in out
    assert re.search(r"✓ \d+ edits, cost [\d,]+, .*; checked by json, the certificate", out)


@pytest.mark.slow
def test_what_gemma_writes_by_itself(demo: Any, gemma_folder: Path) -> None:
    """Each token of the text that is repaired wins clearly, so that every machine writes this text."""
    model, tokenizer = load_model(gemma_folder)
    with margins() as found:
        result = tk.generate(
            model, tokenizer, demo.BROKEN.prompt, None, greedy=True, max_new_tokens=demo.BROKEN.budget
        )
    assert result.text == BROKEN
    assert min(found) >= CLEAR


def test_the_text_that_is_repaired(demo: Any) -> None:
    """Its three values are kept, and the one that was cut off is completed."""
    found = demo.BROKEN.constraint.repair(BROKEN)
    assert found.optimal
    assert found.value == {"name": "Paul Klee", "born": 1879, "style": "expressionism"}
    assert not demo._is_right(demo.BROKEN, BROKEN)
    assert demo._is_right(demo.BROKEN, found.text)


@pytest.mark.parametrize("wrong", ["refused", "raised", "nothing"])
def test_a_wrong_text_is_told(
    demo: Any, wrong: str, model: Any, tokenizer: Any, vocabulary: tk.Vocabulary,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    checks = {"refused": lambda text: False, "raised": json.loads, "nothing": lambda text: True}
    case = demo.Case("title", "x", tk.regex("[ab]{3}"), (demo.HELD,), 9, checks[wrong], "somebody")
    monkeypatch.setattr(demo, "load_all", lambda path, progress: (model, tokenizer, vocabulary))
    monkeypatch.setattr(demo, "CASES", (case,))
    monkeypatch.setattr(demo, "BROKEN", dataclasses.replace(case, sides=(demo.FREE,)))
    assert demo.main() == (0 if wrong == "nothing" else 1)
    out = capsys.readouterr().out
    assert ("✓ 2 of 2 right" if wrong == "nothing" else "✗ 0 of 2 right") in out


def test_whether_tokens_are_canonical_is_asked_of_the_tokenizer(demo: Any, tokenizer: Any) -> None:
    def result(tokens: list[int]) -> tk.Generation:
        return tk.Generation("", tokens, None, 0.0, "complete", [], "", 0, tk.Timing())

    own = tokenizer("the one", add_special_tokens=False)["input_ids"]
    single = [tokenizer(letter, add_special_tokens=False)["input_ids"][0] for letter in "the one"]
    assert demo._is_canonical(tokenizer, result(own))
    assert not demo._is_canonical(tokenizer, result(single))
