"""Charsmaps: SentencePiece's tables of replacements, as two programs run them.

A charsmap (``nmt_nfkc`` and others) maps texts of one or more code points, its *keys*, to texts: ``Ａ`` to
``A``, and ``e`` U+0301 to ``é``.  The file has it as a blob: the size of a trie in bytes as ``uint32``, the
trie, and the results, each ended by a zero byte.  The trie is a double array of ``uint32`` units
(darts-clone): the child of a node for byte ``b`` is the unit at ``offset ^ b``, if its label is ``b``; a node
that ends a key has the position of its result in the unit at ``offset``.  Subtrees are shared: 40,000 units
have 220,000 keys.

The blob comes from strangers.  Each position is checked before it is read, and keys that are too many or too
long, as those of a trie with cycles are, end in an error.

What a charsmap does to a text depends on the program:

- SentencePiece looks for the longest key at each position, from left to right.
- Hugging Face's ``Precompiled`` cuts the text into extended grapheme clusters.  In a cluster of fewer than
  six bytes it looks for the *shortest* key with which the cluster begins, and writes its result for the whole
  cluster.  Only if there is none, or the cluster is longer, is each code point looked up by itself.  So ``e``
  U+0301 becomes é, ``e`` U+0301 U+0301 becomes é too, and with three marks the text stays as it is.

Both leave a text alone that has no key, and for neither it matters what the results of other texts are.

Cost: 0.1 s for the keys that matter; the whole list would take a second.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tokamata.errors import UnsupportedTokenizerError, VocabularyError

if TYPE_CHECKING:
    from tokamata.tokenization.pretokenizers.classes import Flags

_Numbers = npt.NDArray[Any]

__all__ = ["LONG_CLUSTER", "Charsmap"]

LONG_CLUSTER = 6  # bytes of a cluster whose code points are looked up one by one
_MOST_BYTES = 64  # of a key; the longest of the known ones has 54
_MOST_NODES = 1_000_000  # of all prefixes of keys that are followed
_UNIT_BYTES = 4


class Charsmap:
    """The keys of one blob.

    Raises:
        VocabularyError: the blob is damaged.
    """

    def __init__(self, blob: bytes) -> None:
        if len(blob) < _UNIT_BYTES:
            raise _damaged("it has no size")
        (size,) = struct.unpack_from("<I", blob)
        if size < _UNIT_BYTES or size % _UNIT_BYTES or size > len(blob) - _UNIT_BYTES:
            raise _damaged(f"its trie of {size:,} bytes is not in it")
        units = np.frombuffer(blob, dtype="<u4", count=size // _UNIT_BYTES, offset=_UNIT_BYTES)
        self._results = blob[_UNIT_BYTES + size :]
        offsets = (units >> 10) << ((units & (1 << 9)) >> 6)
        labels, ends_key = units & (1 << 31 | 0xFF), (units >> 8) & 1 == 1
        values = units & ((1 << 31) - 1)
        # The bytes that may lead on from each node, by the offset that its unit has.
        positions = np.arange(len(units)) ^ (units & 0xFF)
        order = np.argsort(positions, kind="stable")
        self._positions = positions[order]
        self._check(offsets, (labels > 0) & (labels < 0x100), ends_key, values, order)
        self._offsets: list[int] = offsets.tolist()
        self._labels: list[int] = labels.tolist()
        self._ends_key: list[bool] = ends_key.tolist()
        self._values: list[int] = values.tolist()
        self._order: list[int] = order.tolist()

    def _check(
        self, offsets: _Numbers, is_child: _Numbers, ends_key: _Numbers, values: _Numbers, order: _Numbers
    ) -> None:
        """Checks all positions that any text leads to: the programs that look keys up do not."""
        try:
            self._results.decode()
        except UnicodeDecodeError:
            raise _damaged("a result in it is no UTF-8") from None
        size = len(offsets)
        is_known = np.zeros(size, dtype=bool)
        reached = np.zeros(1, dtype=np.int64)  # units
        while len(reached):
            after = reached ^ offsets[reached].astype(np.int64)
            if (lost := (after | 0xFF) >= size).any():
                raise _damaged(f"its unit {reached[lost][0]:,} leads out of the trie")
            starts = values[after[ends_key[reached]]].astype(np.int64)
            if (starts >= len(self._results)).any():
                raise _damaged("a key of it has no result")
            results = np.frombuffer(self._results, dtype=np.uint8)
            if len(starts) and (results[starts] & 0xC0 == 0x80).any():
                raise _damaged("a result in it begins within a code point")
            after = np.unique(after[~is_known[after]])
            is_known[after] = True
            begins, ends = (np.searchsorted(self._positions, after + one) for one in (0, 1))
            counts = ends - begins
            places = np.repeat(begins - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
            found = order[places]
            reached = found[is_child[found]]

    def single_keys(self) -> dict[str, str]:
        """The keys of one code point, and what they become."""
        return dict(self._keys(None))

    def all_results(self) -> str:
        """All that is written for some key, as one text."""
        return self._results.decode().replace("\0", "")

    def keys_over(self, letters: Flags) -> dict[str, str]:
        """The keys of which each code point is one of these, and what they become.

        Args:
            letters: ``bool[0x110000]``.
        """
        return dict(self._keys(letters))

    def short_keys_over(self, letters: Flags) -> dict[str, str]:
        """Those of them that fit into a cluster that Hugging Face's program looks up, and that change."""
        keys = self._keys(letters, LONG_CLUSTER - 1)
        return {key: result for key, result in keys if key != result}

    def pairs_over(self, letters: Flags) -> set[str]:
        """The keys of two of these code points, where all longer ones have such a pair in them.

        Raises:
            UnsupportedTokenizerError: one has none.
        """
        found = self.keys_over(letters)
        if kept := next((key for key, result in found.items() if key == result and len(key) > 1), None):
            # What is shorter in it is not replaced there.
            raise UnsupportedTokenizerError("normalizer", f"its charsmap leaves {kept!r:.40} alone by a rule")
        keys = [key for key, result in found.items() if key != result]
        pairs = {key for key in keys if len(key) == 2}
        for key in keys:
            if len(key) > 2 and not any(key[at : at + 2] in pairs for at in range(len(key) - 1)):
                what = f"its charsmap replaces {key!r:.40}, and nothing that is shorter in it"
                raise UnsupportedTokenizerError("normalizer", what)
        return pairs

    def _keys(self, letters: Flags | None, most: int = _MOST_BYTES) -> Iterator[tuple[str, str]]:
        """The keys of so many bytes over some letters; all of one code point if it is ``None``."""
        nodes = 0
        # A node is the offset of its unit; with the bytes that lead there, and where the last code point
        # begins.
        pending = [(self._offsets[0], b"", 0)]
        while pending:
            base, prefix, begin = pending.pop()
            nodes += 1
            if nodes > _MOST_NODES:
                raise _damaged("its trie has no end")
            for byte, at in self._children(base):
                text, start = prefix + bytes([byte]), begin
                if len(text) > most:
                    if most < _MOST_BYTES:
                        continue
                    raise _damaged(f"it has a key of more than {_MOST_BYTES} bytes")
                is_whole = len(text) - begin == _length(text[begin])
                if is_whole:
                    try:
                        last = ord(text[begin:].decode())
                    except UnicodeDecodeError:
                        raise _damaged(f"its key {text!r:.80} is no UTF-8") from None
                    if letters is not None and not letters[last]:
                        continue
                    start = len(text)
                after = at ^ self._offsets[at]
                if self._ends_key[at]:
                    if not is_whole:
                        raise _damaged(f"its key {text!r:.80} ends within a code point")
                    yield text.decode(), self._result(after)
                if not is_whole or letters is not None:
                    pending.append((after, text, start))

    def _children(self, base: int) -> Iterator[tuple[int, int]]:
        """The bytes that lead on from an offset, and the units that they lead to."""
        begin, end = np.searchsorted(self._positions, (base, base + 1)).tolist()
        for at in self._order[begin:end]:
            label = self._labels[at]
            if 0 < label < 0x100:
                yield label, at

    def _result(self, at: int) -> str:
        """The text that the value at a unit stands for."""
        begin = self._values[at]
        end = self._results.find(b"\0", begin)
        return self._results[begin : end if end >= 0 else None].decode()


def _length(lead: int) -> int:
    """How many bytes a code point has that begins with this one."""
    if lead < 0x80:
        return 1
    if not 0xC2 <= lead <= 0xF4:
        raise _damaged(f"a key of it begins a code point with the byte {lead:#04x}")
    return 2 + (lead >= 0xE0) + (lead >= 0xF0)


def _damaged(what: str) -> VocabularyError:
    return VocabularyError(f"the charsmap of the tokenizer is damaged: {what}; download it again")
