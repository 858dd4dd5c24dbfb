r"""Byte-pair encoding that marks characters by their place in a word.

Two options of a model change the characters with which a word begins to be merged:

* ``end_of_word_suffix`` (CLIP, GPT-1): the last character has the suffix, ``c a t</w>``;
* ``continuing_subword_prefix``: all but the first have the prefix, ``c ##a ##t``, and merges drop it where
  they join, ``c`` and ``##a`` to ``ca``.

So there are two kinds of characters, and the merges are over both.  A decoder such as ``BPEDecoder`` or
``WordPiece`` writes a space for the mark, or where there is none, since the pre-tokenizer left out the white
space there: see :mod:`tokamata.tokenization.pretokenizers.spaced_words`.  By that space the engine knows from
its text which token ends a word, or begins one.

Example, GPT-1: ``the</w>`` is decoded to ``the`` and a space.  Its characters are ``t``, ``h`` and ``e</w>``.

Exactness.  A token is decoded to one text, however it came about.  If merges could make ``a</w>`` of
characters of a text, ``a``, ``<``, ``/``, ``w`` and ``>``, a text with these characters would have other
tokens than its characters say; such merges are refused.  So is a decoder that does not write the space: with
``ByteLevel`` alone CLIP's tokens are decoded to ``the</w>cat</w>``, which no text is encoded to.
(`transformers` replaces ``</w>`` by a space in Python, which is in no file.)  ``BPEDecoder`` before
``ByteLevel`` is refused if a marked token has bytes that ``ByteLevel`` writes as other characters: with a
space in it, it is left as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tokamata.errors import UnsupportedTokenizerError
from tokamata.tokenization.pipelines.pipeline import Spacing, UInt32
from tokamata.tokenization.pretokenizers.classes import CODE_POINTS
from tokamata.vocabulary.byte_alphabet import byte_level_bytes, is_byte_level_text
from tokamata.vocabulary.sections import Section, refuse

if TYPE_CHECKING:
    from tokamata.tokenization.pretokenizers.classes import Flags

__all__ = ["Mark", "mark_of"]

_LONGEST = 32  # characters of a mark, which stands before each character of each token


@dataclass(frozen=True)
class Mark:
    """The mark of some characters of words.

    Attributes:
        text: how it is written.
        is_suffix: whether the last character of a word has it at its end; else all but the first have it at
            their beginning.
        is_byte_level: whether characters stand for bytes.
    """

    text: str
    is_suffix: bool
    is_byte_level: bool

    @property
    def name(self) -> str:
        """The option of the model."""
        return "end_of_word_suffix" if self.is_suffix else "continuing_subword_prefix"

    def characters(self, token: str) -> list[str]:
        """The marked characters that a token is made of; none if it is made of no word that it decodes to."""
        mark, size = self.text, len(self.text)
        if " " in token or (self.is_byte_level and not is_byte_level_text(self.stem(token))):
            return []
        if not self.is_suffix:
            if token.startswith(mark):
                return [mark + each for each in token[size:]]
            return [*token[:1], *(mark + each for each in token[1:])]
        if mark not in token:
            return list(token)
        stem = token[:-size]
        if not stem or token.replace(mark, " ") != f"{stem} ":
            return []
        return [*stem[:-1], token[len(stem) - 1 :]]

    def is_marked(self, token: str) -> bool:
        """Whether a token has the mark."""
        return token.endswith(self.text) if self.is_suffix else token.startswith(self.text)

    def stem(self, token: str) -> str:
        """A token without its mark."""
        return token.removesuffix(self.text) if self.is_suffix else token.removeprefix(self.text)

    def spelled(self, token: str) -> bytes:
        """The text that a token stands for, with the space of its word."""
        stem = self.stem(token)
        text = byte_level_bytes(stem) if self.is_byte_level else stem.encode()
        if self.is_suffix:
            return text + b" " if self.is_marked(token) else text
        return text if self.is_marked(token) else b" " + text

    # ---- the model -------------------------------------------------------------------------------

    def atoms(self, vocab: dict[str, int], tokens: list[bytes | None]) -> tuple[UInt32, UInt32]:
        """The atoms of every token, as ``BytePairs`` has them.

        Raises:
            UnsupportedTokenizerError: the decoder does not write what a token stands for.
        """
        lists: list[list[int]] = [[] for _ in tokens]
        for text, token in vocab.items():
            if token >= len(tokens) or tokens[token] is None:
                continue
            atoms = [vocab.get(each, len(tokens)) for each in self.characters(text)]
            if not all(atom < len(tokens) for atom in atoms):
                continue
            if atoms and tokens[token] != self.spelled(text):
                raise UnsupportedTokenizerError("decoder", self._decoded(text, tokens[token]))
            lists[token] = atoms
        offsets = np.cumsum([0, *map(len, lists)]).astype(np.uint32)
        return offsets, np.array([atom for atoms in lists for atom in atoms], dtype=np.uint32)

    def _decoded(self, text: str, decoded: bytes | None) -> str:
        shown = (decoded or b"").decode("utf-8", "replace")
        meant = self.spelled(text).decode("utf-8", "replace")
        return f"it decodes {text!r:.40} to {shown!r:.40}, and not to {meant!r:.40}, so no text comes back"

    def merges(self, merges: list[Any], vocab: dict[str, int]) -> tuple[UInt32, UInt32, UInt32]:
        """The merges that can happen, as arrays of their parts and results.

        Raises:
            VocabularyError: one is not of tokens.
            UnsupportedTokenizerError: they make the mark of characters that have none.
        """
        found = []
        for number, merge in enumerate(merges):
            left, right = _pair(merge)
            result = left + (right if self.is_suffix else right[len(self.text) :])
            if not {left, right, result} <= vocab.keys():
                expected = "a pair of tokens of the vocabulary, whose joined text is one too"
                refuse(f"model.merges[{number}]", merge, expected)
            if not self.is_suffix and not right.startswith(self.text):
                continue  # no word has such a right part
            if self._makes_mark(left, right, result):
                what = f"merges make the mark of {result!r:.40} out of characters of a text"
                raise UnsupportedTokenizerError("model", f"{self.name} = {self.text!r:.40}: {what}")
            found.append((vocab[left], vocab[right], vocab[result]))
        columns = np.array(found, dtype=np.uint32).reshape(-1, 3).T
        return columns[0].copy(), columns[1].copy(), columns[2].copy()

    def _makes_mark(self, left: str, right: str, result: str) -> bool:
        if self.is_suffix:
            return self.text in result and self.text not in left and self.text not in right
        return result.startswith(self.text) and not left.startswith(self.text)

    def spacing(self, vocab: dict[str, int], tokens: list[bytes | None]) -> Spacing:
        """Which characters words may have, and where."""

        def known(text: str) -> bool:
            token = vocab.get(text, len(tokens))
            return token < len(tokens) and tokens[token] is not None and self.characters(text) == [text]

        marked = np.zeros(CODE_POINTS, dtype=bool)
        plain = np.zeros(CODE_POINTS, dtype=bool)
        for text in vocab:
            stem = self.stem(text)
            if len(stem) == 1 and known(text):
                (marked if self.is_marked(text) else plain)[ord(stem)] = True
        if self.is_byte_level:
            marked, plain = self._of_points(marked), self._of_points(plain)
        inner, outer = (plain, marked) if self.is_suffix else (marked, plain)
        if self.is_byte_level:
            inner, outer = _by_bytes(inner, outer, self.is_suffix)
        for flags in (inner, outer):
            flags[0x20] = False
            flags[0xD800:0xE000] = False
        return Spacing("after" if self.is_suffix else "before", outer, inner)

    @staticmethod
    def _of_points(flags: Flags) -> Flags:
        """Flags of bytes, from those of the characters that stand for them."""
        by_byte = np.zeros(256, dtype=bool)
        for point in np.flatnonzero(flags).tolist():
            by_byte[byte_level_bytes(chr(point))[0]] = True
        return by_byte


def mark_of(model: Section, is_byte_level: bool) -> Mark | None:
    """The mark of a model of byte-pair encoding; ``None`` if it has none.

    Raises:
        UnsupportedTokenizerError: with options that change what is marked.
    """
    found = [
        Mark(model.text(name), name == "end_of_word_suffix", is_byte_level)
        for name in ("end_of_word_suffix", "continuing_subword_prefix")
        if model.fields.get(name)
    ]
    if not found:
        return None
    mark = found[0]
    says = f"{mark.name} = {mark.text!r:.40}"
    if len(found) > 1:
        raise UnsupportedTokenizerError("model", f"{says} and {found[1].name} = {found[1].text!r:.40}")
    if " " in mark.text or len(mark.text) > _LONGEST:
        what = "has a space" if " " in mark.text else f"has more than {_LONGEST} characters"
        raise UnsupportedTokenizerError("model", f"{says} {what}")
    if mark.is_suffix and any(mark.text.startswith(mark.text[at:]) for at in range(1, len(mark.text))):
        # The decoder would find it at another place in a character that ends as it begins.
        raise UnsupportedTokenizerError("model", f"{says} ends as it begins")
    for name in ("byte_fallback", "ignore_merges"):
        if model.flag(name, False):
            raise UnsupportedTokenizerError("model", f"{says} with {name}")
    if not mark.is_suffix and len(mark.text) == 1 and mark.text in model.section("vocab").fields:
        # As the first character of a word, it would be decoded as a mark.
        raise UnsupportedTokenizerError("model", f"{says} is a token")
    return mark


def _pair(merge: Any) -> tuple[str, str]:
    """The parts of a merge; empty ones, which are no tokens, if it has another form."""
    parts = merge.partition(" ")[::2] if isinstance(merge, str) else merge
    is_pair = (
        isinstance(parts, (list, tuple)) and len(parts) == 2 and all(isinstance(part, str) for part in parts)
    )
    return (parts[0], parts[1]) if is_pair else ("", "")


def _by_bytes(inner: Flags, outer: Flags, is_last: bool) -> tuple[Flags, Flags]:
    """The code points that may be inside a word, and at its marked side, from the bytes that may.

    Args:
        inner, outer: ``bool[256]`` each.
        is_last: whether the byte at the marked side is the last of a character; else the first.
    """
    points = np.arange(CODE_POINTS)
    lengths = 1 + (points >= 0x80) + (points >= 0x800) + (points >= 0x10000)
    columns = []
    for place in range(4):  # the bytes from the last one on
        rest = points >> (6 * place)
        lead = np.select(
            [lengths == 1, lengths == 2, lengths == 3], [rest, 0xC0 | rest, 0xE0 | rest], 0xF0 | rest
        )
        byte = np.where(place == lengths - 1, lead, 0x80 | rest & 0x3F)
        columns.append(np.where(place < lengths, byte, -1))
    is_inner = [(column < 0) | inner[column & 0xFF] for column in columns]
    is_outer = [
        np.where(lengths == place + 1 if not is_last else place == 0, outer[column & 0xFF], within)
        for place, (column, within) in enumerate(zip(columns, is_inner, strict=True))
    ]
    return np.logical_and.reduce(is_inner), np.logical_and.reduce(is_outer)
