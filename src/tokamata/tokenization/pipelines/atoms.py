"""Atoms: the tokens of single characters with which byte-pair encoding begins a token's text.

With the tokens a, b and ``ab``, the atoms of ``ab`` are a and b; a token ``ax`` has none.  Arrays hold all
tokens at once, since the texts of a quarter of a million tokens have two million characters.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from tokamata.tokenization.pipelines.pipeline import UInt32
from tokamata.tokenization.pretokenizers.classes import CODE_POINTS

_Text = TypeVar("_Text", str, bytes)


def atoms_of_texts(ids: Mapping[str, int], size: int, whole: Collection[int] = ()) -> tuple[UInt32, UInt32]:
    """The atoms of every token as offsets and atoms, see ``BytePairs``; empty if a character is not a token.

    Args:
        ids: tokens by their text.
        size: the number of tokens; ids past it are omitted.
        whole: tokens that are never cut, whatever their text.
    """
    texts, tokens = _in_order(ids, size)
    single = np.full(CODE_POINTS, -1, dtype=np.int64)
    for text, token in ids.items():
        if len(text) == 1:
            single[ord(text)] = token
    units = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype="<u4")
    return _cut(single[units], _lengths(texts), tokens, size, np.array(sorted(whole), dtype=np.int64))


def atoms_of_bytes(ids: Mapping[bytes, int], size: int) -> tuple[UInt32, UInt32]:
    """The same for texts of bytes."""
    texts, tokens = _in_order(ids, size)
    single = np.array([ids.get(bytes([byte]), -1) for byte in range(256)], dtype=np.int64)
    units = np.frombuffer(b"".join(texts), dtype=np.uint8)
    return _cut(single[units], _lengths(texts), tokens, size, np.zeros(0, dtype=np.int64))


def _in_order(ids: Mapping[_Text, int], size: int) -> tuple[list[_Text], npt.NDArray[np.int64]]:
    """Texts and their tokens, by token."""
    texts = list(ids)
    tokens = np.fromiter(ids.values(), dtype=np.int64, count=len(texts))
    if len(texts) > 1 and not (tokens[1:] > tokens[:-1]).all():
        order = np.argsort(tokens)
        texts, tokens = [texts[index] for index in order], tokens[order]
    count = int(np.searchsorted(tokens, size))
    return texts[:count], tokens[:count]


def _lengths(texts: list[Any]) -> npt.NDArray[np.int64]:
    return np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))


def _cut(
    parts: npt.NDArray[np.int64],
    lengths: npt.NDArray[np.int64],
    tokens: npt.NDArray[np.int64],
    size: int,
    whole: npt.NDArray[np.int64],
) -> tuple[UInt32, UInt32]:
    """The offsets and atoms of all tokens, from the atoms of all texts in a row (-1 for a missing one)."""
    ends = np.cumsum(lengths)
    missing = np.cumsum(np.concatenate([[0], parts < 0]))
    is_cut = (missing[ends] == missing[ends - lengths]) & ~np.isin(tokens, whole)
    counts = np.zeros(size, dtype=np.int64)
    counts[tokens[is_cut]] = lengths[is_cut]
    atoms = np.insert(parts[np.repeat(is_cut, lengths)], (np.cumsum(counts) - counts)[whole], whole)
    counts[whole] = 1
    offsets = np.concatenate([[0], np.cumsum(counts)])
    return offsets.astype(np.uint32), atoms.astype(np.uint32)
