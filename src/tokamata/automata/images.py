"""Images of regular sets under transducers: what is written for a set, and what is read for one.

The image of L is the set of all outputs for inputs in L; the inverse image, of all inputs with an output in
L.  Both are regular: a composition restricts one side, and a projection keeps the other::

    image            L ∘ T, its output            inverse image            T ∘ L, its input

For example, let T drop separators between digits, and L be the numbers below 10,000 without separators.  The
inverse image contains ``1,234`` and ``1234``.  It is what a constraint on normal forms permits to be written.

Source.  Berstel, *Transductions and Context-Free Languages*, 1979, chapter III.
Cost.  That of the composition.
"""

from __future__ import annotations

from tokamata.automata.acceptor import Acceptor
from tokamata.automata.account import Account
from tokamata.automata.compose import compose
from tokamata.automata.project import project
from tokamata.automata.subsequential import SubsequentialTransducer
from tokamata.automata.transducer import Transducer
from tokamata.automata.trim import trim
from tokamata.resources.limits import Limits


def image(
    transducer: Transducer | SubsequentialTransducer,
    acceptor: Acceptor,
    limits: Limits | Account | None = None,
) -> Acceptor:
    """The outputs for the strings of the acceptor; in general not deterministic.

    Raises:
        LimitExceeded: too many states or transitions.
    """
    account = Account(limits)
    return trim(project(compose(acceptor, transducer, account), "output", account))


def inverse_image(
    transducer: Transducer | SubsequentialTransducer,
    acceptor: Acceptor,
    limits: Limits | Account | None = None,
) -> Acceptor:
    """The inputs for which the transducer writes a string of the acceptor.

    It is deterministic if the transducer is subsequential.

    Raises:
        LimitExceeded: too many states or transitions.
    """
    account = Account(limits)
    return trim(project(compose(transducer, acceptor, account), "input", account))
