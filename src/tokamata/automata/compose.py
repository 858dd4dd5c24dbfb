"""Composition: one transducer reads the output of another.

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

Cost: at most the product of the sizes; only reachable pairs are made.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tokamata.automata.acceptor import Acceptor
from tokamata.automata.account import Account
from tokamata.automata.machine import EPSILON, Pair
from tokamata.automata.transducer import Transducer
from tokamata.limits import Limits

# The transitions of a state by the symbol that they read: (written, target).
_ByInput = dict[int, list[Pair]]


def compose(
    first: Transducer | Acceptor, second: Transducer | Acceptor, limits: Limits | Account | None = None
) -> Transducer:
    """The composition of ``first`` and ``second``.

    Input names are those of ``first``, output names those of ``second``.

    Raises:
        LimitExceeded: too many states or transitions.
    """
    account = Account(limits)
    first, second = as_transducer(first), as_transducer(second)
    readers: list[_ByInput | None] = [None] * second.states
    account.add_states()
    order = [(first.start, second.start)]
    numbers = {order[0]: 0}
    rows: list[list[tuple[Pair, int]]] = []
    for here, there in order:  # grows as pairs are found
        by_input = readers[there]
        if by_input is None:
            by_input = readers[there] = _by_input(second, there)
        row = []
        for label, pair in _steps(first, here, by_input, there):
            if pair not in numbers:
                account.add_states()
                numbers[pair] = len(order)
                order.append(pair)
            row.append((label, numbers[pair]))
        account.add_transitions(1 + len(first.rows[here]) + len(row))
        rows.append(row)
    accepting = [n for n, (p, q) in enumerate(order) if p in first.accepting and q in second.accepting]
    return Transducer(
        tuple(map(tuple, rows)), frozenset(accepting), 0, first.input_names, second.output_names
    )


def as_transducer(machine: Transducer | Acceptor) -> Transducer:
    """The transducer that copies the strings of an acceptor; a transducer stays as it is."""
    if isinstance(machine, Transducer):
        return machine
    rows = tuple(tuple(((symbol, symbol), target) for symbol, target in row) for row in machine.rows)
    return Transducer(rows, machine.accepting, machine.start, machine.names, machine.names)


def _by_input(machine: Transducer, state: int) -> _ByInput:
    by_input: _ByInput = defaultdict(list)
    for (read, written), target in machine.rows[state]:
        by_input[read].append((written, target))
    return dict(by_input)


def _steps(first: Transducer, here: int, by_input: _ByInput, there: int) -> Iterator[tuple[Pair, Pair]]:
    """Every step from the pair ``(here, there)``: its label and its target."""
    for written, waited in by_input.get(EPSILON, ()):
        yield (EPSILON, written), (here, waited)
    for (read, passed), target in first.rows[here]:
        if passed == EPSILON:
            yield (read, EPSILON), (target, there)
        else:
            for written, answer in by_input.get(passed, ()):
                yield (read, written), (target, answer)
