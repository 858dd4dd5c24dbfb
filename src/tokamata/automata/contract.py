"""Contraction: transitions that read nothing become part of those that read.

Problem.  Algorithm 3 of 002 has one state and one stack, and takes one transition for each token.  The
automaton of a grammar has transitions that push and pop without reading, and its composition with a
detokenizer has more, which spell a token byte by byte.

How.  A chain of transitions that read nothing, and then one that reads, become one transition, with what the
chain pops and pushes in all.  With the stack written from bottom to top::

    push x y, then pop y           =  push x
    pop y, then pop x              =  pop x y
    push x, then pop y             cannot be

So the transitions of a token pop and push several symbols at once (002, figure 7).  For ``S: "a" S "b" | ε``,
the token ``aab`` pushes r once, and the token ``bb`` pops it twice.

Transitions that read nothing remain only where the stack decides about acceptance: those that pop something
and then accept lead to a new state without transitions.

Not every automaton has such a form with finitely many transitions.  A rule that begins with itself pushes
without end before it reads.  With ``s: "a" s t`` and ``t: "b" | ε``, any number of return addresses may be
popped before the next ``b``.  A chain that returns to a state with more to pop or to push than before can be
repeated, and is refused.

Source.  002, figure 7, which shows a result; the paper has no algorithm for it.
Cost.  The number of chains, which can be exponential in their length.
Rejected: Greibach's normal form, which always exists, but whose stack symbols are no return addresses.
"""

from __future__ import annotations

from typing import NamedTuple

from tokamata.automata.account import Account
from tokamata.automata.machine import EPSILON, Edit
from tokamata.automata.pushdown import PushdownAutomaton
from tokamata.automata.symbols import name_of
from tokamata.errors import EndlessStackError
from tokamata.resources.limits import Limits

_Stack = tuple[int, ...]
_Effect = tuple[_Stack, _Stack]  # what is popped, then what is pushed


def contract_epsilon(
    pushdown: PushdownAutomaton, limits: Limits | Account | None = None
) -> PushdownAutomaton:
    """The same strings, without transitions that read nothing, except for those that pop and then accept.

    Raises:
        EndlessStackError: it pushes or pops without end while it reads nothing.
        LimitExceeded: too many states or transitions.
    """
    account = Account(limits)
    account.add_states(2)
    numbers = {pushdown.start: 0}
    order = [pushdown.start]
    rows: list[list[tuple[Edit, int]]] = []
    accepting: set[int] = set()
    ends: list[tuple[int, _Stack]] = []  # (state, what it pops before it accepts)
    for state in order:  # grows as states are found
        row: list[tuple[Edit, int]] = []
        for chain in _chains(pushdown, state, account):
            if chain.state in pushdown.accepting:
                if chain.popped:
                    ends.append((len(rows), chain.popped))
                else:
                    accepting.add(len(rows))
            for (symbol, *edit), target in pushdown.rows[chain.state]:
                effect = _joined((chain.popped, chain.pushed), (edit[0], edit[1]))
                if symbol == EPSILON or effect is None:
                    continue
                if target not in numbers:
                    account.add_states()
                    numbers[target] = len(order)
                    order.append(target)
                row.append(((symbol, *effect), numbers[target]))
        account.add_transitions(len(row))
        rows.append(row)
    if ends:
        for number, popped in ends:
            rows[number].append(((EPSILON, popped, ()), len(rows)))
        accepting.add(len(rows))
        rows.append([])
    return PushdownAutomaton(
        tuple(map(tuple, rows)), frozenset(accepting), 0, pushdown.stack, pushdown.names, pushdown.stack_names
    )


class _Chain(NamedTuple):
    """Transitions that read nothing, one after another: where they lead, and what they do in all."""

    state: int
    popped: _Stack
    pushed: _Stack
    last: _Effect  # of the last transition alone
    before: _Chain | None


def _chains(pushdown: PushdownAutomaton, start: int, account: Account) -> list[_Chain]:
    """The chains from a state, one for each of their ends and effects; the first is empty."""
    found = [_Chain(start, (), (), ((), ()), None)]
    seen: set[tuple[int, _Stack, _Stack]] = {(start, (), ())}
    for chain in found:  # grows as chains are found
        for (symbol, *edit), target in pushdown.rows[chain.state]:
            last = (edit[0], edit[1])
            effect = _joined((chain.popped, chain.pushed), last) if symbol == EPSILON else None
            if effect is None or (target, *effect) in seen:
                continue
            account.add_states(members=len(effect[0]) + len(effect[1]))
            seen.add((target, *effect))
            found.append(_Chain(target, *effect, last, chain))
            _refuse_endless(pushdown, found[-1], account)
    return found


def _joined(first: _Effect, second: _Effect) -> _Effect | None:
    """One effect, then another; ``None`` if no stack allows it."""
    (popped, pushed), (more, after) = first, second
    if len(more) <= len(pushed):
        kept = len(pushed) - len(more)
        return (popped, pushed[:kept] + after) if pushed[kept:] == more else None
    below = len(more) - len(pushed)
    return (more[:below] + popped, after) if more[below:] == pushed else None


def _refuse_endless(pushdown: PushdownAutomaton, chain: _Chain, account: Account) -> None:
    """Raises an error if a chain ends with a round that can be repeated and pushes or pops more each time."""
    effect: _Effect | None = ((), ())
    here: _Chain | None = chain
    while here is not None and here.before is not None and effect is not None:
        account.work()
        effect, here = _joined(here.last, effect), here.before
        if here.state == chain.state and effect is not None:
            popped, pushed = effect
            if len(pushed) > len(popped) and pushed[len(pushed) - len(popped) :] == popped:
                raise _endless(pushdown, pushed[: len(pushed) - len(popped)], is_push=True)
            if len(popped) > len(pushed) and popped[len(popped) - len(pushed) :] == pushed:
                raise _endless(pushdown, popped[: len(popped) - len(pushed)], is_push=False)


def _endless(pushdown: PushdownAutomaton, symbols: _Stack, is_push: bool) -> EndlessStackError:
    return EndlessStackError(tuple(name_of(symbol, pushdown.stack_names) for symbol in symbols), is_push)
