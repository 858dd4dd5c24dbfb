"""Epsilon removal: the same strings, or pairs of strings, without epsilon transitions.

    (0) ─ε─▶ (1) ─a─▶ ((2))      becomes      (0) ─a─▶ ((2))

A state gets the transitions of its epsilon closure, and accepts if a state of its closure does.
(Hopcroft, Motwani and Ullman, *Introduction to Automata Theory*, 2001, section 2.5; 000, definition 3.5.)

In a transducer, only transitions that neither read nor write are removed; one that reads nothing and
writes something stays.

Cost: the sum over all states of the transitions in their closures, at worst states times transitions.
Only reachable states are made.  OpenFst also merges weights, which needs shortest distances.
"""

from __future__ import annotations

from typing import Any

from tokamata.automata.account import Account
from tokamata.automata.transducer import AnyMachine
from tokamata.resources.limits import Limits


def remove_epsilon(machine: AnyMachine, limits: Limits | Account | None = None) -> AnyMachine:
    """The same language, or relation, without epsilon transitions.

    Raises:
        LimitExceeded: too many states or transitions.
    """
    epsilon: Any = machine.epsilon
    if not any(label == epsilon for row in machine.rows for label, _ in row):
        return machine
    account = Account(limits)
    account.add_states()
    numbers = {machine.start: 0}
    order = [machine.start]
    rows: list[list[tuple[Any, int]]] = []
    accepting: list[int] = []
    for state in order:  # grows as states are found
        row: dict[tuple[Any, int], None] = {}
        closure = machine.closure([state])
        account.work(len(closure))
        if not closure.isdisjoint(machine.accepting):
            accepting.append(len(rows))
        for member in closure:
            for label, target in machine.rows[member]:
                if label == epsilon:
                    continue
                if target not in numbers:
                    account.add_states()
                    numbers[target] = len(order)
                    order.append(target)
                row[label, numbers[target]] = None
        account.add_transitions(len(row))
        rows.append(list(row))
    return machine.like(rows, accepting)
