"""Masks of a grammar that are kept by the part of the stack that they were made from.

The judges are the tokens that a matcher takes.
"""

from __future__ import annotations

import random
from itertools import permutations

import pytest

import tokamata as tk
from tests.support.masks import allowed, taken
from tests.support.matchers import write
from tests.support.vocabularies import BYTE_VOCABULARY, bytes_and


@pytest.mark.parametrize(
    ("first", "second"),
    [*permutations(["x? b", "x? d", "x? b z", "x? d z"], 2), *permutations(["(b | c)", "(d | e)"], 2)],
)
def test_what_begins_with_no_byte_of_a_token_was_read(first: str, second: str) -> None:
    """After `n` a token goes on with `d`, none with `b`; both stand behind `x?`, or beside another one."""
    source = f"""
        start: "1" n {first} | "2" n {second}
        n: "n" | "(" n ")"
        x: "x" | "(" x ")"
        z: "z" | "(" z ")"
        b: "b" | "b" z
        c: "c" | "c" z
        d: "d" | "d" z
        e: "e" | "e" z
    """
    vocabulary = bytes_and(b"nd", b"ne", b")d")
    compiled = tk.grammar(source, lexer="characters").compile(vocabulary)
    for text in ("1", "2", "1(", "2(", "2(n", "1(n"):
        matcher = compiled.matcher()
        write(matcher, text)
        assert allowed(matcher) == taken(matcher, vocabulary), text


def test_readings_of_a_text_that_may_end() -> None:
    """After `1n` there are two readings, with both of which it may end; after `3n` one of them must go on."""
    source = """
        start: "1" p | "1" q | "2" q | "2" p | "3" q | "3" r
        p: "n" ("(" p ")")?
        q: "n" ("[" q "]")?
        r: "n" "<" r ">" | "n<>"
    """
    vocabulary = bytes_and(b"n(", b"(n", b"[n", b"(n)", b"[n]", b"<n")
    compiled = tk.grammar(source, lexer="characters").compile(vocabulary)
    for text in ("1n", "2n", "3n", "1n(n", "2n[n", "3n<n", "3n<n<"):
        matcher = compiled.matcher()
        write(matcher, text)
        stops = set(vocabulary.stop) if matcher.is_accepting else set()
        assert allowed(matcher) == taken(matcher, vocabulary) | stops, text
        later = compiled.matcher(min_tokens=len(text) + 1)
        write(later, text)
        assert allowed(later) == allowed(matcher) - stops, text


@pytest.mark.parametrize("lexer", ["characters", "longest", "basic", "contextual", "dynamic"])
@pytest.mark.parametrize("comment", ["", "%ignore /#[a-z]*;/"])
def test_blanks_lead_back_to_the_state_before_them(lexer: str, comment: str) -> None:
    """After `a` blanks may follow, and after one of them too: it is one state, with one mask."""
    source = f"""
        start: item+
        item: "a" | "(" item+ ")"
        %ignore /[ \\n]+/
        {comment}
    """
    compiled = tk.grammar(source, lexer=lexer).compile(BYTE_VOCABULARY)
    matcher = compiled.matcher()
    write(matcher, "(a")
    mask, states = allowed(matcher), compiled.states
    for text in (" ", "\n ", "   "):
        write(matcher, text)
        assert allowed(matcher) == mask
        assert compiled.states == states
    if comment:
        write(matcher, "#x; ")
        assert allowed(matcher) == mask
        assert compiled.states == states + 1  # within the comment


RULES = ("f", "g", "h", "i")
LETTERS = "abn();"


def random_source(rng: random.Random) -> str:
    """Four rules that refer to each other, each with an end, and a terminal of many letters."""

    def symbol() -> str:
        name = rng.choice([f'"{rng.choice(LETTERS)}"', rng.choice(RULES), rng.choice(RULES), "WORD"])
        return name + rng.choice(["", "", "?"])

    ways = [f'"{number}" {symbol()} {symbol()} ";"' for number in range(1, 5)]
    lines = ["start: " + " | ".join(ways), "WORD: /[ab]+/"]
    for rule in RULES:
        first = f'"{rng.choice(LETTERS)}"'
        rest = [" ".join(symbol() for _ in range(rng.randint(1, 3))) for _ in range(rng.randint(1, 2))]
        lines.append(f"{rule}: {first} | " + " | ".join(f'"{rng.choice(LETTERS)}" {text}' for text in rest))
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(60))
def test_masks_of_random_rules(seed: int) -> None:
    """One constraint meets many stacks that end alike, so that most of its masks are kept ones."""
    rng = random.Random(seed)
    words = {"".join(rng.choices(LETTERS, k=rng.randint(2, 4))).encode() for _ in range(40)}
    vocabulary = bytes_and(*words)
    compiled = tk.grammar(random_source(rng), lexer="characters").compile(vocabulary)
    for _ in range(12):
        matcher = compiled.matcher()
        for _ in range(10):
            tokens = allowed(matcher) - {vocabulary.width - 1}
            assert tokens == taken(matcher, vocabulary)
            if not tokens:
                break
            matcher.advance(rng.choice(sorted(tokens)))
