"""Any finite machine as a transducer.

    (0) ─a─▶ ((1))      becomes      (0) ─a:a─▶ ((1))

An acceptor copies its strings.  A subsequential transducer has its longer outputs split.  Cost: linear.
"""

from __future__ import annotations

from tokamata.automata.acceptor import Acceptor
from tokamata.automata.account import Account
from tokamata.automata.subsequential import SubsequentialTransducer
from tokamata.automata.transducer import Transducer

FiniteMachine = Acceptor | Transducer | SubsequentialTransducer


def as_transducer(machine: FiniteMachine, account: Account | None = None) -> Transducer:
    """The transducer of the same pairs; a transducer stays as it is."""
    if isinstance(machine, Transducer):
        return machine
    if isinstance(machine, SubsequentialTransducer):
        return machine.to_transducer(account)
    rows = tuple(tuple(((symbol, symbol), target) for symbol, target in row) for row in machine.rows)
    return Transducer(rows, machine.accepting, machine.start, machine.names, machine.names)
