"""Ambiguity: an input with two outputs, or with two runs; the shortest one is found.

A transducer is *functional* if it writes at most one output for every input.  A machine is *unambiguous* if
it has at most one accepting run for every input.  An unambiguous transducer is functional; a functional one
may be ambiguous::

    (0) ─a:x─▶ ((1))          two outputs for a, so two runs
     └──a:y──▶ ((2))

    (0) ─a:x─▶ (1) ─b:y─▶ ((3))          one output for ab, xy, by two runs
     └──a:ε──▶ (2) ─b:x─▶ (4) ─ε:y─▶ ((3))

Two outputs.  A search through the square (:mod:`tokamata.automata.square`), breadth first, with the delay of
the two outputs: an accepting pair with a delay is a witness.  There are infinitely many delays, but two for
each pair are enough.  Let a pair have three, and let some way from it to acceptance end in a difference.
That way makes the outputs equal for at most one of the three delays, so one of the first two differs as well,
and its input is no longer.  For the same reason a functional transducer has one delay for each pair from
which acceptance can be reached (Béal, Carton, Prieur and Sakarovitch, 2003, whose test this is).

Two runs.  The same search, in which a pair has one of three states in place of a delay: the runs are the same
so far; they differ; or the first has read nothing since they were the same, where the second may not move
before it reads, so that it cannot follow the first.

Inputs are examined in order of length, and of one length in the order of their symbols, so the witness is the
first in this order.

Cost: at most two (three) visits of each pair of states, each with the transitions of both.  Delays can be as
long as outputs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from tokamata.automata.account import Account
from tokamata.automata.conversions import FiniteMachine, as_transducer
from tokamata.automata.machine import EPSILON, Pair
from tokamata.automata.square import NO_DELAY, Delay, Square, Step, Word, delayed
from tokamata.resources.limits import Limits

Run = tuple[tuple[int, int, int, int], ...]
_Value = TypeVar("_Value", bound=Hashable)


@dataclass(frozen=True)
class Ambiguity:
    """An input of a machine with two outputs, or with two runs.

    Attributes:
        string: the input.
        outputs: what each of the two runs writes.
        runs: two accepting runs, as transitions ``(source, input, output, target)``; a transition of an
            acceptor copies its symbol.
    """

    string: Word
    outputs: tuple[Word, Word]
    runs: tuple[Run, Run]


def is_functional(machine: FiniteMachine, limits: Limits | Account | None = None) -> bool:
    """Whether the machine writes at most one output for every input.

    Raises:
        LimitExceeded: too many pairs of states, or too long delays.
    """
    return two_outputs(machine, limits) is None


def two_outputs(machine: FiniteMachine, limits: Limits | Account | None = None) -> Ambiguity | None:
    """A shortest input with two different outputs; ``None`` if the machine is functional.

    Raises:
        LimitExceeded: too many pairs of states, or too long delays.
    """
    account = Account(limits)
    square = Square(as_transducer(machine, account), account)

    def successors(pair: Pair, delay: Delay, is_silent: bool) -> Iterator[tuple[Step, Delay]]:
        for step in square.silent(pair) if is_silent else square.reading(pair):
            yield step, delayed(delay, step.written)

    def is_witness(pair: Pair, delay: Delay) -> bool:
        return delay != NO_DELAY and square.is_accepting(pair)

    search = _Search(square, successors, is_witness, most=2, account=account)
    return search.shortest(NO_DELAY)


class _Runs(Enum):
    """How two runs compare so far."""

    SAME = 0
    WAITING = 1  # the first has read nothing since they were the same, and the second has not moved
    APART = 2


def two_runs(machine: FiniteMachine, limits: Limits | Account | None = None) -> Ambiguity | None:
    """A shortest input with two accepting runs; ``None`` if the machine is unambiguous.

    Raises:
        LimitExceeded: too many pairs of states.
    """
    account = Account(limits)
    square = Square(as_transducer(machine, account), account)

    def successors(pair: Pair, runs: _Runs, is_silent: bool) -> Iterator[tuple[Step, _Runs]]:
        if not is_silent:
            for step in square.reading(pair):
                is_same = runs is _Runs.SAME and step.first == step.second
                yield step, _Runs.SAME if is_same else _Runs.APART
        elif runs is _Runs.APART:
            for step in square.silent(pair):
                yield step, runs
        else:
            for first in square.silent_arcs(pair[0]):
                yield Step(EPSILON, first, None), _Runs.WAITING
                for second in square.silent_arcs(pair[1]) if runs is _Runs.SAME else ():
                    yield Step(EPSILON, first, second), _Runs.SAME if first == second else _Runs.APART

    def is_witness(pair: Pair, runs: _Runs) -> bool:
        return runs is not _Runs.SAME and square.is_accepting(pair)

    search = _Search(square, successors, is_witness, most=len(_Runs), account=account)
    return search.shortest(_Runs.SAME)


class _Search(Generic[_Value]):
    """A search through a square with a value for each pair, in order of the inputs.

    Args:
        square: the square.
        successors: for a pair, its value, and whether nothing is read: each step with the value after it.
        is_witness: whether a pair with a value ends the search.
        most: how many values of a pair are followed.
        account: counts nodes.
    """

    def __init__(
        self,
        square: Square,
        successors: Callable[[Pair, _Value, bool], Iterable[tuple[Step, _Value]]],
        is_witness: Callable[[Pair, _Value], bool],
        most: int,
        account: Account,
    ) -> None:
        self._square = square
        self._successors = successors
        self._is_witness = is_witness
        self._most = most
        self._account = account
        self._values: dict[Pair, list[_Value]] = {}
        self._nodes: list[tuple[Pair, _Value]] = []
        self._came_from: list[tuple[int, Step | None]] = []

    def shortest(self, begin: _Value) -> Ambiguity | None:
        """The first witness.  A group has the nodes that one input reaches and that no earlier one did."""
        group = self._closed([(self._square.start, begin, -1, None)])
        groups = deque([group])
        while groups:
            after: dict[int, list[tuple[Pair, _Value, int, Step | None]]] = {}
            for number in groups.popleft():
                pair, value = self._nodes[number]
                if self._is_witness(pair, value):
                    return self._witness(number)
                for step, changed in self._successors(pair, value, False):
                    self._account.work()
                    after.setdefault(step.symbol, []).append((step.target(pair), changed, number, step))
            for symbol in sorted(after):
                groups.append(self._closed(after[symbol]))
        return None

    def _closed(self, found: Iterable[tuple[Pair, _Value, int, Step | None]]) -> list[int]:
        """The numbers of new nodes, and of those that are reached from them without reading."""
        group: list[int] = []
        for node in found:
            self._add(group, *node)
        for number in group:  # grows as nodes are found
            pair, value = self._nodes[number]
            for step, changed in self._successors(pair, value, True):
                self._add(group, step.target(pair), changed, number, step)
        return group

    def _add(self, group: list[int], pair: Pair, value: _Value, parent: int, step: Step | None) -> None:
        self._account.work()
        values = self._values.setdefault(pair, [])
        if len(values) == self._most or value in values:
            return
        size = sum(map(len, value)) if isinstance(value, tuple) else 0
        self._account.add_states(members=size)
        values.append(value)
        group.append(len(self._nodes))
        self._nodes.append((pair, value))
        self._came_from.append((parent, step))

    def _witness(self, number: int) -> Ambiguity:
        """Follow the steps back, and read off the two runs."""
        steps: list[tuple[Pair, Step]] = []
        parent, step = self._came_from[number]
        while step is not None:
            steps.append((self._nodes[parent][0], step))
            parent, step = self._came_from[parent]
        steps.reverse()
        string = tuple(step.symbol for _, step in steps if step.symbol != EPSILON)
        first = tuple((p, step.symbol, *step.first) for (p, _), step in steps if step.first is not None)
        second = tuple((q, step.symbol, *step.second) for (_, q), step in steps if step.second is not None)
        return Ambiguity(string, (_output(first), _output(second)), (first, second))


def _output(run: Run) -> Word:
    return tuple(written for _, _, written, _ in run if written != EPSILON)
