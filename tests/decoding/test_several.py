"""Several prompts at once: each text is what a call with its prompt alone writes."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers

import tokamata as tk
from tests.support.models.fakes import Counting, byte_level
from tests.support.models.small_models import KINDS, config_of, small_model

PROMPTS = ["x", "hello there, all of you", "12 34", "the one", "", "abc abc"]
PATTERNS = [r"[a-z ]{1,30}", r"[0-9]{4}-[0-9]{2}-[0-9]{2}", r"(one|two)( and (one|two)){0,3}", "the!", ""]


def both(
    model: Any, tokenizer: Any, prompts: list[Any], constraint: Any, **settings: Any
) -> tuple[list[Any], list[Any]]:
    """What is written together, and what is written one by one."""
    together = tk.generate(model, tokenizer, prompts, constraint, **settings)
    constraints = constraint if isinstance(constraint, list) else [constraint] * len(prompts)
    alone = []
    for index, (prompt, each) in enumerate(zip(prompts, constraints, strict=True)):
        if "seed" in settings:
            settings["seed"] += index > 0
        alone.append(tk.generate(model, tokenizer, prompt, each, **settings))
    return together, alone


def assert_same(together: list[Any], alone: list[Any]) -> None:
    assert len(together) == len(alone)
    for one, other in zip(together, alone, strict=True):
        for name in ("text", "tokens", "stop_token", "finish_reason", "prompt_tokens", "healed", "jumped"):
            assert getattr(one, name) == getattr(other, name), (name, one, other)
        assert one.log_probability == pytest.approx(other.log_probability, abs=1e-3)


# ---- the same as alone -------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize(
    "settings",
    [
        {"greedy": True},
        {"seed": 3},
        {"seed": 4, "temperature": 2.0, "top_k": 20},
        {"greedy": True, "jump": True},
        {"seed": 5, "jump": True},
        {"greedy": True, "heal": True},
        {"greedy": True, "max_new_tokens": 12},
        {"greedy": True, "tokenization": "canonical"},
        {"seed": 1, "tokenization": "canonical", "max_new_tokens": 14, "jump": True},
    ],
    ids=str,
)
def test_the_same_as_alone(model: Any, tokenizer: Any, pattern: str, settings: dict[str, Any]) -> None:
    together, alone = both(model, tokenizer, PROMPTS, tk.regex(pattern), **settings)
    assert_same(together, alone)
    for result in together:
        assert re.fullmatch(pattern, result.text), result
        assert len(result.tokens) <= settings.get("max_new_tokens", 256)


def test_a_constraint_for_each_prompt(model: Any, tokenizer: Any) -> None:
    vocabulary = tk.Vocabulary.load(tokenizer, stop=[1], width=len(tokenizer) + 37)
    constraints = [
        tk.regex("[a-z]{5}"),
        tk.regex("[0-9]{2,9}").compile(vocabulary),
        None,
        tk.json_schema({"type": "array", "items": {"type": "boolean"}, "maxItems": 3}),
        tk.regex("(the|one)").compile(vocabulary, tokenization="canonical"),
        tk.regex("the one!"),
    ]
    together, alone = both(model, tokenizer, PROMPTS, constraints, greedy=True, jump=True, max_new_tokens=25)
    for one, constraint in zip(together, constraints, strict=True):
        assert one.constraint is constraint
    assert [one.text for one in together] == [one.text for one in alone]
    assert isinstance(together[3].parse(), list)
    assert re.fullmatch("[a-z]{5}", together[0].text)
    assert together[5].text == "the one!"
    assert together[2].finish_reason in ("length", "stop")


@pytest.mark.parametrize("prompts", [["x"], ["hello", "x" * 40], ["x"] * 5])
def test_lengths_of_prompts(model: Any, tokenizer: Any, prompts: list[str]) -> None:
    assert_same(*both(model, tokenizer, prompts, tk.regex("[a-c]{3,9}!"), greedy=True))


def test_seeds_are_those_of_single_calls(model: Any, tokenizer: Any) -> None:
    """Text i is drawn with seed + i, so that equal prompts get different texts."""
    constraint = tk.regex("[a-z]{12}")
    together = tk.generate(model, tokenizer, ["x"] * 4, constraint, seed=7)
    for index, result in enumerate(together):
        assert result.tokens == tk.generate(model, tokenizer, "x", constraint, seed=7 + index).tokens
    assert len({result.text for result in together}) == 4
    again = tk.generate(model, tokenizer, ["x"] * 4, constraint, seed=7)
    assert [result.text for result in again] == [result.text for result in together]
    largest = (1 << 64) - 1
    tk.generate(model, tokenizer, ["x"] * 2, constraint, seed=largest)


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_models(tokenizer: Any, kind: str) -> None:
    """Padding is nothing to any of them, also if texts are longer than a window, jump, and end one by one."""
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(config_of(kind, len(tokenizer))).eval()
    pattern = r"[a-z]{3,25}(=> one, two, the one)?!"
    settings = {"greedy": True, "max_new_tokens": 50}
    for jump in (False, True):
        together, alone = both(model, tokenizer, PROMPTS, tk.regex(pattern), jump=jump, **settings)
        assert [one.text for one in together] == [one.text for one in alone]


# ---- how the model is asked --------------------------------------------------------------------


class Spy(Counting):
    """Keeps the shapes of what the model is given."""

    def __init__(self, model: Any, cache: bool = True) -> None:
        super().__init__(model, cache)
        self.inputs: list[dict[str, Any]] = []

    def __call__(self, **inputs: Any) -> Any:
        self.inputs.append(inputs)
        return super().__call__(**inputs)


def test_prompts_are_read_together_and_texts_leave_when_they_end(model: Any, tokenizer: Any) -> None:
    spy = Spy(model)
    constraints = [tk.regex("[a-c]{1}"), tk.regex("[xyz]{6}"), tk.regex("[xyz]{3}")]
    tk.generate(spy, tokenizer, ["x", "hello", "hey"], constraints, greedy=True)
    shapes = [tuple(inputs["input_ids"].shape) for inputs in spy.inputs]
    assert shapes == [(3, 6), (2, 1), (2, 1), (1, 1), (1, 1), (1, 1)]
    first, second = spy.inputs[:2]
    assert first["attention_mask"].tolist() == [[0] * 4 + [1] * 2, [1] * 6, [0] * 2 + [1] * 4]
    assert first["position_ids"].tolist() == [[0, 0, 0, 0, 0, 1], [0, 1, 2, 3, 4, 5], [0, 0, 0, 1, 2, 3]]
    assert second["attention_mask"].tolist() == [[1] * 7, [0] * 2 + [1] * 5]
    assert second["position_ids"].tolist() == [[6], [4]]


def test_without_padding_the_model_is_told_of_none(model: Any, tokenizer: Any) -> None:
    for prompts in ("hello", ["hello", "yello"]):
        spy = Spy(model)
        tk.generate(spy, tokenizer, prompts, tk.regex("[ab]{3}"), greedy=True)
        assert all("attention_mask" not in inputs for inputs in spy.inputs)


def test_a_text_that_jumped_catches_up(model: Any, tokenizer: Any) -> None:
    """No padding within texts: all read as many tokens as the one with the fewest unread."""
    spy = Spy(model)
    constraints = [tk.regex("[ab]xyzxyz[ab]"), tk.regex("[ac]{6}")]
    together = tk.generate(spy, tokenizer, ["x", "y"], constraints, greedy=True, jump=True)
    assert together[0].jumped == 6
    shapes = [tuple(inputs["input_ids"].shape) for inputs in spy.inputs]
    assert shapes[:6] == [(2, 2)] + [(2, 1)] * 5
    alone = tk.generate(model, tokenizer, "x", constraints[0], greedy=True, jump=True)
    assert together[0].text == alone.text


def test_texts_that_all_jump_are_read_in_one_call(model: Any, tokenizer: Any) -> None:
    spy = Spy(model)
    tk.generate(spy, tokenizer, ["x", "y"], tk.regex("[ab]xyzxyz[ab]"), greedy=True, jump=True)
    assert [tuple(inputs["input_ids"].shape) for inputs in spy.inputs] == [(2, 2), (2, 7)]


def test_texts_that_need_no_model(model: Any, tokenizer: Any) -> None:
    spy = Spy(model)
    constraints = [tk.regex(""), tk.regex("the!"), tk.regex("[ab]")]
    together = tk.generate(spy, tokenizer, ["x", "hello", "hey"], constraints, jump=True, seed=0)
    assert [result.finish_reason for result in together] == ["complete"] * 3
    assert [tuple(inputs["input_ids"].shape) for inputs in spy.inputs] == [(1, 4)]


def test_models_without_a_cache_read_everything_again(model: Any, tokenizer: Any) -> None:
    constraints = [tk.regex("[a-c]{2}"), tk.regex("[xyz]{6}"), tk.regex("[xyz]{3}")]
    prompts = ["x", "hello", "hey"]
    expected = tk.generate(model, tokenizer, prompts, constraints, greedy=True)
    together = tk.generate(Spy(model, cache=False), tokenizer, prompts, constraints, greedy=True)
    assert [one.text for one in together] == [one.text for one in expected]


def test_a_cache_that_cannot_drop_texts(model: Any, tokenizer: Any) -> None:
    """As the tuples of old models: everything is read again then."""

    class Tuples(Spy):
        def __call__(self, **inputs: Any) -> Any:
            held = inputs["past_key_values"]
            output = super().__call__(**{**inputs, "past_key_values": held[0] if held else None})
            return SimpleNamespace(logits=output.logits, past_key_values=(output.past_key_values,))

    constraints = [tk.regex("[a-c]{2}"), tk.regex("[xyz]{6}"), tk.regex("[xyz]{3}")]
    prompts = ["x", "hello", "hey"]
    expected = tk.generate(model, tokenizer, prompts, constraints, greedy=True)
    spy = Tuples(model)
    together = tk.generate(spy, tokenizer, prompts, constraints, greedy=True)
    assert [one.text for one in together] == [one.text for one in expected]
    shapes = [tuple(inputs["input_ids"].shape) for inputs in spy.inputs]
    assert shapes == [(3, 6), (3, 1), (2, 8), (1, 9), (1, 1), (1, 1)]


def test_a_model_that_takes_no_attention_mask(model: Any, tokenizer: Any) -> None:
    class Plain:
        config = model.config

        def __call__(self, input_ids: Any, past_key_values: Any = None, use_cache: bool = True) -> Any:
            return model(input_ids=input_ids, past_key_values=past_key_values)

    constraint = tk.regex("[ab]{3}")
    together = tk.generate(Plain(), tokenizer, ["hello", "yello"], constraint, greedy=True)
    assert_same(
        together, [tk.generate(model, tokenizer, p, constraint, greedy=True) for p in ("hello", "yello")]
    )
    with pytest.raises(tk.GenerationError, match="attention_mask"):
        tk.generate(Plain(), tokenizer, ["hello", "x"], constraint)


def test_constraints_are_compiled_once(model: Any, tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    original = tk.Constraint.compile

    def spy(self: Any, *args: Any, **options: Any) -> Any:
        calls.append(self)
        return original(self, *args, **options)

    monkeypatch.setattr(tk.Constraint, "compile", spy)
    tk.generate(model, tokenizer, ["x"] * 5, tk.regex("[ab]"))
    assert len(calls) == 1


# ---- errors ------------------------------------------------------------------------------------


def test_what_is_refused(model: Any, tokenizer: Any) -> None:
    vocabulary = tk.Vocabulary.load(tokenizer, stop=[1], width=len(tokenizer) + 37)
    other = tk.Vocabulary.load(tokenizer, stop=[1], width=len(tokenizer) + 37)
    constraint = tk.regex("ab")
    counting = Counting(model)
    for prompt, given, settings in (
        (["x", "y"], [constraint], {}),
        (["x", "y"], [constraint] * 3, {}),
        (["x", "y"], [constraint, "ab"], {}),
        (["x", "y"], [constraint.compile(vocabulary), constraint.compile(other)], {}),
        (["x", "y"], 5, {}),
        ("x", [constraint], {}),
        (["x", "y"], constraint, {"on_text": print}),
        (["x", "y"], constraint, {"temperature": -1}),
        (["x", "y"], constraint, {"jump": "no"}),
    ):
        with pytest.raises(tk.ArgumentError):
            tk.generate(counting, tokenizer, prompt, given, **settings)
    with pytest.raises(tk.ArgumentError, match=r"tokamata\.generate"):
        tk.stream(counting, tokenizer, ["x", "y"], constraint)  # type: ignore[list-item]
    with pytest.raises(tk.BudgetError) as caught:
        tk.generate(counting, tokenizer, ["x", "y"], [constraint, tk.regex("xyz")], max_new_tokens=2)
    assert (caught.value.budget, caught.value.needed) == (2, 3)
    assert caught.value.item == "constraint 1"
    assert str(caught.value).startswith("constraint 1: no accepted text can be finished in 2 tokens")
    assert counting.calls == 0


def test_errors_name_the_constraint_or_the_prompt(model: Any, tokenizer: Any) -> None:
    """They keep their types and attributes; a single constraint, and what all share, is not numbered."""
    prompts = ["x"] * 9
    good, empty = tk.regex("ab"), tk.regex("a") & tk.regex("b")
    pairs: list[tuple[Any, Any, type[tk.TokamataError], str]] = [
        (prompts, [good] * 7 + [empty, good], tk.EmptyConstraintError, "constraint 7"),
        (prompts, [good] * 7 + ["ab", good], tk.ArgumentError, "constraint 7"),
        (prompts, [good] * 7 + [tk.regex("a{99}"), good], tk.BudgetError, "constraint 7"),
        (prompts, empty, tk.EmptyConstraintError, "prompt 0"),
        ([[5], [5], []], good, tk.GenerationError, "prompt 2"),
        ("x", empty, tk.EmptyConstraintError, ""),
        (prompts, [good] * 3, tk.ArgumentError, ""),
    ]
    for given, constraints, kind, item in pairs:
        with pytest.raises(kind) as caught:
            tk.generate(model, tokenizer, given, constraints, max_new_tokens=20)
        assert type(caught.value) is kind
        assert caught.value.item == item
        assert str(caught.value).startswith(f"{item}: " if item else "")
        assert str(caught.value).count("constraint 7: ") <= 1
    with pytest.raises(tk.BudgetError) as budget:
        tk.generate(model, tokenizer, prompts, [*[good] * 8, tk.regex("abc" * 9)], max_new_tokens=5)
    assert (budget.value.budget, budget.value.item) == (5, "constraint 8")


def test_a_prompt_that_is_not_canonical() -> None:
    tokenizer = byte_level(["a b"])
    model = small_model(len(tokenizer), eos=0)
    a, b = (tokenizer.convert_tokens_to_ids(letter) for letter in "ab")
    prompts = [[a], [a, b]]
    with pytest.raises(tk.ContextError):
        tk.generate(model, tokenizer, prompts, tk.regex("x"), tokenization="canonical")
    fresh = tk.generate(
        model, tokenizer, prompts, tk.regex("x"), tokenization="canonical", on_noncanonical="fresh"
    )
    assert [result.text for result in fresh] == ["x", "x"]
