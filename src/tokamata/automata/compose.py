"""Composition: a transducer or a push-down automaton reads the output of a transducer.

A pair ``(x, z)`` is in ``compose(first, second)`` if for some ``y``, ``(x, y)`` is a pair of the first
and ``(y, z)`` one of the second.  An acceptor counts as the transducer that copies its input.  So
composing with an acceptor restricts a transducer, and composing two acceptors intersects them.

A state of the result is a pair of states, and a step is one of three:

    first  p ─x:y─▶ p'   and   second  q ─y:z─▶ q'      (p, q) ─x:z─▶ (p', q')
    first  p ─x:ε─▶ p'                                  (p, q) ─x:ε─▶ (p', q)    the second waits
                               second  q ─ε:z─▶ q'      (p, q) ─ε:z─▶ (p, q')    the first waits

(000, definition 3.4; Mohri, Pereira and Riley, *Weighted Automata in Text and Speech Processing*, 1996.)

If both may wait, their steps can be taken in either order, and several paths accept the same pair of
strings.  Weighted composition needs a filter that keeps one of them, so that no weight is counted
twice.  Sets need none, and a filter would multiply the states by up to three.  (In 000, algorithm 4,
line 10 lets both move if one of two labels is epsilon; that loses the other label.)

A push-down automaton may be the second machine, with what it pops and pushes in place of z (002, section
3.2; Allauzen and Riley, *A pushdown transducer extension for the OpenFst library*, 2012, section 4.2).  The
first machine does not see the stack.

Subsequential transducers are composed in :mod:`tokamata.automata.subsequential_composition`, since their
outputs are strings, and the result is one again.

Cost: at most the product of the sizes; only reachable pairs are made.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple, overload

from tokamata.automata.acceptor import Acceptor
from tokamata.automata.account import Account
from tokamata.automata.conversions import FiniteMachine, as_transducer
from tokamata.automata.machine import EPSILON, Machine, Pair
from tokamata.automata.pushdown import PushdownAutomaton
from tokamata.automata.subsequential import SubsequentialTransducer
from tokamata.automata.subsequential_composition import compose_subsequential
from tokamata.automata.transducer import Transducer
from tokamata.resources.limits import Limits

# The rest of a label, after what it reads: what a transducer writes, or what a push-down automaton pops and
# pushes.
_Rest = int | tuple[tuple[int, ...], tuple[int, ...]]
# The transitions of a state by the symbol that they read: (rest, target).
_ByInput = dict[int, list[tuple[_Rest, int]]]


@overload
def compose(
    first: SubsequentialTransducer,
    second: SubsequentialTransducer | Acceptor,
    limits: Limits | Account | None = None,
) -> SubsequentialTransducer: ...
@overload
def compose(
    first: Acceptor, second: SubsequentialTransducer, limits: Limits | Account | None = None
) -> SubsequentialTransducer: ...
@overload
def compose(
    first: Transducer | Acceptor, second: Transducer | Acceptor, limits: Limits | Account | None = None
) -> Transducer: ...
@overload
def compose(
    first: Transducer, second: SubsequentialTransducer, limits: Limits | Account | None = None
) -> Transducer: ...
@overload
def compose(
    first: SubsequentialTransducer, second: Transducer, limits: Limits | Account | None = None
) -> Transducer: ...
@overload
def compose(
    first: FiniteMachine, second: PushdownAutomaton, limits: Limits | Account | None = None
) -> PushdownAutomaton: ...
def compose(
    first: FiniteMachine, second: FiniteMachine | PushdownAutomaton, limits: Limits | Account | None = None
) -> SubsequentialTransducer | Transducer | PushdownAutomaton:
    """The composition of ``first`` and ``second``.

    Two subsequential transducers, or one and an acceptor, make a subsequential transducer; the acceptor is
    determinized.  Input names are those of ``first``, output names and names of stack symbols those of
    ``second``.

    Raises:
        LimitExceeded: too many states or transitions.
    """
    account = Account(limits)
    if isinstance(first, SubsequentialTransducer) and isinstance(second, (SubsequentialTransducer, Acceptor)):
        return compose_subsequential(first, second, account)
    if isinstance(first, Acceptor) and isinstance(second, SubsequentialTransducer):
        return compose_subsequential(first, second, account)
    first = as_transducer(first, account)
    if isinstance(second, PushdownAutomaton):
        found = _pairs(first, second, ((), ()), account)
        edits = tuple(tuple(((read, *edit), to) for read, edit, to in row) for row in found.rows)
        return PushdownAutomaton(
            edits, found.accepting, 0, second.stack, first.input_names, second.stack_names
        )
    second = as_transducer(second, account)
    found = _pairs(first, second, EPSILON, account)
    rows = tuple(tuple(((read, written), to) for read, written, to in row) for row in found.rows)
    return Transducer(rows, found.accepting, 0, first.input_names, second.output_names)


class _Pairs(NamedTuple):
    """The reachable pairs of states: for each its steps (read, rest, target), and which accept."""

    rows: list[list[tuple[int, Any, int]]]
    accepting: frozenset[int]


def _pairs(first: Transducer, second: Machine[Any], silent: _Rest, account: Account) -> _Pairs:
    """``silent``: the rest of a label of ``second`` while it waits."""
    readers: list[_ByInput | None] = [None] * second.states
    account.add_states()
    order = [(first.start, second.start)]
    numbers = {order[0]: 0}
    rows: list[list[tuple[int, Any, int]]] = []
    for here, there in order:  # grows as pairs are found
        by_input = readers[there]
        if by_input is None:
            by_input = readers[there] = _by_input(second, there)
        row = []
        for read, rest, pair in _steps(first, here, by_input, there, silent):
            if pair not in numbers:
                account.add_states()
                numbers[pair] = len(order)
                order.append(pair)
            row.append((read, rest, numbers[pair]))
        account.add_transitions(1 + len(first.rows[here]) + len(row))
        rows.append(row)
    accepting = [n for n, (p, q) in enumerate(order) if p in first.accepting and q in second.accepting]
    return _Pairs(rows, frozenset(accepting))


def _by_input(machine: Machine[Any], state: int) -> _ByInput:
    by_input: _ByInput = defaultdict(list)
    for (read, *rest), target in machine.rows[state]:
        by_input[read].append((rest[0] if len(rest) == 1 else (rest[0], rest[1]), target))
    return dict(by_input)


def _steps(
    first: Transducer, here: int, by_input: _ByInput, there: int, silent: _Rest
) -> Iterator[tuple[int, _Rest, Pair]]:
    """Every step from the pair ``(here, there)``: its label and its target."""
    for rest, waited in by_input.get(EPSILON, ()):
        yield EPSILON, rest, (here, waited)
    for (read, passed), target in first.rows[here]:
        if passed == EPSILON:
            yield read, silent, (target, there)
        else:
            for rest, answer in by_input.get(passed, ()):
                yield read, rest, (target, answer)
