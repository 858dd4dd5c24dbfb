"""Verdicts about boundaries, against all short texts as the tokenizer's own program writes them."""

from __future__ import annotations

import base64
import itertools
import json
import os
import random
import string
from pathlib import Path
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


def test_control_tokens_that_no_text_has(tmp_path: Path) -> None:
    """A tekken file has some.  They stand in no text, so both readings are one."""
    tokens = [*(bytes([byte]) for byte in range(256)), b'="', b'":', b"``"]
    config = {
        "pattern": r"\p{L}+|[^\p{L}\s]+|\s+",
        "num_vocab_tokens": len(tokens),
        "default_vocab_size": len(tokens) + 3,
        "default_num_special_tokens": 3,
        "version": "v3",
    }
    entries = [
        {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
        for rank, token in enumerate(tokens)
    ]
    special = [
        {"rank": rank, "token_str": name, "is_control": True}
        for rank, name in enumerate(("<unk>", "<s>", "</s>"))
    ]
    path = tmp_path / "tekken.json"
    path.write_text(json.dumps({"config": config, "vocab": entries, "special_tokens": special}))
    for boundary in ('":', "=", "``", "a", "<s>"):
        read, text = (guard.boundary(path, boundary, control_tokens=reading) for reading in ("read", "text"))
        assert read == text, boundary
        assert "not settled" not in (read.crossed_left.outcome, read.crossed_right.outcome)
    assert guard.boundary(path, '":').crossed_left.witness.text == b'=":'  # type: ignore[union-attr]
