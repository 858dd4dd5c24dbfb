"""Whether a grammar is LR(1), and where it is not: the shortest prefix that does not decide.

Problem.  A grammar is LR(1) if, reading from the left, the symbols read and the next one always decide which
rule ends, or that none does.  If it is not, which beginning of a text leaves two possibilities, and which two
texts go on with them?

Worked example.  ``s: "a" s "a" | "b" "b" | "a" "a"``.  After ``aaa``, if ``a`` follows: the two last letters
may be an ``s``, as in ``a aa a``, or another ``s`` may begin with the last one, as in ``a a aa a a``.

Method.  A state is a set of *items*, alternatives with a dot before the symbol that is next, each with the
terminals that may follow it.  There are two passes over the same states.

1. :meth:`Automaton.has_conflict`: states with equal items are merged if they are *weakly compatible*: merging
   them cannot create a conflict that neither has.  So a conflict appears if and only if the grammar is not
   LR(1), with about as many states as LALR(1) has.
2. :meth:`Automaton.conflict`, if it is not: states are not merged (the canonical automaton), and made in the
   order of the shortest text that leads to each.  The first one with a conflict has the shortest prefix.
   Following its items back to the start gives the shortest text that goes on with each of the two actions.

Source.  Knuth, *On the translation of languages from left to right*, 1965; Pager, *A practical general method
for constructing LR(k) parsers*, 1977 (weak compatibility).  Isradisaikul and Myers, *Finding counterexamples
from parsing conflicts*, 2015, search the second pass in a LALR(1) automaton; here each state has exactly the
terminals that may follow, so the first path found is a witness.
Cost.  Items times states.  A grammar of n productions can have a number of states exponential in n, so the
account stops the work.
Rejected: LALR(1) alone, which finds conflicts that are not the grammar's.  The canonical automaton alone: for
a grammar of Java's size it has some ten times as many states.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from tokamata.patterns.grammars.rules.productions import Productions, Symbols, WorkAccount

__all__ = ["Action", "Automaton", "Conflict"]

_Kernel = tuple[tuple[int, ...], tuple[int, ...]]  # items in order, and for each what may follow it, as bits


class Action(NamedTuple):
    """What may come next where a prefix does not decide.

    Attributes:
        nonterminal: the one that ends, or goes on.
        alternative: the alternative of it that is being read.
        dot: how many of its symbols have been read; all of them, if it ends.
        continuation: the terminals of a shortest text that goes on this way, as symbols.
    """

    nonterminal: int
    alternative: Symbols
    dot: int
    continuation: Symbols


@dataclass(frozen=True)
class Conflict:
    """A prefix after which the next symbol does not decide; both continuations begin with that symbol.

    Attributes:
        prefix: the terminals of a shortest text of the prefix.
        actions: two different actions, each of which leads to a text of the grammar.
    """

    prefix: Symbols
    actions: tuple[Action, Action]


class _State(NamedTuple):
    """A kernel and what follows from it."""

    kernel: _Kernel
    begun: dict[int, int]  # nonterminals that may begin here, and the bits of what may follow each


class Automaton:
    """The states of a grammar.

    Args:
        productions: the grammar.
        account: what the work may use.
    """

    def __init__(self, productions: Productions, account: WorkAccount) -> None:
        self._grammar = productions
        self._account = account
        self._end = 1 << productions.terminals
        # Alternatives one after another, the first of them start → nonterminal 0; item i + dot, with the
        # symbol after the dot, and what comes after that symbol.
        self._left: list[int] = []  # by item, the nonterminal; -1 for the first
        self._next: list[int | None] = []
        self._after: list[tuple[int, bool]] = []
        self._begin: list[list[int]] = []  # by nonterminal, its items with the dot at the beginning
        self._add(-1, (~0,))
        for number, alternatives in enumerate(productions.alternatives):
            self._begin.append([self._add(number, symbols) for symbols in alternatives])

    def has_conflict(self) -> bool:
        """Whether the grammar is not LR(1).

        Raises:
            LimitExceeded, Cancelled: the work was stopped.
        """
        kernels: list[dict[int, int]] = [{0: self._end}]
        of_core: dict[tuple[int, ...], list[int]] = {(0,): [0]}
        waiting = {0: None}  # in the order of their arrival
        while waiting:
            number, _ = waiting.popitem()
            kernel = kernels[number]
            state = self._state((tuple(kernel), tuple(kernel.values())))
            if self._conflicting(state) is not None:
                return True
            for after in self._successors(state).values():
                core = tuple(sorted(after))
                known = of_core.setdefault(core, [])
                for candidate in known:
                    if self._are_compatible(kernels[candidate], after):
                        if self._merge(kernels[candidate], after):
                            waiting[candidate] = None
                        break
                else:
                    self._account.spend(1, len(core))
                    known.append(len(kernels))
                    waiting[len(kernels)] = None
                    kernels.append({item: after[item] for item in core})
        return False

    def conflict(self) -> Conflict:
        """A conflict with a shortest prefix, of a grammar that has one.

        Raises:
            LimitExceeded, Cancelled: the work was stopped.
        """
        start: _Kernel = ((0,), (self._end,))
        came: dict[_Kernel, tuple[_Kernel, int] | None] = {}
        ready: list[tuple[int, int, _Kernel, tuple[_Kernel, int] | None]] = [(0, 0, start, None)]
        order = 0
        while True:
            length, _, kernel, origin = heapq.heappop(ready)
            if kernel in came:
                continue
            came[kernel] = origin
            state = self._state(kernel)
            symbol = self._conflicting(state)
            if symbol is not None:
                return self._explained(kernel, symbol, came)
            for read, after in self._successors(state).items():
                items = tuple(sorted(after))
                reached = (items, tuple(after[item] for item in items))
                if reached not in came:
                    self._account.spend(1, len(items))
                    order += 1
                    heapq.heappush(
                        ready, (length + self._grammar.length((read,)), order, reached, (kernel, read))
                    )

    # ---- states ----

    def _add(self, left: int, symbols: Symbols) -> int:
        begin = len(self._left)
        self._account.spend(0, len(symbols) + 1)
        rests = self._grammar.rests(symbols)
        for position, symbol in enumerate(symbols):
            self._left.append(left)
            self._next.append(symbol)
            self._after.append(rests[position + 1])
        self._left.append(left)
        self._next.append(None)
        self._after.append((0, True))
        return begin

    def _state(self, kernel: _Kernel) -> _State:
        begun: dict[int, int] = {}
        waiting: list[int] = []

        def note(item: int, follow: int) -> None:
            symbol = self._next[item]
            if symbol is not None and symbol < 0:
                first, is_nullable = self._after[item]
                bits = first | follow if is_nullable else first
                known = begun.get(~symbol)
                if known is None or bits & ~known:
                    begun[~symbol] = bits | (known or 0)
                    waiting.append(~symbol)

        for item, follow in zip(*kernel, strict=True):
            note(item, follow)
        while waiting:
            self._account.watch.check()
            number = waiting.pop()
            for item in self._begin[number]:
                note(item, begun[number])
        return _State(kernel, begun)

    def _items(self, state: _State) -> Iterator[tuple[int, int]]:
        yield from zip(*state.kernel, strict=True)
        for number, follow in state.begun.items():
            for item in self._begin[number]:
                yield item, follow

    def _successors(self, state: _State) -> dict[int, dict[int, int]]:
        found: dict[int, dict[int, int]] = {}
        for item, follow in self._items(state):
            symbol = self._next[item]
            if symbol is not None:
                found.setdefault(symbol, {})[item + 1] = follow
        return found

    def _conflicting(self, state: _State) -> int | None:
        """A terminal, or the text's end, after which two actions are possible."""
        taken = ended = both = 0
        for item, follow in self._items(state):
            symbol = self._next[item]
            if symbol is None:
                both |= ended & follow
                ended |= follow
            elif symbol >= 0:
                taken |= 1 << symbol
        both |= ended & taken
        return (both & -both).bit_length() - 1 if both else None

    def _are_compatible(self, known: dict[int, int], new: dict[int, int]) -> bool:
        """Whether each two items share a follower within one state already, or not across both either."""
        if len(known) == 1 or all(not bits & ~known[item] for item, bits in new.items()):
            return True
        pairs = [(known[item], bits) for item, bits in new.items()]
        for index, (a, b) in enumerate(pairs):
            self._account.watch.check()
            for c, d in pairs[:index]:
                if (a & d or b & c) and not (a & c or b & d):
                    return False
        return True

    @staticmethod
    def _merge(known: dict[int, int], new: dict[int, int]) -> bool:
        has_grown = False
        for item, bits in new.items():
            if bits & ~known[item]:
                known[item] |= bits
                has_grown = True
        return has_grown

    # ---- witnesses ----

    def _explained(
        self, kernel: _Kernel, symbol: int, came: dict[_Kernel, tuple[_Kernel, int] | None]
    ) -> Conflict:
        path = [kernel]
        read: list[int] = []
        while (origin := came[path[-1]]) is not None:
            path.append(origin[0])
            read.append(origin[1])
        states = [self._state(found) for found in reversed(path)]
        yields = _Yields(self._grammar, symbol)
        items = list(self._items(states[-1]))
        ends = [item for item, follow in items if self._next[item] is None and follow >> symbol & 1]
        reads = [item for item, _ in items if self._next[item] == symbol]  # one action, whatever is read
        first, second = (self._action(states, item, symbol, yields) for item in [*ends, *reads[:1]][:2])
        return Conflict(yields.shortest(reversed(read)), (first, second))

    def _action(self, states: list[_State], item: int, symbol: int, yields: _Yields) -> Action:
        dot = self._dot(item)
        alternative = self._rest(item - dot)
        rest = yields.shortest(alternative[dot:])
        needed = None if self._next[item] == symbol else symbol
        base = len(states) - 1 - dot
        continuation = rest + self._continuation(states, base, self._left[item], needed, yields)
        return Action(self._left[item], alternative, dot, continuation)

    def _continuation(
        self, states: list[_State], base: int, left: int, needed: int | None, yields: _Yields
    ) -> Symbols:
        """The terminals of a shortest text after a nonterminal that began in a state of the path.

        Args:
            states: those that the prefix leads through.
            base: the index of the one where the nonterminal began.
            left: the nonterminal.
            needed: the terminal that must come next; ``None`` if any may.
            yields: the shortest texts of symbols.
        """
        seen: set[tuple[int, int, int | None]] = set()
        ready: list[tuple[int, int, int, int, int | None, Symbols]] = [(0, 0, base, left, needed, ())]
        order = 0
        while True:
            length, _, index, number, wanted, text = heapq.heappop(ready)
            if number == -1:
                return text
            if (index, number, wanted) in seen:
                continue
            seen.add((index, number, wanted))
            for item, follow, dot in self._users(states[index], number):
                for rest, after in self._rests(item, follow, wanted, yields):
                    order += 1
                    heapq.heappush(
                        ready,
                        (length + len(rest), order, index - dot, self._left[item], after, text + rest),
                    )

    def _users(self, state: _State, number: int) -> Iterator[tuple[int, int, int]]:
        """The items of a state whose next symbol is a nonterminal: what may follow, and how much was read."""
        for item, follow in self._items(state):
            if self._next[item] == ~number:
                yield item, follow, self._dot(item)

    def _rests(
        self, item: int, follow: int, wanted: int | None, yields: _Yields
    ) -> Iterable[tuple[Symbols, int | None]]:
        """How an item goes on after its next symbol, and what must follow it then."""
        rest = self._rest(item + 1)
        if wanted is None:
            yield yields.shortest(rest), None
            return
        if (begun := yields.beginning(rest)) is not None:
            yield begun, None
        if self._after[item][1] and follow >> wanted & 1:
            yield (), wanted

    def _dot(self, item: int) -> int:
        """How many symbols an item has read."""
        dot = 0
        while item > dot and self._next[item - dot - 1] is not None:
            dot += 1
        return dot

    def _rest(self, item: int) -> Symbols:
        """The symbols that an item has not read."""
        found: list[int] = []
        while (symbol := self._next[item + len(found)]) is not None:
            found.append(symbol)
        return tuple(found)


class _Yields:
    """The shortest texts of symbols, and the shortest of those that begin with a given terminal."""

    def __init__(self, productions: Productions, terminal: int) -> None:
        self._grammar = productions
        self._terminal = terminal
        self._begun: dict[int, tuple[Symbols, int]] = {}  # the alternative, and the symbol that begins
        self._lengths: dict[int, int] = {}
        self._find()

    def shortest(self, symbols: Iterable[int]) -> Symbols:
        """A shortest text of some symbols."""
        found: list[int] = []
        waiting = list(symbols)[::-1]
        while waiting:
            symbol = waiting.pop()
            if symbol >= 0:
                found.append(symbol)
            else:
                grammar = self._grammar
                waiting += reversed(grammar.alternatives[~symbol][grammar.shortest_by[~symbol]])
        return tuple(found)

    def beginning(self, symbols: Iterable[int]) -> Symbols | None:
        """A shortest text of some symbols that begins with the terminal."""
        rest = tuple(symbols)
        index = self._best(rest)
        if index is None:
            return None
        after: list[Symbols] = []
        while True:
            after.append(self.shortest(rest[index + 1 :]))
            head = rest[index]
            if head >= 0:
                return (head, *(part for parts in reversed(after) for part in parts))
            rest, index = self._begun[~head]

    def _best(self, symbols: Symbols) -> int | None:
        """Which of some symbols begins, those before it being empty, in a shortest text."""
        best: tuple[int, int] | None = None
        for index, symbol in enumerate(symbols):
            length = self._length(symbol)
            if length is not None:
                total = length + self._grammar.length(symbols[index + 1 :])
                best = min(best or (total, index), (total, index))
            if not self._grammar.is_nullable(symbol):
                break
        return None if best is None else best[1]

    def _length(self, symbol: int) -> int | None:
        if symbol >= 0:
            return 1 if symbol == self._terminal else None
        return self._lengths.get(~symbol)

    def _find(self) -> None:
        """By nonterminal, the fewest terminals of a text that begins with the terminal."""
        grammar = self._grammar
        users: dict[int, list[tuple[int, Symbols, int]]] = {}
        ready: list[tuple[int, int, Symbols, int]] = []
        for number, alternatives in enumerate(grammar.alternatives):
            for symbols in alternatives:
                for index, symbol in enumerate(symbols):
                    rest = grammar.length(symbols[index + 1 :])
                    if symbol == self._terminal:
                        ready.append((1 + rest, number, symbols, index))
                    elif symbol < 0:
                        users.setdefault(~symbol, []).append((number, symbols, index))
                    if not grammar.is_nullable(symbol):
                        break
        heapq.heapify(ready)
        while ready:
            length, number, symbols, index = heapq.heappop(ready)
            if number in self._lengths:
                continue
            self._lengths[number] = length
            self._begun[number] = (symbols, index)
            for user, outer, position in users.get(number, ()):
                rest = grammar.length(outer[position + 1 :])
                heapq.heappush(ready, (length + rest, user, outer, position))
