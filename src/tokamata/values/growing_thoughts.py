"""The value of reasoning and an answer at every step while they are written.

Example.  Of ``Born 1879.</think>{"name": "Klee", "born": 1879}``, read by ``think_first(Painter)``,

==================  =============================================================
after               value
==================  =============================================================
``Born 18``         ``Parts(("Born 18", None))``
``79.</thi``        ``Parts(("Born 1879.", None))``, since the tag may have begun
``nk>``             the same
``{"name": "Kl``    ``Parts(("Born 1879.", PartialPainter(name="Kl")))``
==================  =============================================================

How.  The reasoning is the deltas of its events (:mod:`.events`).  Once the events' reader is certain where
the answer begins, the bytes from there have a value of their own.

Cost: that of the events and of the answer's value, and nothing where the value is not read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from tokamata.values.growing_values import GrowingValue
from tokamata.values.json_events import Event
from tokamata.values.parts import Parts

__all__ = ["Growing", "GrowingThought"]


class GrowingThought:
    """The values of a text of :func:`tokamata.think_first` that grows.

    Args:
        answer: the value of the answer, of which there is nothing yet.
    """

    def __init__(self, answer: GrowingValue) -> None:
        self._answer = answer
        self._text = bytearray()
        self._reasoning = ""
        self._start: int | None = None  # of the answer
        self._reached: list[tuple[int, int]] = []  # the length of the reasoning; that of the answer, or -1

    def add(self, data: bytes) -> None:
        """More of the text."""
        self._text += data

    def place(self, shown: int, events: Sequence[Event], start_of: Callable[[str], int | None]) -> int:
        """What :meth:`at` needs for the value now; arguments as in :meth:`.GrowingValue.place`."""
        for event in events:
            if event.is_delta and event.pointer == "/reasoning":
                self._reasoning += event.value
        if self._start is None:
            self._start = start_of("answer")
        if self._start is not None:
            self._answer.add(bytes(self._text[self._start :]))
            del self._text[self._start :]
        answer = -1 if self._start is None else shown - self._start
        self._reached.append((len(self._reasoning), answer))
        return len(self._reached) - 1

    def at(self, place: int) -> Any:
        """The value at a place; what is not there yet is ``None``."""
        length, end = self._reached[place]
        answer = None if end < 0 else self._answer.at(end)
        fields = {"reasoning": self._reasoning[:length], "answer": answer}
        return Parts(fields.values(), fields)


Growing: TypeAlias = GrowingValue | GrowingThought
