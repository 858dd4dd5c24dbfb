"""Patterns that are large because their caller's data is: phrases, texts, lists of words, depths.

A large one is compiled, masked and walked within ``LIMITS``; how many states that takes is asserted.  Small
ones of the same form are compared with a judge, token by token.
"""

from __future__ import annotations

import codecs
import itertools
import random
import re
from collections.abc import Iterable

import pytest

import tokamata as tk
from tests.support import matchers
from tests.support.masks import allowed
from tests.support.matchers import step, takes, write
from tests.support.texts import all_texts
from tests.support.vocabularies import BYTES

LIMITS = tk.Limits(seconds=5, memory_bytes=200_000_000, states=100_000)
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def words(count: int, seed: int) -> list[str]:
    draw = random.Random(seed)
    return sorted({"".join(draw.choices(LETTERS, k=draw.randint(3, 9))) for _ in range(count)})


def prose(length: int, seed: int) -> str:
    return " ".join(random.Random(seed).choices(words(5000, seed), k=length // 4))[:length]


@pytest.fixture(scope="module")
def vocabulary() -> tk.Vocabulary:
    """All bytes, all pairs of letters, a space and a letter, and 5,000 pieces of words."""
    draw = random.Random(1)
    tokens = [*BYTES, *("".join(pair).encode() for pair in itertools.product(" " + LETTERS, LETTERS))]
    tokens += [draw.choice(["", " "]).encode() + word.encode()[:6] for word in words(5000, 2)]
    tokens += [bracket * 3 for bracket in (b"[", b"]", b'{"a":')]
    return tk.Vocabulary.load([*dict.fromkeys(tokens), None], stop=len(set(tokens)))


@pytest.fixture(scope="module")
def small_vocabulary() -> tk.Vocabulary:
    """All bytes, and pieces with and without whole code points."""
    pieces = ["ab", "aa", "ba", "aba", "bab", "abb", "éa", "aé", "éé", "漢a", "b漢", "AB", "Ab", "a b"]
    split = [b"a\xc3", b"\xa9b", b"\xa9\xc3", b"\xe6\xbc", b"\xbc\xa2", b"\xa2a", b"a\xe6\xbc"]
    tokens = [*BYTES, *(piece.encode() for piece in pieces), *split]
    return tk.Vocabulary.load([*tokens, None], stop=len(tokens))


def walked(constraint: tk.Constraint, vocabulary: tk.Vocabulary, steps: int = 60) -> tk.CompiledConstraint:
    """Compiled, and walked at random with a mask at every step, all within ``LIMITS``."""
    draw = random.Random(3)
    compiled = constraint.compile(vocabulary, limits=LIMITS)
    matcher = compiled.matcher()
    for _ in range(steps):
        if not step(matcher, draw):
            break
    return compiled


def assert_masks_of_texts(
    constraint: tk.Constraint, texts: Iterable[str], vocabulary: tk.Vocabulary, seed: int
) -> None:
    """Along random walks, a token is allowed if and only if one of the texts goes on with it."""
    accepted = {text.encode() for text in texts}
    begun = {text[:end] for text in accepted for end in range(len(text) + 1)}
    draw = random.Random(seed)
    try:
        compiled = constraint.compile(vocabulary)
    except tk.EmptyConstraintError:
        assert not accepted
        return
    for _ in range(4):
        matcher, data = compiled.matcher(), b""
        while True:
            live = {t for t in range(vocabulary.width) if (piece := vocabulary[t]) and data + piece in begun}
            stops = set(vocabulary.stop) if data in accepted else set()
            assert allowed(matcher) == live | stops, (constraint, data)
            if not live:
                break
            token = draw.choice(sorted(live))
            assert matcher.advance(token)
            data += vocabulary[token] or b""


# ---- text_until -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "phrase",
    [prose(100_000, 4), "a" * 100_000, "ab" * 50_000 + "c", "é漢" * 20_000],
    ids=["prose", "a", "ab", "wide"],
)
def test_a_long_phrase_is_found_like_a_short_one(phrase: str, vocabulary: tk.Vocabulary) -> None:
    compiled = walked(tk.text_until(phrase), vocabulary)
    assert compiled.states < 500
    assert compiled.memory_bytes < 2_000_000
    *but_one, last = phrase[-2000:].encode()
    matcher = tk.text_until(phrase[-2000:]).compile(vocabulary, limits=LIMITS).matcher()
    write(matcher, bytes(but_one))
    assert not matcher.is_accepting
    assert matcher.advance(last)
    assert matcher.is_accepting


def test_many_phrases_at_once(vocabulary: tk.Vocabulary) -> None:
    pattern = "|".join(f"(?P<TEXT_UNTIL>{word})" for word in words(100, 5))
    assert walked(tk.regex(pattern), vocabulary).states < 5_000


def test_masks_of_text_until(small_vocabulary: tk.Vocabulary) -> None:
    draw = random.Random(6)
    for _ in range(60):
        phrase = "".join(draw.choices(draw.choice(["ab", "aé", "é漢", "abé漢"]), k=draw.randint(1, 7)))
        end = phrase.encode()

        def lives(data: bytes, end: bytes = end) -> bool:
            try:
                codecs.getincrementaldecoder("utf-8")().decode(data)
            except UnicodeDecodeError:
                return False
            place = data.find(end)
            return place < 0 or place + len(end) == len(data)

        compiled = tk.text_until(phrase).compile(small_vocabulary)
        for _ in range(3):
            matcher, data = compiled.matcher(), b""
            for _ in range(12):
                ids = [] if data.endswith(end) else range(small_vocabulary.width)
                live = {t for t in ids if lives(data + (small_vocabulary[t] or b"\xff"))}
                stops = set() if ids else set(small_vocabulary.stop)
                assert allowed(matcher) == live | stops, (phrase, data)
                if not live:
                    break
                close = [t for t in live if set(small_vocabulary[t] or b"") <= set(end)]
                token = draw.choice(sorted(close or live))
                assert matcher.advance(token)
                data += small_vocabulary[token] or b""


def test_text_until_beside_others(small_vocabulary: tk.Vocabulary) -> None:
    """In an intersection, a complement and a repetition, and where the vocabulary lacks a byte."""
    texts = all_texts("ab", 6)
    letters = tk.regex("[ab]{0,6}")

    def is_first(text: str) -> bool:
        return text.endswith("aba") and text.find("aba") == len(text) - 3

    until = tk.text_until("aba")
    assert_masks_of_texts(until & letters, filter(is_first, texts), small_vocabulary, 1)
    others = [text for text in texts if not is_first(text)]
    assert_masks_of_texts(letters - until, others, small_vocabulary, 2)
    twice = [t for t in texts if any(is_first(t[:i]) and is_first(t[i:]) for i in range(len(t)))]
    assert_masks_of_texts(until.repeat(2, 2) & letters, twice, small_vocabulary, 3)
    without_b = tk.Vocabulary.load([b"a", b"ba", b"c", None], stop=3)
    matcher = until.compile(without_b).matcher()
    assert allowed(matcher) == {0, 1, 2}
    assert takes(matcher, [0, 1])


# ---- substring_of -----------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", ["(?s).{20,30}", "[a-z ]{20,30}", ".*e.*", "(?:[a-z]+ ){3,5}"])
def test_parts_of_a_long_text_that_match(pattern: str, vocabulary: tk.Vocabulary) -> None:
    compiled = walked(tk.substring_of(prose(100_000, 7)) & tk.regex(pattern), vocabulary)
    assert compiled.states < 40_000


def test_masks_of_parts_that_match(small_vocabulary: tk.Vocabulary) -> None:
    draw = random.Random(8)
    patterns = [
        "(?s).{3,5}",
        "a.*b",
        "(?:ab?)+",
        ".*aa.*",
        "(?:..){2,3}",
        "[^b]{2,}",
        ".*(?:bab|é).*",
        "b{3,9}",
    ]
    for pattern in patterns:
        for seed in range(4):
            text = "".join(draw.choices("abé", weights=(4, 4, 1), k=draw.randint(0, 25)))
            parts = {text[i:j] for i in range(len(text) + 1) for j in range(i, len(text) + 1)}
            matching = [part for part in parts if re.fullmatch(pattern, part)]
            constraint = tk.substring_of(text) & tk.regex(pattern)
            assert_masks_of_texts(constraint, matching, small_vocabulary, seed)
            around = [b + part + "a" for part in matching for b in ("", "b")]
            constraint = tk.regex("b?") + constraint + tk.literal("a")
            assert_masks_of_texts(constraint, around, small_vocabulary, seed)


def test_a_text_too_long_for_the_limits_is_refused() -> None:
    with pytest.raises(tk.LimitExceeded, match="memory_bytes"):
        tk.substring_of("ab" * 1_000_000, limits=tk.Limits(memory_bytes=10_000_000))
    with pytest.raises(tk.LimitExceeded, match="seconds"):
        tk.substring_of("ab" * 1_000_000, limits=tk.Limits(seconds=0.001))
    token = tk.CancelToken()
    token.cancel()
    with pytest.raises(tk.Cancelled):
        tk.substring_of("ab" * 1_000, cancel=token)


# ---- words ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form", ["(?:W){2,3}", "(?:W){2}", "(?:W)*", "(?:W)(?:,(?:W))*", "(?:(?:W)[.!]){2,3}"]
)
def test_many_words_one_after_another(form: str, vocabulary: tk.Vocabulary) -> None:
    compiled = walked(tk.regex(form.replace("W", "|".join(words(20_000, 9)))), vocabulary)
    assert compiled.states < 30_000


def test_many_words_of_either_case(vocabulary: tk.Vocabulary) -> None:
    compiled = walked(tk.regex(f"(?i:{'|'.join(words(5_000, 9))}){{2,3}}"), vocabulary)
    assert compiled.states < 30_000


def test_masks_of_words_one_after_another(small_vocabulary: tk.Vocabulary) -> None:
    """Literals, which become one automaton, and what does not, of which what was derived is kept."""
    every = all_texts("ab", 7, shortest=1)
    for seed in range(6):
        draw = random.Random(seed)
        few, many = draw.sample(every[:62], 20), draw.sample(every, 90)
        twice = {a + b for a in few for b in few}
        pattern = f"(?:{'|'.join(few)}|){{2}}"
        assert_masks_of_texts(tk.regex(pattern), twice | {*few, ""}, small_vocabulary, seed)
        pattern = f"(?:(?:{'|'.join(word[:-1] + '[ab]' for word in many)})x){{1,2}}"  # with classes
        one = {word[:-1] + end + "x" for word in many for end in "ab"}
        assert_masks_of_texts(
            tk.regex(pattern), one | {a + b for a in one for b in one}, small_vocabulary, seed
        )


# ---- depths and lengths -----------------------------------------------------------------------


@pytest.mark.parametrize("max_items", [None, 3, 10**18])
@pytest.mark.parametrize("max_depth", [10**6, 10**9, 10**18])
def test_a_depth_is_a_number(max_depth: int, max_items: int | None, vocabulary: tk.Vocabulary) -> None:
    deep = tk.json(max_depth=max_depth, max_items=max_items)
    compiled = walked(deep, vocabulary)
    matcher, endless = compiled.matcher(), tk.json(max_items=max_items).compile(vocabulary).matcher()
    for bracket in b"[" * 50 + b'{"a":' * 2 + b"[0,":
        assert allowed(matcher) == allowed(endless)
        assert matcher.advance(bracket)
        assert endless.advance(bracket)
    assert compiled.memory_bytes < 5_000_000


def test_levels_are_counted_in_each_algebra(small_vocabulary: tk.Vocabulary) -> None:
    shallow, deep = tk.json(max_depth=2), tk.json(max_depth=4)

    def accepts(constraint: tk.Constraint, text: str) -> bool:
        return matchers.accepts(constraint, text, small_vocabulary)

    for depth in range(6):
        text = "[" * depth + "1" * (depth == 0) + "]" * depth
        assert accepts(shallow, text) == (depth <= 2)
        assert accepts(shallow & deep, text) == (depth <= 2)
        assert accepts(deep - shallow, text) == (2 < depth <= 4)
        assert accepts(~shallow, text) == (depth > 2)
    assert (shallow - deep).is_empty()


def test_a_literal_too_long_for_the_limits_is_refused_at_once(vocabulary: tk.Vocabulary) -> None:
    with pytest.raises(tk.LimitExceeded, match="memory_bytes"):
        tk.literal("a" * 10_000_000).compile(vocabulary, limits=LIMITS)
    assert walked(tk.literal("a" * 1_000_000), vocabulary).memory_bytes < 100_000_000
