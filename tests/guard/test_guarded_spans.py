"""Guarded spans: protected texts in single bytes, in prompts and in texts that are written."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import tokamata as tk
from tests.support.masks import bits
from tests.support.models.small_models import small_tokenizer
from tests.support.tokenizers.canonical_tokenizers import SOURCES
from tests.support.vocabularies import BYTES
from tokamata.guard.guarded_spans import GuardedMatcher, GuardedSpans
from tokamata.tokenization.running import RunningTokenizer

LONGER = [
    b"::",
    b"::=",
    b":=",
    b"b:",
    b":b",
    b"=b",
    b"a::=b",
    b"ab",
    b"aa",
    b"aba",
    b"ba",
    b'b"',
    b'"a',
    "é:".encode(),
]
VOCABULARY = tk.Vocabulary.load([*BYTES, *LONGER, None], stop=[256 + len(LONGER)])


def crossed(tokens: list[bytes], protected: list[bytes]) -> bool:
    """By brute force: whether an occurrence of a protected text overlaps a token of several bytes."""
    text, edges, place = b"".join(tokens), [], 0
    for token in tokens:
        edges.append((place, place + len(token)))
        place += len(token)
    for each in protected:
        for begin in range(len(text) - len(each) + 1):
            if text[begin : begin + len(each)] == each and any(
                stop - start > 1 and start < begin + len(each) and stop > begin for start, stop in edges
            ):
                return True
    return False


PROTECTED = [["::="], ['"'], ["aba"], ["aa", "ab"], ["::=", ":"], ["é:"], ["a", "bab"]]


@pytest.mark.parametrize("protected", PROTECTED, ids=str)
def test_texts_that_are_written(protected: list[str]) -> None:
    """No occurrence is crossed, whatever follows; and each token that no occurrence could use is allowed."""
    spans = GuardedSpans(VOCABULARY, protected)
    data = [each.encode() for each in protected]
    constraint = tk.regex('[ab:="é]{0,12}')
    draw = random.Random(str(protected))
    compiled = constraint.compile(VOCABULARY)
    met = refused = 0
    for _ in range(120):
        matcher = GuardedMatcher(compiled.matcher(), spans)
        tokens: list[bytes] = []
        while draw.random() < 0.93:
            mask = matcher.mask
            allowed = sorted(bits(mask) - set(VOCABULARY.stop))
            full = bits(compiled.matcher().mask) if not tokens else set()
            assert set(allowed) <= full or tokens
            if not allowed:
                assert matcher.is_accepting
                break
            # Single bytes that begin a protected text are drawn often.
            starts = [token for token in allowed if token < 256 and bytes([token]) in b"".join(data)]
            token = draw.choice(starts if starts and draw.random() < 0.5 else allowed)
            outside = [other for other in range(256, 256 + len(LONGER)) if other not in allowed]
            for other in outside:
                assert not matcher.advance(other)
            refused += len(outside)
            assert matcher.advance(token)
            value = VOCABULARY[token]
            assert value is not None
            tokens.append(value)
        assert not crossed(tokens, data)
        assert all(not crossed([*tokens, *map(bytes, zip(each))], data) for each in data)
        met += any(each in b"".join(tokens) for each in data)
    assert met > 5
    assert refused > 100


@pytest.mark.parametrize("protected", PROTECTED, ids=str)
def test_each_refusal_is_needed(protected: list[str]) -> None:
    """After each short text: a token is refused only if bytes that follow would make it crossed."""
    spans = GuardedSpans(VOCABULARY, protected)
    data = [each.encode() for each in protected]
    longest = max(map(len, data))
    for text in ("", "a", "b", ":", "::", "ab", "a:", "b::", '"', "é", "aa", "ba"):
        written = [bytes([byte]) for byte in text.encode()]
        allowed = bits(spans.allowed(text.encode()))
        assert {*range(256), *VOCABULARY.stop} <= allowed
        for token, value in enumerate(LONGER, start=256):
            rests = {b""} | {each[begin:] for each in data for begin in range(len(each))}
            would = any(
                crossed([*written, value, *(bytes([byte]) for byte in rest[:longest])], data)
                for rest in rests
            )
            assert (token not in allowed) == would, (text, value)


def test_prompts() -> None:
    tokenizer = small_tokenizer()
    vocabulary = tk.Vocabulary.load(tokenizer)
    encode = RunningTokenizer(tokenizer).encode
    spans = GuardedSpans(vocabulary, ["abc", "bcd", "😀"])
    for text in ("one abc two", "abcd😀abc", "abc", "", "one two", "xabcdx"):
        ids = spans.encode(text, encode)
        assert tokenizer.decode(ids) == text
        pieces = [vocabulary[token] or b"" for token in ids]
        assert not crossed(pieces, [b"abc", b"bcd", "😀".encode()])
    assert spans.encode("one two", encode) == encode("one two")
    ids = spans.single_bytes("😀")
    assert len(ids) == 4
    assert tokenizer.decode(ids) == "😀"
    assert len(encode("😀")) < 4


@pytest.mark.parametrize("name", ["gpt2", "mistral-sp"])
def test_real_vocabularies(name: str) -> None:
    """The program decodes the single bytes to the text, in the midst of others."""
    judged = next(source for source in SOURCES if source.name == name).judged()
    spans = GuardedSpans(judged.vocabulary, ["<|im_end|>", "::=", "é"])
    for text in ("<|im_end|>", "é 漢字\n", "::="):
        ids = spans.single_bytes(text)
        assert len(ids) == len(text.encode())
        before, after = judged.encode("x"), judged.encode("y") if name == "gpt2" else []
        assert judged.decode([*before, *ids, *after]) == "x" + text + ("y" if after else "")
    allowed = spans.allowed(b"a <|im_e")
    flags = np.unpackbits(allowed.view(np.uint8), bitorder="little")
    several = [token for token, value in enumerate(judged.vocabulary.tokens) if value and len(value) > 1]
    refused = {judged.vocabulary[token] for token in several if not flags[token]}
    if name == "gpt2":
        assert {b"nd", b" <", b"n", b"nd|"} & refused == {b"nd", b" <"}
    assert len(refused) < len(several) / 20


def test_a_tokenizer_that_puts_spaces_before_texts() -> None:
    """Parts cannot be encoded apart there, and that is said."""
    judged = next(source for source in SOURCES if source.name == "mistral-sp").judged()
    spans = GuardedSpans(judged.vocabulary, ["::="])
    with pytest.raises(tk.UnspellableError, match="cannot be encoded apart"):
        spans.encode("a::=b", judged.encode)


def test_refusals() -> None:
    wrong: list[Any] = [[], [""], "::=", ["a", ""], [b"a"], ["x" * 5000], None]
    for protected in wrong:
        with pytest.raises(tk.ArgumentError):
            GuardedSpans(VOCABULARY, protected)
    with pytest.raises(tk.UnspellableError, match="no token for the byte"):
        GuardedSpans(tk.Vocabulary.load([b"a", b"ab", None], stop=2), ["a"])
    with pytest.raises(tk.UnspellableError, match="no token for the byte"):
        GuardedSpans(tk.Vocabulary.load([b"a", b"b", b"ab", None], stop=3), ["c"])
    with pytest.raises(tk.UnspellableError, match="no token for the byte"):
        GuardedSpans(tk.Vocabulary.load([b"a", None], stop=1), ["a"]).single_bytes("b")
    spans = GuardedSpans(VOCABULARY, ["a"])
    compiled = tk.regex("a*").compile(VOCABULARY)
    begun = compiled.matcher()
    begun.advance(ord("a"))
    other = tk.regex("a").compile(tk.Vocabulary.load([*BYTES, None], stop=[256])).matcher()
    for matcher in (begun, other):
        with pytest.raises(tk.ArgumentError):
            GuardedMatcher(matcher, spans)
    with pytest.raises(tk.ArgumentError, match="whole tokens"):
        GuardedMatcher(tk.text_token().compile(VOCABULARY).matcher(), spans)
    tokenizer = small_tokenizer()
    vocabulary = tk.Vocabulary.load(tokenizer)
    canonical = tk.regex("a").compile(vocabulary, tokenization="canonical").matcher()
    with pytest.raises(tk.ArgumentError, match="canonical"):
        GuardedMatcher(canonical, GuardedSpans(vocabulary, ["a"]))


def test_control_tokens_cut_a_text() -> None:
    vocabulary = tk.Vocabulary.load(
        [*BYTES, b":=", b"::=", None, None], stop="<end>", control_tokens={"<cut>": 258, "<end>": 259}
    )
    constraint = tk.regex(":") + tk.control_token("<cut>") + tk.regex(":=")
    spans = GuardedSpans(vocabulary, ["::="])
    matcher = GuardedMatcher(constraint.compile(vocabulary).matcher(), spans)
    assert all(map(matcher.advance, (ord(":"), 258)))
    assert matcher.mask.any()
    assert matcher.advance(256)
    assert matcher.is_accepting
