"""Control tokens that stand for their names in the texts of tags; those of the vocabulary are like gpt-oss's.

``tests/tags/test_structural_tags.py`` compares random forms with their definition.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import tokamata as tk
from tests.support.masks import allowed, bits
from tests.support.vocabularies import BYTES

NAMES = ("<|channel|>", "<|message|>", "<|call|>", "<|end|>", "<|end|>x", "<|return|>")
IDS = {name: token for token, name in enumerate(NAMES, 300)}
STOP = IDS["<|return|>"]
VOCABULARY = tk.Vocabulary.load([*BYTES, *[None] * 50], stop=STOP, control_tokens=IDS)
PLAIN = tk.Vocabulary.load([*BYTES, None], stop=256)
NUMBER = tk.json_schema({"type": "integer"})
BEGIN, END = "<|channel|>f<|message|>", "<|call|>"
TAG = tk.Tag(BEGIN, 12, END)


def tokens_of(*parts: str) -> list[int]:
    """The tokens of a text in parts: one that is the name of a control token is that token."""
    return [token for part in parts for token in ([IDS[part]] if part in IDS else part.encode())]


def reads(constraint: tk.Constraint[Any], tokens: Sequence[int]) -> Any:
    matcher = constraint.compile(VOCABULARY).matcher()
    for token in tokens:
        assert token in allowed(matcher), (token, matcher)
        assert matcher.advance(token)
    return matcher.parse()


def takes(constraint: tk.Constraint[Any], *parts: str) -> bool:
    matcher = constraint.compile(VOCABULARY).matcher()
    return all(map(matcher.advance, tokens_of(*parts))) and matcher.is_accepting


def form_of(content: dict[str, Any], **kind: Any) -> tk.Constraint[Any]:
    return tk.structural_tag(
        {"format": {"type": "tag", "begin": BEGIN, "content": content, "end": END, **kind}}
    )


INTEGER = {"type": "json_schema", "json_schema": {"type": "integer"}}
CALL = {"type": "const_string", "value": END}
# By name: a constraint, and the value of the text of one tag.
CONSTRAINTS: dict[str, tuple[tk.Constraint[Any], Any]] = {
    "tk.tag": (tk.tag(BEGIN, NUMBER, END), TAG),
    "several ends": (tk.tag(BEGIN, NUMBER, ["!", END]), TAG),
    "any text": (tk.tag(BEGIN, None, [END, "!"]), tk.Tag(BEGIN, "12", END)),
    "triggered": (tk.triggered([tk.tag(BEGIN, NUMBER, END)], triggers=["<|channel|>f"]), [TAG]),
    "a structural tag": (form_of(INTEGER), TAG),
    "its older form": (
        tk.structural_tag(
            {
                "structures": [{"begin": BEGIN, "schema": {"type": "integer"}, "end": END}],
                "triggers": ["<|ch"],
            }
        ),
        [TAG],
    ),
    "dispatch": (
        tk.structural_tag(
            {
                "format": {
                    "type": "dispatch",
                    "rules": [[BEGIN, {"type": "sequence", "elements": [INTEGER, CALL]}]],
                }
            }
        ),
        [tk.Tag(BEGIN, (12, END), "")],
    ),
    "a difference": (tk.tag(BEGIN, NUMBER, END) - tk.literal("x"), TAG),
    "an option": (tk.literal("x") | tk.tag(BEGIN, NUMBER, END).optional(), TAG),
}  # fmt: skip


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_each_name_may_be_its_control_token(name: str) -> None:
    constraint, value = CONSTRAINTS[name]
    whole = f"{BEGIN}12{END}"
    for parts in (
        [whole],
        ["<|channel|>", "f", "<|message|>", "12", "<|call|>"],
        ["<|channel|>", "f<|message|>12", "<|call|>"],
        ["<|channel|>f", "<|message|>", "12<|call|>"],
    ):
        assert reads(constraint, tokens_of(*parts)) == value, parts
    assert constraint.parse(whole) == value  # without a vocabulary: the text as it is spelled
    plain = constraint.compile(PLAIN).matcher()
    assert all(map(plain.advance, whole.encode()))


def test_other_control_tokens_are_refused() -> None:
    constraint, _ = CONSTRAINTS["triggered"]
    matcher = constraint.compile(VOCABULARY).matcher()
    assert matcher.validate(tokens_of("a", "<|call|>")) == 1  # not within free text
    assert matcher.validate(tokens_of("<|channel|>", "f", "<|call|>")) == 2
    assert matcher.validate(tokens_of("<|channel|>", "g")) == 1  # the trigger is to be completed
    assert not takes(tk.text_without([]), "<|call|>")
    quoted = tk.tag("<", tk.json_schema({"const": "<|call|>"}), ">")
    assert takes(quoted, '<"<|call|>">')
    assert not takes(quoted, '<"', "<|call|>", '">')  # JSON is text


def test_thinking_ends_with_a_text_of_several_control_tokens() -> None:
    end = "<|end|><|channel|>final<|message|>"
    thought = tk.think_first(NUMBER, end=end)
    assert reads(thought, tokens_of("7 <", "<|end|>", "<|channel|>", "final", "<|message|>", "12")) == (
        "7 <",
        12,
    )
    assert reads(thought, tokens_of("7<|end|>", "<|channel|>", "final<|message|>12")) == ("7", 12)
    assert reads(thought, tokens_of(f"7{end}12")) == ("7", 12)
    assert not takes(thought, "7", "<|call|>", f"{end}12")
    bounded = tk.think_first(NUMBER, end=end, most_characters=2)
    assert takes(bounded, "ab", "<|end|>", "<|channel|>", "final", "<|message|>", "1")
    assert not takes(bounded, "abc", "<|end|>", "<|channel|>", "final", "<|message|>", "1")


def test_the_longest_name_counts() -> None:
    """``<|end|>x`` is a control token too; after ``<|end|>`` alone, the text could not go on."""
    tag = tk.tag("<", tk.literal("a"), "<|end|>x")
    assert takes(tag, "<a", "<|end|>x")
    assert takes(tag, "<a<|end|>x")
    assert not takes(tag, "<a", "<|end|>", "x")
    assert takes(tk.tag("<", tk.literal("a"), "<|end|>y"), "<a", "<|end|>", "y")


def test_a_stop_token_stays_the_end_of_the_text() -> None:
    matcher = tk.tag("<", tk.literal("a"), "<|return|>").compile(VOCABULARY).matcher()
    assert matcher.validate([*b"<a", STOP]) == 2
    assert all(map(matcher.advance, b"<a<|return|>"))
    assert matcher.is_accepting
    assert matcher.advance(STOP)


def test_a_given_control_token_is_never_spelled() -> None:
    tag = tk.tag(tk.control_token("<|channel|>"), NUMBER, END)
    assert reads(tag, tokens_of("<|channel|>", "12", "<|call|>")) == tk.Tag("", 12, END)
    assert not takes(tag, "<|channel|>12<|call|>")


def test_any_tokens_end_at_a_control_token_that_ends_the_tag() -> None:
    constraint = form_of({"type": "any_tokens"}, end=["<|call|>", "<|end|>y"])
    assert takes(
        constraint, "<|channel|>", "f", "<|message|>", "a", "<|channel|>", "<|end|>", "z", "<|call|>"
    )
    assert takes(constraint, "<|channel|>", "f", "<|message|>", "a", "<|end|>", "y")
    for first in ("<|call|>", "<|end|>"):
        rest = ["y"] if first == "<|end|>" else []
        assert not takes(constraint, "<|channel|>", "f", "<|message|>", first, *rest, "b", "<|call|>")


def test_events_have_the_names() -> None:
    calls = tk.triggered([tk.tag(BEGIN, NUMBER, END)])
    matcher = calls.compile(VOCABULARY).matcher()
    closed = []
    for token in tokens_of("a ", "<|channel|>", "f", "<|message|>", "12", "<|call|>", "b"):
        assert matcher.advance(token)
        closed += [event.value for event in matcher.events()]
    assert TAG in closed
    assert 12 in closed
    assert matcher.parse() == ["a ", TAG, "b"]


def test_calls_of_tools() -> None:
    form = tk.ToolFormat("<|channel|>to={name}<|message|>", "<|call|>", "<|channel|>", "<|end|>")
    call = ("<|channel|>", "to=now", "<|message|>", "{}", "<|call|>")
    now = tk.ToolCall("now", {})
    tools = [{"name": "now"}, {"name": "later"}]
    assert reads(tk.tool_calls(tools, format=form), tokens_of("So ", *call, *call)) == ["So ", now, now]
    required = tk.tool_calls(tools, format=form, tool_choice="required")
    assert reads(required, tokens_of(*call, "<|end|>", *call)) == [now, now]
    assert reads(required, tokens_of("".join(call), "<|end|>", *call)) == [now, now]


@pytest.mark.parametrize("left", [12, 20, 40])
def test_a_budget_leaves_room_for_the_end(left: int) -> None:
    matcher = tk.tag(BEGIN, tk.json_schema({"type": "string"}), END).compile(VOCABULARY).matcher()
    row = matcher.compiled.allocate_mask()[0]
    assert matcher.shortest_completion() == tokens_of("<|channel|>", "f", "<|message|>", '""', "<|call|>")
    for rest in range(left, 0, -1):
        matcher.fill_mask(row, rest)
        some = bits(row) - {STOP}
        if not some:
            break
        assert matcher.advance(max(some, key=lambda token: (token == ord("a"), token)))
    assert matcher.is_accepting


def test_texts_have_questions_and_repairs_as_before() -> None:
    tag = tk.tag(BEGIN, NUMBER, END)
    assert tag.shortest_text() == f"{BEGIN}0{END}"
    assert tag.is_subset_of(tk.triggered([tag]))
    assert tag.repair(f"{BEGIN}12<|cal|>").text == f"{BEGIN}12{END}"
    assert not takes(~tag, "<|channel|>", "f", "<|message|>", "12", "<|call|>")
    thought = tk.think_first(NUMBER)
    assert thought.repair("hm</think>1,").text == "hm</think>1"
