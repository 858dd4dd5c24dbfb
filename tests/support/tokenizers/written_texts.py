"""All short texts of an alphabet, as a tokenizer's own program writes them: what verdicts are judged by.

    written = WrittenTexts(tokenizer, "ab ", longest=6, names_are_text=False)
    written.reproduced["ab a"]      # 0b11001: the tokens "ab " and "a"

A text counts if its tokens spell it.  Borders are bits of an integer: bit i is set if a token ends, or the
first one begins, at byte i of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

from tokenizers import Tokenizer

from tests.support.texts import all_texts

Question = Literal["left", "right", "one token"]
Pieces = Callable[[list[int]], tuple[bytes, ...]]


class WrittenTexts:
    """The encodings of all texts up to a length.

    Args:
        tokenizer: a tokenizer of the package `tokenizers`; it is not changed.
        alphabet: the characters of the texts.
        longest: how many characters the longest ones have.
        names_are_text: whether names of special tokens are ordinary text.
        pieces_of: the bytes of each of the tokens of a text.

    Attributes:
        ids: by text, the shortest first (in bytes).
        reproduced: the texts that their tokens spell, the shortest first, with their borders.
        differing: texts that their tokens spell and that are decoded to another text, or the reverse.
    """

    def __init__(
        self, tokenizer: Tokenizer, alphabet: str, longest: int, names_are_text: bool, pieces_of: Pieces
    ) -> None:
        self.program = Tokenizer.from_str(tokenizer.to_str())
        self.program.encode_special_tokens = names_are_text
        self._pieces_of = pieces_of
        texts = sorted(all_texts(alphabet, longest), key=lambda text: len(text.encode()))
        self.ids: dict[str, list[int]] = dict(zip(texts, self.encoded(texts), strict=True))
        decoded = self.program.decode_batch(list(self.ids.values()), skip_special_tokens=False)
        self.reproduced: dict[str, int] = {}
        self.differing: list[str] = []
        for (text, ids), again in zip(self.ids.items(), decoded, strict=True):
            borders = self.borders_of(text, ids)
            if borders is not None:
                self.reproduced[text] = borders
            if (borders is not None) != (again == text):
                self.differing.append(text)

    def encoded(self, texts: list[str]) -> list[list[int]]:
        """The ids of any texts."""
        encodings: Any = self.program.encode_batch_fast(texts, add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def borders_of(self, text: str, ids: list[int]) -> int | None:
        """The borders of the tokens of a text; ``None`` if they spell another one."""
        pieces = self._pieces_of(ids)
        if b"".join(pieces) != text.encode():
            return None
        borders, at = 1, 0
        for piece in pieces:
            at += len(piece)
            borders |= 1 << at
        return borders


def occurrences(text: str, members: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Where texts stand in a text: the bytes at which they begin and end; they may overlap."""
    for member in members:
        at = text.find(member)
        while at >= 0:
            start = len(text[:at].encode())
            yield start, start + len(member.encode())
            at = text.find(member, at + 1)


def is_violated(borders: int, start: int, end: int, question: Question) -> bool:
    """By definition."""
    if question == "left":
        return not borders >> start & 1
    if question == "right":
        return not borders >> end & 1
    between = ((1 << end) - 1) >> (start + 1) << (start + 1)
    return not borders >> start & 1 or not borders >> end & 1 or bool(borders & between)
