"""Which terminals of a grammar compete, under each lexer and in each context.

Under lark's lexers, a text such as ``"if"`` that an expression of the same priority matches whole is read as
that expression, and gets its own name afterwards.  A contextual lexer looks for the terminals of a *context*
alone: in a context without ``"if"``, the text is a name.

    "if", NAME: /[a-z]+/     ``"if"`` has one reader, NAME; what NAME keeps is all texts but ``if``
"""

from __future__ import annotations

import importlib
import re
import typing
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from tokamata.patterns.grammars.lexer.linear_matching import LinearPattern
from tokamata.patterns.grammars.rules.rule_trees import Pattern, Terminal
from tokamata.patterns.unicode import Ranges
from tokamata.resources.limits import Watch

__all__ = [
    "Competition",
    "Competitions",
    "LexerName",
    "TerminalReading",
    "in_order",
    "meet",
    "meets",
    "pattern_of",
]

_SHORT_TEXT = 16  # of which re tries all paths in some ms

LexerName: TypeAlias = typing.Literal["dynamic", "basic", "contextual", "longest"]


@dataclass(frozen=True)
class Competition:
    """How the terminals of a context compete; all by number.

    Attributes:
        readers: by terminal, the terminals as which its texts are read; of most, itself.
        retyped: by expression, the texts that it matches whole.
        competing: by terminal, those that may be read instead of it, itself among them; of lark's lexers,
            those alone that are tried before.
    """

    readers: dict[int, tuple[int, ...]]
    retyped: dict[int, list[int]]
    competing: dict[int, list[int]]

    def agrees_with(self, other: Competition) -> bool:
        """Whether the terminals that both have are read alike."""
        return all(
            number not in self.readers
            or (
                self.readers[number] == other.readers[number]
                and self.retyped.get(number) == other.retyped.get(number)
                and self.competing[number] == other.competing[number]
            )
            for number in other.readers
        )

    def add(self, other: Competition) -> None:
        """Adds the terminals of another one that agrees with it."""
        self.readers.update(other.readers)
        self.retyped.update(other.retyped)
        self.competing.update(other.competing)


class TerminalReading(NamedTuple):
    """How a terminal is read.

    Attributes:
        reader: the terminal as which it is read.
        terminal: its number.
        retyped: the texts that the reader matches whole, and that get their own name.
    """

    reader: int
    terminal: int
    retyped: tuple[int, ...]

    @property
    def is_renamed(self) -> bool:
        """Whether it is a text that is read as an expression."""
        return self.reader != self.terminal


class Competitions:
    """How terminals compete in each context.

    Args:
        name: the lexer.
        terminals: in the order in which it tries them.
        first: the symbols that each of them begins with.
        ignored: the numbers of those that may stand anywhere.
        everywhere: of those that belong to every context: these, and line breaks.
        watch: stops the work.
    """

    def __init__(
        self,
        name: LexerName,
        terminals: Sequence[Terminal],
        first: Sequence[int],
        ignored: set[int],
        everywhere: set[int],
        watch: Watch,
    ) -> None:
        self._name = name
        self._is_larks = name in ("basic", "contextual")
        self._terminals = terminals
        self._first = first
        self._ignored = ignored
        self._everywhere = everywhere
        self._watch = watch
        self._linear: dict[Pattern, LinearPattern] = {}
        self._numbers = {terminal.name: number for number, terminal in enumerate(terminals)}
        self._meeting = self._all_meeting()
        self._whole = self._matched_whole()
        self._known: dict[frozenset[str] | None, Competition] = {}
        self._alike: dict[object, frozenset[str] | None] = {}  # a context, by how it sees some terminals

    def within(self, context: frozenset[str] | None) -> Competition:
        """How the terminals of a context compete."""
        if context not in self._known:
            self._known[context] = self._competing(context)
        return self._known[context]

    def readings(
        self, terminal: int, context: frozenset[str] | None, is_ignored: bool
    ) -> list[TerminalReading]:
        """How a terminal is read: under ``dynamic``, what may be ignored need not be."""
        found = self.within(context)
        readers = found.readers.get(terminal, ())
        if self._name != "dynamic" and terminal in self._ignored:
            readers = tuple(reader for reader in readers if (reader == terminal) == is_ignored)
        return [TerminalReading(reader, terminal, tuple(found.retyped.get(reader, ()))) for reader in readers]

    def alike(self, context: frozenset[str] | None, terminals: frozenset[str]) -> frozenset[str] | None:
        """One context for all in which some terminals are read alike."""
        if context is None:
            return None
        found = self.within(context)
        view = []
        for name in sorted(terminals & context):
            number = self._numbers[name]
            readers = found.readers[number]
            among = tuple(
                (*found.competing[reader], -1, *found.retyped.get(reader, ())) for reader in readers
            )
            view.append((number, readers, among))
        return self._alike.setdefault(tuple(view), context)

    def unite(self, contexts: Iterable[frozenset[str]]) -> dict[frozenset[str], frozenset[str]]:
        """For each context one that stands for it, in which all of its terminals are read alike.

        What is read after a context is one of its terminals.  So two contexts may be united if the terminals
        that both have are read alike in both.  After an operand of a programming language come operators,
        whichever the operand was, and names are in none of these contexts.
        """
        united: list[tuple[set[str], Competition]] = []
        places: dict[frozenset[str], int] = {}
        for context in sorted(contexts, key=lambda names: (-len(names), sorted(names))):
            own = self.within(context)
            place = next((i for i, (_, other) in enumerate(united) if other.agrees_with(own)), len(united))
            places[context] = place
            if place == len(united):
                # A number tells it from others of the same terminals.
                united.append(({f"{place}"}, Competition({}, {}, {})))
            united[place][0].update(context)
            united[place][1].add(own)
        result = {context: frozenset(united[place][0]) for context, place in places.items()}
        for names, competition in united:
            self._known[frozenset(names)] = competition
        return result

    def meeting(self, terminal: int) -> list[int]:
        """The terminals that may be read instead of a terminal in some context, itself among them."""
        return [terminal] if self._name == "dynamic" else self._meeting[terminal]

    def _all_meeting(self) -> list[list[int]]:
        """For each terminal, those that may begin where it begins.

        Of two texts, one begins with the other; so a grammar of a thousand keywords has no million of pairs.
        """
        by_text: dict[str, list[int]] = {}
        others: dict[int, None] = {}
        for number, terminal in enumerate(self._terminals):
            pattern = pattern_of(terminal)
            if pattern.text is None or pattern.flags:
                others[number] = None
            else:
                by_text.setdefault(pattern.text, []).append(number)
        found: list[list[int]] = [[] for _ in self._terminals]
        for text, numbers in by_text.items():
            self._watch.check()
            for end in range(1, len(text) + 1):
                for shorter in by_text.get(text[:end], ()):
                    for number in numbers:
                        found[number].append(shorter)
                        if end < len(text):
                            found[shorter].append(number)
        for number in others:
            self._watch.check()
            for other, first in enumerate(self._first):
                if self._first[number] & first:
                    found[number].append(other)
                    if other not in others:
                        found[other].append(number)
        return [sorted(numbers) for numbers in found]

    def _matched_whole(self) -> list[tuple[int, int, bool]]:
        """Pairs of an expression and a text that it matches whole, and whether it does so in any case."""
        found: list[tuple[int, int, bool]] = []
        if not self._is_larks:
            return found
        for number, terminal in enumerate(self._terminals):
            self._watch.check()
            pattern = pattern_of(terminal)
            if pattern.text is not None:
                continue
            for other, text in enumerate(self._terminals):
                of_text = pattern_of(text)
                if of_text.text is None or of_text.priority != pattern.priority:
                    continue
                if self._matches_whole(pattern, of_text.text):
                    found.append((number, other, of_text.flags & ~pattern.flags == 0))
        return found

    def _matches_whole(self, pattern: Pattern, text: str) -> bool:
        """Whether a match at the start of a text takes all of it."""
        if pattern.automaton is not None:
            return pattern.automaton.accepts(text)
        if len(text) > _SHORT_TEXT:
            if pattern not in self._linear:
                self._linear[pattern] = LinearPattern("", pattern.regex, pattern.flags, self._watch)
            found = self._linear[pattern].match(text)
            return found is not None and found.end() == len(text)
        try:
            match = re.match(pattern.regex, text, pattern.flags)
        except re.error:  # it has \p{…}, for which lark needs regex
            match = importlib.import_module("regex").match(pattern.regex, text, pattern.flags)
        return match is not None and match.group() == text

    def _competing(self, context: frozenset[str] | None) -> Competition:
        names = self._numbers if context is None else context
        inside = {self._numbers[name] for name in names if name in self._numbers} | self._everywhere
        retyped: dict[int, list[int]] = {}
        embedded: set[int] = set()  # texts that are read as expressions alone
        for number, other, is_embedded in self._whole:
            if number in inside and other in inside:
                retyped.setdefault(number, []).append(other)
                if is_embedded:
                    embedded.add(other)
        for number in self._ignored & retyped.keys():
            del retyped[number]  # lark forgets a token that is ignored before it gives it another name
        readers: dict[int, tuple[int, ...]] = {
            number: () if number in embedded else (number,) for number in inside
        }
        for number, texts in retyped.items():
            for other in texts:
                readers[other] = (*readers[other], number)
        competing = {
            number: [
                other
                for other in self.meeting(number)
                if other in inside and other not in embedded and (other <= number or not self._is_larks)
            ]
            for number in inside
        }
        return Competition(readers, retyped, competing)


def in_order(name: LexerName, terminals: Sequence[Terminal]) -> list[Terminal]:
    """The terminals in the order in which the lexer tries them."""
    if name in ("basic", "contextual"):
        return sorted(terminals, key=_order_of_lark)
    if name == "longest":
        return sorted(
            terminals,
            key=lambda terminal: (-pattern_of(terminal).priority, pattern_of(terminal).text is None),
        )
    return list(terminals)


def _order_of_lark(terminal: Terminal) -> tuple[int, int, int, str]:
    pattern = pattern_of(terminal)
    source = pattern.text if pattern.text is not None else pattern.regex
    return -pattern.priority, -pattern.width, -len(source), terminal.name


def pattern_of(terminal: Terminal) -> Pattern:
    """How lexers read a terminal."""
    assert terminal.pattern is not None, terminal
    return terminal.pattern


def meet(ranges: Ranges, others: Ranges) -> bool:
    """Whether two sets have a character in common."""
    few, many = (ranges, others) if len(ranges) < len(others) else (others, ranges)
    return any(meets(many, *pair) for pair in few)


def meets(ranges: Ranges, low: int, high: int) -> bool:
    """Whether a set has a character of a range."""
    index = bisect_right(ranges, (high, 0x110000)) - 1
    return index >= 0 and ranges[index][1] >= low
