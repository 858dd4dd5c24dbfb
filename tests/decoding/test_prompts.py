"""Prompts of every form: texts, ids, chats, and lists of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import tokamata as tk
from tests.support.models.small_models import small_tokenizer
from tokamata.decoding.chats import chat_ids
from tokamata.decoding.prompts import prompt_ids, several_prompts

TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "{% if message['role'] not in ('user', 'assistant', 'system') %}"
    "{{ raise_exception('unknown role') }}{% endif %}"
    "{{ message['role'] }}: {{ message['content'] }}<end_of_turn>{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)
CHAT = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "when?"}]


@pytest.fixture(scope="module")
def chatty() -> Any:
    tokenizer = small_tokenizer()
    tokenizer.chat_template = TEMPLATE
    return tokenizer


SINGLE: list[Any] = [
    "",
    "x",
    [5],
    [5, 6],
    (5, 6),
    range(3),
    np.array([5, 6]),
    torch.tensor([5, 6]),
    [np.int64(5)],
    [torch.tensor(5)],
    CHAT,
    tuple(CHAT),
    [],
]
SEVERAL: list[Any] = [
    ["x"],
    ["x", "y"],
    ("x", [5], CHAT),
    [[5, 6], [7]],
    [np.array([5, 6]), torch.tensor([7])],
    [torch.tensor([7])],
    np.array([[5, 6], [7, 8]]),
    torch.tensor([[5]]),
    [CHAT],
    [CHAT, CHAT],
    [[]],
]
NEITHER: list[Any] = [
    None,
    5,
    b"ab",
    {"role": "user", "content": "x"},
    {"input_ids": [5]},
    [5, "x"],
    [1.5],
    [None],
    [[1.5]],
    [["x"]],
    [[[5]]],
    [b"ab"],
    [CHAT[0], "x"],
    np.array([1.5]),
    np.array(5),
]


@pytest.mark.parametrize("prompt", SINGLE, ids=repr)
def test_a_single_prompt(prompt: Any) -> None:
    assert several_prompts(prompt) is None


@pytest.mark.parametrize("prompt", SEVERAL, ids=repr)
def test_several_prompts(prompt: Any, chatty: Any) -> None:
    found = several_prompts(prompt)
    assert found is not None
    assert len(found) == len(prompt)
    for one in found:
        assert several_prompts(one) is None


@pytest.mark.parametrize("prompt", NEITHER, ids=repr)
def test_what_is_no_prompt(prompt: Any, model: Any, chatty: Any) -> None:
    with pytest.raises(tk.ArgumentError, match="prompt must be a text"):
        tk.generate(model, chatty, prompt, tk.regex("ab"))


def test_hints() -> None:
    with pytest.raises(tk.ArgumentError, match="pass its input_ids"):
        several_prompts(small_tokenizer()("x"))
    with pytest.raises(tk.ArgumentError, match="put a chat message into a list"):
        several_prompts(CHAT[0])


def test_ids(chatty: Any) -> None:
    assert prompt_ids(chatty, "x") == chatty("x")["input_ids"]
    for given in ([5, 6], np.array([5, 6]), torch.tensor([5, 6])):
        ids = prompt_ids(chatty, given)
        assert ids == [5, 6]
        assert all(type(token) is int for token in ids)
    with pytest.raises(tk.GenerationError, match="no tokens"):
        prompt_ids(chatty, [])
    with pytest.raises(tk.ArgumentError, match="tokenizer"):
        prompt_ids(None, "x")


def test_chats(chatty: Any) -> None:
    ids = prompt_ids(chatty, CHAT)
    assert ids == chat_ids(chatty, CHAT)
    assert chatty.decode(ids) == "<bos>system: be brief<end_of_turn>user: when?<end_of_turn>assistant: "
    assert (
        ids
        == chatty.apply_chat_template(CHAT, add_generation_prompt=True, tokenize=True, return_dict=True)[
            "input_ids"
        ]
    )


def test_writing_after_chats(model: Any, chatty: Any) -> None:
    other = [{"role": "user", "content": "a much longer message, to be padded"}]
    constraint = tk.regex("[a-z]{3,9}")
    together = tk.generate(model, chatty, [CHAT, other, "x", [5, 6]], constraint, greedy=True)
    for prompt, result in zip([CHAT, other, "x", [5, 6]], together, strict=True):
        alone = tk.generate(model, chatty, prompt, constraint, greedy=True)  # type: ignore[arg-type]
        assert (result.text, result.prompt_tokens) == (alone.text, alone.prompt_tokens)
    steps = tk.stream(model, chatty, CHAT, constraint, greedy=True)
    assert "".join(step.text for step in steps) == together[0].text


def test_chats_that_cannot_be_rendered(model: Any, tokenizer: Any, chatty: Any) -> None:
    with pytest.raises(tk.GenerationError, match="no chat template"):
        tk.generate(model, tokenizer, CHAT, tk.regex("ab"))
    with pytest.raises(tk.GenerationError, match="refuses the messages") as caught:
        tk.generate(model, chatty, [{"role": "robot", "content": "x"}], tk.regex("ab"))
    assert caught.value.__cause__ is not None
    with pytest.raises(tk.ArgumentError, match="message 0 of the prompt must be a dict with"):
        tk.generate(model, chatty, [{"content": "x"}], tk.regex("ab"))
