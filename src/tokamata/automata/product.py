"""The product of two acceptors: the strings that both accept.

Intersection is the composition of two transducers that copy their input (000, definition 3.4): a state
is a pair of states, and on an epsilon of one side the other waits.

Cost: at most the product of the sizes; only reachable pairs are made.
"""

from __future__ import annotations

from tokamata.automata.acceptor import Acceptor
from tokamata.automata.account import Account
from tokamata.automata.compose import compose
from tokamata.automata.project import project
from tokamata.resources.limits import Limits


def product(first: Acceptor, second: Acceptor, limits: Limits | Account | None = None) -> Acceptor:
    """The strings in both; names are those of ``first``, or of ``second`` if it has none.

    Raises:
        LimitExceeded: too many states or transitions.
    """
    both = project(compose(first, second, limits), "input")
    return both if both.names is not None else Acceptor(both.rows, both.accepting, both.start, second.names)
