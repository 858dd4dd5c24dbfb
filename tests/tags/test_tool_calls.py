"""Calls of tools in the formats of model families: values, as their schemas type them, and masks."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import Any

import jsonschema
import pytest

import tokamata as tk
from tests.support.tags.tagged_texts import SCHEMAS, read
from tests.support.tags.walks import walked
from tests.support.vocabularies import BYTE_VOCABULARY
from tokamata.constraints.tool_formats import TOOL_FORMATS
from tokamata.patterns.tagged import STYLES

WEATHER = {
    "name": "weather",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
        "additionalProperties": False,
    },
}
CLOCK = {"name": "clock", "parameters": {"type": "object", "properties": {}, "additionalProperties": False}}
M3 = "]<]minimax[>["
BEGUN, ENDED = "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"

# A turn of each family, as its chat template writes it: two calls of `weather`.
TURNS = {
    "hermes": '<tool_call>\n{"name": "weather", "arguments": {"city": "5", "days": 5}}\n</tool_call>\n'
    '<tool_call>\n{"name": "weather", "arguments": {"city": "Bern"}}\n</tool_call>',
    "llama": '{"name": "weather", "parameters": {"city": "5", "days": 5}}\n'
    '{"name": "weather", "parameters": {"city": "Bern"}}',
    "function": '<function=weather>{"city": "5", "days": 5}</function>\n'
    '<function=weather>{"city": "Bern"}</function>',
    "exaone": '<tool_call>{"name": "weather", "arguments": {"city": "5", "days": 5}}</tool_call>\n'
    '<tool_call>{"name": "weather", "arguments": {"city": "Bern"}}</tool_call>',
    "qwen3_coder": "<tool_call>\n<function=weather>\n<parameter=city>\n5\n</parameter>\n<parameter=days>\n5\n"
    "</parameter>\n</function>\n</tool_call>\n"
    "<tool_call>\n<function=weather>\n<parameter=city>\nBern\n</parameter>\n</function>\n</tool_call>",
    "seed_oss": "<seed:tool_call>\n<function=weather>\n<parameter=city>5</parameter>\n<parameter=days>5"
    "</parameter>\n</function>\n</seed:tool_call>\n"
    "<seed:tool_call>\n<function=weather>\n<parameter=city>Bern</parameter>\n</function>\n</seed:tool_call>",
    "mimo": "<tool_call><function=weather><parameter=city>5</parameter><parameter=days>5</parameter>"
    "</function></tool_call>"
    "<tool_call><function=weather><parameter=city>Bern</parameter></function></tool_call>",
    "glm45": "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>5</arg_value>\n"
    "<arg_key>days</arg_key>\n<arg_value>5</arg_value>\n</tool_call>\n"
    "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Bern</arg_value>\n</tool_call>",
    "glm47": "<tool_call>weather<arg_key>city</arg_key><arg_value>5</arg_value><arg_key>days</arg_key>"
    "<arg_value>5</arg_value></tool_call>"
    "<tool_call>weather<arg_key>city</arg_key><arg_value>Bern</arg_value></tool_call>",
    "deepseek_v3": f"<｜tool▁calls▁begin｜>{BEGUN}function<｜tool▁sep｜>weather\n```json\n"
    f'{{"city": "5", "days": 5}}\n```{ENDED}\n{BEGUN}function<｜tool▁sep｜>weather\n```json\n'
    f'{{"city": "Bern"}}\n```{ENDED}<｜tool▁calls▁end｜>',
    "deepseek_v31": f'<｜tool▁calls▁begin｜>{BEGUN}weather<｜tool▁sep｜>{{"city": "5", "days": 5}}{ENDED}'
    f'{BEGUN}weather<｜tool▁sep｜>{{"city": "Bern"}}{ENDED}<｜tool▁calls▁end｜>',
    "deepseek_v32": '<｜DSML｜function_calls>\n<｜DSML｜invoke name="weather">\n'
    '<｜DSML｜parameter name="city" string="true">5</｜DSML｜parameter>\n'
    '<｜DSML｜parameter name="days" string="false">5</｜DSML｜parameter>\n</｜DSML｜invoke>\n'
    '<｜DSML｜invoke name="weather">\n<｜DSML｜parameter name="city" string="true">Bern</｜DSML｜parameter>\n'
    "</｜DSML｜invoke>\n</｜DSML｜function_calls>",
    "deepseek_v41": '<｜DSML｜ calls>\n<｜DSML｜ invoke name="weather">\n'
    '<｜DSML｜ parameter name="city" string="true">5</｜DSML｜ parameter>\n'
    '<｜DSML｜ parameter name="days" string="false">5</｜DSML｜ parameter>\n</｜DSML｜ invoke>\n'
    '<｜DSML｜ invoke name="weather">\n'
    '<｜DSML｜ parameter name="city" string="true">Bern</｜DSML｜ parameter>\n'
    "</｜DSML｜ invoke>\n</｜DSML｜ calls>",
    "minimax_m2": '<minimax:tool_call>\n<invoke name="weather">\n<parameter name="city">5</parameter>\n'
    '<parameter name="days">5</parameter>\n</invoke>\n'
    '<invoke name="weather">\n<parameter name="city">Bern</parameter>\n</invoke>\n</minimax:tool_call>',
    "minimax_m3": f'{M3}<tool_call>\n{M3}<invoke name="weather">{M3}<city>5{M3}</city>{M3}<days>5{M3}</days>'
    f'{M3}</invoke>\n{M3}<invoke name="weather">{M3}<city>Bern{M3}</city>{M3}</invoke>\n{M3}</tool_call>',
    "cohere": '<cofl:tool_calls><cofl:tool_call id="0" name="weather"><cofl:value name="city" type="raw">5'
    '</cofl:value><cofl:value name="days" type="json">5</cofl:value></cofl:tool_call>'
    '<cofl:tool_call id="1" name="weather"><cofl:value name="city" type="raw">Bern</cofl:value>'
    "</cofl:tool_call></cofl:tool_calls>",
    "cohere_command4": '<|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "weather", "parameters": '
    '{"city": "5", "days": 5}},\n    {"tool_call_id": "1", "tool_name": "weather", "parameters": '
    '{"city": "Bern"}}\n]<|END_ACTION|>',
    "kimi_k2": "<|tool_calls_section_begin|>"
    "<|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>"
    '{"city": "5", "days": 5}<|tool_call_end|><|tool_call_begin|>functions.weather:1'
    '<|tool_call_argument_begin|>{"city": "Bern"}<|tool_call_end|><|tool_calls_section_end|>',
    "kimi_k3": '<|open|>tools<|sep|><|open|>call tool="weather" index="1"<|sep|>'
    '<|open|>argument key="city" type="string"<|sep|>5<|close|>argument<|sep|>'
    '<|open|>argument key="days" type="number"<|sep|>5<|close|>argument<|sep|><|close|>call<|sep|>'
    '<|open|>call tool="weather" index="2"<|sep|>'
    '<|open|>argument key="city" type="string"<|sep|>Bern<|close|>argument<|sep|><|close|>call<|sep|>'
    "<|close|>tools<|sep|>",
}
BOTH = [tk.ToolCall("weather", {"city": "5", "days": 5}), tk.ToolCall("weather", {"city": "Bern"})]


def test_every_family_has_a_turn() -> None:
    assert set(map(id, TOOL_FORMATS.values())) - {id(TOOL_FORMATS["deepseek_v4"])} == {
        id(TOOL_FORMATS[family]) for family in TURNS
    }


@pytest.mark.parametrize("family", TURNS)
def test_turns_of_the_families(family: str) -> None:
    """renderers#63: as the schema types them, "5" is a text for a city and a number for days."""
    turn, form = TURNS[family], TOOL_FORMATS[family]
    required = tk.tool_calls([WEATHER, CLOCK], format=family, tool_choice="required")
    assert required.accepts(turn)
    assert required.parse(turn) == BOTH
    assert [type(one) for one in required.parse(turn)[0].arguments.values()] == [str, int]
    assert not required.accepts("Hm. " + turn)
    auto = tk.tool_calls([WEATHER, CLOCK], format=family)
    between = [form.separator] if form.separator and not form.opening else []
    assert auto.parse("Hm. " + turn) == ["Hm. ", BOTH[0], *between, BOTH[1]]
    assert auto.parse("Hm.") == ["Hm."]
    for choice in ("auto", "required"):
        single = tk.tool_calls([WEATHER], format=family, tool_choice=choice, parallel=False)
        assert not single.accepts(turn)
    other = tk.tool_calls(
        [WEATHER, CLOCK], format=family, tool_choice={"type": "function", "function": {"name": "clock"}}
    )
    assert not other.accepts(turn)


@pytest.mark.parametrize("family", [name for name in TURNS if TOOL_FORMATS[name].style != "json"])
def test_tools_without_arguments(family: str) -> None:
    calls = tk.tool_calls([CLOCK], format=family, tool_choice="required", parallel=False)
    text = calls.shortest_text()
    assert text is not None
    assert calls.parse(text) == [tk.ToolCall("clock", {})]


# ---- values that the schema types -----------------------------------------------------------------


@dataclass
class Place:
    name: str
    floor: int | str = 0


def visit(place: Place, note: str | None, codes: list[str], weight: float = 1.0) -> None:
    """Visits."""


def test_arguments_of_a_python_function() -> None:
    calls = tk.tool_calls(visit, format="qwen3_coder", tool_choice="required")
    text = (
        '<tool_call>\n<function=visit>\n<parameter=place>\n{"name": "5", "floor": 5}\n</parameter>\n'
        '<parameter=note>\n5\n</parameter>\n<parameter=codes>\n["5"]\n</parameter>\n'
        "<parameter=weight>\n5\n</parameter>\n</function>\n</tool_call>"
    )
    (call,) = calls.parse(text)
    assert call.arguments == {"place": Place("5", 5), "note": "5", "codes": ["5"], "weight": 5.0}
    assert type(call.arguments["weight"]) is float
    (call,) = calls.parse(text.replace("<parameter=note>\n5", "<parameter=note>\nnull"))
    assert call.arguments["note"] is None


@pytest.mark.parametrize("family", ["qwen3_coder", "glm47", "minimax_m2", "deepseek_v32", "kimi_k3"])
def test_a_text_that_looks_like_a_number_stays_a_text(family: str) -> None:
    """renderers#63: rewards rose from 0.10 to 0.55 once arguments were read by their schema."""
    for written, city in (("5", "5"), ("5.0", "5.0"), ("true", "true"), ("[1]", "[1]"), ("1e5", "1e5")):
        turn = TURNS[family].replace(">5</", f">{written}</", 1).replace("\n5\n</", f"\n{written}\n</", 1)
        turn = turn.replace('"<|sep|>5<', f'"<|sep|>{written}<', 1)
        calls = tk.tool_calls([WEATHER], format=family, tool_choice="required")
        assert calls.parse(turn)[0].arguments == {"city": city, "days": 5}


# ---- masks ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", [name for name in TURNS if TOOL_FORMATS[name].style != "json"])
def test_texts_from_masks_fit_the_schema(family: str) -> None:
    rng = random.Random(family)
    form = TOOL_FORMATS[family]
    for schema in SCHEMAS[:2]:
        tool = {"name": "f", "parameters": schema}
        calls = tk.tool_calls([tool], format=family, tool_choice="required", parallel=False)
        compiled = calls.compile(BYTE_VOCABULARY)
        for _ in range(2):
            matcher = walked(compiled, rng, 500)
            text = matcher.text.decode()
            (call,) = matcher.parse()
            assert call == calls.parse(text)[0]
            jsonschema.validate(call.arguments, schema)
            if STYLES[form.style].items is None:
                begin = form.begin.replace("{name}", "f").split("{index}")
                inner = text.removeprefix(form.opening).removesuffix(form.closing).removesuffix(form.end)
                inner = inner[len(begin[0]) :] if len(begin) == 1 else inner.split(begin[1], 1)[1]
                assert json.dumps(read(inner, form.style, schema)) == json.dumps(call.arguments)


def test_tags_of_control_tokens() -> None:
    names = {"<|open|>": 256, "<|sep|>": 257, "<|close|>": 258}
    vocabulary = tk.Vocabulary.load(
        [*(bytes([i]) for i in range(256)), *[None] * 4], stop=259, control_tokens=names
    )
    turn = "Hm. " + TURNS["kimi_k3"]
    compiled = tk.tool_calls([WEATHER], format="kimi_k3").compile(vocabulary)
    tokens: list[int] = []
    rest = turn
    while rest:
        name = next((one for one in names if rest.startswith(one)), None)
        tokens += rest[0].encode() if name is None else [names[name]]
        rest = rest[1:] if name is None else rest.removeprefix(name)
    for written in (tokens, list(turn.encode())):
        matcher, events = compiled.matcher(), []
        for token in written:
            assert matcher.advance(token)
            events += matcher.events()
        assert matcher.parse() == ["Hm. ", *BOTH]
        members = [
            (one.pointer.rsplit("/", 1)[1], one.value) for one in events if "arguments/" in one.pointer
        ]
        assert members == [("city", "5"), ("days", 5), ("city", "Bern")]


def test_events_of_members_come_with_their_closing_tags() -> None:
    calls = tk.tool_calls([WEATHER], format="qwen3_coder")
    matcher = calls.compile(BYTE_VOCABULARY).matcher()
    seen: list[tuple[str, str, Any]] = []
    for byte in ("Hm.\n" + TURNS["qwen3_coder"]).encode():
        assert matcher.advance(byte)
        text = matcher.text.decode(errors="ignore")
        seen += [(text[-12:], one.pointer.rsplit("/", 1)[1], one.value) for one in matcher.events()]
    found = [one for one in seen if one[1] in ("city", "days")]
    assert found == [
        ("</parameter>", "city", "5"),
        ("</parameter>", "days", 5),
        ("</parameter>", "city", "Bern"),
    ]


# ---- what is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    [
        tk.ToolFormat("<{name}>", "</>", "<", "", style="xml"),
        tk.ToolFormat("<{name}>", "</>", "<", "", opening="calls", closing="."),
        tk.ToolFormat("<{index}>", "</>", "<", ""),
        tk.ToolFormat("<{name}{name}>", "</>", "<", ""),
        tk.ToolFormat("<{name}{index}{index}>", "</>", "<", ""),
        tk.ToolFormat("<{name}>", 5, "<", ""),  # type: ignore[arg-type]
    ],
)
def test_formats_that_are_refused(form: tk.ToolFormat) -> None:
    with pytest.raises(tk.ArgumentError, match="format"):
        tk.tool_calls([WEATHER], format=form)


def test_names_that_a_style_cannot_write() -> None:
    named = {"name": "a<b", "parameters": WEATHER["parameters"]}
    with pytest.raises(tk.ArgumentError, match="a<b"):
        tk.tool_calls([named], format="qwen3_coder")
    calls = tk.tool_calls([{**named, "name": 'a&"b'}], format="cohere", tool_choice="required")
    text = calls.shortest_text()
    assert text is not None
    assert 'name="a&amp;&quot;b"' in text
    assert calls.parse(text)[0].name == 'a&"b'
    required = {"type": "object", "properties": {"a<b": {}}, "required": ["a<b"]}
    with pytest.raises(tk.UnsupportedSchemaError, match="a<b"):
        tk.tool_calls([{"name": "f", "parameters": required}], format="qwen3_coder")
