"""The derivation of a text, by Earley's algorithm.

Problem.  The engine tells whether a text is one of a grammar, and not how: its rules have no left recursion,
and alternatives that wait for the same rule are joined.
How.  A chart over the rules as the grammar has them.  An item is an alternative of a rule, how much of it
has been read, and where it began; each position of the text has a set of items.  Each item keeps the
positions from which its last symbol was read, so that derivations can be followed backwards.

Worked example.  ``s: s "+" s | "1"`` and ``1+1``.  At 0, ``s: • s "+" s`` and ``s: • "1"`` begin.  At 1, the
second one is complete, so that the first one is ``s: s • "+" s``; and so on to the end, where
``s: s "+" s •`` began at 0.

**One of several derivations.**  Of the alternatives of a rule that derive its text, the first is taken; of
the ways to divide the text among its symbols, that in which the first symbol has the longest text, then the
second.  If a rule derives itself and nothing else, alternatives that would lead back are left out: what a
rule derives is numbered in the order in which it was found, and in such a cycle numbers must fall.

Terminals are given as a function from a position to the ends of their texts; they may have several, so
positions without items are skipped.

Source.  Earley, *An efficient context-free parsing algorithm*, 1970; rules that derive the empty text as in
Aycock and Horspool, *Practical Earley parsing*, 2002.
Cost.  Cubic in the length, quadratic for rules that refer to themselves at their end or are not ambiguous,
linear for most LR(1) grammars.
Rejected: Leo's items for rules that end with themselves, which would make them linear and the search for the
first derivation a second algorithm; lark's Earley parser, which knows no terminals with several ends at a
position, and takes one of the derivations that no rule names.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tokamata.patterns.grammars.rules.left_recursion import components
from tokamata.patterns.grammars.rules.productions import Productions, Symbols, WorkAccount

__all__ = ["Constituent", "first_derivation"]

_SOURCES_OF_ITEM = 12  # so many take the memory of one

_Item = tuple[int, int, int]  # an alternative; how many of its symbols were read; where it began


@dataclass(frozen=True, eq=False)
class Constituent:
    """What a symbol derives.

    Attributes:
        symbol: as in :mod:`.productions`.
        begin, end: where its text is.
        children: those of a nonterminal.
    """

    symbol: int
    begin: int
    end: int
    children: tuple[Constituent, ...] = ()


def first_derivation(
    productions: Productions, ends: Callable[[int, int], Iterable[int]], length: int, account: WorkAccount
) -> Constituent | None:
    """The first derivation of a text; ``None`` if it has none.

    Args:
        productions: the grammar.
        ends: for a terminal and a position, where its texts that begin there end; the position itself is one
            of them if the terminal may be empty.
        length: of the text.
        account: what the work may use.

    Raises:
        LimitExceeded, Cancelled: the work was stopped.
    """
    chart = _Chart(productions, ends, account)
    chart.fill()
    return _Choice(chart, account).constituent(length) if (0, 0, length) in chart.found else None


class _Chart:
    """All derivations of a text.

    Attributes:
        alternatives: of all nonterminals.
        found: the nonterminals that derive a part of the text: the alternatives that do.
        order: for each of these, how many were found before it.
        sources: for an item and a position, the positions before the symbol that it read last.
        empty: the symbols that derive the empty text somewhere.
    """

    def __init__(
        self, productions: Productions, ends: Callable[[int, int], Iterable[int]], account: WorkAccount
    ) -> None:
        self.alternatives: list[tuple[int, Symbols]] = []
        self._numbers: list[range] = []  # of the alternatives, by nonterminal
        for nonterminal, options in enumerate(productions.alternatives):
            begin = len(self.alternatives)
            self.alternatives += [(nonterminal, symbols) for symbols in options]
            self._numbers.append(range(begin, len(self.alternatives)))
        self._ends = ends
        self._account = account
        self.found: dict[tuple[int, int, int], list[int]] = {}
        self.order: dict[tuple[int, int, int], int] = {}
        self.sources: dict[tuple[_Item, int], list[int]] = {}
        self.empty: set[int] = set()
        self._waiting: dict[tuple[int, int], list[_Item]] = {}  # for a nonterminal, at a position
        self._items: dict[int, list[_Item]] = {}  # to be read on, by position
        self._positions: list[int] = []

    def fill(self) -> None:
        """Reads the text."""
        self._waiting[0, 0] = []
        self._predict(0, 0)
        while self._positions:
            at = heapq.heappop(self._positions)
            open_items = self._items[at]
            while open_items:
                self._account.spend(0, 5)
                self._read_on(open_items.pop(), at)
            del self._items[at]

    def _read_on(self, item: _Item, at: int) -> None:
        number, read, begin = item
        nonterminal, symbols = self.alternatives[number]
        if read == len(symbols):
            self._complete(number, (nonterminal, begin, at))
        elif (symbol := symbols[read]) >= 0:
            for end in self._ends(symbol, at):
                self._add((number, read + 1, begin), at, end)
        else:
            waiting = self._waiting.get((~symbol, at))
            if waiting is None:
                self._waiting[~symbol, at] = [item]
                self._predict(~symbol, at)
            else:
                waiting.append(item)
                if (~symbol, at, at) in self.found:
                    self._add((number, read + 1, begin), at, at)

    def _predict(self, nonterminal: int, at: int) -> None:
        for number in self._numbers[nonterminal]:
            self._push((number, 0, at), at)

    def _complete(self, number: int, key: tuple[int, int, int]) -> None:
        if key in self.found:
            self.found[key].append(number)
            return
        self.found[key] = [number]
        self.order[key] = len(self.order)
        nonterminal, begin, at = key
        for other, read, origin in self._waiting.get((nonterminal, begin), ()):
            self._add((other, read + 1, origin), begin, at)

    def _add(self, item: _Item, source: int, at: int) -> None:
        if source == at:
            self.empty.add(self.alternatives[item[0]][1][item[1] - 1])
        sources = self.sources.get((item, at))
        if sources is None:
            self.sources[item, at] = [source]
            self._push(item, at)
        else:
            sources.append(source)
            if len(sources) % _SOURCES_OF_ITEM == 0:
                self._account.spend(0, 1)

    def _push(self, item: _Item, at: int) -> None:
        if at not in self._items:
            self._items[at] = []
            heapq.heappush(self._positions, at)
        self._items[at].append(item)


class _Choice:
    """The first of the derivations in a chart."""

    def __init__(self, chart: _Chart, account: WorkAccount) -> None:
        self._chart = chart
        self._account = account
        alone: dict[int, set[int]] = {}  # by nonterminal, those that it may derive by themselves
        for nonterminal, symbols in chart.alternatives:
            others = [symbol for symbol in symbols if symbol not in chart.empty]
            heads = symbols if not others else others if len(others) == 1 else ()
            alone.setdefault(nonterminal, set()).update(~symbol for symbol in heads if symbol < 0)
        self._cycle_of: dict[int, int] = {}
        for cycle, members in enumerate(components(alone)):
            self._cycle_of.update(dict.fromkeys(members, cycle))

    def constituent(self, length: int) -> Constituent:
        """That of the whole text."""
        made: list[Constituent] = []
        waiting: list[tuple[int, int, int, int | None]] = [(~0, 0, length, None)]
        while waiting:
            self._account.spend(0, 1)
            symbol, begin, end, count = waiting.pop()
            if count is not None:  # its children are made
                children = tuple(made[len(made) - count :])
                del made[len(made) - count :]
                made.append(Constituent(symbol, begin, end, children))
            elif symbol >= 0:
                made.append(Constituent(symbol, begin, end))
            else:
                children_of = self._divided(~symbol, begin, end)
                waiting.append((symbol, begin, end, len(children_of)))
                waiting += [(*child, None) for child in reversed(children_of)]
        return made[0]

    def _divided(self, nonterminal: int, begin: int, end: int) -> list[tuple[int, int, int]]:
        """The symbols of the first alternative, with their texts."""
        borders: list[tuple[int, int]] | None = None
        symbols: Symbols = ()
        for number in sorted(self._chart.found[nonterminal, begin, end]):
            borders, symbols = self._borders(number, begin, end), self._chart.alternatives[number][1]
            if borders is not None:
                break
        assert borders is not None  # the alternative that was found first needs nothing that was found later
        return [(symbol, *pair) for symbol, pair in zip(symbols, borders, strict=True)]

    def _borders(self, number: int, begin: int, end: int) -> list[tuple[int, int]] | None:
        """Where the symbols of an alternative begin and end; ``None`` if it derives the text by itself."""
        nonterminal, symbols = self._chart.alternatives[number]
        reached = {end}
        furthest: list[dict[int, int]] = []  # by symbol, the last of its ends, by its beginning
        for read in range(len(symbols), 0, -1):
            sources: dict[int, int] = {}
            for at in reached:
                for source in self._chart.sources[(number, read, begin), at]:
                    if self._goes_back(symbols[read - 1], (source, at), nonterminal, (begin, end)):
                        continue
                    sources[source] = max(at, sources.get(source, at))
            furthest.append(sources)
            reached = set(sources)
        if begin not in reached:
            return None
        found = []
        at = begin
        for sources in reversed(furthest):
            found.append((at, sources[at]))
            at = sources[at]
        return found

    def _goes_back(
        self, symbol: int, part: tuple[int, int], nonterminal: int, whole: tuple[int, int]
    ) -> bool:
        """Whether a part that is the whole may consist of the whole again."""
        if symbol >= 0 or part != whole or nonterminal not in self._cycle_of:
            return False
        if self._cycle_of.get(~symbol) != self._cycle_of[nonterminal]:
            return False
        order = self._chart.order
        return order[(~symbol, *part)] >= order[(nonterminal, *whole)]
