"""The head of a GGUF file: its metadata, and the offset of each tensor.

Layout (GGUF versions 2 and 3, https://github.com/ggml-org/ggml/blob/master/docs/gguf.md)::

    "GGUF"  u32 version  u64 tensors  u64 pairs
    pair:   string key   u32 type     value
    tensor: string name  u32 rank     u64 sizes, the fastest first   u32 type   u64 offset in the data
    data:   begins at the next multiple of the metadata's general.alignment, by default 32
    string: u64 length   bytes
    array:  u32 type of its elements   u64 length   elements

The package `gguf` makes a numpy view of every element of every array, which takes 10 s and 700 MB
for Gemma 3's 262,144 tokens, against 0.2 s here.  It also lets a hostile file allocate any amount
of memory.  So the head is read here, with bounds; the tests compare both readers.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable, Collection
from pathlib import Path
from typing import NamedTuple, TypeVar

from tokamata.errors import VocabularyError
from tokamata.vocabulary.token_table import MAX_TOKENS

Value = int | float | bool | bytes | list[int] | list[float] | list[bool] | list[bytes]

MAGIC = b"GGUF"
_HEAD_BYTES = 1 << 28  # the largest known heads have 20 MB
_MAX_PAIRS = 1 << 16  # of metadata
_MAX_TENSORS = 1 << 16
_MAX_RANK = 4
_ALIGNMENT = "general.alignment"
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9


_Read = TypeVar("_Read")


class Tensor(NamedTuple):
    """The type of a tensor and its location in the file.

    Attributes:
        shape: the slowest size first, as in numpy.
        kind: its type, by GGML's number.
        offset: the offset of its first byte in the file.
    """

    shape: tuple[int, ...]
    kind: int
    offset: int


def read_metadata(path: Path, wanted: Collection[str]) -> dict[str, Value]:
    """The values of the keys in ``wanted`` that the GGUF file has; strings are bytes.

    Raises:
        VocabularyError: for a file that is truncated, malformed, or of another version.
    """
    return _read(path, lambda head: head.pairs(frozenset(wanted)))


def read_head(path: Path) -> bytes:
    """The bytes of the file up to the end of its metadata, for :func:`metadata_of`.

    Raises:
        VocabularyError: as for :func:`read_metadata`.
    """
    return _read(path, lambda head: head.content())


def metadata_of(head: bytes, wanted: Collection[str], where: str) -> dict[str, Value]:
    """The same as :func:`read_metadata`, of what :func:`read_head` has read."""
    return _of(head, where, lambda parsed: parsed.pairs(frozenset(wanted)))


def read_tensors(path: Path) -> dict[str, Tensor]:
    """All tensors of the GGUF file by name; the length of the file is not checked against their data.

    Raises:
        VocabularyError: as for :func:`read_metadata`.
    """
    return _read(path, lambda head: head.tensors(head.pairs(frozenset({_ALIGNMENT})).get(_ALIGNMENT, 32)))


def _read(path: Path, read: Callable[[_Head], _Read]) -> _Read:
    where = str(path)
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise VocabularyError(f"{where}: not a GGUF file; its first four bytes are not 'GGUF'")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _of(data, where, read)


def _of(data: mmap.mmap | bytes, where: str, read: Callable[[_Head], _Read]) -> _Read:
    try:
        return read(_Head(data, where))
    except struct.error:
        raise VocabularyError(
            f"{where}: the GGUF metadata is truncated or damaged; download the file again"
        ) from None


class _Head:
    """A cursor over the head of a GGUF file."""

    def __init__(self, data: mmap.mmap | bytes, where: str) -> None:
        self._data = data
        self._where = where
        self._end = min(len(data), _HEAD_BYTES)
        self._at = len(MAGIC)
        version = data[4:8]
        # The version is a small number: if its first half is zero, the file is big-endian.
        self._order = ">" if version[:2] == b"\0\0" else "<"
        if (number := self._scalar("I")) not in (2, 3):
            raise self._error(f"GGUF version {number} is not supported; versions 2 and 3 are")
        self._tensors = int(self._scalar("Q"))

    def pairs(self, wanted: frozenset[str]) -> dict[str, Value]:
        """The wanted metadata; must be called first."""
        count = int(self._scalar("Q"))
        if count > _MAX_PAIRS:
            raise self._error(f"{count} metadata pairs are more than the {_MAX_PAIRS} that are allowed")
        found: dict[str, Value] = {}
        for _ in range(count):
            key = self._string().decode("utf-8", "replace")
            kind = int(self._scalar("I"))
            keep = key in wanted
            if keep and key in found:
                raise self._error(f"the key {key!r} appears twice")
            value = self._array(keep) if kind == _ARRAY else self._single(kind)
            if keep:
                found[key] = value
        return found

    def content(self) -> bytes:
        """All bytes up to the end of the metadata."""
        self.pairs(frozenset())
        return self._data[: self._at]

    def tensors(self, alignment: Value) -> dict[str, Tensor]:
        """The tensors, which come after the metadata."""
        if self._tensors > _MAX_TENSORS:
            raise self._error(f"{self._tensors} tensors are more than the {_MAX_TENSORS} that are allowed")
        if self._order == ">":
            raise self._error("weights are read in little-endian files only")
        if not isinstance(alignment, int) or alignment < 1:
            raise self._error(f"{_ALIGNMENT} is {alignment!r:.80}, which is not a number of bytes")
        found: dict[str, Tensor] = {}
        for _ in range(self._tensors):
            name = self._string().decode("utf-8", "replace")
            rank = int(self._scalar("I"))
            if rank > _MAX_RANK:
                raise self._error(f"the tensor {name!r:.80} has {rank} dimensions; {_MAX_RANK} are allowed")
            shape = tuple(int(self._scalar("Q")) for _ in range(rank))[::-1]
            found[name] = Tensor(shape, int(self._scalar("I")), int(self._scalar("Q")))
        start = -(-self._at // alignment) * alignment
        return {name: tensor._replace(offset=start + tensor.offset) for name, tensor in found.items()}

    def _single(self, kind: int) -> int | float | bool | bytes:
        if kind == _STRING:
            return self._string()
        if kind not in _SCALARS:
            raise self._error(f"metadata of type {kind} is unknown")
        return self._scalar(_SCALARS[kind])

    def _scalar(self, code: str) -> int | float | bool:
        layout = self._order + code
        value: int | float | bool = struct.unpack_from(layout, self._data, self._at)[0]
        self._advance(struct.calcsize(layout))
        return value

    def _string(self) -> bytes:
        size = int(self._scalar("Q"))
        start = self._at
        self._advance(size)
        return self._data[start : self._at]

    def _array(self, keep: bool) -> Value:
        kind, count = int(self._scalar("I")), int(self._scalar("Q"))
        if keep and count > MAX_TOKENS:
            raise self._error(f"an array of {count} elements is longer than the {MAX_TOKENS:,} allowed")
        if kind == _STRING:
            return self._strings(count, keep)
        if kind not in _SCALARS:
            raise self._error(f"arrays of elements of type {kind} are not supported")
        layout, start = f"{self._order}{_SCALARS[kind]}", self._at
        self._advance(count * struct.calcsize(layout))
        if not keep:
            return []
        return list(struct.unpack_from(f"{self._order}{count}{_SCALARS[kind]}", self._data, start))

    def _strings(self, count: int, keep: bool) -> list[bytes]:
        unpack, data, end = struct.Struct(self._order + "Q").unpack_from, self._data, self._end
        at, strings = self._at, []
        for _ in range(count):
            start = at + 8
            if start > end:
                raise struct.error
            at = start + unpack(data, at)[0]
            if at > end:
                raise struct.error
            if keep:
                strings.append(data[start:at])
        self._at = at
        return strings

    def _advance(self, size: int) -> None:
        self._at += size
        if self._at > self._end:
            raise struct.error  # reported by read_metadata

    def _error(self, reason: str) -> VocabularyError:
        return VocabularyError(f"{self._where}: {reason} (at byte {self._at} of the GGUF metadata)")
