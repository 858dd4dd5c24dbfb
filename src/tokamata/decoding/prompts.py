"""Prompts, in each of their forms, and their token ids.

=====================================  ==============================================================
argument                               meaning
=====================================  ==============================================================
``"a text"``                           one prompt: a text, encoded with the tokenizer's special tokens
``[2, 10, 11]``                        one prompt: token ids, unchanged
``[{"role": …, "content": …}, …]``     one prompt: a chat, through the tokenizer's chat template
a list of any of these                 several prompts
=====================================  ==============================================================

Lists are distinguished by their items: whole numbers, mappings, or prompts.  An empty list is a prompt
without ids, which is refused.  Tuples, numpy arrays and torch tensors count as lists.
"""

# transformers has no usable types for tokenizers, hence `Any`.

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

from tokamata.calls.arguments import checked_list
from tokamata.decoding.chats import Chat, ChatEncoder, MixedText
from tokamata.errors import ArgumentError, GenerationError, about, shown_argument

__all__ = ["Prompt", "check_single", "is_chat", "prompt_ids", "several_prompts"]

Prompt = str | Sequence[int] | Chat

_EXPECTED = "a text, a list of token ids, a list of chat messages, or a list of such prompts"


def several_prompts(prompt: Any) -> list[Any] | None:
    """The prompts of a list of prompts; ``None`` for a single prompt.

    Raises:
        ArgumentError: it is neither.
    """
    items = _items(prompt)
    if items is None or _is_chat(items) or _is_ids(items):
        return None
    for index, item in enumerate(items):
        with about(f"prompt {index}"):
            inner = _items(item)
            if inner is not None and not _is_chat(inner) and not _is_ids(inner):
                hint = 'a message is {"role": …, "content": …}' if _has_texts(inner) else ""
                raise ArgumentError("prompt", shown_argument(item), _EXPECTED, hint)
    return items


def check_single(prompt: Any, hint: str) -> None:
    """Refuse several prompts.

    Args:
        prompt: what the caller gave.
        hint: what to do with several.

    Raises:
        ArgumentError: there are several, or it is no prompt.
    """
    if several_prompts(prompt) is not None:
        raise ArgumentError("prompt", "a list of prompts", "a single prompt", hint)


def is_chat(prompt: Any) -> bool:
    """Whether one prompt is a chat."""
    items = _items(prompt)
    return items is not None and _is_chat(items)


def prompt_ids(tokenizer: Any, prompt: Any, chats: ChatEncoder | None = None) -> list[int]:
    """The token ids of one prompt.

    Args:
        chats: encodes those prompts that are chats.

    Raises:
        GenerationError: there are no ids, so the model would have no input; or a chat cannot be rendered.
        ArgumentError: it is not one prompt; or a message of a chat spells a control token, which cannot be
            kept as ordinary text.
    """
    items = _items(prompt)
    if items is None:
        if not callable(tokenizer):
            raise ArgumentError("tokenizer", shown_argument(tokenizer), "the tokenizer of the model")
        if isinstance(prompt, MixedText):
            ids = (chats or ChatEncoder(tokenizer)).text_ids(prompt)
        else:
            ids = [int(token) for token in tokenizer(prompt)["input_ids"]]
    elif _is_chat(items):
        ids = (chats or ChatEncoder(tokenizer)).ids(items)
    elif _is_ids(items):
        ids = [operator.index(token) for token in items]
    else:
        raise ArgumentError("prompt", shown_argument(prompt), _EXPECTED)
    if not ids:
        raise GenerationError(
            "the prompt has no tokens, and this tokenizer adds none at the start of a text; pass a prompt, "
            "or the id of a token that begins a text"
        )
    return ids


def _items(prompt: Any) -> list[Any] | None:
    """The items of a list; ``None`` for a text."""
    if isinstance(prompt, str):
        return None
    if isinstance(prompt, Mapping):
        hint = "pass its input_ids" if "input_ids" in prompt else "put a chat message into a list"
        raise ArgumentError("prompt", shown_argument(prompt), _EXPECTED, hint)
    plain = prompt.tolist() if hasattr(prompt, "tolist") else prompt  # numpy, torch
    is_constraint = isinstance(prompt, type) or hasattr(prompt, "pattern")
    hint = "the constraint stands after the prompt" if is_constraint else ""
    return checked_list("prompt", plain, _EXPECTED, hint)


def _has_texts(items: list[Any]) -> bool:
    """Whether there are only texts, as in a message that is written as a pair."""
    return all(isinstance(item, str) for item in items)


def _is_chat(items: list[Any]) -> bool:
    return bool(items) and all(isinstance(item, Mapping) for item in items)


def _is_ids(items: list[Any]) -> bool:
    return all(_is_whole(item) for item in items)


def _is_whole(item: Any) -> bool:
    if getattr(item, "ndim", 0):
        return False  # an array of one number is a prompt of one token, although it has __index__
    try:
        operator.index(item)
    except TypeError:
        return False
    return True
