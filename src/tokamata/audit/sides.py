"""The two engines of an audit, each in a process, and when an audit ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tokamata.audit.apart import Apart, Broken
from tokamata.audit.engines import Engine
from tokamata.audit.walks import Followed, Walker, Writing, Written
from tokamata.vocabulary import Vocabulary

__all__ = ["Bounds", "Process", "Side", "SideBroken"]


@dataclass(frozen=True)
class Bounds:
    """When an audit ends.

    Attributes:
        seconds: for the comparison, after both engines have compiled.
        compile_seconds: for compiling, of each engine.
        call_seconds: for each other call of an engine.
        enough: findings of one kind, after which no more of this kind are looked for.
        rounds: texts that each engine writes, at most; ``None`` for no bound.  With it, and time enough, the
            texts depend on the seed alone.
    """

    seconds: float = 10.0
    compile_seconds: float = 60.0
    call_seconds: float = 10.0
    enough: int = 10
    rounds: int | None = None


class SideBroken(Exception):
    """An engine gave no answer.

    Attributes:
        side: the engine.
        error: how it ended.
        doing: what it was doing.
        text: with which text.
    """

    def __init__(self, side: Side, error: Broken, doing: str, text: bytes) -> None:
        super().__init__(str(error))
        self.side, self.error, self.doing, self.text = side, error, doing, text


class Process(Protocol):
    """What :class:`.Apart` does, and what tests do in the process that they run in."""

    @property
    def is_running(self) -> bool:
        """As :attr:`.Apart.is_running`."""

    def start(self) -> None:
        """As :meth:`.Apart.start`."""

    def call(self, method: str, seconds: float, *arguments: Any) -> Any:
        """As :meth:`.Apart.call`."""

    def close(self) -> None:
        """As :meth:`.Apart.close`."""


class Side:
    """One of the two engines.

    Args:
        name: what reports call it.
        process: has a :class:`.Walker` of the engine.
        vocabulary: the tokens.
    """

    def __init__(self, name: str, process: Process, vocabulary: Vocabulary) -> None:
        self.name, self.process = name, process
        self._vocabulary = vocabulary
        self.bounds = Bounds()

    @classmethod
    def apart(cls, name: str, make: Callable[[Vocabulary], Engine], vocabulary: Vocabulary) -> Side:
        """In a process of its own; ``make`` is pickled by its name."""
        return cls(name, Apart(Walker, make, vocabulary), vocabulary)

    def start(self) -> None:
        """Start its process, if it does not run."""
        try:
            self.process.start()
        except Broken as error:
            raise SideBroken(self, error, "starting", b"") from error

    def compile(self, schema: str) -> str:
        """Why the engine does not take the schema; or ``""``."""
        found: str = self._call("compile", "compiling", b"", self.bounds.compile_seconds, schema)
        return found

    def follow(self, tokens: Sequence[int], with_masks: bool) -> Followed:
        """As :meth:`.Walker.follow`."""
        found: Followed = self._call(
            "follow", "reading", self.text_of(tokens), None, list(tokens), with_masks
        )
        return found

    def read(self, texts: Sequence[list[int]]) -> list[int]:
        """As :meth:`.Walker.read`."""
        found: list[int] = self._call("read", "reading", self.text_of(texts[0]), None, texts)
        return found

    def write(self, texts: Sequence[tuple[list[int], Writing]]) -> list[Written]:
        """As :meth:`.Walker.write`."""
        found: list[Written] = self._call("write", "writing after", self.text_of(texts[0][0]), None, texts)
        return found

    def text_of(self, tokens: Iterable[int]) -> bytes:
        """The bytes of tokens."""
        return b"".join(self._vocabulary[token] or b"" for token in tokens)

    def _call(self, method: str, doing: str, text: bytes, seconds: float | None, *arguments: Any) -> Any:
        try:
            return self.process.call(method, seconds or self.bounds.call_seconds, *arguments)
        except Broken as error:
            raise SideBroken(self, error, doing, text) from error
