"""Tools: calls whose arguments fit the schema, in JSON (hermes) and in XML (qwen3_coder)."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import openai
import pytest

from tests.vllm.serving import MODEL, Server

pytestmark = pytest.mark.timeout(900)  # the first tests wait for a server

PARAMETERS = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 12},
        "days": {"type": "integer", "minimum": 1, "maximum": 9},
    },
    "required": ["city", "days"],
    "additionalProperties": False,
}
WEATHER: Any = {
    "type": "function",
    "function": {"name": "weather", "strict": True, "parameters": PARAMETERS},
}
MANY: Any = {"type": "function", "function": {"name": "clock", "parameters": {"type": "object"}}}
NAMED: Any = {"type": "function", "function": {"name": "weather"}}
CALLS = {
    "hermes": '<tool_call>\n{"name": "weather", "arguments": {"city": "Bern", "days": 3}}\n</tool_call>',
    "qwen3_coder": (
        "<tool_call>\n<function=weather>\n<parameter=city>\nBern\n</parameter>\n"
        "<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>"
    ),
}


def ask(server: Server, **options: Any) -> Any:
    """A model that has seen some calls, and copies them."""
    client = openai.OpenAI(base_url=server.base, api_key="x", timeout=120, max_retries=0)
    messages: Any = []
    for _ in range(4):
        messages.append({"role": "user", "content": "Weather in Bern for 3 days?"})
        messages.append({"role": "assistant", "content": CALLS[server.parser]})
    messages.append({"role": "user", "content": "Weather in Bern for 3 days?"})
    wanted: dict[str, Any] = {"max_tokens": 80, "temperature": 0.0, "tools": [WEATHER]} | options
    return client.chat.completions.create(model=MODEL, messages=messages, **wanted)


def check_call(name: str, arguments: str) -> None:
    assert name == "weather"
    jsonschema.validate(json.loads(arguments), PARAMETERS)


def check_calls(server: Server, calls: Any) -> None:
    """All calls; of qwen3_coder the first.

    What follows the first call is free text until ``<tool_call>``, by the structural tag that vLLM makes.
    The parser of qwen3_coder also takes ``<function=…`` in free text for a call.
    """
    assert calls
    for call in calls if server.parser == "hermes" else calls[:1]:
        check_call(call.function.name, call.function.arguments)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_tool_by_name(tool_server: Server, temperature: float) -> None:
    (choice,) = ask(tool_server, tool_choice=NAMED, tools=[MANY, WEATHER], temperature=temperature).choices
    (call,) = choice.message.tool_calls
    check_call(call.function.name, call.function.arguments)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_some_tool(tool_server: Server, temperature: float) -> None:
    (choice,) = ask(tool_server, tool_choice="required", temperature=temperature, seed=1).choices
    assert choice.finish_reason == "tool_calls"
    check_calls(tool_server, choice.message.tool_calls)


def test_one_call_at_most(tool_server: Server) -> None:
    (choice,) = ask(tool_server, tool_choice="required", parallel_tool_calls=False).choices
    (call,) = choice.message.tool_calls
    check_call(call.function.name, call.function.arguments)


def test_a_tool_where_the_model_wants_one(tool_server: Server) -> None:
    """The model copies the calls that it has seen; what it writes within one is constrained."""
    (choice,) = ask(tool_server, tool_choice="auto").choices
    check_calls(tool_server, choice.message.tool_calls)


def test_free_text_with_tools(tool_server: Server) -> None:
    """A model that has seen no call writes text."""
    client = openai.OpenAI(base_url=tool_server.base, api_key="x", timeout=120, max_retries=0)
    messages: Any = [{"role": "user", "content": "One, two, three, four,"}]
    answer = client.chat.completions.create(
        model=MODEL, messages=messages, tools=[WEATHER], max_tokens=12, temperature=0.0
    )
    assert answer.choices[0].message.content
    assert not answer.choices[0].message.tool_calls


def test_a_stream_of_calls(tool_server: Server) -> None:
    names: dict[int, str] = {}
    arguments: dict[int, str] = {}
    for chunk in ask(tool_server, tool_choice="required", stream=True):
        for choice in chunk.choices:
            for call in choice.delta.tool_calls or []:
                if call.function.name:
                    names[call.index] = call.function.name
                arguments[call.index] = arguments.get(call.index, "") + (call.function.arguments or "")
    assert list(names) == list(range(len(names)))
    for index in names if tool_server.parser == "hermes" else [0]:
        check_call(names[index], arguments[index])


def test_a_tool_without_strict(tool_server: Server) -> None:
    """By ``--tool-strict-level parameter`` its arguments fit, too; without it vLLM lets them be any JSON."""
    tool = {"type": "function", "function": {"name": "weather", "parameters": PARAMETERS}}
    (choice,) = ask(tool_server, tools=[tool], tool_choice="required", temperature=1.0, seed=3).choices
    check_calls(tool_server, choice.message.tool_calls)


def test_a_tool_that_cannot_be_enforced(tool_server: Server) -> None:
    wrong = {"type": "object", "properties": {"a": {"type": "int"}}}
    tool = {"type": "function", "function": {"name": "f", "strict": True, "parameters": wrong}}
    with pytest.raises(openai.BadRequestError, match="/properties/a"):
        ask(tool_server, tools=[tool], tool_choice="required")
    assert tool_server.is_healthy()
