"""Which configurations of a push-down automaton lead to acceptance.

Problem.  A configuration is a state with a stack, and there are infinitely many.

How.  Two tables are enough, both of states alone.  ``live`` has the states from which an accepting state is
reached without popping anything that is below.  ``pops`` says, for a state and a symbol on top of its stack,
in which states that symbol may be popped, after any symbols were read and anything was pushed and popped
above it.  A configuration leads to acceptance if its state is live, or pops its top and what it then is does.

Both are least fixed points.  For ``S: "a" S "b" | ε`` (:mod:`.grammar_pushdown`), state 0 pops S into the
accepting state 4, and pops r into state 2: at once, or after an ``a`` and a text of S of which it pops
another r.

Source.  Bouajjani, Esparza and Maler, *Reachability analysis of pushdown automata*, 1997 (``pre*``).
Cost.  At most transitions × states × stack symbols.
"""

from __future__ import annotations

from collections.abc import Iterable

from tokamata.automata.account import Account
from tokamata.automata.configurations import StackNode
from tokamata.automata.stack_moves import StackMoves


class Liveness:
    """The two tables of an automaton.

    Args:
        moves: the moves of the automaton.
        accepting: its accepting states.
        account: bounds on the work.

    Raises:
        LimitExceeded: the tables are too large.
    """

    __slots__ = ("_live", "_pops")

    def __init__(self, moves: StackMoves, accepting: Iterable[int], account: Account) -> None:
        self._pops: list[dict[int, set[int]]] = [{} for _ in range(moves.states)]
        # For each state, those that reach it with the same stack, and those that reach it by a push.
        sources: list[set[int]] = [set() for _ in range(moves.states)]
        pushers: list[dict[int, set[int]]] = [{} for _ in range(moves.states)]
        for state in range(moves.states):
            for target in moves.silent[state]:
                sources[target].add(state)
            for _, target in moves.reads[state]:
                sources[target].add(state)
            for symbol, target in moves.pushes[state]:
                pushers[target].setdefault(symbol, set()).add(state)
        self._find_pops(moves, sources, pushers, account)
        for target, by_symbol in enumerate(pushers):
            sources[target] = sources[target].union(*by_symbol.values())
        self._live = set(accepting)
        pending = list(self._live)
        while pending:
            for source in sources[pending.pop()] - self._live:
                account.work()
                self._live.add(source)
                pending.append(source)

    def _find_pops(
        self,
        moves: StackMoves,
        sources: list[set[int]],
        pushers: list[dict[int, set[int]]],
        account: Account,
    ) -> None:
        """Adds to ``sources`` the states that push something which is popped again."""
        pending: list[tuple[int, int, int]] = []

        def add(state: int, symbol: int, target: int) -> None:
            found = self._pops[state].setdefault(symbol, set())
            if target not in found:
                account.add_transitions()
                found.add(target)
                pending.append((state, symbol, target))

        for state, by_symbol in enumerate(moves.pops):
            for symbol, targets in by_symbol.items():
                for target in targets:
                    add(state, symbol, target)
        while pending:
            state, symbol, target = pending.pop()
            for source in sources[state]:
                add(source, symbol, target)
            for source in pushers[state].get(symbol, set()) - sources[target]:
                sources[target].add(source)
                for below, popped_to in tuple(self._pops[target].items()):
                    for popped in tuple(popped_to):
                        add(source, below, popped)

    def is_live(self, state: int, node: StackNode, account: Account) -> bool:
        """Whether acceptance can be reached from a state with some stack of a finished node."""
        if state not in node.live:
            self._search(state, node, account)
        return node.live[state]

    def _search(self, state: int, node: StackNode, account: Account) -> None:
        """Finds it, and the same for all that the answer depends on, so that nothing is searched twice."""
        order = [(state, node)]
        users: dict[tuple[int, StackNode], list[tuple[int, StackNode]]] = {order[0]: []}
        live = []
        for pair in order:  # grows as pairs are found
            here, stacks = pair
            account.add_transitions(1 + len(stacks.links))
            if here in self._live:
                live.append(pair)
                continue
            for symbol, below in stacks.links:
                for target in self._pops[here].get(symbol, ()):
                    known = below.live.get(target)
                    if known:
                        live.append(pair)
                    elif known is None:
                        if (target, below) not in users:
                            users[target, below] = []
                            order.append((target, below))
                        users[target, below].append(pair)
        for here, stacks in order:
            stacks.live[here] = False
        while live:
            here, stacks = live.pop()
            if not stacks.live[here]:
                stacks.live[here] = True
                live += users[here, stacks]
