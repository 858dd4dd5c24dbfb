"""The base of all errors, and the item of a batch that one is about."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class TokamataError(Exception):
    """Base of all errors that tokamata raises on purpose.

    Attributes:
        item: in a call with several prompts, constraints or options, the one that the error is about, such as
            ``"constraint 7"``, counted from 0; otherwise ``""``.
    """

    item: str = ""

    def __str__(self) -> str:
        return f"{self.item}: {self._message()}" if self.item else self._message()

    def _message(self) -> str:
        """The message, made from the attributes."""
        return super().__str__()


@contextmanager
def about(item: str) -> Iterator[None]:
    """Errors raised within name the item of a batch; with ``""`` they do not."""
    try:
        yield
    except TokamataError as error:
        error.item = error.item or item
        raise
