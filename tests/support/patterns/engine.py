"""What the engine itself says about a text: a compiled constraint over single bytes, walked byte by byte."""

from __future__ import annotations

from contextlib import suppress

import tokamata as tk
from tests.support.matchers import takes
from tests.support.vocabularies import BYTE_VOCABULARY
from tokamata import _core
from tokamata.constraints.constraint import Constraint


class Engine:
    """An expression, compiled."""

    def __init__(self, expression: _core.Expression, pattern: str = "") -> None:
        self._compiled: tk.CompiledConstraint | None = None
        with suppress(tk.EmptyConstraintError):  # no text at all is accepted
            self._compiled = Constraint(expression, pattern).compile(BYTE_VOCABULARY)

    def accepts(self, text: str) -> bool:
        if self._compiled is None:
            return False
        return takes(self._compiled.matcher(), text.encode())
