"""Conditions on what follows: their algebra, and one condition for all that say the same."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable

import pytest

import tokamata as tk
from tokamata.patterns.grammars.lexer import condition_forms, threads
from tokamata.patterns.grammars.lexer.alphabet import Alphabet, symbols_of
from tokamata.patterns.grammars.lexer.condition_forms import ConditionForms
from tokamata.patterns.grammars.lexer.conditions import (
    ALWAYS,
    NEVER,
    Condition,
    all_of,
    any_of,
    atom,
    atoms,
    negated,
)
from tokamata.patterns.grammars.lexer.threads import Places
from tokamata.patterns.regex.classes import normalize
from tokamata.resources.limits import Watch

TEXTS = ["".join(text) for size in range(5) for text in itertools.product("abc", repeat=size)]
REGEXES = ["a", "[ab]", "ab", "a*b", "(?:ab|b)+", "b(?=c)", "(?!ab)[abc]", "abc?", "a[ab]*c", "aa", "[a-b]"]


def holds(condition: Condition, true: set[int]) -> bool:
    return any(all((literal > 0) == (abs(literal) in true) for literal in clause) for clause in condition)


def random_condition(draw: random.Random) -> Condition:
    clauses = [
        frozenset(draw.choice([-1, 1]) * place for place in draw.sample(range(1, 5), draw.randint(0, 3)))
        for _ in range(draw.randint(0, 4))
    ]
    return any_of([frozenset(clauses)])


@pytest.mark.parametrize("seed", range(5))
def test_the_algebra_says_what_truth_tables_say(seed: int) -> None:
    draw = random.Random(seed)
    tables = [set(true) for size in range(5) for true in itertools.combinations(range(1, 5), size)]
    for _ in range(100):
        some = [random_condition(draw) for _ in range(draw.randint(0, 3))]
        for true in tables:
            values = [holds(condition, true) for condition in some]
            assert holds(any_of(some), true) == any(values)
            assert holds(all_of(some), true) == all(values)
            for condition, value in zip(some, values, strict=True):
                assert holds(negated(condition), true) == (not value)


@pytest.mark.parametrize("seed", range(5))
def test_no_clause_of_an_alternative_implies_another_one(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(100):
        condition = any_of([random_condition(draw), random_condition(draw)])
        assert not any(one < other for one in condition for other in condition)


def test_negating_many_atoms_takes_one_clause() -> None:
    assert negated(any_of(atom(place) for place in range(1, 3_000))) == {frozenset(range(-2_999, 0))}


@pytest.mark.parametrize("seed", range(5))
def test_symbols_are_what_sets_do_not_distinguish(seed: int) -> None:
    draw = random.Random(seed)
    sets = [
        normalize((low, low + draw.randint(0, 9)) for low in draw.sample(range(60), draw.randint(1, 4)))
        for _ in range(5)
    ]
    alphabet = Alphabet(sets, Watch(tk.Limits()))

    def members(index: int) -> set[int]:
        return {code for low, high in sets[index] for code in range(low, high + 1)}

    for index, ranges in enumerate(sets):
        assert alphabet.ranges(alphabet.mask(ranges)) == ranges
        for code in range(80):
            assert (alphabet.mask(ranges) >> alphabet.symbol(code) & 1 == 1) == (code in members(index))
    some = [alphabet.mask(ranges) for ranges in sets[:3]]
    classes = alphabet.classes(some)
    assert sum(classes) == alphabet.everything
    seen = {tuple(code in members(index) for index in range(3)) for code in range(80)}
    assert len(classes) == len(seen)
    assert list(symbols_of(0b10110)) == [1, 2, 4]


class Conditions:
    """Conditions that some expressions begin what follows, and what ``re`` says of them."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.places = Places(Watch(tk.Limits()))
        chosen = [draw.choice(REGEXES) for _ in range(4)]
        begun = [self.places.add(regex, 0) for regex in chosen]
        self.past = self.places.start
        self.leaves = [
            (self.places.begins(one.place, self.past), regex)
            for one, regex in zip(begun, chosen, strict=True)
        ]
        self.forms = ConditionForms(self.places, Watch(tk.Limits()))

    def random(self, depth: int) -> tuple[Condition, Callable[[str], bool]]:
        if depth == 0:
            condition, regex = self.draw.choice(self.leaves)
            return condition, lambda text: re.match(regex, text) is not None
        (one, judge), (other, judge_of_other) = self.random(depth - 1), self.random(depth - 1)
        choice = self.draw.randrange(3)
        if choice == 0:
            return self.places.negated(one), lambda text: not judge(text)
        if choice == 1:
            return any_of([one, other]), lambda text: judge(text) or judge_of_other(text)
        return all_of([one, other]), lambda text: judge(text) and judge_of_other(text)


@pytest.fixture(params=[16, 0], ids=["written out", "as composites"])
def negations(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """How many clauses of a negation are written out."""
    monkeypatch.setattr(threads, "MOST_NEGATED", request.param)


@pytest.mark.usefixtures("negations")
@pytest.mark.parametrize("seed", range(10))
def test_conditions_that_say_the_same_are_one(seed: int) -> None:
    conditions = Conditions(random.Random(seed))
    found: dict[tuple[bool, ...], set[Condition]] = {}
    for _ in range(60):
        condition, judge = conditions.random(conditions.draw.randint(0, 3))
        standing = conditions.forms.same(condition, conditions.past)
        found.setdefault(tuple(map(judge, TEXTS)), set()).add(standing)
    # These expressions are told apart by texts of four characters.
    assert all(len(standing) == 1 for standing in found.values())
    assert len(set.union(*found.values())) == len(found)
    assert found.get((True,) * len(TEXTS), {ALWAYS}) == {ALWAYS}
    assert found.get((False,) * len(TEXTS), {NEVER}) == {NEVER}


@pytest.mark.usefixtures("negations")
@pytest.mark.parametrize("seed", range(10))
def test_what_follows_for_certain_decides_conditions(seed: int) -> None:
    conditions = Conditions(random.Random(seed))
    alphabet = conditions.places.alphabet
    for first in ("a", "bc"):
        mask = 0
        for letter in first:
            mask |= 1 << alphabet.symbol(ord(letter))
        texts = [text for text in TEXTS if text and text[0] in first]
        found: dict[tuple[bool, ...], set[Condition]] = {}
        for _ in range(60):
            condition, judge = conditions.random(conditions.draw.randint(0, 3))
            symbols = {alphabet.symbol(ord(letter)) for letter in first}
            if len(symbols) < len(first) or any(
                alphabet.ranges(1 << symbol) != ((ord(letter), ord(letter)),)
                for symbol, letter in zip(map(alphabet.symbol, map(ord, first)), first, strict=True)
            ):
                continue  # other characters are not told apart from these
            standing = conditions.forms.same(condition, conditions.past, mask)
            found.setdefault(tuple(map(judge, texts)), set()).add(standing)
        standing_ones = [one for standing in found.values() for one in standing]
        assert len(set(standing_ones)) == len(found)


def test_a_large_condition_stands_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(condition_forms, "MOST_STATES", 5)
    places = Places(Watch(tk.Limits()))
    long, short = places.add("abcabcabc", 0), places.add("ab", 0)
    forms = ConditionForms(places, Watch(tk.Limits()))
    for begun in (long, short):
        condition = places.begins(begun.place, places.start)
        assert forms.same(condition, places.start) == condition
        assert atoms(condition) == {begun.place}


def test_the_watch_stops_the_work() -> None:
    cancel = tk.CancelToken()
    places = Places(Watch(tk.Limits()))
    begun = places.add("a[ab]*c", 0)
    forms = ConditionForms(places, Watch(tk.Limits(), cancel))
    cancel.cancel()
    with pytest.raises(tk.Cancelled):
        forms.same(places.begins(begun.place, places.start), places.start)
