"""Masks of grammars in which many rules begin at one place, and as many again after each of them."""

from __future__ import annotations

from itertools import product

import pytest

import tokamata as tk
from tests.support.masks import allowed, taken
from tests.support.matchers import write
from tests.support.vocabularies import bytes_and

WORDS = ["".join(word).encode() for length in range(2, 9) for word in product("ab", repeat=length)]


@pytest.mark.parametrize(
    "source",
    [
        'start: "a"? f? | "b"\nf: "b" start f? | f start? | start | "a" "a"',
        'start: start* "a"+ | "b"',
        'start: f | "b" | f start*\nf: start start? | "a"',
    ],
    ids=["optional", "repeated", "in turns"],
)
def test_readings_meet_where_parts_are_unfolded(source: str) -> None:
    """Followed by segments of their own, they would take gigabytes after six bytes."""
    vocabulary = bytes_and(*WORDS)
    compiled = tk.grammar(source, lexer="characters").compile(vocabulary)
    matcher = compiled.matcher()
    for text in ("b", "aaaa", "aba"):
        assert allowed(matcher) - {vocabulary.width - 1} == taken(matcher, vocabulary)
        write(matcher, text)
    assert compiled.memory_bytes < 250e6
