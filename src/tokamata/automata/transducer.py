"""Finite-state transducers: rational sets of pairs of strings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import index
from typing import TypeVar

from tokamata.automata import openfst
from tokamata.automata.acceptor import Acceptor
from tokamata.automata.account import Account
from tokamata.automata.drawing.diagram import Diagram, merged_edges
from tokamata.automata.machine import EPSILON, Machine, Names, Pair, check_symbol, rows_of
from tokamata.automata.symbols import summarize_pairs
from tokamata.resources.limits import Limits


@dataclass(frozen=True, repr=False)
class Transducer(Machine[Pair]):
    """A finite-state transducer: a rational set of pairs of strings, input and output.

    Attributes:
        input_names: the names of input symbols, or ``None``; equality ignores them.
        output_names: the same for output symbols.
    """

    input_names: Names | None = field(default=None, compare=False)
    output_names: Names | None = field(default=None, compare=False)

    @property
    def epsilon(self) -> Pair:
        """The label that neither reads nor writes."""
        return EPSILON, EPSILON

    @classmethod
    def from_transitions(
        cls,
        transitions: Iterable[tuple[int, int, int, int]],
        accepting: Iterable[int],
        start: int = 0,
        states: int | None = None,
        input_names: Names | None = None,
        output_names: Names | None = None,
        limits: Limits | Account | None = None,
    ) -> Transducer:
        """A transducer of transitions ``(source, input, output, target)``.

        The arguments and errors are those of :meth:`Acceptor.from_transitions`.
        """
        arcs = [(source, (read, written), target) for source, read, written, target in transitions]
        rows, ends = rows_of(arcs, accepting, start, states, Account(limits))
        return cls(rows, ends, index(start), input_names, output_names)

    @property
    def transitions(self) -> Iterator[tuple[int, int, int, int]]:
        """Every transition as ``(source, input, output, target)``, in order."""
        return ((s, read, written, t) for s, row in enumerate(self.rows) for (read, written), t in row)

    def like(
        self, rows: Iterable[Iterable[tuple[Pair, int]]], accepting: Iterable[int], start: int = 0
    ) -> Transducer:
        """A transducer with the same names of symbols."""
        return Transducer(
            tuple(map(tuple, rows)), frozenset(accepting), start, self.input_names, self.output_names
        )

    @staticmethod
    def _check(label: Pair) -> None:
        check_symbol(label[0])
        check_symbol(label[1])

    def to_openfst(self, shift: int = 1, *, named: bool = False) -> str:
        """OpenFst's text form of a transducer; see :mod:`tokamata.automata.openfst`."""
        return openfst.write(self, [self.input_names, self.output_names], shift, named)

    @classmethod
    def from_openfst(
        cls,
        text: str,
        input_symbols: str | None = None,
        output_symbols: str | None = None,
        shift: int = 1,
        limits: Limits | Account | None = None,
    ) -> Transducer:
        """Read OpenFst's text form of a transducer; see :mod:`tokamata.automata.openfst`.

        The arguments and errors are those of :meth:`Acceptor.from_openfst`.
        """
        account = Account(limits)
        read = openfst.read(text, [input_symbols, output_symbols], shift, account)
        transitions = ((source, labels[0], labels[1], target) for source, labels, target in read.transitions)
        inputs, outputs = read.names
        return cls.from_transitions(
            transitions, read.accepting, read.start, read.states, inputs, outputs, limits=account
        )

    def diagram(self) -> Diagram:
        """The drawing of this transducer.

        An edge lists pairs ``input:output``; pairs of equal symbols are a set of symbols.
        """
        transitions = ((state, label, target) for state, row in enumerate(self.rows) for label, target in row)
        edges = merged_edges(transitions, self._summary)
        return Diagram("Transducer", self.states, self.start, self.accepting, edges, self.size)

    def _summary(self, pairs: Sequence[Pair], width: int) -> str:
        strings = [(read, () if written == EPSILON else (written,)) for read, written in pairs]
        return summarize_pairs(strings, self.input_names, self.output_names, width)


# An acceptor or a transducer; a function that takes one returns the same type.
AnyMachine = TypeVar("AnyMachine", Acceptor, Transducer)
