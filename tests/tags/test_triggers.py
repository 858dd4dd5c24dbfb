"""Free text with triggers, tags, control tokens, thinking first and calls of tools: texts and values."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import pytest

import tokamata as tk
from tests.support.masks import allowed
from tests.support.matchers import accepts, write
from tests.support.texts import all_texts
from tests.support.vocabularies import BYTE_VOCABULARY

CONTROL = tk.Vocabulary.load(
    [*(bytes([byte]) for byte in range(256)), None, None, None, b"<tool>"],
    stop=256,
    control_tokens={"<think>": 257, "</think>": 258},
)
NUMBER = tk.json_schema({"type": "integer"})


@dataclass
class Painter:
    name: str
    born: int


def weather(city: str, days: int = 1) -> str:
    """Some tool."""
    return f"{city}: sun for {days} days"


NOW = {"type": "function", "function": {"name": "now"}}
CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Bern"}}\n</tool_call>'


@pytest.mark.parametrize("seed", range(6))
def test_text_without_phrases(seed: int) -> None:
    draw = random.Random(seed)
    phrases = ["".join(draw.choices("ab", k=draw.randint(1, 3))) for _ in range(draw.randint(1, 3))]
    compiled = tk.text_without(phrases, most_characters=5).compile(BYTE_VOCABULARY)
    for text in all_texts("abc", 6):
        matcher = compiled.matcher()
        is_accepted = all(map(matcher.advance, text.encode())) and matcher.is_accepting
        assert is_accepted == (len(text) < 6 and not any(phrase in text for phrase in phrases)), text


@pytest.mark.parametrize("phrases", [["<"], ["<a", "<b>", "<bb"], ["<a", "<ab"], ["<a>", "b"]])
def test_text_without_tags(phrases: list[str]) -> None:
    """Those that begin with one character that they have nowhere else are written without a complement."""
    compiled = tk.text_without(phrases).compile(BYTE_VOCABULARY)
    for text in all_texts("<ab>", 6):
        matcher = compiled.matcher()
        is_accepted = all(map(matcher.advance, text.encode())) and matcher.is_accepting
        assert is_accepted == (not any(phrase in text for phrase in phrases)), text


def test_json_of_any_kind_between_free_texts() -> None:
    """Within free text that is a complement, open objects had a state for each way to write them."""
    calls = tk.tool_calls([{"name": "f", "parameters": {"type": "object"}}])
    compiled = calls.compile(BYTE_VOCABULARY, limits=tk.Limits(states=20_000))
    matcher = compiled.matcher()
    for byte in b'a <tool_call>\n{"name": "f", "arguments": {"x": [1, {"y": "z"}], "w": {}}}\n</tool_call> b':
        assert byte in allowed(matcher)
        assert matcher.advance(byte)
    assert matcher.parse()[1] == tk.ToolCall("f", {"x": [1, {"y": "z"}], "w": {}})


def test_a_trigger_is_found_across_the_border_of_a_token() -> None:
    """The token ``x<`` begins the trigger, ``a`` ends it; then only the tag goes on."""
    vocabulary = tk.Vocabulary.load([b"x<", b"a", b"a>y", b"<", b">y", b"x", b">", None], stop=7)
    compiled = tk.triggered([tk.tag("<a", tk.literal(">"), "")]).compile(vocabulary)
    matcher = compiled.matcher()
    assert matcher.advance(0)
    assert allowed(matcher) == {0, 1, 2, 3, 4, 5, 6, 7}
    assert matcher.advance(1)
    assert allowed(matcher) == {4, 6}
    assert matcher.advance(4)
    assert allowed(matcher) == {0, 1, 2, 3, 4, 5, 6, 7}


def test_flags_of_triggers() -> None:
    one = tk.tag("<", tk.literal("a"), ">")
    for at_least_one in (False, True):
        for stop in (False, True):
            constraint = tk.triggered([one], at_least_one=at_least_one, stop_after_first=stop)
            assert accepts(constraint, "") == accepts(constraint, "x") == (not at_least_one)
            assert accepts(constraint, "<a>")
            assert accepts(constraint, "x<a>") == (not at_least_one)
            assert accepts(constraint, "<a>x") == accepts(constraint, "<a><a>") == (not stop)
            assert not accepts(constraint, "<")
            assert not accepts(constraint, "<b>")


@pytest.mark.parametrize(
    ("arguments", "argument"),
    [
        ({"tags": [tk.tag("<ab", NUMBER, ">")], "triggers": ["<b"]}, "a tag"),
        ({"tags": [tk.tag("<ab", NUMBER, ">"), tk.tag("<a", NUMBER, ">")]}, "a tag"),
        ({"tags": [tk.tag("<ab", NUMBER, ">")], "excludes": ["a"]}, "triggers"),
        ({"tags": [tk.tag("<ab", NUMBER, ">")], "excludes": [""]}, "excludes"),
        ({"tags": [tk.tag("xab", NUMBER, ">"), tk.tag("a", NUMBER, ">")]}, "triggers"),
        ({"tags": [tk.tag("", NUMBER, ">")]}, "a tag"),
        ({"tags": [NUMBER]}, "a tag"),
    ],
)
def test_triggers_that_cannot_appear_are_refused(arguments: dict[str, Any], argument: str) -> None:
    with pytest.raises(tk.ArgumentError) as caught:
        tk.triggered(**arguments)
    assert caught.value.argument == argument


# ---- control tokens ---------------------------------------------------------------------------


def reads(constraint: tk.Constraint[Any], tokens: list[int]) -> Any:
    matcher = constraint.compile(CONTROL).matcher()
    for token in tokens:
        assert matcher.advance(token), (token, matcher)
    return matcher.parse()


def test_spelled_tags_and_control_tokens_end_the_reasoning() -> None:
    thought = tk.think_first(NUMBER)
    assert reads(thought, [*b"7 </think>12"]) == ("7 ", 12)
    assert reads(thought, [*b"7 8", 258, *b"12"]) == ("7 8", 12)


def test_a_control_token_is_told_from_its_name() -> None:
    thought = tk.think_first(NUMBER, end=tk.control_token("</think>"))
    assert reads(thought, [*b"</think>1", 258, *b"12"]) == ("</think>1", 12)
    matcher = thought.compile(CONTROL).matcher()
    write(matcher, "</think>1")
    assert not matcher.is_accepting  # the name is a part of the reasoning
    assert reads(tk.tag("<think>", None, "</think>"), [257, *b"a", 258]) == tk.Tag("<think>", "a", "</think>")
    given = tk.tag(tk.control_token("<think>"), None, tk.control_token("</think>"))
    assert reads(given, [257, *b"</think>", 258]) == tk.Tag("", "</think>", "")


def test_the_value_of_control_tokens_is_that_of_the_tokens() -> None:
    """From the text alone, 12 might belong to the reasoning."""
    matcher = tk.think_first(NUMBER, begin="<think>").compile(CONTROL).matcher()
    closed = []
    for token in [257, *b"1", 258, *b"23", 256]:
        assert matcher.advance(token)
        closed += matcher.events()
    value = matcher.parse()
    assert value == ("1", 23)
    assert value.reasoning == "1"
    assert value.answer == 23
    found = {event.pointer: (event.value, event.start, event.end) for event in closed}
    assert found["/answer"] == (23, 1, 3)
    assert found[""] == (("1", 23), 0, 3)


def test_tokens_as_triggers() -> None:
    """``<think>`` is a control token and ``<tool>`` a text token; spelled ones are free text."""
    tags = [
        {"type": "tag", "begin": {"type": "token", "token": name}, "content": content, "end": "."}
        for name, content in (
            ("<think>", {"type": "any_text"}),
            ("<tool>", {"type": "json_schema", "json_schema": {"type": "integer"}}),
        )
    ]
    form = {"type": "token_triggered_tags", "trigger_tokens": ["<think>", "<tool>"], "tags": tags}
    constraint = tk.structural_tag({"format": form})
    tokens = [*b"a<tool>b", 258, 259, *b"12.", *b"c", 257, *b"hm."]
    value = reads(constraint, tokens)
    assert value == ["a<tool>b", tk.Tag("<tool>", 12, "."), "c", tk.Tag("", "hm", ".")]
    matcher = constraint.compile(CONTROL).matcher()
    assert matcher.advance(259)
    assert not matcher.advance(ord("a"))
    assert not matcher.advance(257)


def test_an_unknown_token_is_refused() -> None:
    constraint = tk.structural_tag({"format": {"type": "token", "token": "<none>"}})
    with pytest.raises(tk.UnknownTokenError):
        constraint.compile(CONTROL)


# ---- budgets ----------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [30, 45, 100])
@pytest.mark.parametrize("seed", range(3))
def test_a_budget_keeps_room_for_the_answer(budget: int, seed: int) -> None:
    """Reasoning takes any letter that the mask allows; the answer is complete nevertheless."""
    draw = random.Random(seed)
    matcher = tk.think_first(tk.type(Painter)).compile(BYTE_VOCABULARY).matcher()
    row = matcher.compiled.allocate_mask()[0]
    needed = len(matcher.shortest_completion())
    for left in range(max(budget, needed), 0, -1):
        if matcher.is_finished:
            break
        matcher.fill_mask(row, left)
        choices = [token for token in range(256) if row[token // 32] >> token % 32 & 1]
        letters = [token for token in choices if chr(token).isalpha()]
        assert matcher.advance(draw.choice(letters or choices))
    assert isinstance(matcher.parse().answer, Painter)


# ---- tools ------------------------------------------------------------------------------------


def test_choices_of_tools() -> None:
    auto = tk.tool_calls([weather, NOW])
    assert auto.parse("It is sunny.") == ["It is sunny."]
    assert auto.parse(f"So:{CALL}{CALL}") == ["So:", *[tk.ToolCall("weather", {"city": "Bern"})] * 2]
    required = tk.tool_calls([weather, NOW], tool_choice="required")
    assert required.parse(f"{CALL}\n{CALL}") == [tk.ToolCall("weather", {"city": "Bern"})] * 2
    assert not accepts(required, "")
    assert not accepts(required, "It is sunny.")
    named = tk.tool_calls([weather, NOW], tool_choice=NOW, parallel=False)
    text = '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>'
    assert named.parse(text) == [tk.ToolCall("now", {})]
    assert not accepts(named, CALL)
    assert not accepts(named, f"{text}\n{text}")
    single = tk.tool_calls([weather], parallel=False)
    assert accepts(single, f"So:{CALL}")
    assert not accepts(single, f"So:{CALL}.")


@pytest.mark.parametrize("style", ["hermes", "llama", "function"])
def test_formats_of_tools(style: str) -> None:
    constraint = tk.tool_calls([weather, {"name": 'a"\\b'}], format=style, tool_choice="required")
    text = constraint.shortest_text()
    assert text is not None
    assert isinstance(constraint.parse(text)[0], tk.ToolCall)
    assert accepts(tk.tool_calls([weather, {"name": 'a"\\b'}], format=style), f"x{text}y")


def test_tools_after_reasoning() -> None:
    value = tk.think_first(tk.tool_calls([weather], tool_choice="required")).parse(f"hm</think>\n\n{CALL}")
    assert value.answer == [tk.ToolCall("weather", {"city": "Bern"})]


@pytest.mark.parametrize("choice", ["none", "weather", {"type": "function", "function": {"name": "x"}}])
def test_a_choice_that_is_none_is_refused(choice: Any) -> None:
    with pytest.raises(tk.ArgumentError) as caught:
        tk.tool_calls([weather], tool_choice=choice)
    assert caught.value.argument == "tool_choice"


def test_a_schema_of_a_tool_has_its_pointer() -> None:
    with pytest.raises(tk.SchemaError) as caught:
        tk.tool_calls([NOW, {"name": "x", "parameters": {"type": "text"}}])
    assert caught.value.pointer.startswith("/1/parameters")


@pytest.mark.parametrize("edge", [tk.literal("x"), tk.regex("x"), b"x", None, 5])
def test_tags_are_texts_or_control_tokens(edge: Any) -> None:
    """Free text could contain what any other constraint accepts."""
    for make in (
        lambda: tk.tag(edge, None, "x"),
        lambda: tk.tag("x", None, edge),
        lambda: tk.think_first(NUMBER, end=edge),
    ):
        with pytest.raises(tk.ArgumentError):
            make()
