"""A regular language over bytes, as an explicit deterministic automaton."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tokamata.calls.arguments import checked_text
from tokamata.constraints.constraint import Constraint
from tokamata.errors import ArgumentError, shown_argument
from tokamata.resources.limits import Limits
from tokamata.vocabulary.single_bytes import single_bytes

__all__ = ["ByteLanguage"]


@dataclass(frozen=True)
class ByteLanguage:
    """A deterministic automaton over bytes; every state reaches acceptance.

    Attributes:
        shown: the language, for messages.
        classes: the class of each byte, 256 of them; bytes of one class have the same transitions.
        rows: by state, the target of each class that has one.  State 0 is the start.
        accepting: by state.
    """

    shown: str
    classes: tuple[int, ...]
    rows: tuple[dict[int, int], ...]
    accepting: tuple[bool, ...]

    @classmethod
    def of(cls, argument: str, value: Any, limits: Limits | None) -> ByteLanguage:
        """The language of a text or a constraint.

        Raises:
            ArgumentError: it is neither.
            AlgebraError, NotRegularError: the constraint has no closed form over bytes.
            LimitExceeded: the closed form passes a limit.
        """
        if isinstance(value, str):
            return cls.of_bytes(checked_text(value, argument))
        if not isinstance(value, Constraint):
            raise ArgumentError(argument, shown_argument(value), "a text or a regular constraint")
        automaton = value.compile(single_bytes(), limits=limits).token_automaton()
        classes = tuple(int(automaton.class_of_token[byte]) + 1 for byte in range(256))
        rows = tuple(_row(*automaton.row(state)) for state in range(automaton.states))
        return cls(str(value), classes, rows, tuple(map(bool, automaton.accepting)))

    @classmethod
    def of_bytes(cls, text: bytes) -> ByteLanguage:
        """The language of one text."""
        names = {byte: number + 1 for number, byte in enumerate(sorted(set(text)))}
        rows: tuple[dict[int, int], ...] = tuple({names[byte]: i + 1} for i, byte in enumerate(text))
        accepting = (False,) * len(text) + (True,)
        classes = tuple(names.get(byte, 0) for byte in range(256))
        return cls(repr(text.decode("utf-8", "replace")), classes, (*rows, {}), accepting)


def _row(classes: Iterable[int], targets: Iterable[int]) -> dict[int, int]:
    return {int(name) + 1: int(target) for name, target in zip(classes, targets, strict=True)}
