"""Determinizing: at most one transition per state and symbol, and no epsilon.

The subset construction (Rabin and Scott, *Finite Automata and Their Decision Problems*, 1959): a state
of the result is the set of all states that a string leads to.  For ``a+|ab`` (002, figure 2)::

    ((1)) ◀─a─ (0) ─a─▶ (2) ─b─▶ ((3))     becomes     {0} ─a─▶ {{1,2}} ─b─▶ {{3}}
      ⟲ a                                                          └──a──▶ {{1}} ⟲ a

Cost: at worst 2**states.  Lexicons and their compositions stay small (000, lemma 4.1).  The empty set
gets no state; its transitions are missing.

A transducer becomes a subsequential one, by subsets of states with the outputs that are held back
(:mod:`tokamata.automata.residual_subsets`).
"""

from __future__ import annotations

from typing import overload

from tokamata.automata.acceptor import Acceptor
from tokamata.automata.account import Account
from tokamata.automata.epsilon import remove_epsilon
from tokamata.automata.residual_subsets import subsequential
from tokamata.automata.subsequential import SubsequentialTransducer
from tokamata.automata.transducer import Transducer
from tokamata.resources.limits import Limits


@overload
def determinize(machine: Acceptor, limits: Limits | Account | None = None) -> Acceptor: ...
@overload
def determinize(machine: Transducer, limits: Limits | Account | None = None) -> SubsequentialTransducer: ...
def determinize(
    machine: Acceptor | Transducer, limits: Limits | Account | None = None
) -> Acceptor | SubsequentialTransducer:
    """A deterministic acceptor of the same strings; states are numbered breadth first, by least symbol.

    For a transducer, the subsequential transducer of its function.

    Raises:
        NotSubsequentialError: the transducer writes two outputs for one input, or would hold back outputs
            without a bound.
        LimitExceeded: too many states or transitions, or too long outputs.
    """
    account = Account(limits)
    if isinstance(machine, Transducer):
        return subsequential(machine, account)
    return _subsets(machine, account)


def _subsets(acceptor: Acceptor, account: Account) -> Acceptor:
    """The subset construction."""
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
