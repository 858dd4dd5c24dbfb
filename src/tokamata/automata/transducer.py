"""Finite-state transducers: rational sets of pairs of strings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from operator import index
from typing import TYPE_CHECKING, TypeVar

from tokamata.automata.acceptor import Acceptor
from tokamata.automata.account import Account
from tokamata.automata.machine import EPSILON, Machine, Names, Pair, check_symbol, rows_of
from tokamata.limits import Limits

if TYPE_CHECKING:
    from tokamata.automata.drawing.diagram import Diagram


@dataclass(frozen=True, repr=False)
class Transducer(Machine[Pair]):
    """A finite-state transducer: a rational set of pairs of strings, input and output.

    Attributes:
        input_names: how input symbols are shown, or ``None``; takes no part in equality.
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
        """A transducer over symbols of these names."""
        return Transducer(
            tuple(map(tuple, rows)), frozenset(accepting), start, self.input_names, self.output_names
        )

    @staticmethod
    def _check(label: Pair) -> None:
        check_symbol(label[0])
        check_symbol(label[1])

    def to_openfst(self, shift: int = 1, *, named: bool = False) -> str:
        """OpenFst's text form of a transducer; see :mod:`tokamata.automata.openfst`."""
        from tokamata.automata.openfst import write

        return write(self, shift, named)

    @classmethod
    def from_openfst(
        cls,
        text: str,
        input_symbols: str | None = None,
        output_symbols: str | None = None,
        shift: int = 1,
        limits: Limits | Account | None = None,
    ) -> Transducer:
        """Read OpenFst's text form of a transducer; see :mod:`tokamata.automata.openfst`."""
        from tokamata.automata.openfst import read_transducer

        return read_transducer(text, input_symbols, output_symbols, shift, Account(limits))

    def diagram(self) -> Diagram:
        """What a drawing of this transducer shows."""
        from tokamata.automata.drawing.diagram import of_transducer

        return of_transducer(self)


# Either kind; what takes one of a kind gives back one of the same.
AnyMachine = TypeVar("AnyMachine", Acceptor, Transducer)
