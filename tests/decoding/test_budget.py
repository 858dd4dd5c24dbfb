"""Never cut off: what is written is a whole text within the budget, or an error comes before it."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

import tokamata as tk
from tests.support.models.fakes import Counting, Random, fewest_tokens, preferring

TOKENS = [b"a", b"b", b"ab", b"ba", b"aba"]
STOP = len(TOKENS)
VOCABULARY = tk.Vocabulary.load([*TOKENS, None], stop=[STOP])
PROMPT = [0]
MOST = 4

PATTERNS = [
    "",
    "a",
    "[ab]*",
    "a+b",
    "(ab)*",
    "(ab)+a?",
    "(aba|b{3})+",
    "a{7}",
    "b{2,}a|a{5}",
    "(a|b)*abb",
    "[ab]{5,9}",
    "(?!ab)[ab]{4}",
    "(ba)*b?",
]


def random_pattern(choose: random.Random, depth: int = 3) -> str:
    kind = choose.randrange(6) if depth else 5
    if kind < 2:
        return random_pattern(choose, depth - 1) + random_pattern(choose, depth - 1)
    if kind < 4:
        return f"(?:{random_pattern(choose, depth - 1)}|{random_pattern(choose, depth - 1)})"
    if kind == 4:
        return f"(?:{random_pattern(choose, depth - 1)}){choose.choice(['*', '+', '?', '{2,4}', '{3}'])}"
    return choose.choice(["a", "b", "ab", "ba"])


ALL_PATTERNS = PATTERNS + [random_pattern(random.Random(seed)) for seed in range(60)]


@pytest.mark.parametrize("pattern", ALL_PATTERNS)
def test_a_whole_text_within_the_budget_or_an_error_before_the_first_token(pattern: str) -> None:
    compiled = tk.regex(pattern).compile(VOCABULARY)
    needed = fewest_tokens(pattern, TOKENS, MOST)
    for budget in range(1, MOST + 1):
        for seed in range(4):
            model = Counting(Random(VOCABULARY.width, seed))
            if needed is None or needed > budget:
                with pytest.raises(tk.BudgetError) as caught:
                    tk.generate(model, None, PROMPT, compiled, max_new_tokens=budget, seed=seed)
                assert model.calls == 0
                assert caught.value.budget == budget
                assert caught.value.needed is not None
                assert caught.value.needed > MOST if needed is None else caught.value.needed == needed
                continue
            result = tk.generate(model, None, PROMPT, compiled, max_new_tokens=budget, seed=seed)
            assert re.fullmatch(pattern, result.text), (budget, seed, result)
            assert len(result.tokens) + (result.stop_token is not None) <= budget


@pytest.mark.parametrize("pattern", ["(ab)*c", "[ab]*c", "a+b", "(a|b){3,}", "(ab|a)*(c|ccc)"])
def test_a_model_that_never_wants_to_finish(pattern: str) -> None:
    """It takes ``a`` and ``b`` whenever it may, and so writes as much as the budget lets it."""
    tokens = [b"a", b"b", b"c"]
    compiled = tk.regex(pattern).compile(tk.Vocabulary.load([*tokens, None], stop=[3]))
    shortest = fewest_tokens(pattern, tokens, 4)
    assert shortest is not None
    for budget in range(shortest, 40):
        result = tk.generate(preferring(4, 0, 1), None, [0], compiled, max_new_tokens=budget, greedy=True)
        assert re.fullmatch(pattern, result.text)
        assert budget - 1 <= len(result.tokens) <= budget  # one less where texts of this length do not match


def test_the_stop_token_needs_no_place_of_its_own() -> None:
    vocabulary = tk.Vocabulary.load([b"a", None], stop=[1])
    fits = tk.generate(preferring(2, 0), None, [0], tk.regex("a{3,9}").compile(vocabulary), max_new_tokens=3)
    assert (fits.text, fits.stop_token, fits.finish_reason) == ("aaa", None, "length")
    whole = tk.generate(preferring(2, 0), None, [0], tk.regex("a{3}").compile(vocabulary), max_new_tokens=3)
    assert (whole.text, whole.stop_token, whole.finish_reason) == ("aaa", None, "complete")
    ended = tk.generate(preferring(2, 1, 0), None, [0], tk.regex("a{3,9}").compile(vocabulary), greedy=True)
    assert (ended.text, ended.stop_token, ended.finish_reason) == ("aaa", 1, "stop")


@pytest.mark.parametrize("pattern", ["", "[ab]*", "(ab)*", "a?b?", "(aba|b{3})+", "a{7}", "(ba)*b?"])
def test_a_least_number_of_tokens(pattern: str) -> None:
    """A model that wants to stop at once writes as many tokens as it must, and never gets stuck."""
    compiled = tk.regex(pattern).compile(VOCABULARY)
    for least in range(9):
        model = Counting(preferring(VOCABULARY.width, STOP, 0, 1))
        settings: Any = {"min_new_tokens": least, "max_new_tokens": 12, "greedy": True}
        longest = {"": 0, "a?b?": 2, "a{7}": 7}.get(pattern, 12)
        if least > longest:
            with pytest.raises(tk.LengthError, match=f"no text of {least} tokens or more"):
                tk.generate(model, None, PROMPT, compiled, **settings)
            assert model.calls == 0
            continue
        result = tk.generate(model, None, PROMPT, compiled, **settings)
        assert re.fullmatch(pattern, result.text)
        assert least <= len(result.tokens) <= 12
        drafted = tk.generate(model, None, PROMPT, compiled, draft="prompt", **settings)
        assert drafted.tokens == result.tokens


def test_a_least_and_a_largest_number_of_tokens() -> None:
    model = Counting(preferring(VOCABULARY.width, STOP))
    compiled = tk.regex("a{7}|b{20}").compile(VOCABULARY)
    assert tk.generate(model, None, PROMPT, compiled, min_new_tokens=8, max_new_tokens=30).text == "b" * 20
    calls = model.calls
    with pytest.raises(tk.BudgetError, match="at least 20"):
        tk.generate(model, None, PROMPT, compiled, min_new_tokens=8, max_new_tokens=19)
    with pytest.raises(tk.ArgumentError, match="min_new_tokens"):
        tk.generate(model, None, PROMPT, compiled, min_new_tokens=-1)
    assert model.calls == calls


def test_a_least_number_of_tokens_of_a_free_text(model: Any, tokenizer: Any) -> None:
    """Healed or not."""
    for heal in (False, True):
        result = tk.generate(
            model, tokenizer, "the ", None, min_new_tokens=9, max_new_tokens=9, heal=heal, seed=1
        )
        assert len(result.tokens) == 9 + bool(result.healed)


def test_a_long_least_length(model: Any, tokenizer: Any) -> None:
    """The longest tokens of letters have three bytes, so 100 letters take 34 tokens."""
    constraint = tk.regex("[a-z]{100,}")
    for seed in range(3):
        result = tk.generate(model, tokenizer, "x", constraint, max_new_tokens=36, seed=seed)
        assert re.fullmatch("[a-z]{100,}", result.text)
        assert len(result.tokens) <= 36
    with pytest.raises(tk.BudgetError, match="at least 34") as caught:
        tk.generate(model, tokenizer, "x", constraint, max_new_tokens=33)
    assert (caught.value.budget, caught.value.needed) == (33, 34)


@pytest.mark.parametrize("budget", [0, -1, -(10**30)])
@pytest.mark.parametrize("constraint", [tk.regex("a"), tk.regex("(ab)*"), None], ids=str)
def test_a_budget_of_nothing(model: Any, tokenizer: Any, constraint: Any, budget: int) -> None:
    with pytest.raises(tk.BudgetError, match="at least 1") as caught:
        tk.generate(model, tokenizer, "x", constraint, max_new_tokens=budget)
    assert (caught.value.budget, caught.value.needed) == (budget, None)


def test_a_stream_says_what_is_left_and_what_is_needed() -> None:
    compiled = tk.regex("(aba)*bb").compile(VOCABULARY)
    steps = tk.stream(
        preferring(VOCABULARY.width, 4, 1), None, PROMPT, compiled, max_new_tokens=4, greedy=True
    )
    counts = [(steps.tokens_left, steps.tokens_needed)]
    counts += [(steps.tokens_left, steps.tokens_needed) for _ in steps]
    assert counts == [(4, 2), (3, 2), (2, 2), (1, 1), (0, 0)]
    assert steps.generation is not None
    assert steps.generation.text == "abaababb"


def test_a_stop_token_counts() -> None:
    compiled = tk.regex("[ab]*").compile(VOCABULARY)
    steps = tk.stream(
        preferring(VOCABULARY.width, STOP), None, PROMPT, compiled, max_new_tokens=4, greedy=True
    )
    assert list(steps) == []
    assert steps.tokens_left == 3
