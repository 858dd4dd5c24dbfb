"""Jumping: the tokens that are taken are those of the tokenizer, whatever follows, and fit every budget."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
import tokenizers
import torch
from tokenizers import models

import tokamata as tk
from tests.support.models.fakes import Constant, Counting, Random, byte_level, preferring, token_id
from tests.support.texts import all_texts
from tokamata.decoding.jump import certain_tokens, safe_count, spelled_tokens
from tokamata.decoding.token_prefixes import TokenPrefixes

Encode = Callable[[str], list[int]]


def called(encode: Encode) -> Any:
    """A tokenizer that is called as those of transformers are."""

    def call(text: str, add_special_tokens: bool = True) -> dict[str, list[int]]:
        assert not add_special_tokens
        return {"input_ids": encode(text)}

    return call


def taken(forced: str, encode: Encode, vocabulary: tk.Vocabulary) -> list[int]:
    """The tokens of ``forced`` up to its last safe border."""
    data = forced.encode()
    tokens = spelled_tokens(data, called(encode), vocabulary)
    return tokens[: safe_count(tokens, data, vocabulary)]


def merging(*merges: str, alphabet: str = "abcding") -> tuple[Encode, tk.Vocabulary]:
    """A byte-pair encoding over letters."""
    pairs = [tuple(merge.split()) for merge in merges]
    pieces = dict.fromkeys([*alphabet, *map("".join, pairs)])
    model = models.BPE(vocab={piece: token for token, piece in enumerate(pieces)}, merges=pairs)
    tokenizer = tokenizers.Tokenizer(model)
    return lambda text: tokenizer.encode(text).ids, tk.Vocabulary.load([piece.encode() for piece in pieces])


def pieces(tokens: Sequence[int], vocabulary: tk.Vocabulary) -> str:
    return "|".join((vocabulary[token] or b"").decode() for token in tokens)


# ---- which borders are safe -------------------------------------------------------------------


def test_the_examples_of_the_header() -> None:
    encode, vocabulary = merging("a b", "n g", "i ng")
    assert pieces(encode("abi"), vocabulary) == "ab|i"
    assert pieces(encode("abing"), vocabulary) == "ab|ing"
    assert pieces(taken("abi", encode, vocabulary), vocabulary) == "ab"
    encode, vocabulary = merging("c d", "b c", "a b")
    assert pieces(encode("abc"), vocabulary) == "a|bc"
    assert pieces(encode("abcd"), vocabulary) == "ab|cd"
    assert taken("abc", encode, vocabulary) == []


def byte_pairs(choose: random.Random) -> tuple[Encode, tk.Vocabulary]:
    known = ["a", "b", "c"]
    merges = dict.fromkeys(f"{choose.choice(known)} {choose.choice(known)}" for _ in range(4))
    for _ in range(2):
        known += [merge.replace(" ", "") for merge in merges]
        merges |= dict.fromkeys(f"{choose.choice(known)} {choose.choice(known)}" for _ in range(2))
    return merging(*merges, alphabet="abc")


def some_words(choose: random.Random) -> list[str]:
    words = ["".join(choose.choices("abc", k=choose.randint(2, 4))) for _ in range(6)]
    return list(dict.fromkeys(["a", "b", "c", *words]))


def longest_match(choose: random.Random) -> tuple[Encode, tk.Vocabulary]:
    words = some_words(choose)
    vocab = {word: token for token, word in enumerate(words)}
    model = models.WordPiece(vocab=vocab, unk_token="a", continuing_subword_prefix="")
    tokenizer = tokenizers.Tokenizer(model)
    return lambda text: tokenizer.encode(text).ids, tk.Vocabulary.load([word.encode() for word in words])


def most_probable(choose: random.Random) -> tuple[Encode, tk.Vocabulary]:
    words = some_words(choose)
    model = models.Unigram([(word, -choose.random() * len(word)) for word in words])
    tokenizer = tokenizers.Tokenizer(model)
    return lambda text: tokenizer.encode(text).ids, tk.Vocabulary.load([word.encode() for word in words])


@pytest.mark.parametrize("make", [byte_pairs, longest_match, most_probable])
def test_what_is_taken_does_not_depend_on_what_follows(
    make: Callable[[random.Random], tuple[Encode, tk.Vocabulary]],
) -> None:
    """All texts of up to 4 letters, and all that may follow them up to 4 letters, for 12 tokenizers."""
    count = 0
    rests = all_texts("abc", 4)
    for seed in range(12):
        encode, vocabulary = make(random.Random(seed))
        encoded = {text: encode(text) for text in all_texts("abc", 8, shortest=8)}
        for forced in rests[1:]:
            tokens = taken(forced, encode, vocabulary)
            count += len(tokens)
            if tokens:
                for rest in rests:
                    whole = encoded.get(forced + rest) or encode(forced + rest)
                    assert whole[: len(tokens)] == tokens, (seed, forced, rest)
    assert count > 100  # it is not that nothing is ever taken


def test_borders_against_every_token() -> None:
    choose = random.Random(1)
    for _ in range(200):
        words = [bytes(choose.choices(b"abc", k=choose.randint(1, 5))) for _ in range(choose.randint(1, 12))]
        prefixes = TokenPrefixes([*words, None, b""])
        data = bytes(choose.choices(b"abc", k=choose.randint(0, 9)))
        assert prefixes.extends(data) == any(word.startswith(data) and word != data for word in words)
        for border in range(len(data) + 1):
            straddled = any(
                start < border < start + len(word) and data[start:].startswith(word[: len(data) - start])
                for word in words
                for start in range(len(data))
            )
            assert prefixes.straddles(data, border) == straddled, (words, data, border)


FORCED = [
    '{"name": "',
    '", "age": ',
    "The answer is: ",
    "Dear Sir or Madam,\n\nI am writing to you because ",
    "    return self.",
    "2024-0",
    "it's 12345",
    "à la carte: déjà vu, naïve ",
    "日本語のテキスト: ",
    "\n\n  \t",
    "<b>😀",
]
RESTS = [
    "",
    " ",
    "  x",
    "\n",
    "\n\n",
    "s",
    "'s",
    "0",
    "00",
    "name",
    '"',
    '": {',
    "é",
    "の",
    ".com",
    "\t",
    "A",
    "😀",
]


def real_tokenizers() -> list[Any]:
    from tests.support.tokenizers.real_tokenizers import REAL

    return REAL


@pytest.mark.parametrize("real", real_tokenizers(), ids=str)
def test_with_real_tokenizers(real: Any) -> None:
    encode = real.reference().encode
    vocabulary = tk.Vocabulary.load(real.path())
    total = count = 0
    for forced in FORCED:
        tokens = taken(forced, encode, vocabulary)
        if real.name == "minilm" or b"".join(vocabulary[t] or b"" for t in encode(forced)) != forced.encode():
            continue  # it changes texts, or begins them with a space of its own
        total += len(encode(forced))
        count += len(tokens)
        for rest in RESTS:
            assert encode(forced + rest)[: len(tokens)] == tokens, (forced, rest)
    assert count >= total / 2


# ---- spelling ---------------------------------------------------------------------------------


def test_a_tokenizer_that_begins_texts_with_a_space() -> None:
    """As Llama 2's: behind a line end it shows which tokens it writes in the middle of a text."""
    words = ["▁", "f", "o", "\n", "▁f", "foo", "▁foo"]
    vocabulary = tk.Vocabulary.load([word.replace("▁", " ").encode() for word in words])
    known = {word: token for token, word in enumerate(words)}

    def encode(text: str) -> list[int]:
        return [known[piece] for piece in re.findall("▁?foo|▁f|.", "▁" + text.replace(" ", "▁"), re.DOTALL)]

    for text, expected in (("foo", "foo"), (" foo", " foo"), ("foo foo\n", "foo| foo|\n"), ("\nf", "\n|f")):
        assert pieces(spelled_tokens(text.encode(), called(encode), vocabulary), vocabulary) == expected


def test_a_tokenizer_that_changes_the_text_is_not_asked_twice_what_it_cannot_say() -> None:
    vocabulary = tk.Vocabulary.load([b"a", b"B", None])
    for encode in (lambda text: [0] * len(text), lambda text: [2], lambda text: [], lambda text: [99]):
        assert spelled_tokens(b"BB", called(encode), vocabulary) == []
    assert spelled_tokens(b"aB", called(lambda text: [0, 2]), vocabulary) == [0]


def test_half_code_points() -> None:
    tokenizer = byte_level([])
    vocabulary = tk.Vocabulary.load(tokenizer, stop=[0])
    data = "é漢".encode()
    assert spelled_tokens(data, tokenizer, vocabulary) == tokenizer("é漢")["input_ids"]
    assert spelled_tokens(data[:-1], tokenizer, vocabulary) == tokenizer("é")["input_ids"]
    assert spelled_tokens(data[1:], tokenizer, vocabulary) == []
    assert spelled_tokens(b"\xc3", tokenizer, vocabulary) == []


# ---- in a generation --------------------------------------------------------------------------

TEXTS = ["the one", "1234 and the 12 😀 two", "abcabcab", "é", " the\n\n", "a"]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_that_is_certain_is_written_without_the_model(model: Any, tokenizer: Any, text: str) -> None:
    counting = Counting(model)
    result = tk.generate(counting, tokenizer, "x", tk.literal(text), jump=True, greedy=True)
    assert result.text == text
    assert result.tokens == tokenizer(text, add_special_tokens=False)["input_ids"]
    assert (counting.calls, result.jumped, result.log_probability) == (0, len(result.tokens), 0.0)
    assert result.finish_reason == "complete"


def records() -> Iterator[tuple[str, str]]:
    yield r"the one: [0-9]{2}, and the two: [0-9]{2}\.", "numbers"
    yield r'\{"one": (the|two), "two": [ab]{1,3}\}', "choices"
    yield r"(one|two) and the (one|two) 1234", "the end is certain"
    yield r"[😀-😿] the 😀 (one|two)", "half code points"


@pytest.mark.parametrize("pattern", [pattern for pattern, _ in records()])
def test_fewer_calls_of_the_model(model: Any, tokenizer: Any, pattern: str) -> None:
    constraint = tk.regex(pattern)
    for seed in range(4):
        asking, jumping = Counting(model), Counting(model)
        plain = tk.generate(asking, tokenizer, "x", constraint, seed=seed)
        steps = tk.stream(jumping, tokenizer, "x", constraint, seed=seed, jump=True)
        jumped = [step.jumped for step in steps]
        result = steps.generation
        assert result is not None
        assert re.fullmatch(pattern, plain.text)
        assert re.fullmatch(pattern, result.text)
        assert result.jumped == sum(jumped) > 0
        assert plain.jumped == 0
        drawn = len(result.tokens) - result.jumped + (result.stop_token is not None)
        assert jumping.calls == drawn < asking.calls
        # What the model has read is the text itself, in order.
        assert (result.prompt_tokens + result.tokens)[: len(jumping.read)] == jumping.read


def test_the_model_sees_what_was_jumped(model: Any, tokenizer: Any) -> None:
    """Greedy, with and without the model's cache, a jump leaves it where it would be without."""
    constraint = tk.regex("the one [ab]{4}")
    cached = tk.generate(model, tokenizer, "x", constraint, greedy=True, jump=True)
    plain = tk.generate(Counting(model, cache=False), tokenizer, "x", constraint, greedy=True, jump=True)
    assert cached.tokens == plain.tokens
    given = cached.prompt_tokens + cached.tokens[: cached.jumped]
    rest = tk.generate(model, tokenizer, given, tk.regex("[ab]{4}"), greedy=True)
    assert cached.text == "the one " + rest.text


def test_past_the_last_safe_border_the_choice_is_the_models() -> None:
    """``ab|i`` may become ``ab|ing``: the model is asked, and takes the longer token."""
    tokenizer = byte_level(["a b", "n g", "i ng"])
    model = Counting(preferring(len(tokenizer), token_id(tokenizer, "ing"), token_id(tokenizer, "i")))
    model.generation_config = None
    result = tk.generate(model, tokenizer, "x", tk.regex("abi(ng|t)"), greedy=True, jump=True)
    assert tokenizer.convert_ids_to_tokens(result.tokens) == ["ab", "ing"]
    assert (result.jumped, model.calls) == (1, 1)


@pytest.mark.parametrize("pattern", ["ab", "abab", "ababc[ab]", "(ab){3}cb?", "babc(aba|b)"])
def test_a_jump_never_makes_a_budget_fail(pattern: str) -> None:
    """The tokenizer cuts letter by letter; only longer tokens, which it never writes, fit the budget."""
    tokens = [b"a", b"b", b"c", b"ab", b"ba", b"bab"]
    vocabulary = tk.Vocabulary.load([*tokens, None], stop=[6])
    compiled = tk.regex(pattern).compile(vocabulary)
    tokenizer = called(lambda text: [b"abc".index(letter.encode()) for letter in text])
    shortest = len(compiled.matcher().shortest_completion())
    jumps = 0
    for budget in range(1, 9):
        for seed in range(3):
            call: dict[str, Any] = {"max_new_tokens": budget, "jump": True, "seed": seed}
            if budget < shortest:
                with pytest.raises(tk.BudgetError):
                    tk.generate(Random(7, seed), tokenizer, [0], compiled, **call)
                continue
            result = tk.generate(Random(7, seed), tokenizer, [0], compiled, **call)
            assert re.fullmatch(pattern, result.text)
            assert len(result.tokens) <= budget
            jumps += result.jumped
    assert jumps


def test_without_a_constraint_nothing_is_certain(tokenizer: Any) -> None:
    model = Constant(torch.zeros(len(tokenizer)))
    result = tk.generate(model, tokenizer, "x", None, jump=True, max_new_tokens=5, seed=0)
    assert result.jumped == 0


def test_a_matcher_is_not_moved(tokenizer: Any) -> None:
    matcher = tk.literal("the one").compile(tk.Vocabulary.load(tokenizer, stop=[1])).matcher()
    assert certain_tokens(matcher, tokenizer) == tokenizer("the one", add_special_tokens=False)["input_ids"]
    assert matcher.tokens == []
