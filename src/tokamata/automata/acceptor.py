"""Finite acceptors: regular sets of strings of symbols."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import index

from tokamata.automata import openfst
from tokamata.automata.account import Account
from tokamata.automata.drawing.diagram import Diagram, merged_edges
from tokamata.automata.machine import EPSILON, Machine, Names, check_symbol, rows_of
from tokamata.automata.symbols import BYTE_NAMES, summarize
from tokamata.resources.limits import Limits

String = str | bytes | Sequence[int]


@dataclass(frozen=True, repr=False)
class Acceptor(Machine[int]):
    """A finite acceptor: a regular set of strings of symbols.

    Equality compares states and transitions, not languages; to compare languages, use
    :func:`tokamata.automata.equivalent`, or compare the results of ``minimize``.

    Attributes:
        names: the names of symbols, for drawings and exports, or ``None``; equality ignores them.
    """

    names: Names | None = field(default=None, compare=False)

    @property
    def epsilon(self) -> int:
        """The label that reads nothing."""
        return EPSILON

    @classmethod
    def from_transitions(
        cls,
        transitions: Iterable[tuple[int, int, int]],
        accepting: Iterable[int],
        start: int = 0,
        states: int | None = None,
        names: Names | None = None,
        limits: Limits | Account | None = None,
    ) -> Acceptor:
        """An acceptor of transitions ``(source, symbol, target)``.

        Args:
            transitions: in any order; ``EPSILON`` for a symbol reads nothing.
            accepting: the accepting states.
            start: the start state.
            states: their number; ``None``: one more than the largest state.
            names: the names of symbols.
            limits: bounds on the result.

        Raises:
            MachineError: a state or a symbol is out of range.
            LimitExceeded: too many states or transitions.
        """
        arcs = [(source, symbol, target) for source, symbol, target in transitions]
        rows, ends = rows_of(arcs, accepting, start, states, Account(limits))
        return cls(rows, ends, index(start), names)

    @classmethod
    def from_strings(
        cls, strings: Iterable[String], names: Names | None = None, limits: Limits | Account | None = None
    ) -> Acceptor:
        """Exactly these strings, as a trie; a ``str`` becomes its bytes in UTF-8.

        By default, symbols have the names of bytes if any string is ``str`` or ``bytes``.
        """
        account = Account(limits)
        account.add_states()
        tree: list[dict[int, int]] = [{}]
        accepting: set[int] = set()
        for string in strings:
            if isinstance(string, (str, bytes)):
                names = BYTE_NAMES if names is None else names
            state = 0
            for symbol in symbols_of(string):
                if symbol not in tree[state]:
                    account.add_states()
                    account.add_transitions()
                    tree[state][symbol] = len(tree)
                    tree.append({})
                state = tree[state][symbol]
            accepting.add(state)
        return cls(tuple(tuple(row.items()) for row in tree), frozenset(accepting), 0, names)

    @classmethod
    def empty(cls, names: Names | None = None) -> Acceptor:
        """No string."""
        return cls(((),), frozenset(), 0, names)

    @classmethod
    def universal(cls, alphabet: Iterable[int], names: Names | None = None) -> Acceptor:
        """Every string over ``alphabet``, including the empty one."""
        return cls((tuple((symbol, 0) for symbol in alphabet),), frozenset([0]), 0, names)

    @property
    def transitions(self) -> Iterator[tuple[int, int, int]]:
        """Every transition as ``(source, symbol, target)``, in order."""
        return ((source, symbol, target) for source, row in enumerate(self.rows) for symbol, target in row)

    @property
    def symbols(self) -> frozenset[int]:
        """The symbols of its transitions, without epsilon."""
        return frozenset(symbol for row in self.rows for symbol, _ in row if symbol != EPSILON)

    @property
    def is_deterministic(self) -> bool:
        """Whether no transition is epsilon and no state has two for one symbol."""
        return all(
            (not row or row[0][0] != EPSILON) and len({symbol for symbol, _ in row}) == len(row)
            for row in self.rows
        )

    def accepts(self, string: String) -> bool:
        """Whether it accepts ``string``."""
        states = self.closure([self.start])
        for symbol in symbols_of(string):
            states = self.closure(t for s in states for x, t in self.rows[s] if x == symbol)
        return not states.isdisjoint(self.accepting)

    def like(
        self, rows: Iterable[Iterable[tuple[int, int]]], accepting: Iterable[int], start: int = 0
    ) -> Acceptor:
        """An acceptor with the same names of symbols."""
        return Acceptor(tuple(map(tuple, rows)), frozenset(accepting), start, self.names)

    @staticmethod
    def _check(label: int) -> None:
        check_symbol(label)

    def to_openfst(self, shift: int = 1, *, named: bool = False) -> str:
        """OpenFst's text form of an acceptor; see :mod:`tokamata.automata.openfst`."""
        return openfst.write(self, [self.names], shift, named)

    @classmethod
    def from_openfst(
        cls,
        text: str,
        symbols: str | None = None,
        shift: int = 1,
        limits: Limits | Account | None = None,
    ) -> Acceptor:
        """Read OpenFst's text form of an acceptor; see :mod:`tokamata.automata.openfst`.

        Args:
            text: lines of one to four columns.
            symbols: a table of symbols, if ``text`` has their names.
            shift: label l becomes symbol l - shift.
            limits: bounds on the result.

        Raises:
            MachineFileError: a line has another form.
            LimitExceeded: too many states or transitions.
        """
        account = Account(limits)
        read = openfst.read(text, [symbols], shift, account)
        transitions = ((source, labels[0], target) for source, labels, target in read.transitions)
        return cls.from_transitions(
            transitions, read.accepting, read.start, read.states, read.names[0], limits=account
        )

    def diagram(self) -> Diagram:
        """The drawing of this acceptor: an edge lists symbols, with readable ranges."""
        shown = partial(_summary, self.names)
        edges = merged_edges(self.transitions, shown)
        return Diagram("Acceptor", self.states, self.start, self.accepting, edges, self.size)


def _summary(names: Names | None, symbols: Sequence[int], width: int) -> str:
    return summarize(symbols, names, width)


def symbols_of(string: String) -> Sequence[int]:
    """The symbols of a string; a ``str`` becomes its bytes in UTF-8."""
    return string.encode() if isinstance(string, str) else string
