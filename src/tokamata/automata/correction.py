"""Correction: the string of a language that is nearest to a given one, by tables; slow, and easy
to check by hand.

The engine searches for repairs (``core/repair/search.hpp``).  These three compute the same costs
otherwise, and its
tests compare them.  An edit inserts, removes or replaces one symbol, at one price each::

    correction(Acceptor.from_strings(["ab", "abc"]), b"b")      # 1: `a` is inserted

- :func:`correction`: a table of all positions and states; Wagner, *Order-n correction for regular
  languages*, 1974.
  Cost: positions · transitions · log.
- :func:`within_distance`: an acceptor of all strings within a distance, to be joined with
  ``product``.  Schulz
  and Mihov, *Fast string correction with Levenshtein automata*, 2002, without the determinization.
- :func:`grammar_correction`: for each rule and each span of the string, the least cost of making
  the span a text
  of the rule.  Aho and Peterson, *A minimum distance error-correcting parser for context-free
  languages*, 1972.
  Cost: the cube of the length, for each rule, until nothing changes.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from tokamata.automata.acceptor import Acceptor, String, symbols_of
from tokamata.automata.machine import EPSILON

__all__ = ["Prices", "correction", "grammar_correction", "within_distance"]


class Prices(NamedTuple):
    """The prices of the three edits."""

    insert: int = 1
    remove: int = 1
    replace: int = 1


_ONE_EACH = Prices()


def correction(acceptor: Acceptor, string: String, prices: Prices = _ONE_EACH) -> int | None:
    """The least cost of making a string one of the acceptor's; ``None`` if the acceptor has no string."""
    symbols = symbols_of(string)
    open_: list[tuple[int, int, int]] = [(0, 0, acceptor.start)]
    done: set[tuple[int, int]] = set()
    while open_:
        cost, position, state = heapq.heappop(open_)
        if (position, state) in done:
            continue
        done.add((position, state))
        is_within = position < len(symbols)
        if not is_within and state in acceptor.accepting:
            return cost
        if is_within:
            heapq.heappush(open_, (cost + prices.remove, position + 1, state))
        for symbol, target in acceptor.rows[state]:
            if symbol == EPSILON:
                heapq.heappush(open_, (cost, position, target))
                continue
            heapq.heappush(open_, (cost + prices.insert, position, target))
            if is_within:
                paid = 0 if symbol == symbols[position] else prices.replace
                heapq.heappush(open_, (cost + paid, position + 1, target))
    return None


def within_distance(string: String, distance: int, alphabet: Iterable[int]) -> Acceptor:
    """All strings that so many edits, or fewer, make of a string."""
    symbols, letters = symbols_of(string), sorted(set(alphabet))
    width = len(symbols) + 1

    def state(position: int, edits: int) -> int:
        return edits * width + position

    arcs = []
    for edits in range(distance + 1):
        for position in range(width):
            here = state(position, edits)
            is_within = position < len(symbols)
            if is_within:
                arcs.append((here, symbols[position], state(position + 1, edits)))
            if edits == distance:
                continue
            arcs.extend((here, letter, state(position, edits + 1)) for letter in letters)
            if is_within:
                after = state(position + 1, edits + 1)
                arcs.append((here, EPSILON, after))
                arcs.extend((here, letter, after) for letter in letters)
    accepting = [state(len(symbols), edits) for edits in range(distance + 1)]
    return Acceptor.from_transitions(arcs, accepting, states=width * (distance + 1))


def grammar_correction(
    rules: Mapping[str, Sequence[Sequence[str | int]]], start: str, string: String, prices: Prices = _ONE_EACH
) -> int | None:
    """The least cost of making a string one of a grammar's; ``None`` if the grammar has no string.

    Args:
        rules: the bodies of each rule; a name stands for a rule, a number for a symbol.
        start: the rule of the whole.
        string: the string.
        prices: of the edits.
    """
    symbols = symbols_of(string)
    length = len(symbols)
    spans = [(begin, end) for begin in range(length + 1) for end in range(begin, length + 1)]
    endless = float("inf")
    least: dict[tuple[str, int, int], float] = {}

    def of_symbol(part: str | int, begin: int, end: int) -> float:
        if isinstance(part, str):
            return least.get((part, begin, end), endless)
        removed = (end - begin) * prices.remove
        best: float = removed + prices.insert
        for position in range(begin, end):
            kept = 0 if symbols[position] == part else prices.replace
            best = min(best, removed - prices.remove + kept)
        return best

    def of_body(body: Sequence[str | int], begin: int, end: int) -> float:
        reached: dict[int, float] = {begin: 0}
        for part in body:
            further: dict[int, float] = {}
            for middle, cost in reached.items():
                for to in range(middle, end + 1):
                    whole = cost + of_symbol(part, middle, to)
                    if whole < further.get(to, endless):
                        further[to] = whole
            reached = further
        if not body:
            return (end - begin) * prices.remove
        return reached.get(end, endless)

    changes = True
    while changes:
        changes = False
        for name, bodies in rules.items():
            for begin, end in spans:
                best = min((of_body(body, begin, end) for body in bodies), default=endless)
                if best < least.get((name, begin, end), endless):
                    least[name, begin, end] = best
                    changes = True
    found = least.get((start, 0, length), endless)
    return None if found == endless else int(found)
