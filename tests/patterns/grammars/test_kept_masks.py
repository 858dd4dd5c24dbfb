"""Masks of a grammar that are kept by the part of the stack that they were made from.

The judges are the tokens that a matcher takes.
"""

from __future__ import annotations

from itertools import permutations

import pytest

import tokamata as tk
from tests.support.masks import allowed, taken
from tests.support.matchers import write
from tests.support.vocabularies import bytes_and


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
