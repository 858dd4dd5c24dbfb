"""The playground of docs/playground in a browser: what it sends, and what it shows of the answer.

The server is a program of the standard library that answers as vLLM does.  `make test-playground` runs these.
"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.playground.server import Server, Steps, look, serving

MASKED = -9999.0
RUN: Steps = [["click", "#run"], ["end"]]


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as found:
        yield found


@pytest.fixture(scope="session")
def browser() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    pytest.fail("no Chromium is installed: apt install chromium")


def token(text: str, probability: float, others: dict[str, float], data: bytes | None = None) -> Any:
    """A token of a chat, with its alternatives; a probability of 0 is what a mask forbids."""
    found = {text: probability, **others}
    logprobs = {one: math.log(value) if value else MASKED for one, value in found.items()}
    entry = {"token": text, "logprob": logprobs[text], "bytes": [*(text.encode() if data is None else data)]}
    return entry | {"top_logprobs": [{"token": one, "logprob": value} for one, value in logprobs.items()]}


def chat(content: str, *tokens: Any, reason: str | None = None) -> Any:
    delta: dict[str, Any] = {"content": content}
    logprobs = {"content": list(tokens)} if tokens else None
    return {"choices": [{"index": 0, "delta": delta, "logprobs": logprobs, "finish_reason": reason}]}


NUMBER = [
    {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]},
    chat('{"a"', token('{"a"', 1.0, {"Sure": 0, "The": 0})),
    chat(":", token(":", 1.0, {" :": 0})),
    chat(" 7", token(" 7", 0.25, {" 8": 0.75})),
    chat("}", token("}", 0.9, {"0": 0.1})),
    chat("", token("<eos>", 1.0, {"a": 0}), reason="stop"),
    {"choices": [], "usage": {"completion_tokens": 5}},
]


def test_a_schema(server: Server, browser: str, tmp_path: Path) -> None:
    server.chunks = NUMBER
    schema = {"type": "object"}
    steps: Steps = [["fill", "constraint", json.dumps(schema)], ["fill", "key", "secret"], *RUN]
    seen = look(server, browser, tmp_path, [*steps, ["click", "#text .token:nth-child(3)"]])
    [(path, request)] = server.requests
    assert path == "/v1/chat/completions"
    assert request["model"] == "served"
    assert request["key"] == "Bearer secret"
    assert request["response_format"]["json_schema"]["schema"] == schema
    assert (request["stream"], request["logprobs"], request["top_logprobs"]) == (True, True, 5)
    assert request["messages"][0]["content"].startswith("Paul Klee")
    assert [one["text"] for one in seen["tokens"]] == ['{"a"', ":", " 7", "}", "<eos>"]
    assert ["forced" in one["classes"] for one in seen["tokens"]] == [True, True, False, False, True]
    assert ["end" in one["classes"] for one in seen["tokens"]] == [False, False, False, False, True]
    assert [round(one["doubt"], 2) for one in seen["tokens"]] == [0, 0, 0.75, 0.1, 0]
    assert "5 tokens" in seen["status"]
    assert "is JSON" in seen["status"]
    assert "finish reason: stop" in seen["status"]
    assert seen["state"] == "good"
    assert [row["cells"] for row in seen["detail"]] == [['" 7"', "25.0 %"], ['" 8"', "75.0 %"]]
    assert seen["detail"][0]["classes"] == ["written"]


def test_masked_tokens_are_struck_through(server: Server, browser: str, tmp_path: Path) -> None:
    server.chunks = NUMBER
    seen = look(server, browser, tmp_path, [*RUN, ["click", "#text .token"]])
    assert [row["cells"][1] for row in seen["detail"]] == ["100.0 %", *["forbidden by the mask"] * 2]
    assert [row["classes"] for row in seen["detail"]] == [["written"], ["masked"], ["masked"]]


@pytest.mark.parametrize("kind", ["regex", "grammar"])
def test_what_only_vllm_has(server: Server, browser: str, tmp_path: Path, kind: str) -> None:
    server.chunks = [chat("a", token("a", 1.0, {})), chat("", reason="stop")]
    steps: Steps = [["click", f"input[value={kind}]"], ["fill", "constraint", "a+"], *RUN]
    seen = look(server, browser, tmp_path, steps)
    assert server.requests[0][1]["structured_outputs"] == {kind: "a+"}
    assert "response_format" not in server.requests[0][1]
    assert seen["text"] == "a"


@pytest.mark.parametrize("logprobs", [None, {"content": [token("<tool_call>", 1.0, {})]}])
def test_tools(server: Server, browser: str, tmp_path: Path, logprobs: Any) -> None:
    """vLLM sends the tokens of the text that it reads calls from; others send none."""
    parts = [{"index": 0, "function": {"name": "weather", "arguments": ""}}]
    parts += [{"index": 0, "function": {"arguments": piece}} for piece in ('{"city"', ': "Bern"}')]
    parts += [{"index": 1, "function": {"name": "clock", "arguments": "{}"}}]
    server.chunks = [
        {"choices": [{"delta": {"tool_calls": [part]}, "logprobs": logprobs, "finish_reason": None}]}
        for part in parts
    ]
    server.chunks.append({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})
    seen = look(server, browser, tmp_path, [["click", "input[value=tools]"], *RUN])
    assert server.requests[0][1]["tool_choice"] == "required"
    assert server.requests[0][1]["tools"][0]["function"]["name"] == "weather"
    assert seen["calls"] == ['weather {"city": "Bern"}', "clock {}"]
    assert seen["text"] == ("" if logprobs is None else "<tool_call>" * len(parts))
    assert (seen["status"].count("is JSON"), seen["state"]) == (2, "good")


def test_the_beginning_of_a_text(server: Server, browser: str, tmp_path: Path) -> None:
    logprobs = {
        "tokens": ["yes"],
        "token_logprobs": [math.log(0.5)],
        "top_logprobs": [{"yes": math.log(0.5), "no": math.log(0.5), "perhaps": MASKED}],
    }
    server.chunks = [{"choices": [{"text": "yes", "logprobs": logprobs, "finish_reason": "length"}]}]
    steps: Steps = [["click", "input[value=text]"], ["click", "input[value=none]"], *RUN]
    seen = look(server, browser, tmp_path, [*steps, ["click", "#text .token"]])
    path, request = server.requests[0]
    assert (path, request["logprobs"]) == ("/v1/completions", 5)
    assert "response_format" not in request
    assert [row["cells"][1] for row in seen["detail"]] == ["50.0 %", "50.0 %", "forbidden by the mask"]
    assert seen["state"] == "bad"  # it was cut off


@pytest.mark.parametrize("cut", [0, 1, 7])
def test_characters_of_several_tokens(server: Server, browser: str, tmp_path: Path, cut: int) -> None:
    """However the network cuts the stream, the text is the same."""
    first, second = "😀".encode()[:2], "😀".encode()[2:]
    server.cut = cut
    server.chunks = [
        chat("é<b>", token("é<b>", 0.5, {})),
        chat("", token("\ufffd", 0.5, {}, first)),
        chat("😀", token("\ufffd", 0.5, {}, second)),
        chat("", reason="stop"),
    ]
    seen = look(server, browser, tmp_path, [["click", "input[value=none]"], *RUN])
    assert seen["text"] == "é<b>😀"
    assert len(seen["tokens"]) == 3


def test_a_server_without_probabilities(server: Server, browser: str, tmp_path: Path) -> None:
    server.chunks = [chat("{"), chat("}"), chat("", reason="stop")]
    seen = look(server, browser, tmp_path, RUN)
    assert (seen["text"], seen["tokens"], seen["state"]) == ("{}", [], "good")


def test_errors(server: Server, browser: str, tmp_path: Path) -> None:
    server.refusal = 400, {"error": {"message": "tokamata: in the schema at /properties/a: no"}}
    seen = look(server, browser, tmp_path / "refused", RUN)
    assert (
        seen["status"] == "The server answers with status 400.\ntokamata: in the schema at /properties/a: no"
    )
    assert seen["state"] == "bad"
    server.refusal = None
    server.chunks = [chat("{", token("{", 1.0, {})), {"error": {"message": "the engine has ended"}}]
    assert look(server, browser, tmp_path / "later", RUN)["status"] == "the engine has ended"
    requests = len(server.requests)
    seen = look(server, browser, tmp_path / "schema", [["fill", "constraint", "{"], *RUN])
    assert seen["status"].startswith("The constraint is no JSON")
    assert len(server.requests) == requests
    nowhere: Steps = [["fill", "base", "http://127.0.0.1:9/v1"], *RUN]
    assert look(server, browser, tmp_path / "nowhere", nowhere)["status"].startswith(
        "No answer from http://127"
    )


def test_stop(server: Server, browser: str, tmp_path: Path) -> None:
    server.chunks = [chat("{", token("{", 1.0, {})), None]
    seen = look(server, browser, tmp_path, [["click", "#run"], ["until", "{"], ["click", "#stop"], ["end"]])
    assert seen["status"] == "Stopped after 1 token."


def test_what_was_typed_stays_with_its_kind(server: Server, browser: str, tmp_path: Path) -> None:
    steps: Steps = [
        ["fill", "constraint", "{}"],
        ["click", "input[value=regex]"],
        ["fill", "constraint", "b"],
    ]
    assert (
        look(server, browser, tmp_path / "1", [*steps, ["click", "input[value=schema]"]])["constraint"]
        == "{}"
    )


def test_a_narrow_window(server: Server, browser: str, tmp_path: Path) -> None:
    server.chunks = NUMBER
    assert not look(server, browser, tmp_path, [*RUN, ["click", "#text .token"]], width=500)["wide"]
