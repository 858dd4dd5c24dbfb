"""Explicit machines: finite acceptors and transducers, and what can be done with them.

    from tokamata.automata import Acceptor, compose, detokenizer, minimize, project

    tokens = detokenizer([b"f", b"foo", b"food", b"d", b"o", b"oo"])
    pattern = Acceptor.from_strings(["food", "foofood"])
    closed = minimize(project(compose(tokens, pattern), "input"))
    closed.to_svg()

Plain Python, one idea in a file, written to be read; each file says what it computes, where that is
from and what it costs.  This is the theory's other face: the engine makes the same automata lazily.

Machines are immutable values.  Every construction takes ``limits``, a :class:`tokamata.Limits` whose
``states``, ``memory_bytes`` and ``seconds`` it keeps, and raises :class:`tokamata.LimitExceeded`
rather than exhaust the machine it runs on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokamata.automata.acceptor import Acceptor
from tokamata.automata.complement import complement, difference
from tokamata.automata.compose import compose
from tokamata.automata.determinize import determinize
from tokamata.automata.detokenizer import detokenizer
from tokamata.automata.epsilon import remove_epsilon
from tokamata.automata.equivalence import distinguish, equivalent
from tokamata.automata.machine import EPSILON
from tokamata.automata.minimize import minimize
from tokamata.automata.openfst import symbol_table
from tokamata.automata.product import product
from tokamata.automata.project import invert, project
from tokamata.automata.rational import concatenate, star, union
from tokamata.automata.strings import is_empty, shortest, strings
from tokamata.automata.symbols import BYTE_NAMES
from tokamata.automata.transducer import Transducer
from tokamata.automata.trim import trim

if TYPE_CHECKING:
    from tokamata.automata.token_automaton import TokenAutomaton

__all__ = [
    "BYTE_NAMES",
    "EPSILON",
    "Acceptor",
    "TokenAutomaton",
    "Transducer",
    "complement",
    "compose",
    "concatenate",
    "determinize",
    "detokenizer",
    "difference",
    "distinguish",
    "equivalent",
    "invert",
    "is_empty",
    "minimize",
    "product",
    "project",
    "remove_epsilon",
    "shortest",
    "star",
    "strings",
    "symbol_table",
    "trim",
    "union",
]


def __getattr__(name: str) -> object:
    """Import the one part that needs numpy when it is first used."""
    if name == "TokenAutomaton":
        from tokamata.automata.token_automaton import TokenAutomaton

        return TokenAutomaton
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
