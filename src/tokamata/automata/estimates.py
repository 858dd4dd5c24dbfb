"""Estimates of what a correction still costs: the heuristics of paper 004, as they are admissible.

Problem.  A* prefers a pair (position in the string, state of the acceptor) from which little is left to
pay.  Its estimate h must be at most that (admissible), and must not fall along an edge by more than the
edge costs (consistent), or the search must open pairs again.  The paper's three are not admissible
(docs/errata.md); these three are, and consistent::

    acceptor = Acceptor.from_strings(["abc"])
    by_length(acceptor, b"abc")[0][acceptor.start]      # 0: nothing is to be paid; the paper says 3
    by_length(acceptor, b"a")[0][acceptor.start]        # 2: two symbols are missing

How.  Each is the distance between what the rest of the string has and what the state can still read, in
something that one edit changes by one:

- :func:`by_length`: the number of symbols.
- :func:`by_types`: the bag of their types.  What a state can still read is a flow through the acceptor from
  the state to acceptance; the bag of the rest is made its bag at least cost.  A path is such a flow.
- :func:`bracket_estimate`: for each kind of bracket, those that are unmatched among the brackets of this
  kind alone, and those that the state has open.  An edit inserts or removes one; a replacement changes two
  counts by one.

Their maximum has both properties too.  Their sum has not: one missing bracket counts in all three.
Cost.  One search for each state; one linear program for each pair; one pass over the rest.
Source.  Paper 004, section 6; Hart, Nilsson and Raphael 1968.
Not taken.  The bag of types exactly, by a search over states and bags: exponential in the number of types.
The flow may contain circles that no path reaches, so it can be below the exact distance.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from tokamata.automata.acceptor import Acceptor, String, symbols_of
from tokamata.automata.correction import Prices
from tokamata.automata.machine import EPSILON
from tokamata.errors import MissingExtraError

__all__ = ["TypeFlow", "bracket_estimate", "by_length", "by_types"]

_Symbol = TypeVar("_Symbol", bound=Hashable)
_ONE_EACH = Prices()
_NEVER = math.inf
_ROUNDING = 1e-6  # of the linear programs


def by_length(acceptor: Acceptor, string: String, prices: Prices = _ONE_EACH) -> list[list[float]]:
    """By position and state: what the number of symbols costs; infinite where nothing is accepted."""
    length = len(symbols_of(string))
    shortest, longest = _shortest(acceptor), _longest(acceptor)

    def estimate(rest: int, state: int) -> float:
        if shortest[state] == _NEVER:
            return _NEVER
        if shortest[state] > rest:
            return (shortest[state] - rest) * prices.insert
        return max(0, rest - longest[state]) * prices.remove

    return [
        [estimate(length - position, state) for state in range(acceptor.states)]
        for position in range(length + 1)
    ]


def by_types(
    acceptor: Acceptor, string: String, types: Mapping[int, Hashable], prices: Prices = _ONE_EACH
) -> list[list[float]]:
    """By position and state: what must be paid for the bag of types; infinite where nothing is accepted.

    Args:
        acceptor: the strings.
        string: the string.
        types: of each symbol; a symbol that is not named is a type of its own.
        prices: of the edits.

    Raises:
        MissingExtraError: the package ``scipy`` is not installed.
    """
    symbols = symbols_of(string)
    flow = TypeFlow(acceptor, types, symbols, prices)
    shortest = _shortest(acceptor)
    return [
        [
            flow.least(state, Counter(map(flow.type_of, symbols[position:])))
            if shortest[state] < _NEVER
            else _NEVER
            for state in range(acceptor.states)
        ]
        for position in range(len(symbols) + 1)
    ]


def bracket_estimate(
    rest: Sequence[_Symbol],
    open_: Mapping[_Symbol, int],
    pairs: Mapping[_Symbol, _Symbol],
    prices: Prices = _ONE_EACH,
) -> int:
    """What must be paid until the brackets of each kind are balanced.

    It holds for languages in which they are.  The symbols are lexemes: in the bytes of JSON a quote makes
    brackets those of a string, so there it is at most what a quote costs.

    Args:
        rest: the symbols that are not read yet.
        open_: how many brackets of each kind the state has open, by the left one.
        pairs: the right bracket of each left one.
        prices: of the edits.
    """
    left_of = {right: left for left, right in pairs.items()}
    opened, closed = Counter[_Symbol](), Counter[_Symbol]()
    for symbol in rest:
        if symbol in pairs:
            opened[symbol] += 1
        elif symbol in left_of:
            kind = left_of[symbol]
            (opened if opened[kind] else closed)[kind] += -1 if opened[kind] else 1
    # One insertion or removal changes one of these numbers by one; a replacement two, or one by two.
    units = sum(opened[kind] + abs(closed[kind] - open_.get(kind, 0)) for kind in pairs)
    single = min(prices.insert, prices.remove)
    return min(
        doubles * prices.replace + max(0, units - 2 * doubles) * single for doubles in range(units // 2 + 2)
    )


def _shortest(acceptor: Acceptor) -> list[float]:
    """The length of the shortest string that each state accepts."""
    into: list[list[tuple[int, int]]] = [[] for _ in range(acceptor.states)]
    for source, symbol, target in acceptor.transitions:
        into[target].append((source, symbol != EPSILON))
    lengths = [_NEVER] * acceptor.states
    open_ = deque((state, 0) for state in acceptor.accepting)
    while open_:
        state, length = open_.popleft()
        if length >= lengths[state]:
            continue
        lengths[state] = length
        for source, reads in into[state]:
            (open_.append if reads else open_.appendleft)((source, length + reads))
    return lengths


def _longest(acceptor: Acceptor) -> list[float]:
    """The length of the longest string that each state accepts; infinite if there is none."""
    shortest = _shortest(acceptor)
    live = [arc for arc in acceptor.transitions if shortest[arc[2]] < _NEVER]
    lengths = [0 if state in acceptor.accepting else -_NEVER for state in range(acceptor.states)]
    # Without a circle that reads, a longest string passes each state once; what grows later grows for ever.
    for is_endless in (False, True):
        for _ in range(acceptor.states):
            for source, symbol, target in live:
                length = lengths[target] + (symbol != EPSILON)
                if length > lengths[source]:
                    lengths[source] = _NEVER if is_endless else length
    return lengths


class TypeFlow:
    """The linear program of :func:`by_types`; only its right sides depend on the pair.

    Its unknowns: how often each transition is taken, which accepting state is the last, and how many
    symbols of each type are inserted, removed, and replaced by one of each other type.  Its rows: each
    state is left as often as it is entered, except for the first and the last one; and what the transitions
    read of each type is what the rest of the string has of it after these edits.
    """

    def __init__(
        self, acceptor: Acceptor, types: Mapping[int, Hashable], symbols: Sequence[int], prices: Prices
    ) -> None:
        import numpy as np

        self._types = types
        arcs, last = list(acceptor.transitions), sorted(acceptor.accepting)
        read = {symbol for _, symbol, _ in arcs if symbol != EPSILON} | set(symbols)
        self._kinds = sorted({self.type_of(symbol) for symbol in read}, key=repr)
        number = {kind: index for index, kind in enumerate(self._kinds)}
        replaced = [(one, other) for one in number.values() for other in number.values() if one != other]
        states, kinds = acceptor.states, len(self._kinds)
        edits = len(arcs) + len(last)
        self._rows = np.zeros((states + kinds, edits + 2 * kinds + len(replaced)))
        self._costs = np.zeros(self._rows.shape[1])
        for column, (source, symbol, target) in enumerate(arcs):
            self._rows[source, column] += 1
            self._rows[target, column] -= 1
            if symbol != EPSILON:
                self._rows[states + number[self.type_of(symbol)], column] = 1
        for column, state in enumerate(last, len(arcs)):
            self._rows[state, column] = 1
        of_types = self._rows[states:]
        for kind in range(kinds):
            of_types[kind, edits + kind], self._costs[edits + kind] = -1, prices.insert
            of_types[kind, edits + kinds + kind], self._costs[edits + kinds + kind] = 1, prices.remove
        for column, (one, other) in enumerate(replaced, edits + 2 * kinds):
            of_types[one, column], of_types[other, column] = 1, -1
            self._costs[column] = prices.replace
        self._states = states

    def type_of(self, symbol: int) -> Hashable:
        """The type of a symbol."""
        return self._types.get(symbol, symbol)

    def least(self, state: int, rest: Counter[Hashable]) -> float:
        """The least cost of making a bag what the state can read."""
        try:
            from scipy.optimize import linprog
        except ImportError as error:
            raise MissingExtraError("scipy", "repair", "by_types") from error
        right = [float(number == state) for number in range(self._states)]
        right += [float(rest[kind]) for kind in self._kinds]
        found = linprog(self._costs, A_eq=self._rows, b_eq=right, method="highs")
        assert found.status == 0, found.message  # the state accepts a string, so there is a flow
        return math.ceil(float(found.fun) - _ROUNDING)  # costs are whole numbers
