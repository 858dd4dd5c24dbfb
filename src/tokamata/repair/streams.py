"""The repair of a text that still arrives: values as soon as they are final.

Problem.  A model's answer is to be used while it is written.  Half of a broken text has a repair too, but
the other half may change it.  Which values stand, whatever comes?
Example.  ``{'a': 1, 'b': tru`` has the final value ``/a`` = 1; ``/b`` is not final, and ``true`` its
nearest value.

How.  ``core/repair/stream_search.hpp`` searches on with each piece, and finds which beginning of the
repaired text all repairs share that cost at most ``slack`` more than the cheapest one so far; still more
where a mistake is near that costs more than ``slack``.  Patterns are judged where the bytes that they read
are there (``core/repair/streamed_patterns.hpp``), words and finders as far as they are known
(:mod:`.stream_words`, :mod:`.stream_finders`).  The trackers of :mod:`tokamata.values.events` turn the
decided text into events.  At the end the whole text is repaired, as by :meth:`tokamata.Constraint.repair`.

What is proven.  Let P be the decided beginning when :attr:`RepairStream.holds_until` was B.  The repair of
the whole text begins with P if it is optimal, costs at most B, is the only one of its cost, and takes no
rewrite of what P was made from that only later bytes brought.  Without the last condition hardly anything is
final: ``"a": 2`` later in an object gives up its first member ``a``.

Cost.  In proportion to the text, however it is cut; a value that is read costs what it holds.
Not taken.  The repair of all that has arrived, with each piece: quadratic, and it says nothing about the
next piece.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Generic, NoReturn, TypeVar

import tokamata._core as _core
from tokamata.calls.arguments import checked_instance
from tokamata.errors import ArgumentError, Cancelled, LimitExceeded, ParseError, PicklingError, shown_argument
from tokamata.repair.bounded_patterns import BoundedPatterns
from tokamata.repair.costs import BY_WRITTEN, NOWHERE, EditCosts, TakenRewrites
from tokamata.repair.results import Repair
from tokamata.repair.stream_finders import fed
from tokamata.repair.stream_words import StreamedWords
from tokamata.resources.limits import CancelToken, Limits, core_limits
from tokamata.values.events import EventReader
from tokamata.values.forms import Form, Reading, is_json
from tokamata.values.json_events import Event
from tokamata.values.partial_values import PartialJson

__all__ = ["RepairStream"]

_T_co = TypeVar("_T_co", covariant=True)
_Rewrite = tuple[int, int, bytes, int, int, int]  # as the engine takes it
_FIRST_MODE = 1  # where texts begin, as a bit


class _Followed:
    """The search for what is decided: costs of the text as it grows, and the engine."""

    def __init__(
        self,
        automata: _core.KeptAutomata,
        pattern: str,
        costs: EditCosts,
        slack: int,
        limits: Limits,
        cancel: CancelToken | None,
    ) -> None:
        patterns = costs._patterns
        self._costs, self._patterns = costs, patterns
        self._bounds = BoundedPatterns(limits, cancel)
        prices = [*(one.cost for one in costs.rewrites), *(0 for _ in patterns.doubt_of)]
        self._words: StreamedWords | None = None
        words = costs.words
        if words is not None and not words.is_empty and (costs.typo is not None or costs.firm > 0):
            self._words = StreamedWords(words)
        taken = TakenRewrites(costs.modes, list(patterns.names))
        self._finders = [fed(finder, costs.words, taken, self._bounds) for finder in costs.finders]
        # What is appended at the end plays no part: there is no end yet.
        machine = costs._machine(b"").engine
        self._engine = _core.StreamSearch(
            automata,
            machine,
            patterns.of_bytes.engine,
            prices,
            slack,
            core_limits(limits),
            cancel,
            pattern,
        )

    @property
    def cost(self) -> int | None:
        return self._engine.cost

    @property
    def bound(self) -> int | None:
        return self._engine.bound

    @property
    def follows(self) -> bool:
        return self._engine.follows

    def undecided(self) -> bytes:
        return self._engine.undecided()

    def feed(self, chunk: bytes, text: bytearray) -> bytes:
        """What more is decided of the repaired text; ``text`` ends with the chunk."""
        rewrites: list[_Rewrite] = []
        for number, begin, end in self._engine.feed(chunk):
            written = self._patterns.written(number, None, begin, text)
            if written is not None:
                cost = self._costs.rewrites[number].cost
                rewrites.append((begin, end, written, cost, *self._patterns.modes[number]))
        withheld, decided = NOWHERE, self._engine.decided_until
        open_rewrites: list[tuple[int, int, int]] = []
        for finder in self._finders:
            found_by = finder.feed(text, decided)
            rewrites += found_by.rewrites
            open_rewrites += [one for one in found_by.open if one[0] >= decided]
            withheld = min(withheld, found_by.withheld)
        firm: list[tuple[int, int]] = []
        settled = len(text)
        if self._words is not None:
            found = self._words.feed(text, self._bounds)
            typo = self._costs.typo
            if typo is not None:
                rewrites += [
                    (begin, end, word, typo + more, _FIRST_MODE, BY_WRITTEN)
                    for begin, end, word, more in found.typos
                ]
                open_rewrites += [(quote, typo, _FIRST_MODE) for quote in found.open]
            if self._costs.firm > 0:
                firm = [(position, self._costs.firm) for position in found.firm]
                settled = found.settled
        return self._engine.advance(rewrites, firm, open_rewrites, settled, min(withheld, NOWHERE))


class RepairStream(Generic[_T_co]):
    """The repair of a text that arrives in pieces; made by :meth:`tokamata.Constraint.repair_stream`.

        stream = tk.json().repair_stream()
        stream.feed("{'a': 1, 'b': tru")
        stream.value                                     # {"a": 1, "b": True}
        [event.pointer for event in stream.events()]     # ["/a"]
        stream.feed("e,}")
        stream.finish().text                             # '{"a": 1, "b": true}'

    A value that :meth:`events` reports is *final*: the repair of the whole text has it too, unless

    - that repair costs more than :attr:`holds_until` did when the value was reported: the rest of the text
      is so broken that another reading of its beginning has become cheaper; or it is not optimal, or not
      the only one of its cost;
    - or a later byte brings an edit of what was final: a member whose name comes again gives up the first
      one, another value at the root the one before it, the end of a thought all that stands before it.

    Both are rare, and neither is silent: :attr:`retracted` has the values that were reported and did not
    stay.

    A text that the engine cannot follow has all of its events at the end: costs with patterns that only
    :mod:`re` can search, a limit that was passed, or prose that goes on for long where the constraint has a
    value.

    Threads take turns.  A stream cannot be pickled.
    """

    def __init__(
        self,
        automata: _core.KeptAutomata,
        pattern: str,
        form: Form,
        costs: EditCosts,
        slack: int,
        limits: Limits,
        cancel: CancelToken | None,
        repair: Callable[[bytes], Repair[_T_co]],
    ) -> None:
        self._lock = threading.Lock()
        self._repair = repair
        self._form = form
        self._reading = Reading(pattern, limits, cancel)
        self._limits = limits
        self._text = bytearray()
        self._decided = bytearray()
        self._reader: EventReader | None = EventReader(form, self._reading)
        self._partial = PartialJson()
        self._events: list[Event] = []
        self._final: dict[str, Any] = {}
        self._unread: list[Event] = []  # not yet in _final
        self._retracted: tuple[Event, ...] = ()
        self._finished: Repair[_T_co] | None = None
        self._followed: _Followed | None = None
        if not costs._patterns.of_bytes.others:
            self._followed = _Followed(automata, pattern, costs, slack, limits, cancel)

    def feed(self, chunk: str | bytes) -> None:
        """More of the text, cut anywhere, also within a code point.

        Args:
            chunk: the piece; bytes that are not UTF-8 are repaired too.

        Raises:
            ArgumentError: the chunk is no text, or the stream is finished; a function of a rewrite returned
                something else than bytes or ``None``.
            LimitExceeded: the text is longer than ``limits.memory_bytes``; the chunk was not taken.
            Cancelled: the work was stopped; the chunk was not taken, and what follows has its events at the
            end.
        """
        checked_instance("chunk", chunk, (str, bytes, bytearray, memoryview), "a str, or bytes")
        # A surrogate is no text; its three bytes are removed like any others.
        data = chunk.encode("utf-8", "surrogatepass") if isinstance(chunk, str) else bytes(chunk)
        with self._lock:
            if self._finished is not None:
                expected = "left out: the stream is finished"
                hint = "make another one with repair_stream()"
                raise ArgumentError("chunk", shown_argument(chunk), expected, hint)
            if len(self._text) + len(data) > self._limits.memory_bytes:
                raise LimitExceeded("memory_bytes", self._limits.memory_bytes, self._reading.pattern)
            if data:
                self._feed(data)

    def _feed(self, data: bytes) -> None:
        before = len(self._text)
        self._text += data
        if self._followed is None:
            return
        try:
            decided = self._followed.feed(data, self._text)
            self._report(decided)
        except LimitExceeded:
            self._followed = None
            return
        except (Cancelled, ArgumentError):
            self._followed = None
            del self._text[before:]
            raise

    def _report(self, decided: bytes) -> None:
        if not decided:
            return
        self._decided += decided
        if self._reader is not None:
            try:
                found = self._reader.feed(decided)
            except (ParseError, RecursionError):
                self._reader = None  # what is decided has no value yet: the events come at the end
                return
            self._events += found
            self._unread += found

    def events(self) -> list[Event]:
        """The values that have become final since the last call, as :meth:`tokamata.Matcher.events` has them.

        Offsets are those of the repaired text.  After :meth:`finish`, those that had not been reported.
        """
        with self._lock:
            found, self._events = self._events, []
            return found

    @property
    def final(self) -> Mapping[str, Any]:
        """All final values so far, by their JSON Pointers; of two with one pointer the later one."""
        with self._lock:
            for event in self._unread:
                self._final[event.pointer] = event.value
            self._unread.clear()
            return MappingProxyType(self._final)

    @property
    def text(self) -> str:
        """The repaired text as far as it is read: the decided part, then what is nearest to the rest.

        A code point that is not complete is left out.
        """
        with self._lock:
            return self._so_far().decode("utf-8", "ignore")

    @property
    def value(self) -> Any:
        """The nearest value so far, of a constraint whose texts are JSON; otherwise :attr:`text`.

        What is open is taken as it is: strings as far as they go, numbers as far as they are numbers,
        objects and arrays with what is in them.  ``None``: nothing of a value is there yet.  It is what
        ``json.loads`` would return, and no instance of a type; :func:`tokamata.partial` makes one.
        """
        with self._lock:
            if not is_json(self._form):
                return self._so_far().decode("utf-8", "ignore")
            if self._finished is not None:
                whole = PartialJson()
                return whole.value(self._finished.text.encode(), b"")
            return self._partial.value(self._decided, self._rest())

    @property
    def cost(self) -> int | None:
        """What the cheapest repair of what was read costs at least; ``None`` while no cheap one is known."""
        with self._lock:
            if self._finished is not None:
                return self._finished.cost
            return None if self._followed is None else self._followed.cost

    @property
    def holds_until(self) -> int | None:
        """The cost of a whole repair up to which all values stand that are reported now.

        It is ``cost + slack``, and more where a mistake is near.  ``None`` where ``cost`` is, and at the end.
        """
        with self._lock:
            return None if self._followed is None else self._followed.bound

    @property
    def retracted(self) -> tuple[Event, ...]:
        """Events that were reported and that the repair of the whole text does not have; known at the end."""
        return self._retracted

    def finish(self) -> Repair[_T_co]:
        """The repair of the whole text: that of :meth:`tokamata.Constraint.repair`, however the text was cut.

        It has the limits of the stream for itself.  A second call returns the same repair.

        Raises:
            EmptyConstraintError: no text is accepted.
            LimitExceeded: a limit was passed before any accepted text was found.
            Cancelled: the search was cancelled.
        """
        with self._lock:
            if self._finished is None:
                self._followed = None  # gives its automaton back, which the repair uses
                repair = self._repair(bytes(self._text))
                self._end(repair.text.encode())
                self._finished = repair
            return self._finished

    def _end(self, text: bytes) -> None:
        """The last events; and those that do not hold."""
        reader = self._reader
        if reader is not None and text.startswith(self._decided):
            found = reader.feed(text[len(self._decided) :]) + reader.end()
        else:
            whole = EventReader(self._form, self._reading)
            found = whole.feed(text) + whole.end()
            reported = EventReader(self._form, self._reading).feed(bytes(self._decided)) if reader else []
            found, self._retracted = _compared(found, reported)
        self._events += found
        self._unread += found
        for event in self._retracted:
            self._final.pop(event.pointer, None)
        self._unread = [event for event in self._unread if event not in self._retracted]

    def _rest(self) -> bytes:
        return b"" if self._followed is None else self._followed.undecided()

    def _so_far(self) -> bytes:
        if self._finished is not None:
            return self._finished.text.encode()
        return bytes(self._decided) + self._rest()

    def __reduce__(self) -> NoReturn:
        raise PicklingError("a RepairStream", "feed its text to a new one, in the other process")

    def __repr__(self) -> str:
        return f"<RepairStream for {self._reading.pattern!r} after {len(self._text)} bytes>"


def _compared(found: list[Event], reported: list[Event]) -> tuple[list[Event], tuple[Event, ...]]:
    """The events that were not reported, and the reported ones that are not there, by pointer and value."""
    left: dict[str, list[Event]] = {}
    for event in reported:
        left.setdefault(event.pointer, []).append(event)
    new: list[Event] = []
    for event in found:
        same = left.get(event.pointer, [])
        number = next((i for i, one in enumerate(same) if _is_same(one.value, event.value)), None)
        if number is None:
            new.append(event)
        else:
            del same[number]
    return new, tuple(event for events in left.values() for event in events)


def _is_same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)
