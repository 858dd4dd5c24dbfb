"""Failure transitions: composition with them against their definition, and against pynini without them."""

from __future__ import annotations

import random

import pytest

import tokamata as tk
from tests.support.automata.machines import (
    all_strings,
    pynini,
    random_acceptor,
    random_transducer,
    relation,
    same_as_pynini,
    to_pynini,
)
from tests.support.automata.tokenizations import walk, without_failures
from tokamata.automata import EPSILON, Acceptor, Transducer, compose, project, strings
from tokamata.errors import MachineError
from tokamata.tokenization import (
    CartesianMerge,
    FailureTransducer,
    Merge,
    compose_failing,
    direct_merge,
    failure_trie,
    gadget,
    in_tokens,
    lexicon,
    maxmatch_transducer,
    merge_shared,
    promote,
    promote_bpe,
    promote_maxmatch,
    tokenizer_automaton,
)

SYMBOLS = 2


def random_failing(draw: random.Random) -> FailureTransducer:
    """No epsilon inputs, failures towards lower states so that there are no circles of them."""
    states = draw.randint(1, 5)
    arcs = [
        (
            draw.randrange(states),
            draw.randrange(SYMBOLS),
            EPSILON if draw.random() < 0.3 else draw.randrange(SYMBOLS),
            draw.randrange(states),
        )
        for _ in range(draw.randint(0, 2 * states))
    ]
    accepting = [state for state in range(states) if draw.random() < 0.4]
    machine = Transducer.from_transitions(arcs, accepting, draw.randrange(states), states)
    failures = {
        state: (EPSILON if draw.random() < 0.3 else draw.randrange(SYMBOLS), draw.randrange(state))
        for state in range(1, states)
        if draw.random() < 0.7
    }
    return FailureTransducer(machine, failures)


def test_composition_is_what_walking_gives() -> None:
    draw = random.Random(41)
    written = 0
    for _ in range(1500):
        pattern, machine = random_acceptor(draw, most=4, symbols=SYMBOLS), random_failing(draw)
        composed = project(compose_failing(pattern, machine), "output")
        for text in all_strings(SYMBOLS, 3):
            one = project(compose_failing(Acceptor.from_strings([text]), machine), "output")
            by_walking = walk(machine, text)
            longest = max(map(len, by_walking), default=0)
            assert set(strings(one, 12)) == by_walking, (machine, text)
            if pattern.accepts(text):
                assert all(composed.accepts(string) for string in by_walking)
                written += longest > 0
    assert written > 300


def test_composition_with_a_transducer() -> None:
    """The first machine erases, so that it is not known what comes next; failures wait all the same."""
    draw = random.Random(42)
    for _ in range(400):
        first, machine = random_transducer(draw, most=4), random_failing(draw)
        expanded = without_failures(machine, range(SYMBOLS))
        assert relation(compose_failing(first, machine), 3) == relation(compose(first, expanded), 3)


def test_pynini_without_failures() -> None:
    module = pynini()
    draw = random.Random(43)
    for _ in range(600):
        pattern, machine = random_acceptor(draw, symbols=SYMBOLS), random_failing(draw)
        expanded = to_pynini(without_failures(machine, range(SYMBOLS)))
        theirs = module.project(module.compose(to_pynini(pattern).arcsort("olabel"), expanded), "output")
        assert same_as_pynini(project(compose_failing(pattern, machine), "output"), theirs)


def test_a_failure_is_not_an_epsilon() -> None:
    """The example of the header: behind the failure a b may not be read."""
    a, b, ab = range(3)
    machine = Transducer.from_transitions([(0, a, EPSILON, 1), (0, b, b, 0), (1, b, ab, 0)], [0])
    failing = FailureTransducer(machine, {1: (a, 0)})
    by_epsilon = Transducer.from_transitions([*machine.transitions, (1, EPSILON, a, 0)], [0])
    text = Acceptor.from_strings([[a, b]])
    assert set(strings(project(compose_failing(text, failing), "output"), 3)) == {(ab,)}
    assert set(strings(project(compose(text, by_epsilon), "output"), 3)) == {(ab,), (a, b)}
    for tokens, written in (([a, a, b], (a, ab)), ([a], (a,)), ([], ())):
        assert walk(failing, tokens) == {written}
        one = compose_failing(Acceptor.from_strings([tokens]), failing)
        assert set(strings(project(one, "output"), 3)) == {written}


def test_a_drawing_shows_failures() -> None:
    vocabulary = [b"a", b"b", b"ab"]
    drawing = maxmatch_transducer(vocabulary).to_svg()
    assert drawing == maxmatch_transducer(vocabulary)._repr_svg_()
    for label in ("φ:a", "φ:b", "φ:ab", "a:ε", "b:ε"):
        assert f">{label}<" in drawing
    assert "φ:ab" in maxmatch_transducer(vocabulary).to_dot()


def test_failures_that_cannot_be() -> None:
    machine = Transducer.from_transitions([(0, 0, 0, 1)], [1])
    with pytest.raises(MachineError, match="from state 0 to 2 writes 0; states are numbered 0 to 1"):
        FailureTransducer(machine, {0: (0, 2)})
    with pytest.raises(MachineError, match="writes -2"):
        FailureTransducer(machine, {0: (-2, 1)})
    with pytest.raises(MachineError, match=r"lead from state . back to it"):
        FailureTransducer(machine, {0: (0, 1), 1: (0, 0)})


def test_every_construction_keeps_limits() -> None:
    few = tk.Limits(states=4)
    vocabulary = [b"a", b"b", b"ab", b"abab", b"ababab"]
    merges = [Merge(0, 1, 2), Merge(2, 2, 3), Merge(3, 2, 4)]
    pattern = Acceptor.from_strings(["ababab", "abba"])
    letters = in_tokens(pattern, vocabulary)
    every = promote(pattern, vocabulary)
    doubles = [Merge(0, 0, 1), Merge(1, 1, 2), Merge(2, 2, 3), Merge(3, 3, 4), Merge(4, 4, 5)]
    automaton = tokenizer_automaton([0, 1], merges)
    constructions = (
        lambda: lexicon(vocabulary, few),
        lambda: promote(pattern, vocabulary, few),
        lambda: failure_trie(vocabulary, limits=few),
        lambda: maxmatch_transducer(vocabulary, limits=few),
        lambda: promote_maxmatch(pattern, vocabulary, limits=few),
        lambda: compose_failing(letters, gadget(merges[0], range(5)), few),
        lambda: gadget(merges[0], range(5), limits=tk.Limits(states=2)),
        lambda: promote_bpe(letters, merges, few),
        lambda: in_tokens(pattern, vocabulary, few),
        lambda: direct_merge(letters, merges, few),
        lambda: merge_shared(letters, merges, tk.Limits(memory_bytes=300)),
        lambda: merge_shared(letters, merges).to_acceptor(tk.Limits(states=2)),
        lambda: tokenizer_automaton([0], doubles, few),
        lambda: automaton.to_acceptor(limits=tk.Limits(states=1)),
        lambda: CartesianMerge(every, automaton, tk.Limits(states=2)),
        lambda: CartesianMerge(every, automaton).to_acceptor(tk.Limits(states=1)),
    )
    for number, construct in enumerate(constructions):
        with pytest.raises(tk.LimitExceeded):
            pytest.fail(f"construction {number} made {construct()}")


def test_tokens_that_cannot_be_made() -> None:
    twice = Acceptor.from_strings([[0, 1], [2, 0]])
    with pytest.raises(MachineError, match="makes token 2, which state 0 reads already"):
        direct_merge(twice, [Merge(0, 1, 2)])
    with pytest.raises(MachineError, match="makes token 2, which the pattern reads already"):
        merge_shared(twice, [Merge(0, 1, 2)])
    with pytest.raises(MachineError, match="makes token 2, which has another text"):
        tokenizer_automaton([0, 1, 2], [Merge(0, 1, 2)])
    ambiguous = Acceptor.from_transitions([(0, 0, 1), (0, 0, 2), (1, 0, 0)], [1, 2])
    assert direct_merge(ambiguous, []).is_deterministic


def test_bytes_without_tokens_are_lost() -> None:
    pattern = Acceptor.from_strings(["ab", "ac"])
    letters = in_tokens(pattern, [b"c", b"a", b"ac"])
    assert list(strings(letters, 3)) == [(1, 0)]
    assert letters.names == {0: "c", 1: "a", 2: "ac"}
