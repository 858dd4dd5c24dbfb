"""The result of every loader: the bytes of each token, and what else its source says.

A token's bytes are those it adds in the middle of a text.  Three things are no bytes at all
(``None``): a control token, which no text produces; a hole in the ids; a token that only
stands for what the tokenizer could not read (``<unk>``).

Sources come from strangers, so no list here is ever sized by an id alone: ids are held to
``MAX_TOKENS``, sixteen times the largest vocabulary known.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tokamata.errors import VocabularyError

MAX_TOKENS = 1 << 22  # sixteen times the largest vocabulary known

TokenBytes = list[bytes | None]


def no_program() -> None:
    """The program of a tokenizer that is a file."""


@dataclass(frozen=True)
class PipelineSource:
    """The source of the rest of a tokenizer, its pipeline, which is read when first needed.

    Attributes:
        family: ``"tokenizer.json"``, ``"tiktoken"``, ``"tekken"``, ``"sentencepiece"`` or ``"gguf"``.
        content: returns everything that the pipeline depends on, as bytes: usually those of a file.
        is_written: whether a program has written the content, so that its numbers are those of the program;
            the program that reads a file may round them.
        program: returns the tokenizer that was read, if it is an object that exists; ``None`` for a file.
        sections: of a ``tokenizer.json``, returns the parsed sections that say how a text is normalized
            (``hugging_face.normalizing_sections``) at less cost than ``content``; ``None`` if only that has
            them.
    """

    family: str
    content: Callable[[], bytes]
    program: Callable[[], object | None] = no_program
    sections: Callable[[], dict[str, Any]] | None = None
    is_written: bool = False


@dataclass(frozen=True)
class TokenTable:
    """The tokens of one tokenizer.

    Attributes:
        tokens: bytes of every id in mid-text, ``None`` where no text produces the id.
        names: names of control tokens, by id.
        stop: ids of the stop tokens, if the source names them.
        start_rule: computes the bytes of every id as the first token of a text, or ``None``
            if the decoder treats the start like any other position.  A function, because it is
            expensive for large vocabularies and rarely needed.
        pipeline: the source of the tokenizer's pipeline, or ``None``.
    """

    tokens: TokenBytes
    names: dict[int, str] = field(default_factory=dict)
    stop: tuple[int, ...] = ()
    start_rule: Callable[[], TokenBytes] | None = None
    pipeline: PipelineSource | None = None


def check_ids(ids: Collection[object], where: str) -> None:
    """Refuse ids that are not distinct integers from 0 to below ``MAX_TOKENS``.

    Works on whole collections, since it runs over hundreds of thousands of ids.

    Raises:
        VocabularyError: names ``where`` and one wrong id.
    """
    if not ids:
        return
    # `type(x) is int` also keeps out True and False, which JSON has and which are ints in Python.
    if set(map(type, ids)) != {int}:
        bad = next(i for i in ids if type(i) is not int)
        raise VocabularyError(f"{where}: a token id must be an integer, not {bad!r:.80}")
    if ids == list(range(len(ids))) and len(ids) <= MAX_TOKENS:
        return  # as in nearly all files
    numbers: Collection[int] = ids  # type: ignore[assignment]  # just checked
    if min(numbers) < 0:
        raise VocabularyError(f"{where}: token id {min(numbers)} is negative")
    if max(numbers) >= MAX_TOKENS:
        raise VocabularyError(
            f"{where}: token id {shown_int(max(numbers))} is beyond the {MAX_TOKENS:,} ids that a vocabulary "
            "can have; the file is damaged, or not a tokenizer"
        )
    if len(set(numbers)) != len(numbers):
        seen: set[int] = set()
        for number in numbers:
            if number in seen:
                raise VocabularyError(
                    f"{where}: token id {number} is given to two tokens; the file is damaged"
                )
            seen.add(number)


def shown_int(number: int) -> str:
    """``number`` in digits, or its size if it is too long to print."""
    return str(number) if abs(number) < 10**30 else f"of {number.bit_length()} bits"


def with_none(tokens: Sequence[bytes], none_ids: Iterable[int]) -> TokenBytes:
    """A copy of ``tokens`` with ``None`` at ``none_ids``."""
    result: TokenBytes = list(tokens)
    for token in none_ids:
        result[token] = None
    return result


def without_leading_space(tokens: TokenBytes) -> TokenBytes:
    """Each token less one leading space: the start rule of Llama 2 and its relatives."""
    return [t[1:] if t is not None and t[:1] == b" " else t for t in tokens]


@contextmanager
def collection_paused() -> Iterator[None]:
    """Pauses the garbage collector: it would walk the 1.5 million objects of a large file again and
    again while they are made, which takes twice as long as making them."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
