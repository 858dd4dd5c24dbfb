"""Push-down automata: context-free sets of strings of symbols.

A push-down automaton is an acceptor with a stack (002, section 3.1).  A transition reads a symbol or nothing,
and pops and pushes strings of stack symbols.  It can be taken only if the stack ends with what it pops.
Stacks are written from bottom to top, so the last symbol is the top.  A string is accepted if it leads from
the start state, with the start stack, to an accepting state, whatever the stack is then.

For example, an automaton of ``ab``, ``aabb``, ``aaabbb``, … and the empty string.  Its start stack is S::

    (0) ─a, push r─▶ (0)        (0) ─ε─▶ (1)        (1) ─b, pop r─▶ (1)        (1) ─ε, pop S─▶ ((2))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import index

from tokamata.automata.acceptor import String, symbols_of
from tokamata.automata.account import Account
from tokamata.automata.configurations import initial, read
from tokamata.automata.drawing.diagram import Diagram, merged_edges
from tokamata.automata.machine import EPSILON, MAX_SYMBOL, Edit, Machine, Names, check_symbol, rows_of
from tokamata.automata.stack_moves import StackMoves
from tokamata.automata.symbols import enumerate_names, name_of, summarize
from tokamata.errors import MachineError
from tokamata.resources.limits import Limits

Transition = tuple[int, int, Sequence[int], Sequence[int], int]


@dataclass(frozen=True, repr=False)
class PushdownAutomaton(Machine[Edit]):
    """A push-down automaton: a context-free set of strings of symbols.

    Equality compares states and transitions, not languages: whether two push-down automata accept the same
    strings is undecidable.

    Attributes:
        stack: the stack at the start, from its bottom to its top.
        names: the names of symbols, or ``None``; equality ignores them.
        stack_names: the same for stack symbols.
    """

    stack: tuple[int, ...] = ()
    names: Names | None = field(default=None, compare=False)
    stack_names: Names | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "stack", tuple(self.stack))
        _check_stack(self.stack)

    @property
    def epsilon(self) -> Edit:
        """The label that neither reads, pops nor pushes."""
        return EPSILON, (), ()

    @classmethod
    def from_transitions(
        cls,
        transitions: Iterable[Transition],
        accepting: Iterable[int],
        start: int = 0,
        states: int | None = None,
        stack: Iterable[int] = (),
        names: Names | None = None,
        stack_names: Names | None = None,
        limits: Limits | Account | None = None,
    ) -> PushdownAutomaton:
        """A push-down automaton of transitions ``(source, symbol, popped, pushed, target)``.

        Args:
            transitions: in any order; ``EPSILON`` for a symbol reads nothing.  ``popped`` and ``pushed`` are
                sequences of stack symbols, whose last one is the top.
            accepting: the accepting states.
            start: the start state.
            states: their number; ``None``: one more than the largest state.
            stack: the stack at the start.
            names: the names of symbols.
            stack_names: the names of stack symbols.
            limits: bounds on the result.

        Raises:
            MachineError: a state or a symbol is out of range.
            LimitExceeded: too many states or transitions.
        """
        arcs = [
            (source, (index(symbol), tuple(map(index, popped)), tuple(map(index, pushed))), target)
            for source, symbol, popped, pushed, target in transitions
        ]
        rows, ends = rows_of(arcs, accepting, start, states, Account(limits))
        return cls(rows, ends, index(start), tuple(map(index, stack)), names, stack_names)

    @property
    def transitions(self) -> Iterator[tuple[int, int, tuple[int, ...], tuple[int, ...], int]]:
        """Every transition as ``(source, symbol, popped, pushed, target)``, in order."""
        return ((s, *label, target) for s, row in enumerate(self.rows) for label, target in row)

    @property
    def symbols(self) -> frozenset[int]:
        """The symbols of its transitions, without epsilon."""
        return frozenset(symbol for _, symbol, *_ in self.transitions if symbol != EPSILON)

    @property
    def stack_symbols(self) -> frozenset[int]:
        """The symbols of its start stack, and those that its transitions pop and push."""
        used = {symbol for _, _, popped, pushed, _ in self.transitions for symbol in (*popped, *pushed)}
        return frozenset(used.union(self.stack))

    def accepts(self, string: String, limits: Limits | Account | None = None) -> bool:
        """Whether it accepts ``string``; it need not be deterministic.

        Raises:
            LimitExceeded: the sets of configurations are too large.
        """
        account = Account(limits)
        moves = StackMoves(self.rows, account)
        reached = initial(moves, self.start, self.stack, account)
        for symbol in symbols_of(string):
            reached = read(moves, reached, symbol, account)
        return any(state in self.accepting for state, _ in reached)

    @staticmethod
    def _check(label: Edit) -> None:
        check_symbol(label[0])
        _check_stack(label[1])
        _check_stack(label[2])

    def diagram(self) -> Diagram:
        """The drawing of this automaton: an edge lists symbols, what it pops after ↑, what it pushes after ↓.

        002 writes e↑ and e↓ for these, and draws them as closing and opening brackets.
        """
        transitions = ((state, label, target) for state, row in enumerate(self.rows) for label, target in row)
        edges = merged_edges(transitions, self._summary)
        return Diagram("PushdownAutomaton", self.states, self.start, self.accepting, edges, self.size)

    def _summary(self, labels: Sequence[Edit], width: int) -> str:
        """Symbols with the same pops and pushes are grouped: ``a–c ↓r``."""
        symbols: dict[tuple[tuple[int, ...], tuple[int, ...]], list[int]] = {}
        for symbol, *edit in labels:
            symbols.setdefault((edit[0], edit[1]), []).append(symbol)
        texts = [
            summarize(read, self.names, width) + self._shown("↑", popped) + self._shown("↓", pushed)
            for (popped, pushed), read in symbols.items()
        ]
        return enumerate_names(texts, len(labels), width)

    def _shown(self, arrow: str, symbols: tuple[int, ...]) -> str:
        return "".join(f" {arrow}{name_of(symbol, self.stack_names)}" for symbol in symbols)


def _check_stack(symbols: Sequence[int]) -> None:
    for symbol in symbols:
        if not 0 <= symbol <= MAX_SYMBOL:
            raise MachineError(f"{symbol} cannot be a stack symbol: they are 0 to {MAX_SYMBOL}")
