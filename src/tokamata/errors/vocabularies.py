"""Errors of a vocabulary and its tokens."""

from __future__ import annotations

from tokamata.errors.base import TokamataError


class VocabularyError(TokamataError, ValueError):
    """A tokenizer, or a file of one, that cannot be read as a vocabulary."""


class VocabularyWarning(TokamataError, UserWarning):
    """A vocabulary without stop tokens, or one that seems to be of another model; a warning, not an error."""


class UnknownTokenError(VocabularyError, KeyError):
    """A control token that the vocabulary does not have.

    Attributes:
        name: the requested name.
        reason: why there is no such control token.
        close: similar names of control tokens.
    """

    def __init__(self, name: str, reason: str, close: tuple[str, ...] = ()) -> None:
        super().__init__(name, reason, close)
        self.name = name
        self.reason = reason
        self.close = close

    def _message(self) -> str:
        hint = f"; did you mean {', '.join(self.close)}?" if self.close else ""
        return f"no control token {self.name!r:.100}: {self.reason}{hint}"


class NoStopTokenError(TokamataError, ValueError):
    """A vocabulary for generation names no stop token."""


class UnigramModelError(VocabularyError):
    """A Unigram model that contradicts itself, or with which the host's program has no defined result.

    Attributes:
        piece: the id of the piece at fault, or ``None``.
        reason: what is wrong.
        hint: what to do about it.
    """

    def __init__(self, piece: int | None, reason: str, hint: str) -> None:
        super().__init__(piece, reason, hint)
        self.piece = piece
        self.reason = reason
        self.hint = hint

    def _message(self) -> str:
        where = "" if self.piece is None else f"piece {self.piece}: "
        return f"{where}{self.reason}; {self.hint}"
