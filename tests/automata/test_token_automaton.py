"""Token automata: canonical values, steps, masks, and the arrays they refuse."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import tokamata as tk
from tests.support.automata.figures import FIGURE_4, FOO_D, STOP, foo_d, random_automata
from tests.support.automata.machines import language
from tests.support.automata.token_products import (
    from_product,
    product_rows,
    random_bytes_acceptor,
    random_vocabulary,
)
from tests.support.masks import bits
from tokamata.automata import Acceptor, TokenAutomaton, minimize, shortest, strings
from tokamata.errors import LimitExceeded, MachineError, TokenIdError


def test_the_worked_example() -> None:
    automaton = foo_d()
    assert (automaton.states, automaton.classes, automaton.transitions) == (5, 6, 10)
    assert automaton.class_of_token.tolist() == [0, 1, 2, 3, 4, 5, -1, -1, -1]
    rows = [{t: s.tolist() for t, s in automaton.rows(state).items()} for state in range(5)]
    assert rows == [{1: [0], 2: [1], 3: [2]}, {2: [5], 4: [4]}, {1: [0], 2: [1], 3: [2, 3]}, {}, {2: [4]}]
    assert automaton.accepting.tolist() == [False, False, False, True, False]
    assert automaton.tokens(2, 3).tolist() == [2, 3]
    assert automaton.tokens(0, 4).tolist() == []
    assert automaton.shortest() == (2,)
    assert repr(automaton) == "<TokenAutomaton of 5 states, 6 classes of 9 tokens, 10 transitions>"


def test_what_it_was_made_from_does_not_show() -> None:
    """Shuffled states and classes, unreachable states, unused classes: the same value."""
    draw = random.Random(1)
    for _ in range(200):
        vocabulary = random_vocabulary(draw, 30)
        rows, accepting = product_rows(random_bytes_acceptor(draw), vocabulary)
        first, second = (from_product(rows, accepting, 30, random.Random(seed)) for seed in (1, 2))
        assert first == second
        assert hash(first) == hash(second)
        again = TokenAutomaton.from_rows(
            30,
            first.start,
            first.accepting,
            first.class_of_token,
            np.cumsum([0, *(len(first.row(state)[0]) for state in range(first.states))]),
            np.concatenate([first.row(state)[0] for state in range(first.states)]),
            np.concatenate([first.row(state)[1] for state in range(first.states)]),
        )
        assert again == first


def test_equality_is_that_of_languages() -> None:
    draw = random.Random(2)
    vocabulary = random_vocabulary(draw, 12)
    values: dict[TokenAutomaton, Acceptor] = {}
    for _ in range(300):
        rows, accepting = product_rows(random_bytes_acceptor(draw, 3), vocabulary)
        automaton = from_product(rows, accepting, 12, draw)
        explicit = automaton.to_acceptor()
        assert minimize(explicit) == explicit
        assert values.setdefault(automaton, explicit) == explicit
    assert 20 < len(values) == len(set(values.values())) < 300
    assert foo_d() != from_product(*product_rows(FOO_D, [*FIGURE_4, None, None, None]), 9, stop_tokens=[6])
    assert foo_d() != from_product(*product_rows(FOO_D, [*FIGURE_4, None, None]), 8, stop_tokens=[6])
    assert foo_d() != "foo"


def test_classes_are_as_few_as_can_be() -> None:
    """Tokens share a class if and only if their columns in the smallest automaton are equal."""
    for _, vocabulary, automaton in random_automata(3, 150):
        columns = [
            tuple(automaton.step(state, token) for state in range(automaton.states))
            for token in range(len(vocabulary))
            if token not in automaton.stop_tokens
        ]
        used = [column for column in columns if set(column) != {automaton.dead}]
        assert automaton.classes == len(set(used))
        assert automaton.transitions == sum(state != automaton.dead for column in columns for state in column)
        firsts = [automaton.class_of_token.tolist().index(c) for c in range(automaton.classes)]
        assert firsts == sorted(firsts)


def test_steps_and_masks_against_the_explicit_acceptor() -> None:
    for acceptor, vocabulary, automaton in random_automata(4, 150):
        explicit = automaton.to_acceptor()
        table = [dict(row) for row in explicit.rows]
        for state in range(automaton.states):
            stop = set(automaton.stop_tokens) if automaton.accepting[state] else set()
            assert bits(automaton.mask(state)) == set(table[state]) | stop
            for token in range(len(vocabulary)):
                expected = table[state].get(token, automaton.ended if token in stop else automaton.dead)
                assert automaton.step(state, token) == expected
            for target, tokens in automaton.rows(state).items():
                assert set(tokens.tolist()) == {t for t, s in table[state].items() if s == target}
                assert automaton.tokens(state, target).tolist() == tokens.tolist()
        assert automaton.shortest() == shortest(explicit)
        for tokens in [(), *([t] for t in range(len(vocabulary)))]:
            text = b"".join(vocabulary[t] or b"\xff" for t in tokens)
            ended = bool(tokens) and tokens[0] in automaton.stop_tokens
            assert automaton.accepts(tokens) == acceptor.accepts(b"" if ended else text)


def test_masks_have_the_layout_of_matchers() -> None:
    mask = foo_d().mask(3)
    assert (mask.dtype, mask.shape) == (np.int32, (1,))
    assert bits(mask) == set(STOP)
    wide = from_product(*product_rows(Acceptor.from_strings(["a"]), [None] * 95 + [b"a"]), 96)
    assert wide.mask(0).tolist() == [0, 0, -(1 << 31)]


def test_after_a_stop_token_only_stop_tokens() -> None:
    automaton = foo_d()
    assert automaton.step(3, 6) == automaton.step(automaton.ended, 8) == automaton.ended
    assert automaton.step(0, 6) == automaton.step(automaton.ended, 0) == automaton.dead
    assert bits(automaton.mask(automaton.ended)) == set(STOP)
    assert bits(automaton.mask(automaton.dead)) == set()
    assert {automaton.step(automaton.dead, token) for token in range(9)} == {automaton.dead}
    assert automaton.accepts([1, 3])
    assert automaton.accepts([1, 3, 6, 8])
    assert not automaton.accepts([1, 6])
    assert not automaton.accepts([1, 3, 6, 3])
    assert automaton.rows(automaton.ended) == automaton.rows(automaton.dead) == {}


def test_it_agrees_with_a_matcher() -> None:
    """The engine's own masks, along random walks, for a language that both can be given."""
    draw = random.Random(5)
    texts = ["".join(draw.choice("ab") for _ in range(draw.randint(1, 6))) for _ in range(40)]
    tokens: list[bytes | None] = [b"a", b"b", b"ab", b"ba", b"aab", b"bbb", None, b"</s>", b"abab"]
    vocabulary = tk.Vocabulary.load(tokens, stop=[7], width=11)
    compiled = tk.regex("|".join(texts)).compile(vocabulary)
    text_tokens = [*tokens[:7], None, tokens[8], None, None]
    rows, accepting = product_rows(Acceptor.from_strings(texts), text_tokens)
    automaton = from_product(rows, accepting, 11, stop_tokens=[7])
    for _ in range(200):
        matcher, state = compiled.matcher(), automaton.start
        for _ in range(8):
            assert automaton.mask(state).tolist() == matcher.mask.tolist()
            token = draw.choice(sorted(bits(matcher.mask)))
            assert matcher.advance(token)
            state = automaton.step(state, token)


def test_the_empty_language() -> None:
    rows, accepting = product_rows(Acceptor.from_strings(["x"]), [b"a", None])
    automaton = from_product(rows, accepting, 2, random.Random(0), stop_tokens=[1])
    assert (automaton.states, automaton.classes, automaton.transitions) == (1, 0, 0)
    assert automaton.shortest() is None
    assert not automaton.accepts([])
    assert bits(automaton.mask(0)) == set()
    assert automaton.to_acceptor() == Acceptor.empty()
    only_empty = from_product([{}], {0}, 2, stop_tokens=[1])
    assert only_empty.shortest() == ()
    assert bits(only_empty.mask(0)) == {1}
    no_tokens = TokenAutomaton.from_rows(0, 0, [True], [], [0, 0], [], [])
    assert (no_tokens.mask(0).tolist(), no_tokens.accepts([])) == ([], True)


def test_long_chains_and_wide_rows_minimize_exactly() -> None:
    """[a-z]{n} with tokens of up to four letters, and its states doubled: 2n states become n + 1."""
    n, lengths, copies = 3000, 4, 50
    sources = [s for s in range(n) for _ in range(min(lengths, n - s))]
    classes = [c for s in range(n) for c in range(min(lengths, n - s))]
    targets = [s + c + 1 for s, c in zip(sources, classes, strict=True)]
    counts = np.bincount(sources, minlength=n + 1).tolist()
    flip = random.Random(6)
    automaton = TokenAutomaton.from_rows(
        lengths * copies,
        0,
        [False] * n + [True] + [False] * n + [True],
        [token % lengths for token in range(lengths * copies)],
        np.cumsum([0, *counts, *counts]),
        classes * 2,
        [t + flip.choice([0, n + 1]) for t in targets * 2],
    )
    assert (automaton.states, automaton.classes) == (n + 1, lengths)
    assert automaton.shortest() == (lengths - 1,) * (n // lengths)
    assert all(automaton.rows(0)[c + 1].tolist() == list(range(c, 200, 4)) for c in range(lengths))


def test_many_states_and_classes() -> None:
    """10,000 states in 1,000 kinds, over 20,000 classes; each kind of state has its own transitions."""
    draw = np.random.default_rng(7)
    kinds, states, classes, each = 1000, 10_000, 20_000, 40
    kind_classes = np.stack([draw.choice(classes, each, replace=False) for _ in range(kinds)])
    kind_targets = draw.integers(0, kinds, (kinds, each))
    kind_of = np.concatenate([np.arange(kinds), draw.integers(0, kinds, states - kinds)])
    members = [np.flatnonzero(kind_of == kind) for kind in range(kinds)]
    targets = np.concatenate([[draw.choice(members[k]) for k in kind_targets[kind]] for kind in kind_of])
    automaton = TokenAutomaton.from_rows(
        classes,
        0,
        kind_of % 7 == 0,
        np.arange(classes),
        np.arange(states + 1) * each,
        kind_classes[kind_of].ravel(),
        targets,
    )
    assert automaton.states == kinds
    assert automaton.transitions == kinds * each


def test_explicit_forms_are_bounded() -> None:
    automaton = foo_d(names=[*FIGURE_4, None, b"pad", b"</s>"])
    with pytest.raises(LimitExceeded):
        automaton.to_acceptor(tk.Limits(states=4))
    with pytest.raises(LimitExceeded):
        automaton.to_openfst(limits=tk.Limits(memory_bytes=1000))
    explicit = automaton.to_acceptor()
    assert explicit.names == {token: text.decode() for token, text in enumerate(FIGURE_4)}
    assert Acceptor.from_openfst(automaton.to_openfst()) == explicit
    assert automaton.to_openfst(named=True).startswith("0\t1\tf\n0\t2\tfoo\n0\t3\tfood\n")
    assert language(explicit, strings(explicit, 4)) == set(strings(explicit, 4))


def test_names() -> None:
    by_call = foo_d(names=lambda token: "</s>" if token == 8 else None)
    assert [by_call.name(token) for token in (0, 8)] == ["#0", "</s>"]
    assert foo_d(names=FIGURE_4).name(7) == "#7"
    assert foo_d().name(1) == "#1"
    assert foo_d(names=FIGURE_4) == foo_d()


def test_values_cannot_be_changed() -> None:
    automaton = foo_d()
    with pytest.raises(ValueError, match="read-only"):
        automaton.class_of_token[0] = 3
    given = np.array([True])
    made = TokenAutomaton.from_rows(1, 0, given, [-1], [0, 0], [], [])
    given[0] = False
    assert made.accepting.tolist() == [True]


def test_questions_about_nothing() -> None:
    automaton = foo_d()
    for token in (-1, 9):
        with pytest.raises(TokenIdError):
            automaton.step(0, token)
    with pytest.raises(TokenIdError):
        automaton.accepts([1, 99])
    for state in (-1, 7):
        with pytest.raises(MachineError, match="there is no state"):
            automaton.mask(state)
    with pytest.raises(MachineError, match="there is no state"):
        automaton.tokens(0, 7)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"start": 2}, "the start is 2"),
        ({"accepting": []}, "the start is 0"),
        ({"width": 4}, "3 entries for 4 tokens"),
        ({"row_offsets": [0, 1]}, "rise from 0 to 2"),
        ({"row_offsets": [0, 3, 2]}, "rise from 0 to 2"),
        ({"row_offsets": [1, 1, 2]}, "rise from 0 to 2"),
        ({"targets": [1]}, "targets has 1"),
        ({"targets": [1, 2]}, "a target is not a state"),
        ({"targets": [1, -1]}, "a target is not a state"),
        ({"classes": [0, -1]}, "class below 0"),
        ({"classes": [1, 1]}, "two transitions for one class"),
        ({"stop_tokens": [3]}, "outside of the width"),
        ({"stop_tokens": [1]}, "stop token 1 has a class"),
        ({"accepting": [[True, False]]}, "one dimension"),
    ],
)
def test_arrays_that_contradict_each_other(changes: dict[str, Any], words: str) -> None:
    arguments: dict[str, Any] = {
        "width": 3,
        "start": 0,
        "accepting": [False, True],
        "class_of_token": [0, 1, -1],
        "row_offsets": [0, 2, 2],
        "classes": [0, 1],
        "targets": [1, 0],
        "stop_tokens": [2],
    }
    assert TokenAutomaton.from_rows(**arguments).states == 2
    with pytest.raises(MachineError, match=words):
        TokenAutomaton.from_rows(**{**arguments, **changes})


def test_from_rows_is_bounded() -> None:
    with pytest.raises(LimitExceeded):
        TokenAutomaton.from_rows(1, 0, [True] * 20, [-1], [0] * 21, [], [], limits=tk.Limits(states=10))
