"""Cutting a text into tokens, and choosing a few of many tokens to show."""

# tokenizers is optional and imported when used; what it gives is typed here as it is used.

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tokamata.errors import VocabularyError
from tokamata.vocabulary import Vocabulary

__all__ = ["Samples", "encode"]


def encode(source: Any, vocabulary: Vocabulary, text: str) -> tuple[list[int], str]:
    """Cut ``text`` into tokens, as the tokenizer itself does, if it is at hand.

    Args:
        source: what the vocabulary was read from: a file or a folder, of which a ``tokenizer.json`` is used;
            or a tokenizer of transformers.

    Returns:
        The tokens, whose bytes make up ``text``; and a sentence that says how it was cut.

    Raises:
        VocabularyError: the vocabulary cannot spell the text.
    """
    data = text.encode("utf-8", "surrogateescape")
    tokens = _by_tokenizer(source, text)
    if tokens is not None and b"".join(_bytes(vocabulary, token) for token in tokens) == data:
        return tokens, f"{len(tokens)} tokens, cut by the tokenizer"
    tokens = _longest_first(vocabulary, data)
    return tokens, f"{len(tokens)} tokens, cut by taking the longest token each time"


def _bytes(vocabulary: Vocabulary, token: int) -> bytes:
    return (vocabulary[token] if token < vocabulary.width else None) or b""


def _by_tokenizer(source: Any, text: str) -> list[int] | None:
    if not isinstance(source, Path):
        return list(source(text, add_special_tokens=False)["input_ids"])
    file = source / "tokenizer.json" if source.is_dir() else source
    if file.suffix != ".json":
        return None
    try:
        from tokenizers import Tokenizer

        return list(Tokenizer.from_file(str(file)).encode(text, add_special_tokens=False).ids)
    except Exception:  # it has one type of error for everything, `Exception`; the other way is left
        return None


def _longest_first(vocabulary: Vocabulary, data: bytes) -> list[int]:
    ids: dict[bytes, int] = {}
    for token in range(len(vocabulary)):
        ids.setdefault(vocabulary[token] or b"", token)
    ids.pop(b"", None)
    longest = max(map(len, ids), default=0)
    tokens: list[int] = []
    start = 0
    while start < len(data):
        ends = range(min(len(data), start + longest), start, -1)
        end = next((end for end in ends if data[start:end] in ids), None)
        if end is None:
            raise VocabularyError(
                f"the vocabulary has no token to spell the byte {data[start : start + 1]!r} with"
            )
        tokens.append(ids[data[start:end]])
        start = end
    return tokens


def foreign_tokens(
    tokenizer: Any, vocabulary: Vocabulary, prompt: list[int], tokens: list[int]
) -> set[int] | None:
    """The indices in ``tokens`` of those that the tokenizer does not write there, after the prompt.

    The tokenizer encodes prompt and text together.  A token is foreign if that encoding has no equal token at
    the same byte.  ``None`` if the encoding does not decode to the text, so that the two cannot be compared.
    """
    written = [*prompt, *tokens]
    text = tokenizer.decode(written, skip_special_tokens=False, clean_up_tokenization_spaces=False)
    own = tokenizer(text, add_special_tokens=False)["input_ids"]
    if sum(_size(vocabulary, token) for token in own) != sum(_size(vocabulary, token) for token in written):
        return None
    starts = set(_starts(vocabulary, own))
    found = list(_starts(vocabulary, written))
    return {index - len(prompt) for index in range(len(prompt), len(found)) if found[index] not in starts}


def _starts(vocabulary: Vocabulary, tokens: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The offset of the first byte of each token, and the token."""
    offset = 0
    for token in tokens:
        yield offset, token
        offset += _size(vocabulary, token)


def _size(vocabulary: Vocabulary, token: int) -> int:
    return len(_bytes(vocabulary, token)) or 1


class Samples:
    """Chooses tokens that represent many."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def typical(self, allowed: npt.NDArray[np.intp], count: int, *, stops: bool = True) -> list[int]:
        """Return up to ``count`` of ``allowed``, those that people know first, none with equal bytes.

        Ids rank by frequency in most tokenizers, so low ids come first; but words before single
        bytes, other scripts than ASCII, white space and control characters, which often have the
        lowest ids of all.  Stop tokens come before everything, or where ``stops`` is false, not at all.
        """
        chosen = [token for token in self._vocabulary.stop if stops and token in allowed][:count]
        words: dict[bytes, int] = {}
        single: dict[bytes, int] = {}
        foreign: dict[bytes, int] = {}
        others: dict[bytes, int] = {}
        for token in map(int, allowed):
            if len(chosen) + len(words) >= count:
                break
            if token not in self._vocabulary.stop:
                data = self._vocabulary[token] or b""
                if not _is_visible(data):
                    kind = others
                elif not data.isascii():
                    kind = foreign
                else:
                    kind = words if len(data.strip()) > 1 else single
                kind.setdefault(data, token)
        return [*chosen, *words.values(), *single.values(), *foreign.values(), *others.values()][:count]

    def longest(self, allowed: npt.NDArray[np.intp], count: int) -> list[int]:
        """Return up to ``count`` of ``allowed`` with the most bytes; runs of one code point left out."""
        chosen: list[int] = []
        for token in allowed[np.argsort(-self._lengths[allowed], kind="stable")]:
            if len(chosen) >= count:
                break
            data = self._vocabulary[int(token)] or b""
            if _is_visible(data) and len(set(data.decode().strip())) > 1:
                chosen.append(int(token))
        return chosen

    @cached_property
    def _lengths(self) -> npt.NDArray[np.int64]:
        width = self._vocabulary.width
        return np.array([len(self._vocabulary[token] or b"") for token in range(width)], dtype=np.int64)


def _is_visible(data: bytes) -> bool:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    return text.isprintable() and bool(text.strip())
