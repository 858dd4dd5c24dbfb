"""What each edit of a repair costs.

A cost stands for how seldom a mistake is made: 1,000 times the negative natural logarithm of its
frequency.  So the cheapest repair undoes the likeliest mistakes.  :mod:`.default_costs` has those for JSON.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache
from types import NoneType
from typing import Any, NamedTuple

import tokamata._core as _core
from tokamata.calls.arguments import checked_instance
from tokamata.calls.keywords import checked_fields
from tokamata.errors import ArgumentError, shown_argument
from tokamata.repair.bounded_patterns import BYTES_OF_A_MATCH, MATCHES_OF_A_CHECK, BoundedPatterns
from tokamata.repair.byte_patterns import BytePatterns, Meaning, Template
from tokamata.repair.words import Words
from tokamata.resources.limits import Limits
from tokamata.resources.locks import kept_property

__all__ = [
    "ALL_MODES",
    "BY_WRITTEN",
    "KEEP",
    "MOST_COST",
    "NEVER",
    "NOWHERE",
    "Doubt",
    "EditCosts",
    "EditMode",
    "FoundRewrite",
    "Rewrite",
    "RewriteFinder",
    "Span",
    "Tables",
    "TakenRewrites",
    "TextCosts",
    "packed",
]

KEEP = "keep"  # the name of an edit: a byte was kept at a price of its mode
NEVER = _core.NO_EDIT  # what an edit costs that may not be made
ALL_MODES = _core.ALL_MODES
BY_WRITTEN = _core.BY_WRITTEN  # to the mode that the written bytes lead to
NOWHERE = 1 << 62  # a position after all texts
_MOST_UNCHARGED = MATCHES_OF_A_CHECK * BYTES_OF_A_MATCH  # of rewrites that finders have found
MOST_COST = 1_000_000_000  # of an edit: sums for any text stay within the 64 bits of the engine
_OPENING, _CLOSING = (b"[", b"{", b"("), (b"]", b"}", b")")
# With its closing quote, if it has one; if not, no other string begins on the line, which is not read again.
_STRING = re.compile(rb'"(?:[^"\\\n]|\\.)*("?)')
_PLAIN_STRING = re.compile(rb'"[^"\n]*"')
_BLANKS_AND_FENCES = b" \t\r\n`"


class Rewrite(NamedTuple):
    """A named edit: wherever the pattern is found, what it read may become something else.

    A pattern that tries the same ends from many places, such as ``b"<[^>]*/>"`` in a text of ``</`` after one
    ``>``, takes quadratic time; exclude what it begins with (``b"<[^<>]*/>"``).  ``Limits`` and deadlines
    hold nevertheless.  Some patterns are searched by :mod:`re`, which cannot be interrupted: those with
    backreferences, conditions or atomic groups, and those that may match nothing, as a whole or under a
    quantifier.

    Attributes:
        name: what an :class:`.Edit` says about it.
        pattern: for :mod:`re`, of bytes; its matches are those of ``re.finditer``.
        replacement: what is written instead, as for ``re.sub``: a template, or a function of the match.  A
            function may return ``None``: what it was given is not rewritten.
        cost: what it costs.
        within: names of the :class:`.EditMode` in which it may be taken; empty: in all of them.
        then: the mode that it leads to; empty: the one that the bytes that it writes lead to.
    """

    name: str
    pattern: bytes
    replacement: bytes | Callable[[re.Match[bytes]], bytes | None]
    cost: int
    within: tuple[str, ...] = ()
    then: str = ""


class Doubt(NamedTuple):
    """A byte that hardly means itself: a repair that keeps it pays for that.

    The time of its pattern is bounded as that of a :class:`.Rewrite` is.

    Attributes:
        name: what an :class:`.Edit` says about it.
        pattern: for :mod:`re`, of bytes; the first byte of each match is in doubt.
        cost: what it costs to keep it.
        within: names of the :class:`.EditMode` in which it is in doubt; empty: in all of them.
    """

    name: str
    pattern: bytes
    cost: int
    within: tuple[str, ...] = ()


class EditMode(NamedTuple):
    """A state of the transducer of edits: where an edit stands, such as within a string.

    Attributes:
        name: what :attr:`.Rewrite.within` calls it.
        after: characters that are kept, or written by a rewrite, and the names of the modes they lead to.
        otherwise: the mode that other bytes lead to; empty: this one.
        inserted: the same for characters that are inserted, where it differs.
        keep: costs of keeping characters of the text; ``None``: they may not be kept.
        insert, prepend, append, remove: as those of :class:`.EditCosts`, where they differ in this mode.
    """

    name: str
    after: Mapping[str, str] = {}
    otherwise: str = ""
    inserted: Mapping[str, str] = {}
    keep: Mapping[str, int | None] = {}
    insert: Mapping[str, int] = {}
    prepend: Mapping[str, int] = {}
    append: Mapping[str, int] = {}
    remove: Mapping[str, int] = {}


class FoundRewrite(NamedTuple):
    """A rewrite that a :class:`RewriteFinder` has found: ``text[begin:end]`` may become ``written``.

    Attributes:
        name: what an :class:`.Edit` says about it.
        begin, end: offsets in bytes; they may be equal.
        written: what is written instead.
        cost, within, then: as of :class:`.Rewrite`.
    """

    name: str
    begin: int
    end: int
    written: bytes
    cost: int
    within: tuple[str, ...] = ()
    then: str = ""


class RewriteFinder(NamedTuple):
    """Finds the rewrites of a text that no pattern finds, since it counts brackets or indentation.

    ``Limits`` and ``CancelToken`` hold between the rewrites that it returns.  A finder that works for long
    before it has one returns ``None`` now and then: that is no rewrite, and the clock is read.

    Attributes:
        name: what errors say about it.
        find: returns the rewrites of a text, in any order; it is given the words of the constraint.
    """

    name: str
    find: Callable[[bytes, Words | None], Iterable[FoundRewrite | None]]


class TakenRewrites:
    """Rewrites that finders have found, as the engine takes them.

    Args:
        modes: of the costs.
        names: of rewrites, by their numbers; those of the ones that are taken are added.
    """

    __slots__ = ("_kinds", "_mode_of", "_names", "_number_of")

    def __init__(self, modes: Sequence[EditMode], names: list[str]) -> None:
        self._kinds: dict[tuple[str, tuple[str, ...], str], tuple[int, int, int]] = {}
        self._mode_of = {mode.name: number for number, mode in enumerate(modes)}
        self._names = names
        self._number_of: dict[str, int] = {}

    def taken(
        self,
        finder: RewriteFinder,
        found: Iterable[FoundRewrite | None],
        length: int,
        bounds: BoundedPatterns | None,
    ) -> Iterator[tuple[int, int, bytes, int, int, int, int]]:
        """Begins, ends, what is written, costs, modes as bits, next modes, and the numbers of their names.

        Args:
            finder: what has found them.
            found: the rewrites.
            length: of the text, in bytes.
            bounds: what they are counted in; ``None``: they are few, and are not kept.

        Raises:
            ArgumentError: one is not of a text of this length, has a wrong cost, or a mode that does not
                exist.
            LimitExceeded, Cancelled: the search was stopped.
        """
        kinds, size = self._kinds, 0
        for one in found:
            if one is None or size > _MOST_UNCHARGED:
                if bounds is not None:
                    bounds.check()
                    bounds.keep(size)
                size = 0
                if one is None:
                    continue
            try:
                name, begin, end, written, cost, within, then = one
                is_of_text = 0 <= begin <= end <= length and 0 <= cost <= MOST_COST and type(written) is bytes
                kind = kinds.get((name, within, then))
            except (TypeError, ValueError):
                is_of_text = False
            if not is_of_text:
                raise ArgumentError(
                    "EditCosts.finders",
                    f"{shown_argument(one)}, found by {finder.name!r}",
                    f"a FoundRewrite of bytes within 0 and {length}, that costs from 0 to 1,000,000,000",
                )
            if kind is None:
                kind = kinds[name, within, then] = self._kind_of(finder, name, within, then)
            size += BYTES_OF_A_MATCH + len(written)
            modes, next_mode, number = kind
            yield begin, end, written, cost, modes, next_mode, number
        if bounds is not None:
            bounds.keep(size)

    def _kind_of(
        self, finder: RewriteFinder, name: str, within: tuple[str, ...], then: str
    ) -> tuple[int, int, int]:
        """The modes in which a rewrite may be taken, as bits, the one that it leads to, and its number."""
        for mode in (*within, then):
            if mode and mode not in self._mode_of:
                raise ArgumentError(
                    "EditCosts.finders",
                    f"a rewrite of {finder.name!r} in {mode!r}",
                    "rewrites in modes that EditCosts.modes has",
                )
        number = self._number_of.setdefault(name, len(self._names))
        if number == len(self._names):
            self._names.append(name)
        return _bits(self._mode_of, within), self._mode_of[then] if then else BY_WRITTEN, number


class Span(NamedTuple):
    """A rewrite that one text admits: ``text[begin:end]`` becomes ``written``.

    ``within`` has a bit for each mode in which it may be taken; ``then`` is the number of the mode that it
    leads to, or :data:`BY_WRITTEN`.
    """

    begin: int
    end: int
    written: bytes
    cost: int
    within: int
    then: int
    name: str


class Tables(NamedTuple):
    """The transducer of edits: its modes, and the costs of single bytes in each.

    Attributes:
        after: by mode and byte that is kept or written by a rewrite: the mode that it leads to.
        inserted: the same of a byte that is inserted, or replaces another.
        tables: by mode: costs by byte, to prepend, insert, append, remove, replace and keep one.
    """

    after: list[bytes]
    inserted: list[bytes]
    tables: list[list[list[int]]]

    def machine(self) -> _core.EditMachine:
        """The same for the engine."""
        costs = packed([one for mode in self.tables for one in mode])
        return _core.EditMachine(b"".join(self.after), b"".join(self.inserted), costs)

    def mode_after(self, mode: int, written: bytes) -> int:
        """The mode after some bytes that are kept, or written by a rewrite."""
        if len(self.after) > 1:
            for byte in written:
                mode = self.after[mode][byte]
        return mode


class _Machine(NamedTuple):
    tables: Tables
    engine: _core.EditMachine


@dataclass(frozen=True)
class TextCosts:
    """What edits of one text cost.

    Attributes:
        text: the broken text.
        machine: modes, and costs of single bytes.
        rewrites: those that the text admits, in the order of their beginnings.
        names: of rewrites, by the numbers that these have.
        doubts: bytes that cost something to keep, by position.
        doubt_of: what a doubt is, by its number.
        firm: by position, what it costs more to remove or replace the byte, or to insert one before it.
    """

    text: bytes
    machine: _Machine
    rewrites: _core.Rewrites
    names: Sequence[str]
    doubts: _core.Doubts
    doubt_of: Mapping[int, Doubt]
    firm: dict[int, int]

    @property
    def tables(self) -> Tables:
        """Modes, and costs of single bytes."""
        return self.machine.tables

    @property
    def spans(self) -> list[Span]:
        """All rewrites."""
        return [self.span(number) for number in range(len(self.rewrites))]

    def spans_at(self, begin: int) -> list[Span]:
        """The rewrites that begin at a byte."""
        return self._by_begin.get(begin, [])

    @cached_property
    def _by_begin(self) -> dict[int, list[Span]]:
        found: dict[int, list[Span]] = {}
        for span in self.spans:
            found.setdefault(span.begin, []).append(span)
        return found

    def span(self, number: int) -> Span:
        """One of the rewrites."""
        begin, end, written, cost, within, then, name = self.rewrites[number]
        return Span(begin, end, written, cost, within, then, self.names[name])

    def keeping(self, mode: int, begin: int) -> int:
        """The cost of keeping a byte."""
        doubt = self.doubt(mode, begin)
        return self.tables.tables[mode][5][self.text[begin]] + (doubt.cost if doubt else 0)

    def doubt(self, mode: int, begin: int) -> Doubt | None:
        """The dearest doubt about a byte."""
        number = self.doubts.dearest(begin, mode)
        return None if number is None else self.doubt_of[number]

    def of_byte(self, kind: str, mode: int, begin: int, written: bytes) -> int:
        """The cost of ``"insert"``, ``"remove"`` or ``"replace"`` at a position."""
        prepend, insert, append, remove, replace, _ = self.tables.tables[mode]
        if kind == "remove":
            cost = remove[self.text[begin]]
        elif kind == "replace":
            cost = replace[written[0]]
        else:
            cost = (append if begin == len(self.text) else prepend if begin == 0 else insert)[written[0]]
        return cost + self.firm.get(begin, 0)

    def most(self) -> int:
        """The highest cost of any edit, at most."""
        return max(self._all()) + max(self.firm.values(), default=0)

    def least(self) -> int:
        """The least cost above zero of any edit, at least; 1 if all are free."""
        return min((cost for cost in self._all() if cost > 0), default=1)

    def _all(self) -> Iterator[int]:
        for tables in self.tables.tables:
            for table in tables:
                yield from (cost for cost in table if cost != NEVER)
        yield from (span.cost for span in self.spans)
        yield from (cost for _, cost, _, _ in self.doubts.all())

    def for_engine(
        self,
    ) -> tuple[_core.EditMachine, _core.Rewrites, _core.Doubts, list[tuple[int, int]]]:
        """The costs as ``_core.RepairSearch`` takes them: machine, rewrites, doubts, what is firm."""
        return self.machine.engine, self.rewrites, self.doubts, list(self.firm.items())


@checked_fields
@dataclass(frozen=True)
class EditCosts:
    """The costs of all edits: whole numbers from 0.

    The costs of single bytes are mappings whose keys are strings of characters: ``{"[{": 4000, ",": 2000}``.
    A character outside of ASCII stands for all bytes of its encoding.

    Attributes:
        other: of any insertion and removal that no mapping names.
        insert: of a byte written within the text.
        prepend: of a byte written before the text; ``insert`` where it is not named.
        append: of a byte written after the end of the text; ``insert`` where it is not named.
        resume: the same for a text that seems cut off, because it lacks closing brackets, more than one where
            it ends in a closing bracket or a Markdown fence after one; ``append`` where it is not named.
        remove: of a byte of the text.
        replace: of a byte written in place of one of the text; ``None``: this edit is not made.
        rewrites: named edits of more than one byte.
        doubts: bytes that cost something to keep; of several doubts about one byte the dearest counts.
        finders: find rewrites that no pattern finds.
        modes: the states of the transducer of edits, the first of them at the begin of the text, at most 16;
            empty: there is one.
        typo: of a string that becomes a word of the constraint that is near it; ``None``: this edit is not
            made.  The words of JSON under a schema, and of Python types, are names and strings that it lists.
        firm: what an edit of a byte within such a word costs more.
        words: set by the constraint; the certificate needs them.

    Raises:
        ArgumentError: a cost is no whole number from 0 to 1,000,000,000, a key is no ``str``, or a pattern
            cannot be compiled.
    """

    other: int = 1000
    insert: Mapping[str, int] = field(default_factory=dict)
    prepend: Mapping[str, int] = field(default_factory=dict)
    append: Mapping[str, int] = field(default_factory=dict)
    resume: Mapping[str, int] = field(default_factory=dict)
    remove: Mapping[str, int] = field(default_factory=dict)
    replace: int | None = None
    rewrites: Sequence[Rewrite] = ()
    doubts: Sequence[Doubt] = ()
    finders: Sequence[RewriteFinder] = ()
    modes: Sequence[EditMode] = ()
    typo: int | None = None
    firm: int = 0
    words: Words | None = None

    def __post_init__(self) -> None:
        _checked_cost("other", self.other)
        _checked_cost("firm", self.firm)
        for name in ("replace", "typo"):
            if getattr(self, name) is not None:
                _checked_cost(name, getattr(self, name))
        for name in ("insert", "prepend", "append", "resume", "remove"):
            mapping = getattr(self, name)
            checked_instance(f"EditCosts.{name}", mapping, Mapping)
            for key, cost in mapping.items():
                checked_instance(f"EditCosts.{name}", key, str, "strings of characters as keys")
                _checked_cost(name, cost)
        checked_instance("EditCosts.rewrites", self.rewrites, (list, tuple))
        object.__setattr__(self, "rewrites", tuple(self.rewrites))
        for rewrite in self.rewrites:
            checked_instance("EditCosts.rewrites", rewrite, Rewrite)
            _checked_cost("rewrites", rewrite.cost)
            try:
                re.compile(rewrite.pattern).search(b"")
                if not callable(rewrite.replacement):
                    re.compile(rewrite.pattern).sub(bytes(memoryview(rewrite.replacement)), b"")
            except (re.error, TypeError, IndexError) as error:
                expected = f"a pattern and a replacement of bytes for re: {error}"
                raise ArgumentError("EditCosts.rewrites", shown_argument(rewrite), expected) from None
        self._check_modes()
        checked_instance("EditCosts.words", self.words, (Words, NoneType))
        checked_instance("EditCosts.doubts", self.doubts, (list, tuple))
        object.__setattr__(self, "doubts", tuple(self.doubts))
        for doubt in self.doubts:
            checked_instance("EditCosts.doubts", doubt, Doubt)
            _checked_cost("doubts", doubt.cost)
            try:
                re.compile(doubt.pattern).search(b"")
            except (re.error, TypeError) as error:
                expected = f"a pattern of bytes for re: {error}"
                raise ArgumentError("EditCosts.doubts", shown_argument(doubt), expected) from None
        checked_instance("EditCosts.finders", self.finders, (list, tuple))
        object.__setattr__(self, "finders", tuple(self.finders))
        for finder in self.finders:
            checked_instance("EditCosts.finders", finder, RewriteFinder)

    def _check_modes(self) -> None:
        checked_instance("EditCosts.modes", self.modes, (list, tuple))
        object.__setattr__(self, "modes", tuple(self.modes))
        for mode in self.modes:
            checked_instance("EditCosts.modes", mode, EditMode)
            for mapping in (mode.insert, mode.prepend, mode.append, mode.remove):
                for cost in mapping.values():
                    _checked_cost("modes", cost)
            for kept in mode.keep.values():
                if kept is not None:
                    _checked_cost("modes", kept)
        names = {mode.name for mode in self.modes}
        if len(names) != len(self.modes) or len(names) > _core.MOST_MODES:
            raise ArgumentError(
                "EditCosts.modes",
                f"{len(self.modes)} modes",
                f"at most {_core.MOST_MODES}, each with a name of its own",
            )
        named = [
            *(
                name
                for mode in self.modes
                for name in (*mode.after.values(), *mode.inserted.values(), mode.otherwise)
                if name
            ),
            *(name for rewrite in self.rewrites for name in rewrite.within),
            *(name for doubt in self.doubts for name in doubt.within),
            *(one.then for one in self.rewrites if one.then),
        ]
        for name in named:
            if name not in names:
                raise ArgumentError("EditCosts.modes", shown_argument(name), "the name of one of the modes")

    def of_text(self, text: bytes, bounds: BoundedPatterns | None = None) -> TextCosts:
        """What edits of a text cost.

        Raises:
            ArgumentError: the function of a rewrite returned something else than bytes or ``None``.
            LimitExceeded, Cancelled: the search was stopped.
        """
        bounds = bounds or BoundedPatterns(Limits(), None)
        machine = self._machine(text)
        names = list(self._patterns.names)
        found = self._from_finders(text, bounds, names)
        led = {then for *_, then, _ in found if then != BY_WRITTEN}
        rewrites, doubts = self._found(text, machine, bounds, sum(1 << mode for mode in led))
        if found:
            rewrites.add(found)
        firm: dict[int, int] = {}
        if self.words is not None and (self.typo is not None or self.firm > 0):
            typos, positions = self.words.found(text, bounds)
            if typos and self.typo is not None:
                modes = 1, BY_WRITTEN  # where texts begin
                number = len(self.rewrites)
                rewrites.add([(*one[:3], self.typo + one[3], *modes, number) for one in typos])
            if self.firm > 0:
                firm = dict.fromkeys(positions, self.firm)
        return TextCosts(text, machine, rewrites, names, doubts, self._patterns.doubt_of, firm)

    def tables(self, text: bytes) -> Tables:
        """The modes, and the costs of single bytes of a text in each."""
        return self._machine(text).tables

    def spans(self, text: bytes, bounds: BoundedPatterns | None = None) -> list[Span]:
        """The rewrites of :attr:`rewrites` that a text admits, in the order of their beginnings.

        Raises:
            ArgumentError: the function of a rewrite returned something else than bytes or ``None``.
            LimitExceeded, Cancelled: the search was stopped.
        """
        machine, patterns = self._machine(text), self._patterns
        rewrites, doubts = self._found(text, machine, bounds or BoundedPatterns(Limits(), None), ALL_MODES)
        return TextCosts(text, machine, rewrites, patterns.names, doubts, patterns.doubt_of, {}).spans

    def doubtful(self, text: bytes, bounds: BoundedPatterns | None = None) -> list[tuple[int, Doubt, int]]:
        """The doubts about a text, by position, each with a bit for each mode where it holds.

        Raises:
            LimitExceeded, Cancelled: the search was stopped.
        """
        bounds = bounds or BoundedPatterns(Limits(), None)
        _, doubts = self._found(text, self._machine(text), bounds, ALL_MODES)
        doubt_of = self._patterns.doubt_of
        return [(position, doubt_of[number], within) for position, _, within, number in doubts.all()]

    def _machine(self, text: bytes) -> _Machine:
        return self._machines[1 if _seems_cut_off(text) else 0]

    @kept_property
    def _machines(self) -> tuple[_Machine, _Machine]:
        """The transducer for a closed text, and the one for a text that seems cut off."""
        modes = self.modes or (EditMode("any"),)
        number_of = {mode.name: number for number, mode in enumerate(modes)}

        def leading(base: list[int], names: Mapping[str, str]) -> list[int]:
            return _by_byte(base, {characters: number_of[name] for characters, name in names.items()})

        after = [leading([number_of[mode.otherwise or mode.name]] * 256, mode.after) for mode in modes]
        inserted = [leading(base, mode.inserted) for base, mode in zip(after, modes, strict=True)]
        both = [
            Tables(
                list(map(bytes, after)),
                list(map(bytes, inserted)),
                [self._of_mode(mode, resume) for mode in modes],
            )
            for resume in ({}, self.resume)
        ]
        closed, cut_off = (_Machine(tables, tables.machine()) for tables in both)
        return closed, cut_off

    def _of_mode(self, mode: EditMode, resume: Mapping[str, int]) -> list[list[int]]:
        insert = _by_byte(_by_byte([self.other] * 256, self.insert), mode.insert)
        prepend, append = (
            _by_byte(_by_byte(insert, costs), own)
            for costs, own in ((self.prepend, mode.prepend), ({**self.append, **resume}, mode.append))
        )
        remove = _by_byte(_by_byte([self.other] * 256, self.remove), mode.remove)
        change = [NEVER if self.replace is None else self.replace] * 256
        keep = _by_byte([0] * 256, {key: NEVER if cost is None else cost for key, cost in mode.keep.items()})
        return [prepend, insert, append, remove, change, keep]

    @kept_property
    def _patterns(self) -> _Patterns:
        try:
            return _patterns_of(tuple(self.rewrites), tuple(self.doubts), self._mode_names)
        except TypeError:  # a function that has no hash
            return _Patterns(self.rewrites, self.doubts, self._mode_names)

    @property
    def _mode_names(self) -> tuple[str, ...]:
        return tuple(mode.name for mode in self.modes)

    def __getstate__(self) -> dict[str, Any]:
        """What a copy is made of: the fields, and not what is made from them."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def _from_finders(
        self, text: bytes, bounds: BoundedPatterns, names: list[str]
    ) -> list[tuple[int, int, bytes, int, int, int, int]]:
        """What the finders find; names of rewrites that are new are added."""
        rewrites = TakenRewrites(self.modes, names)
        taken: list[tuple[int, int, bytes, int, int, int, int]] = []
        for finder in self.finders:
            taken += rewrites.taken(finder, finder.find(text, self.words), len(text), bounds)
        return taken

    def _found(
        self, text: bytes, machine: _Machine, bounds: BoundedPatterns, led: int
    ) -> tuple[_core.Rewrites, _core.Doubts]:
        """The rewrites and the doubts of a text, in the order of their positions.

        Those of modes that no edit leads to are left out; ``led``: modes, as bits, that others lead to.
        """
        patterns = self._patterns
        rewrites, doubts, others = bounds.found(patterns.of_bytes, text, machine.engine, led)
        more: list[tuple[int, int, bytes, int, int, int, int]] = []
        doubtful: list[tuple[int, int, int, int]] = []
        for number, begin, end, match in others:
            within, then = patterns.modes[number]
            if number in patterns.doubt_of:
                if begin < len(text):
                    doubtful.append((begin, patterns.doubt_of[number].cost, within, number))
            elif begin < end:
                written = patterns.written(number, match, begin, text)
                if written is not None:
                    more.append((begin, end, written, self.rewrites[number].cost, within, then, number))
        if more:
            rewrites.add(more)
        if doubtful:
            doubts.add(doubtful)
        return rewrites, doubts


def _seems_cut_off(text: bytes) -> bool:
    """Whether it lacks brackets, or has none; one may be lost anywhere, if the text ends in another."""
    if b"\\" in text:
        brackets = _STRING.sub(lambda found: b"" if found[1] else found[0], text)
    else:  # the same, in a third of the time
        brackets = _PLAIN_STRING.sub(b"", text)
    opened, closed = sum(map(brackets.count, _OPENING)), sum(map(brackets.count, _CLOSING))
    if text.rstrip(_BLANKS_AND_FENCES).endswith(_CLOSING):
        return opened > closed + 1
    return opened == 0 or opened > closed


def _bits(number_of: Mapping[str, int], names: Iterable[str]) -> int:
    """A bit for each of some modes; all if there are none."""
    return sum(1 << number_of[name] for name in set(names)) or ALL_MODES


class _Patterns:
    """The patterns of rewrites, then those of doubts, the cheapest first.

    Attributes:
        of_bytes: all patterns.
        doubt_of: doubts, by the numbers of their patterns.
        names: of rewrites, and of the correction of a typo.
        modes: of each pattern, the modes in which it holds, as bits, and the one that it leads to.
    """

    def __init__(self, rewrites: Sequence[Rewrite], doubts: Sequence[Doubt], names: Sequence[str]) -> None:
        by_cost = sorted(doubts, key=lambda doubt: doubt.cost)
        self.doubt_of = dict(enumerate(by_cost, len(rewrites)))
        self.names = [*(one.name for one in rewrites), "typo"]
        number_of = {name: number for number, name in enumerate(names)}
        self.modes = [
            (
                _bits(number_of, within),
                number_of[then] if then else BY_WRITTEN,
            )
            for within, then in [
                *((one.within, one.then) for one in rewrites),
                *((one.within, "") for one in by_cost),
            ]
        ]
        self._rewrites = rewrites
        self._compiled: dict[int, re.Pattern[bytes]] = {}
        meanings: list[Meaning] = [*map(_template, rewrites), *(one.cost for one in by_cost)]
        all_patterns = [*(one.pattern for one in rewrites), *(one.pattern for one in by_cost)]
        self.of_bytes = BytePatterns(all_patterns, self.modes, meanings)

    def written(
        self, number: int, match: re.Match[bytes] | None, begin: int, text: bytes | bytearray
    ) -> bytes | None:
        """What a rewrite makes of what its pattern has found at a position."""
        rewrite = self._rewrites[number]
        if match is None:
            # Groups are those of re, which finds the same match at this position.
            compiled = self._compiled.get(number)
            if compiled is None:
                compiled = self._compiled[number] = re.compile(rewrite.pattern)
            match = compiled.match(text, begin)
            assert match is not None
        replacement = rewrite.replacement
        if isinstance(replacement, bytes):
            pieces, _ = _read(replacement)
            if pieces is None:
                return match.expand(replacement)
            return b"".join([piece if isinstance(piece, bytes) else match[piece] or b"" for piece in pieces])
        written = replacement(match)
        if not isinstance(written, (bytes, type(None))):
            raise ArgumentError(
                "EditCosts.rewrites",
                f"{shown_argument(written)}, returned by the function of {rewrite.name!r}",
                "a function that returns bytes or None",
            )
        return written


# Costs with the words of another constraint have the same patterns.
_patterns_of = lru_cache(maxsize=16)(_Patterns)


def _template(rewrite: Rewrite) -> Template | None:
    """What it writes, if that is a text with what it has found at most once."""
    if not isinstance(rewrite.replacement, bytes):
        return None
    pieces, needs_groups = _read(rewrite.replacement)
    if pieces is None or needs_groups or pieces.count(0) > 1:
        return None
    repeats = 0 in pieces
    at = pieces.index(0) if repeats else len(pieces)
    before = b"".join(piece for piece in pieces[:at] if isinstance(piece, bytes))
    after = b"".join(piece for piece in pieces[at:] if isinstance(piece, bytes))
    return before, repeats, after, rewrite.cost


def packed(tables: Sequence[Sequence[int]]) -> bytes:
    """Tables of costs as the engine reads them: one after another, as ``uint32``."""
    return b"".join(array("I", table).tobytes() for table in tables)


class _Template(NamedTuple):
    """A replacement of bytes: its bytes and numbers of groups; ``None``: it has other escapes.

    Before Python 3.12, ``expand`` reads its template again for each match, which takes ten times as long.
    """

    pieces: tuple[bytes | int, ...] | None
    needs_groups: bool  # others than that of the whole match


@lru_cache
def _read(template: bytes) -> _Template:
    found: list[bytes | int] = []
    position = 0
    for piece in re.finditer(rb"[^\\]+|\\(\\)|\\g<(\d+)>|\\([1-9])(?!\d)", template):
        if piece.start() != position:
            return _Template(None, True)
        position = piece.end()
        number = piece[2] or piece[3]
        found.append(int(number) if number else piece[1] or piece[0])
    if position < len(template):
        return _Template(None, True)
    return _Template(tuple(found), any(piece for piece in found if isinstance(piece, int)))


def _checked_cost(name: str, cost: object) -> None:
    if isinstance(cost, bool) or not isinstance(cost, int) or not 0 <= cost <= MOST_COST:
        raise ArgumentError(
            f"EditCosts.{name}", shown_argument(cost), "a whole number from 0 to 1,000,000,000"
        )


def _by_byte(base: list[int], costs: Mapping[str, int]) -> list[int]:
    """The costs by byte; of two keys with one byte the last one holds."""
    table = list(base)
    for characters, cost in costs.items():
        for byte in characters.encode("utf-8", "surrogatepass"):
            table[byte] = cost
    return table
