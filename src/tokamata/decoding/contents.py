"""What a text contains so far, for its steps: the events of what has been shown, and the value.

Problem.  What is held back may be a stop text, which has no events.  Where control tokens say where the parts
of a text end, its bytes do not tell.
How.  Events are read from the bytes that were shown, or come from the matcher, which has the tokens.  The
value follows from the bytes and the events (:mod:`tokamata.values.growing_thoughts`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokamata.decoding.written_text import WrittenText
from tokamata.values.events import Event, EventReader

if TYPE_CHECKING:
    from tokamata.matching.matchers import Matcher
    from tokamata.values.growing_thoughts import Growing

__all__ = ["Contents"]


class Contents:
    """The contents of one text.

    Args:
        events: reads what is shown, or ``None``.
        value: of the text, of which there is nothing yet.
        text: the text.
    """

    def __init__(self, events: EventReader | None, value: Growing, text: WrittenText) -> None:
        self._reader = events
        self._value = value
        self._text = text
        self._read = 0  # bytes

    def add(self, new: bytes) -> None:
        """More of the text."""
        self._value.add(new)

    def after(
        self, controlled: Matcher | None, *, is_end: bool = False
    ) -> tuple[tuple[Event, ...], tuple[Growing, int]]:
        """The events since the last call, and the value with its place.

        Args:
            controlled: the matcher, if control tokens say where the parts of the text end.
            is_end: whether nothing can follow; without ``controlled``, this closes the last values.
        """
        events: list[Event] = []
        reader = self._reader
        if controlled is not None:
            events = controlled._events_with_deltas()
        elif reader is not None:
            begin, self._read = self._read, self._text.shown
            events = reader.feed(self._text.shown_since(begin))
            if is_end:
                events += reader.end()
        starts = controlled._start_of if controlled is not None else self._start_of
        return tuple(events), (self._value, self._value.place(self._text.shown, events, starts))

    def _start_of(self, name: str) -> int | None:
        return None if self._reader is None else self._reader.start_of(name)
