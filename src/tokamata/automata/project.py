"""Projection and inversion: one side of a transducer, and its sides exchanged.

    (0) ─a:x─▶ ((1))      projected to its input  (0) ─a─▶ ((1)),  to its output  (0) ─x─▶ ((1)),
                          inverted  (0) ─x:a─▶ ((1))

(000, definition 3.3.)  A transition with epsilon on the remaining side becomes an epsilon transition.
Cost: linear.
"""

from __future__ import annotations

from typing import Literal

from tokamata.automata.acceptor import Acceptor
from tokamata.automata.account import Account
from tokamata.automata.subsequential import SubsequentialTransducer
from tokamata.automata.transducer import Transducer
from tokamata.calls.arguments import checked_choice
from tokamata.resources.limits import Limits


def project(
    transducer: Transducer | SubsequentialTransducer,
    side: Literal["input", "output"],
    limits: Limits | Account | None = None,
) -> Acceptor:
    """The strings that the transducer reads (``"input"``) or writes (``"output"``) in some pair.

    The input of a subsequential transducer is deterministic: the domain of its function.

    Raises:
        LimitExceeded: the outputs of a subsequential transducer are too long.
    """
    checked_choice("side", side, ("input", "output"))
    if isinstance(transducer, SubsequentialTransducer):
        if side == "input":
            domain = tuple(tuple((symbol, to) for (symbol, _), to in row) for row in transducer.rows)
            return Acceptor(domain, transducer.accepting, transducer.start, transducer.input_names)
        transducer = transducer.to_transducer(limits)
    which = 0 if side == "input" else 1
    rows = tuple(tuple((label[which], target) for label, target in row) for row in transducer.rows)
    names = transducer.input_names if side == "input" else transducer.output_names
    return Acceptor(rows, transducer.accepting, transducer.start, names)


def invert(transducer: Transducer) -> Transducer:
    """The same pairs with input and output exchanged."""
    rows = tuple(
        tuple(((written, read), target) for (read, written), target in row) for row in transducer.rows
    )
    names = transducer.output_names, transducer.input_names
    return Transducer(rows, transducer.accepting, transducer.start, *names)
