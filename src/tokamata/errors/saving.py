"""Errors of saving, loading and copying objects."""

from __future__ import annotations

from tokamata.errors.base import TokamataError


class PicklingError(TokamataError, TypeError):
    """An object that cannot be pickled or copied.

    Attributes:
        what: the object.
        advice: what to do in its place.
    """

    def __init__(self, what: str, advice: str) -> None:
        super().__init__(what, advice)
        self.what = what
        self.advice = advice

    def _message(self) -> str:
        return f"{self.what} cannot be pickled or copied; {self.advice}"


class CompiledFileError(TokamataError, ValueError):
    """A file of a compiled constraint that cannot be written, or that holds none for this vocabulary.

    Attributes:
        path: of the file.
        reason: what is wrong.
        advice: what to do.
    """

    def __init__(self, path: str, reason: str, advice: str) -> None:
        super().__init__(path, reason, advice)
        self.path = path
        self.reason = reason
        self.advice = advice

    def _message(self) -> str:
        return f"{self.path!r:.200}: {self.reason}; {self.advice}"
