"""The parsers of vLLM, SGLang and Cohere read random texts of our masks.

The arguments that they read equal ours, and fit the schema.

docs/tools.md lists what a parser reads otherwise.  Each of these differences has a function here that undoes
it; every other difference is a failure.
"""

from __future__ import annotations

import importlib
import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import pytest

import tokamata as tk
from tests.support.tags.tagged_texts import SCHEMAS, types_of
from tests.support.tags.walks import walked
from tokamata.constraints.tool_formats import TOOL_FORMATS
from tokamata.patterns.tagged import STYLES

TEXTS = 200  # of each family
FAMILIES = [
    *("qwen3_coder", "seed_oss", "step3p5", "mimo", "glm45", "glm47", "deepseek_v32", "deepseek_v4"),
    *("deepseek_v41", "minimax_m2", "minimax_m3", "kimi_k3"),
]
BYTES = tk.Vocabulary.load([*(bytes([value]) for value in range(256)), None], stop=256)


class Case(NamedTuple):
    """A text of a call, and the arguments that we read from it."""

    schema: dict[str, Any]
    text: str
    arguments: dict[str, Any]


def cases(family: str, schemas: list[dict[str, Any]]) -> list[Case]:
    """Random texts from our masks."""
    rng, found = random.Random(family), []
    for schema in schemas:
        calls = tk.tool_calls(
            [{"name": "weather", "parameters": schema}], format=family, tool_choice="required", parallel=False
        )
        compiled = calls.compile(BYTES)
        for _ in range(TEXTS // len(schemas)):
            text = walked(compiled, rng, 800).text.decode()
            found.append(Case(schema, text, calls.parse(text)[0].arguments))
    return found


def same(one: Any, other: Any) -> bool:
    """Whether two values of JSON are equal: 1 is 1.0, and not true."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return float(one) == float(other)  # vLLM reads large whole numbers as floats
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def compare(
    family: str, found: list[Case], read: list[Any], undone: Callable[[Any], Any] = lambda x: x
) -> None:
    for case, arguments in zip(found, read, strict=True):
        assert same(undone(arguments), undone(case.arguments)), (family, case.text, arguments)
        if undone(case.arguments) == case.arguments:
            jsonschema.validate(arguments, case.schema)


# ---- vLLM ---------------------------------------------------------------------------------------------


class Tokens:
    """A tokenizer with the control tokens that parsers look for, which reads texts only."""

    all_special_tokens: tuple[str, ...] = ()
    all_special_ids: tuple[int, ...] = ()
    chat_template = None

    def get_vocab(self) -> dict[str, int]:
        """Each name, with an id."""
        names = [
            f"<{slash}{name}>" for name in ("tool_call", "think", "minimax:tool_call") for slash in ("", "/")
        ]
        names += ["<seed:tool_call>", "</seed:tool_call>", "<|open|>", "<|close|>", "<|sep|>"]
        return {name: number for number, name in enumerate(names)}

    def convert_tokens_to_ids(self, token: str) -> int | None:
        """The id of a name."""
        return self.get_vocab().get(token)

    def encode(self, text: str, **options: Any) -> list[int]:
        """Nothing: parsers get texts."""
        return []


@pytest.mark.parametrize("family", FAMILIES)
def test_vllm(family: str) -> None:
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
    from vllm.tool_parsers import ToolParserManager

    parser = ToolParserManager.get_tool_parser(family)
    found, read = cases(family, SCHEMAS), []
    for case in found:
        tool = {"type": "function", "function": {"name": "weather", "parameters": case.schema}}
        request = ChatCompletionRequest(
            model="m", messages=[{"role": "user", "content": "x"}], tools=[tool], tool_choice="auto"
        )
        (call,) = parser(Tokens(), request.tools).extract_tool_calls(case.text, request).tool_calls
        assert call.function.name == "weather"
        read.append(json.loads(call.function.arguments))
    compare(family, found, read)


@pytest.mark.parametrize(
    ("family", "module", "tags"),
    [
        ("deepseek_v32", "deepseek_v32_encoding", "｜DSML｜"),
        ("deepseek_v4", "deepseek_v4_encoding", "｜DSML｜"),
        ("deepseek_v41", "deepseek_v41_encoding", "｜DSML｜"),
    ],
)
def test_the_encoding_of_deepseek(family: str, module: str, tags: str) -> None:
    """What the model's own encoding writes for the arguments is accepted, with the same value."""
    encoding = importlib.import_module(f"vllm.tokenizers.{module}")
    form = TOOL_FORMATS[family]
    for case in cases(family, SCHEMAS):
        written = encoding.encode_arguments_to_dsml(
            {"name": "weather", "arguments": json.dumps(case.arguments, ensure_ascii=False)}
        )
        text = (
            form.opening + form.begin.replace("{name}", "weather") + written + "\n" + form.end + form.closing
        )
        tool = {"name": "weather", "parameters": case.schema}
        calls = tk.tool_calls([tool], format=family, tool_choice="required", property_order="any")
        if f"<{tags}" not in written.replace(form.begin, "") or f"</{tags}" in json.dumps(case.arguments):
            continue
        assert calls.accepts(text), text
        assert same(calls.parse(text)[0].arguments, case.arguments)


# ---- SGLang -------------------------------------------------------------------------------------------


def each_string(value: Any, change: Callable[[str], str]) -> Any:
    """A value with all its strings changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [each_string(one, change) for one in value]
    if isinstance(value, dict):
        return {name: each_string(one, change) for name, one in value.items()}
    return value


def stripped(value: Any) -> Any:
    """Strings without white space at their ends."""
    return each_string(value, str.strip)


def unquoted(value: Any) -> Any:
    """Members that are strings: what is within their quotes, in the words of JSON, and numbers as such."""

    def plain(text: str) -> str:
        text = text.strip()
        if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
            text = text[1:-1]
        text = {"None": "null", "True": "true", "False": "false"}.get(text, text)
        try:
            return repr(float(text))
        except ValueError:
            return text

    return {name: plain(one) if isinstance(one, str) else one for name, one in value.items()}


def unescaped(value: Any) -> Any:
    """Strings without the entities of HTML."""
    import html

    return each_string(value, html.unescape)


# The names of the parsers, and what undoes the differences that docs/tools.md lists.
SGLANG: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "qwen3_coder": ("qwen3_coder", lambda value: value),
    "step3p5": ("step3p5", lambda value: value),
    "mimo": ("mimo", unescaped),
    "glm45": ("glm45", unquoted),
    "glm47": ("glm47", unquoted),
    "deepseek_v32": ("deepseekv32", stripped),
    "deepseek_v4": ("deepseekv4", stripped),
    "deepseek_v41": ("deepseekv41", stripped),
    "minimax_m2": ("minimax-m2", lambda value: each_string(value, lambda text: text.strip("\n"))),
    "minimax_m3": ("minimax-m3", stripped),
    "kimi_k3": ("kimi_k3", lambda value: value),
}


def of_one_type(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without the members of several types, which SGLang reads as one of them."""
    properties = {name: one for name, one in schema["properties"].items() if len(types_of(one)) == 1}
    return {
        **schema,
        "properties": properties,
        "required": [n for n in schema["required"] if n in properties],
    }


@pytest.mark.parametrize("family", SGLANG)
def test_sglang(family: str) -> None:
    parser, undone = SGLANG[family]
    found = cases(family, [of_one_type(schema) for schema in SCHEMAS])
    lines = [
        json.dumps([parser, {"name": "weather", "parameters": case.schema}, case.text]) for case in found
    ]
    script = Path(__file__).with_name("sglang_reader.py")
    answers = subprocess.run(
        [sys.executable, str(script)], input="\n".join(lines), capture_output=True, text=True, check=True
    ).stdout
    compare(family, found, [json.loads(line) for line in answers.splitlines()], undone)


# ---- Cohere -------------------------------------------------------------------------------------------


def test_cohere() -> None:
    import cohere_melody as melody

    found, read = cases("cohere", SCHEMAS), []
    for case in found:
        (call,) = melody.PyFilter(melody.PyFilterOptions().cmd5()).process_full_text(case.text).tool_calls
        read.append(json.loads(call.arguments))
    compare("cohere", found, read)


def test_every_style_is_judged() -> None:
    assert {TOOL_FORMATS[family].style for family in [*FAMILIES, "cohere"]} == set(STYLES)
