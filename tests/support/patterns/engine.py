"""What the engine itself says about a text: a compiled constraint over single bytes, walked byte by byte."""

from __future__ import annotations

from contextlib import suppress

import tokamata as tk
from tokamata import _core
from tokamata.constraint import Constraint

VOCABULARY = tk.Vocabulary.load([bytes([value]) for value in range(256)] + [b"</s>"], stop=[256])


class Engine:
    """An expression, compiled."""

    def __init__(self, expression: _core.Expression, pattern: str = "") -> None:
        self._compiled: tk.CompiledConstraint | None = None
        with suppress(tk.EmptyConstraintError):  # no text at all is accepted
            self._compiled = Constraint(expression, pattern).compile(VOCABULARY)

    def accepts(self, text: str) -> bool:
        if self._compiled is None:
            return False
        matcher = self._compiled.matcher()
        return all(matcher.advance(byte) for byte in text.encode()) and matcher.is_accepting
