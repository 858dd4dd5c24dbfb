"""Verdicts about boundaries, against all short texts as the tokenizer's own program writes them."""

from __future__ import annotations

import itertools
import json
import os
import random
import string
from typing import Any

import pytest
from tokenizers import Tokenizer

import tokamata as tk
from tests.support.automata.tokenizations import random_bpe
from tests.support.constraints import up_to
from tests.support.tokenizers.boundary_oracle import crossed_left, crossed_right
from tests.support.tokenizers.plain_tokenizers import plain_tokenizer
from tests.support.tokenizers.random_tokenizers import random_tokenizer
from tests.support.tokenizers.small_tokenizers import FUSE, added, document
from tokamata import guard
from tokamata.guard.token_edges import TokenEdges

CASES = int(os.environ.get("TOKAMATA_CASES", "8"))
LONGEST = 4


def edges_of(own: Tokenizer) -> TokenEdges | None:
    try:
        return TokenEdges(own, "read")
    except (tk.UnsupportedTokenizerError, tk.VocabularyError):
        return None


def written(own: Tokenizer, edges: TokenEdges, alphabet: str) -> list[tuple[bytes, tuple[bytes, ...]]]:
    """All short texts that the tokenizer reproduces, with the bytes of their tokens; the shortest first."""
    found = []
    for size in range(1, LONGEST + 1):
        for characters in itertools.product(alphabet, repeat=size):
            text = "".join(characters)
            ids = own.encode(text, add_special_tokens=False).ids
            pieces = edges.pieces_of(ids)
            if b"".join(pieces) == text.encode():
                found.append((text.encode(), pieces))
    return sorted(found, key=lambda each: len(each[0]))


def violations(text: bytes, pieces: tuple[bytes, ...], b: bytes) -> set[str]:
    """By definition."""
    borders = set(itertools.accumulate(map(len, pieces), initial=0))
    found = set()
    for start in range(len(text) - len(b) + 1):
        end = start + len(b)
        if text[start:end] == b:
            found |= {"left"} if start not in borders else set()
            found |= {"right"} if end not in borders else set()
            found |= {"parted"} if any(start < border < end for border in borders) else set()
    return found


@pytest.mark.parametrize("seed", range(CASES))
def test_all_short_texts(seed: int) -> None:
    own, alphabet = random_tokenizer(seed)
    edges = edges_of(own)
    if edges is None:
        return
    texts = written(own, edges, alphabet)
    draw = random.Random(seed)
    bounded = up_to(alphabet, LONGEST)
    for size in (1, 2, 2, 3):
        b = "".join(draw.choices(alphabet, k=size))
        anywhere, within = guard.boundary(own, b), guard.boundary(own, b, within=bounded)
        for name, attribute in (("left", "crossed_left"), ("right", "crossed_right")):
            shortest = next(
                (text for text, pieces in texts if name in violations(text, pieces, b.encode())), None
            )
            free: guard.Verdict = getattr(anywhere, attribute)
            held: guard.Verdict = getattr(within, attribute)
            assert free.outcome != "not settled"
            assert held.outcome != "not settled"
            assert (held.outcome == "witness") == (shortest is not None)
            if held.witness and shortest:
                assert len(held.witness.text) == len(shortest)
            if free.witness is None:
                assert shortest is None
            else:
                assert name in violations(free.witness.text, free.witness.pieces, b.encode())
                assert own.encode(free.witness.text.decode(), add_special_tokens=False).ids == list(
                    free.witness.tokens
                )
                assert shortest is None or len(free.witness.text) <= len(shortest)
        any_wrong = any(violations(text, pieces, b.encode()) for text, pieces in texts)
        assert (within.one_token.outcome == "witness") == any_wrong


@pytest.mark.parametrize("seed", range(4))
def test_an_independent_judge(seed: int) -> None:
    """The explicit automaton of a small tokenizer, searched in plain Python."""
    draw = random.Random(seed)
    alphabet = "abc"
    own = plain_tokenizer(random_bpe(draw, alphabet, draw.randrange(2, 6)))
    vocabulary = tk.Vocabulary.load(own, stop=())
    for size in (1, 2, 3):
        b = "".join(draw.choices(alphabet, k=size))
        found = guard.boundary(own, b)
        for verdict, judge in ((found.crossed_left, crossed_left), (found.crossed_right, crossed_right)):
            expected = judge(vocabulary, b)
            assert (verdict.witness is None) == (expected is None)
            if verdict.witness and expected:
                assert len(verdict.witness.text) == len(expected.text)


def test_a_control_token_is_whole_and_comes_from_text(qwen: Tokenizer) -> None:
    found = guard.boundary(qwen, "<|im_end|>")
    assert all([found.crossed_left, found.crossed_right, found.one_token])
    assert found.from_text.outcome == "witness"
    assert found.tokens == (151645,)


def test_a_control_token_whose_name_is_text() -> None:
    """Printable ASCII, and a token ``}<`` that crosses the border of the name."""
    vocab = {character: token for token, character in enumerate([*string.printable[:95], "}<"])}
    control = (added(len(vocab), "<|im_end|>"),)
    own = Tokenizer.from_str(json.dumps(document(vocab, FUSE, control, merges=[["}", "<"]])))
    read = guard.boundary(own, "<|im_end|>")
    assert all([read.crossed_left, read.crossed_right, read.one_token])
    assert read.from_text.outcome == "witness"
    apart = guard.boundary(own, "<|im_end|>", control_tokens="text")
    assert apart.from_text.outcome == "proved"
    assert apart.crossed_left.witness is not None
    assert apart.crossed_left.witness.text == b"}<|im_end|>"
    assert apart.crossed_left.witness.replayed
    assert apart.crossed_right.outcome == "proved"


def test_a_set_of_texts(qwen: Tokenizer) -> None:
    found = guard.boundary(qwen, tk.regex("</?(?:think|tool)>"))
    assert found.crossed_left.witness is not None
    assert found.crossed_left.witness.replayed


@pytest.mark.parametrize("b", ["", tk.regex("a*")])
def test_the_empty_text_is_no_boundary(b: Any) -> None:
    own, _ = random_tokenizer(0)
    with pytest.raises(tk.ArgumentError, match="without the empty text"):
        guard.boundary(own, b)


def test_a_limit_is_no_proof() -> None:
    own, alphabet = random_tokenizer(0)
    found = guard.boundary(own, alphabet[:2], limits=tk.Limits(states=40))
    assert {verdict.outcome for verdict in found.verdicts} & {"not settled"}
    assert "proved" not in {found.crossed_left.outcome} or found.crossed_left.reason
