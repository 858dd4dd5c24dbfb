"""Healing: the last token of the prompt is written anew, and the text returned leaves it out."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest

import tokamata as tk
from tests.support.models.fakes import Counting, byte_level, preferring, token_id
from tokamata.decoding.heal import text_to_heal

MERGES = [": /", ":/ /", "a b", "ab c", "Ã ©", "Ã© x"]


@pytest.fixture(scope="module")
def web() -> Any:
    """A tokenizer with the tokens ``://``, ``abc``, ``é`` and ``éx``."""
    return byte_level(MERGES)


def spelled(tokenizer: Any, tokens: list[int]) -> str:
    return tokenizer.decode(tokens, clean_up_tokenization_spaces=False)


def test_the_example_of_the_header(web: Any) -> None:
    model = preferring(len(web), token_id(web, "://"), token_id(web, "/"), token_id(web, "a"))
    constraint = tk.regex("//[ab]{2}")
    plain = tk.generate(model, web, "http:", constraint, greedy=True)
    assert web.convert_ids_to_tokens(plain.tokens) == ["/", "/", "a", "a"]
    assert plain.healed == ""
    healed = tk.generate(model, web, "http:", constraint, greedy=True, heal=True)
    assert web.convert_ids_to_tokens(healed.tokens) == ["://", "a", "a"]
    assert (healed.text, healed.healed, plain.text) == ("//aa", ":", "//aa")
    assert healed.prompt_tokens == plain.prompt_tokens[:-1]


@pytest.mark.parametrize(
    ("prompt", "healed"),
    [
        ("http:", ":"),
        ("xab", "ab"),  # begins abc
        ("xé", "é"),  # begins éx
        ("xabc", ""),  # nothing is longer
        ("x\u00a9", ""),  # begins nothing
        ("x<eos>", ""),  # a control token
        (":", ""),  # nothing would be left to go on from
    ],
)
def test_which_tokens_are_taken_back(web: Any, prompt: str, healed: str) -> None:
    vocabulary = tk.Vocabulary.load(web, stop=[0])
    tokens = web(prompt)["input_ids"]
    assert text_to_heal(tokens, vocabulary) == healed
    model = preferring(len(web), token_id(web, "1"))
    for given in (prompt, tokens):
        result = tk.generate(model, web, given, tk.regex("[0-9]{2}"), greedy=True, heal=True)
        assert (result.text, result.healed) == ("11", healed)
        assert spelled(web, result.prompt_tokens + result.tokens) == prompt + "11"


def test_what_is_never_taken_back() -> None:
    vocabulary = tk.Vocabulary.load([b"a", b"ab", None, b"\xc3", b"\xc3\xa9", b""], stop=[2], width=9)
    assert text_to_heal([1, 0], vocabulary) == "a"
    for last in (1, 2, 3, 4, 5, 6, 8, 9, 10**9, -1):
        assert text_to_heal([1, last], vocabulary) == ""
    assert text_to_heal([0], vocabulary) == ""


def test_an_empty_prompt(web: Any) -> None:
    for prompt in ("", []):
        with pytest.raises(tk.GenerationError, match="no tokens"):
            tk.generate(preferring(len(web), 1), web, prompt, tk.regex("a"), heal=True)


@pytest.mark.parametrize("prompt", ["hello ab", "hello 12", "hello th", "x tw", "x<eos>a"])
@pytest.mark.parametrize("pattern", ["[a-z ]{1,12}", "c?[0-9]{3}", "(e|o)( one)?", r"\d{2}|[^\d]{3}", ""])
def test_random_models(model: Any, tokenizer: Any, prompt: str, pattern: str) -> None:
    constraint = tk.regex(pattern)
    given = tokenizer(prompt)["input_ids"]
    for seed, jump in itertools.product(range(4), (False, True)):
        seen: list[str] = []
        steps = tk.stream(model, tokenizer, prompt, constraint, seed=seed, heal=True, jump=jump)
        data = b""
        for step in steps:
            seen.append(step.text)
            data += step.data
        result = steps.generation
        assert result is not None
        assert re.fullmatch(pattern, result.text), result
        assert result.healed == prompt[-len(result.healed) :] != ""
        assert "".join(seen) == result.text == data.decode()
        assert result.prompt_tokens == given[:-1]
        assert spelled(tokenizer, result.tokens) == result.healed + result.text


def test_on_text_leaves_it_out(model: Any, tokenizer: Any) -> None:
    pieces: list[str] = []
    result = tk.generate(
        model, tokenizer, "x ab", tk.regex("c[ab]{4}"), heal=True, seed=1, on_text=pieces.append
    )
    assert "".join(pieces) == result.text
    assert all(pieces)


def test_an_end_that_is_written_in_parts_of_code_points(web: Any) -> None:
    """``é`` is taken back, and written by its two bytes; a jump in between has nothing to say."""
    first, second = (token_id(web, piece) for piece in "Ã©")
    model = preferring(len(web), first, second)
    for jump in (False, True):
        result = tk.generate(model, web, "xé", tk.regex("[1-3]y"), greedy=True, heal=True, jump=jump)
        assert result.tokens[:2] == [first, second]
        assert result.text[1:] == "y"


@pytest.mark.parametrize("pattern", ["[0-9]{3}", "c", "cc", "(ab)*", "abc[ab]{2}"])
def test_it_never_makes_a_budget_fail(model: Any, tokenizer: Any, pattern: str) -> None:
    """The token that was taken back does not count: prompt and text together are never longer than before."""
    constraint = tk.regex(pattern)
    prompt = tokenizer("x ab")["input_ids"]

    def write(budget: int, heal: bool) -> tk.Generation | tk.BudgetError:
        try:
            return tk.generate(model, tokenizer, prompt, constraint, max_new_tokens=budget, heal=heal, seed=1)
        except tk.BudgetError as error:
            return error

    for budget in range(1, 6):
        result = write(budget, heal=True)
        if isinstance(result, tk.BudgetError):
            assert isinstance(write(budget, heal=False), tk.BudgetError)
            assert result.budget == budget
            assert result.needed is not None
            assert isinstance(write(result.needed - 1, heal=True), tk.BudgetError)
            budget = result.needed
            result = write(budget, heal=True)
        assert isinstance(result, tk.Generation)
        assert re.fullmatch(pattern, result.text)
        drawn = len(result.tokens) + (result.stop_token is not None)
        assert len(result.prompt_tokens) + drawn <= len(prompt) + budget


def test_healing_may_save_a_token(model: Any, tokenizer: Any) -> None:
    """``ab`` and ``c`` are two tokens, and ``abc`` is one in the place of ``ab``."""
    result = tk.generate(model, tokenizer, "x ab", tk.literal("c"), heal=True, max_new_tokens=1, jump=True)
    assert tokenizer.convert_ids_to_tokens(result.tokens) == ["abc"]
    assert (result.text, result.jumped) == ("c", 1)


def test_without_a_constraint(web: Any) -> None:
    """Only the end of the prompt is kept to; what follows is free, half code points too."""
    half = token_id(web, "Ã")
    model = preferring(len(web), token_id(web, "://"), half)
    result = tk.generate(model, web, "http:", None, greedy=True, heal=True, max_new_tokens=3)
    assert web.convert_ids_to_tokens(result.tokens) == ["://"] * 4
    assert (result.text, result.finish_reason) == ("//" + "://" * 3, "length")
    model = preferring(len(web), half, token_id(web, ":"))
    result = tk.generate(model, web, "http:", None, greedy=True, heal=True, max_new_tokens=3)
    assert web.convert_ids_to_tokens(result.tokens) == [":", "Ã", "Ã", "Ã"]


def test_a_compiled_constraint_cannot_be_healed(model: Any, tokenizer: Any) -> None:
    compiled = tk.regex("c").compile(tk.Vocabulary.load(tokenizer, stop=[1], width=len(tokenizer) + 37))
    counting = Counting(model)
    with pytest.raises(tk.AlgebraError, match="pass the constraint itself"):
        tk.generate(counting, tokenizer, "x ab", compiled, heal=True)
    assert counting.calls == 0
