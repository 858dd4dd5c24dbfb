"""The examples and figures of 001."""

from __future__ import annotations

import pytest

from tests.support.automata.tokenizations import Bpe
from tokamata.automata import Acceptor, minimize
from tokamata.tokenization import CartesianMerge, direct_merge, promote, tokenizer_automaton

A, B, X, Y, AB = range(5)
MERGE = Bpe.of("abxy", "a b")

# Before and after the merge of a and b: transitions, accepting states.  State 0 is Sa and the start, or
# what leads there; 1 is S; 2 is Sb; 3 is Sx; 4 is Sy.  Where nothing else leads to Sx, an x from Sa does.
EXAMPLES = {
    "2.1, no b leaves": ([(0, A, 1), (1, Y, 4)], [4], [(0, A, 1), (1, Y, 4)], [4]),
    "2.1, no a enters": ([(0, X, 1), (1, B, 2)], [2], [(0, X, 1), (1, B, 2)], [2]),
    "2.2": ([(0, A, 1), (1, B, 2)], [2], [(0, AB, 2)], [2]),
    "2.3": (
        [(0, A, 1), (1, B, 2), (1, Y, 4)], [2, 4],
        [(0, AB, 2), (0, A, 1), (1, Y, 4)], [2, 4],
    ),
    "2.4": ([(0, A, 1), (1, B, 2)], [1, 2], [(0, AB, 2), (0, A, 1)], [1, 2]),
    "2.5": (
        [(0, A, 1), (0, X, 3), (3, X, 1), (1, B, 2)], [2],
        [(0, AB, 2), (0, X, 3), (3, X, 1), (1, B, 2)], [2],
    ),
    "figure 4, the general case": (
        [(0, A, 1), (0, X, 1), (1, B, 2), (1, Y, 4)], [2, 4],
        [(0, AB, 2), (0, A, 5), (5, Y, 4), (0, X, 1), (1, B, 2), (1, Y, 4)], [2, 4],
    ),
    "figure 5, loops of a, b and x": (
        [(0, A, 1), (0, X, 1), (1, A, 1), (1, X, 1), (1, B, 2)], [2],
        [
            (0, AB, 2), (0, A, 5), (0, X, 1), (1, A, 5), (1, AB, 2), (1, X, 1), (1, B, 2),
            (5, A, 5), (5, AB, 2), (5, X, 1),
        ], [2],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_of_section_2(name: str) -> None:
    before, ends_before, after, ends_after = EXAMPLES[name]
    pattern = Acceptor.from_transitions(before, ends_before, states=6)
    expected = Acceptor.from_transitions(after, ends_after, states=6)
    merged = direct_merge(pattern, MERGE.merges)
    assert minimize(merged) == minimize(expected)
    if name.startswith("2.1"):
        assert merged == minimize(pattern)  # untouched


DOUBLE = Bpe.of("axy", "a a")
ONE, OTHER, END, AA = 0, 1, 2, 3


def test_example_3_1_odd_parity_is_merged() -> None:
    """Sa is 0, Sx is 3, S is 1, Sa' is 2 and Sy is 4."""
    pattern = Acceptor.from_transitions(
        [(0, ONE, 1), (0, END, 3), (3, OTHER, 1), (1, ONE, 2), (1, END, 4)], [2, 4]
    )
    after = [(0, AA, 2), (0, ONE, 5), (5, END, 4), (0, END, 3), (3, OTHER, 1), (1, ONE, 2), (1, END, 4)]
    assert minimize(direct_merge(pattern, DOUBLE.merges)) == minimize(
        Acceptor.from_transitions(after, [2, 4])
    )


def test_example_3_2_even_parity_is_not() -> None:
    """What leads to S is the second a of a pair: S itself stays as it is."""
    pattern = Acceptor.from_transitions([(0, ONE, 1), (1, ONE, 2), (2, ONE, 3), (2, OTHER, 4)], [3, 4])
    after = [(0, AA, 2), (2, ONE, 3), (2, OTHER, 4)]
    assert minimize(direct_merge(pattern, DOUBLE.merges)) == minimize(
        Acceptor.from_transitions(after, [3, 4])
    )


def test_figure_7_states_of_both_parities_are_split() -> None:
    pattern = Acceptor.from_transitions(
        [(0, ONE, 1), (0, OTHER, 1), (1, ONE, 2), (2, ONE, 3), (1, END, 3), (2, END, 3)], [3]
    )
    merged = direct_merge(pattern, DOUBLE.merges)
    for tokens, accepted in (
        ("aa a", True), ("x aa", True), ("a aa", False), ("x a a", False), ("aa y", True), ("x a y", True),
        ("a y", True), ("a a y", False), ("aa aa", False),
    ):  # fmt: skip
        assert merged.accepts(DOUBLE.ids(tokens)) == accepted, tokens


def test_example_3_3_a_loop_of_a() -> None:
    """Figure 8: S with a loop becomes S with a loop of aa, and S' that one a leads to."""
    pattern = Acceptor.from_transitions([(0, END, 1), (1, ONE, 1), (1, OTHER, 0)], [1])
    after = [(0, END, 1), (1, AA, 1), (1, ONE, 2), (1, OTHER, 0), (2, OTHER, 0)]
    assert minimize(direct_merge(pattern, DOUBLE.merges)) == minimize(
        Acceptor.from_transitions(after, [1, 2])
    )


def test_figure_9_the_automaton_of_all_encodings() -> None:
    bpe = Bpe.of("abc", "a b", "a a", "a c")
    a, b, c, ab, aa, ac = range(6)
    automaton = tokenizer_automaton(bpe.letters, bpe.merges)
    assert automaton.state_of == {a: 1, b: 0, c: 0, ab: 0, aa: 2, ac: 0}
    assert automaton.forbidden == (frozenset(), frozenset({a, b, c, aa, ac}), frozenset({b}))
    everything = Acceptor.universal([a, b, c])
    assert minimize(direct_merge(everything, bpe.merges)) == minimize(automaton.to_acceptor())
    assert automaton.allowed(aa) == {a, c, ab, aa, ac}
    assert automaton.allowed(None) == {a, b, c, ab, aa, ac}


def test_states_of_equal_lists_are_one() -> None:
    """a and c forbid b alone, by merges of their own, and share a state."""
    bpe = Bpe.of("abc", "a b", "c b")
    automaton = tokenizer_automaton(bpe.letters, bpe.merges)
    assert automaton.states == 2
    assert automaton.state_of[bpe.ids("a")[0]] == automaton.state_of[bpe.ids("c")[0]] == 1


def test_cartesian_merge_asks_for_relevance() -> None:
    """Behind a only b goes on, which may not follow it; so a is not allowed in the first place."""
    bpe = Bpe.of("ab", "a b")
    a, b, ab = range(3)
    vocabulary = [b"\0", b"\1", b"\0\1"]  # the letters' ids are the bytes
    merged = CartesianMerge(promote(bpe.pattern("ab"), vocabulary), tokenizer_automaton([a, b], bpe.merges))
    assert merged.allowed(merged.start, None) == {ab}
    assert merged.accepts([ab])
    assert not merged.accepts([a, b])
    assert merged.rows[merged.start] == {ab: merged.rows[merged.start][ab]}  # section 5.4: no a is left
