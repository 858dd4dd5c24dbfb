"""The bytes of a text's tokens: its first token may have others than the same token in the middle of a text.

Problem.  Some decoders have a rule for the start of a text: Llama 2's drops a space there, BERT's sets none.
So the tokens ``▁the``, ``▁one`` are "the one" as a text, and " the one" where other tokens come before them.
How.  A matcher counts with that rule where its text is the first that the decoder reads, and whatever writes
the text down has to do the same.
"""

from __future__ import annotations

from collections.abc import Iterable

from tokamata.vocabulary import Vocabulary

__all__ = ["Spelling"]


class Spelling:
    """The bytes of the tokens of one text.

    Args:
        vocabulary: the vocabulary.
        is_start: whether the text is the first that the decoder reads.
    """

    def __init__(self, vocabulary: Vocabulary, is_start: bool) -> None:
        self._vocabulary = vocabulary
        self._first = vocabulary.start_tokens() if is_start else None

    @property
    def has_start_rule(self) -> bool:
        """Whether the first token may have other bytes than the same token later."""
        return self._first is not None

    def is_control(self, token: int) -> bool:
        """Whether no text has a token."""
        return self._vocabulary[token] is None

    def of(self, token: int, *, is_first: bool) -> bytes:
        """The bytes of a token; none for a control token."""
        if is_first and self._first is not None and token < len(self._first):
            return self._first[token] or b""
        return self._vocabulary[token] or b""

    def is_silent(self, token: int) -> bool:
        """Whether nothing is left of a token with text where it is the first one."""
        return bool(self._vocabulary[token]) and not self.of(token, is_first=True)

    def each(self, tokens: Iterable[int]) -> list[bytes]:
        """The bytes of each token of a text, from its first one on."""
        return [self.of(token, is_first=place == 0) for place, token in enumerate(tokens)]
