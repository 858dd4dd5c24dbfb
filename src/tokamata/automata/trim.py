"""Trimming: keeps only states on a path from the start to acceptance.

    (0) ─a─▶ ((1))     (2) ─b─▶ ((1))     (0) ─c─▶ (3)

State 2 is unreachable and state 3 is dead; both are removed, with their transitions.  If no string is
accepted, only the start remains.

Cost: linear.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tokamata.automata.transducer import AnyMachine


def trim(machine: AnyMachine) -> AnyMachine:
    """The same language, or relation, without useless states; the others keep their order."""
    targets = [[target for _, target in row] for row in machine.rows]
    sources: list[list[int]] = [[] for _ in targets]
    for source, row in enumerate(targets):
        for target in row:
            sources[target].append(source)
    useful = reachable(targets, [machine.start]) & reachable(sources, machine.accepting)
    kept = sorted(useful | {machine.start})
    numbers = {state: number for number, state in enumerate(kept)}
    rows: list[list[tuple[Any, int]]] = [
        [(label, numbers[t]) for label, t in machine.rows[s] if t in useful] if s in useful else []
        for s in kept
    ]
    accepting = [numbers[state] for state in machine.accepting & useful]
    return machine.like(rows, accepting, numbers[machine.start])


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
