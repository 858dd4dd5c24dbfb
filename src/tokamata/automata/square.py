"""The square of a transducer: two runs on one input, side by side.

A state of the square is a pair of states, and a step is one of three::

    both read a     p ─a:x─▶ p'   and   q ─a:y─▶ q'        (p, q) ─ x | y ─▶ (p', q')
    the first       p ─ε:x─▶ p'                            (p, q) ─ x | ε ─▶ (p', q)
    the second                          q ─ε:y─▶ q'        (p, q) ─ ε | y ─▶ (p, q')

Every pair of runs on one input is a path from (start, start).  How far the output of one run is ahead of the
other's is the *delay* of the pair (Béal and others call it "lead or delay")::

    for the outputs  ab | abcd    cd on the right           for  ab | ac    none: they differ for good

:mod:`tokamata.automata.ambiguity` and :mod:`tokamata.automata.twinning` decide by delays what a transducer
can be made into.

Source.  Béal, Carton, Prieur and Sakarovitch, *Squaring transducers: an efficient procedure for deciding
functionality and sequentiality*, 2003.
Cost.  At most the square of the transitions; only pairs that some input reaches are made.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tokamata.automata.account import Account
from tokamata.automata.machine import EPSILON, Pair
from tokamata.automata.transducer import Transducer
from tokamata.automata.trim import useful_states

Word = tuple[int, ...]
Arc = tuple[int, int]  # what a transition writes, and its target
Delay = tuple[Word, Word] | None  # the rest of each output, of which one is empty; None where they differ
NO_DELAY: Delay = ((), ())


class Step(NamedTuple):
    """A step of two runs; one that waits has no arc."""

    symbol: int
    first: Arc | None
    second: Arc | None

    def target(self, pair: Pair) -> Pair:
        """The pair after this step from ``pair``."""
        return (
            pair[0] if self.first is None else self.first[1],
            pair[1] if self.second is None else self.second[1],
        )

    @property
    def written(self) -> tuple[Word, Word]:
        """What each of the runs writes."""
        return _word(self.first), _word(self.second)


class Square:
    """The pairs of runs of a transducer; it is trimmed, and its states keep their numbers."""

    def __init__(self, transducer: Transducer, account: Account) -> None:
        self.transducer = transducer
        useful = useful_states(transducer)
        account.add_states(transducer.states)
        account.add_transitions(transducer.size)
        self._arcs: list[dict[int, list[Arc]]] = [{} for _ in transducer.rows]
        for source, read, written, target in transducer.transitions:
            if source in useful and target in useful:
                self._arcs[source].setdefault(read, []).append((written, target))

    @property
    def start(self) -> Pair:
        """The pair before any input."""
        return self.transducer.start, self.transducer.start

    def is_accepting(self, pair: Pair) -> bool:
        """Whether both states accept."""
        return pair[0] in self.transducer.accepting and pair[1] in self.transducer.accepting

    def silent_arcs(self, state: int) -> list[Arc]:
        """The arcs of a state that read nothing."""
        return self._arcs[state].get(EPSILON, [])

    def silent(self, pair: Pair) -> Iterator[Step]:
        """The steps that read nothing: one run moves, the other waits."""
        for arc in self.silent_arcs(pair[0]):
            yield Step(EPSILON, arc, None)
        for arc in self.silent_arcs(pair[1]):
            yield Step(EPSILON, None, arc)

    def reading(self, pair: Pair) -> Iterator[Step]:
        """The steps that read a symbol."""
        others = self._arcs[pair[1]]
        for symbol, arcs in self._arcs[pair[0]].items():
            if symbol != EPSILON:
                for second in others.get(symbol, ()):
                    for first in arcs:
                        yield Step(symbol, first, second)


def delayed(delay: Delay, written: tuple[Word, Word]) -> Delay:
    """The delay after both runs have written more."""
    if delay is None:
        return None
    first, second = delay[0] + written[0], delay[1] + written[1]
    shared = min(len(first), len(second))
    if first[:shared] != second[:shared]:
        return None
    return first[shared:], second[shared:]


def _word(arc: Arc | None) -> Word:
    return () if arc is None or arc[0] == EPSILON else (arc[0],)
