"""A least number of tokens under canonical tokenization, beside budgets and token edges, against all texts.

The judge is the list of all canonical sequences of a finite pattern (``exhaustive_cases.py``): a mask is what
follows in those that are long enough, and short enough for the budget.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import re
from collections.abc import Iterable
from typing import Any

import pytest

import tokamata as tk
from tests.canonical.test_token_edges import cases as cases_with_edges
from tests.support.masks import bits
from tests.support.tokenizers.canonical_tokenizers import SOURCES
from tests.support.tokenizers.exhaustive_cases import LONGEST, Tokens, at, cases
from tests.support.tokenizers.random_tokenizers import random_tokenizer, with_every_byte

_CASES = int(os.environ.get("TOKAMATA_CASES", "12"))


def check(
    compiled: tk.CompiledConstraint[Any],
    sequences: Iterable[Tokens],
    name: object,
    draw: random.Random,
    budgets: Iterable[int] = range(1, LONGEST + 2),
    longest: int = LONGEST,
) -> None:
    """All places and budgets for one least number of tokens."""
    least = draw.randrange(1, longest + 2)
    long = [sequence for sequence in sequences if len(sequence) >= least]
    if not long:
        with pytest.raises(tk.LengthError):
            compiled.matcher(min_tokens=least)
        return
    start = compiled.matcher(min_tokens=least)
    row = compiled.allocate_mask()[0]
    places = {sequence[:size] for sequence in long for size in range(len(sequence) + 1)}
    for place in draw.sample(sorted(places), min(len(places), 40)):
        matcher = at(start, place)
        rests = [sequence[len(place) :] for sequence in long if sequence[: len(place)] == place]
        following = {rest[0] for rest in rests if rest}
        assert bits(matcher.mask) == following, (name, least, place)
        assert matcher.is_accepting == (() in rests), (name, least, place)
        completion = tuple(matcher.shortest_completion())
        assert completion in rests, (name, least, place)
        for budget in budgets:
            fits = {rest[0] for rest in rests if rest and len(rest) <= budget}
            if not fits and () not in rests:
                with pytest.raises(tk.BudgetError):
                    matcher.fill_mask(row, budget)
            else:
                matcher.fill_mask(row, budget)
                assert bits(row) == fits, (name, least, place, budget)
        tokens = range(len(compiled.vocabulary))
        for token in {*following, *draw.sample(tokens, min(len(tokens), 20))}:
            assert matcher.explain(token).allowed == (token in following), (name, least, place, token)
            assert matcher.validate([token]) == (token in following), (name, least, place, token)
            assert matcher.advance(token) == (token in following), (name, least, place, token)
            if token in following:
                matcher.rollback(1)


@pytest.mark.parametrize("seed", range(_CASES))
def test_every_mask(seed: int) -> None:
    draw = random.Random(seed)
    for case in cases(seed):
        start = case.matcher()
        if start is not None:
            check(start.compiled, case.sequences, (seed, case.constraint), draw)


@pytest.mark.parametrize("seed", range(5000, 5000 + _CASES // 3))
def test_every_mask_with_token_edges(seed: int) -> None:
    draw = random.Random(seed)
    for case in cases_with_edges(seed):
        compiled = case.compiled()
        if compiled is not None:
            check(compiled, case.sequences, case.name, draw)


_X = ["a", "a1", "bb"]
_Y = [*_X, *(f",{x}," for x in _X)]
RULES = {
    "a grammar": (
        tk.grammar('start: "[" x | "{" y y\ny: x | "," x ","\nx: "a" | "a1" | "b" "b"\n'),
        [*("[" + x for x in _X), *("{" + y + z for y in _Y for z in _Y)],
    ),
    "distinct elements": (
        tk.json_schema(
            '{"type": "array", "items": {"enum": ["a", "b", "ab"]}, "uniqueItems": true}',
            whitespace="compact",
        ),
        [
            "[" + ",".join(f'"{text}"' for text in chosen) + "]"
            for size in range(4)
            for chosen in itertools.permutations(["a", "b", "ab"], size)
        ],
    ),
    "names": (
        tk.json_schema(
            '{"type": "object", "properties": {"a": {"enum": ["1", "11"]}, "b": {"const": "b"}}, '
            '"required": ["b"], "additionalProperties": false}',
            whitespace="compact",
        ),
        [
            '{"b":"b"}',
            *(
                text
                for one in ('"1"', '"11"')
                for text in (f'{{"a":{one},"b":"b"}}', f'{{"b":"b","a":{one}}}')
            ),
        ],
    ),
}


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("seed", range(3))
def test_every_mask_of_rules(name: str, seed: int) -> None:
    """Nothing about their lengths is bounded by what completes them with any tokens."""
    draw = random.Random(seed)
    constraint, texts = RULES[name]
    tokenizer, vocabulary = with_every_byte(draw)
    sequences = set()
    for text in texts:
        tokens = tuple(tokenizer.encode(text, add_special_tokens=False).ids)
        is_text = None not in [vocabulary[token] for token in tokens]
        if is_text and tokenizer.decode(tokens, skip_special_tokens=False) == text:
            sequences.add(tokens)
    compiled = constraint.compile(vocabulary, tokenization="canonical")
    for _ in range(4):
        check(compiled, sequences, (name, seed), draw, budgets=(), longest=max(map(len, sequences)))


ENDLESS = [
    "[{0}]*",
    "a*b?",
    "(?:ab)*",
    "(?:aa)*b|a{{4}}",
    "[{0}]*(?P<TEXT_TOKEN>)",
    "(?:(?P<TEXT_TOKEN>)[ab])*",
    "(?:(?P<TEXT_TOKEN>{{2}})b)*a?",
]


class Graph:
    """The closed form of a constraint, which other tests hold against all texts; the lengths of its paths."""

    def __init__(self, compiled: tk.CompiledConstraint[Any], least: int) -> None:
        automaton = compiled.token_automaton()
        tokens = range(len(compiled.vocabulary))
        self.rows: dict[int, dict[int, int]] = {}
        pending = [0]
        while pending:
            state = pending.pop()
            if state in self.rows:
                continue
            targets = {token: int(automaton.step(state, token)) for token in tokens}
            self.rows[state] = {token: to for token, to in targets.items() if to != automaton.dead}
            pending += self.rows[state].values()
        self.accepting = {state for state in self.rows if automaton._may_end(state)}
        # A path of more tokens repeats a state, and without the repetition it is still long enough.
        self.most = least + len(self.rows)
        self.least = least
        self.lengths: list[set[int]] = [set(self.accepting)]  # by length: the states with such a path
        for _ in range(self.most):
            last = self.lengths[-1]
            self.lengths.append({state for state, row in self.rows.items() if last & set(row.values())})

    def lasts(self, state: int, written: int, budget: int | None) -> bool:
        low = max(self.least - written, 0)
        high = self.most if budget is None else min(self.most, budget)
        return any(state in self.lengths[length] for length in range(low, high + 1))

    def following(self, state: int, written: int, budget: int | None = None) -> set[int]:
        left = None if budget is None else budget - 1
        return {token for token, to in self.rows[state].items() if self.lasts(to, written + 1, left)}


@pytest.mark.parametrize("seed", range(7000, 7000 + _CASES // 2))
def test_texts_without_an_end(seed: int) -> None:
    """Not every loop of a pattern makes its canonical sequences longer."""
    draw = random.Random(seed)
    tokenizer, alphabet = random_tokenizer(seed)
    vocabulary = tk.Vocabulary.load(tokenizer, stop=())
    for pattern in ENDLESS:
        constraint = tk.regex(pattern.format("".join(map(re.escape, alphabet))))
        try:
            compiled = constraint.compile(vocabulary, tokenization="canonical")
            least = draw.choice([1, 2, 3, 5, 9, 20])
            graph = Graph(compiled, least)
        except (tk.NoncanonicalError, tk.EmptyConstraintError, tk.UnspellableError):
            continue
        try:
            matcher = compiled.matcher(min_tokens=least)
        except tk.LengthError:
            assert not graph.lasts(0, 0, None), (pattern, least)
            continue
        except tk.NoncanonicalError:  # none at the start of a text
            continue
        state, row = 0, compiled.allocate_mask()[0]
        for written in range(least + 2):
            following = graph.following(state, written)
            assert bits(matcher.mask) == following, (pattern, least, matcher.tokens)
            assert matcher.is_accepting == (written >= least and state in graph.accepting)
            for budget in draw.sample(range(1, least + 4), 3):
                fits = graph.following(state, written, budget)
                if fits or matcher.is_accepting:
                    matcher.fill_mask(row, budget)
                    assert bits(row) == fits, (pattern, least, matcher.tokens, budget)
                else:
                    with pytest.raises(tk.BudgetError):
                        matcher.fill_mask(row, budget)
            completion = matcher.shortest_completion()
            assert len(matcher.tokens) + len(completion) >= least
            assert matcher.validate(completion) == len(completion)
            if not following:
                break
            token = draw.choice(sorted(following))
            assert matcher.advance(token)
            state = graph.rows[state][token]


SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "kind": {"enum": ["car", "bicycle"]},
        "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    },
    "required": ["name", "kind"],
    "additionalProperties": False,
}
TEXTS = {
    "json": tk.json_schema(json.dumps(SCHEMA)),
    "grammar": tk.grammar('start: e\ne: e "+" t | t\nt: "(" e ")" | /[0-9]/\n'),
    "words": tk.regex(r"(?:[a-z]+ ){0,40}[a-z]+\."),
    "tokens": tk.regex(r"(?:(?P<TEXT_TOKEN>)[a-z]{1,3},)*"),
    "thought": tk.think_first(tk.regex("[a-z]{1,60}"), most_tokens=8),
}


@pytest.mark.parametrize("budget", [None, 40])
@pytest.mark.parametrize("name", TEXTS)
def test_walks_on_a_real_tokenizer(name: str, budget: int | None) -> None:
    """No walk gets stuck, none ends too soon, and each is what the tokenizer writes."""
    judged = next(source for source in SOURCES if source.name == "gpt2").judged()
    draw = random.Random(3)
    compiled = TEXTS[name].compile(judged.vocabulary, tokenization="canonical")
    row = compiled.allocate_mask()[0]
    for least in (2, 14):
        matcher = compiled.matcher(min_tokens=least)
        while not matcher.is_accepting or draw.random() < 0.5:
            written = len(matcher.tokens)
            if written == budget:
                break
            if budget is None and written > least:  # a walk by chance hardly ends by itself
                assert matcher.advance_all(matcher.shortest_completion())
                break
            matcher.fill_mask(row, None if budget is None else budget - written)
            following = sorted(bits(row))
            if not following:
                break
            token = draw.choice(following)
            assert matcher.validate([token]) == 1
            assert matcher.advance(token)
            if draw.random() < 0.2:  # what is proven by a text: its own tokens
                whole = [*matcher.tokens, *matcher.shortest_completion()]
                assert len(whole) >= least
                assert judged.is_canonical(whole)
        assert matcher.is_accepting
        assert least <= len(matcher.tokens) <= (budget or 100)
        assert judged.is_canonical(matcher.tokens)
        if name == "json":
            assert set(json.loads(matcher.text)) >= {"name", "kind"}


def test_texts_that_are_long_enough_are_all_admitted() -> None:
    """Encodings of texts by chance: refused where they are too short, and nowhere else."""
    judged = next(source for source in SOURCES if source.name == "gpt2").judged()
    draw = random.Random(5)
    compiled = tk.regex("[a-z ,]{0,60}").compile(judged.vocabulary, tokenization="canonical")
    for _ in range(60):
        tokens = judged.encode("".join(draw.choices("aeinst ,", k=draw.randrange(60))))
        least = max(1, len(tokens) + draw.randrange(-3, 2))
        matcher = compiled.matcher(min_tokens=least)
        is_long = len(tokens) >= least
        assert (matcher.validate(tokens) == len(tokens)) >= is_long, (tokens, least)
        if is_long:
            assert matcher.advance_all(tokens)
            assert matcher.is_accepting


def test_a_loop_of_the_pattern_that_no_tokens_follow() -> None:
    """Ten letters a have at most six tokens of gpt2, however the loop is written."""
    judged = next(source for source in SOURCES if source.name == "gpt2").judged()
    texts = ["a" * size for size in range(11)]
    most = max(len(judged.encode(text)) for text in texts)
    for pattern in ("a{0,10}", "(?:aa?){0,5}", "(?=a{0,10}\\Z)a*"):
        compiled = tk.regex(pattern).compile(judged.vocabulary, tokenization="canonical")
        assert len(compiled.matcher(min_tokens=most).shortest_completion()) >= most
        with pytest.raises(tk.LengthError):
            compiled.matcher(min_tokens=most + 1)
        assert len(tk.regex("a{0,10}").compile(judged.vocabulary).matcher(min_tokens=10).mask) > 0


def test_drafts_and_copies() -> None:
    """Rows of a draft are the masks of a text, which copies and rollbacks share."""
    judged = next(source for source in SOURCES if source.name == "gpt2").judged()
    for constraint, least in ((tk.regex("[a-z ]*"), 3), (tk.regex("(?P<TEXT_TOKEN>{2,5})b?"), 0)):
        compiled = constraint.compile(judged.vocabulary, tokenization="canonical")
        compiled.prepare(seconds=0.5)
        matcher = compiled.matcher(min_tokens=least)
        tokens = judged.encode("once upon a time")
        rows = compiled.allocate_mask(len(tokens) + 1)
        assert matcher.fill_draft_masks(rows, tokens).all()
        copy = matcher.fork()
        for row, token in zip(rows, [*tokens, None], strict=True):
            assert (copy.mask == row).all()
            assert token is None or copy.advance(token)
        assert copy.is_accepting
        assert not matcher.is_accepting
        copy.rollback(len(tokens))
        assert (copy.mask == matcher.mask).all()
