"""A deterministic machine to which merges are applied in place.

A merge needs the states between its two parts, and the sources of a token (001, section 5.1).  So the machine
keeps these indexes of its transitions:

    rows        for each state its target by symbol
    sources     for each state, the states from which each symbol leads to it, by symbol
    entered     for each symbol, the states that it leads to
    leaving     for each symbol, the states that read it

The states between ``a`` and ``b`` are ``entered[a] & leaving[b]``; if there are none, a merge costs two
look-ups.
"""

from __future__ import annotations

from collections import defaultdict

from tokamata.automata import Acceptor
from tokamata.automata.account import Account
from tokamata.errors import MachineError

_NONE: frozenset[int] = frozenset()


class Mergeable:
    """States and transitions with their indexes; states that are removed keep their numbers."""

    def __init__(self, acceptor: Acceptor, account: Account) -> None:
        if not acceptor.is_deterministic:
            raise MachineError("merges need a deterministic acceptor; minimize it first")
        self._account = account
        self._like = acceptor
        self.start = acceptor.start
        self.accepting = set(acceptor.accepting)
        self.rows: list[dict[int, int]] = []
        self.sources: list[dict[int, set[int]]] = []
        self._entered: defaultdict[int, set[int]] = defaultdict(set)
        self._leaving: defaultdict[int, set[int]] = defaultdict(set)
        for _ in acceptor.rows:
            self.new_state()
        for source, symbol, target in acceptor.transitions:
            self.add(source, symbol, target)

    def between(self, left: int, right: int) -> list[int]:
        """The states that ``left`` leads to and that read ``right``, in order."""
        entered = self._entered.get(left, _NONE)
        leaving = self._leaving.get(right, _NONE)
        return sorted(entered & leaving)

    def new_state(self) -> int:
        """A state without transitions."""
        self._account.add_states()
        self.rows.append({})
        self.sources.append({})
        return len(self.rows) - 1

    def add(self, source: int, symbol: int, target: int) -> None:
        """Adds a transition.

        Raises:
            MachineError: the state has another target for that symbol already.
        """
        if self.rows[source].get(symbol, target) != target:
            raise MachineError(
                f"a merge makes token {symbol}, which state {source} reads already; the result of a merge "
                "may not be one of the characters"
            )
        self._account.add_transitions()
        self.rows[source][symbol] = target
        self.sources[target].setdefault(symbol, set()).add(source)
        self._entered[symbol].add(target)
        self._leaving[symbol].add(source)

    def remove(self, source: int, symbol: int) -> None:
        """Removes the transition of ``source`` that reads ``symbol``."""
        target = self.rows[source].pop(symbol)
        self._leaving[symbol].discard(source)
        sources = self.sources[target][symbol]
        sources.discard(source)
        if not sources:
            del self.sources[target][symbol]
            self._entered[symbol].discard(target)

    def redirect(self, source: int, symbol: int, target: int) -> None:
        """Changes the target of a transition."""
        self.remove(source, symbol)
        self.add(source, symbol, target)

    def remove_state(self, state: int) -> None:
        """Removes all transitions from and to ``state``."""
        for symbol in list(self.rows[state]):
            self.remove(state, symbol)
        for symbol, sources in list(self.sources[state].items()):
            for source in list(sources):
                self.remove(source, symbol)
        self.accepting.discard(state)

    def to_acceptor(self) -> Acceptor:
        """The acceptor of the reachable states, in their order."""
        reached = {self.start}
        pending = [self.start]
        while pending:
            for target in self.rows[pending.pop()].values():
                if target not in reached:
                    reached.add(target)
                    pending.append(target)
        kept = sorted(reached)
        numbers = {state: number for number, state in enumerate(kept)}
        rows = [[(symbol, numbers[t]) for symbol, t in self.rows[s].items()] for s in kept]
        accepting = [numbers[state] for state in self.accepting if state in numbers]
        return self._like.like(rows, accepting, numbers[self.start])
