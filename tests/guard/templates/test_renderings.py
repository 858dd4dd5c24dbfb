"""Renderings of small templates in the manner of public models, judged by transformers."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import PreTrainedTokenizerFast

from tests.support.templates.families import FAMILIES
from tests.support.templates.judge import compare, draws, rendered
from tokamata.errors import ArgumentError
from tokamata.guard.templates import reading
from tokamata.guard.templates.pieces import Condition, Rendering, Slot, Source
from tokamata.guard.templates.reading import Template, read_template
from tokamata.guard.templates.shapes import Shape, Turn
from tokamata.guard.templates.steps import Step

CALL = Turn("assistant", tool_calls=1)
SHAPES = [
    Shape.of("user", add_generation_prompt=True),
    Shape.of("system", "user", "assistant"),
    Shape.of("system", "user", "assistant", "user", "assistant", "user", add_generation_prompt=True),
    Shape.of("user", "user"),
    Shape((Turn("user"), CALL, Turn("tool"), Turn("assistant")), tools=1),
    Shape((Turn("user"), replace(CALL, content=None), Turn("tool"), Turn("tool"), Turn("user")), tools=2),
    Shape((Turn("user"), Turn("assistant", reasoning=True)), variables={"enable_thinking": False}),
    Shape((Turn("user", ("text", "image", "text")), Turn("assistant", ("text",)))),
    Shape((Turn("user"),), text_variables=("date_string",), add_generation_prompt=True),
]


def read(name: str) -> Template:
    return read_template(FAMILIES[name], bos_token="<bos>", eos_token="</s>")


def content(index: int, role: str, *steps: Step) -> Slot:
    return Slot(Source("message", index, role, "content"), steps)


@pytest.mark.parametrize("family", FAMILIES)
def test_renderings_are_what_transformers_writes(family: str) -> None:
    template, chooser = read(family), random.Random(family)
    for shape in SHAPES:
        renderings = template.renderings(shape)
        taken = {
            id(compare(template, shape, renderings, values))
            for values in draws(shape, renderings, chooser, 30)
        }
        assert len(taken) >= min(len(renderings), 5)
        if shape.turns[0].content == "text":
            assert all(rendering.unsettled is None for rendering in renderings)


def test_the_judge_is_apply_chat_template() -> None:
    """Rendering by transformers' function for templates, as the judge does, is what its tokenizers do."""
    shape = Shape.of("system", "user", "assistant", add_generation_prompt=True)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(WordLevel({"a": 0}, unk_token="a")), bos_token="<bos>", eos_token="</s>"
    )
    for name in FAMILIES:
        template = read(name)
        for values in draws(shape, template.renderings(shape), random.Random(1), 5):
            messages = shape.inputs(values.__getitem__)["messages"]
            text = tokenizer.apply_chat_template(
                messages, chat_template=template.source, tokenize=False, add_generation_prompt=True
            )
            if "strftime_now" not in template.source:
                assert text == rendered(template, shape, values)


def test_gemma_merges_the_system_turn_and_trims() -> None:
    strip = Step("strip", (None,))
    (rendering,) = read("gemma").renderings(Shape.of("system", "user", add_generation_prompt=True))
    system, user = content(0, "system"), content(1, "user", strip)
    assert rendering == Rendering(
        ("<bos><start_of_turn>user\n", system, "\n\n", user, "<end_of_turn>\n<start_of_turn>model\n"), ()
    )
    assert [slot.effect for slot in rendering.slots] == ["identity", "trimmed"]
    (refused,) = read("gemma").renderings(Shape.of("user", "user"))
    assert refused.refused == "Roles must alternate"


def test_qwen_drops_the_reasoning_of_earlier_turns() -> None:
    shape = Shape.of("user", "assistant", "user")
    renderings = read("qwen").renderings(shape)
    query = Condition("starts with", (content(2, "user"),), "<tool_response>", False)
    thinks = Condition("contains", (content(1, "assistant"),), "</think>", True)
    dropped = [one for one in renderings if {query, thinks} <= set(one.conditions)]
    assert len(dropped) == 1
    answer = content(1, "assistant", Step("split", ("</think>", -1), part=-1), Step("lstrip", ("\n",)))
    assert dropped[0].pieces == (
        *("<|im_start|>user\n", content(0, "user"), "<|im_end|>\n<|im_start|>assistant\n", answer),
        *("<|im_end|>\n<|im_start|>user\n", content(2, "user"), "<|im_end|>\n"),
    )
    assert answer.effect == "changed"


def test_a_date_and_a_tool_are_slots() -> None:
    shape = Shape((Turn("user"),), tools=1)
    (rendering,) = read("llama").renderings(shape)
    fields = [(slot.source.origin, slot.source.field, slot.source.kind) for slot in rendering.slots]
    assert fields == [
        ("date", "%d %b %Y", "text"),
        ("tool", "function.name", "text"),
        ("tool", "function.description", "text"),
        ("tool", "function.parameters", "json"),
        ("message", "content", "text"),
    ]
    assert rendering.slots[3].steps[0].name == "json value"


def test_a_question_that_changes_nothing_is_left_out() -> None:
    template = read_template(
        "{% if 'a' in messages[0].content %}{% set x = 1 %}{% endif %}[{{ messages[0].content }}]"
    )
    assert template.renderings(Shape.of("user")) == (Rendering(("[", content(0, "user"), "]"), ()),)


def test_known_answers_are_not_asked_again() -> None:
    """An empty text contains nothing; a text without a needle is not split by it."""
    source = (
        "{% set c = messages[0].content %}"
        "{% if c == '' %}{{ 'a' in c }}{{ c.strip() == '' }}"
        "{% elif '</think>' not in c %}{{ c.split('</think>')[0] }}{{ c.startswith('</think>') }}"
        "{{ '</think>' in c.strip() }}{% endif %}"
    )
    renderings = read_template(source).renderings(Shape.of("user"))
    assert {rendering.pieces for rendering in renderings} == {
        ("FalseTrue",),
        (content(0, "user"), "FalseFalse"),
        (),
    }
    assert len(renderings) == 3


def test_pairs_have_the_same_answers() -> None:
    """A turn that is appended changes what Qwen and Mistral wrote before, and nothing in ChatML."""

    def changes(family: str, *roles: str) -> list[bool]:
        pairs = read(family).pairs(Shape.of(*roles))
        assert all(one.conditions == other.conditions for one, other in pairs)
        return [not is_prefix(one, other) for one, other in pairs]

    assert changes("chatml", "user", "assistant", "user") == [False]
    assert changes("gemma", "user", "assistant") == [False]
    assert changes("mistral", "system", "user", "assistant") == [True]
    assert any(changes("qwen", "user", "assistant", "user"))
    assert not all(changes("qwen", "user", "assistant", "user"))


def is_prefix(one: Rendering, other: Rendering) -> bool:
    if one.refused is not None or other.refused is not None:
        return True
    *before, last = one.pieces or ("",)
    if tuple(before) != other.pieces[: len(before)] or len(before) == len(other.pieces):
        return not one.pieces
    following = other.pieces[len(before)]
    if isinstance(last, str) and isinstance(following, str):
        return following.startswith(last)
    return last == following


def test_too_many_paths_are_not_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_PATHS", 60)
    source = "{% for m in messages %}{% for x in 'abcde' %}{{ x in m.content }}{% endfor %}{% endfor %}"
    shape = Shape.of("user", "assistant", "user")
    renderings = read_template(source).renderings(shape)
    assert len(renderings) == 60 + 1
    assert renderings[-1].unsettled is not None
    assert "combinations of answers" in renderings[-1].unsettled.what


def test_shapes_and_arguments_are_checked() -> None:
    with pytest.raises(ArgumentError, match="at least 2 turns"):
        read("chatml").pairs(Shape.of("user"))
    with pytest.raises(ArgumentError, match="1 to 100 turns"):
        Shape(())
    with pytest.raises(ArgumentError, match="a tuple of types of parts"):
        Turn("user", 5)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="the text of a template"):
        read_template(None)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="bos_token must be a text"):
        read_template("", bos_token=1)  # type: ignore[arg-type]
    assert "enable_thinking" in read("qwen").variables


def test_renderings_are_shown() -> None:
    (rendering, *_) = read("deepseek").renderings(Shape.of("user", "assistant"))
    assert str(rendering) == (
        "'<bos><|User|>' + {message 0: user content} + "
        "'<|Assistant|>' + {message 1: assistant content} + '</s>'\n"
        "  if {message 1: assistant content} contains '</think>': no"
    )
