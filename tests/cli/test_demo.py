"""What ``make demo`` runs, with a small model: every text is checked, and a wrong one is told."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import sys
from types import ModuleType
from typing import Any

import pytest

import tokamata as tk
from tests.support.paths import ROOT
from tokamata.cli.console import Screen
from tokamata.decoding.hosts import vocabulary_of

EXAMPLES = ROOT / "examples"


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
    assert sum(case.budget * len(case.sides) for case in demo.CASES) <= 250
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


@pytest.mark.parametrize("wrong", ["refused", "raised", "nothing"])
def test_a_wrong_text_is_told(
    demo: Any, wrong: str, model: Any, tokenizer: Any, vocabulary: tk.Vocabulary,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    checks = {"refused": lambda text: False, "raised": json.loads, "nothing": lambda text: True}
    case = demo.Case("title", "x", tk.regex("[ab]{3}"), (demo.HELD,), 9, checks[wrong], "somebody")
    monkeypatch.setattr(demo, "load_all", lambda path, progress: (model, tokenizer, vocabulary))
    monkeypatch.setattr(demo, "CASES", (case,))
    assert demo.main() == (0 if wrong == "nothing" else 1)
    out = capsys.readouterr().out
    assert ("✓ 1 of 1 right" if wrong == "nothing" else "✗ 0 of 1 right") in out


def test_whether_tokens_are_canonical_is_asked_of_the_tokenizer(demo: Any, tokenizer: Any) -> None:
    def result(tokens: list[int]) -> tk.Generation:
        return tk.Generation("", tokens, None, 0.0, "complete", [], "", 0, tk.Timing())

    own = tokenizer("the one", add_special_tokens=False)["input_ids"]
    single = [tokenizer(letter, add_special_tokens=False)["input_ids"][0] for letter in "the one"]
    assert demo._is_canonical(tokenizer, result(own))
    assert not demo._is_canonical(tokenizer, result(single))
