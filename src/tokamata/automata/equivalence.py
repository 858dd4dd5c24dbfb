"""Equivalence of two acceptors; if they differ, a shortest string that distinguishes them.

Hopcroft and Karp (*A Linear Algorithm for Testing Equivalence of Finite Automata*, 1971): assume that
the two starts are equal.  Then so are the states that each symbol leads to from them, and so on.  If an
accepting state becomes equal to one that is not, the string that leads there is the witness.  Equal
states are joined in classes (union-find), so there are at most as many assumptions as states.

    a* against (aa)*:   0=0'   a▶ 0=1'   accepting against not: the witness is "a"

The string is a shortest one, since pairs are examined in order of distance.  A pair p = q is skipped if
p = r and r = q were assumed before: a string that distinguishes p from q distinguishes one of these two
pairs, which were reached no later.

Cost: determinizing both, then nearly linear.  The product would have as many states as there are pairs.
"""

from __future__ import annotations

from tokamata.automata.acceptor import Acceptor
from tokamata.automata.account import Account
from tokamata.automata.determinize import determinize
from tokamata.resources.limits import Limits

_DEAD = -1  # the state after a missing transition


def equivalent(first: Acceptor, second: Acceptor, limits: Limits | Account | None = None) -> bool:
    """Whether the two accept the same strings.

    Raises:
        LimitExceeded: too many states or transitions.
    """
    return distinguish(first, second, limits) is None


def distinguish(
    first: Acceptor, second: Acceptor, limits: Limits | Account | None = None
) -> tuple[int, ...] | None:
    """A shortest string that only one of the two accepts; ``None`` if they are equivalent.

    Raises:
        LimitExceeded: too many states or transitions.
    """
    account = Account(limits)
    sides = determinize(first, account), determinize(second, account)
    by_symbol = [[dict(row) for row in side.rows] for side in sides]
    account.add_states(sides[0].states + sides[1].states)
    classes = _Classes()
    classes.join((0, sides[0].start), (1, sides[1].start))
    pending = [(sides[0].start, sides[1].start)]
    came_from: list[tuple[int, int]] = [(-1, -1)]  # which of `pending` led here, by which symbol
    for at, (p, q) in enumerate(pending):  # grows as pairs are assumed to be equal
        if (p in sides[0].accepting) != (q in sides[1].accepting):
            return _string_to(at, came_from)
        after_p = by_symbol[0][p] if p != _DEAD else {}
        after_q = by_symbol[1][q] if q != _DEAD else {}
        for symbol in sorted(after_p.keys() | after_q.keys()):
            account.work()
            pair = after_p.get(symbol, _DEAD), after_q.get(symbol, _DEAD)
            if classes.join((0, pair[0]), (1, pair[1])):
                pending.append(pair)
                came_from.append((at, symbol))
    return None


def _string_to(at: int, came_from: list[tuple[int, int]]) -> tuple[int, ...]:
    symbols = []
    while at:
        at, symbol = came_from[at]
        symbols.append(symbol)
    return tuple(reversed(symbols))


class _Classes:
    """Classes of states, of both sides, that are assumed to be equal (union-find, path halving)."""

    def __init__(self) -> None:
        self._parents: dict[tuple[int, int], tuple[int, int]] = {}

    def join(self, p: tuple[int, int], q: tuple[int, int]) -> bool:
        """Join the classes of two states; false if they were in one class already."""
        p, q = self._root(p), self._root(q)
        self._parents[p] = q
        return p != q

    def _root(self, state: tuple[int, int]) -> tuple[int, int]:
        parents = self._parents
        while parents.setdefault(state, state) != state:
            parents[state] = parents[parents[state]]
            state = parents[state]
        return state
