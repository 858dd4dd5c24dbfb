"""Models that say what a test wants, tokenizers with the merges that it wants, and an oracle of budgets."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers


class Counting:
    """A model that counts how often it is asked and what it reads, and may hide its cache."""

    def __init__(self, model: Any, cache: bool = True) -> None:
        self.model, self.calls, self.cache = model, 0, cache
        self.read: list[int] = []
        self.config = model.config
        self.generation_config = getattr(model, "generation_config", None)

    def __call__(self, **inputs: Any) -> Any:
        self.calls += 1
        self.read += inputs["input_ids"][0].tolist()
        output = self.model(**inputs)
        return output if self.cache else SimpleNamespace(logits=output.logits)


class Constant:
    """A model that always gives the same logits."""

    def __init__(self, logits: torch.Tensor) -> None:
        self.logits = logits
        self.config = SimpleNamespace(vocab_size=logits.shape[0])

    def __call__(self, **inputs: Any) -> Any:
        return SimpleNamespace(logits=self.logits.expand(*inputs["input_ids"].shape, -1))


class Random:
    """A model with random logits, other ones at each step."""

    def __init__(self, width: int, seed: int) -> None:
        self.width, self.random = width, torch.Generator().manual_seed(seed)
        self.config = SimpleNamespace(vocab_size=width)

    def __call__(self, **inputs: Any) -> Any:
        logits = 5 * torch.randn(1, 1, self.width, generator=self.random)
        return SimpleNamespace(logits=logits.expand(1, inputs["input_ids"].shape[1], -1))


def preferring(width: int, *tokens: int) -> Constant:
    """A model that takes the first of ``tokens`` that it may, also where tokens are sampled."""
    logits = torch.zeros(width)
    for rank, token in enumerate(tokens):
        logits[token] = 1000.0 * (len(tokens) - rank)
    return Constant(logits)


def byte_level(merges: Sequence[str]) -> Any:
    """A transformers tokenizer: a byte-level BPE of 256 bytes and ``merges``, in which id 0 is <eos>."""
    pairs = [tuple(merge.split()) for merge in merges]
    pieces = dict.fromkeys(["<eos>", *sorted(pre_tokenizers.ByteLevel.alphabet()), *map("".join, pairs)])
    vocab = {piece: token for token, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=pairs))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<eos>"])
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<eos>", clean_up_tokenization_spaces=False
    )


def token_id(tokenizer: Any, piece: str) -> int:
    """The id of a token as the tokenizer spells it."""
    token = tokenizer.convert_tokens_to_ids(piece)
    assert isinstance(token, int)
    return token


def fewest_tokens(pattern: str, tokens: Sequence[bytes], most: int) -> int | None:
    """The least number of tokens that spell a text of a pattern; ``None`` where it is above ``most``.

    An oracle: every sequence of tokens is asked of ``re``.
    """
    matches = re.compile(pattern).fullmatch
    for count in range(most + 1):
        if any(matches(b"".join(text).decode()) for text in itertools.product(tokens, repeat=count)):
            return count
    return None
