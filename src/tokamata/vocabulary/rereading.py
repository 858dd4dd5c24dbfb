"""Reads a file again when its content is needed, if it has not changed.

A vocabulary needs the whole content of its tokenizer's file only for canonical tokenization.  Keeping the
parsed file from the start would take ten times its size.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tokamata.errors import VocabularyError

__all__ = ["Reread"]


class Reread:
    """The content of a file, read at each call.

    Args:
        path: the file.
        read: reads the relevant bytes of it; by default, all.
    """

    def __init__(self, path: Path, read: Callable[[Path], bytes] = Path.read_bytes) -> None:
        self.path = path.absolute()
        self._read = read
        self._stamp = self._stamped()

    def _stamped(self) -> tuple[int, int]:
        stat = self.path.stat()
        return stat.st_mtime_ns, stat.st_size

    def check(self) -> None:
        """Checks that the file is as it was.

        Raises:
            VocabularyError: it has changed, or is gone.
        """
        try:
            if self._stamped() != self._stamp:
                raise VocabularyError(f"{self.path}: it has changed since it was loaded; load it again")
        except OSError as error:
            raise self._unreadable(error) from None

    def __call__(self) -> bytes:
        """The bytes; raises as :meth:`check` does."""
        self.check()
        try:
            return self._read(self.path)
        except OSError as error:
            raise self._unreadable(error) from None

    def _unreadable(self, error: OSError) -> VocabularyError:
        return VocabularyError(f"{self.path}: cannot be read any more: {error}")
