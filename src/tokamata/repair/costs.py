"""What each edit of a repair costs.

A cost stands for how seldom a mistake is made: 1,000 times the negative natural logarithm of its
frequency.  So the cheapest repair undoes the likeliest mistakes.  :mod:`.default_costs` has those for JSON.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from types import NoneType
from typing import Any, NamedTuple

import tokamata._core as _core
from tokamata.arguments import checked_instance
from tokamata.errors import ArgumentError, shown_argument
from tokamata.limits import Limits
from tokamata.locks import kept_property
from tokamata.repair.bounded_patterns import BoundedPatterns, Found
from tokamata.repair.byte_patterns import BytePatterns, Template
from tokamata.repair.words import Words

__all__ = ["NEVER", "Doubt", "EditCosts", "Rewrite", "Span", "TextCosts", "packed"]

NEVER = (1 << 32) - 1  # of the engine: an edit that may not be made
_MOST = 1_000_000_000
_OPENING, _CLOSING = (b"[", b"{", b"("), (b"]", b"}", b")")
_STRING = re.compile(rb'"(?:[^"\\\n]|\\.)*"')
_BLANKS_AND_FENCES = b" \t\r\n`"


class Rewrite(NamedTuple):
    """A named edit: wherever the pattern is found, what it read may become something else.

    A pattern that reads on over the same bytes from many places, such as ``b"<[^>]*>"`` in a text of ``<``
    alone, takes quadratic time; exclude what it begins with (``b"<[^<>]*>"``).  ``Limits`` and deadlines hold
    nevertheless.  Some patterns are searched by :mod:`re`, which cannot be interrupted: those with
    backreferences, conditions or atomic groups, and those that may match nothing, as a whole or under a
    quantifier.

    Attributes:
        name: what an :class:`.Edit` says about it.
        pattern: for :mod:`re`, of bytes; its matches are those of ``re.finditer``.
        replacement: what is written instead, as for ``re.sub``: a template, or a function of the match.  A
            function may return ``None``: what it was given is not rewritten.
        cost: what it costs.
    """

    name: str
    pattern: bytes
    replacement: bytes | Callable[[re.Match[bytes]], bytes | None]
    cost: int


class Doubt(NamedTuple):
    """A byte that hardly means itself: a repair that keeps it pays for that.

    The time of its pattern is bounded as that of a :class:`.Rewrite` is.

    Attributes:
        name: what an :class:`.Edit` says about it.
        pattern: for :mod:`re`, of bytes; the first byte of each match is in doubt.
        cost: what it costs to keep it.
    """

    name: str
    pattern: bytes
    cost: int


class Span(NamedTuple):
    """A rewrite that one text admits: ``text[begin:end]`` becomes ``written``."""

    begin: int
    end: int
    written: bytes
    cost: int
    name: str


class Tables(NamedTuple):
    """Costs by byte: to prepend, insert, append, remove and replace one; and the same for the engine."""

    tables: list[list[int]]
    packed: bytes


class TextCosts(NamedTuple):
    """What edits of one text cost.

    Attributes:
        text: the broken text.
        by_byte: to prepend, insert, append, remove and replace a byte.
        rewrites: those that the text admits, in the order of their beginnings.
        names: of rewrites, by the numbers that these have.
        doubts: by position, where keeping the byte costs something.
        firm: by position, what it costs more to remove or replace the byte, or to insert one before it.
    """

    text: bytes
    by_byte: Tables
    rewrites: _core.Rewrites
    names: Sequence[str]
    doubts: dict[int, Doubt]
    firm: dict[int, int]

    @property
    def tables(self) -> list[list[int]]:
        """To prepend, insert, append, remove and replace a byte, each by byte."""
        return self.by_byte.tables

    @property
    def spans(self) -> list[Span]:
        """All rewrites."""
        return [self.span(number) for number in range(len(self.rewrites))]

    def span(self, number: int) -> Span:
        """One of the rewrites."""
        begin, end, written, cost, name = self.rewrites[number]
        return Span(begin, end, written, cost, self.names[name])

    def of_byte(self, kind: str, begin: int, written: bytes) -> int:
        """The cost of ``"insert"``, ``"remove"`` or ``"replace"`` at a position."""
        prepend, insert, append, remove, replace = self.tables
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
        for table in self.tables:
            yield from (cost for cost in table if cost != NEVER)
        yield from (span.cost for span in self.spans)
        yield from (doubt.cost for doubt in self.doubts.values())

    def for_engine(
        self,
    ) -> tuple[bytes, _core.Rewrites, list[tuple[int, int]], list[tuple[int, int]]]:
        """The costs as ``_core.RepairSearch`` takes them: tables, rewrites, doubts, what is firm."""
        doubts = [(position, doubt.cost) for position, doubt in self.doubts.items()]
        return self.by_byte.packed, self.rewrites, doubts, list(self.firm.items())


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
        resume: the same for a text that seems cut off, because it does not end in a closing bracket, or in
            one with a Markdown fence, or lacks two; ``append`` where it is not named.
        remove: of a byte of the text.
        replace: of a byte written in place of one of the text; ``None``: this edit is not made.
        rewrites: named edits of more than one byte.
        doubts: bytes that cost something to keep; of several doubts about one byte the dearest counts.
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

    def of_text(self, text: bytes, bounds: BoundedPatterns | None = None) -> TextCosts:
        """What edits of a text cost.

        Raises:
            ArgumentError: the function of a rewrite returned something else than bytes or ``None``.
            LimitExceeded, Cancelled: the search was stopped.
        """
        bounds = bounds or BoundedPatterns(Limits(), None)
        rewrites, doubts = self._found(text, bounds)
        firm: dict[int, int] = {}
        if self.words is not None and (self.typo is not None or self.firm > 0):
            typos, positions = self.words.found(text, bounds)
            if typos and self.typo is not None:
                rewrites.add([(*typo, self.typo, len(self.rewrites)) for typo in typos])
            if self.firm > 0:
                firm = dict.fromkeys(positions, self.firm)
        return TextCosts(text, self._tables(text), rewrites, self._patterns.names, doubts, firm)

    def tables(self, text: bytes) -> list[list[int]]:
        """What the engine reads for a text: prepend, insert, append, remove and replace, each by byte."""
        return self._tables(text).tables

    def spans(self, text: bytes, bounds: BoundedPatterns | None = None) -> list[Span]:
        """The rewrites of :attr:`rewrites` that a text admits, in the order of their beginnings.

        Raises:
            ArgumentError: the function of a rewrite returned something else than bytes or ``None``.
            LimitExceeded, Cancelled: the search was stopped.
        """
        rewrites, doubts = self._found(text, bounds or BoundedPatterns(Limits(), None))
        return TextCosts(text, self._tables(text), rewrites, self._patterns.names, doubts, {}).spans

    def doubtful(self, text: bytes, bounds: BoundedPatterns | None = None) -> dict[int, Doubt]:
        """The doubts about a text, by position.

        Raises:
            LimitExceeded, Cancelled: the search was stopped.
        """
        return self._found(text, bounds or BoundedPatterns(Limits(), None))[1]

    def _tables(self, text: bytes) -> Tables:
        return self._both_tables[1 if _seems_cut_off(text) else 0]

    @kept_property
    def _both_tables(self) -> tuple[Tables, Tables]:
        """Of a text that is closed, and of one that seems cut off."""
        insert = _by_byte([self.other] * 256, self.insert)
        prepend, append = _by_byte(insert, self.prepend), _by_byte(insert, self.append)
        remove = _by_byte([self.other] * 256, self.remove)
        change = [NEVER if self.replace is None else self.replace] * 256
        closed = [prepend, insert, append, remove, change]
        cut_off = [prepend, insert, _by_byte(append, self.resume), remove, change]
        return Tables(closed, packed(closed)), Tables(cut_off, packed(cut_off))

    @kept_property
    def _patterns(self) -> _Patterns:
        try:
            return _patterns_of(tuple(self.rewrites), tuple(self.doubts))
        except TypeError:  # a function that has no hash
            return _Patterns(self.rewrites, self.doubts)

    def __getstate__(self) -> dict[str, Any]:
        """What a copy is made of: the fields, and not what is made from them."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def _found(self, text: bytes, bounds: BoundedPatterns) -> tuple[_core.Rewrites, dict[int, Doubt]]:
        """The rewrites and the doubts of a text, in the order of their positions."""
        patterns = self._patterns
        rewrites, others = bounds.found(patterns.of_bytes, text)
        more: list[tuple[int, int, bytes, int, int]] = []
        doubts: dict[int, Doubt] = {}
        for found in others:
            number, begin, end, _ = found
            if number >= len(self.rewrites):
                doubt = patterns.doubts[number - len(self.rewrites)]
                if begin < len(text) and doubts.get(begin, doubt).cost <= doubt.cost:
                    doubts[begin] = doubt
            elif begin < end:
                rewrite = self.rewrites[number]
                written = _written(rewrite, found, text)
                if written is not None:
                    more.append((begin, end, written, rewrite.cost, number))
        if more:
            rewrites.add(more)
        return rewrites, {at: doubt for at, doubt in sorted(doubts.items()) if doubt.cost > 0}


def _seems_cut_off(text: bytes) -> bool:
    """Whether it ends in no closing bracket, or lacks more than the one that may be lost anywhere."""
    if not text.rstrip(_BLANKS_AND_FENCES).endswith(_CLOSING):
        return True
    brackets = _STRING.sub(b"", text)
    return sum(map(brackets.count, _OPENING)) > sum(map(brackets.count, _CLOSING)) + 1


class _Patterns:
    """The patterns of rewrites, then those of doubts, the cheapest first.

    Attributes:
        of_bytes: all patterns.
        doubts: in their order.
        names: of rewrites, and of the correction of a typo.
    """

    def __init__(self, rewrites: Sequence[Rewrite], doubts: Sequence[Doubt]) -> None:
        self.doubts = sorted(doubts, key=lambda doubt: doubt.cost)
        self.names = [*(one.name for one in rewrites), "typo"]
        templates = [*map(_template, rewrites), *(None for _ in doubts)]
        all_patterns = [*(one.pattern for one in rewrites), *(one.pattern for one in self.doubts)]
        self.of_bytes = BytePatterns(all_patterns, templates)


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


def _written(rewrite: Rewrite, found: Found, text: bytes) -> bytes | None:
    """What a rewrite makes of what its pattern has found."""
    replacement = rewrite.replacement
    # Groups are those of re, which finds the same match at this position.
    match = found.match or re.compile(rewrite.pattern).match(text, found.begin)
    assert match is not None
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


def _checked_cost(name: str, cost: object) -> None:
    if isinstance(cost, bool) or not isinstance(cost, int) or not 0 <= cost <= _MOST:
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
