"""The oracle of boundaries against all short texts, encoded by the tokenizer's own program."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable, Iterator

import pytest
from tokenizers import Tokenizer

import tokamata as tk
from tests.support.automata.tokenizations import Bpe, random_bpe
from tests.support.texts import all_texts
from tests.support.tokenizers.boundary_oracle import (
    Counterexample,
    Question,
    always_one_token,
    crossed_left,
    crossed_right,
)
from tests.support.tokenizers.plain_tokenizers import plain_tokenizer
from tests.support.tokenizers.random_tokenizers import random_tokenizer
from tokamata.automata import Acceptor
from tokamata.tokenization import encode_one_at_a_time

_CASES = int(os.environ.get("TOKAMATA_CASES", "10"))
_LONGEST = 4
_ASK: dict[Question, Callable[..., Counterexample | None]] = {
    "left": crossed_left,
    "right": crossed_right,
    "one token": always_one_token,
}


def pieces_of(vocabulary: tk.Vocabulary, tokens: tuple[int, ...]) -> list[bytes]:
    first = vocabulary.start_tokens() or vocabulary.tokens
    return [(vocabulary.tokens if n else first)[token] or b"" for n, token in enumerate(tokens)]


def refuted(text: bytes, pieces: list[bytes], members: list[bytes], question: Question) -> bool:
    """By definition: whether some occurrence in this text has the wanted form."""
    borders, at = {0}, 0
    for piece in pieces:
        at += len(piece)
        borders.add(at)
    assert at == len(text)
    for member in members:
        for start in range(len(text) - len(member) + 1):
            end = start + len(member)
            if text[start:end] != member:
                continue
            inner = any(start < border < end for border in borders)
            left, right = start not in borders, end not in borders
            if {"left": left, "right": right, "one token": left or right or inner}[question]:
                return True
    return False


def written(
    tokenizer: Tokenizer, vocabulary: tk.Vocabulary, alphabet: str
) -> Iterator[tuple[bytes, tuple[int, ...]]]:
    """All short texts that the tokenizer writes with tokens that decode to them, shorter ones first."""
    for text in all_texts(alphabet, _LONGEST):
        tokens = tuple(tokenizer.encode(text, add_special_tokens=False).ids)
        again = tokenizer.decode(list(tokens), skip_special_tokens=False)
        if again == text and all(vocabulary[token] is not None for token in tokens):
            yield text.encode(), tokens


def boundaries(draw: random.Random, alphabet: str) -> Iterator[list[bytes]]:
    """Texts of one to three characters, parts of characters, and sets of two texts."""
    for size in (1, 1, 2, 2, 3):
        yield ["".join(draw.choices(alphabet, k=size)).encode()]
    yield ["".join(draw.choices(alphabet, k=size)).encode() for size in (1, 3)]
    wide = [c.encode() for c in alphabet if ord(c) > 127]
    if wide:
        yield [draw.choice(wide)[1:] + alphabet[0].encode()]


def test_the_example_of_its_header() -> None:
    vocabulary = tk.Vocabulary.load(plain_tokenizer(Bpe.of("xab", "x a")), stop=())
    assert crossed_left(vocabulary, "ab") == (b"xab", (3, 2))
    assert crossed_right(vocabulary, "ab") is None
    assert always_one_token(vocabulary, "a") == (b"xa", (3,))
    with pytest.raises(ValueError, match="the empty text has no borders"):
        crossed_left(vocabulary, Acceptor.from_strings(["", "a"]))


@pytest.mark.parametrize("seed", range(5000, 5000 + _CASES))
def test_all_short_texts(seed: int) -> None:
    tokenizer, alphabet = random_tokenizer(seed)
    vocabulary = tk.Vocabulary.load(tokenizer, stop=())
    within = tk.regex(f"[{''.join(map(re.escape, alphabet))}]{{0,{_LONGEST}}}")
    texts = sorted(written(tokenizer, vocabulary, alphabet), key=lambda one: len(one[0]))
    spelled = [(text, pieces_of(vocabulary, tokens)) for text, tokens in texts]
    draw = random.Random(seed)
    for members in boundaries(draw, alphabet):
        boundary = members[0] if len(members) == 1 else Acceptor.from_strings(members)
        for question, ask in _ASK.items():
            found = ask(vocabulary, boundary, within)
            shortest = next((t for t, p in spelled if refuted(t, p, members, question)), None)
            assert (found is None) == (shortest is None), (seed, members, question, found, shortest)
            if found is None:
                continue
            assert len(found.text) == len(shortest or b""), (seed, members, question)
            assert found.tokens == tuple(tokenizer.encode(found.text.decode(), add_special_tokens=False).ids)
            assert refuted(found.text, pieces_of(vocabulary, found.tokens), members, question)


def test_merge_lists_in_all_texts() -> None:
    """With no bound on the texts: nothing short refutes a proof, and each witness is what merging yields."""
    draw = random.Random(31)
    proofs = witnesses = 0
    for _ in range(15):
        bpe = random_bpe(draw, "abc", 8, shuffled=0.5)
        if len(set(bpe.merges)) < len(bpe.merges):
            continue  # of a merge that is listed twice, the file and the algorithm count another position
        vocabulary = tk.Vocabulary.load(plain_tokenizer(bpe), stop=())
        spelled = [
            (text.encode(), [bpe.vocabulary[t] for t in encode_one_at_a_time(bpe.merges, bpe.text(text))])
            for text in all_texts("abc", 6, shortest=1)
        ]
        members = ["".join(draw.choices("abc", k=draw.randint(1, 3))).encode()]
        for question, ask in _ASK.items():
            found = ask(vocabulary, members[0])
            shortest = next((t for t, pieces in spelled if refuted(t, pieces, members, question)), None)
            if found is None:
                assert shortest is None, (bpe, members, question)
                proofs += 1
                continue
            assert shortest is None or len(found.text) == len(shortest), (bpe, members, question)
            assert list(found.tokens) == encode_one_at_a_time(bpe.merges, bpe.text(found.text.decode()))
            assert refuted(found.text, pieces_of(vocabulary, found.tokens), members, question)
            witnesses += 1
    assert proofs > 6, proofs
    assert witnesses > 8, witnesses
