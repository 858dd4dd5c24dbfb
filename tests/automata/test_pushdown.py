"""Push-down automata: the figures of paper 002, the definition, contraction, algorithm 3, bounds, errors."""

from __future__ import annotations

import random

import pytest

from tests.support.automata.machines import all_strings
from tests.support.automata.pushdowns import FIGURE_6, accepted_by_definition, random_pushdown, rule
from tokamata.automata import (
    EPSILON,
    Acceptor,
    DeterministicMatcher,
    PushdownAutomaton,
    PushdownMatcher,
    Transducer,
    compose,
    contract_epsilon,
    detokenizer,
    grammar_pushdown,
    star,
)
from tokamata.errors import EndlessStackError, LimitExceeded, MachineError, NondeterministicError
from tokamata.resources.limits import Limits

STRINGS = all_strings(2, 4)
A, B = b"ab"
TOKENS: list[bytes | None] = [b"a", b"b", b"ab", b"aab", b"bb", b"aa"]


def test_figure_6() -> None:
    """a^n b^n, with the return address S: a S • b."""
    texts = ["a" * n + "b" * m for n in range(5) for m in range(5)] + ["ba", "abab", "abb"]
    assert [text for text in texts if FIGURE_6.accepts(text)] == ["", "ab", "aabb", "aaabbb", "aaaabbbb"]
    assert FIGURE_6.stack_names == {0: "[•]", 1: 'S: "a" S • "b"'}
    assert FIGURE_6.stack_symbols == {0, 1}
    assert FIGURE_6.symbols == {A, B}
    assert repr(FIGURE_6) == "<PushdownAutomaton of 5 states and 7 transitions>"


def test_figure_7_tokens_pop_and_push_several_symbols() -> None:
    """With S • b for the return address: aab pushes it once, aa twice, bb pops it twice, ab in between."""
    tokens = contract_epsilon(compose(detokenizer(TOKENS), FIGURE_6))
    edits = {
        (TOKENS[symbol], len(popped), len(pushed))
        for _, symbol, popped, pushed, _ in tokens.transitions
        if symbol != EPSILON and 0 not in popped
    }
    # An a is read before its return address is pushed: the next token begins with that push, unless S is
    # empty there, so that the two cancel.
    assert {(b"aa", 0, 1), (b"aab", 0, 1), (b"bb", 1, 0), (b"bb", 2, 0)} <= edits
    assert max(popped for _, popped, _ in edits) == 2
    for sequence in all_strings(len(TOKENS), 4):
        text = b"".join(TOKENS[token] or b"" for token in sequence)
        assert tokens.accepts(sequence) == FIGURE_6.accepts(text)


def test_acceptance_is_that_of_the_definition() -> None:
    draw = random.Random(1)
    accepted = 0
    for _ in range(150):
        pushdown = random_pushdown(draw)
        for string in STRINGS:
            expected = accepted_by_definition(pushdown, string, highest=15)
            assert pushdown.accepts(string) == expected, (list(pushdown.transitions), string)
            accepted += expected
    assert accepted > 400


def test_contraction_keeps_the_strings() -> None:
    draw = random.Random(2)
    contracted = 0
    for _ in range(300):
        pushdown = random_pushdown(draw)
        try:
            same = contract_epsilon(pushdown)
        except EndlessStackError:
            continue
        contracted += 1
        for source, symbol, popped, _, target in same.transitions:
            assert symbol != EPSILON or (popped and target in same.accepting and not same.rows[target])
            assert symbol != EPSILON or source != target
        assert [s for s in STRINGS if same.accepts(s)] == [s for s in STRINGS if pushdown.accepts(s)]
    assert contracted > 100


def test_what_a_chain_pops_is_written_from_bottom_to_top() -> None:
    """Pop 3, push 4 5, pop 5, pop 4, pop 2, pop 1, push 6: in all, pop 1 2 3 and push 6."""
    arcs = [
        (0, EPSILON, (3,), (4, 5), 1),
        (1, EPSILON, (5,), (), 2),
        (2, EPSILON, (4,), (), 3),
        (3, EPSILON, (2,), (), 4),
        (4, A, (1,), (6,), 5),
    ]
    pushdown = PushdownAutomaton.from_transitions(arcs, [5], stack=[1, 2, 3])
    assert list(contract_epsilon(pushdown).transitions) == [(0, A, (1, 2, 3), (6,), 1)]
    assert pushdown.accepts("a")
    assert contract_epsilon(pushdown).accepts("a")


def test_deterministic_automata_are_followed_by_one_stack() -> None:
    draw = random.Random(3)
    followed = 0
    for _ in range(2_000):
        pushdown = random_pushdown(draw)
        try:
            DeterministicMatcher(pushdown)
        except (EndlessStackError, NondeterministicError):
            continue
        followed += 1
        for string in STRINGS:
            matcher = DeterministicMatcher(pushdown)
            is_taken = all(symbol in matcher.allowed and matcher.advance(symbol) for symbol in string)
            assert (is_taken and matcher.is_accepting) == pushdown.accepts(string)
    assert followed > 100


def test_masks_lead_to_all_strings_and_to_no_dead_end() -> None:
    """What is allowed is what some accepted string of the definition continues with."""
    draw = random.Random(4)
    for _ in range(100):
        pushdown = random_pushdown(draw)
        accepted = [string for string in all_strings(2, 6) if pushdown.accepts(string)]
        for string in all_strings(2, 3):
            matcher = PushdownMatcher(pushdown)
            followed = {
                s[len(string)] for s in accepted if len(s) > len(string) and s[: len(string)] == string
            }
            is_taken = all(matcher.advance(symbol) for symbol in string)
            if followed or string in accepted:
                assert is_taken
            if is_taken:
                assert followed <= matcher.allowed
                assert matcher.is_accepting == (string in accepted)
                assert matcher.is_accepting or matcher.allowed or not string
                assert all(matcher.fork().advance(s) == (s in matcher.allowed) for s in (0, 1, 2))


def test_composition_is_theorem_3() -> None:
    """P ∘ T accepts x if P accepts a string that T writes for x; here T erases, and writes two for one."""
    transducer = Transducer.from_transitions(
        [(0, 0, 0, 0), (0, 1, EPSILON, 1), (1, EPSILON, 1, 2), (2, 1, 1, 0), (1, 0, EPSILON, 0)], [0, 2]
    )
    draw = random.Random(5)
    for _ in range(60):
        pushdown = random_pushdown(draw)
        both = compose(transducer, pushdown)
        for string in STRINGS:
            assert both.accepts(string) == any(map(pushdown.accepts, written(transducer, string)))


def written(transducer: Transducer, string: tuple[int, ...]) -> set[tuple[int, ...]]:
    """The outputs for a string; the transducer has no cycle that reads nothing."""
    reached: set[tuple[int, int, tuple[int, ...]]] = {(0, 0, ())}
    pending = list(reached)
    while pending:
        state, at, output = pending.pop()
        for (read, shown), target in transducer.rows[state]:
            if read != EPSILON and (at == len(string) or string[at] != read):
                continue
            more = output if shown == EPSILON else (*output, shown)
            step = (target, at + (read != EPSILON), more)
            if step not in reached:
                reached.add(step)
                pending.append(step)
    return {output for state, at, output in reached if at == len(string) and state in transducer.accepting}


def test_composing_with_an_acceptor_intersects() -> None:
    """Bar-Hillel: a^n b^n with an even n."""
    even = compose(star(Acceptor.from_strings(["aa", "bb"])), FIGURE_6)
    assert [n for n in range(6) if even.accepts("a" * n + "b" * n)] == [0, 2, 4]


def test_a_grammar_of_rules_that_begin_with_themselves() -> None:
    """s: s "a" | "b", and hidden: t: u t "a" | "b" with u: ε."""
    direct = grammar_pushdown({"s": rule("sa", "b", s=0)}, "s")
    hidden = grammar_pushdown({"t": rule("uta", "b", t=0, u=1), "u": rule("")}, "t")
    cyclic = grammar_pushdown({"x": rule("y", "xa", "b", x=0, y=1), "y": rule("x", x=0)}, "x")
    for pushdown in (direct, hidden, cyclic):
        assert [text for text in ("", "a", "b", "ba", "baaa", "bab") if pushdown.accepts(text)] == [
            "b",
            "ba",
            "baaa",
        ]
        matcher = PushdownMatcher(pushdown)
        assert matcher.allowed == {B}
        assert not matcher.advance(A)
        assert matcher.advance(B)
        assert matcher.allowed == {A}
        assert matcher.is_accepting
        with pytest.raises(EndlessStackError) as raised:
            DeterministicMatcher(pushdown)
        assert raised.value.is_push
    with pytest.raises(EndlessStackError) as raised:
        contract_epsilon(direct)
    assert raised.value.symbols == ('s: s • "a"',)
    assert str(raised.value).startswith("""'s: s • "a"' can be pushed without end""")


def test_return_addresses_that_are_popped_without_end() -> None:
    """s: "a" s t | "c" and t: "b" | ε: after c, any number of rules may end before the next b."""
    pushdown = grammar_pushdown({"s": rule("ast", "c", s=0, t=1), "t": rule("b", "")}, "s")
    assert pushdown.accepts("aaacbb")
    assert not pushdown.accepts("acbb")
    with pytest.raises(EndlessStackError) as raised:
        contract_epsilon(pushdown)
    assert not raised.value.is_push


def test_nondeterminism_is_an_error_with_its_state() -> None:
    """Palindromes, and a token that two rules begin with."""
    palindromes = grammar_pushdown({"s": rule("asa", "bsb", "", s=0)}, "s")
    with pytest.raises(NondeterministicError) as raised:
        DeterministicMatcher(palindromes)
    assert raised.value.symbol in ("a", "b")
    assert "rewrite the grammar, or use PushdownMatcher" in str(raised.value)
    matcher = PushdownMatcher(palindromes)
    assert all(matcher.advance(byte) for byte in b"abb")
    assert matcher.fork().advance(A)
    assert not matcher.is_accepting
    assert matcher.advance(A)
    assert matcher.is_accepting


def test_an_ambiguous_grammar_has_few_configurations() -> None:
    pushdown = grammar_pushdown({"s": rule("ss", "a", s=0)}, "s")
    matcher = PushdownMatcher(pushdown, Limits(states=2_000))
    for _ in range(300):
        assert matcher.allowed == {A}
        assert matcher.advance(A)
    assert matcher.is_accepting


def test_rules_at_the_end_of_rules_need_no_stack() -> None:
    """Lists by recursion at the end: the stack keeps its height."""
    pushdown = grammar_pushdown({"s": rule("as", "b", s=0)}, "s")
    assert pushdown.stack_symbols == {0}
    matcher = DeterministicMatcher(pushdown)
    assert all(matcher.advance(byte) for byte in b"aaaaab")
    assert matcher.stack == (0,)
    assert matcher.is_accepting
    assert not matcher.advance(A)
    assert not matcher.advance(EPSILON)


def test_what_is_out_of_range_is_refused() -> None:
    for transition in (
        (0, -2, (), (), 0),
        (0, 1, (-1,), (), 0),
        (0, 1, (), (1 << 31,), 0),
        (0, 1, (), (), 2),
    ):
        with pytest.raises(MachineError):
            PushdownAutomaton.from_transitions([transition], [0], states=1)
    with pytest.raises(MachineError, match="cannot be a stack symbol"):
        PushdownAutomaton.from_transitions([], [0], stack=[-1])
    with pytest.raises(MachineError, match="no rule is named 't'"):
        grammar_pushdown({"s": rule("a")}, "t")
    with pytest.raises(MachineError, match="rule 's' refers to rule 1, of 1"):
        grammar_pushdown({"s": rule("t", t=1)}, "s")


def test_constructions_keep_to_limits() -> None:
    few = Limits(states=30)
    long = {"s": rule("a" * 40)}
    with pytest.raises(LimitExceeded):
        grammar_pushdown(long, "s", limits=few)
    pushdown = grammar_pushdown(long, "s")
    with pytest.raises(LimitExceeded):
        compose(detokenizer(TOKENS), pushdown, few)
    with pytest.raises(LimitExceeded):
        PushdownMatcher(pushdown, few)
    # Each of 40 return addresses is pushed or not: 2^40 chains before the first symbol.
    arcs = [(i, EPSILON, (), pushed, i + 1) for i in range(40) for pushed in ((i,), ())]
    many = PushdownAutomaton.from_transitions([*arcs, (40, A, (), (), 40)], [40])
    with pytest.raises(LimitExceeded):
        contract_epsilon(many, Limits(states=5_000))
    assert PushdownMatcher(many, Limits(states=5_000)).allowed == {A}


def test_equality_is_of_states_and_transitions() -> None:
    arcs = [(0, A, (), (1,), 0), (0, B, (1,), (), 1)]
    one = PushdownAutomaton.from_transitions(arcs, [1], stack=[7])
    assert one == PushdownAutomaton.from_transitions(arcs[::-1], [1], stack=[7], names={A: "x"})
    assert one != PushdownAutomaton.from_transitions(arcs, [1])
    assert hash(one) == hash(PushdownAutomaton.from_transitions(arcs, [1], stack=[7]))
    assert list(one.transitions) == arcs
    assert (one.states, one.size) == (2, 2)
