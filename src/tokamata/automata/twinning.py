"""The twinning property: whether a bounded memory is enough to hold back outputs.

Two states p and q are *siblings* if one input u leads to both.  They are *twins* if no input v that leads
from p to p and from q to q changes the delay between the two outputs.  A transducer has the twinning property
if all siblings among its useful states are twins.  A functional transducer with this property is equal to a
subsequential one, and no other is (Choffrut, *Une caractérisation des fonctions séquentielles*, 1977)::

    (0) ─a:x─▶ (1) ⟲ a:x      (1) ─b:ε─▶ ((3))          aⁿb becomes xⁿ, and aⁿc becomes yⁿ
     └──a:y──▶ (2) ⟲ a:y      (2) ─c:ε─▶ ((3))          u = a, v = a: x | y becomes xx | yy

This function is not subsequential: after aⁿ, n symbols are held back.  The property does not imply that a
transducer is functional, nor the reverse; definition 5 of 004 takes the one for the other.

How.  A cycle of the square (:mod:`tokamata.automata.square`) is an input v, for siblings.

1. In a strongly connected component, every cycle must write as many symbols on the left as on the right:
   otherwise it changes every delay.  Numbers for the nodes whose differences are those of the steps exist, or
   a step contradicts them.
2. If no cycle of a component writes, none changes a delay.  Call the other components *writing*.  From the
   start, delays are followed through the nodes that reach a writing component.  If the outputs differ there,
   the cycle changes the delay.  If a node is reached with two delays of one length, the cycle changes one of
   them: what it leaves as it is begins like its output, repeated, and so is determined by its length.

If neither is found, a cycle brings a delay back to its node with its length, so it is the same delay.  If one
is, a path to a cycle is the witness.

Source.  Béal, Carton, Prieur and Sakarovitch, *Squaring transducers*, 2003, whose test on the accessible part
of the square this is; the lengths make it polynomial where the transducer is not functional.
Cost.  The pairs of states, with the transitions of both, times the number of lengths of delays of a pair.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Generic, TypeVar

from tokamata.automata.account import Account
from tokamata.automata.conversions import FiniteMachine, as_transducer
from tokamata.automata.machine import EPSILON, Pair
from tokamata.automata.square import NO_DELAY, Delay, Square, Step, Word, delayed
from tokamata.automata.trim import reachable
from tokamata.patterns.grammars.rules.left_recursion import components
from tokamata.resources.limits import Limits

_Edge = tuple[Step, int]  # a step, and the number of the pair that it leads to
_Path = list[_Edge]


@dataclass(frozen=True)
class Siblings:
    """Two states that one input leads to, and an input that leads from each back to itself.

    Attributes:
        states: the two states.
        string: the input that leads to both.
        outputs: what is written on the way to each.
        loop: the input that leads from each back to itself.
        loop_outputs: what is written on the way back to each.
    """

    states: Pair
    string: Word
    outputs: tuple[Word, Word]
    loop: Word
    loop_outputs: tuple[Word, Word]


def has_twinning_property(machine: FiniteMachine, limits: Limits | Account | None = None) -> bool:
    """Whether all siblings among the useful states are twins.

    Raises:
        LimitExceeded: too many pairs of states, or too long delays.
    """
    return untwinned(machine, limits) is None


def untwinned(machine: FiniteMachine, limits: Limits | Account | None = None) -> Siblings | None:
    """Two siblings that are not twins; ``None`` if the machine has the twinning property.

    Raises:
        LimitExceeded: too many pairs of states, or too long delays.
    """
    account = Account(limits)
    square = Square(as_transducer(machine, account), account)
    return _Siblings(square, account).untwinned()


class _Siblings:
    """The accessible part of a square, as a graph: pairs of states are numbered, and 0 is the start."""

    def __init__(self, square: Square, account: Account) -> None:
        self._account = account
        account.add_states()
        self._pairs = [square.start]
        numbers = {square.start: 0}
        self._edges: list[list[_Edge]] = []
        for pair in self._pairs:  # grows as pairs are found
            row = []
            for step in (*square.silent(pair), *square.reading(pair)):
                target = step.target(pair)
                if target not in numbers:
                    account.add_states()
                    numbers[target] = len(self._pairs)
                    self._pairs.append(target)
                row.append((step, numbers[target]))
            account.add_transitions(1 + len(row))
            self._edges.append(row)
        self._writing: dict[int, frozenset[int]] = {}  # the writing component of each node that is in one

    def untwinned(self) -> Siblings | None:
        """A path to a cycle that changes the delay."""
        targets = [{target for _, target in row} for row in self._edges]
        for members in components(dict(enumerate(targets))):
            component = frozenset(members)
            self._account.work(len(component))
            uneven = self._uneven(members[0], component)
            if uneven is not None:
                return self._witness(self._path(0, {members[0]}), uneven)
            if any(self._writing_edge(node, component) for node in members):
                self._writing.update(dict.fromkeys(members, component))
        sources: list[list[int]] = [[] for _ in targets]
        for node, after in enumerate(targets):
            for target in after:
                sources[target].append(node)
        return self._contradiction(reachable(sources, self._writing))

    def _uneven(self, root: int, component: frozenset[int]) -> _Path | None:
        """A cycle from ``root`` that writes more on one side than on the other."""
        tree: _Tree[int] = _Tree(root)
        ahead = {root: 0}
        for node in tree.order:
            for edge in self._edges[node]:
                step, target = edge
                if target not in component:
                    continue
                self._account.work()
                after = ahead[node] + len(step.written[0]) - len(step.written[1])
                if target not in ahead:
                    ahead[target] = after
                    tree.add(node, edge, target)
                elif ahead[target] != after:
                    back = self._path(target, {root}, component)
                    cycles = [*tree.path_to(target), *back], [*tree.path_to(node), edge, *back]
                    return next(cycle for cycle in cycles if len(set(map(len, _written(cycle)))) == 2)
        return None

    def _contradiction(self, relevant: set[int]) -> Siblings | None:
        """Follow delays through the nodes that reach a writing component."""
        tree: _Tree[Pair] = _Tree((0, 0))  # a node, and how far the first output is ahead of the second there
        delays: dict[Pair, Delay] = {(0, 0): NO_DELAY}
        for key in tree.order if relevant else ():
            for edge in self._edges[key[0]]:
                step, target = edge
                if target not in relevant:
                    continue
                self._account.work()
                delay = delayed(delays[key], step.written)
                if delay is None:
                    return self._changed([[*tree.path_to(key), edge]], target)
                reached = target, len(delay[0]) - len(delay[1])
                if reached not in delays:
                    self._account.add_states(members=abs(reached[1]))
                    delays[reached] = delay
                    tree.add(key, edge, reached)
                elif delays[reached] != delay:
                    return self._changed([tree.path_to(reached), [*tree.path_to(key), edge]], target)
        return None

    def _changed(self, ways: Iterable[_Path], node: int) -> Siblings:
        """The first of some ways to a node after which a writing cycle changes the delay."""
        onward = self._path(node, self._writing)
        entry = _end(onward, node)
        component = self._writing[entry]
        inside = self._path(entry, {n for n in component if self._writing_edge(n, component)}, component)
        edge = self._writing_edge(_end(inside, entry), component)
        assert edge is not None  # since the component is writing
        cycle = [*inside, edge, *self._path(edge[1], {entry}, component)]
        return next(found for way in ways if not _are_twins(found := self._witness([*way, *onward], cycle)))

    def _writing_edge(self, node: int, component: frozenset[int]) -> _Edge | None:
        """An edge within a component that writes something."""
        return next(
            (edge for edge in self._edges[node] if edge[1] in component and any(edge[0].written)), None
        )

    def _path(self, source: int, ends: Container[int], within: Container[int] | None = None) -> _Path:
        """A path of the fewest edges to one of the nodes ``ends``, which exists."""
        tree: _Tree[int] = _Tree(source)
        return next(tree.path_to(node) for node in self._breadth_first(tree, within) if node in ends)

    def _breadth_first(self, tree: _Tree[int], within: Container[int] | None) -> Iterator[int]:
        seen = set(tree.order)
        for node in tree.order:
            yield node
            for edge in self._edges[node]:
                self._account.work()
                if edge[1] not in seen and (within is None or edge[1] in within):
                    seen.add(edge[1])
                    tree.add(node, edge, edge[1])

    def _witness(self, way: _Path, cycle: _Path) -> Siblings:
        string, loop = (
            tuple(step.symbol for step, _ in path if step.symbol != EPSILON) for path in (way, cycle)
        )
        return Siblings(self._pairs[_end(way, 0)], string, _written(way), loop, _written(cycle))


_Key = TypeVar("_Key", bound=Hashable)


class _Tree(Generic[_Key]):
    """The nodes that a search has reached, in order, with the edges by which it came."""

    def __init__(self, root: _Key) -> None:
        self.order = [root]
        self._came_from: dict[_Key, tuple[_Key, _Edge]] = {}

    def add(self, source: _Key, edge: _Edge, target: _Key) -> None:
        """``edge`` leads to a new node."""
        self.order.append(target)
        self._came_from[target] = source, edge

    def path_to(self, node: _Key) -> _Path:
        """The edges from the root to a node."""
        edges = []
        while node in self._came_from:
            node, edge = self._came_from[node]
            edges.append(edge)
        return edges[::-1]


def _end(path: _Path, source: int) -> int:
    return path[-1][1] if path else source


def _written(path: _Path) -> tuple[Word, Word]:
    """What each run writes along a path."""
    first, second = ([step.written[side] for step, _ in path] for side in (0, 1))
    return tuple(chain.from_iterable(first)), tuple(chain.from_iterable(second))


def _are_twins(siblings: Siblings) -> bool:
    """Whether the loop leaves the delay as it is."""
    delay = delayed(NO_DELAY, siblings.outputs)
    if delay is None:
        return not any(siblings.loop_outputs)
    return delayed(delay, siblings.loop_outputs) == delay
