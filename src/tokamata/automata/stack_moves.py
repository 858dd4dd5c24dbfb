"""The transitions of a push-down automaton as single moves: read, push one, pop one, or do nothing.

A transition may pop and push strings.  With states in between, it is a sequence of moves::

    p ─ read b, pop "x y", push "z" ─▶ q     becomes     p ─b─▶ · ─pop y─▶ · ─pop x─▶ · ─push z─▶ q

The algorithms on sets of configurations (:mod:`.configurations`) need only these four cases.  Cost: linear.
"""

from __future__ import annotations

from collections.abc import Sequence

from tokamata.automata.account import Account
from tokamata.automata.machine import EPSILON, Edit


class StackMoves:
    """The moves of each state; the states of the automaton keep their numbers.

    Attributes:
        reads: pairs of a symbol and a target.
        silent: targets of moves that do nothing else.
        pushes: pairs of a stack symbol and a target.
        pops: targets by the stack symbol that is popped.
    """

    __slots__ = ("pops", "pushes", "reads", "silent")

    def __init__(self, rows: Sequence[Sequence[tuple[Edit, int]]], account: Account) -> None:
        self.reads: list[list[tuple[int, int]]] = []
        self.silent: list[list[int]] = []
        self.pushes: list[list[tuple[int, int]]] = []
        self.pops: list[dict[int, list[int]]] = []
        for _ in rows:
            self._new_state(account)
        for source, row in enumerate(rows):
            for (symbol, popped, pushed), target in row:
                self._add(source, symbol, popped, pushed, target, account)

    @property
    def states(self) -> int:
        """The number of states, those in between included."""
        return len(self.reads)

    def _add(
        self,
        source: int,
        symbol: int,
        popped: tuple[int, ...],
        pushed: tuple[int, ...],
        target: int,
        account: Account,
    ) -> None:
        left = (symbol != EPSILON) + len(popped) + len(pushed)
        account.add_transitions(max(left, 1))
        if not left:
            self.silent[source].append(target)
        state = source

        def after() -> int:
            nonlocal left
            left -= 1
            return self._new_state(account) if left else target

        if symbol != EPSILON:
            to = after()
            self.reads[state].append((symbol, to))
            state = to
        for top in reversed(popped):
            to = after()
            self.pops[state].setdefault(top, []).append(to)
            state = to
        for top in pushed:
            to = after()
            self.pushes[state].append((top, to))
            state = to

    def _new_state(self, account: Account) -> int:
        account.add_states()
        self.reads.append([])
        self.silent.append([])
        self.pushes.append([])
        self.pops.append({})
        return len(self.reads) - 1
