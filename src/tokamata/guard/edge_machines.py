"""Automata over bytes and token edges: the texts in which a boundary is violated.

A boundary is a language B, mostly one text.  Each violation of it is a language over bytes and edges, for the
engine's search (``core/canonical/edge_search.hpp``).  An edge stands before the first token and after each::

    crossed at the left     … x B …      no edge between x and the occurrence of B
    crossed at the right    … B x …      no edge between the occurrence and x
    parted                  … B …        an edge within the occurrence

For B = ``ab``, crossed at the left: state 0 is any text before, 1 has read x, 2 has read ``a``, 3 both::

    0 -any-> 0    0 -any-> 1    1 -a-> 2    2 -b-> 3    3 -any-> 3     edges: 1 has none, the others stay

Occurrences overlap, so the automata are nondeterministic: they guess where the occurrence begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

import tokamata._core as _core
from tokamata.guard.byte_languages import ByteLanguage

__all__ = ["EdgeMachine", "apart", "crossed_left", "crossed_right", "joined", "parted", "spelled"]

_ANY = -1


class EdgeMachine:
    """Collects the states and transitions of a nondeterministic automaton over bytes and edges.

    Args:
        classes: the class of each byte.

    Attributes:
        starts: the states before the first edge; state 0 if not set.
        names: for each language that it is made of, the classes here by the class there.
    """

    def __init__(self, classes: tuple[int, ...]) -> None:
        self.classes = classes
        self.starts = [0]
        self.names: list[dict[int, list[int]]] = []
        self._count = max(classes) + 1
        self.moves: list[dict[int, list[int]]] = []
        self.edges: list[list[int]] = []
        self.wide: list[bool] = []
        self.accepting: list[bool] = []

    def add(self, edges: list[int] | None = None, wide: bool = False, accepting: bool = False) -> int:
        """A new state.  ``edges``: the states after a token edge; the state itself if not given."""
        number = len(self.moves)
        self.moves.append({})
        self.edges.append([number] if edges is None else edges)
        self.wide.append(wide)
        self.accepting.append(accepting)
        return number

    def move(self, source: int, name: int, target: int) -> None:
        """Adds a transition by the bytes of a class, or by every byte."""
        for each in range(self._count) if name == _ANY else (name,):
            self.moves[source].setdefault(each, []).append(target)

    def any_text(self, accepting: bool = False) -> int:
        """A new state in which any text may follow."""
        state = self.add(wide=True, accepting=accepting)
        self.move(state, _ANY, state)
        return state

    def within(self, language: ByteLanguage) -> EdgeMachine:
        """The same, for texts of a language."""
        both = list(zip(self.classes, language.classes, strict=True))
        numbers = {pair: number for number, pair in enumerate(sorted(set(both)))}
        product = EdgeMachine(tuple(numbers[pair] for pair in both))
        joint: dict[int, list[tuple[int, int]]] = {}  # by the class of the language: own classes, and names
        for (first, second), name in numbers.items():
            joint.setdefault(second, []).append((first, name))
        known: dict[tuple[int, int], int] = {}
        pending: list[tuple[int, int]] = []

        def state_of(own: int, other: int) -> int:
            state = known.get((own, other))
            if state is None:
                accepts = self.accepting[own] and language.accepting[other]
                state = known[own, other] = product.add([], self.wide[own], accepts)
                pending.append((own, other))
            return state

        state_of(0, 0)
        while pending:
            own, other = pending.pop()
            here = known[own, other]
            product.edges[here] = [state_of(after, other) for after in self.edges[own]]
            moves, row = self.moves[own], product.moves[here]
            for second, target in language.rows[other].items():
                for first, name in joint[second]:
                    if first in moves:
                        row[name] = [state_of(each, target) for each in moves[first]]
        return product

    def after(self, text: bytes) -> EdgeMachine:
        """The rests of the texts that begin with this one, without a token edge within it or after it.

        States that had no token edge before stay so: they are searched as texts.
        """
        states = {after for start in self.starts for after in self.edges[start]}
        for byte in text:
            name = self.classes[byte]
            states = {target for state in states for target in self.moves[state].get(name, ())}
        rest = EdgeMachine(self.classes)
        rest.moves, rest.edges = list(self.moves), list(self.edges)
        rest.wide, rest.accepting = list(self.wide), list(self.accepting)
        kept = states & self._prefix()
        rest.starts = sorted(kept)
        if others := sorted(states - kept):
            rest.starts.append(rest.add(edges=others))
        return rest

    def _prefix(self) -> set[int]:
        """The states of any text before the edges that matter; see ``core/canonical/edge_automaton.hpp``."""
        found: set[int] = set()
        pending = list(self.starts)
        while pending:
            state = pending.pop()
            if not self.wide[state] or self.accepting[state] or state in found:
                continue
            found.add(state)
            pending += (target for some in self.moves[state].values() for target in some)
        return found

    def automaton(self) -> _core.EdgeAutomaton:
        """The engine's form, without transitions between states that are on no path to acceptance."""
        is_live = self._live()
        offsets, edge_offsets = [0], [0]
        targets: list[int] = []
        edge_targets: list[int] = []
        for state, (row, edges) in enumerate(zip(self.moves, self.edges, strict=True)):
            for name in range(self._count if is_live[state] else 0):
                if name in row:
                    targets += [target for target in row[name] if is_live[target]]
                offsets.append(len(targets))
            offsets += [len(targets)] * (0 if is_live[state] else self._count)
            edge_targets += edges
            edge_offsets.append(len(edge_targets))
        numbers = {
            "offsets": offsets,
            "targets": targets,
            "edge_offsets": edge_offsets,
            "edge_targets": edge_targets,
            "starts": self.starts,
        }
        tables: dict[str, Any] = {name: np.array(row, dtype=np.uint32) for name, row in numbers.items()}
        flags = {"classes": self.classes, "accepting": self.accepting, "wide": self.wide}
        tables |= {name: np.array(row, dtype=np.uint8) for name, row in flags.items()}
        return _core.EdgeAutomaton({**tables, "class_count": self._count})

    def _live(self) -> list[bool]:
        after = [
            {*edges, *(target for some in row.values() for target in some)}
            for row, edges in zip(self.moves, self.edges, strict=True)
        ]
        before: list[list[int]] = [[] for _ in self.moves]
        for source, targets in enumerate(after):
            for target in targets:
                before[target].append(source)
        ends = [state for state, accepts in enumerate(self.accepting) if accepts]
        return [all(both) for both in zip(_reached(self.starts, after), _reached(ends, before), strict=True)]


def _reached(starts: list[int], steps: Sequence[Iterable[int]]) -> list[bool]:
    is_reached = [False] * len(steps)
    pending = list(starts)
    while pending:
        state = pending.pop()
        if not is_reached[state]:
            is_reached[state] = True
            pending += steps[state]
    return is_reached


def crossed_left(boundary: ByteLanguage) -> EdgeMachine:
    """Texts in which a token crosses the left border of an occurrence."""
    machine, before = _begun(boundary)
    inner = machine.add(edges=[])
    machine.move(before, _ANY, inner)
    states = [machine.add() for _ in boundary.rows]
    done = machine.any_text(accepting=True)
    _copy(machine, boundary, inner, states, states, done)
    return machine


def crossed_right(boundary: ByteLanguage) -> EdgeMachine:
    """Texts in which a token crosses the right border of an occurrence."""
    machine, before = _begun(boundary)
    states = [machine.add() for _ in boundary.rows]
    ended = machine.add(edges=[])
    done = machine.any_text(accepting=True)
    machine.move(ended, _ANY, done)
    _copy(machine, boundary, before, states, states, ended)
    return machine


def parted(boundary: ByteLanguage) -> EdgeMachine:
    """Texts in which a token edge stands within an occurrence."""
    machine, before = _begun(boundary)
    after = [machine.add() for _ in boundary.rows]
    states = [machine.add(edges=[state]) for state in after]
    done = machine.any_text(accepting=True)
    _copy(machine, boundary, before, states, states, None)
    for source, row in zip(after, boundary.rows, strict=True):
        _read(machine, boundary, source, row, after, done)
    return machine


def spelled(boundary: ByteLanguage) -> EdgeMachine:
    """Texts with an occurrence, whatever its tokens are."""
    machine, before = _begun(boundary)
    states = [machine.add() for _ in boundary.rows]
    done = machine.any_text(accepting=True)
    # Words end in a state that is not wide.  A word of one byte would lead from a wide state to a wide one;
    # both would be in the prefix, to which no longer word may return.
    ended = machine.add(accepting=True)
    machine.move(ended, _ANY, done)
    _copy(machine, boundary, before, states, states, ended)
    return machine


def _begun(boundary: ByteLanguage) -> tuple[EdgeMachine, int]:
    machine = EdgeMachine(boundary.classes)
    return machine, machine.any_text()


def _copy(
    machine: EdgeMachine,
    boundary: ByteLanguage,
    start: int,
    states: list[int],
    targets: list[int],
    done: int | None,
) -> None:
    """The transitions of a boundary, between copies of its states; the first one also from ``start``."""
    _read(machine, boundary, start, boundary.rows[0], targets, done)
    for source, row in zip(states, boundary.rows, strict=True):
        _read(machine, boundary, source, row, targets, done)


def _read(
    machine: EdgeMachine,
    boundary: ByteLanguage,
    source: int,
    row: dict[int, int],
    targets: list[int],
    done: int | None,
) -> None:
    for name, target in row.items():
        machine.move(source, name, targets[target])
        if boundary.accepting[target] and done is not None:
            machine.move(source, name, done)


def apart(languages: list[ByteLanguage]) -> EdgeMachine:
    """Texts in parts; the edges of the machine are the seams between them."""
    machine, states = _chain(languages)
    for number, language in enumerate(languages[:-1]):
        for state, accepts in zip(states[number], language.accepting, strict=True):
            machine.edges[state] = [states[number + 1][0]] if accepts else []
    for state in states[-1]:
        machine.edges[state] = []
    return machine


def joined(languages: list[ByteLanguage], seam: int) -> EdgeMachine:
    """Texts in parts in which no token edge stands at one seam: that before the part of this number."""
    return _Joined(languages, seam).machine


class _Joined:
    """Makes the machine of :func:`joined`: an empty part has its seams at one place."""

    def __init__(self, languages: list[ByteLanguage], seam: int) -> None:
        self._languages, self._seam = languages, seam
        self.machine, self._states = _chain(languages)
        self._entries: dict[tuple[int, bool], int] = {}
        for number, language in enumerate(languages):
            for state, row, accepts in zip(
                self._states[number], language.rows, language.accepting, strict=True
            ):
                self.machine.wide[state] = True
                self.machine.accepting[state] = accepts and seam <= number and self._may_be_empty(number + 1)
                for name, target in self._moves(number, row):
                    if language.accepting[target]:
                        for entry in self._after(number + 1, False):
                            self.machine.move(state, name, entry)
        self.machine.starts = self._after(0, False)

    def _may_be_empty(self, number: int) -> bool:
        return all(language.accepting[0] for language in self._languages[number:])

    def _moves(self, number: int, row: dict[int, int]) -> list[tuple[int, int]]:
        names = self.machine.names[number]
        return [(name, target) for own, target in row.items() for name in names[own]]

    def _after(self, number: int, is_joined: bool) -> list[int]:
        """The states in which a part begins, and those after it if it may be empty."""
        entries = []
        for each in range(number, len(self._languages)):
            is_joined = is_joined or each == self._seam
            entries.append(self._entry(each, is_joined))
            if not self._languages[each].accepting[0]:
                break
        return entries

    def _entry(self, number: int, is_joined: bool) -> int:
        if (number, is_joined) in self._entries:
            return self._entries[number, is_joined]
        machine, language = self.machine, self._languages[number]
        entry = machine.add([] if is_joined else None, wide=not is_joined)
        self._entries[number, is_joined] = entry
        machine.accepting[entry] = not is_joined and self._seam < number and self._may_be_empty(number)
        for name, target in self._moves(number, language.rows[0]):
            machine.move(entry, name, self._states[number][target])
            if language.accepting[target]:
                for after in self._after(number + 1, False):
                    machine.move(entry, name, after)
        return entry


def _chain(languages: list[ByteLanguage]) -> tuple[EdgeMachine, list[list[int]]]:
    """A machine with the states and transitions of several languages, which are not connected."""
    columns = list(zip(*(language.classes for language in languages), strict=True))
    numbers = {column: number for number, column in enumerate(sorted(set(columns)))}
    machine = EdgeMachine(tuple(numbers[column] for column in columns))
    machine.names = [{} for _ in languages]
    for column, name in numbers.items():
        for part, own in enumerate(column):
            machine.names[part].setdefault(own, []).append(name)
    states = [
        [machine.add(accepting=accepts and language is languages[-1]) for accepts in language.accepting]
        for language in languages
    ]
    for part, language in enumerate(languages):
        for source, row in zip(states[part], language.rows, strict=True):
            for own, target in row.items():
                for name in machine.names[part][own]:
                    machine.move(source, name, states[part][target])
    return machine, states
