"""Sets of configurations of a push-down automaton: states with stacks.

Problem.  An automaton that is not deterministic has many configurations after a text, and infinitely many
if it pushes without reading, as a rule that begins with itself does: ``s: s "a" | "b"`` pushes the return
address after ``s`` again and again before it reads ``b``.

How.  The reachable stacks are a regular set.  So a set of configurations is a finite graph: an *entry* is a
state with a node, and each path of links from the node is a stack, its top first.  A push from the entry
``(p, node)`` to the state ``q`` makes the entry ``(q, node')``, where ``node'`` has the link (symbol, node).
There is one ``node'`` for each ``q`` and symbol, so pushing without end makes a cycle::

    s: s "a" | "b"        (s, bottom) ─push r─▶ (s, n),  n ─r─▶ bottom,  n ─r─▶ n

When a node gets a link, the states that stand on it may pop it, also those that were followed before.

Source.  Finkel, Willems and Wolper, *A direct symbolic approach to model checking pushdown systems*, 1997;
Schwoon, *Model-Checking Pushdown Systems*, 2002, algorithm 2 (``post*``).  The graph is the graph-structured
stack of Tomita, *Efficient parsing for natural language*, 1985.
Cost.  A symbol makes at most states × stack symbols nodes, and each entry is followed once.
Rejected: a set of pairs of a state and a tuple, which can be infinite, and exponential where a grammar is
ambiguous.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tokamata.automata.account import Account
from tokamata.automata.stack_moves import StackMoves

__all__ = ["Configurations", "StackNode", "initial", "read"]


class StackNode:
    """A set of stacks.

    Attributes:
        links: pairs of a top symbol and the node of what is below it; a stack may end at a node without any.
        live: whether a state leads to acceptance with one of the stacks, for states that were searched.
    """

    __slots__ = ("links", "live")

    def __init__(self) -> None:
        self.links: set[tuple[int, StackNode]] = set()
        self.live: dict[int, bool] = {}


# Entries: a state with each of the stacks of a node.  Nodes never change once the set is made.
Configurations = frozenset[tuple[int, StackNode]]


def initial(moves: StackMoves, start: int, stack: Sequence[int], account: Account) -> Configurations:
    """The start state with a stack, given from its bottom to its top, and what is reached without reading."""
    node = StackNode()
    for symbol in stack:
        above = StackNode()
        above.links.add((symbol, node))
        node = above
    return _closed(moves, [(start, node)], account)


def read(moves: StackMoves, before: Configurations, symbol: int, account: Account) -> Configurations:
    """The configurations after a symbol is read."""
    entries = {
        (target, node) for state, node in before for seen, target in moves.reads[state] if seen == symbol
    }
    account.work(sum(len(moves.reads[state]) for state, _ in before))
    return _closed(moves, entries, account)


def _closed(moves: StackMoves, entries: Iterable[tuple[int, StackNode]], account: Account) -> Configurations:
    """With all that moves without reading lead to."""
    reached = set(entries)
    pending = list(reached)
    made: dict[tuple[int, int], StackNode] = {}  # by the state and the symbol of the push
    standing: dict[StackNode, set[int]] = {}  # the states that were followed, by node

    def add(state: int, node: StackNode) -> None:
        if (state, node) not in reached:
            account.add_transitions()
            reached.add((state, node))
            pending.append((state, node))

    while pending:
        state, node = pending.pop()
        standing.setdefault(node, set()).add(state)
        for target in moves.silent[state]:
            add(target, node)
        if moves.pops[state]:
            for symbol, below in tuple(node.links):
                for target in moves.pops[state].get(symbol, ()):
                    add(target, below)
        for symbol, target in moves.pushes[state]:
            top = made.get((target, symbol))
            if top is None:
                account.add_states()
                top = made[target, symbol] = StackNode()
            if (symbol, node) not in top.links:
                account.add_transitions()
                top.links.add((symbol, node))
                for waiting in tuple(standing.get(top, ())):
                    for popped in moves.pops[waiting].get(symbol, ()):
                        add(popped, node)
            add(target, top)
    return frozenset(reached)
