"""The two-neighbour theorem against all texts: by the oracle's automaton, and by encoding short ones."""

from __future__ import annotations

import os
import random
from collections import Counter

import pytest

import tokamata as tk
from tests.support.automata.tokenizations import Bpe, random_bpe
from tests.support.texts import all_texts
from tests.support.tokenizers.boundary_oracle import always_one_token, crossed_left, crossed_right
from tests.support.tokenizers.plain_tokenizers import plain_tokenizer
from tokamata.errors import VocabularyError
from tokamata.tokenization import Crossing, TwoNeighbours, encode_one_at_a_time, first_improper

_CASES = int(os.environ.get("TOKAMATA_CASES", "10"))


def lists(draw: random.Random, count: int) -> list[Bpe]:
    """Merge lists, half of them in any order, none with a pair twice (files count its last position)."""
    made = [
        random_bpe(draw, draw.choice(["ab", "abc", "abcd", "abcd"]), draw.choice([4, 6, 12]), shuffled=0.8)
        for _ in range(count)
    ]
    return [bpe for bpe in made if len(set(bpe.merges)) == len(bpe.merges)]


def with_entries(draw: random.Random, bpe: Bpe) -> Bpe:
    """The same with up to two entries that no merge makes."""
    texts = [b"".join(draw.choices(bpe.vocabulary, k=2)) for _ in range(draw.randrange(3))]
    return Bpe(tuple(dict.fromkeys((*bpe.vocabulary, *texts))), bpe.merges)


def entries_of(bpe: Bpe) -> dict[int, tuple[int, ...]]:
    return {token: tuple(bpe.text(text.decode())) for token, text in enumerate(bpe.vocabulary)}


def crosses(bpe: Bpe, found: Crossing, boundary: str, border: str) -> bool:
    """By definition, from the tokens."""
    assert bpe.show(found.characters).replace(" ", "")[found.start :].startswith(boundary)
    ends = [0]
    for token in found.tokens:
        ends.append(ends[-1] + len(bpe.vocabulary[token]))
    start, end = found.start, found.start + len(boundary)
    return {
        "left": start not in ends,
        "right": end not in ends,
        "either": not {start, end} <= set(ends),
        "several": not {start, end} <= set(ends) or any(start < one < end for one in ends),
    }[border]


def test_against_the_oracle() -> None:
    draw = random.Random(41)
    seen: Counter[tuple[bool, ...]] = Counter()
    for bpe in lists(draw, 3 * _CASES):
        ignore_merges = draw.random() < 0.6
        if ignore_merges:
            bpe = with_entries(draw, bpe)
        vocabulary = tk.Vocabulary.load(plain_tokenizer(bpe, ignore_merges), stop=())
        two = TwoNeighbours(bpe.letters, bpe.merges, entries_of(bpe) if ignore_merges else None)
        for _ in range(6):
            letters = [bpe.vocabulary[letter].decode() for letter in bpe.letters]
            boundary = "".join(draw.choices(letters, k=draw.randint(1, 4)))
            inside = bpe.text(boundary)
            left, right = crossed_left(vocabulary, boundary), crossed_right(vocabulary, boundary)
            one = always_one_token(vocabulary, boundary)
            found = {
                "left": (left, two.crossed_at(inside, "left")),
                "right": (right, two.crossed_at(inside, "right")),
                "either": (left or right, two.crossed(inside)),
                "several": (one, two.several(inside)),
            }
            for border, (exact, ours) in found.items():
                assert (exact is None) == (ours is None), (bpe, ignore_merges, boundary, border, exact, ours)
                if ours is not None:
                    assert two.encode(ours.characters) == list(ours.tokens), (bpe, ours)
                    assert crosses(bpe, ours, boundary, border), (bpe, boundary, border, ours)
            proper = first_improper(bpe.merges) is None
            seen[proper, ignore_merges, left is None and right is None] += 1
    assert len(seen) == 8, seen  # proper or not, ignore_merges or not, crossed or not


def test_against_all_short_texts() -> None:
    """Without any automaton: what the theorem proves, no text of six characters refutes."""
    draw = random.Random(42)
    proofs = 0
    for bpe in lists(draw, 3 * _CASES):
        two = TwoNeighbours(bpe.letters, bpe.merges)
        letters = "".join(bpe.vocabulary[letter].decode() for letter in bpe.letters)
        texts = all_texts(letters, 6 if len(letters) < 4 else 5, shortest=1)
        encoded = {text: tuple(encode_one_at_a_time(bpe.merges, bpe.text(text))) for text in texts}
        for boundary in ("".join(draw.choices(letters, k=draw.randint(1, 3))) for _ in range(3)):
            if two.crossed(bpe.text(boundary)) is not None:
                continue
            proofs += 1
            own = encoded[boundary]
            for text, tokens in encoded.items():
                start = text.find(boundary)
                while start >= 0:
                    found = Crossing(tuple(bpe.text(text)), tokens, start)
                    assert not crosses(bpe, found, boundary, "either"), (bpe, boundary, text)
                    before = [
                        len(b"".join(bpe.vocabulary[t] for t in tokens[:i])) for i in range(len(tokens))
                    ]
                    first = before.index(start)
                    assert tokens[first : first + len(own)] == own  # then its tokens are its own
                    start = text.find(boundary, start + 1)
    assert proofs > _CASES


def test_one_border_alone_can_depend_on_a_distant_token() -> None:
    """Two more characters at the right decide whether the left border of ``bc`` is crossed."""
    bpe = Bpe.of("abcde", "c d", "cd e", "b cd", "b c", "a b")
    two = TwoNeighbours(bpe.letters, bpe.merges)
    assert [bpe.show(encode_one_at_a_time(bpe.merges, bpe.text(t))) for t in ("abc", "abcd", "abcde")] == [
        "a bc",
        "a bcd",
        "ab cde",
    ]
    found = two.crossed_at(bpe.text("bc"), "left")
    assert found is not None
    assert bpe.show(found.tokens) == "ab cde"


def test_ignore_merges_adds_entries() -> None:
    """No merge crosses ``b``, but the pre-token ``xby`` is an entry."""
    plain = Bpe.of("bxy")
    bpe = Bpe((*plain.vocabulary, b"xby"), ())
    inside = bpe.text("b")
    assert TwoNeighbours(bpe.letters, bpe.merges).crossed(inside) is None
    found = TwoNeighbours(bpe.letters, bpe.merges, entries_of(bpe)).crossed(inside)
    assert found == Crossing(tuple(bpe.text("xby")), (3,), 1)


def test_a_boundary_that_is_an_entry_is_one_token_only_alone() -> None:
    plain = Bpe.of("ab")
    bpe = Bpe((*plain.vocabulary, b"ab"), ())
    two = TwoNeighbours(bpe.letters, bpe.merges, entries_of(bpe))
    assert two.encode(bpe.text("ab")) == [2]
    assert two.crossed(bpe.text("ab")) is None
    found = two.several(bpe.text("ab"))
    assert found is not None
    assert bpe.show(found.tokens) == "a a b"


@pytest.mark.parametrize("boundary", [[], [1], [0, 2]])
def test_a_boundary_that_is_no_text_is_refused(boundary: list[int]) -> None:
    bpe = Bpe.of("a", "a a")
    two = TwoNeighbours(bpe.letters, bpe.merges)
    for ask in (two.crossed, two.several, lambda b: two.crossed_at(b, "left")):
        with pytest.raises(VocabularyError, match="is not a text of one or more characters"):
            ask(boundary)
