"""Engines for the audit of which it is known what is wrong: tokamata's masks, changed in one place."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

import tokamata as tk
from tokamata.audit.engines import Session, Tokamata, TokamataInAnyStyle

Row = npt.NDArray[np.int32]
TRUE = ord("t")


class Changed:
    """A session whose masks pass through ``change(row, text)``."""

    def __init__(self, inner: Session, change: Callable[[Row, bytes], None]) -> None:
        self._inner, self._change = inner, change
        self.text = b""

    def restart(self) -> None:
        self._inner.restart()
        self.text = b""

    def mask(self) -> Row:
        row = self._inner.mask().copy()
        self._change(row, self.text)
        return row

    def may_end(self) -> bool:
        return self._inner.may_end()

    def advance(self, token: int) -> bool:
        self.text += bytes([token]) if token < 256 else b"?"
        return self._inner.advance(token)


class _OfChange(Tokamata):
    """An engine with ``change``; in natural style."""

    def compile(self, schema: str) -> Session:
        return Changed(super().compile(schema), self.change)

    def change(self, row: Row, text: bytes) -> None:
        raise NotImplementedError


class ForbidsTrue(_OfChange):
    """One valid token is clear."""

    def change(self, row: Row, text: bytes) -> None:
        row[TRUE >> 5] &= ~np.int32(1 << (TRUE & 31))


class DeadEnd(_OfChange):
    """Nothing may follow the bracket."""

    def change(self, row: Row, text: bytes) -> None:
        if text.endswith(b"["):
            row[:] = 0


class Crashes(_OfChange):
    """Ends its process in the midst of a text."""

    def change(self, row: Row, text: bytes) -> None:
        if text:
            print("the last words", flush=True)
            os.kill(os.getpid(), signal.SIGSEGV)


class Hangs(_OfChange):
    """Works without end in the midst of a text."""

    def change(self, row: Row, text: bytes) -> None:
        while text:
            pass


class Waits(_OfChange):
    """Waits without end while it compiles."""

    def compile(self, schema: str) -> Session:
        time.sleep(3600)
        return super().compile(schema)


class Raises(_OfChange):
    """Raises in the midst of a text."""

    def change(self, row: Row, text: bytes) -> None:
        if text:
            raise KeyError("a defect")


class Refuses(Tokamata):
    """Takes no schema."""

    def compile(self, schema: str) -> Session:
        raise ValueError("no such\nkeyword")


class CannotBeMade(Tokamata):
    """Takes no vocabulary."""

    def __init__(self, vocabulary: tk.Vocabulary) -> None:
        raise RuntimeError("no such vocabulary")


class IgnoresMaximum(Tokamata):
    """Masks of another schema, which accepts more."""

    def compile(self, schema: str) -> Session:
        return super().compile(schema.replace("maximum", "x-maximum"))


class IgnoresFormats(Tokamata):
    """Formats are annotations."""

    style = {"formats": "annotate"}  # noqa: RUF012


class IsCompact(Tokamata):
    """No white space, plain spelling, in the order of the schema: restrictions of style alone."""

    style = {"whitespace": "compact", "spelling": "plain"}  # noqa: RUF012


class Contradicts(_OfChange):
    """``advance`` refuses a token of the mask."""

    def compile(self, schema: str) -> Session:
        session = super().compile(schema)
        advance = session.advance
        session.advance = lambda token: token != TRUE and advance(token)  # type: ignore[method-assign]
        return session

    def change(self, row: Row, text: bytes) -> None:
        """Leave the mask as it is."""


class TrailingComma:
    """Masks of a text that is not JSON."""

    def __init__(self, vocabulary: tk.Vocabulary) -> None:
        self._inner: Any = TokamataInAnyStyle(vocabulary)
        self._vocabulary = vocabulary

    def compile(self, schema: str) -> Session:
        session = self._inner.compile(schema)
        session._compiled = tk.regex(r"\[true,?\]").compile(self._vocabulary)
        session.restart()
        return session  # type: ignore[no-any-return]
