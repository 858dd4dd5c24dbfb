"""Generation that keeps to the tokenizer's own tokens, together with the prompt."""

from __future__ import annotations

import re
from typing import Any

import pytest

import tokamata as tk
from tests.support.models.fakes import Counting, Random, byte_level, preferring, token_id

MERGES = ["a b", "Ġ ab", "ab c", "Ġ Ġ", "Ġab c", "1 2", "b a"]


@pytest.fixture(scope="module")
def spaced() -> Any:
    """A tokenizer with tokens that begin with a space, and a pre-tokenizer that gives words theirs."""
    tokenizer = byte_level(MERGES)
    from tokenizers import Regex, pre_tokenizers

    split = pre_tokenizers.Split(Regex(r" ?[a-z]+|[0-9]+|\s+(?!\S)|\s+"), "isolated")
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    return tokenizer


def is_own(tokenizer: Any, tokens: list[int]) -> bool:
    text = tokenizer.decode(tokens, clean_up_tokenization_spaces=False)
    return tokenizer(text, add_special_tokens=False)["input_ids"] == tokens


@pytest.mark.parametrize("pattern", ["[abc ]{1,9}", "(?: abc| ab|12)+", "(ab|c|1| )*2"])
@pytest.mark.parametrize("prompt", ["a", "ab ", "abc", "ab  ", "x 1"])
def test_prompt_and_text_are_canonical_together(spaced: Any, pattern: str, prompt: str) -> None:
    for seed in range(3):
        model = Random(len(spaced), seed)
        result = tk.generate(
            model, spaced, prompt, tk.regex(pattern), tokenization="canonical", max_new_tokens=12, seed=seed
        )
        assert re.fullmatch(pattern, result.text), result
        assert is_own(spaced, result.prompt_tokens + result.tokens), (prompt, result)
        plain = tk.generate(model, spaced, prompt, tk.regex(pattern), max_new_tokens=12, seed=seed)
        assert re.fullmatch(pattern, plain.text)


def test_the_border_is_healed_by_default(spaced: Any) -> None:
    model = Counting(preferring(len(spaced), token_id(spaced, "Ġabc")))
    model.generation_config = None
    result = tk.generate(model, spaced, "ab ", tk.regex("abc"), tokenization="canonical", greedy=True)
    assert (result.text, result.healed) == ("abc", " ")
    assert spaced.convert_ids_to_tokens(result.prompt_tokens + result.tokens) == ["ab", "Ġabc"]
    with pytest.raises(tk.NoncanonicalError, match="heal") as caught:
        tk.generate(model, spaced, "ab ", tk.regex("abc"), tokenization="canonical", heal=False)
    assert caught.value.by_context
    plain = tk.generate(model, spaced, "ab ", tk.regex("abc"), greedy=True)
    assert plain.healed == ""


def test_a_compiled_constraint_brings_its_tokenization(spaced: Any) -> None:
    vocabulary = tk.Vocabulary.load(spaced, stop=[0])
    compiled = tk.regex("[ab]{2,6}").compile(vocabulary, tokenization="canonical")
    for seed in range(5):
        result = tk.generate(Random(len(spaced), seed), spaced, "1", compiled, seed=seed)
        assert is_own(spaced, result.prompt_tokens + result.tokens)


def test_without_a_constraint(spaced: Any) -> None:
    for seed in range(5):
        model = Random(len(spaced), seed)
        result = tk.generate(model, spaced, "ab", None, tokenization="canonical", max_new_tokens=9, seed=seed)
        assert is_own(spaced, result.prompt_tokens + result.tokens)


def test_a_prompt_that_is_not_canonical(spaced: Any) -> None:
    prompt = [token_id(spaced, "a"), token_id(spaced, "b")]
    model = Counting(Random(len(spaced), 1))
    with pytest.raises(tk.ContextError) as caught:
        tk.generate(model, spaced, prompt, tk.regex("c"), tokenization="canonical", heal=False)
    assert caught.value.position == 1
    assert model.calls == 0
    result = tk.generate(
        model, spaced, prompt, tk.regex("c"), tokenization="canonical", heal=False, on_noncanonical="fresh"
    )
    assert result.text == "c"


def test_jumps_and_budgets(spaced: Any) -> None:
    for seed in range(5):
        model = Random(len(spaced), seed)
        constraint = tk.regex("abc 12(abc)?[ab]{3}")
        result = tk.generate(
            model, spaced, "1 ", constraint, tokenization="canonical", jump=True, max_new_tokens=8, seed=seed
        )
        assert re.fullmatch("abc 12(abc)?[ab]{3}", result.text)
        assert is_own(spaced, result.prompt_tokens + result.tokens)
    with pytest.raises(tk.BudgetError) as caught:
        tk.generate(model, spaced, "1", tk.regex("(ab){9}"), tokenization="canonical", max_new_tokens=4)
    assert caught.value.needed is not None
    assert caught.value.needed > 4
