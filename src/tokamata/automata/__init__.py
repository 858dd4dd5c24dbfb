"""Explicit machines: finite acceptors, transducers and push-down automata, and their operations.

    from tokamata.automata import Acceptor, compose, detokenizer, minimize, project

    tokens = detokenizer([b"f", b"foo", b"food", b"d", b"o", b"oo"])
    pattern = Acceptor.from_strings(["food", "foofood"])
    closed = minimize(project(compose(tokens, pattern), "input"))
    closed.to_svg()

Plain Python for readers, one idea per file; each file has the definition, the source and the cost of an
algorithm.  The engine computes the same automata lazily.

Machines are immutable values.  Every construction takes ``limits``, a :class:`tokamata.Limits`.  It observes
``states``, ``memory_bytes`` and ``seconds``, and raises :class:`tokamata.LimitExceeded` when one is exceeded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokamata.automata.acceptor import Acceptor
from tokamata.automata.ambiguity import Ambiguity, is_functional, two_outputs, two_runs
from tokamata.automata.complement import complement, difference
from tokamata.automata.compose import compose
from tokamata.automata.contract import contract_epsilon
from tokamata.automata.deterministic_matcher import DeterministicMatcher
from tokamata.automata.determinize import determinize
from tokamata.automata.detokenizer import detokenizer
from tokamata.automata.epsilon import remove_epsilon
from tokamata.automata.equivalence import distinguish, equivalent
from tokamata.automata.grammar_pushdown import grammar_pushdown
from tokamata.automata.images import image, inverse_image
from tokamata.automata.machine import EPSILON
from tokamata.automata.minimize import minimize
from tokamata.automata.onward import onward
from tokamata.automata.openfst import symbol_table
from tokamata.automata.product import product
from tokamata.automata.project import invert, project
from tokamata.automata.pushdown import PushdownAutomaton
from tokamata.automata.pushdown_matcher import PushdownMatcher
from tokamata.automata.rational import concatenate, star, union
from tokamata.automata.strings import is_empty, shortest, strings
from tokamata.automata.subsequential import SubsequentialTransducer
from tokamata.automata.symbols import BYTE_NAMES
from tokamata.automata.transducer import Transducer
from tokamata.automata.trim import trim
from tokamata.automata.twinning import Siblings, has_twinning_property, untwinned

if TYPE_CHECKING:
    from tokamata.automata.token_automaton import TokenAutomaton

__all__ = [
    "BYTE_NAMES",
    "EPSILON",
    "Acceptor",
    "Ambiguity",
    "DeterministicMatcher",
    "PushdownAutomaton",
    "PushdownMatcher",
    "Siblings",
    "SubsequentialTransducer",
    "TokenAutomaton",
    "Transducer",
    "complement",
    "compose",
    "concatenate",
    "contract_epsilon",
    "determinize",
    "detokenizer",
    "difference",
    "distinguish",
    "equivalent",
    "grammar_pushdown",
    "has_twinning_property",
    "image",
    "inverse_image",
    "invert",
    "is_empty",
    "is_functional",
    "minimize",
    "onward",
    "product",
    "project",
    "remove_epsilon",
    "shortest",
    "star",
    "strings",
    "symbol_table",
    "trim",
    "two_outputs",
    "two_runs",
    "union",
    "untwinned",
]


def __getattr__(name: str) -> object:
    """Import the one part that needs numpy when it is first used."""
    if name == "TokenAutomaton":
        from tokamata.automata.token_automaton import TokenAutomaton

        return TokenAutomaton
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
