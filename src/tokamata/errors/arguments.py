"""Errors in what a call was given: its arguments, masks and token ids."""

from __future__ import annotations

from tokamata.errors.base import TokamataError


class ArgumentError(TokamataError, TypeError, ValueError):
    """An argument of the wrong type or with a wrong value.

    It is both a ``TypeError`` and a ``ValueError``: callers expect either, and need not know which of them
    ``limits=5`` is.

    Attributes:
        argument: the name of the argument.
        found: its value, shortened.
        expected: the values that it may have.
        hint: what to do about it, or ``""``.
    """

    def __init__(self, argument: str, found: str, expected: str, hint: str = "") -> None:
        super().__init__(argument, found, expected, hint)
        self.argument = argument
        self.found = found
        self.expected = expected
        self.hint = hint

    def _message(self) -> str:
        message = f"{self.argument} must be {self.expected}, not {self.found}"
        return f"{message}; {self.hint}" if self.hint else message


class MaskError(TokamataError, ValueError):
    """A mask, or logits, of the wrong dtype, length or memory layout."""


class TokenIdError(TokamataError, IndexError):
    """A token id outside the width of the vocabulary."""


class RollbackError(TokamataError, ValueError):
    """A rollback past the start of the text."""
