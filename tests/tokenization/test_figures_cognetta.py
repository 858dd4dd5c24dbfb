"""The worked figures of 000, as far as its text says what they show; drawings are not part of it."""

from __future__ import annotations

import pytest

from tests.support.automata.tokenizations import Bpe, encodings, languages, up_to, walk
from tokamata.automata import (
    EPSILON,
    Acceptor,
    compose,
    detokenizer,
    equivalent,
    invert,
    minimize,
    project,
    remove_epsilon,
    strings,
)
from tokamata.errors import VocabularyError
from tokamata.tokenization import (
    apply,
    compose_failing,
    encode_by_priority,
    encode_in_order,
    encode_one_at_a_time,
    gadget,
    in_tokens,
    lexicon,
    maxmatch,
    maxmatch_transducer,
    merge_list,
    promote,
    promote_maxmatch,
)


def spelled(vocabulary: list[bytes], tokens: Acceptor, longest: int = 20) -> set[str]:
    return {" ".join(vocabulary[t].decode() for t in string) for string in strings(tokens, longest)}


def test_figure_1_bananas() -> None:
    vocabulary = [b"a", b"b", b"n", b"s", b"ba", b"na", b"ban", b"bana"]
    ids = {text: token for token, text in enumerate(vocabulary)}
    assert [vocabulary[t] for t in maxmatch(b"bananas", ids)] == [b"bana", b"na", b"s"]
    tokens = promote_maxmatch(Acceptor.from_strings(["bananas"]), vocabulary)
    assert spelled(vocabulary, tokens) == {"bana na s"}


def test_figure_2_topology() -> None:
    bpe = Bpe.of("toplgy", "t o", "g y", "l o", "p o", "lo gy")
    steps = [tokens := bpe.text("topology")]
    for merge in bpe.merges:
        steps.append(tokens := apply(merge, tokens))
    assert [bpe.show(step) for step in steps] == [
        "t o p o l o g y",
        "to p o l o g y",
        "to p o l o gy",
        "to p o lo gy",
        "to po lo gy",
        "to po logy",
    ]
    for encode in (encode_by_priority, encode_one_at_a_time, encode_in_order):
        assert bpe.show(encode(bpe.merges, bpe.text("topology"))) == "to po logy"


def test_figure_3_all_spellings_of_abaabcc() -> None:
    vocabulary = [b"a", b"b", b"c", b"ab", b"abc", b"bc"]
    pattern = Acceptor.from_strings(["abaabcc"])
    tokens = promote(pattern, vocabulary)
    found = spelled(vocabulary, tokens)
    assert {"ab a a bc c", "a b a abc c"} <= found  # the two that the caption names

    def ways(text: str) -> set[str]:
        if not text:
            return {""}
        fits = [token.decode() for token in vocabulary if text.startswith(token.decode())]
        return {f"{token} {rest}".strip() for token in fits for rest in ways(text[len(token) :])}

    assert found == ways("abaabcc")
    assert len(found) == 8  # ab: 2 ways, a, abcc: 4
    assert tokens.states == 8  # one between each two characters: each is a border of some spelling


def test_lemma_4_1_nothing_is_left_to_determinize() -> None:
    vocabulary = [b"a", b"b", b"ab", b"aba", b"ba", b"bb"]
    a, b = b"ab"
    for arcs, accepting in (
        ([(0, a, 0), (0, b, 0)], [0]),
        ([(0, a, 1), (1, b, 0), (1, a, 1)], [0, 1]),
        ([(0, b, 1), (1, b, 2), (2, a, 0), (2, b, 2)], [2]),
    ):
        pattern = minimize(Acceptor.from_transitions(arcs, accepting))
        plain = remove_epsilon(project(compose(pattern, lexicon(vocabulary)), "output"))
        assert plain.is_deterministic
        assert minimize(plain) == promote(pattern, vocabulary)
    ambiguous = Acceptor.from_transitions([(0, a, 1), (0, a, 2), (1, b, 3), (2, a, 3)], [3])
    plain = remove_epsilon(project(compose(ambiguous, lexicon(vocabulary)), "output"))
    assert not plain.is_deterministic  # the lemma needs a deterministic pattern
    assert lexicon(vocabulary) == invert(detokenizer(vocabulary))


def test_section_5_the_canonical_one_of_abaaab() -> None:
    vocabulary = [b"a", b"b", b"ab", b"aba"]
    pattern = Acceptor.from_strings(["abaab"])
    assert {"a b a a b", "ab a ab", "aba ab"} <= spelled(vocabulary, promote(pattern, vocabulary))
    assert spelled(vocabulary, promote_maxmatch(pattern, vocabulary)) == {"aba ab"}


def test_figure_4_greedy_and_all_over_a_b_aa_ab() -> None:
    vocabulary = [b"a", b"b", b"aa", b"ab"]
    ids = {text: token for token, text in enumerate(vocabulary)}
    a, b = b"ab"
    pattern = Acceptor.from_transitions([(0, a, 0), (0, b, 0)], [0])
    greedy, every = promote_maxmatch(pattern, vocabulary), promote(pattern, vocabulary)
    texts = [bytes(text) for text in strings(pattern, 7)]
    expected = {tuple(maxmatch(text, ids)) for text in texts}
    found = {s for s in strings(greedy, 7) if sum(len(vocabulary[t]) for t in s) <= 7}
    assert found == expected
    assert len(expected) == len(texts)  # one for each text
    # What (e) shows in red: after a, neither a nor b nor what begins with them; after the others, all.
    after_a = next(target for token, target in greedy.rows[0] if token == ids[b"a"])
    assert greedy.rows[after_a] == ()
    assert {token for token, _ in greedy.rows[0]} == {token for token, _ in every.rows[0]} == {0, 1, 2, 3}


def test_figure_4_the_transducer() -> None:
    """Figure (b): a node for each beginning, a failure for each but the root."""
    vocabulary = [b"a", b"b", b"aa", b"ab"]
    machine = maxmatch_transducer(vocabulary)
    assert machine.transducer.states == 5
    assert all(written == EPSILON for _, _, written, _ in machine.transducer.transitions)
    assert sorted(machine.failures.values()) == [(token, 0) for token in range(4)]
    assert machine.transducer.accepting == {0}
    assert walk(machine, b"aabab") == {(2, 1, 3)}


def test_figure_5_the_gadget() -> None:
    bpe = Bpe.of("abc", "a b")
    machine = gadget(bpe.merges[0], range(4))
    a, b, c, ab = range(4)
    assert machine.transducer.rows == (
        (((a, EPSILON), 1), ((b, b), 0), ((c, c), 0), ((ab, ab), 0)),
        (((a, a), 1), ((b, ab), 0)),
        (((c, c), 0), ((ab, ab), 0)),
    )
    assert machine.failures == {1: (a, 2)}
    for text, written in (("aab", "a ab"), ("aa", "a a"), ("acab", "a c ab"), ("", ""), ("bab", "b ab")):
        assert walk(machine, bpe.text(text)) == {tuple(bpe.ids(written))}


def test_figure_6_a_state_is_split() -> None:
    """A path a b d, with other ways in and out of the states on it, and the merge of a and b."""
    bpe = Bpe.of("abdxyz", "a b")
    a, b, d, x, y, z, ab = range(7)
    before = [(0, a, 1), (1, b, 2), (2, d, 3), (0, x, 1), (1, y, 3), (2, z, 3)]
    pattern = Acceptor.from_transitions(before, [3])
    after = [(0, ab, 2), (0, a, 4), (4, y, 3), (0, x, 1), (1, b, 2), (1, y, 3), (2, d, 3), (2, z, 3)]
    expected = minimize(Acceptor.from_transitions(after, [3]))
    assert expected.states == minimize(pattern).states + 1
    assert all(found == expected for found in languages(bpe, pattern).values())


def test_the_example_bcababcc() -> None:
    bpe = Bpe.of("abc", "a b", "b c", "c c", "ab c")
    pattern = bpe.pattern("bcababcc")
    composed = pattern
    outputs = []
    for merge in bpe.merges:
        transducer = compose_failing(composed, gadget(merge, range(len(bpe.vocabulary))))
        composed = project(transducer, "output")
        (output,) = strings(composed, 10)
        outputs.append(bpe.show(output))
    assert outputs == ["b c ab ab c c", "bc ab ab c c", "bc ab ab cc", "bc ab ab cc"]
    assert all(
        list(strings(m, 9)) == [tuple(bpe.ids("bc ab ab cc"))] for m in languages(bpe, pattern).values()
    )


GAMMA = [b"a", b"b", b"c", b"d", b"aa", b"ab", b"db", b"cdb"]


def test_figure_7_the_merge_that_is_listed_cannot_be() -> None:
    with pytest.raises(VocabularyError, match="merge 2 joins b'd' and b'a', but b'da' is not a token"):
        merge_list([(b"a", b"a"), (b"a", b"b"), (b"d", b"a"), (b"c", b"db")], GAMMA)


def test_figure_7_with_the_merges_of_its_caption() -> None:
    """The pattern is one of ours, since the drawing is not in the text; it meets every merge."""
    bpe = Bpe.of("abcd", "a a", "a b", "d b", "c db")
    assert list(bpe.vocabulary) == GAMMA
    a, b, c, d = b"abcd"
    arcs = [(0, a, 0), (0, c, 1), (1, d, 2), (1, a, 2), (2, b, 3), (0, b, 3), (3, a, 0)]
    pattern = in_tokens(Acceptor.from_transitions(arcs, [3]), GAMMA)
    by_route = languages(bpe, pattern)
    assert all(found == by_route["gadgets"] for found in by_route.values())
    assert up_to(bpe, by_route["gadgets"], 8) == encodings(bpe, pattern, 8)
    every = promote(Acceptor.from_transitions(arcs, [3]), GAMMA)
    canonical = by_route["gadgets"]
    for tokens, is_canonical in (("aa cdb", True), ("aa c db", False), ("aa c d b", False), ("c ab", True)):
        assert every.accepts(bpe.ids(tokens))
        assert canonical.accepts(bpe.ids(tokens)) == is_canonical
    assert not equivalent(every, canonical)
