"""Grammars as the engine reads them, against all short texts by brute force."""

from __future__ import annotations

import random

import pytest

import tokamata as tk
from tests.support.grammars import A, B, random_grammar, short_texts, show, small_grammars
from tests.support.matchers import accepts
from tests.support.vocabularies import bytes_and
from tokamata.constraints.constraint import Constraint
from tokamata.patterns.grammars import lower_grammar
from tokamata.patterns.grammars.rules.left_recursion import components
from tokamata.patterns.grammars.rules.rule_trees import (
    Choice,
    Grammar,
    Reference,
    Repeat,
    Sequence,
    Terminal,
    children_first,
)
from tokamata.resources.limits import Watch
from tokamata.values.forms import Plain

LONGEST = 6
# Bytes, and tokens that cross the borders of rules.
VOCABULARY = tk.Vocabulary.load([b"a", b"b", b"ab", b"ba", b"aa", b"aba", b"bbb", None], stop=7)


def as_constraint(grammar: Grammar) -> Constraint[str]:
    return Constraint(lower_grammar(grammar, Watch()), "grammar", form=Plain())


def texts_by_masks(grammar: Grammar, longest: int, vocabulary: tk.Vocabulary = VOCABULARY) -> set[str]:
    """The accepted texts that masks lead to, by any tokens; each token that a mask allows is taken."""
    try:
        first = as_constraint(grammar).compile(vocabulary).matcher()
    except tk.EmptyConstraintError:
        return set()
    found = set()
    open_matchers = {"": first}
    while open_matchers:
        text, matcher = open_matchers.popitem()
        if matcher.is_accepting:
            found.add(text)
        for token in range(vocabulary.width):
            written = vocabulary[token]
            if not written:
                continue
            is_allowed = bool(matcher.mask[token // 32] >> (token % 32) & 1)
            fork = matcher.fork()
            assert fork.advance(token) == is_allowed, (text, written)
            longer = text + written.decode()
            if is_allowed and len(longer) <= longest:
                open_matchers[longer] = fork
    return found


@pytest.mark.parametrize("seed", range(20))
def test_random_grammars_have_their_texts(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(20):
        grammar = random_grammar(draw)
        assert texts_by_masks(grammar, LONGEST) == short_texts(grammar, LONGEST), show(grammar)


def test_all_small_grammars_have_their_texts() -> None:
    count = 0
    for rules, size in [(1, 1), (1, 2), (1, 3), (1, 4), (2, 2), (2, 3), (3, 3)]:
        for grammar in small_grammars(size, rules):
            assert texts_by_masks(grammar, 4) == short_texts(grammar, 4), show(grammar)
            count += 1
    assert count > 5_000


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (Sequence((Reference("s"), Reference("s"))), "a"),  # s: s s | a
        (Sequence((Reference("s"), B, Reference("s"))), "ab"),  # s: s b s | a
    ],
)
def test_an_ambiguous_rule_needs_no_more_memory_for_longer_texts(rule: Sequence, text: str) -> None:
    """All peers grow with the length of such a text, or with its square."""
    grammar = Grammar({"s": Choice((rule, A))}, "s")
    compiled = as_constraint(grammar).compile(bytes_and())
    matcher = compiled.matcher()
    held = []
    for index in range(4_000):
        matcher.mask  # noqa: B018
        assert matcher.advance(ord(text[index % len(text)]))
        if index in (100, 3_999):
            held.append(compiled.memory_bytes)
    assert held[0] == held[1]


def test_deep_recursion_does_not_recurse() -> None:
    chain = {f"r{i}": Reference(f"r{i + 1}") for i in range(5_000)}
    grammar = Grammar({**chain, "r5000": Sequence((A, Repeat(Reference("r0"), 0, 1)))}, "r0")
    matcher = as_constraint(grammar).compile(VOCABULARY).matcher()
    assert bytes(matcher.mask.tobytes())[0] == 0b00010001  # a, aa


def test_rules_without_texts_are_never_written() -> None:
    """``s: a | t`` and ``t: b t a``: llguidance and xgrammar offer the b, which leads nowhere."""
    grammar = Grammar(
        {"s": Choice((A, Reference("t"))), "t": Sequence((B, Reference("t"), A))},
        "s",
    )
    assert texts_by_masks(grammar, 3) == {"a"}


def test_ignored_texts_stand_around_terminals() -> None:
    dot = Terminal(".", tk.literal(".")._expression, (".",))
    grammar = Grammar({"s": Choice((Sequence((A, Reference("s"))), B))}, "s", ignored=(dot,))
    matcher_texts = texts_by_masks(grammar, 4, tk.Vocabulary.load([b"a", b"b", b".", b"a.", None], stop=4))
    plain = short_texts(Grammar(grammar.rules, "s"), 4)
    expected = {text for text in matcher_texts if text.replace(".", "") in plain}
    assert matcher_texts == expected
    assert {".a.b", "..b.", "a..b", "ab", "b..."} <= matcher_texts


def test_components_are_those_of_the_definition() -> None:
    """Against reachability in both directions, on random graphs."""
    draw = random.Random(7)
    for _ in range(200):
        names = [str(i) for i in range(draw.randint(1, 7))]
        graph = {name: {other for other in names if draw.random() < 0.25} for name in names}
        reach = {name: set(graph[name]) for name in names}
        for _ in names:
            for name in names:
                reach[name] |= {far for near in reach[name] for far in reach[near]}
        expected = {
            frozenset(other for other in names if other in reach[name] and name in reach[other])
            for name in names
            if name in reach[name]
        }
        found = components(graph)
        assert {frozenset(component) for component in found} == expected
        assert len(found) == len(expected)


def test_children_come_first() -> None:
    shared = Repeat(A, 0, None)
    root = Sequence((shared, B, shared))
    order = children_first([root])
    assert order.index(shared) > order.index(A)
    assert order[-1] is root
    assert len(order) == 4


@pytest.mark.parametrize("items", ['"a"', '"a" x', 'x "a"'])
def test_a_long_sequence_is_not_deep(items: str) -> None:
    """It has more items than ``Limits.depth``."""
    rules = 'x ::= "(" x ")" | "b"\n'
    constraint = tk.grammar(f"{rules}root ::= {' '.join([items] * 1_500)}", syntax="gbnf")
    text = items.replace(" ", "").replace('"', "").replace("x", "b") * 1_500
    assert accepts(constraint, text)
    assert not accepts(constraint, text[:-1])


def test_a_sequence_of_optional_items_is_deep() -> None:
    with pytest.raises(tk.LimitExceeded) as caught:
        tk.grammar(f'root ::= {"x? " * 3_000}\nx ::= "(" x ")" | "b"', syntax="gbnf")
    assert caught.value.limit == "depth"
