"""Values of which nothing is known, and a conversation of any length around one message.

**Problem.**  Many claims are about one message: its text stands as it is; its tokens are those of the text
alone. They are to be proved for each message of every conversation, however long it is.

**Method.**  A conversation is seen around one of its messages, M, in one of three positions::

    M (rest)      one message, M (rest)      two messages or more, M (rest)      each with M last or not

All other messages are :class:`Unknown`: whatever the template asks about them, both answers are tried, and
what it writes of them is a slot of any text.  A loop over the conversation runs its body for M alone.  What
the other iterations do is a *gap*: they write something, and change attributes of namespaces, which are
unknown after it.  Nothing else lasts, since variables that a loop sets end with the iteration, and lists
cannot be changed.  So each rendering of each conversation is one of the renderings found, with texts for
its unknown slots and gaps.  The reverse is not true: only proofs can be drawn from them.

**What is unknown may hold the text of M.**  A value is *tainted* if it may: items of a filtered or reversed
conversation, but not of the messages of another role than that of M; a message by an unknown index; and what
a gap writes if its iterations can reach M.  A message from the end is M or another one, which are two paths.
The next iteration reads M by ``loop.previtem``; M's text may be in a variable.  Whoever proves that nothing
else than the slots of M has its text has to refuse renderings with tainted slots.

**Example.**  ``{% for m in messages %}{% if loop.index0 > ns.last %}{{ m.content }}{% endif %}{% endfor %}``:
after a gap, ``ns.last`` is unknown, so that there is a rendering with the content and one without.
"""

from __future__ import annotations

import types
from collections.abc import Hashable, ItemsView, Iterator, ValuesView
from dataclasses import dataclass, replace
from typing import Any

from tokamata.guard.templates.decisions import Run, Unfollowed
from tokamata.guard.templates.pieces import Piece, Rendering, Slot, Source
from tokamata.guard.templates.texts import HTML_FILTERS, Count, JsonObject, Method, Parts, Symbolic, Text

__all__ = [
    "GAP",
    "TAINTED_GAP",
    "Gap",
    "Messages",
    "Place",
    "Size",
    "Unknown",
    "derived",
    "is_gap",
    "is_tainted",
    "may_be_html",
    "reaches",
]

# Fields of sources that are unknown.
UNKNOWN, TAINTED, GAP, TAINTED_GAP = "value", "value with texts of M", "gap", "gap with texts of M"


class Unknown(Symbolic):
    """A value of which nothing is known.

    Attributes:
        number: of the term by which it was computed; equal numbers of one run are the same value.
        is_tainted: whether it may hold the text of the message that a conversation is seen around.
        is_html: whether it may be ``Markup``, which escapes what is added to it.
    """

    NOUN = "an unknown value"
    __slots__ = ("is_html", "is_tainted", "number")

    def __init__(self, run: Run, term: Hashable, is_tainted: bool, is_html: bool = False) -> None:
        super().__init__(run)
        # A number for the term: terms that contain others twice would double with each operation.
        self.number = run.number_of(term)
        self.is_tainted = is_tainted
        self.is_html = is_html

    @property
    def term(self) -> Hashable:
        """How it was computed."""
        return "unknown", self.number

    def written(self) -> Text:
        """Its text."""
        field = TAINTED if self.is_tainted else UNKNOWN
        return Text(self.run, (Slot(Source("unknown", self.number, "", field)),))

    def __bool__(self) -> bool:
        return self.run.unknown(("truth", self.term))

    def _compared(self, name: str, other: object) -> bool:
        return self.run.unknown((name, self.term, term_of(other)))

    def __eq__(self, other: object) -> bool:
        return self._compared("eq", other)

    def __ne__(self, other: object) -> bool:
        return not self._compared("eq", other)

    def __lt__(self, other: object) -> bool:
        return self._compared("lt", other)

    def __le__(self, other: object) -> bool:
        return self._compared("le", other)

    def __gt__(self, other: object) -> bool:
        return self._compared("gt", other)

    def __ge__(self, other: object) -> bool:
        return self._compared("ge", other)

    def __contains__(self, other: object) -> bool:
        return self._compared("in", other)

    __hash__ = Symbolic.__hash__


class Place(Unknown):
    """A number that is known by its distance from the index of M, which is 2 or more.

    Attributes:
        offset: 0 for the index of M, -1 for that of the message before it.
    """

    __slots__ = ("offset",)

    def __init__(self, run: Run, offset: int) -> None:
        super().__init__(run, ("place", offset), False)
        self.offset = offset

    def moved(self, by: int) -> Place:
        """The number that is greater by so much."""
        return Place(self.run, self.offset + by)

    def _compared(self, name: str, other: object) -> bool:
        if type(other) is int:
            least = 2 + self.offset
            if other < least:
                return name in ("gt", "ge")
            if other == least and name in ("lt", "ge"):
                return name == "ge"
        return super()._compared(name, other)

    __hash__ = Symbolic.__hash__


class Size(Unknown):
    """A number of which a least value is known, such as how many messages a conversation has.

    Attributes:
        least: the least value that it may have, 0 or more.
    """

    __slots__ = ("least",)

    def __init__(self, run: Run, term: Hashable, least: int) -> None:
        super().__init__(run, term, False)
        self.least = least

    def __bool__(self) -> bool:
        return self._compared("gt", 0)

    def _compared(self, name: str, other: object) -> bool:
        if type(other) is int:
            if other < self.least:
                return name in ("gt", "ge")
            if other == self.least and name in ("lt", "ge"):
                return name == "ge"
        return super()._compared(name, other)

    __hash__ = Symbolic.__hash__


def term_of(value: object) -> Hashable:
    """A term for any value, equal for equal values alone within one run."""
    if isinstance(value, (Unknown, Messages)):
        return value.term
    if value is None or isinstance(value, (str, int)):
        return type(value).__name__, value
    if isinstance(value, float):  # zeros are equal, and not the same
        return "float", repr(value)
    if isinstance(value, Text):
        return "text", value.pieces, value.is_html
    if isinstance(value, JsonObject):
        return "json", value.slot
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, *map(term_of, value))
    if isinstance(value, dict):
        return ("dict", *((term_of(key), term_of(item)) for key, item in value.items()))
    return "object", object()  # equal to no other


def derived(run: Run, name: Hashable, *values: object) -> Unknown:
    """What an operation makes of values, of which one is unknown."""
    known = [value for value in values if not isinstance(value, (Unknown, Messages))]
    if any(reaches(value, None) for value in known if not isinstance(value, Unknown)):
        raise Unfollowed("an operation on an unknown value and a slot's text")
    is_tainted = any(
        isinstance(value, Messages) or (isinstance(value, Unknown) and value.is_tainted) for value in values
    )
    terms = map(term_of, values)
    is_filter = isinstance(name, tuple) and name[0] == "filter" and name[1] in HTML_FILTERS
    return Unknown(run, (name, *terms), is_tainted, is_filter or any(map(may_be_html, values)))


def may_be_html(value: object) -> bool:
    """Whether a value may be, or hold, ``Markup``."""
    if isinstance(value, (Unknown, Text)):
        return value.is_html
    if isinstance(value, (list, tuple, dict)):
        return any(map(may_be_html, value.values() if isinstance(value, dict) else value))
    return hasattr(type(value), "__html__") and not isinstance(value, Symbolic)


def reaches(value: object, index: int | None) -> bool:
    """Whether a value holds a text of a message, or of any message if the index is ``None``."""
    if type(value) in _WITHOUT_TEXTS:
        return False
    pending, seen = [value], set()
    kept: list[object] = []  # so that no other object has the identity of one
    while pending:
        one = pending.pop()
        if type(one) in _WITHOUT_TEXTS:
            continue
        if isinstance(one, (Text, JsonObject)):
            slots = one.pieces if isinstance(one, Text) else (one.slot,)
            if any(_is_of(slot, index) for slot in slots):
                return True
        elif isinstance(one, Unknown):
            if one.is_tainted:
                return True
        elif isinstance(one, (Parts, Method)):
            pending.append(one.text)
        elif isinstance(one, Count):
            continue
        elif isinstance(one, (list, tuple, dict, ValuesView, ItemsView)) and id(one) not in seen:
            seen.add(id(one))
            kept.append(one)
            pending.extend(one.values() if isinstance(one, dict) else one)
        elif isinstance(one, (Symbolic, types.BuiltinMethodType)):  # a position, a method of a list
            return True
    return False


_WITHOUT_TEXTS = frozenset([str, int, float, bool, type(None)])  # the types of most values


def _is_of(piece: object, index: int | None) -> bool:
    if not isinstance(piece, Slot):
        return False
    if not isinstance(piece.source, Source):
        return any(_is_of(each, index) for each in piece.source)
    source = piece.source
    if source.origin == "unknown":
        return source.field in (TAINTED, TAINTED_GAP)
    return index is None or (source.origin == "message" and source.index == index)


@dataclass
class Gap:
    """Where a loop goes through other messages than M."""


@dataclass
class Messages:
    """The messages of a conversation, or those from one of the first on, seen around one message.

    Attributes:
        run: the path.
        message: M.
        before: how many messages stand before M; 2 stands for two or more.
        last: whether M is the last message; ``None`` leaves it open.
        start: how many of the first messages are left out.
    """

    run: Run
    message: dict[str, Any]
    before: int
    last: bool | None = None
    start: int = 0

    def is_last(self) -> bool:
        """Whether M is the last message."""
        return self.run.unknown(("last",)) if self.last is None else self.last

    @property
    def term(self) -> Hashable:
        """Equal for the same messages alone."""
        return "messages", self.start, self.run.phase

    def __bool__(self) -> bool:
        if self.has_message() or self.is_last():
            return self.has_message()
        return self.start == self.before + 1 or self.run.unknown(("truth", self.term))

    def has_message(self) -> bool:
        """Whether M is among them."""
        return self.start <= self.before

    def length(self) -> Size:
        """How many they are."""
        return Size(self.run, ("length", self.term), max(0, self.before + 1 - self.start))

    def with_role(self, role: str, is_chosen: bool) -> Unknown:
        """Those whose role is a text, or those whose role is another one."""
        may_hold = self.has_message() and (self.message.get("role") == role) is is_chosen
        return Unknown(self.run, ("with role", role, is_chosen, self.term), may_hold)

    def items(self) -> Iterator[dict[str, Any] | Gap]:
        """M, and the gaps around it."""
        if self.before > min(self.start, 1):  # of two or more, some are left if two are left out
            yield Gap()
        if self.has_message():
            yield self.message
        if not self.is_last():
            yield Gap()

    def place(self) -> int | Place:
        """The index of M."""
        return self.before - self.start if self.before < 2 else Place(self.run, -self.start)

    def neighbour(self, offset: int) -> Any:
        """The message so many places after M; ``None`` if there is none."""
        if offset == 0:
            return self.message
        if offset > 0 and self.is_last():
            return None
        return Unknown(self.run, ("message", offset), False)

    def item(self, index: int | Place) -> Any:
        """The message at an index; ``None`` if there is none."""
        if isinstance(index, Place):
            if 2 + index.offset < 0:  # it may be counted from the end
                self.run.reads_from_the_end = True
                term = ("message by an index", index.offset, self.start, self.run.phase)
                return Unknown(self.run, term, True)
            return self.neighbour(index.offset + self.start)
        self.run.reads_from_the_end |= index < 0
        if index < 0 and self.is_last() and not self.has_message():
            return None
        if index == -1:
            if self.is_last():
                return self.message
            # There is one, unless they begin after the next message.
            start = self.start if self.start > self.before + 1 else 0
            return Unknown(self.run, ("last message", start, self.run.phase), False)
        if index < 0:
            # It is M or another one, and M itself is not the last.
            named = ("message from the end", index, self.start, self.run.phase)
            if self.has_message() and not self.is_last() and self.run.unknown(("it is M", *named)):
                return self.message
            return Unknown(self.run, named, False)
        at = index + self.start
        if self.before < 2:
            return self.neighbour(at - self.before)
        # From 2 on it may be M itself; from 3 on a shorter conversation may not have it.
        return Unknown(self.run, ("message at", at, self.run.phase if at > 2 else ""), at >= 2)

    def since(self, start: int) -> Messages:
        """The messages from an index on."""
        return Messages(self.run, self.message, self.before, self.last, self.start + start)


def is_gap(slot: Slot) -> bool:
    """Whether a slot stands for what is written for other messages."""
    return isinstance(slot.source, Source) and slot.source.field in (GAP, TAINTED_GAP)


def is_tainted(slot: Slot) -> bool:
    """Whether a slot stands for an unknown value that may hold the text of M."""
    if not isinstance(slot.source, Source):
        return any(is_tainted(each) for each in slot.source if isinstance(each, Slot))
    return slot.source.origin == "unknown" and slot.source.field in (TAINTED, TAINTED_GAP)


def numbered(renderings: tuple[Rendering, ...]) -> tuple[Rendering, ...]:
    """The same with unknown slots numbered by their order, so that like renderings of two runs are equal."""
    numbers: dict[int, int] = {}

    def renamed(piece: Piece) -> Piece:
        if not isinstance(piece, Slot):
            return piece
        if not isinstance(piece.source, Source):
            return Slot(tuple(map(renamed, piece.source)), piece.steps)
        if piece.source.origin != "unknown":
            return piece
        number = numbers.setdefault(piece.source.index, len(numbers))
        return Slot(replace(piece.source, index=number), piece.steps)

    return tuple(replace(each, pieces=tuple(map(renamed, each.pieces))) for each in renderings)
