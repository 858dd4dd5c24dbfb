"""The counterexamples of docs/errata.md to the constructions of 000 and 001."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Sequence

import pytest

from tests.support.automata.tokenizations import (
    Bpe,
    encodings,
    hugging_face_bpe,
    hugging_face_encode,
    languages,
    walk,
)
from tokamata.automata import (
    EPSILON,
    Acceptor,
    Transducer,
    compose,
    determinize,
    equivalent,
    minimize,
    project,
    remove_epsilon,
    strings,
)
from tokamata.errors import UnspellableError, VocabularyError
from tokamata.tokenization import (
    FailureTransducer,
    Merge,
    compose_failing,
    direct_merge,
    encode_by_priority,
    encode_in_order,
    encode_one_at_a_time,
    failure_trie,
    first_improper,
    gadget,
    maxmatch,
    maxmatch_transducer,
    merge_list,
    neighbours,
    tokenizer_automaton,
)

# ---- 000, encoding ----------------------------------------------------------------------------


def test_000_algorithm_1_appends_what_is_no_token() -> None:
    """Line 4 takes the character, in the vocabulary or not."""
    with pytest.raises(UnspellableError, match="at byte 1"):
        maxmatch(b"ab", {b"a": 0})


def test_000_priority_and_order_are_not_the_same() -> None:
    """Algorithms 3 and 5, with a merge before the one that makes its part."""
    for bpe, text, by_priority, in_order in (
        (Bpe.of("abc", "ab c", "a b"), "abc", "abc", "ab c"),
        (Bpe.of("ab", "aa b", "a a", "a aa"), "aab", "aab", "aa b"),
    ):
        assert first_improper(bpe.merges) == 0
        assert bpe.show(encode_by_priority(bpe.merges, bpe.text(text))) == by_priority
        assert bpe.show(encode_in_order(bpe.merges, bpe.text(text))) == in_order


def test_000_a_token_that_is_made_again_too_late() -> None:
    """(abc, d) stands between the two merges that make abc; only the later one makes it in this text."""
    bpe = Bpe.of("abcd", "b c", "ab c", "abc d", "a bc")
    assert first_improper(bpe.merges) == 2
    assert bpe.show(encode_by_priority(bpe.merges, bpe.text("abcd"))) == "abcd"
    assert bpe.show(encode_in_order(bpe.merges, bpe.text("abcd"))) == "abc d"


def test_000_a_merge_that_is_listed_twice() -> None:
    """In order it counts twice: the second time it joins what was made in between."""
    bpe = Bpe.of("abc", "a bc", "b c", "a bc")
    assert bpe.show(encode_in_order(bpe.merges, bpe.text("abc"))) == "abc"
    once = Bpe.of("abc", "a bc", "b c")
    assert bpe.show(encode_in_order(once.merges, bpe.text("abc"))) == "a bc"
    assert bpe.show(encode_by_priority(once.merges, bpe.text("abc"))) == "abc"
    # By priority the first counts; with Hugging Face's tokenizers the last.
    twice = Bpe.of("abc", "a b", "b c", "a b")
    assert twice.show(encode_by_priority(twice.merges, twice.text("abc"))) == "ab c"
    (judged,) = hugging_face_encode(hugging_face_bpe(twice), ["abc"])
    assert twice.show(judged) == "a bc"


def test_000_joining_all_occurrences_is_not_joining_one() -> None:
    bpe = Bpe.of("a", "aa a", "a a")
    assert bpe.show(encode_by_priority(bpe.merges, bpe.text("aaaa"))) == "aa aa"
    assert bpe.show(encode_one_at_a_time(bpe.merges, bpe.text("aaaa"))) == "aaa a"
    (judged,) = hugging_face_encode(hugging_face_bpe(bpe), ["aaaa"])
    assert bpe.show(judged) == "aaa a"


# ---- 000, gadgets -----------------------------------------------------------------------------


def without(machine: FailureTransducer, token: int) -> FailureTransducer:
    """Without the arcs on which the initial and the abort state pass a token on: the gadget as printed."""
    rows = [[(label, t) for label, t in row if label != (token, token)] for row in machine.transducer.rows]
    return FailureTransducer(machine.transducer.like(rows, machine.transducer.accepting), machine.failures)


def test_000_gadgets_lose_a_token_that_another_merge_makes() -> None:
    bpe = Bpe.of("abc", "a b", "ab c", "b c", "a bc")
    pattern = bpe.pattern("abc")
    everything = range(len(bpe.vocabulary))
    printed = pattern
    for merge in bpe.merges:
        printed = project(compose_failing(printed, without(gadget(merge, everything), merge.token)), "output")
    assert list(strings(printed, 3)) == []
    assert bpe.show(encode_in_order(bpe.merges, bpe.text("abc"))) == "abc"
    assert all(list(strings(m, 3)) == [tuple(bpe.ids("abc"))] for m in languages(bpe, pattern).values())


def test_000_the_gadget_of_two_equal_parts() -> None:
    """Figure 5 with b = a: the active state reads a in two ways, and nothing has one output."""
    a, aa = 0, 1
    rows = [(0, a, EPSILON, 1), (1, a, aa, 0), (1, a, a, 1)]
    printed = FailureTransducer(Transducer.from_transitions(rows, [0, 2], states=3), {1: (a, 2)})
    assert walk(printed, [a, a, a]) == {(aa, a), (a, aa), (a, a, a)}
    assert walk(gadget(Merge(a, a, aa), [a, aa]), [a, a, a]) == {(aa, a)}


def test_000_proposition_c_8_the_projection_is_not_deterministic() -> None:
    bpe = Bpe.of("abc", "a b")
    pattern = bpe.pattern("aa", "ac")
    composed = compose_failing(pattern, gadget(bpe.merges[0], range(4)))
    plain = remove_epsilon(project(composed, "output"))
    assert pattern.is_deterministic
    assert not plain.is_deterministic
    assert set(strings(plain, 2)) == {tuple(bpe.ids("a a")), tuple(bpe.ids("a c"))}
    assert determinize(plain).states == 4


def test_000_the_abort_state_makes_an_epsilon_of_the_failure() -> None:
    """It reads neither part of the merge: nothing is read there that should have been read before."""
    for pairs in (("a b",), ("a a",)):
        bpe = Bpe.of("abc", *pairs)
        machine = gadget(bpe.merges[0], range(len(bpe.vocabulary)))
        ((state, (written, target)),) = machine.failures.items()
        arcs = [*machine.transducer.transitions, (state, EPSILON, written, target)]
        plain = Transducer.from_transitions(arcs, machine.transducer.accepting, 0, 3)
        everything = Acceptor.universal(range(3))
        expected = project(compose_failing(everything, machine), "output")
        assert equivalent(project(compose(everything, plain), "output"), expected)
        for text in itertools.product(range(3), repeat=4):
            one = project(compose(Acceptor.from_strings([text]), plain), "output")
            assert set(strings(one, 4)) == walk(machine, text)


# ---- 000, MaxMatch ----------------------------------------------------------------------------


def algorithm_7(
    vocabulary: Sequence[bytes], asks_for_child: bool
) -> dict[bytes, tuple[bytes | None, list[bytes]]]:
    """Links and pops by prefix, lines 10 to 27; ``r`` is the root, and a final node pops itself.

    As printed the loop of line 21 has no other condition than that there is a link left.
    """
    nodes = {text[:n] for text in vocabulary for n in range(len(text) + 1)}
    found: dict[bytes, tuple[bytes | None, list[bytes]]] = {b"": (None, [])}
    queue = deque([b""])
    while queue:
        node = queue.popleft()
        for child in sorted(n for n in nodes if n and n[:-1] == node):
            queue.append(child)
            if child in vocabulary:
                found[child] = b"", [child]
                continue
            link, pops = found[node][0], []
            while link is not None and not (asks_for_child and link + child[-1:] in nodes):
                pops += found[link][1]
                link = found[link][0]
            known = (None, []) if link is None else (link + child[-1:], found[node][1] + pops)
            found[child] = known
    return found


def test_000_algorithm_7_needs_a_condition_more() -> None:
    """As printed line 21 runs until there is no link, so that line 24 never holds and nothing is linked."""
    vocabulary = [b"a", b"b", b"ab", b"aba", b"abab", b"bb", b"abbabb"]
    printed = algorithm_7(vocabulary, asks_for_child=False)
    assert all(link is None for node, (link, _) in printed.items() if node not in vocabulary)
    right = algorithm_7(vocabulary, asks_for_child=True)
    assert right[b"abb"] == (b"b", [b"ab"])
    assert right[b"abba"] == (b"a", [b"ab", b"b"])
    trie = failure_trie(vocabulary)
    at = {b"": 0}
    for node in sorted(right, key=len)[1:]:
        at[node] = trie.children[at[node[:-1]]][node[-1]]
    for node, (link, pops) in right.items():
        assert trie.link[at[node]] == (None if link is None else at[link])
        assert [vocabulary[token] for token in trie.pops[at[node]]] == pops


def test_000_algorithm_7_a_token_pops_itself() -> None:
    """Line 17 says the parent's text; with a, ab the text ab would be written a."""
    vocabulary = [b"a", b"b", b"ab"]
    trie = failure_trie(vocabulary)
    ab = trie.children[trie.children[0][ord("a")]][ord("b")]
    assert trie.pops[ab] == [2]
    assert walk(maxmatch_transducer(vocabulary), b"ab") == {(2,)}


def test_000_algorithm_8_the_last_pop_is_a_place_not_a_token() -> None:
    """Line 13 asks whether a token is the last of the pops; aab pops a twice, and both look like it."""
    vocabulary = [b"a", b"b", b"c", b"aabc"]
    trie = failure_trie(vocabulary)
    node = 0
    for byte in b"aab":
        node = trie.children[node][byte]
    assert trie.pops[node] == [0, 0]
    by_value = [token == trie.pops[node][-1] for token in trie.pops[node]]
    assert by_value == [True, True]  # two failures from one state, each writing one a
    assert walk(maxmatch_transducer(vocabulary), b"aabb") == {(0, 0, 1, 1)}


def test_000_algorithm_8_the_end_of_the_text_fails_too() -> None:
    """By its definition a failure needs a current symbol; without one, what is held back is lost."""
    machine = maxmatch_transducer([b"a", b"ab"])
    assert walk(machine, b"a") == {(0,)}
    composed = compose_failing(Acceptor.from_strings(["a"]), machine)
    assert list(strings(project(composed, "output"), 2)) == [(0,)]
    assert not any(read == EPSILON for _, read, _, _ in machine.transducer.transitions)


# ---- 001 --------------------------------------------------------------------------------------


def algorithm_2(
    arcs: set[tuple[int, int, int]], accepting: set[int], states: int, symbol: int
) -> tuple[set[tuple[int, int, int]], set[int], dict[int, int]]:
    """001, algorithm 2, lines 3 to 17 as printed: the states of E are split; S' is numbered behind."""
    between = {s for s, x, _ in arcs if x == symbol} & {t for _, x, t in arcs if x == symbol}
    primed = {state: states + number for number, state in enumerate(sorted(between))}
    accepting = accepting | {primed[state] for state in between & accepting}
    for state in sorted(between):
        for source, read, target in sorted(arcs):
            if source == state and read == symbol and target in between:
                arcs = arcs - {(state, symbol, target)}
                arcs |= {(state, symbol, primed[target]), (primed[state], symbol, target)}
            elif source == state:
                arcs = arcs | {(primed[state], read, target)}
        for source, read, target in sorted(arcs):
            if read == symbol and target == state and source not in between:  # S' is not in E either
                arcs = (arcs - {(source, symbol, state)}) | {(source, symbol, primed[state])}
    return arcs, accepting, primed


def parities(arcs: set[tuple[int, int, int]], symbol: int) -> dict[int, set[int]]:
    """For each state that can be reached from 0 the parities of what leads to it."""
    found = {(0, 0)}
    pending = [(0, 0)]
    while pending:
        state, parity = pending.pop()
        for source, read, target in arcs:
            place = (target, 1 - parity if read == symbol else 0)
            if source == state and place not in found:
                found.add(place)
                pending.append(place)
    by_state: dict[int, set[int]] = {}
    for state, parity in found:
        by_state.setdefault(state, set()).add(parity)
    return by_state


def test_001_algorithm_2_redirects_what_it_has_just_made() -> None:
    """Four a in a row: 1' leads to 2 when 1 is split; then it looks like a state outside of E, and to 2'."""
    a, aa = 0, 1
    chain = {(0, a, 1), (1, a, 2), (2, a, 3), (3, a, 4)}
    arcs, _, primed = algorithm_2(chain, {4}, 5, a)
    by_state = parities(arcs, a)
    assert any(by_state.get(prime) == {0} for prime in primed.values())  # the proof says {1} for all of them
    merged = direct_merge(Acceptor.from_transitions(chain, [4]), [Merge(a, a, aa)])
    assert list(strings(merged, 4)) == [(aa, aa)]


def algorithm_3(characters: int, merges: Sequence[Merge]) -> tuple[dict[int, int], list[set[int]]]:
    """001, algorithm 3 as printed."""
    state_of = dict.fromkeys(range(characters), 0)
    forbidden: list[set[int]] = [set()]
    for left, right, token in merges:
        state, after = state_of[left], state_of[right]
        if right in forbidden[state]:
            continue
        if left == right or list(state_of.values()).count(state) > 1:
            state_of[left] = len(forbidden)
            forbidden.append(forbidden[state] | {right})
        else:
            forbidden[state].add(right)
        state_of[token] = after
        for tokens in forbidden:
            if left in tokens:
                tokens.add(token)
    return state_of, forbidden


def test_001_algorithm_3_forbids_tokens_at_the_beginning() -> None:
    """Only aa leads to the start by then, and line 16 changes the start's own list."""
    bpe = Bpe.of("a", "a a", "aa a")
    _, forbidden = algorithm_3(1, bpe.merges)
    a, aa, aaa = range(3)
    assert a in forbidden[0]
    assert bpe.show(encode_in_order(bpe.merges, bpe.text("a"))) == "a"
    automaton = tokenizer_automaton([a], bpe.merges)
    assert automaton.allowed(None) == {a, aa, aaa}
    assert automaton.allowed(aa) == {aa, aaa}


def test_001_algorithm_3_looks_up_what_was_never_made() -> None:
    """bc is never behind a, since ab is made first; so abc is not made by (a, bc), and has no state."""
    bpe = Bpe.of("abcd", "a b", "b c", "a bc", "abc d")
    with pytest.raises(KeyError):
        algorithm_3(4, bpe.merges)
    automaton = tokenizer_automaton(bpe.letters, bpe.merges)
    assert bpe.ids("abc")[0] not in automaton.state_of
    pattern = Acceptor.universal(bpe.letters)
    assert minimize(automaton.to_acceptor()) == minimize(direct_merge(pattern, bpe.merges))


def test_001_algorithm_4_has_no_row_for_the_beginning() -> None:
    """Pairs alone say nothing of a sequence of one token: abc is in the vocabulary, and is no encoding."""
    bpe = Bpe.of("abc", "a b", "b c", "a bc")
    table = neighbours(bpe.letters, bpe.merges)
    abc = bpe.ids("abc")[0]
    assert table[abc] == set()
    assert abc not in table[None]
    assert bpe.show(encode_in_order(bpe.merges, bpe.text("abc"))) == "ab c"
    assert (abc,) not in encodings(bpe, bpe.pattern("abc"), 3)


def test_001_tokens_of_improper_lists() -> None:
    """The machines are about merges in order, also where real tokenizers go by priority."""
    bpe = Bpe.of("abc", "ab c", "a b")
    pattern = bpe.pattern("abc")
    assert all(list(strings(m, 3)) == [tuple(bpe.ids("ab c"))] for m in languages(bpe, pattern).values())
    (judged,) = hugging_face_encode(hugging_face_bpe(bpe), ["abc"])
    assert bpe.show(judged) == "abc"


def test_000_figure_7_has_a_merge_without_a_token() -> None:
    with pytest.raises(VocabularyError, match="b'da' is not a token"):
        merge_list([(b"d", b"a")], [b"a", b"b", b"c", b"d", b"aa", b"ab", b"db", b"cdb"])
