"""Texts with a least number of tokens: masks that leave room for more, and what they do beside budgets.

The judge is brute force over explicit machines: the lengths in tokens of all completions of each state.
"""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

import tokamata as tk
from tests.support.automata.drawn_graphs import drawn_graphs, vocabulary_of
from tests.support.automata.explicit import TokenGraph
from tests.support.masks import allowed, bits
from tests.support.matchers import takes
from tests.support.vocabularies import BYTE_VOCABULARY as BYTES_ALONE
from tests.support.vocabularies import BYTES

BUDGETS = [None, *range(1, 9)]


class Judge:
    """What may follow, by the lengths of all completions."""

    def __init__(self, graph: TokenGraph, stop: list[int], least: int) -> None:
        # A path of more tokens than this repeats a state, and without the repetition it is still long enough.
        self.most = least + len(graph.rows)
        self.graph, self.stop, self.least = graph, stop, least
        self.lengths = graph.lengths(self.most)

    def lasts(self, state: int, written: int, budget: int | None) -> bool:
        least, most = self.least - written, self.most if budget is None else budget
        return any(least <= length <= most for length in self.lengths[state])

    def accepts(self, state: int, written: int) -> bool:
        return state in self.graph.accepting and written >= self.least

    def allowed(self, state: int, written: int, budget: int | None) -> set[int]:
        left = None if budget is None else budget - 1
        tokens = {t for t, s in self.graph.rows[state].items() if self.lasts(s, written + 1, left)}
        return tokens | (set(self.stop) if self.accepts(state, written) else set())


def check_place(matcher: tk.Matcher, judge: Judge, state: int, written: int, draw: random.Random) -> None:
    for budget in draw.sample(BUDGETS, len(BUDGETS)):
        expected, row = judge.allowed(state, written, budget), matcher.compiled.allocate_mask()[0]
        if expected or judge.accepts(state, written):
            matcher.fill_mask(row, budget=budget)
            assert bits(row) == expected, (written, budget)
        else:
            with pytest.raises(tk.BudgetError):
                matcher.fill_mask(row, budget=budget)
    expected = judge.allowed(state, written, None)
    assert allowed(matcher) == expected
    assert matcher.is_accepting == judge.accepts(state, written)
    completion = matcher.shortest_completion()
    assert takes(matcher, completion)
    assert written + len(completion) >= judge.least
    for token in range(len(matcher.compiled.vocabulary)):
        fork = matcher.fork()
        assert fork.advance(token) == (token in expected)
        assert matcher.validate([token]) == (token in expected)
        assert matcher.explain(token).allowed == (token in expected)


@pytest.mark.parametrize("seed", range(8))
def test_against_brute_force(seed: int) -> None:
    """Random languages and vocabularies: bytes that lack, start rules, control tokens, no stop tokens."""
    draw = random.Random(seed)
    refused = 0
    for compiled, graph, stop in drawn_graphs(draw, 60):
        least = draw.randrange(1, 8)
        judge = Judge(graph, stop, least)
        if not judge.lasts(graph.start, 0, None):
            with pytest.raises(tk.LengthError, match=f"no text of {least} tokens or more"):
                compiled.matcher(min_tokens=least)
            refused += 1
            continue
        matcher = compiled.matcher(min_tokens=least)
        state = graph.start
        for written in range(least + 2):
            check_place(matcher, judge, state, written, draw)
            tokens = sorted(judge.allowed(state, written, None) - set(stop))
            if not tokens:
                break
            token = draw.choice(tokens)
            assert matcher.advance(token)
            state = graph.rows[state][token]
        assert matcher.validate([]) == 0
        back = draw.randrange(len(matcher.tokens) + 1)
        states = [graph.start]
        for token in matcher.tokens[: len(matcher.tokens) - back]:
            states.append(graph.rows[states[-1]][token])
        matcher.rollback(back)
        check_place(matcher, judge, states[-1], len(states) - 1, draw)
    assert 0 < refused < 60


def test_a_mask_of_stop_tokens_alone() -> None:
    """Where only the stop tokens are forbidden, ``no`` leads to a mask without any token."""
    vocabulary = tk.Vocabulary.load([*BYTES, b"yes", b"no", None], stop=[258])
    compiled = tk.regex("yes|no|n[a-z]{4}").compile(vocabulary)
    assert allowed(compiled.matcher()) == {256, 257, ord("y"), ord("n")}
    assert allowed(compiled.matcher(min_tokens=3)) == {ord("y"), ord("n"), 257}
    assert allowed(compiled.matcher(min_tokens=4)) == {ord("n"), 257}
    assert allowed(compiled.matcher(min_tokens=5)) == {ord("n")}
    with pytest.raises(tk.LengthError, match=r"no text of 6 tokens or more that .* accepts was found"):
        compiled.matcher(min_tokens=6)


def test_explanations() -> None:
    vocabulary = vocabulary_of([b"a", b"b", None], [2])
    matcher = tk.regex("a*b").compile(vocabulary).matcher(min_tokens=3)
    assert (
        str(matcher.explain(1)) == "token 1 (b'b') is refused: no text with enough tokens continues with it"
    )
    assert matcher.advance_all([0, 0, 1])
    assert matcher.is_finished
    matcher.rollback(1)
    assert not matcher.is_accepting
    text = tk.regex("a*").compile(vocabulary).matcher(min_tokens=1)
    assert text.explain(2).rule == "too short"


def test_both_bounds() -> None:
    """Refused at the start where no text has a number of tokens between both."""
    vocabulary = vocabulary_of([b"aaa", None], [1])  # of three letters each
    matcher = tk.regex("(?:a{6}|a{18})").compile(vocabulary).matcher(min_tokens=3)
    row = matcher.compiled.allocate_mask()[0]
    with pytest.raises(tk.BudgetError, match="pass a budget of at least 6"):
        matcher.fill_mask(row, budget=5)
    matcher.fill_mask(row, budget=6)
    assert bits(row) == {0}


def test_drafts_know_how_many_tokens_are_before_them() -> None:
    vocabulary = vocabulary_of([b"a", b"b", None], [2])
    matcher = tk.regex("a*b?").compile(vocabulary).matcher(min_tokens=3)
    rows = matcher.compiled.allocate_mask(5)
    legal = matcher.fill_draft_masks(rows, [0, 0, 0, 1])
    assert legal.tolist() == [True] * 4
    assert [bits(row) for row in rows] == [{0}, {0}, {0, 1}, {0, 1, 2}, {2}]
    assert matcher.fill_draft_masks(rows, [0, 1, 2]).tolist() == [True, False, False]
    assert matcher.validate([0, 1]) == 1
    own = matcher.compiled.matcher(min_tokens=1, stop=[])
    assert allowed(own) == {0, 1}


SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "kind": {"enum": ["car", "bicycle"]},
        "count": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    },
    "required": ["name", "kind"],
}


@pytest.mark.parametrize("budget", [None, 30, 60])
@pytest.mark.parametrize("least", [5, 25, 60])
def test_json(least: int, budget: int | None) -> None:
    """Random texts with a least number of tokens are valid JSON, and none is shorter or gets stuck."""
    draw = random.Random(least)
    vocabulary = tk.Vocabulary.load([*BYTES, b'"name":', b'{"', b'":', b"bicycle", None], stop=[260])
    compiled = tk.json_schema(json.dumps(SCHEMA)).compile(vocabulary)
    for _ in range(6):
        matcher = compiled.matcher(min_tokens=least)
        row = compiled.allocate_mask()[0]
        limit = budget or 200
        if least > limit:
            with pytest.raises(tk.BudgetError):
                matcher.fill_mask(row, budget=limit)
            continue
        while not matcher.is_accepting:
            written = len(matcher.tokens)
            matcher.fill_mask(row, budget=limit - written)
            tokens = bits(row) - {260}
            printable = [token for token in tokens if token > 255 or 32 <= token < 127]
            assert matcher.advance(draw.choice(sorted(printable or tokens)))
        assert least <= len(matcher.tokens) <= limit
        assert "kind" in json.loads(matcher.text)


def test_growth() -> None:
    """States of a path are kept: ten times the tokens are about ten times the states."""
    vocabulary = vocabulary_of([b"a", b"b", None], [2])
    states = []
    for least in (10, 100, 1_000, 10_000):
        compiled = tk.regex("[ab]{0,20000}").compile(vocabulary)
        assert allowed(compiled.matcher(min_tokens=least)) == {0, 1}
        states.append(compiled.states)
    assert states[-1] <= 12 * states[-2]
    endless = tk.regex("[ab]*").compile(vocabulary)
    assert allowed(endless.matcher(min_tokens=100_000)) == {0, 1}
    assert endless.states < 10


def test_arguments() -> None:
    compiled = tk.regex("a*").compile(vocabulary_of([b"a", None], [1]))
    for wrong in ("1", 1.5, None, -1):
        with pytest.raises(tk.ArgumentError, match="min_tokens"):
            compiled.matcher(min_tokens=wrong)  # type: ignore[arg-type]
    assert compiled.matcher(min_tokens=np.int64(2)).shortest_completion() == [0, 0]
    assert compiled.matcher(min_tokens=0).is_accepting


LONG = {
    "any JSON": tk.json(),
    "any JSON in any style": tk.json(whitespace="any", spelling="any"),
    "objects": tk.json_schema({"type": "object"}),
    "a bounded string": tk.json_schema({"type": "string", "maxLength": 2_000_000}),
    "arrays of few values": tk.json_schema({"type": "array", "items": {"enum": ["a", "b"]}}),
    "objects that nest": tk.json_schema(
        {"type": "object", "properties": {"a": {"$ref": "#"}}, "additionalProperties": False},
        whitespace="compact",
    ),
    "a count": tk.regex("a{0,1000000}"),
    "a loop": tk.regex("(ab)*c"),
    "nesting": tk.grammar('root ::= "a" root "b" | ""', syntax="gbnf"),
    "expressions": tk.grammar('start: e\ne: e "+" t | t\nt: "(" e ")" | /[0-9]/\n'),
}


@pytest.mark.parametrize("name", LONG)
def test_a_million_tokens(name: str) -> None:
    """Structure shows that such texts exist, where a path of as many states would pass every limit."""
    limits = tk.Limits(states=5_000)
    matcher = LONG[name].compile(BYTES_ALONE, limits=limits).matcher(min_tokens=10**6)
    draw = random.Random(3)
    for _ in range(60):
        tokens = sorted(allowed(matcher))
        assert tokens, matcher.text
        assert not matcher.is_accepting
        assert matcher.advance(draw.choice(tokens))


@pytest.mark.parametrize("pattern", ["a{0,1000}", "(a|bc){5}", "(?=a*b)[ab]{0,300}"])
def test_fewer_than_a_million(pattern: str) -> None:
    with pytest.raises(tk.LengthError, match="no text of 1000000 tokens or more"):
        tk.regex(pattern).compile(BYTES_ALONE).matcher(min_tokens=10**6)


@pytest.mark.parametrize("least", [1, 2, 3, 7, 40, 1001])
def test_nesting_against_arithmetic(least: int) -> None:
    """a…ab…b, as many of each: what was opened decides how long the text will be."""
    grammar = tk.grammar('root ::= "a" root "b" | ""', syntax="gbnf")
    compiled = grammar.compile(BYTES_ALONE)
    for opened in {0, 1, least // 2, (least + 1) // 2, least // 2 + 1}:
        matcher = compiled.matcher(min_tokens=least)
        assert matcher.advance_all(b"a" * opened)
        can_close = opened > 0 and 2 * opened >= least
        assert allowed(matcher) == {ord("a")} | ({ord("b")} if can_close else set())
        if can_close:
            assert matcher.advance_all(b"b" * opened)
            assert matcher.is_accepting


@pytest.mark.parametrize("least", [1, 49, 50, 51])
def test_counts_against_arithmetic(least: int) -> None:
    compiled = tk.regex("[ab]{0,50}c?|d{3}").compile(BYTES_ALONE)
    matcher = compiled.matcher(min_tokens=least)
    for written in range(50):
        expected = {ord("a"), ord("b")}
        if written + 1 >= least:
            expected.add(ord("c"))
        if written == 0 and least <= 3:
            expected.add(ord("d"))
        assert allowed(matcher) - {256} == expected, written
        assert matcher.advance(ord("a"))
