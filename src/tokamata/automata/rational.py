"""Union, concatenation and star, which build every rational language and relation.

Thompson's constructions (*Regular Expression Search Algorithm*, 1968): the states of all machines are
put into one, and joined by epsilon transitions.

    union          concatenation         star
    ┌─ε─▶ A        A ─ε─▶ B              ((new)) ─ε─▶ A
    new            (from all that            ▲        │
    └─ε─▶ B        accepts in A)             └───ε────┘ (from all that accepts in A)

The star's start is a new state.  If the start of A accepted instead, strings that return to it in the
middle of A would be accepted.

Cost: linear.
"""

from __future__ import annotations

from typing import Any

from tokamata.automata.account import Account
from tokamata.automata.transducer import AnyMachine
from tokamata.errors import MachineError
from tokamata.resources.limits import Limits

_Rows = list[list[tuple[Any, int]]]


def union(*machines: AnyMachine, limits: Limits | Account | None = None) -> AnyMachine:
    """The union of the machines' languages; names are those of the first.

    Raises:
        LimitExceeded: too many states or transitions.
        MachineError: there is no machine.
    """
    rows, offsets = _side_by_side(machines, Account(limits), 1)
    rows[0] = [(machines[0].epsilon, o + m.start) for m, o in zip(machines, offsets, strict=True)]
    accepting = [o + state for m, o in zip(machines, offsets, strict=True) for state in m.accepting]
    return machines[0].like(rows, accepting)


def concatenate(*machines: AnyMachine, limits: Limits | Account | None = None) -> AnyMachine:
    """The concatenation of the machines' languages; names are those of the first.

    Raises:
        LimitExceeded: too many states or transitions.
        MachineError: there is no machine.
    """
    rows, offsets = _side_by_side(machines, Account(limits), 0)
    for i in range(len(machines) - 1):
        begin: tuple[Any, int] = (machines[0].epsilon, offsets[i + 1] + machines[i + 1].start)
        for state in machines[i].accepting:
            rows[offsets[i] + state].append(begin)
    last, offset = machines[-1], offsets[-1]
    return machines[0].like(rows, [offset + state for state in last.accepting], machines[0].start)


def star(machine: AnyMachine, limits: Limits | Account | None = None) -> AnyMachine:
    """Any number of strings of the machine, one after another, including none.

    Raises:
        LimitExceeded: too many states or transitions.
    """
    rows, (offset,) = _side_by_side((machine,), Account(limits), 1)
    rows[0] = [(machine.epsilon, offset + machine.start)]
    for state in machine.accepting:
        rows[offset + state].append((machine.epsilon, 0))
    return machine.like(rows, [0])


def _side_by_side(machines: tuple[AnyMachine, ...], account: Account, first: int) -> tuple[_Rows, list[int]]:
    """The rows of all machines, after ``first`` new ones, and the number of each machine's first row."""
    if not machines:
        raise MachineError("there is no machine to join; give at least one")
    account.add_states(first)
    rows: _Rows = [[] for _ in range(first)]
    offsets = []
    for machine in machines:
        offset = len(rows)
        offsets.append(offset)
        account.add_states(machine.states)
        account.add_transitions(machine.size + 1)
        rows.extend([(label, offset + target) for label, target in row] for row in machine.rows)
    return rows, offsets
