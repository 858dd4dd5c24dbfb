"""What tests of push-down automata share: figure 6 of paper 002, random ones, acceptance by definition."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tokamata.automata import EPSILON, Acceptor, PushdownAutomaton, grammar_pushdown


def rule(*sides: str, **numbers: int) -> Acceptor:
    """A rule over bytes whose right-hand sides are texts, in which some letters name rules by number."""
    return Acceptor.from_strings([[256 + numbers[c] if c in numbers else ord(c) for c in s] for s in sides])


FIGURE_6 = grammar_pushdown({"S": rule("aSb", "", S=0)}, "S")


def random_pushdown(draw: random.Random) -> PushdownAutomaton:
    """Up to three states, two symbols and two stack symbols; pops and pushes of up to two."""
    states = draw.randint(1, 3)

    def stack() -> tuple[int, ...]:
        return tuple(draw.choices((0, 1), k=draw.choice((0, 0, 0, 1, 1, 2))))

    arcs = [
        (
            draw.randrange(states),
            EPSILON if draw.random() < 0.3 else draw.randrange(2),
            stack(),
            stack(),
            draw.randrange(states),
        )
        for _ in range(draw.randint(1, 6))
    ]
    accepting = [state for state in range(states) if draw.random() < 0.4]
    return PushdownAutomaton.from_transitions(arcs, accepting, 0, states, stack())


def accepted_by_definition(pushdown: PushdownAutomaton, string: Sequence[int], highest: int) -> bool:
    """002, section 3.1, word for word, through stacks of at most ``highest`` symbols."""
    start = (pushdown.start, 0, pushdown.stack)
    seen = {start}
    pending = [start]
    while pending:
        state, at, stack = pending.pop()
        if at == len(string) and state in pushdown.accepting:
            return True
        for source, symbol, popped, pushed, target in pushdown.transitions:
            if source != state or stack[len(stack) - len(popped) :] != popped or len(popped) > len(stack):
                continue
            if symbol != EPSILON and (at == len(string) or string[at] != symbol):
                continue
            after = (target, at + (symbol != EPSILON), stack[: len(stack) - len(popped)] + pushed)
            if len(after[2]) <= highest and after not in seen:
                seen.add(after)
                pending.append(after)
    return False
