"""What a tokenizer's own program does to a boundary in one text: the judge of proofs and of detectors.

    program = Program(source, vocabulary, "text")
    program.damage(b"<|im_end|>", "}<|im_end|>")        # {"crossed"}: the token "}<" has a part of it

It knows no theory: the program encodes the text, and the bytes of the tokens are laid side by side.

* *crossed*: an occurrence in them has a border that no token ends at;
* *destroyed*: they have fewer occurrences than the text;
* *made*: they have one, and the text has none;
* *unknown*: they have fewer, and an unknown token stands where something was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

import tokamata as tk
from tokamata import guard
from tokamata.guard.token_edges import ControlTokens

Damage = frozenset[str]
UNKNOWN = ("<unk>", "[UNK]")
_ANYTHING = b"\xff"  # what an unknown token stands for


class Program:
    """The program of a tokenizer, in one reading of the names of control tokens.

    Args:
        source: an object of its own package.
        vocabulary: its tokens.
        reading: whether names of control tokens are read as such.
    """

    def __init__(self, source: object, vocabulary: tk.Vocabulary, reading: ControlTokens) -> None:
        running = guard.RunningTokenizer(source)
        self.encode = running.encode if reading == "read" else running.encode_text
        self._pieces = [
            vocabulary.name(token).encode() if text is None else text
            for token, text in enumerate(vocabulary.tokens)
        ]
        self._first = vocabulary.start_tokens()
        self._unknown = {
            token
            for token, text in enumerate(vocabulary.tokens)
            if text is None and vocabulary.name(token) in UNKNOWN
        }
        for token in self._unknown:
            self._pieces[token] = _ANYTHING
        self._known: dict[str, tuple[list[bytes], bool]] = {}

    def pieces(self, text: str) -> tuple[list[bytes], bool]:
        """The bytes of each token of a text, and whether one of the tokens is unknown; kept."""
        if text not in self._known:
            ids = self.encode(text)
            assert ids is not None, "the program cannot leave names of control tokens as text"
            self._known[text] = self.laid_out(ids)
        return self._known[text]

    def laid_out(self, ids: Sequence[int]) -> tuple[list[bytes], bool]:
        """The same for some tokens."""
        pieces = [self._pieces[token] for token in ids]
        if ids and self._first is not None:
            first = self._first[ids[0]]
            pieces[0] = pieces[0] if first is None else first
        return pieces, not self._unknown.isdisjoint(ids)

    def reproduces(self, text: str) -> bool:
        """Whether the tokens of a text spell a text that has these tokens."""
        pieces = self.pieces(text)
        try:
            return self.pieces(b"".join(pieces[0]).decode()) == pieces
        except UnicodeDecodeError:
            return False

    def damage(self, boundary: bytes, text: str, written: str | None = None) -> Damage:
        """What is done to a boundary.

        Args:
            boundary: its bytes.
            text: the text.
            written: what the program is given in its place, such as its NFC.
        """
        pieces, has_unknown = self.pieces(text if written is None else written)
        return damage(boundary, text.encode(), pieces, has_unknown)


def damage(boundary: bytes, text: bytes, pieces: Sequence[bytes], has_unknown: bool = False) -> Damage:
    """What tokens with these bytes do to a boundary of a text."""
    spelled = b"".join(pieces)
    before, found = sum(1 for _ in occurrences(boundary, text)), list(occurrences(boundary, spelled))
    kinds = []
    if found:
        borders = {0, *accumulate(map(len, pieces))}
        if any(at not in borders or at + len(boundary) not in borders for at in found):
            kinds.append("crossed")
    if len(found) < before:
        kinds.append("unknown" if has_unknown else "destroyed")
    if found and not before:
        kinds.append("made")
    return frozenset(kinds)


def occurrences(boundary: bytes, text: bytes) -> Iterator[int]:
    """Where it stands in a text, overlapping ones too."""
    at = text.find(boundary)
    while at >= 0:
        yield at
        at = text.find(boundary, at + 1)
