"""Another try where a text is refused: its prompt, its bounds, and policies and deadlines beside it."""

from __future__ import annotations

import json
import time
from typing import Annotated, Any

import pytest
import torch

import tokamata as tk
from tests.support.models.fakes import Constant
from tests.support.models.scripted import Scripted
from tokamata.decoding import chats
from tokamata.decoding.results import Refusal

pydantic = pytest.importorskip("pydantic")
TEMPLATE = (
    "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}A: {% endif %}"
)


class Stay(pydantic.BaseModel):
    begin: int
    end: int

    @pydantic.field_validator("end")
    @classmethod
    def is_after_the_begin(cls, end: int, info: Any) -> int:
        if end < info.data["begin"]:
            raise ValueError("end is before begin")
        return end


def stay(begin: int, end: int) -> str:
    return json.dumps({"begin": begin, "end": end})


def tries(*texts: str) -> Any:
    """Answers the first text, and another one for each refusal in the prompt."""
    return lambda prompt: texts[min(prompt.count("was refused"), len(texts) - 1)]


def even(value: Any) -> bool:
    return int(value) % 2 == 0


@pytest.fixture
def chatting(tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(tokenizer, "chat_template", TEMPLATE, raising=False)
    return tokenizer


def test_a_validator_of_pydantic_leads_to_another_try(tokenizer: Any) -> None:
    model = Scripted(tokenizer, tries(stay(5, 3), stay(3, 5)), "A: ")
    result = tk.generate(model, tokenizer, "Q A: ", Stay, retries=2)
    assert result.parse() == Stay(begin=3, end=5)
    assert [one.generation.text for one in result.refusals] == [stay(5, 3)]
    [refusal] = result.refusals
    assert "end is before begin" in refusal.reason
    assert len(model.prompts) == 2
    assert model.prompts[1].endswith(
        f"Q A: {stay(5, 3)}\n\nThis answer was refused: {refusal.reason}\n\nQ A: "
    )
    # Without the option the text comes back, and its value raises.
    plain = tk.generate(Scripted(tokenizer, tries(stay(5, 3)), "A: "), tokenizer, "Q A: ", Stay)
    assert (plain.text, plain.refusals) == (stay(5, 3), ())
    with pytest.raises(ValueError, match="end is before begin"):
        plain.parse()


def test_a_text_that_is_not_refused_has_one_try(tokenizer: Any) -> None:
    model = Scripted(tokenizer, tries(stay(1, 2)), "A: ")
    again = Scripted(tokenizer, tries(stay(1, 2)), "A: ")
    result = tk.generate(model, tokenizer, "Q A: ", Stay, retries=2, seed=3)
    assert result.tokens == tk.generate(again, tokenizer, "Q A: ", Stay, seed=3).tokens
    assert result.refusals == ()
    assert len(model.prompts) == 1


def test_a_chat_gets_two_messages(chatting: Any) -> None:
    model = Scripted(chatting, tries("13", "15", "16"), "A: ")
    chat = [{"role": "user", "content": "A number?"}]
    result = tk.generate(model, chatting, chat, tk.regex("[0-9]{2}"), validators=[even], retries=2)
    assert result.text == "16"
    assert [one.generation.text for one in result.refusals] == ["13", "15"]
    assert len(chat) == 1
    one, two = (one.reason for one in result.refusals)
    assert model.prompts[2] == (
        f"user: A number?\nassistant: 13\nuser: This answer was refused: {one}\nAnswer again.\n"
        f"assistant: 15\nuser: This answer was refused: {two}\nAnswer again.\nA: "
    )


def test_the_last_refusal_raises(tokenizer: Any) -> None:
    model = Scripted(tokenizer, tries("11", "13", "15", "16"), "A: ")
    with pytest.raises(tk.RefusedError, match=r"(?s)the last of 3 tries.*or more retries$") as caught:
        tk.generate(model, tokenizer, "A: ", tk.regex("[0-9]{2}"), validators=[even], retries=2)
    assert [one.generation.text for one in caught.value.refusals] == ["11", "13", "15"]
    assert caught.value.generation.text == "15"
    assert caught.value.reason == caught.value.refusals[-1].reason
    assert isinstance(caught.value.refusals[0], Refusal)
    model = Scripted(tokenizer, tries("11"), "A: ")
    with pytest.raises(tk.RefusedError, match="retries=2") as caught:
        tk.generate(model, tokenizer, "A: ", tk.regex("[0-9]{2}"), validators=[even])
    assert len(caught.value.refusals) == 1


def test_a_policy_repairs_what_is_refused_after_the_last_try(tokenizer: Any) -> None:
    number = tk.regex("[0-9]{2}")

    def written(*texts: str, policy: tk.Policy, retries: int) -> Any:
        model = Scripted(tokenizer, tries(*texts), "A: ")
        settings: dict[str, Any] = {"validators": [even], "policy": policy, "retries": retries}
        return tk.generate(model, tokenizer, "A: ", number, **settings)

    retried = written("11", "14", policy=tk.Policy(), retries=1)
    assert (retried.text, retried.repair, len(retried.refusals)) == ("14", None, 1)
    repaired = written("11", "13", "14", policy=tk.Policy(), retries=1)
    assert repaired.repair is not None
    assert repaired.repair.certificate.broken == b"13"
    assert [one.generation.text for one in repaired.refusals] == ["11", "13"]
    abstained = written("11", "13", policy=tk.Policy(repair=False), retries=1)
    assert (abstained.code, abstained.partial) == ("validator", "13")
    assert len(abstained.refusals) == 2
    assert written("11", policy=tk.Policy(), retries=0).refusals == ()


def test_only_refused_prompts_are_tried_again(tokenizer: Any) -> None:
    def answer(prompt: str) -> str:
        by_name = {"one": ("12",), "two": ("11", "14"), "three": ("11", "13", "16")}
        name = prompt.removesuffix(" A: ").rsplit(" ", 1)[-1]
        return str(tries(*by_name[name])(prompt))

    model = Scripted(tokenizer, answer, "A: ")
    number = tk.regex("[0-9]{2}")
    prompts = ["Q one A: ", "Q two A: ", "Q three A: "]
    results = tk.generate(model, tokenizer, prompts, number, validators=[even], retries=2, seed=1)
    assert [result.text for result in results] == ["12", "14", "16"]
    assert [len(result.refusals) for result in results] == [0, 1, 2]
    counts = [sum(f"{name} A: " in prompt for prompt in model.prompts) for name in ("one", "two", "three")]
    assert counts == [1, 2, 3]
    with pytest.raises(tk.RefusedError, match="prompt 2"):
        tk.generate(model, tokenizer, prompts, number, validators=[even], retries=1)


def test_texts_are_drawn_with_their_own_seeds(tokenizer: Any) -> None:
    """A text that is tried again among others is the one that it is alone."""
    model = Constant(torch.zeros(len(tokenizer)))
    number = tk.regex("[0-9]{3}")
    settings: dict[str, Any] = {"validators": [even], "retries": 20}
    results = tk.generate(model, tokenizer, ["A: "] * 6, number, seed=7, **settings)
    assert {len(result.refusals) > 0 for result in results} == {True, False}
    for index, result in enumerate(results):
        alone = tk.generate(model, tokenizer, "A: ", number, seed=7 + index, **settings)
        assert (alone.text, len(alone.refusals)) == (result.text, len(result.refusals))


def test_all_tries_share_the_time(tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])

    def answer(prompt: str) -> str:
        now[0] += 0.5  # each token takes as long
        return "11"

    model = Scripted(tokenizer, answer, "A: ")
    settings: dict[str, Any] = {"validators": [lambda text: False], "retries": 50}
    with pytest.raises(tk.RefusedError) as caught:
        tk.generate(model, tokenizer, "A: ", tk.regex("[0-9]{2}"), deadline_seconds=10.0, **settings)
    assert 1 < len(caught.value.refusals) < 20
    assert now[0] <= 11.0


def test_what_retries_do_not_go_with(tokenizer: Any) -> None:
    model = Scripted(tokenizer, tries("11"), "A: ")
    number = tk.regex("[0-9]{2}")
    with pytest.raises(tk.ArgumentError, match="on_text must be None for retries"):
        tk.generate(model, tokenizer, "A: ", number, retries=1, on_text=print)
    for prompt in ([5, 6], ["A: ", [5, 6]]):
        with pytest.raises(tk.ArgumentError, match="token ids"):
            tk.generate(model, tokenizer, prompt, number, retries=1)
    for wrong in (-1, 101, 1.5, "2", None):
        with pytest.raises(tk.ArgumentError, match="retries"):
            tk.generate(model, tokenizer, "A: ", number, retries=wrong)  # type: ignore[call-overload]
    assert model.prompts == []


def test_a_text_without_a_constraint(tokenizer: Any) -> None:
    def is_short(text: str) -> bool:
        return len(text) < 3

    model = Scripted(tokenizer, tries("abc", "ab"), "A: ")
    result = tk.generate(model, tokenizer, "A: ", None, validators=[is_short], retries=1)
    assert (result.text, len(result.refusals)) == ("ab", 1)


class Counting(Scripted):
    """Counts the control tokens of each prompt."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.counts: list[int] = []

    def __call__(self, input_ids: torch.Tensor, *arguments: Any, **settings: Any) -> Any:
        known = len(self.prompts)
        logits = super().__call__(input_ids, *arguments, **settings)
        if len(self.prompts) > known:
            self.counts.append(int((input_ids == self.tokenizer.eos_token_id).sum()))
        return logits


@pytest.mark.parametrize("mine", ["Q A: ", "<eos>Q<eos> A: "])
def test_what_is_refused_writes_no_control_tokens(tokenizer: Any, mine: str) -> None:
    """Neither the refused text nor the reason; those of the caller's prompt stay."""

    def judge(value: str) -> bool:
        if "<eos>" in value:
            raise ValueError("no <eos> please")
        return True

    model = Counting(tokenizer, tries("a<eos>b", "<eos>", "c"), "A: ")
    result = tk.generate(model, tokenizer, mine, tk.regex("[a-z<>]+"), validators=[judge], retries=3)
    assert result.text == "c"
    assert [one.generation.text for one in result.refusals] == ["a<eos>b", "<eos>"]
    assert model.counts == [mine.count("<eos>") * tried for tried in (1, 2, 3)]
    assert model.prompts[2].count("no <eos> please") == 2


@pytest.mark.parametrize("is_chat", [False, True], ids=["text", "chat"])
def test_a_refused_text_with_a_placeholder_is_the_last_try(chatting: Any, is_chat: bool) -> None:
    """In the next prompt, it would be an image that nobody has attached."""
    prompt: Any = [{"role": "user", "content": "Q"}] if is_chat else "Q A: "
    model = Scripted(chatting, tries("a<end_of_turn>", "c"), "A: ")
    with pytest.raises(tk.RefusedError) as caught:
        tk.generate(
            model,
            chatting,
            prompt,
            tk.regex("[a-z_<>]+"),
            validators=[lambda value: "<" not in value],
            retries=3,
            placeholders=["<end_of_turn>"],
        )
    assert [one.generation.text for one in caught.value.refusals] == ["a<end_of_turn>"]


def test_tokenizers_that_cannot_keep_a_refused_text(tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is not fast makes a control token of it: the refusal is the result, and not an error."""
    model = Scripted(tokenizer, tries("<eos>", "c"), "A: ")
    monkeypatch.setattr(chats.ChatEncoder, "_without", lambda *_: chats._NO_BACKEND)
    with pytest.raises(tk.RefusedError, match="returned False"):
        tk.generate(model, tokenizer, "Q A: ", tk.regex("[a-z<>]+"), validators=[is_letters], retries=3)


def is_letters(value: str) -> bool:
    return value.isalpha()


@pytest.mark.parametrize("error", [KeyError("begin"), TypeError("no number"), ZeroDivisionError("by zero")])
def test_a_class_refuses_by_any_error(tokenizer: Any, error: Exception) -> None:
    """As a function among the validators does: it must not cost the other texts of a batch."""

    class Odd(pydantic.BaseModel):
        number: int

        @pydantic.field_validator("number")
        @classmethod
        def is_odd(cls, number: int) -> int:
            if number % 2 == 0:
                raise error
            return number

    model = Scripted(tokenizer, tries('{"number": 2}', '{"number": 3}'), "A: ")
    result = tk.generate(model, tokenizer, "A: ", Odd, retries=1)
    assert result.parse() == Odd(number=3)
    assert result.refusals[0].reason == f"{type(error).__name__}: {error}"


def test_a_long_reason_is_cut(tokenizer: Any) -> None:
    """Pydantic lists every error, and every try adds the reason to the prompt."""

    def odd(number: int) -> int:
        if number % 2 == 0:
            raise ValueError("it is even")
        return number

    class Numbers(pydantic.BaseModel):
        numbers: list[Annotated[int, pydantic.AfterValidator(odd)]]

    model = Scripted(tokenizer, tries(f'{{"numbers": {[2] * 30}}}', '{"numbers": [3]}'), "A: ")
    result = tk.generate(model, tokenizer, "A: ", Numbers, retries=1)
    assert result.text == '{"numbers": [3]}'
    assert result.refusals[0].reason.startswith("30 validation errors")
    assert len(result.refusals[0].reason) == 2000


def test_the_number_of_tries_is_bounded(tokenizer: Any) -> None:
    number = tk.regex("[0-9]{2}")
    model = Scripted(tokenizer, tries("12"), "A: ")
    assert tk.generate(model, tokenizer, "A: ", number, retries=100).text == "12"
    for retries in (-1, 101):
        with pytest.raises(tk.ArgumentError, match="retries"):
            tk.generate(model, tokenizer, "A: ", number, retries=retries)


def test_a_reason_that_spells_a_control_token_beside_canonical_tokens(tokenizer: Any) -> None:
    """The prompt of the next try is not canonical, which is no fault of the caller's."""

    def judge(value: str) -> bool:
        if value != "c":
            raise ValueError("no <eos> please")
        return True

    model = Counting(tokenizer, tries("ab", "c"), "A: ")
    settings: dict[str, Any] = {"validators": [judge], "retries": 1, "tokenization": "canonical"}
    assert tk.generate(model, tokenizer, "Q A: ", tk.regex("[a-c]+"), heal=False, **settings).text == "c"
    assert model.counts == [0, 0]
