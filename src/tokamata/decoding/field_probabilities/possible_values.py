"""The values that a constraint admits at a position of a JSON text, if they are few.

Problem.  A field has been written; which values could stand in its place?  The schema might say so, but a
constraint may also be a grammar or a sum of others.  The automaton knows it in any case.

How.  Over the 256 bytes as tokens, the texts of one value are enumerated from the position on, breadth first,
until it closes.  A string has many spellings, so beginnings with the same characters are followed once::

    "red" | "reed"     "  ->  "r  ->  "re  ->  "red  ->  "red" closed
                        \\u0072, which is r as well         "ree  ->  "reed  ->  "reed" closed

Values are not listed where there are more than 256 beginnings of a length, as there are of a number in free
spelling, and where an object or an array may stand.

Cost: a step of the engine for each byte of each value.
"""

from __future__ import annotations

import json
from decimal import InvalidOperation
from typing import TYPE_CHECKING, Any

from tokamata.decoding.value_probabilities.finite_texts import STOP
from tokamata.decoding.value_probabilities.results import key_of_value
from tokamata.matching.masks import allowed_tokens
from tokamata.values.json_events import Event, JsonTracker

if TYPE_CHECKING:
    from collections.abc import Hashable

    from tokamata.matching.matchers import Matcher

__all__ = ["PossibleValues", "possible_values"]

_MOST = 256  # values, and beginnings of a length
_MOST_BYTES = 4096  # of a text of a value
_BLANKS = b" \t\n\r"
_DIGITS = b"-+.0123456789eE"


class PossibleValues:
    """The values of a field.

    Attributes:
        values: the values, as ``json.loads`` gives them.
    """

    def __init__(self, texts: list[bytes]) -> None:
        self._texts = texts
        self.values: list[Any] = []
        self._numbers: dict[Hashable, int] = {}
        self._number_texts: list[tuple[bytes, int]] = []
        for text in texts:
            value = json.loads(text)
            number = self._numbers.setdefault(key_of_value(value), len(self.values))
            if number == len(self.values):
                self.values.append(value)
            if text[0] in _DIGITS:
                self._number_texts.append((text, number))

    def after(self, text: bytes) -> list[int]:
        """The numbers of the values that a text may still become, which begins where the value does.

        None if it begins with a blank.  Of a character that is written in part, any is possible.
        """
        if not text:
            return list(range(len(self.values)))
        if text[0] in _DIGITS:
            length = len(text) - len(text.lstrip(_DIGITS))
            digits = text[:length]
            is_closed = length < len(text)  # what follows ends the number
            return sorted(
                {
                    number
                    for whole, number in self._number_texts
                    if (whole == digits if is_closed else whole.startswith(digits))
                }
            )
        closed = _closed(text)
        if closed is not None:
            known = self._numbers.get(key_of_value(closed.value))
            return [] if known is None else [known]
        if text[0] != 0x22:
            names = {b"true": True, b"false": False, b"null": None}
            found = (self._numbers.get(key_of_value(names[name])) for name in names if name.startswith(text))
            return [number for number in found if number is not None]
        begun = _so_far(text)
        return [
            number
            for number, value in enumerate(self.values)
            if isinstance(value, str) and value.startswith(begun)
        ]


def possible_values(matcher: Matcher) -> PossibleValues | None:
    """The values that may come next, or ``None`` where they are many.

    Args:
        matcher: of a constraint compiled for :func:`.byte_vocabulary`, where a value begins.

    Raises:
        JSONDecodeError: a text begins like JSON, but is not JSON.
    """
    found: dict[bytes, None] = {}
    seen: set[Hashable] = set()
    level = [(b"", matcher)]
    for _ in range(_MOST_BYTES):
        following: list[tuple[bytes, Matcher]] = []
        for text, here in level:
            for byte in allowed_tokens(here.mask).tolist():
                if text[:1] and text[0] in _DIGITS and (byte == STOP or byte not in _DIGITS):
                    found[text] = None  # what follows ends the number
                    continue
                if byte == STOP or (not text and byte in _BLANKS):
                    continue
                after = text + bytes([byte])
                if not text and byte not in b'"tfn-0123456789':
                    if byte in b"{[":
                        return None
                    continue  # the end of an array, in place of a value
                if after[0] not in _DIGITS and _closed(after) is not None:
                    found[after] = None
                    continue
                if (key := _key(after)) in seen:
                    continue
                seen.add(key)
                fork = here.fork()
                fork.advance(byte)
                following.append((after, fork))
        if len(found) + len(following) > _MOST:
            return None
        if not following:
            return PossibleValues(list(found)) if found else None
        level = following
    return None


def _key(text: bytes) -> Hashable:
    """Beginnings with the same key lead to the same values."""
    if text[0] != 0x22:
        return text
    # What is not a whole character yet: bytes of UTF-8, or of an escape.
    begun = _so_far(text)
    place = text.rfind(b"\\")
    pending = text[place:] if place >= 0 and not _is_whole(text[place:]) else b""
    return begun, pending or _pending_bytes(text)


def _is_whole(escape: bytes) -> bool:
    return len(escape) >= (6 if escape[1:2] == b"u" else 2)


def _pending_bytes(text: bytes) -> bytes:
    try:
        text.decode()
    except UnicodeDecodeError as error:
        return text[error.start :]
    return b""


def _so_far(text: bytes) -> str:
    """The characters of a string that is open."""
    tracker = JsonTracker(0, None)
    tracker.feed(text, len(text), [])
    value = tracker.value_so_far(text)
    return value if isinstance(value, str) else ""


def _closed(text: bytes) -> Event | None:
    """The value that closes in a text, if one does."""
    events: list[Event] = []
    try:
        JsonTracker(0, None).feed(text, len(text), events)
    except InvalidOperation as error:  # it looks like a number, but is not one
        raise json.JSONDecodeError("no JSON", text.decode(errors="replace"), 0) from error
    return events[0] if events else None
