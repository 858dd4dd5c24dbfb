"""Patterns of bytes that the core finds in one pass, judged by ``re``: exhaustively and at random."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Sequence

import pytest

import tokamata as tk
from tests.support.repair.byte_patterns import patterns_of, places
from tokamata.repair.bounded_patterns import BoundedPatterns
from tokamata.repair.byte_patterns import BytePatterns
from tokamata.repair.costs import BY_WRITTEN
from tokamata.repair.default_costs import DEFAULT_COSTS, costs_without_finders

# What the default patterns look for.
_PIECES = [
    '"', "'", "{", "}", "[", "]", ":", ",", " ", "\n", "a", "_", "True", "nil", "1", "2.", ".5", "e+", "...",
    "//", "/*", "*/", "#", "\\", "\\u12", "-", "“", "”", "„", "\u00a0", "+", "true", "`", "é", "\t", "\0",
]  # fmt: skip
_ATOMS = [
    "a", "b", "[ab]", "[^a]", ".", r"\w", r"\s", r"\d", "(?:ab|a)", "(?:a|ab)", "(a|b)", r"\b", r"\B", "^",
    "$", r"\A", r"\Z", "(?<=a)", "(?<!b)", "(?=b)", "(?!a)", "(?<=ab)", "(?s:.)", "(?i:A)", "(?:a|)",
    "(?<![ab])", "(?:(?=a)a|b)", r"\n", "(?m:^)", "(?m:$)", "(?:(?:ab)+?|b)", r"[^\x00-\x60]", r"\xe9",
    "(?!(?:ab){2})",
]  # fmt: skip
_QUANTIFIERS = ["", "*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,2}?", "{2,}", "{0}"]


def _check(patterns: Sequence[bytes], found: BytePatterns, text: bytes) -> None:
    expected = [
        (match.start(), number, match.end())
        for number, pattern in enumerate(patterns)
        if all(number != other for other, _ in found.others)
        for match in re.finditer(pattern, text)
    ]
    found_at = [(begin, number, end) for number, begin, end in places(found, text)]
    assert found_at == sorted(expected), (text, patterns)


def test_default_patterns_are_found_where_re_finds_them() -> None:
    patterns = [one.pattern for one in (*DEFAULT_COSTS.rewrites, *DEFAULT_COSTS.doubts)]
    found = patterns_of(patterns)
    assert not found.others
    pieces = [piece.encode() for piece in _PIECES]
    for length in (1, 2, 3):
        for text in itertools.product(pieces[: 60 // length], repeat=length):
            _check(patterns, found, b"".join(text))
    draw = random.Random(1)
    for _ in range(3000):
        _check(patterns, found, b"".join(draw.choices(pieces, k=draw.randrange(4, 30))))


def _pattern(draw: random.Random, depth: int = 2) -> str:
    written = ""
    for _ in range(draw.randint(1, 3)):
        atom = draw.choice(_ATOMS)
        if depth and draw.random() < 0.3:
            options = [_pattern(draw, depth - 1) for _ in range(draw.randint(1, 2))]
            atom = f"({'?:' * draw.randint(0, 1)}{'|'.join(options)})"
        written += atom + draw.choice(_QUANTIFIERS) * (draw.random() < 0.7)
    return written


def test_random_patterns_are_found_where_re_finds_them() -> None:
    draw, supported = random.Random(2), 0
    for _ in range(500):
        patterns = []
        while len(patterns) < 8:
            pattern = _pattern(draw).encode("latin-1")
            try:
                re.compile(pattern)
            except re.error:
                continue
            patterns.append(pattern)
        found = patterns_of(patterns)
        supported += len(patterns) - len(found.others)
        for _ in range(20):
            _check(patterns, found, bytes(draw.choices(b"aaabbc \nA1\xe9_", k=draw.randrange(9))))
    assert supported > 800


def test_more_patterns_than_a_word_has_bits() -> None:
    patterns = [b"(?<=%c)%c+" % pair for pair in itertools.product(b"abcdefghij", repeat=2)]
    draw = random.Random(3)
    found = patterns_of(patterns)
    for _ in range(100):
        _check(patterns, found, bytes(draw.choices(b"abcdefghij", k=40)))


@pytest.mark.parametrize(
    "pattern", [rb"(a)\1", rb"(a)?(?(1)b|c)", rb"a*", rb"(?:a*)+b", rb"(?:a|){2}b", rb"(?:abc){1000}"]
)
def test_what_is_left_to_re(pattern: bytes) -> None:
    assert [number for number, _ in patterns_of([pattern]).others] == [0]


def test_rewrites_are_those_of_re_where_some_patterns_have_no_program() -> None:
    """Positions are in order, and of one position the patterns."""
    rewrites = [
        tk.Rewrite("pair", rb"(\w)\1", rb"<\1>", 1),
        tk.Rewrite("word", rb"(?P<first>\w)(\w*)", rb"\g<first>-\2\\", 2),
        tk.Rewrite("whole", rb"\w+", rb"[\g<0>]", 3),
        tk.Rewrite("upper", rb"[a-m]", lambda match: match[0].upper() if match[0] > b"b" else None, 4),
        tk.Rewrite("maybe", rb"z*", b"s", 5),
    ]
    costs = tk.EditCosts(rewrites=rewrites)
    draw = random.Random(4)
    for _ in range(200):
        text = bytes(draw.choices(b"aabcz ", k=draw.randrange(12)))
        expected = [
            (match.start(), number, match.end(), written)
            for number, rewrite in enumerate(rewrites)
            for match in re.finditer(rewrite.pattern, text)
            if match[0]
            for written in [
                rewrite.replacement(match)
                if callable(rewrite.replacement)
                else match.expand(bytes(memoryview(rewrite.replacement)))
            ]
            if written is not None
        ]
        spans = [(span.begin, span.name, span.end, span.written, span.cost) for span in costs.spans(text)]
        assert spans == [
            (begin, rewrites[number].name, end, written, rewrites[number].cost)
            for begin, number, end, written in sorted(expected, key=lambda one: one[:2])
        ]


def test_quadratic_patterns_end_with_the_time() -> None:
    """``re`` takes half a minute within the pattern, where nothing interrupts it."""
    costs = tk.EditCosts(rewrites=[tk.Rewrite("tag", rb"<(?:<|=)*>", b"", 1)])
    bounds = BoundedPatterns(tk.Limits(seconds=0.05), None)
    with pytest.raises(tk.LimitExceeded, match=r"seconds=0\.05"):
        costs.spans(b">" + b"<" * 200_000, bounds)
    token = tk.CancelToken()
    token.cancel()
    with pytest.raises(tk.Cancelled):
        costs.spans(b">" + b"<" * 200_000, BoundedPatterns(tk.Limits(seconds=60), token))
    bounds = BoundedPatterns(tk.Limits(memory_bytes=1 << 20), None)
    with pytest.raises(tk.LimitExceeded, match="memory_bytes"):
        tk.EditCosts(rewrites=[tk.Rewrite("one", b"<", b"", 1)]).spans(b"<" * 200_000, bounds)


def test_patterns_of_modes_that_no_edit_leads_to_are_left_out() -> None:
    """Judged by all that is found, and the modes that are reached step by step."""
    tables, draw = DEFAULT_COSTS.tables(b""), random.Random(3)
    pieces = [piece.encode() for piece in [*_PIECES, '"""', "```", '\\"', "''"]]
    left_out, without_finders = 0, costs_without_finders(DEFAULT_COSTS)
    for _ in range(400):
        text = b"".join(draw.choices(pieces, k=draw.randrange(30)))
        everything = DEFAULT_COSTS.spans(text)
        found = without_finders.of_text(text).spans
        reached = {0}
        for _ in range(len(DEFAULT_COSTS.modes)):
            for mode in list(reached):
                reached |= {*tables.after[mode], *tables.inserted[mode]}
            within = [one for one in everything if any(one.within >> mode & 1 for mode in reached)]
            reached |= {one.then for one in within if one.then != BY_WRITTEN}
        assert found == within, text
        left_out += len(everything) - len(within)
    assert left_out > 100
