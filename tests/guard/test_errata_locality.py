"""The counterexamples of docs/errata.md to sections 2 and 3.1 to 3.3 and appendix A of paper 004."""

from __future__ import annotations

import itertools
import random

import pytest
from tokenizers import Tokenizer, models

import tokamata as tk
from tests.support.automata.tokenizations import Bpe, random_bpe
from tests.support.tokenizers.boundary_oracle import crossed_left
from tests.support.tokenizers.plain_tokenizers import plain_tokenizer
from tokamata.tokenization import MergeGraph, Schedules, TwoNeighbours, detect_crossing, encode_one_at_a_time


def test_004_definition_3_a_prefix_of_an_accepted_text_is_not_accepted(
    byte_vocabulary: tk.Vocabulary,
) -> None:
    matcher = tk.json_schema({"type": "object"}).compile(byte_vocabulary).matcher()
    for token in b'{"a": 1':
        assert matcher.advance(token)
        assert not matcher.is_accepting  # no committed prefix is in the language
        assert matcher.shortest_completion()  # each one can become a text of it
    assert matcher.advance(ord("}"))
    assert matcher.is_accepting


def test_004_lemma_1_merges_create_and_destroy_no_bytes() -> None:
    draw = random.Random(61)
    joined = 0
    for _ in range(30):
        bpe = random_bpe(draw, "abc", 5, longest=4, shuffled=0.3)
        graph = MergeGraph(bpe.letters, bpe.merges, 2)
        for string in graph.strings:
            text = b"".join(bpe.vocabulary[character] for character in string)
            for configuration, following in graph.steps(string).items():
                assert b"".join(bpe.vocabulary[token] for token in configuration) == text
                joined += len(following)
    assert joined > 1000


@pytest.mark.parametrize("size", range(2, 9))
def test_004_lemma_1_no_number_of_tokens_shows_every_violation(size: int) -> None:
    """With the merge (x, a) and a boundary of k letters, the first window has k tokens."""
    boundary = "abcdefgh"[:size]
    bpe = Bpe.of("abcdefghx", "x a")
    inside = bpe.text(boundary)
    found = detect_crossing(MergeGraph(bpe.letters, bpe.merges, 5 if size > 3 else 3, around=inside), inside)
    vocabulary = tk.Vocabulary.load(plain_tokenizer(bpe), stop=())
    exact = crossed_left(vocabulary, boundary)
    assert exact is not None
    assert exact.text == b"x" + boundary.encode()
    assert len(exact.tokens) == size
    assert found.min_safe_L == (size if size <= 5 else None)
    assert found.limit is None
    assert [size <= horizon for horizon in (3, 4, 5)[: found.horizon - 2]] == [
        found.rejects(horizon) for horizon in range(3, found.horizon + 1)
    ]


def test_004_lemma_1_no_number_of_bytes_shows_every_violation() -> None:
    """With (a, a) before (a, b), whether a token crosses into ``b`` depends on the parity of a run."""
    bpe = Bpe.of("ab", "a a", "a b")
    for size in range(1, 60):
        tokens = bpe.show(encode_one_at_a_time(bpe.merges, bpe.text("a" * size + "b"))).split()
        assert tokens[-1] == ("ab" if size % 2 else "b")
    # The same 29 letters before the b, and two answers.
    assert ("a" * 29 + "b") in ("a" * 30 + "b")


def test_004_theorem_1_the_horizon_is_one_more_than_the_tokens_of_the_boundary() -> None:
    """With (x, a) before (a, b) all of them are needed: ``xa b c d`` for ``ab c d``."""
    bpe = Bpe.of("abcdex", "x a", "a b")
    for boundary, count in (("ab", 1), ("abc", 2), ("abcd", 3), ("abcde", 4)):
        inside = bpe.text(boundary)
        assert len(encode_one_at_a_time(bpe.merges, inside)) == count
        graph = MergeGraph(bpe.letters, bpe.merges, count + 1, around=inside)
        assert detect_crossing(graph, inside).min_safe_L == count + 1
    draw = random.Random(62)
    seen = 0
    for _ in range(200):  # and none needs more
        bpe = random_bpe(draw, "abcd", 6, longest=4, shuffled=0.3)
        inside = bpe.text("".join(draw.choices("abcd", k=draw.choice([1, 2, 3]))))
        two = TwoNeighbours(bpe.letters, bpe.merges)
        if two.crossed(inside) is not None:
            enough = 1 + len(two.encode(inside))
            graph = MergeGraph(bpe.letters, bpe.merges, enough, around=inside)
            assert detect_crossing(graph, inside).min_safe_L is not None
            seen += 1
    assert seen > 80, seen


def test_004_theorem_1_with_ties_a_boundary_of_one_token_needs_two() -> None:
    """Neither ties nor remote merges make more necessary: a pair has one rank at all times."""
    draw = random.Random(63)
    rejected = 0
    for _ in range(120):
        bpe = random_bpe(draw, draw.choice(["ab", "abc"]), 4, longest=4, shuffled=0.3)
        if len(bpe.vocabulary) > 6 or len(set(bpe.merges)) < len(bpe.merges):
            continue
        ranks = [draw.randrange(2) for _ in bpe.merges]
        inside = bpe.text(draw.choice(bpe.vocabulary).decode())
        graph = MergeGraph(bpe.letters, bpe.merges, 3, ranks, around=inside)
        found = detect_crossing(graph, inside)
        assert found.min_safe_L != 3, (bpe, ranks, inside)
        rejected += found.min_safe_L is not None
    assert rejected > 40


def _longest_matches(vocabulary: list[str], text: str) -> list[str]:
    model = models.WordPiece(
        {token: n for n, token in enumerate(["[UNK]", *vocabulary])},
        unk_token="[UNK]",
        continuing_subword_prefix="",
    )
    return Tokenizer(model).encode(text).tokens


@pytest.mark.parametrize("size", [1, 2, 3])
def test_004_lemma_1_longest_match_has_no_merges(size: int) -> None:
    """WordPiece: ``wxyzabc`` with the tokens ``abc`` and ``wxyza``; the first window has k + 1 tokens."""
    before = "wxyz"[:size]
    rest = "bcdef"[:size]
    boundary = "a" + rest
    vocabulary = [*sorted(set(before + boundary)), boundary, before + "a"]
    text = before + boundary
    assert _longest_matches(vocabulary, text) == [before + "a", *rest]
    for count in range(1, size + 2):
        windows = {"".join(parts) for parts in itertools.product(vocabulary, repeat=count)}
        crossed = set()
        for window in windows:
            start = window.find(boundary)
            ends = {0, *itertools.accumulate(map(len, _longest_matches(vocabulary, window)))}
            while start >= 0:
                if not {start, start + len(boundary)} <= ends:
                    crossed.add(window)
                start = window.find(boundary, start + 1)
        if count <= size:
            assert not crossed
    assert text in crossed


def test_004_lemma_1_an_unknown_character_changes_all_tokens_of_a_word() -> None:
    """No window around the boundary sees it: WordPiece writes the whole word as its unknown token."""
    vocabulary = ["a", "b", "ab"]
    assert _longest_matches(vocabulary, "ab" * 9) == ["ab"] * 9
    assert _longest_matches(vocabulary, "ab" * 9 + "?") == ["[UNK]"]


def test_004_appendix_a_reduction_is_not_confluent_on_contains_b() -> None:
    """(a, b) and (b, c) of one rank: both orders end, and only one of them has the token ``ab``."""
    bpe = Bpe.of("abc", "a b", "b c")
    tied = Schedules(bpe.merges, ranks=[0, 0])
    ends = {bpe.show(after) for _, after in tied.steps(bpe.text("abc"))}
    assert ends == {"ab c", "a bc"}
    assert all(not tied.steps(bpe.ids(end)) for end in ends)
    ordered = Schedules(bpe.merges)
    assert [bpe.show(after) for _, after in ordered.steps(bpe.text("abc"))] == ["ab c"]


def test_004_section_3_3_the_strings_of_three_tokens_are_more() -> None:
    """The paper counts at most 3.4·10^5 strings of up to 3 of at least 32,000 tokens."""
    printed = 340_000
    assert printed < 256**3  # the tokens of single bytes alone
    # A string of two tokens of up to n characters can be cut in 2n - 1 places.
    bpe = random_bpe(random.Random(64), "abcdefgh", 30, longest=5)
    longest = max(map(len, bpe.vocabulary))
    assert len(bpe.vocabulary) ** 2 / (2 * longest - 1) <= MergeGraph(bpe.letters, bpe.merges, 2).V
    assert printed < 32_000**2 / (2 * 256 - 1)  # so two tokens of up to 256 bytes have more strings already
