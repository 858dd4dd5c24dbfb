"""Complement and difference: the strings that an acceptor refuses.

In a deterministic acceptor, each string leads to at most one state.  Complete it, so that there is
always exactly one, and let the other states accept: over {a, b} the complement of ``a`` is ::

    (0) ─a─▶ ((1))     becomes     ((0)) ─a─▶ (1) ─a,b─▶ ((2)) ⟲ a,b
                                     └──────b──────────────▲

A complement is relative to an alphabet, which an acceptor does not have.  A difference needs none:
only strings of the first acceptor count.

Cost: determinizing; the complement has a transition for each state and symbol.
"""

from __future__ import annotations

from collections.abc import Iterable

from tokamata.automata.acceptor import Acceptor
from tokamata.automata.account import Account
from tokamata.automata.determinize import determinize
from tokamata.automata.epsilon import remove_epsilon
from tokamata.resources.limits import Limits


def complement(
    acceptor: Acceptor, alphabet: Iterable[int], limits: Limits | Account | None = None
) -> Acceptor:
    """The strings over ``alphabet`` that ``acceptor`` does not accept.

    Strings with a symbol outside the alphabet are in neither.

    Raises:
        LimitExceeded: too many states or transitions.
    """
    account = Account(limits)
    symbols = sorted(set(alphabet))
    acceptor = determinize(acceptor, account)
    sink = acceptor.states
    account.add_states(sink + 1)
    rows: list[list[tuple[int, int]]] = []
    for row in (*acceptor.rows, ()):
        account.add_transitions(len(symbols))
        known = dict(row)
        rows.append([(symbol, known.get(symbol, sink)) for symbol in symbols])
    return acceptor.like(rows, set(range(sink + 1)) - acceptor.accepting)


def difference(first: Acceptor, second: Acceptor, limits: Limits | Account | None = None) -> Acceptor:
    """The strings that ``first`` accepts and ``second`` does not, over any alphabet.

    A state is a pair: one of ``first``, and the one of ``second`` that the same string leads to, or -1
    if there is none; from then on ``second`` refuses.

    Raises:
        LimitExceeded: too many states or transitions.
    """
    account = Account(limits)
    first = remove_epsilon(first, account)
    second = determinize(second, account)
    by_symbol = [dict(row) for row in second.rows]
    account.add_states()
    order = [(first.start, second.start)]
    numbers = {order[0]: 0}
    rows: list[list[tuple[int, int]]] = []
    for here, there in order:  # grows as pairs are found
        row = []
        for symbol, target in first.rows[here]:
            pair = (target, by_symbol[there].get(symbol, -1) if there >= 0 else -1)
            if pair not in numbers:
                account.add_states()
                numbers[pair] = len(order)
                order.append(pair)
            row.append((symbol, numbers[pair]))
        account.add_transitions(len(row))
        rows.append(row)
    accepting = [n for n, (p, q) in enumerate(order) if p in first.accepting and q not in second.accepting]
    return first.like(rows, accepting)
