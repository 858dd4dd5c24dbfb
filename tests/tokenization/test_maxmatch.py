"""MaxMatch: the transducer, algorithm 1 and Hugging Face's WordPiece give the same tokens."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from tests.support.automata.machines import pynini, same_as_pynini, to_pynini
from tests.support.automata.tokenizations import (
    EVERYTHING,
    hugging_face_encode,
    random_pattern,
    tokenizers,
    walk,
    without_failures,
)
from tests.support.texts import all_texts
from tokamata.automata import Acceptor, strings
from tokamata.errors import UnspellableError
from tokamata.tokenization import failure_trie, maxmatch, maxmatch_transducer, promote_maxmatch

UNKNOWN = "?"
SHORT = [text.encode() for text in all_texts("ab", 3, shortest=2)]
TEXTS = [text.encode() for text in all_texts("ab", 5)]

Ids = dict[bytes, int]


def word_piece(first: Ids, rest: Ids, mark: str = "##") -> Any:
    """Hugging Face's, with these ids; where ``mark`` is empty both have to be the same."""
    module = tokenizers()
    vocabulary = {mark + text.decode(): token for text, token in rest.items()}
    vocabulary |= {text.decode(): token for text, token in first.items()}
    vocabulary[UNKNOWN] = len(vocabulary) + 100
    model = module.models.WordPiece(
        vocabulary, unk_token=UNKNOWN, max_input_chars_per_word=1000, continuing_subword_prefix=mark
    )
    return module.Tokenizer(model)


def by_number(ids: Ids) -> dict[int, bytes]:
    return {token: text for text, token in ids.items()}


def encode(text: bytes, first: Ids, rest: Ids | None = None) -> list[int] | None:
    try:
        return maxmatch(text, first, rest)
    except UnspellableError:
        return None


def test_all_small_vocabularies() -> None:
    """Of tokens of up to three letters over a and b, every eighth by seed or all 4,096."""
    draw = random.Random(31)
    pattern = Acceptor.from_strings(TEXTS)
    seen = 0
    for chosen in itertools.product([False, True], repeat=len(SHORT)):
        if not EVERYTHING and draw.random() > 1 / 8:
            continue
        texts = [b"a", b"b", *(text for text, is_in in zip(SHORT, chosen, strict=True) if is_in)]
        ids = {text: token for token, text in enumerate(texts)}
        expected = [maxmatch(text, ids) for text in TEXTS]
        promoted = promote_maxmatch(pattern, texts)
        assert set(strings(promoted, 6)) == set(map(tuple, expected))
        judged = hugging_face_encode(word_piece(ids, ids, ""), [text.decode() for text in TEXTS[1:]])
        assert judged == expected[1:]
        seen += 1
    assert seen > 400


def random_ids(draw: random.Random, letters: bytes, start: int, most: int, whole: float) -> Ids:
    """Tokens of one to six letters; each letter by itself is one with that chance."""
    texts = {bytes([letter]) for letter in letters if draw.random() < whole}
    texts |= {bytes(draw.choices(letters, k=draw.randint(2, 6))) for _ in range(draw.randint(0, most))}
    return {text: start + token for token, text in enumerate(sorted(texts))}


def test_at_random_with_and_without_marks() -> None:
    draw = random.Random(32)
    spelled = unknown = 0
    for number in range(250):
        letters = draw.choice([b"ab", b"abc"])
        has_marks = number % 2 == 0
        first = random_ids(draw, letters, 0, 25, 0.9)
        rest = random_ids(draw, letters, len(first), 25, 0.9) if has_marks else None
        machine = maxmatch_transducer(by_number(first), None if rest is None else by_number(rest))
        texts = [bytes(draw.choices(letters, k=draw.randint(1, 15))) for _ in range(40)]
        judge = word_piece(first, first if rest is None else rest, "##" if has_marks else "")
        judged = hugging_face_encode(judge, [text.decode() for text in texts])
        for text, theirs in zip(texts, judged, strict=True):
            tokens = encode(text, first, rest)
            assert walk(machine, text) == (set() if tokens is None else {tuple(tokens)})
            if tokens is None:
                assert theirs == [judge.token_to_id(UNKNOWN)]
                unknown += 1
            else:
                assert theirs == tokens
                spelled += 1
    assert spelled > 5000
    assert unknown > 500


def test_promotion_of_random_patterns() -> None:
    """The failures of a machine meet states with several ways on."""
    draw = random.Random(33)
    for number in range(150):
        first = random_ids(draw, b"\0\1", 0, 8, 0.95)
        rest = random_ids(draw, b"\0\1", len(first), 8, 0.95) if number % 2 else None
        pattern = random_pattern(draw, 2)
        continuations = None if rest is None else by_number(rest)
        promoted = promote_maxmatch(pattern, by_number(first), continuations)
        texts = [bytes(text) for text in strings(pattern, 6)]
        expected = {tuple(t) for text in texts if (t := encode(text, first, rest)) is not None}
        length = {token: len(text) for ids in (first, rest or {}) for text, token in ids.items()}
        found = {s for s in strings(promoted, 6) if sum(length[token] for token in s) <= 6}
        assert found == expected


def test_pynini_composes_the_same_transducer() -> None:
    module = pynini()
    draw = random.Random(34)
    for _ in range(200):
        ids = random_ids(draw, b"\0\1\2", 0, 8, 0.95)
        pattern = random_pattern(draw, 3)
        expanded = to_pynini(without_failures(maxmatch_transducer(by_number(ids)), range(3)))
        theirs = module.project(module.compose(to_pynini(pattern).arcsort("olabel"), expanded), "output")
        assert same_as_pynini(promote_maxmatch(pattern, by_number(ids)), theirs)


def test_a_large_vocabulary() -> None:
    draw = random.Random(35)
    ids = random_ids(draw, b"abcdefgh", 0, 5000, 1.0)
    judge = word_piece(ids, ids, "")
    texts = [bytes(draw.choices(b"abcdefgh", k=60)) for _ in range(200)]
    expected = hugging_face_encode(judge, [text.decode() for text in texts])
    assert [maxmatch(text, ids) for text in texts] == expected
    machine = maxmatch_transducer(by_number(ids))
    assert [walk(machine, text) for text in texts] == [{tuple(tokens)} for tokens in expected]


def test_links_and_pops() -> None:
    """The example of the header: aab is no token, the longest in it is aa, and b is left."""
    vocabulary = [b"a", b"b", b"aa", b"ab", b"aabc"]
    trie = failure_trie(vocabulary)

    def node(text: bytes) -> int:
        at = trie.start
        for byte in text:
            at = trie.children[at][byte]
        return at

    assert (trie.link[trie.start], trie.pops[trie.start]) == (None, [])
    assert (trie.link[node(b"aab")], trie.pops[node(b"aab")]) == (node(b"b"), [2])
    assert (trie.link[node(b"aa")], trie.pops[node(b"aa")]) == (trie.start, [2])
    assert (trie.link[node(b"aabc")], trie.pops[node(b"aabc")]) == (trie.start, [4])


def test_marks_are_no_text() -> None:
    """A text with ## in it is not confused with marks."""
    first, rest = {b"#": 0, b"a": 1, b"##a": 2}, {b"#": 3, b"a": 4, b"#a": 5}
    machine = maxmatch_transducer(by_number(first), by_number(rest))
    for text, tokens in ((b"##a", [2]), (b"a##a", [1, 3, 5]), (b"##", [0, 3]), (b"aa", [1, 4])):
        assert maxmatch(text, first, rest) == tokens
        assert walk(machine, text) == {tuple(tokens)}


def test_no_token_fits() -> None:
    with pytest.raises(UnspellableError, match="no token fits at byte 2 of b'abcb'"):
        maxmatch(b"abcb", {b"a": 0, b"b": 1})
    with pytest.raises(UnspellableError, match="at byte 0"):
        maxmatch(b"a", {})
    assert maxmatch(b"", {}) == []
