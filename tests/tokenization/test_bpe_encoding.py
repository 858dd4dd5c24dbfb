"""Encoding by priority and in order, and training, against Hugging Face's tokenizers and each other."""

from __future__ import annotations

import random

import pytest

from tests.support.automata.tokenizations import (
    Bpe,
    hugging_face_bpe,
    hugging_face_encode,
    random_bpe,
    small_lists,
)
from tests.support.texts import all_texts
from tokamata.errors import VocabularyError
from tokamata.tokenization import (
    Merge,
    apply,
    encode_by_priority,
    encode_in_order,
    encode_one_at_a_time,
    first_improper,
    merge_list,
    rank_merges,
    spellings,
    train,
)


def test_a_merge_takes_the_leftmost() -> None:
    bpe = Bpe.of("ab", "a a")
    for count, joined in enumerate(["", "a", "aa", "aa a", "aa aa", "aa aa a"]):
        assert bpe.show(apply(bpe.merges[0], bpe.text("a" * count))) == joined
    assert bpe.show(apply(bpe.merges[0], bpe.text("aabaaab"))) == "aa b aa a b"


def test_the_three_ways_agree_on_proper_lists() -> None:
    """All lists of up to three merges of short tokens, and all texts of up to six letters."""
    draw = random.Random(21)
    proper = improper_but_same = 0
    for pairs in small_lists(3):
        bpe = Bpe.of("ab", *pairs)
        is_proper = first_improper(bpe.merges) is None
        if len(pairs) == 3 and draw.random() > (0.15 if is_proper else 0.03):
            continue
        same = True
        for text in all_texts("ab", 6, shortest=1):
            ways = {
                tuple(encode(bpe.merges, bpe.text(text)))
                for encode in (encode_by_priority, encode_one_at_a_time, encode_in_order)
            }
            same = same and len(ways) == 1
        assert same or not is_proper, pairs
        proper += is_proper
        improper_but_same += same and not is_proper
    assert proper > 400
    assert improper_but_same > 0  # being proper suffices, and is not necessary


def test_against_hugging_face() -> None:
    """Their way is one pair at a time; of a merge listed twice the last counts there, so none is."""
    draw = random.Random(22)
    different = 0
    for _ in range(400):
        letters = draw.choice(["ab", "abc"])
        bpe = random_bpe(draw, letters, 10, longest=8, shuffled=0.5)
        bpe = Bpe(bpe.vocabulary, tuple(dict.fromkeys(bpe.merges)))
        judge = hugging_face_bpe(bpe)
        sample = ["".join(draw.choices(letters, k=draw.randint(1, 14))) for _ in range(50)]
        for text, expected in zip(sample, hugging_face_encode(judge, sample), strict=True):
            assert encode_one_at_a_time(bpe.merges, bpe.text(text)) == expected
            if first_improper(bpe.merges) is None:
                assert encode_in_order(bpe.merges, bpe.text(text)) == expected
            else:
                different += encode_in_order(bpe.merges, bpe.text(text)) != expected
    assert different > 100  # where lists are not proper, order is another tokenizer


def test_training() -> None:
    vocabulary, merges = train([b"ababc", b"bc"], 3)
    assert vocabulary == [b"a", b"b", b"c", b"ab", b"abab", b"ababc"]
    assert merges == [Merge(0, 1, 3), Merge(3, 3, 4), Merge(4, 2, 5)]
    assert encode_in_order(merges, [0, 1, 0, 1, 2]) == [5]


def test_training_ends_when_nothing_is_left() -> None:
    assert train([b"ab"], 5) == ([b"a", b"b", b"ab"], [Merge(0, 1, 2)])
    assert train([], 5) == ([], [])
    with pytest.raises(ValueError, match="at least 0, not -1"):
        train([b"ab"], -1)


def test_what_training_counts() -> None:
    """In aaa the pair (a, a) is counted twice, and joined once."""
    assert train([b"aaa", b"bc"], 1)[1] == [Merge(0, 0, 3)]
    vocabulary, merges = train([b"aaa"], 2)
    assert vocabulary == [b"a", b"aa", b"aaa"]
    assert merges == [Merge(0, 0, 1), Merge(1, 0, 2)]


def test_trained_tokenizers_join_what_they_have_seen() -> None:
    draw = random.Random(23)
    words = [bytes(draw.choices(b"abcd", k=draw.randint(2, 7))) for _ in range(60)]
    vocabulary, merges = train(words, 40)
    assert len(merges) == 40
    characters = range(4)
    spelled = spellings(merges, characters)
    for merge in merges:
        assert spelled[merge.token] == spelled[merge.left] + spelled[merge.right]
    for token, text in spelled.items():
        assert bytes(vocabulary[character][0] for character in text) == vocabulary[token]


def test_merges_of_ranks() -> None:
    ranks = {b"a": 0, b"b": 1, b"c": 2, b"ab": 3, b"bc": 4, b"abc": 5, b"cab": 6, b"ccc": 7}
    assert rank_merges(ranks) == [Merge(0, 1, 3), Merge(1, 2, 4), Merge(3, 2, 5), Merge(2, 3, 6)]
    draw = random.Random(24)
    compared = 0
    for _ in range(100):
        bpe = random_bpe(draw, "abc", 12)
        made = [m for n, m in enumerate(bpe.merges) if m.token not in {x.token for x in bpe.merges[:n]}]
        reached = [
            m for m in made if encode_in_order(made, bpe.text(bpe.vocabulary[m.token].decode())) == [m.token]
        ]
        if reached != made:
            continue  # a merge that never applies, and one after it that needs its token
        ranks = {text: token for token, text in enumerate(bpe.vocabulary[:3])}
        ranks |= {bpe.vocabulary[m.token]: 3 + n for n, m in enumerate(made)}
        renumbered = {m.token: 3 + n for n, m in enumerate(made)} | {0: 0, 1: 1, 2: 2}
        assert rank_merges(ranks) == [Merge(*(renumbered[token] for token in merge)) for merge in made]
        compared += 1
    assert compared > 20


def test_bad_merges() -> None:
    with pytest.raises(VocabularyError, match="merge 1 joins b'b' and b'a', but b'ba' is not a token"):
        merge_list([(b"a", b"b"), (b"b", b"a")], [b"a", b"b", b"ab"])
    with pytest.raises(VocabularyError, match="token 2 is made of the characters"):
        spellings([Merge(0, 1, 2), Merge(1, 0, 2)], [0, 1])
    assert merge_list([(b"a", b"b")], [None, b"", b"b", b"a", b"ab", b"ab"]) == [Merge(3, 2, 4)]
    assert merge_list([(b"a", b"a")], {7: b"aa", 5: b"a"}) == [Merge(5, 5, 7)]


def test_what_is_proper() -> None:
    assert first_improper(Bpe.of("abc", "a b", "ab c", "b c", "a bc").merges) is None
    assert first_improper(Bpe.of("abc", "ab c", "a b").merges) == 0
    # abc is made again by the last merge, so the one before it is too early.
    assert first_improper(Bpe.of("abcd", "a b", "b c", "ab c", "abc d", "a bc").merges) == 3
    assert first_improper([Merge(0, 1, 0)]) == 0
    assert first_improper([]) is None
