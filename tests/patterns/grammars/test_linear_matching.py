"""Matches in linear time.  Judge: ``re``."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

import tokamata as tk
from tokamata.patterns.grammars.lexer.linear_matching import LinearPattern
from tokamata.resources import bounded_steps as steps
from tokamata.resources.limits import Limits, Watch

LOOKS = ["(?=a)", "(?!b)", "(?<=a)", "(?<!b)", r"\b", "^", "$", "(?=(?:a|b)*c)"]


def random_regex(draw: random.Random, depth: int, has_looks: bool) -> str:
    choice = draw.random()
    if depth == 0 or choice < 0.25:
        return draw.choice(["a", "b", "c", "[ab]", "ab", "."])
    first = random_regex(draw, depth - 1, has_looks)
    if choice < 0.5:
        return first + random_regex(draw, depth - 1, has_looks)
    if choice < 0.7:
        return f"(?:{first}|{random_regex(draw, depth - 1, has_looks)})"
    if choice < 0.9 or not has_looks:
        # Loops whose body may be empty: re ends them at the first empty round.
        body = "a" if re.fullmatch(first, "") or has_looks else first
        return f"(?:{body}){draw.choice(['*', '+', '?', '*?', '+?', '??', '{1,2}', '{0,2}?'])}"
    return draw.choice([draw.choice(LOOKS) + first, first + draw.choice(LOOKS)])


@pytest.mark.parametrize("has_looks", [False, True])
def test_matches_are_those_of_re(has_looks: bool) -> None:
    deterministic = matches = 0
    for seed in range(400):
        draw = random.Random(seed)
        regex = random_regex(draw, 3, has_looks)
        flags = draw.choice([0, re.I, re.S, re.M])
        pattern, judge = LinearPattern("T", regex, flags, Watch()), re.compile(regex, flags)
        deterministic += pattern.is_deterministic()
        for _ in range(8):
            text = "".join(draw.choice("abcAB\n") for _ in range(draw.randint(0, 8)))
            begin = draw.randint(0, len(text))
            found, expected = pattern.match(text, begin), judge.match(text, begin)
            assert (found and found.group()) == (expected and expected.group()), (regex, text, begin)
            assert (found and found.end()) == (expected and expected.end())
            matches += found is not None
    assert matches > 500
    assert deterministic > 50


@pytest.mark.parametrize(
    ("regex", "is_deterministic"),
    [
        (r"[a-z_][a-z0-9_]*", True),
        (r"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", True),
        (r'"(?:[^"\\]|\\.)*"', True),
        ("if|int|interface", True),  # three paths
        (".*?;", False),
        ("(a|a)*b", False),
        ("(a|a)" * 20, False),  # 2^20 paths
        ("a*a*b", False),
        (r"a\b", False),  # what re reads besides is not known
    ],
)
def test_what_is_deterministic(regex: str, is_deterministic: bool) -> None:
    assert LinearPattern("T", regex, 0, Watch()).is_deterministic() == is_deterministic


@pytest.mark.parametrize("regex", ["(a|a)*b", "(a*)*b", "a*a*a*a*b", "(?=(a|a)*c)a", '("|[^"])*x'])
def test_matching_takes_steps_linear_in_the_text(regex: str) -> None:
    counts = []
    for length in (200, 800):
        pattern = LinearPattern("T", regex, 0, Watch())
        with steps.bounded(Watch()):
            assert pattern.match("a" * length) is None
            counts.append(steps._use.steps)
    assert counts[1] <= 5 * counts[0]


@pytest.mark.parametrize("lexer", ["dynamic", "basic", "contextual"])
@pytest.mark.parametrize("regex", ["(a|a)*b", "a*a*a*a*a*a*a*b", "(?=(a|a)*c)b"])
def test_lark_reads_terminals_that_re_tries_without_end(lexer: Any, regex: str) -> None:
    grammar = tk.grammar(f"start: (X | Y)+\nX: /{regex}/\nY: /a/", lexer=lexer)
    assert len(grammar.parse("a" * 60, limits=Limits(seconds=60)).children) == 60
    with pytest.raises(tk.LimitExceeded):
        grammar.parse("a" * 100_000, limits=Limits(seconds=0.1))


def test_texts_that_an_expression_tries_without_end() -> None:
    source = "start: X | KEYWORD\nX: /(a|a)*b/\nKEYWORD: " + f'"{"a" * 30}!"'
    assert tk.grammar(source, lexer="basic").parse("a" * 30 + "!").children == ["a" * 30 + "!"]
    assert tk.grammar(source, lexer="basic").parse("aab").children == ["aab"]
