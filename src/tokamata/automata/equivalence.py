"""Whether two acceptors accept the same strings, and if not, a shortest string that tells them apart.

Hopcroft and Karp (*A Linear Algorithm for Testing Equivalence of Finite Automata*, 1971): suppose
that the two starts are equal.  Then so are the states that each symbol leads to from them, and so
on; if the supposition ever equates an accepting state with one that is not, the string on the way
there is the witness.  Suppositions are joined in classes (union-find), so that at most as many are
made as there are states.

    a* against (aa)*:   0=0'   a▶ 0=1'   accepting against not: the witness is "a"

The string is a shortest one, since pairs are looked at in order of distance.  A pair may be skipped
because p = r and r = q were supposed before p = q: a string that tells p from q tells one of the two
earlier pairs apart, which were reached no later.

Cost: determinizing both, then nearly linear.  The product would have as many states as there are pairs.
"""

from __future__ import annotations

from tokamata.automata.acceptor import Acceptor
from tokamata.automata.account import Account
from tokamata.automata.determinize import determinize
from tokamata.limits import Limits

_DEAD = -1  # where a string leads that has no transition


def equivalent(first: Acceptor, second: Acceptor, limits: Limits | Account | None = None) -> bool:
    """Whether the two accept the same strings.

    Raises:
        LimitExceeded: too many states or transitions.
    """
    return distinguish(first, second, limits) is None


def distinguish(
    first: Acceptor, second: Acceptor, limits: Limits | Account | None = None
) -> tuple[int, ...] | None:
    """A shortest string that one of the two accepts and the other does not; ``None`` where they agree.

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
    for at, (p, q) in enumerate(pending):  # grows as pairs are supposed
        if (p in sides[0].accepting) != (q in sides[1].accepting):
            return _way_to(at, came_from)
        after_p = by_symbol[0][p] if p != _DEAD else {}
        after_q = by_symbol[1][q] if q != _DEAD else {}
        for symbol in sorted(after_p.keys() | after_q.keys()):
            account.work()
            pair = after_p.get(symbol, _DEAD), after_q.get(symbol, _DEAD)
            if classes.join((0, pair[0]), (1, pair[1])):
                pending.append(pair)
                came_from.append((at, symbol))
    return None


def _way_to(at: int, came_from: list[tuple[int, int]]) -> tuple[int, ...]:
    symbols = []
    while at:
        at, symbol = came_from[at]
        symbols.append(symbol)
    return tuple(reversed(symbols))


class _Classes:
    """States of either side, in classes of those supposed to be equal (union-find, path halving)."""

    def __init__(self) -> None:
        self._parents: dict[tuple[int, int], tuple[int, int]] = {}

    def join(self, p: tuple[int, int], q: tuple[int, int]) -> bool:
        """Make one class of the two; false where they were in one already."""
        p, q = self._root(p), self._root(q)
        self._parents[p] = q
        return p != q

    def _root(self, state: tuple[int, int]) -> tuple[int, int]:
        parents = self._parents
        while parents.setdefault(state, state) != state:
            parents[state] = parents[parents[state]]
            state = parents[state]
        return state
