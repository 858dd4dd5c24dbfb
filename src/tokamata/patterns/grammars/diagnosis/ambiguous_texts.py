"""A shortest text with two derivations.

Problem.  Whether a grammar is ambiguous is undecidable.  But if it is, some shortest text has two
derivations, and a search in the order of length finds it.

Worked example.  ``s: s s | "a"``.  What is left of two derivations, and what both have read::

    both begin                        s          s
    both take the first alternative   s s        s s
    each s on the left differs        s s s      "a" s
    the first one takes "a"           "a" s s    "a" s
    both read "a"                     s s        s          a
    the second one takes s s          s s        s s        a
    both read s, twice                                      a a a

The one is ``(aa)a``, the other ``a(aa)``.

Method.  Best first over pairs of leftmost derivations of the same text.  What is left of a derivation is a
stack of symbols.  A pair may read the same symbol, a shortest text of it if it is a rule; one of them may
replace its first rule by an alternative; and as long as the two are equal, they may part.  The search begins
at each rule, with the shortest text around it: a rule that derives its own text in two ways needs no more of
its surroundings.  The length of a text that a pair leads to is at least what was read, and the longer of the
two shortest texts of what is left; so the first pair that is complete has a shortest text.

Source.  The product of two parsers is that of Isradisaikul and Myers, *Finding counterexamples from parsing
conflicts*, 2015; the order by length is A* (Hart, Nilsson and Raphael, 1968).
Cost.  Exponential in the length of the text, in the worst case; the search stops after a number of pairs.
Rejected: starting from the conflicts of an LR automaton, since a shortest prefix to a conflict need not be
the beginning of an ambiguous text.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import NamedTuple

from tokamata.patterns.grammars.rules.productions import Productions, Symbols, WorkAccount

__all__ = ["Tree", "ambiguous_trees", "shortest_tree"]

_EMPTY = 0


class Tree:
    """A derivation of a symbol.

    Attributes:
        symbol: as in :mod:`.productions`.
        children: of a nonterminal.
    """

    __slots__ = ("children", "symbol")

    def __init__(self, symbol: int) -> None:
        self.symbol = symbol
        self.children: list[Tree] = []

    def leaves(self) -> Iterator[int]:
        """The terminals of the text that it derives."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            if node.symbol >= 0:
                yield node.symbol
            waiting += reversed(node.children)


class _Step(NamedTuple):
    """How a pair was reached: from which, and by what.

    ``alternatives`` are what the first symbols of the two were replaced by; ``None`` leaves that one as it
    was.  Both are ``None``: the same symbol was read by both.
    """

    origin: int
    alternatives: tuple[Symbols | None, Symbols | None]


class _Stacks:
    """Sequences of symbols, each a number; equal ones are one.

    Attributes:
        cells: by number, the first symbol and the number of the rest; number 0 is the empty one.
        lengths: the fewest terminals of a text.
        first: what the texts begin with, as bits; the bit after those of the terminals means the empty text.
    """

    def __init__(self, productions: Productions, account: WorkAccount) -> None:
        self._grammar = productions
        self._account = account
        self._numbers: dict[tuple[int, int], int] = {}
        self.cells: list[tuple[int, int]] = [(0, 0)]
        self.lengths = [0]
        self.first = [1 << productions.terminals]

    def pushed(self, symbols: Symbols, rest: int) -> int:
        for symbol in reversed(symbols):
            key = (symbol, rest)
            number = self._numbers.get(key)
            if number is None:
                self._account.spend(0, 3)
                number = self._numbers[key] = len(self.cells)
                self.cells.append(key)
                self.lengths.append(self.lengths[rest] + self._grammar.length((symbol,)))
                first = self._grammar.first_of(symbol)
                self.first.append(first | self.first[rest] if self._grammar.is_nullable(symbol) else first)
            rest = number
        return rest


class _Search:
    def __init__(self, productions: Productions, account: WorkAccount) -> None:
        self._grammar = productions
        self._account = account
        self._stacks = _Stacks(productions, account)
        self._steps: list[_Step] = []
        self._pairs: list[tuple[int, int, bool]] = []  # what is left of each, and whether they differ
        self._read: dict[tuple[int, int, bool], int] = {}  # by pair, the least length read before it
        self._overlaps: dict[int, list[tuple[Symbols, Symbols]]] = {}
        self._ready: list[tuple[int, int, int, int]] = []  # length, steps, number of the pair, length read

    def found(self, most: int) -> Iterator[tuple[int, Tree, Tree]]:
        """A nonterminal and two derivations of it, those of shorter texts first."""
        around = _lengths_around(self._grammar)
        for number, length in enumerate(around):
            self._add(
                (self._stacks.pushed((~number,), _EMPTY),) * 2, False, length, 0, _Step(-1, (None, None))
            )
        while self._ready and len(self._pairs) < most + len(around):
            _, steps, number, read = heapq.heappop(self._ready)
            first, second, differ = pair = self._pairs[number]
            if read > self._read.get(pair, read):
                continue
            if first == second == _EMPTY:
                if differ:
                    yield self._trees(number)
            else:
                self._continue(number, read, steps + 1)

    def _add(self, pair: tuple[int, int], differ: bool, read: int, steps: int, step: _Step) -> None:
        first, second = pair
        stacks = self._stacks
        if not stacks.first[first] & stacks.first[second]:
            return
        key = (first, second, differ)
        if self._read.get(key, read + 1) <= read:
            return
        if first != _EMPTY or second != _EMPTY:
            self._read[key] = read
        self._account.spend(1, 5)
        length = read + max(stacks.lengths[first], stacks.lengths[second])
        heapq.heappush(self._ready, (length, steps, len(self._pairs), read))
        self._pairs.append(key)
        self._steps.append(step)

    def _continue(self, number: int, read: int, steps: int) -> None:
        first, second, differ = self._pairs[number]
        cells = self._stacks.cells
        if first != _EMPTY and second != _EMPTY and cells[first][0] == cells[second][0]:
            symbol = cells[first][0]
            if self._steps[number].origin >= 0:
                longer = read + self._grammar.length((symbol,))
                rests = (cells[first][1], cells[second][1])
                self._add(rests, differ, longer, steps, _Step(number, (None, None)))
        if not differ:
            self._part(number, read, steps)
            return
        for side, stack in enumerate((first, second)):
            symbol, rest = cells[stack]
            if stack == _EMPTY or symbol >= 0:
                continue
            for symbols in self._grammar.alternatives[~symbol]:
                pushed = self._stacks.pushed(symbols, rest)
                if side == 0:
                    self._add((pushed, second), True, read, steps, _Step(number, (symbols, None)))
                else:
                    self._add((first, pushed), True, read, steps, _Step(number, (None, symbols)))

    def _part(self, number: int, read: int, steps: int) -> None:
        """Both replace their first symbol, by the same alternative or by two."""
        stack = self._pairs[number][0]
        symbol, rest = self._stacks.cells[stack]
        if symbol >= 0 or (rest == _EMPTY and self._steps[number].origin >= 0):
            return  # a rule at the end derives the same text twice: the search has begun with it
        pushed = self._stacks.pushed
        for symbols in self._grammar.alternatives[~symbol]:
            same = pushed(symbols, rest)
            self._add((same, same), False, read, steps, _Step(number, (symbols, symbols)))
        for one, other in self._overlapping(~symbol):
            pair = (pushed(one, rest), pushed(other, rest))
            self._add(pair, True, read, steps, _Step(number, (one, other)))

    def _overlapping(self, number: int) -> list[tuple[Symbols, Symbols]]:
        """The pairs of alternatives of a nonterminal that may begin with the same terminal, or be empty."""
        if number not in self._overlaps:
            found: list[tuple[Symbols, Symbols]] = []
            before: list[tuple[int, Symbols]] = []
            for symbols in self._grammar.alternatives[number]:
                first, is_nullable = self._grammar.rests(symbols)[0]
                bits = -1 if is_nullable else first
                known = len(found)
                found += [(other, symbols) for others, other in before if others & bits]
                self._account.spend(0, len(found) - known)
                before.append((bits, symbols))
            self._overlaps[number] = found
        return self._overlaps[number]

    # ---- derivations ----

    def _trees(self, number: int) -> tuple[int, Tree, Tree]:
        steps: list[_Step] = []
        while self._steps[number].origin >= 0:
            steps.append(self._steps[number])
            number = self._steps[number].origin
        symbol = self._stacks.cells[self._pairs[number][0]][0]
        first, second = (self._tree(symbol, steps[::-1], side) for side in (0, 1))
        return ~symbol, first, second

    def _tree(self, symbol: int, steps: list[_Step], side: int) -> Tree:
        root = Tree(symbol)
        waiting = [root]
        for step in steps:
            if step.alternatives == (None, None):
                shortest_tree(self._grammar, waiting.pop())
                continue
            symbols = step.alternatives[side]
            if symbols is not None:
                node = waiting.pop()
                node.children = [Tree(child) for child in symbols]
                waiting += reversed(node.children)
        return root


def ambiguous_trees(productions: Productions, account: WorkAccount, most: int) -> Iterator[tuple[Tree, Tree]]:
    """Two derivations of a text, for texts from the shortest on; none if the search ends without.

    Args:
        productions: the grammar.
        account: what the work may use.
        most: the number of pairs after which the search ends.

    Raises:
        LimitExceeded, Cancelled: the work was stopped.
    """
    for number, first, second in _Search(productions, account).found(most):
        yield _surrounded(productions, number, first), _surrounded(productions, number, second)


def shortest_tree(productions: Productions, root: Tree) -> None:
    """Makes the derivation of a shortest text."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.symbol < 0:
            number = ~node.symbol
            symbols = productions.alternatives[number][productions.shortest_by[number]]
            node.children = [Tree(symbol) for symbol in symbols]
            waiting += node.children


class _Use(NamedTuple):
    """That a nonterminal is in an alternative of another."""

    length: int
    number: int
    user: int
    symbols: Symbols
    position: int


def _uses(productions: Productions) -> dict[int, _Use]:
    """By nonterminal, the use of it that leads to the start with the fewest terminals around."""
    found: dict[int, _Use] = {}
    ready = [_Use(0, 0, -1, (), 0)]
    while ready:
        use = heapq.heappop(ready)
        if use.number in found:
            continue
        found[use.number] = use
        for symbols in productions.alternatives[use.number]:
            length = use.length + productions.length(symbols)
            for index, symbol in enumerate(symbols):
                if symbol < 0 and ~symbol not in found:
                    around = length - productions.shortest[~symbol]
                    heapq.heappush(ready, _Use(around, ~symbol, use.number, symbols, index))
    return found


def _lengths_around(productions: Productions) -> list[int]:
    """By nonterminal, the fewest terminals around it in a text."""
    uses = _uses(productions)
    return [uses[number].length for number in range(len(productions.alternatives))]


def _surrounded(productions: Productions, number: int, tree: Tree) -> Tree:
    """A derivation of the start in which a nonterminal has a given derivation."""
    uses = _uses(productions)
    while number != 0:
        use = uses[number]
        outer = Tree(~use.user)
        outer.children = [Tree(symbol) for symbol in use.symbols]
        for index, child in enumerate(outer.children):
            if index != use.position:
                shortest_tree(productions, child)
        outer.children[use.position] = tree
        number, tree = use.user, outer
    return tree
