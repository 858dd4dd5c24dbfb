"""Determinizing: at most one transition per state and symbol, and no epsilon.

The subset construction (Rabin and Scott, *Finite Automata and Their Decision Problems*, 1959): a state
of the result is the set of all states that a string leads to.  For ``a+|ab`` (002, figure 2)::

    ((1)) ◀─a─ (0) ─a─▶ (2) ─b─▶ ((3))     becomes     {0} ─a─▶ {{1,2}} ─b─▶ {{3}}
      ⟲ a                                                          └──a──▶ {{1}} ⟲ a

Cost: at worst 2**states.  Lexicons and their compositions stay small (000, lemma 4.1).  The empty set
gets no state; its transitions are missing.
"""

from __future__ import annotations

from tokamata.automata.acceptor import Acceptor
from tokamata.automata.account import Account
from tokamata.automata.epsilon import remove_epsilon
from tokamata.limits import Limits


def determinize(acceptor: Acceptor, limits: Limits | Account | None = None) -> Acceptor:
    """A deterministic acceptor of the same strings; states are numbered breadth first, by least symbol.

    Raises:
        LimitExceeded: too many states or transitions.
    """
    account = Account(limits)
    plain = remove_epsilon(acceptor, account)
    account.add_states()
    order = [frozenset([plain.start])]
    numbers = {order[0]: 0}
    rows: list[list[tuple[int, int]]] = []
    for subset in order:  # grows as sets are found
        row: list[tuple[int, int]] = []
        for symbol, reached in sorted(_successors(plain, subset, account).items()):
            target = frozenset(reached)
            if target not in numbers:
                account.add_states(members=len(target))
                numbers[target] = len(order)
                order.append(target)
            row.append((symbol, numbers[target]))
        account.add_transitions(len(row))
        rows.append(row)
    accepting = [number for number, subset in enumerate(order) if not subset.isdisjoint(plain.accepting)]
    return acceptor.like(rows, accepting)


def _successors(plain: Acceptor, subset: frozenset[int], account: Account) -> dict[int, set[int]]:
    """For each symbol, the states that it leads to from ``subset``."""
    reached: dict[int, set[int]] = {}
    for state in subset:
        account.work(1 + len(plain.rows[state]))
        for symbol, target in plain.rows[state]:
            reached.setdefault(symbol, set()).add(target)
    return reached
