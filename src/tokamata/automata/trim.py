"""Trimming: keeps only states on a path from the start to acceptance.

    (0) ─a─▶ ((1))     (2) ─b─▶ ((1))     (0) ─c─▶ (3)

State 2 is unreachable and state 3 is dead; both are removed, with their transitions.  If no string is
accepted, only the start remains.

Cost: linear.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from tokamata.automata.acceptor import Acceptor
from tokamata.automata.machine import Machine
from tokamata.automata.subsequential import SubsequentialTransducer
from tokamata.automata.transducer import Transducer

_Machine = TypeVar("_Machine", Acceptor, Transducer, SubsequentialTransducer)


def trim(machine: _Machine) -> _Machine:
    """The same language, relation or function, without useless states; the others keep their order."""
    useful = useful_states(machine)
    kept = sorted(useful | {machine.start})
    numbers = {state: number for number, state in enumerate(kept)}
    rows: list[list[tuple[Any, int]]] = [
        [(label, numbers[t]) for label, t in machine.rows[s] if t in useful] if s in useful else []
        for s in kept
    ]
    if isinstance(machine, SubsequentialTransducer):
        ends = {numbers[state]: machine.final_outputs[state] for state in machine.accepting & useful}
        initial_output = machine.initial_output if useful else ()
        return machine.like(tuple(map(tuple, rows)), ends, numbers[machine.start], initial_output)
    accepting = [numbers[state] for state in machine.accepting & useful]
    return machine.like(rows, accepting, numbers[machine.start])


def useful_states(machine: Machine[Any]) -> set[int]:
    """The states on a path from the start to acceptance."""
    targets = [[target for _, target in row] for row in machine.rows]
    sources: list[list[int]] = [[] for _ in targets]
    for source, row in enumerate(targets):
        for target in row:
            sources[target].append(source)
    return reachable(targets, [machine.start]) & reachable(sources, machine.accepting)


def reachable(targets: Sequence[Iterable[int]], starts: Iterable[int]) -> set[int]:
    """The states that some of ``starts`` lead to, including these."""
    reached = set(starts)
    pending = list(reached)
    while pending:
        for target in targets[pending.pop()]:
            if target not in reached:
                reached.add(target)
                pending.append(target)
    return reached
