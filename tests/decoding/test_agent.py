"""The agent of examples/: it calls tools, reads their results, answers, and always ends."""

from __future__ import annotations

import importlib.util
import json
from typing import Any

import pytest

from tests.support.models.fakes import Random
from tests.support.models.scripted import Scripted
from tests.support.paths import ROOT


def load_agent() -> Any:
    spec = importlib.util.spec_from_file_location("agent", ROOT / "examples" / "agent.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


agent = load_agent()


@pytest.fixture
def chatting(tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(tokenizer, "chat_template", agent.TEMPLATE, raising=False)
    return tokenizer


def call(name: str, arguments: dict[str, Any]) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def test_it_runs_a_tool_and_answers(chatting: Any) -> None:
    def says(prompt: str) -> str:
        if "tool: 84" in prompt:
            return "It is 84."
        return call("multiply", {"a": 12, "b": 7})

    model, shown = Scripted(chatting, says, "assistant: "), []
    tools = [agent.multiply, agent.length]
    found = agent.answer(model, chatting, "12 times 7?", tools, max_new_tokens=90, show=shown.append)
    assert found == "It is 84."
    assert shown == ["calls multiply …", "multiply({'a': 12, 'b': 7}) = 84"]
    first, second = model.prompts
    assert '"name": "multiply"' in first
    assert "The product of two whole numbers." in first
    assert first.endswith("user: 12 times 7?\nassistant: ")
    assert second.startswith(first.removesuffix("assistant: "))
    assert "assistant: \n" + call("multiply", {"a": 12, "b": 7}) in second


def test_a_model_that_never_stops_calling_ends(chatting: Any) -> None:
    def says(prompt: str) -> str:
        return call("length", {"text": "abc"}) if prompt.count("tool: 3") < 3 else "enough"

    model, shown = Scripted(chatting, says, "assistant: "), []
    assert agent.answer(model, chatting, "?", [agent.length], max_new_tokens=90, show=shown.append) != ""
    assert len(model.prompts) == 3
    assert len([one for one in shown if one.startswith("calls")]) == 2


def test_several_calls_in_one_turn(chatting: Any) -> None:
    def says(prompt: str) -> str:
        if "tool: 4" in prompt:
            return "All done."
        if "tool: 6" in prompt:
            return "Now " + call("length", {"text": "abc"}) + " and " + call("length", {"text": "abcd"})
        return call("multiply", {"a": 2, "b": 3})

    model = Scripted(chatting, says, "assistant: ")
    tools = [agent.multiply, agent.length]
    assert agent.answer(model, chatting, "?", tools, max_new_tokens=200, show=str) == "All done."
    assert "tool: 3\ntool: 4\n" in model.prompts[2]


@pytest.mark.parametrize("seed", range(3))
def test_a_random_model_ends(chatting: Any, seed: int) -> None:
    text = agent.answer(
        Random(len(chatting), seed), chatting, "?", [agent.length], max_new_tokens=90, show=str
    )
    assert isinstance(text, str)
