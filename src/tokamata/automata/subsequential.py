"""Subsequential transducers: functions of strings that are computed in one pass from left to right.

A subsequential transducer is deterministic on its input.  A transition reads one symbol and writes a string,
which may be empty.  The transducer also writes an *initial output* before it reads, and each accepting state
has a *final output*, which is written where the input ends there.  So it writes at most one output for an
input: it is a function, which need not be defined everywhere.  A general transducer is a relation.

For example, a transducer that drops separators between digits, and adds a zero to a point that ends the input
(004, appendix B); d is any digit::

    (0) ⟲ -:-             (0) ─d:d─▶ ((1))
    ((1)) ⟲ d:d           ((1)) ─,:ε─▶ (2)           ((1)) ─.:ε─▶ ((3)), whose final output is .0
    (2) ─d:d─▶ ((1))      ((3)) ─d:.d─▶ ((1))

The final output of state 1 is empty.  The input ``1,234.`` leads through 1, 2, 1, 1, 1, 3, and writes 1234
on the way and .0 at the end.  State 3 holds the point back until it knows what follows; that is not
necessary, as :func:`~tokamata.automata.onward` finds.

Source.  Schützenberger, *Sur une variante des fonctions séquentielles*, 1977; with initial outputs, as in
Choffrut, *Minimizing subsequential transducers: a survey*, 2003.  Definition 5 of 004 has no initial outputs;
without them, what all outputs of a function begin with could not be written before the first symbol is read.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import index

from tokamata.automata.acceptor import String, symbols_of
from tokamata.automata.account import Account
from tokamata.automata.drawing.diagram import Diagram, merged_edges
from tokamata.automata.machine import EPSILON, MAX_SYMBOL, Machine, Names, Pair, Write, rows_of
from tokamata.automata.symbols import enumerate_names, name_of_string, summarize_pairs
from tokamata.automata.transducer import Transducer
from tokamata.errors import MachineError
from tokamata.resources.limits import Limits

Output = tuple[int, ...]
_Rows = tuple[tuple[tuple[Write, int], ...], ...]


@dataclass(frozen=True, repr=False)
class SubsequentialTransducer(Machine[Write]):
    """A subsequential transducer: a function of strings, deterministic on its input.

    Equality compares states and transitions, not functions; to compare functions, compare the results of
    :func:`tokamata.automata.minimize`.

    Attributes:
        initial_output: the string that every output begins with, before anything is read.
        final_outputs: for each state the string that is written where the input ends there; empty for a state
            that does not accept.
        input_names: the names of input symbols, or ``None``; equality ignores them.
        output_names: the same for output symbols.
    """

    initial_output: Output = ()
    final_outputs: tuple[Output, ...] = ()
    input_names: Names | None = field(default=None, compare=False)
    output_names: Names | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        ends = tuple(map(tuple, self.final_outputs)) or ((),) * self.states
        object.__setattr__(self, "initial_output", tuple(self.initial_output))
        object.__setattr__(self, "final_outputs", ends)
        _check_output(self.initial_output)
        if len(ends) != self.states:
            raise MachineError(f"{len(ends)} final outputs are given for {self.states} states; give one each")
        for state, output in enumerate(ends):
            _check_output(output)
            if output and state not in self.accepting:
                raise MachineError(f"state {state} has a final output and does not accept; make it accepting")
        for state, row in enumerate(self.rows):
            for at, ((symbol, _), _) in enumerate(row[1:]):
                if symbol == row[at][0][0]:
                    raise MachineError(
                        f"two transitions of state {state} read {symbol}, and a subsequential transducer is "
                        "deterministic; make a Transducer, and determinize it"
                    )

    @property
    def epsilon(self) -> Write:
        """The label that neither reads nor writes; no transition has it."""
        return EPSILON, ()

    @classmethod
    def from_transitions(
        cls,
        transitions: Iterable[tuple[int, int, String, int]],
        accepting: Mapping[int, String] | Iterable[int],
        start: int = 0,
        states: int | None = None,
        initial_output: String = (),
        input_names: Names | None = None,
        output_names: Names | None = None,
        limits: Limits | Account | None = None,
    ) -> SubsequentialTransducer:
        """A subsequential transducer of transitions ``(source, symbol, output, target)``.

        Args:
            transitions: in any order; an output is a string, and a ``str`` becomes its bytes in UTF-8.
            accepting: the final output of each accepting state; or the accepting states alone, whose final
                outputs are then empty.
            start: the start state.
            states: their number; ``None``: one more than the largest state.
            initial_output: the string that is written before anything is read.
            input_names: the names of input symbols.
            output_names: the names of output symbols.
            limits: bounds on the result.

        Raises:
            MachineError: a state or a symbol is out of range, or two transitions of a state read one symbol.
            LimitExceeded: too many states or transitions, or too long outputs.
        """
        account = Account(limits)
        arcs = []
        for source, symbol, output, target in transitions:
            arcs.append((source, (index(symbol), _string(output, account)), target))
        ends = {
            index(state): _string(accepting[state] if isinstance(accepting, Mapping) else (), account)
            for state in accepting
        }
        rows, accepted = rows_of(arcs, ends, start, states, account)
        finals = tuple(ends.get(state, ()) for state in range(len(rows)))
        initial = _string(initial_output, account)
        return cls(rows, accepted, index(start), initial, finals, input_names, output_names)

    @property
    def transitions(self) -> Iterator[tuple[int, int, Output, int]]:
        """Every transition as ``(source, symbol, output, target)``, in order."""
        return ((s, symbol, output, t) for s, row in enumerate(self.rows) for (symbol, output), t in row)

    def step(self, state: int, symbol: int) -> tuple[Output, int] | None:
        """The output and the target of the transition that reads a symbol; ``None`` if there is none."""
        row = self.rows[state]
        at = bisect_left(row, symbol, key=lambda transition: transition[0][0])
        if at == len(row) or row[at][0][0] != symbol:
            return None
        (_, output), target = row[at]
        return output, target

    def apply(self, string: String, limits: Limits | Account | None = None) -> Output | None:
        """The output for an input; ``None`` if the function is not defined there.

        Raises:
            LimitExceeded: the output is too long.
        """
        written = self.run(self.start, symbols_of(string), Account(limits))
        if written is None or written[1] not in self.accepting:
            return None
        return self.initial_output + written[0] + self.final_outputs[written[1]]

    def run(self, state: int, symbols: Iterable[int], account: Account) -> tuple[Output, int] | None:
        """What the transitions that read these symbols write, and the last target.

        ``None`` if one is missing.  The account counts what is written.
        """
        output: list[int] = []
        for symbol in symbols:
            after = self.step(state, symbol)
            if after is None:
                return None
            account.add_states(0, members=1 + len(after[0]))
            output += after[0]
            state = after[1]
        return tuple(output), state

    def like(
        self, rows: _Rows, ends: Mapping[int, Output], start: int = 0, initial_output: Output = ()
    ) -> SubsequentialTransducer:
        """A subsequential transducer with the same names of symbols; ``ends`` has the final outputs."""
        finals = tuple(ends.get(state, ()) for state in range(len(rows)))
        names = self.input_names, self.output_names
        return SubsequentialTransducer(rows, frozenset(ends), start, initial_output, finals, *names)

    @staticmethod
    def _check(label: Write) -> None:
        _check_output(label[:1])
        _check_output(label[1])

    def to_transducer(self, limits: Limits | Account | None = None) -> Transducer:
        """The same pairs as a general transducer, whose transitions write at most one symbol each.

        States keep their numbers.  Longer outputs become chains of new states that read nothing.

        Raises:
            LimitExceeded: too many states or transitions.
        """
        account = Account(limits)
        account.add_states(self.states)
        rows: list[list[tuple[Pair, int]]] = [[] for _ in self.rows]

        def chain(source: int, symbol: int, output: Output, target: int | None) -> int:
            """Transitions that read a symbol and write a string; returns the last target, ``None`` is new."""
            labels = [(symbol, output[0] if output else EPSILON), *((EPSILON, more) for more in output[1:])]
            account.add_transitions(len(labels))
            for number, label in enumerate(labels, 1):
                last = target if number == len(labels) else None
                if last is None:
                    account.add_states()
                    last = len(rows)
                    rows.append([])
                rows[source].append((label, last))
                source = last
            return source

        for source, symbol, output, target in self.transitions:
            chain(source, symbol, output, target)
        accepting = {
            chain(state, EPSILON, output, None) if output else state
            for state, output in enumerate(self.final_outputs)
            if state in self.accepting
        }
        start = self.start
        if self.initial_output:
            account.add_states()
            start = len(rows)
            rows.append([])
            chain(start, EPSILON, self.initial_output, self.start)
        return Transducer(
            tuple(map(tuple, rows)), frozenset(accepting), start, self.input_names, self.output_names
        )

    def to_openfst(self, shift: int = 1, *, named: bool = False) -> str:
        """OpenFst's text form of :meth:`to_transducer`; see :mod:`tokamata.automata.openfst`."""
        return self.to_transducer().to_openfst(shift, named=named)

    def diagram(self) -> Diagram:
        """The drawing of this transducer: an edge lists symbols and outputs.

        Below a state, ``→ x`` is its final output and ``x →`` the initial output.
        """
        transitions = ((state, label, target) for state, row in enumerate(self.rows) for label, target in row)
        edges = merged_edges(transitions, self._summary)
        notes = {
            state: f"→ {self._shown(output)}" for state, output in enumerate(self.final_outputs) if output
        }
        if self.initial_output:
            notes[self.start] = f"{self._shown(self.initial_output)} → {notes.get(self.start, '')}".rstrip()
        return Diagram(
            "SubsequentialTransducer", self.states, self.start, self.accepting, edges, self.size, notes
        )

    def _shown(self, output: Output) -> str:
        """An output for a drawing, shortened."""
        return enumerate_names([name_of_string(output, self.output_names)], 1)

    def _summary(self, labels: Sequence[Write], width: int) -> str:
        return summarize_pairs(labels, self.input_names, self.output_names, width)


def _string(string: String, account: Account) -> Output:
    symbols = symbols_of(string)
    account.add_states(0, members=len(symbols))
    return tuple(map(index, symbols))


def _check_output(symbols: Iterable[int]) -> None:
    for symbol in symbols:
        if not 0 <= symbol <= MAX_SYMBOL:
            raise MachineError(
                f"{symbol} cannot be a symbol of a subsequential transducer: symbols are 0 to {MAX_SYMBOL}; "
                "an output that writes nothing is the empty string"
            )
