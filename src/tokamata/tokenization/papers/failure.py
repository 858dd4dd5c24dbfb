"""Failure transitions, which a state takes if it cannot read the next symbol.

A state may have one failure transition, written φ.  It reads nothing and writes one symbol, or nothing;
it may be taken only if no other transition of the state reads the next symbol (000, section 5; Aho and
Corasick, 1975; Allauzen and Riley, *Algorithms for Weighted Finite Automata with Failure Transitions*,
2018).  At the end of the text it may be taken if the state does not accept; otherwise the state could not
write its delayed output there.  This one joins ``a b``::

    ((0)) ─a:ε─▶ (1) ─b:ab─▶ ((0))         a b    →  ab
    ((0)) ─b:b─▶ ((0))                     a a b  →  (1) φ writes a, (0) reads a, (1) reads b: a ab
             (1) ─φ:a─▶ ((0))              a      →  (1) φ writes a at the end, (0) accepts: a

A composition with such a machine cannot treat φ as epsilon: after φ, the next symbol must not be one that
was readable before it.  So a configuration of the composition has three parts: a state of the first machine,
one of the second, and the *barred* symbols, which the states before each φ could have read.  A step that
reads clears them.

    (p, 1, {}) ─ε:a─▶ (p, 0, {b})     from here p may continue with any symbol except b

Only symbols that can come next are kept, so the set is usually empty.  If the first machine has steps that
write nothing, its next symbols are not known, and all barred symbols are kept.

Cost: that of composition, times the sets of barred symbols; a state of the second machine has at most one for
each failure path that leads to it.  Rejected: replacing φ by ordinary transitions, one for each symbol; a
trie over a large alphabet would have one for each node and symbol.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tokamata.automata import EPSILON, Acceptor, Transducer
from tokamata.automata.account import Account
from tokamata.automata.conversions import as_transducer
from tokamata.automata.machine import MAX_SYMBOL, Pair
from tokamata.errors import MachineError
from tokamata.resources.limits import Limits

_END = -3  # the end of the text, among the symbols that may come next
_Configuration = tuple[int, int, frozenset[int]]  # a state of each machine, and the barred symbols


@dataclass(frozen=True)
class FailureTransducer:
    """A transducer, and the failure transitions of its states.

    Attributes:
        transducer: the states and all other transitions.
        failures: by state, the written symbol (``EPSILON``: nothing) and the target.
    """

    transducer: Transducer
    failures: Mapping[int, Pair]

    def __post_init__(self) -> None:
        states = self.transducer.states
        for state, (written, target) in self.failures.items():
            if not (0 <= state < states and 0 <= target < states) or written < EPSILON:
                raise MachineError(
                    f"a failure transition from state {state} to {target} writes {written}; states are "
                    f"numbered 0 to {states - 1}, symbols from 0, and {EPSILON} means nothing"
                )
        self._refuse_cycles()

    def to_svg(self, max_states: int = 300) -> str:
        """A drawing in which failure transitions read φ."""
        return self._drawn().to_svg(max_states)

    def to_dot(self) -> str:
        """The same drawing as text for Graphviz."""
        return self._drawn().to_dot()

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def _drawn(self) -> Transducer:
        """Failures as transitions of a special symbol; only for drawings."""
        machine = self.transducer
        rows = list(map(list, machine.rows))
        for state, (written, target) in self.failures.items():
            rows[state].append(((MAX_SYMBOL, written), target))
        names = {**(machine.input_names or {}), MAX_SYMBOL: "φ"}
        return Transducer(
            tuple(map(tuple, rows)), machine.accepting, machine.start, names, machine.output_names
        )

    def _refuse_cycles(self) -> None:
        """A cycle of failures would never end."""
        ends: set[int] = set()
        for state in self.failures:
            path: dict[int, None] = {}
            while state in self.failures and state not in ends:
                if state in path:
                    raise MachineError(f"failure transitions lead from state {state} back to it")
                path[state] = None
                state = self.failures[state][1]
            ends.update(path)


def compose_failing(
    first: Transducer | Acceptor, second: FailureTransducer, limits: Limits | Account | None = None
) -> Transducer:
    """The composition of ``first`` and ``second``, whose failure transitions become epsilons.

    Raises:
        LimitExceeded: too many states or transitions.
    """
    account = Account(limits)
    composition = _Composition(as_transducer(first), second)
    account.add_states()
    order: list[_Configuration] = [(first.start, second.transducer.start, frozenset())]
    numbers = {order[0]: 0}
    rows: list[list[tuple[Pair, int]]] = []
    for configuration in order:  # grows as configurations are found
        row = []
        for label, target in composition.steps(configuration):
            if target not in numbers:
                account.add_states(members=len(target[2]))
                numbers[target] = len(order)
                order.append(target)
            row.append((label, numbers[target]))
        account.add_transitions(1 + len(row))
        rows.append(row)
    accepting = [number for number, each in enumerate(order) if composition.accepts(each)]
    names = composition.first.input_names, second.transducer.output_names
    return Transducer(tuple(map(tuple, rows)), frozenset(accepting), 0, *names)


class _Composition:
    """Two machines, and the steps from their common configurations."""

    def __init__(self, first: Transducer, second: FailureTransducer) -> None:
        self.first, self.second = first, second.transducer
        self._failures = second.failures
        self._by_input: list[dict[int, list[Pair]]] = []
        for row in self.second.rows:
            by_input: dict[int, list[Pair]] = {}
            for (read, written), target in row:
                by_input.setdefault(read, []).append((written, target))
            self._by_input.append(by_input)

    def accepts(self, configuration: _Configuration) -> bool:
        here, there, barred = configuration
        ends = here in self.first.accepting and there in self.second.accepting
        return ends and _END not in barred

    def steps(self, configuration: _Configuration) -> Iterator[tuple[Pair, _Configuration]]:
        """Every step from a configuration: its label and its target."""
        here, there, barred = configuration
        readers = self._by_input[there]
        for written, waited in readers.get(EPSILON, ()):
            yield (EPSILON, written), (here, waited, barred)
        for (read, passed), target in self.first.rows[here]:
            if passed == EPSILON:
                yield (read, EPSILON), (target, there, barred)
            elif passed not in barred:
                for written, answer in readers.get(passed, ()):
                    yield (read, written), (target, answer, frozenset())
        if there in self._failures:
            yield from self._fail(configuration)

    def _fail(self, configuration: _Configuration) -> Iterator[tuple[Pair, _Configuration]]:
        """The failure transition of a configuration, if a symbol that may come next needs it."""
        here, there, barred = configuration
        readable = frozenset(self._by_input[there]) - {EPSILON}
        if there in self.second.accepting:
            readable |= {_END}
        barred |= readable
        coming = self._coming(here)
        if coming is not None:
            if coming <= barred:
                return
            barred &= coming
        written, target = self._failures[there]
        yield (EPSILON, written), (here, target, barred)

    def _coming(self, here: int) -> frozenset[int] | None:
        """The symbols that the first machine can write next, including the end; ``None``: not known."""
        row = self.first.rows[here]
        if any(passed == EPSILON for (_, passed), _ in row):
            return None
        symbols = frozenset(passed for (_, passed), _ in row)
        return symbols | {_END} if here in self.first.accepting else symbols
