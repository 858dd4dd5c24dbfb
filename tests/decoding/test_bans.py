"""Banned tokens, biases and stop texts: what is written, and where a text may end."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

import tokamata as tk
from tests.support.models.fakes import Constant, Counting, byte_level, preferring, token_id

WORDS = byte_level(["t h", "th e", "o n", "on e", '{ "'])


def test_banned_tokens_are_never_written_and_never_lead_into_a_dead_end(model: Any, tokenizer: Any) -> None:
    """Where only banned tokens would go on, their beginnings are not written either."""
    banned = [
        token for token in range(len(tokenizer)) if b"e" in (tk.Vocabulary.load(tokenizer)[token] or b"")
    ]
    constraint = tk.regex("(the|that|these|an?) [a-z]{3}(e|t)")
    for seed in range(20):
        result = tk.generate(model, tokenizer, "x", constraint, banned_tokens=banned, seed=seed)
        assert constraint.accepts(result.text)
        assert "e" not in result.text
        assert not set(banned) & set(result.tokens)
    with pytest.raises(tk.UnspellableError):
        tk.generate(model, tokenizer, "x", tk.regex("the"), banned_tokens=banned)


def test_bans_within_a_compiled_constraint_and_with_drafts(model: Any, tokenizer: Any) -> None:
    vocabulary = tk.Vocabulary.load(tokenizer, stop=[1], width=len(tokenizer) + 37)
    compiled = tk.regex("(ab|ba|b){2,6}").compile(vocabulary)
    banned = [token for token, text in enumerate(vocabulary.tokens) if text == b"ab"]
    expected = None
    for draft in (None, "constraint", "prompt"):
        result = tk.generate(model, tokenizer, "x", compiled, banned_tokens=banned, greedy=True, draft=draft)
        assert not set(banned) & set(result.tokens)
        assert compiled.constraint.accepts(result.text)
        expected = expected or result.tokens
        assert result.tokens == expected


def test_a_bias_moves_the_choice_and_the_log_probability() -> None:
    width = len(WORDS)
    the, one = (token_id(WORDS, piece) for piece in ("the", "one"))
    model = Constant(torch.zeros(width))
    constraint = tk.regex("the|one")
    for favourite in (the, one):
        result = tk.generate(model, WORDS, "a", constraint, logit_bias={favourite: 5.0}, greedy=True)
        assert result.tokens == [favourite]
        # "t" and "th", "o" and "on" are allowed besides
        assert result.log_probability == pytest.approx(5 - math.log(math.exp(5) + 5))
    banned = tk.generate(model, WORDS, "a", constraint, logit_bias={the: -math.inf, one: 100}, greedy=True)
    assert banned.tokens == [one]
    assert tk.generate(
        model, WORDS, "a", None, logit_bias={one: 9.0}, greedy=True, max_new_tokens=2
    ).tokens == [
        one,
        one,
    ]


@pytest.mark.parametrize(
    "number",
    [np.float32, np.float64, np.float16, np.int64, np.array, torch.tensor],
    ids=lambda one: one.__name__,
)
def test_biases_may_be_numbers_of_numpy_and_torch(number: Any) -> None:
    the, one = (token_id(WORDS, piece) for piece in ("the", "one"))
    model, constraint = Constant(torch.zeros(len(WORDS))), tk.regex("the|one")
    for key in (int(one), np.int64(one), torch.tensor(one)):
        result = tk.generate(model, WORDS, "a", constraint, logit_bias={key: number(5)}, greedy=True)
        plain = tk.generate(model, WORDS, "a", constraint, logit_bias={one: 5.0}, greedy=True)
        assert (result.tokens, result.log_probability) == (plain.tokens, plain.log_probability)
    if number is not np.int64:
        banned = tk.generate(model, WORDS, "a", constraint, logit_bias={the: number(-math.inf)}, greedy=True)
        assert the not in banned.tokens
        assert constraint.accepts(banned.text)


def test_all_stop_tokens_may_be_banned(tokenizer: Any, model: Any) -> None:
    result = tk.generate(
        model, tokenizer, "x", tk.regex("[ab]*"), banned_tokens=[1], max_new_tokens=9, seed=1
    )
    assert (result.finish_reason, len(result.tokens)) == ("length", 9)


@pytest.mark.parametrize(
    "settings",
    [
        {"logit_bias": {1: math.nan}},
        {"logit_bias": {1: math.inf}},
        {"logit_bias": [1]},
        {"logit_bias": {1: True}},
        {"logit_bias": {1: 1j}},
        {"logit_bias": {1: "1"}},
        {"logit_bias": {1: np.float32("nan")}},
        {"logit_bias": {1: np.bool_(True)}},
        {"logit_bias": {1: np.complex64(1)}},
        {"logit_bias": {1: np.array([1.0, 2.0])}},
        {"logit_bias": {1: torch.tensor([1.0, 2.0])}},
        {"logit_bias": {1: torch.tensor(math.nan)}},
        {"logit_bias": {1: torch.tensor(True)}},
        {"logit_bias": {"1": 1.0}},
        {"logit_bias": {1.5: 1.0}},
        {"banned_tokens": 5},
        {"banned_tokens": "the"},
        {"stop": ""},
        {"stop": ["a", ""]},
        {"stop": [5]},
        {"validators": [5]},
        {"validators": [int]},
        {"policy": "repair"},
        {"deadline_seconds": -1},
        {"step_seconds": "1"},
    ],
)
def test_wrong_settings_are_refused_before_the_model_is_called(
    model: Any, tokenizer: Any, settings: dict[str, Any]
) -> None:
    counting = Counting(model)
    with pytest.raises(tk.ArgumentError):
        tk.generate(counting, tokenizer, "x", tk.regex("a"), **settings)
    for prompts in (["x", "y"],):
        with pytest.raises(tk.ArgumentError):
            tk.generate(counting, tokenizer, prompts, tk.regex("a"), **settings)
    assert counting.calls == 0
    with pytest.raises(tk.TokenIdError):
        tk.generate(counting, tokenizer, "x", tk.regex("a"), banned_tokens=[1 << 20])


# ---- stop texts -------------------------------------------------------------------------------


def stopped(text: str, constraint: tk.Constraint[Any] | None, stop: Any, **settings: Any) -> Any:
    """What is left of a text that a model wants to write, and the pieces in which it is shown."""
    model = Script(WORDS, text)
    pieces: list[str] = []
    result = tk.generate(
        model, WORDS, "a", constraint, stop=stop, on_text=pieces.append, max_new_tokens=40, **settings
    )
    assert "".join(pieces) == result.text
    return result


class Script:
    """A model that writes one text, whatever the prompt, and then stops."""

    def __init__(self, tokenizer: Any, text: str) -> None:
        self.tokens = [*tokenizer(text)["input_ids"], 0]
        self.config = type("Config", (), {"vocab_size": len(tokenizer)})()
        self.begin: int | None = None

    def __call__(self, **inputs: Any) -> Any:
        ids = inputs["input_ids"]
        self.begin = ids.shape[1] if self.begin is None else self.begin
        logits = torch.zeros(1, ids.shape[1], self.config.vocab_size)
        place = min(ids.shape[1] - self.begin, len(self.tokens) - 1)
        logits[:, -1, self.tokens[place]] = 1000.0
        return type("Output", (), {"logits": logits})()


@pytest.mark.parametrize(
    ("text", "stop", "kept"),
    [
        ("the one. the", ".", "the one"),
        ("the one. the", ["x", " the"], "the one."),
        ("the\n\none", "\n\n", "the"),
        ("the\none", "\n\n", "the\none"),
        ("abcabd", "abd", "abc"),
        ("aab", "ab", "a"),
        ("the on", "one", "the on"),
        ("", "a", ""),
        ("é.é", ".", "é"),
        ("x€y", "€", "x"),
    ],
)
def test_a_stop_text_ends_a_text(text: str, stop: Any, kept: str) -> None:
    for constraint in (None, tk.regex("(?s:.*)")):
        result = stopped(text, constraint, stop)
        assert result.text == kept
        stops = [stop] if isinstance(stop, str) else stop
        assert result.stop_text == next((one for one in stops if one in text), None)
        assert result.finish_reason == "stop"
        assert (result.stop_token is None) == (result.stop_text is not None)


def test_a_stop_text_is_text_where_the_text_may_not_end() -> None:
    """Within a string of JSON it cuts nothing."""
    text = '{"a": "x}\\n\\ny"}'
    result = stopped(text, tk.json(), ["}", "\\n\\n", '"'])
    assert result.text == text
    assert result.stop_text is None
    lists = stopped("[1][2]", tk.regex(r"(\[[0-9]\])*"), "[2")
    assert (lists.text, lists.stop_text) == ("[1]", "[2")
    # A second occurrence counts, where the first one does not.
    late = stopped("a.b.c.", tk.regex(r"a\.b(\.c)?\.?"), ".")
    assert late.text == "a.b"


def test_a_stop_text_before_enough_tokens_is_text() -> None:
    result = stopped("on.on.on", tk.regex("(?s:.*)"), ".", min_new_tokens=3)
    assert result.text == "on.on"


def test_the_settings_work_for_several_prompts(model: Any, tokenizer: Any) -> None:
    constraint = tk.regex("[a-e ]{1,30}")
    settings: dict[str, Any] = {
        "stop": ["a"],
        "banned_tokens": [4],
        "logit_bias": {5: 2.0},
        "max_new_tokens": 20,
    }
    prompts = ["one", "two, three", "x"]
    together = tk.generate(model, tokenizer, prompts, constraint, seed=3, **settings)
    for index, (prompt, result) in enumerate(zip(prompts, together, strict=True)):
        alone = tk.generate(model, tokenizer, prompt, constraint, seed=3 + index, **settings)
        assert (alone.text, alone.tokens, alone.stop_text) == (result.text, result.tokens, result.stop_text)


def test_a_favourite_that_is_banned_is_not_begun() -> None:
    the = token_id(WORDS, "the")
    result = tk.generate(
        preferring(len(WORDS), the), WORDS, "a", tk.regex("the|one"), banned_tokens=[the], greedy=True
    )
    assert the not in result.tokens
    assert result.text in ("the", "one")
