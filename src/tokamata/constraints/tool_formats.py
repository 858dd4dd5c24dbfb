"""The formats in which models write calls of tools, as data: one for each family of models.

A call is a text that contains the name of the tool, its arguments, and a text after them.  Some families
write the calls of a turn between two more texts.  Arguments are JSON, or members between tags
(:mod:`tokamata.patterns.tagged.styles`).

A family has the names that ``--tool-call-parser`` has in vLLM and in SGLang.  The texts are those of the
models' chat templates.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["TOOL_FORMATS", "ToolFormat"]


class ToolFormat(NamedTuple):
    """How a model writes calls of tools.

    In each of these texts, a control token of the vocabulary may stand for its name.

    Attributes:
        begin: the text before the arguments; ``{name}`` stands for the name of the tool, in quotes as JSON
            writes it if it stands between quotes; ``{index}``, if it is there, for a whole number.
        end: the text after them.
        trigger: the text that opens a call within free text; ``opening`` begins with it, or ``begin`` if
            there is no opening.
        separator: the text between two calls that follow each other without free text.
        opening: the text before the first of the calls that follow each other.
        closing: the text after the last of them.
        style: how arguments are written: ``"json"``, or between tags: ``"qwen_xml"``, ``"mimo_xml"``,
            ``"glm_xml"``, ``"glm_4_5_xml"``, ``"deepseek_xml"``, ``"deepseek_v4_1_xml"``, ``"minimax_xml"``,
            ``"minimax_m3_xml"``, ``"cohere_xml"`` or ``"kimi_k3_xml"``.
    """

    begin: str
    end: str
    trigger: str
    separator: str
    opening: str = ""
    closing: str = ""
    style: str = "json"


def _qwen(call: str, between: str, style: str = "qwen_xml") -> ToolFormat:
    """Functions with parameters within a call; ``between``: what is between two tags."""
    begin = f"<{call}>{between}<function={{name}}>{between}"
    return ToolFormat(begin, f"</function>{between}</{call}>", f"<{call}>", between, style=style)


def _invoked(calls: str, invoke: str, style: str, mark: str = "") -> ToolFormat:
    """Invocations within a block of calls."""
    return ToolFormat(
        f'<{mark}{invoke} name="{{name}}">\n',
        f"</{mark}{invoke}>",
        f"<{mark}{calls}>",
        "\n",
        f"<{mark}{calls}>\n",
        f"\n</{mark}{calls}>",
        style,
    )


_HERMES = ToolFormat('<tool_call>\n{"name": "{name}", "arguments": ', "}\n</tool_call>", "<tool_call>", "\n")
_LLAMA = ToolFormat('{"name": "{name}", "parameters": ', "}", '{"name": ', "\n")
_DSML = "｜DSML｜"
_M3 = "]<]minimax[>["
_DEEPSEEK_CALLS = ("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>")

_FAMILIES: list[tuple[tuple[str, ...], ToolFormat]] = [
    (("hermes", "qwen25", "qwen3_json"), _HERMES),
    (("llama", "llama3_json", "llama3"), _LLAMA),
    (("function",), ToolFormat("<function={name}>", "</function>", "<function=", "\n")),
    (
        ("exaone",),
        ToolFormat('<tool_call>{"name": "{name}", "arguments": ', "}</tool_call>", "<tool_call>", "\n"),
    ),
    (("qwen3_coder", "qwen3_xml", "step3p5"), _qwen("tool_call", "\n")),
    (("seed_oss",), _qwen("seed:tool_call", "\n")),
    (("mimo",), _qwen("tool_call", "", "mimo_xml")),
    (
        ("glm45",),
        ToolFormat("<tool_call>{name}\n", "</tool_call>", "<tool_call>", "\n", style="glm_4_5_xml"),
    ),
    (("glm47",), ToolFormat("<tool_call>{name}", "</tool_call>", "<tool_call>", "", style="glm_xml")),
    (
        ("deepseek_v3", "deepseekv3"),
        ToolFormat(
            "<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n",
            "\n```<｜tool▁call▁end｜>",
            _DEEPSEEK_CALLS[0],
            "\n",
            *_DEEPSEEK_CALLS,
        ),
    ),
    (
        ("deepseek_v31", "deepseekv31"),
        ToolFormat(
            "<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>",
            "<｜tool▁call▁end｜>",
            _DEEPSEEK_CALLS[0],
            "",
            *_DEEPSEEK_CALLS,
        ),
    ),
    (("deepseek_v32", "deepseekv32"), _invoked("function_calls", "invoke", "deepseek_xml", _DSML)),
    (("deepseek_v4", "deepseekv4"), _invoked("tool_calls", "invoke", "deepseek_xml", _DSML)),
    (("deepseek_v41", "deepseekv41"), _invoked(" calls", " invoke", "deepseek_v4_1_xml", _DSML)),
    (("minimax_m2", "minimax-m2"), _invoked("minimax:tool_call", "invoke", "minimax_xml")),
    (
        ("minimax_m3", "minimax-m3"),
        ToolFormat(
            f'{_M3}<invoke name="{{name}}">',
            f"{_M3}</invoke>",
            f"{_M3}<tool_call>",
            "\n",
            f"{_M3}<tool_call>\n",
            f"\n{_M3}</tool_call>",
            "minimax_m3_xml",
        ),
    ),
    (
        ("cohere",),
        ToolFormat(
            '<cofl:tool_call id="{index}" name="{name}">',
            "</cofl:tool_call>",
            "<cofl:tool_calls>",
            "",
            "<cofl:tool_calls>",
            "</cofl:tool_calls>",
            "cohere_xml",
        ),
    ),
    (
        ("cohere_command4", "cohere_command3"),
        ToolFormat(
            '    {"tool_call_id": "{index}", "tool_name": "{name}", "parameters": ',
            "}",
            "<|START_ACTION|>",
            ",\n",
            "<|START_ACTION|>[\n",
            "\n]<|END_ACTION|>",
        ),
    ),
    (
        ("kimi_k2",),
        ToolFormat(
            "<|tool_call_begin|>functions.{name}:{index}<|tool_call_argument_begin|>",
            "<|tool_call_end|>",
            "<|tool_calls_section_begin|>",
            "",
            "<|tool_calls_section_begin|>",
            "<|tool_calls_section_end|>",
        ),
    ),
    (
        ("kimi_k3",),
        ToolFormat(
            '<|open|>call tool="{name}" index="{index}"<|sep|>',
            "<|close|>call<|sep|>",
            "<|open|>tools<|sep|>",
            "",
            "<|open|>tools<|sep|>",
            "<|close|>tools<|sep|>",
            "kimi_k3_xml",
        ),
    ),
]

TOOL_FORMATS: Mapping[str, ToolFormat] = {name: form for names, form in _FAMILIES for name in names}
