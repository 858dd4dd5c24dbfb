"""A finite automaton as an expression: states are eliminated one by one.

Worked example.  State 0 leads by ``a`` to state 1, and state 1 by ``b`` to itself.  The texts that lead to
state 1 are ``a b*``.

Source.  Brzozowski and McCluskey, Signal flow graph techniques for sequential circuit state diagrams, 1963.
Cost.  A state with m edges into it and n out of it is replaced by m·n edges; the least first.
"""

from __future__ import annotations

from collections.abc import Sequence

import tokamata._core as _core
from tokamata.patterns.grammars.rules import expressions
from tokamata.resources.limits import Watch

__all__ = ["eliminated"]


def eliminated(
    edges: Sequence[dict[int, _core.Expression]], ends: set[int], watch: Watch
) -> _core.Expression:
    """The texts that lead from state 0 to one of some states, by the edges between states."""
    first, last = -1, -2
    into: dict[int, dict[int, _core.Expression]] = {first: {}, last: {}}
    out: dict[int, dict[int, _core.Expression]] = {first: {}, last: {}}
    for state in _useful(edges, ends):
        into.setdefault(state, {})
        out.setdefault(state, {})

    def connect(source: int, target: int, texts: _core.Expression) -> None:
        known = out[source].get(target)
        out[source][target] = into[target][source] = (
            texts if known is None else expressions.union([known, texts])
        )

    for source, targets in enumerate(edges):
        for target, texts in targets.items():
            if source in out and target in out:
                connect(source, target, texts)
    if 0 not in out:
        return expressions.empty()
    connect(first, 0, expressions.epsilon())
    for state in ends:
        if state in out:
            connect(state, last, expressions.epsilon())
    left = set(out) - {first, last}
    while left:
        watch.check()
        state = min(left, key=lambda state: len(into[state]) * len(out[state]))
        left.remove(state)
        loop = out[state].pop(state, None)
        into[state].pop(state, None)
        rounds = [] if loop is None else [expressions.repeat(loop, 0, None)]
        for source, before in into[state].items():
            for target, after in out[state].items():
                connect(source, target, expressions.concat([before, *rounds, after]))
        for source in into[state]:
            del out[source][state]
        for target in out[state]:
            del into[target][state]
        del into[state], out[state]
    return out[first].get(last, expressions.empty())


def _useful(edges: Sequence[dict[int, _core.Expression]], ends: set[int]) -> set[int]:
    """The states from which one of some states is reached."""
    sources: dict[int, list[int]] = {}
    for source, targets in enumerate(edges):
        for target in targets:
            sources.setdefault(target, []).append(source)
    found, open_states = set(ends), list(ends)
    while open_states:
        for source in sources.get(open_states.pop(), ()):
            if source not in found:
                found.add(source)
                open_states.append(source)
    return found
