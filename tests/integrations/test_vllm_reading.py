"""vLLM's tokenizer and our table of tokens, compared when the engine starts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import tokamata as tk
from tokamata.integrations.vllm.backend import TokamataBackend
from tokamata.integrations.vllm.reading import check_reading


class Host:
    """A tokenizer whose first tokens are the 256 bytes, and what its ``decode`` makes of a text."""

    def __init__(self, vocabulary: tk.Vocabulary, decode: Callable[[str], str], shift: int = 0) -> None:
        self._vocabulary = vocabulary
        self._decode = decode
        self._shift = shift

    def encode(self, text: str, add_special_tokens: bool) -> list[int]:
        assert not add_special_tokens
        return [byte + self._shift for byte in text.encode()]

    def decode(self, tokens: Sequence[int]) -> str:
        return self._decode(b"".join(self._vocabulary[token] or b"" for token in tokens).decode())


def test_the_same_reading(byte_vocabulary: tk.Vocabulary) -> None:
    for decode in (str, lambda text: text.lstrip(" ").replace(" .", ".")):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check_reading(byte_vocabulary, Host(byte_vocabulary, decode))


def test_a_text_that_is_read_differently(byte_vocabulary: tk.Vocabulary) -> None:
    with pytest.raises(tk.VocabularyError, match=r"the host reads tokens differently: .*'\{\"NAME") as caught:
        check_reading(byte_vocabulary, Host(byte_vocabulary, str.upper))
    assert "tokenizer of the model" in str(caught.value)


def test_tokens_that_are_read_differently(byte_vocabulary: tk.Vocabulary) -> None:
    """A warning: no token of JSON is among them."""
    changed = str.maketrans("^~;<", "abcd")
    with pytest.warns(
        tk.VocabularyWarning, match=r"reads 4 of \d+ tokens differently: 59 is 'c' .* and 1 more"
    ):
        check_reading(byte_vocabulary, Host(byte_vocabulary, lambda text: text.translate(changed)))


def test_tokens_without_a_logit(byte_vocabulary: tk.Vocabulary) -> None:
    with pytest.raises(tk.VocabularyError, match="have no logit"):
        check_reading(byte_vocabulary, Host(byte_vocabulary, str, shift=byte_vocabulary.width))


def test_the_engine_does_not_start(tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(tokenizer), "decode", lambda *_, **__: "something else")
    with pytest.raises(tk.VocabularyError, match="'something else' to the host"):
        TokamataBackend(None, tokenizer=tokenizer, vocab_size=len(tokenizer))
