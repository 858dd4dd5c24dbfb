"""The file of a grammar and those that it imports, each read once.

A grammar is read again in another process, which may not have the files.  It sees the texts that were read
first.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

__all__ = ["GrammarFile", "LeadsOut"]


class LeadsOut(Exception):
    """An import that ends outside of the folder of the grammar."""


class GrammarFile:
    """The file of a grammar, with its imports.

    Attributes:
        path: of the file; imports are relative to it.
        text: of the file.
    """

    def __init__(self, path: str, text: str, imports: Mapping[str, str]) -> None:
        """``imports``: the texts of the imports that were read already, by their paths."""
        self.path = path
        self.text = text
        self._imports = dict(imports)

    def __reduce__(self) -> tuple[type[GrammarFile], tuple[str, str, dict[str, str]]]:
        return GrammarFile, (self.path, self.text, self._imports)

    def imported(self, base: str, name: str) -> tuple[str, str]:
        """The path and the text of an import, which stays in the folder of the grammar.

        Args:
            base: the folder of the file that imports.
            name: what it imports.

        Raises:
            LeadsOut: it is outside of the folder.
            OSError: it cannot be read.
        """
        joined = os.path.join(base, name)
        if joined not in self._imports:
            found = Path(joined).resolve()
            if not found.is_relative_to(Path(self.path).parent.resolve()):
                raise LeadsOut(name)
            self._imports[joined] = found.read_text(encoding="utf-8")
        return joined, self._imports[joined]
