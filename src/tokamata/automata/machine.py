"""Finite acceptors, finite-state transducers and push-down automata, as values.

A machine has states ``0 .. states - 1``, one start state, a set of accepting states, and rows: for
each state its transitions.  A transition of an acceptor carries one symbol, that of a transducer an
input and an output, that of a subsequential transducer a symbol and a string, that of a push-down
automaton a symbol and what it pops and pushes; the symbol ``EPSILON`` reads or writes nothing.  For
example, the acceptor of ``a+|ab`` (002, figure 2), which is not deterministic::

    ((1)) ◀─a─ (0) ─a─▶ (2) ─b─▶ ((3))      rows = (((97, 1), (97, 2)),
      ⟲ a                                           ((97, 1),),
                                                    ((98, 3),),
                                                    ())

Symbols are integers from 0, such as bytes, tokens or code points.  Negative numbers are not symbols:
-1 is epsilon, and smaller ones are refused, so that failure transitions (000, section 5) can have a
label of their own.

Rows are sorted and without repetitions, since a machine is a set of strings, or of pairs of strings,
without weights.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import index
from typing import Generic, TypeVar

from tokamata.automata.account import Account
from tokamata.automata.drawing import svg
from tokamata.automata.drawing.diagram import Diagram
from tokamata.automata.drawing.dot import to_dot
from tokamata.errors import MachineError

EPSILON = -1
MAX_SYMBOL = (1 << 31) - 2  # so that a symbol plus one is an int32

Names = Mapping[int, str]
Pair = tuple[int, int]
Edit = tuple[int, tuple[int, ...], tuple[int, ...]]  # a symbol, what is popped, what is pushed
Write = tuple[int, tuple[int, ...]]  # a symbol that is read, and the string that is written
Label = TypeVar("Label", int, Pair, Write, Edit)


@dataclass(frozen=True)
class Machine(ABC, Generic[Label]):
    """The base of acceptors, both kinds of transducers and push-down automata.

    Attributes:
        rows: for each state its transitions, as pairs of a label and a target, in order.
        accepting: the accepting states.
        start: the start state.
    """

    rows: tuple[tuple[tuple[Label, int], ...], ...]
    accepting: frozenset[int]
    start: int = 0

    def __post_init__(self) -> None:
        states = len(self.rows)
        if states == 0:
            raise MachineError("a machine needs at least one state, its start")
        for what, state in (("the start", self.start), *(("an accepting state", s) for s in self.accepting)):
            if not 0 <= state < states:
                raise MachineError(f"{what} is {state}; states are numbered 0 to {states - 1}")
        rows = tuple(tuple(sorted(set(row))) for row in self.rows)
        for source, row in enumerate(rows):
            for label, target in row:
                if not 0 <= target < states:
                    raise MachineError(
                        f"a transition leads from state {source} to {target}; "
                        f"states are numbered 0 to {states - 1}"
                    )
                self._check(label)
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "accepting", frozenset(self.accepting))

    @property
    @abstractmethod
    def epsilon(self) -> Label:
        """The label that neither reads nor writes."""

    @staticmethod
    @abstractmethod
    def _check(label: Label) -> None:
        """Refuse a label that is out of range."""

    @property
    def states(self) -> int:
        """The number of states."""
        return len(self.rows)

    @property
    def size(self) -> int:
        """The number of transitions."""
        return sum(map(len, self.rows))

    def closure(self, states: Iterable[int]) -> frozenset[int]:
        """The states that epsilon transitions lead to from ``states``, including these."""
        epsilon = self.epsilon
        reached = set(states)
        pending = list(reached)
        while pending:
            for label, target in self.rows[pending.pop()]:
                if label == epsilon and target not in reached:
                    reached.add(target)
                    pending.append(target)
        return frozenset(reached)

    @abstractmethod
    def diagram(self) -> Diagram:
        """The drawing of this machine, as data."""

    def to_svg(self, max_states: int = 300) -> str:
        """A drawing: start state bold, accepting states doubled, symbols merged into ranges.

        A machine with more than ``max_states`` states, or with too many lines, is described instead.
        """
        if self.states > max_states:
            return svg.describe(type(self).__name__, self.states, self.size)
        return svg.draw(self.diagram())

    def to_dot(self) -> str:
        """The same drawing as text for Graphviz, of any size."""
        return to_dot(self.diagram())

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.states:,} states and {self.size:,} transitions>"


def check_symbol(symbol: int) -> None:
    """Refuse a number that is neither a symbol nor epsilon."""
    if not EPSILON <= symbol <= MAX_SYMBOL:
        raise MachineError(
            f"{symbol} cannot be a symbol: symbols are 0 to {MAX_SYMBOL}, and {EPSILON} for epsilon"
        )


def rows_of(
    arcs: Sequence[tuple[int, Label, int]],
    accepting: Iterable[int],
    start: int,
    states: int | None,
    account: Account,
) -> tuple[tuple[tuple[tuple[Label, int], ...], ...], frozenset[int]]:
    """Sort transitions by their sources; ``index`` converts the integers of numpy."""
    ends: frozenset[int] = frozenset(map(index, accepting))
    if states is None:
        states = 1 + max([index(start), *ends, *(max(source, target) for source, _, target in arcs)])
    account.add_states(max(index(states), 0))
    account.add_transitions(len(arcs))
    rows: list[list[tuple[Label, int]]] = [[] for _ in range(states)]
    for source, label, target in arcs:
        if not 0 <= source < states:
            raise MachineError(f"a transition leaves state {source}; states are numbered 0 to {states - 1}")
        rows[source].append((_plain(label), index(target)))
    return tuple(map(tuple, rows)), ends


def _plain(label: Label) -> Label:
    if isinstance(label, int):
        return index(label)
    if len(label) == 2 and not isinstance(label[1], tuple):
        return index(label[0]), index(label[1])
    return label
