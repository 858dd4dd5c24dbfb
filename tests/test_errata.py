"""The counterexamples of docs/errata.md."""

from __future__ import annotations

import re

import lark
import pytest

import tokamata as tk
from tests.support.automata.pushdowns import FIGURE_6, rule
from tests.support.masks import allowed
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
    invert,
    minimize,
    project,
    remove_epsilon,
    star,
    strings,
)
from tokamata.errors import EndlessStackError, NondeterministicError

PRINTED = r'" *(?:[^\s"\\]|\\["n\\])?(?: [^\s"\\]|\\["n\\])*"'
MEANT = r'" *(?:[^\s"\\]|\\["n\\])(?: *(?:[^\s"\\]|\\["n\\]))*"'


def test_002_the_printed_regex_refuses_the_papers_example(byte_vocabulary: tk.Vocabulary) -> None:
    assert not re.fullmatch(PRINTED, '"foo"')
    assert re.fullmatch(MEANT, '"foo"')
    for pattern, accepted in ((PRINTED, False), (MEANT, True)):
        matcher = tk.regex(pattern).compile(byte_vocabulary).matcher()
        assert all(matcher.advance(byte) for byte in b'"foo"') == accepted


def test_002_an_edge_without_a_way_to_acceptance_is_not_allowed() -> None:
    vocabulary = tk.Vocabulary.load([b"a", b"b", b"ab", b"c"], stop=[])
    assert allowed(tk.regex("abd|c").compile(vocabulary).matcher()) == {3}


def test_002_stop_tokens_are_allowed_in_accepting_states_alone(byte_vocabulary: tk.Vocabulary) -> None:
    matcher = tk.regex("a?").compile(byte_vocabulary).matcher()
    assert set(byte_vocabulary.stop) < allowed(matcher)
    assert not set(byte_vocabulary.stop) & allowed(tk.regex("a").compile(byte_vocabulary).matcher())


def test_002_empty_tokens_are_never_allowed(byte_vocabulary: tk.Vocabulary) -> None:
    empty = byte_vocabulary.tokens.index(b"")
    assert empty not in allowed(tk.regex("(?s:.*)").compile(byte_vocabulary).matcher())


Masks = list[tuple[set[int], int]]


def papers_heuristic(
    token_edges: dict[int, dict[int, int]], mask_edges: dict[int, Masks], accepting: set[int], way: list[int]
) -> bool:
    """Section 2.5.1: a token's own edge goes first, and then the edges with masks in their order."""
    state = 0
    for token in way:
        masked = [target for mask, target in mask_edges.get(state, []) if token in mask]
        own = token_edges.get(state, {}).get(token)
        if own is None and not masked:
            return False
        state = masked[0] if own is None else own
    return state in accepting


def test_002_preferring_one_edge_of_a_token_loses_texts() -> None:
    vocabulary = tk.Vocabulary.load([b"a", b"b", b"ab", b"\n"], stop=[])
    a, b, ab, newline = range(4)
    everything = {a, b, ab, newline}

    # Any tokens, and then ab: the first a is taken for the beginning of the end.
    edges: dict[int, dict[int, int]] = {0: {a: 1, ab: 2}, 1: {b: 2}}
    masks: dict[int, Masks] = {0: [(everything, 0)]}
    ends_in_ab = tk.regex("(?P<TEXT_TOKEN>*)ab").compile(vocabulary)
    for way, by_the_heuristic in (([b, ab], True), ([b, a, b], True), ([a, ab], False), ([ab, ab], False)):
        assert papers_heuristic(edges, masks, {2}, way) == by_the_heuristic
        matcher = ends_in_ab.matcher()
        assert all(matcher.advance(token) for token in way)
        assert matcher.is_accepting

    # Two masks, in either order: a is in both.
    edges = {1: {a: 3}, 2: {b: 3}}
    both: Masks = [(everything, 1), (everything - {newline}, 2)]
    two_masks = tk.regex("(?P<TEXT_TOKEN>)a|(?P<PARAGRAPH_TOKEN>)b").compile(vocabulary)
    assert [papers_heuristic(edges, {0: both}, {3}, way) for way in ([a, a], [a, b])] == [True, False]
    assert [papers_heuristic(edges, {0: both[::-1]}, {3}, way) for way in ([a, a], [a, b])] == [False, True]
    for way in ([a, a], [a, b]):
        matcher = two_masks.matcher()
        assert all(matcher.advance(token) for token in way)
        assert matcher.is_accepting
    matcher = two_masks.matcher()
    assert matcher.advance(a)
    assert allowed(matcher) == {a, b}


def test_002_an_empty_stack_at_the_start_accepts_nothing() -> None:
    empty = PushdownAutomaton(FIGURE_6.rows, FIGURE_6.accepting, FIGURE_6.start, stack=())
    for text in ("", "ab", "aabb"):
        assert FIGURE_6.accepts(text)
        assert not empty.accepts(text)
        as_in_section_3, as_in_algorithm_3 = DeterministicMatcher(FIGURE_6), DeterministicMatcher(empty)
        for byte in text.encode():
            assert as_in_section_3.allowed >= as_in_algorithm_3.allowed
            assert as_in_section_3.advance(byte)
            assert as_in_algorithm_3.advance(byte)
        assert as_in_section_3.is_accepting
        assert not as_in_algorithm_3.is_accepting
    assert as_in_algorithm_3.allowed == set()  # no token, and no end


def test_002_transitions_that_read_nothing_are_among_the_allowed_tokens() -> None:
    composed = compose(detokenizer([b"a", b"b", b"ab"]), FIGURE_6)
    assert EPSILON in {symbol for (symbol, popped, _), _ in composed.rows[composed.start] if not popped}
    contracted = contract_epsilon(composed)
    assert {popped for _, symbol, popped, *_ in contracted.transitions if symbol == EPSILON} == {(0,)}
    matcher = DeterministicMatcher(composed)
    assert matcher.allowed == {0, 2}
    assert matcher.advance(0)
    assert matcher.allowed == {0, 1, 2}


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ('s: s "a" | "b"', EndlessStackError),
        ('s: t "c" | u "d"\nt: "a" t | "b"\nu: "a" u | "c"', NondeterministicError),
        ('s: t | u\nt: "a" "b"\nu: "a" "c"', NondeterministicError),  # LL(2)
    ],
)
def test_002_lr_1_grammars_are_not_deterministic_from_the_top(source: str, error: type[Exception]) -> None:
    lark.Lark(source, parser="lalr", start="s")  # raises an error if there is a conflict
    grammar = tk.grammar(source, start="s")
    tokens = [b"a", b"b", b"c", b"d", b"aa"]
    pushdown = compose(detokenizer(tokens), grammar.pushdown_automaton())
    with pytest.raises(error):
        DeterministicMatcher(pushdown)
    ours = PushdownMatcher(pushdown)
    engine = grammar.compile(tk.Vocabulary.load(tokens, stop=[])).matcher()
    for token in (0, 1):
        assert ours.allowed == allowed(engine)
        assert ours.advance(token) == engine.advance(token)
    assert ours.allowed == allowed(engine)


def test_002_algorithm_3_allows_what_leads_nowhere() -> None:
    """s: "a" | b, where b: "(" b ")" accepts no text."""
    pushdown = grammar_pushdown({"s": rule("a", "B", B=1), "b": rule("(B)", B=1)}, "s")
    assert DeterministicMatcher(pushdown).allowed == set(b"a(")
    assert PushdownMatcher(pushdown).allowed == set(b"a")
    matcher = tk.grammar('s: "a" | b\nb: "(" b ")"', start="s").compile(
        tk.Vocabulary.load([b"a", b"(", b")"], stop=[])
    )
    assert allowed(matcher.matcher()) == {0}


def test_002_a_grammar_with_terminals_needs_a_lexer() -> None:
    source = 'start: "if" NAME | NAME "=" NAME\nNAME: /[a-z]+/\n%ignore " "'
    accepted = {
        lexer: [text for text in ("ifx", "if x", "if=x", "iff = x") if pushdown.accepts(text)]
        for lexer, pushdown in (
            (lexer, tk.grammar(source, lexer=lexer).pushdown_automaton())
            for lexer in ("characters", "dynamic", "longest")
        )
    }
    assert accepted == {
        "characters": ["ifx", "if x", "if=x", "iff = x"],
        "dynamic": ["ifx", "if x", "if=x", "iff = x"],
        "longest": ["if x", "iff = x"],
    }


# ---- 000 --------------------------------------------------------------------------------------

X, Y, C, Z = 0, 1, 2, 3


def algorithm_4(first: Transducer, second: Transducer) -> Transducer:
    """Composition as 000 prints it, with line 13 under the condition of line 10."""
    order, arcs = [(first.start, second.start)], []
    for here, there in order:  # grows as pairs are found
        for (read, passed), target in first.rows[here]:
            for (taken, written), answer in second.rows[there]:
                if passed == taken or EPSILON in (passed, taken):
                    if (target, answer) not in order:
                        order.append((target, answer))
                    arcs.append((order.index((here, there)), read, written, order.index((target, answer))))
    ends = [i for i, (p, q) in enumerate(order) if p in first.accepting and q in second.accepting]
    return Transducer.from_transitions(arcs, ends, 0, len(order))


def written_for(transducer: Transducer, *text: int) -> set[tuple[int, ...]]:
    """What a transducer writes for an input, of at most three symbols."""
    one = Acceptor.from_strings([text])
    return set(strings(minimize(project(compose(one, transducer), "output")), 3))


def test_000_moving_both_machines_on_an_epsilon_loses_a_label() -> None:
    second = Transducer.from_transitions([(0, C, Z, 1)], [1])
    erases = Transducer.from_transitions([(0, X, EPSILON, 1)], [1])  # writes nothing, so no c is ever read
    assert written_for(algorithm_4(erases, second), X) == {(Z,)}
    assert written_for(compose(erases, second), X) == set()
    later = Transducer.from_transitions([(0, X, EPSILON, 1), (1, Y, C, 2)], [2])
    assert written_for(algorithm_4(later, second), X, Y) == set()
    assert written_for(compose(later, second), X, Y) == {(Z,)}


def test_000_arcs_back_to_the_start_do_not_accept_the_empty_string() -> None:
    back = Acceptor.from_transitions([(0, X, 1), (1, EPSILON, 0)], [1])
    once = Acceptor.from_strings([[X]])
    assert [back.accepts([X] * n) for n in range(4)] == [False, True, True, True]
    assert [star(once).accepts([X] * n) for n in range(4)] == [True] * 4


def algorithm_6(vocabulary: dict[int, bytes], closing_arcs: bool) -> Transducer:
    """The lexicon before closure; ``closing_arcs`` are those of lines 13 to 16, as printed."""
    arcs, states, ends = [], 1, []
    for token, text in vocabulary.items():
        state = 0
        for place, byte in enumerate(text):
            arcs.append((state, byte, token if place == len(text) - 1 else EPSILON, states))
            state, states = states, states + 1
        if closing_arcs:
            arcs.append((state, EPSILON, token, states))
            state, states = states, states + 1
        ends.append(state)
    return Transducer.from_transitions(arcs, ends, 0, states)


def test_000_the_lexicon_writes_a_token_once() -> None:
    vocabulary = {0: b"a", 1: b"ab"}
    assert written_for(algorithm_6(vocabulary, closing_arcs=True), *b"ab") == {(1, 1)}
    assert written_for(algorithm_6(vocabulary, closing_arcs=False), *b"ab") == {(1,)}
    assert written_for(invert(detokenizer([b"a", b"ab"])), *b"ab") == {(1,)}


def test_000_several_ids_for_one_text() -> None:
    vocabulary = [b"a", b"ab", b"b", b"ab"]
    lexicon = invert(detokenizer(vocabulary))
    pattern = minimize(star(Acceptor.from_strings(["ab"])))
    tokens = remove_epsilon(project(compose(pattern, lexicon), "output"))
    assert tokens.is_deterministic
    assert all(tokens.accepts(way) for way in ([1], [3], [1, 3], [0, 2, 3]))
    last_bytes = [read for (read, written), _ in lexicon.rows[1] if written != EPSILON]
    assert last_bytes == [ord("b")] * 2  # after the a of ab: b, and either id
    compiled = tk.regex("(?:ab)*").compile(tk.Vocabulary.load(vocabulary, stop=[]))
    assert compiled.token_automaton().to_acceptor() == minimize(tokens)
