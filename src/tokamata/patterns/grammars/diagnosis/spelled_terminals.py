"""The terminals of a grammar, spelled out in classes of characters.

Problem.  Where terminals overlap, ``"if"`` and ``/[a-z]+/``, a sequence of terminals does not say which text
it is, nor a text which terminals it has.  A question about texts needs symbols that do not overlap.
How.  Each terminal becomes its deterministic automaton, each state of that a nonterminal, and each edge
between states a production.  Characters that no automaton distinguishes are one symbol.

Worked example.  ``"if"`` and ``/[a-z]+/`` have three classes, ``i``, ``f`` and ``[a-eg-hj-z]``::

    "if"      →  i f₂        f₂      →  f
    /[a-z]+/  →  i n | f n | [a-eg-hj-z] n
    n         →  i n | f n | [a-eg-hj-z] n | ε

Since the automata are deterministic, a text of a terminal has one derivation.

Source.  The automata are the engine's, over bytes; here the bytes of a character are one edge.
Cost.  States times classes, for each terminal.  ``Limits`` bound the states.
Rejected: bytes as symbols.  The automaton of ``\\w+`` has two states over characters and 330 over bytes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Literal

import tokamata._core as _core
from tokamata.errors import EmptyConstraintError
from tokamata.patterns.grammars.rules.productions import Builder, Label, Productions, Symbols, WorkAccount
from tokamata.patterns.grammars.rules.rule_trees import Grammar, Terminal, children_first
from tokamata.patterns.regex.classes import normalize
from tokamata.patterns.unicode import Ranges
from tokamata.resources.limits import CancelToken, Limits, core_limits

__all__ = ["SpelledTerminals"]

_BYTES = _core.Vocabulary([bytes([value]) for value in range(256)] + [None], [256], 257)
_PAYLOADS = ((0xC2, 0xE0, 1), (0xE0, 0xF0, 2), (0xF0, 0xF5, 3))  # first bytes, and how many bytes follow


class _Automaton:
    """The texts of a terminal; state 0 is the first.

    Attributes:
        edges: by state, the characters that lead to each other state.
        accepting: the states where a text may end.
    """

    def __init__(
        self, expression: _core.Expression, limits: Limits, cancel: CancelToken | None, account: WorkAccount
    ) -> None:
        self.edges: list[list[tuple[int, Ranges]]] = []
        self.accepting: set[int] = set()
        try:
            known = core_limits(limits)
            shared = _core.SharedConstraint(expression, _BYTES, None, {}, known, cancel, None, False, None)
            core = _core.Constraint(shared, known, cancel, None, False, shared.compile_seconds)
        except EmptyConstraintError:
            self.edges.append([])
            return
        accepting, class_of_byte, offsets, classes, targets = (part.tolist() for part in core.closed_form())
        account.spend(len(accepting), len(targets))
        self._watch = account.watch
        bytes_of: dict[int, list[int]] = {}
        for byte in range(256):
            bytes_of.setdefault(class_of_byte[byte], []).append(byte)
        self._rows = [
            {
                byte: targets[edge]
                for edge in range(offsets[state], offsets[state + 1])
                for byte in bytes_of.get(classes[edge], ())
            }
            for state in range(len(accepting))
        ]
        self._rest: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
        numbers = {0: 0}
        order = [0]
        for state in order:
            by_target: dict[int, list[tuple[int, int]]] = {}
            for low, high, target in self._characters(state):
                by_target.setdefault(target, []).append((low, high))
                if target not in numbers:
                    numbers[target] = len(order)
                    order.append(target)
            self.edges.append([(numbers[target], normalize(found)) for target, found in by_target.items()])
            if accepting[state]:
                self.accepting.add(numbers[state])
        del self._rows, self._rest, self._watch

    def _characters(self, state: int) -> Iterable[tuple[int, int, int]]:
        """The ranges of characters that leave a state, each with the state that it leads to."""
        self._watch.check()
        row = self._rows[state]
        for byte, target in row.items():
            if byte < 0x80:
                yield byte, byte, target
            for first, end, count in _PAYLOADS:
                if first <= byte < end:
                    base = (byte & (0x3F >> count)) << 6 * count
                    for low, high, reached in self._continued(target, count):
                        yield base + low, base + high, reached

    def _continued(self, state: int, count: int) -> list[tuple[int, int, int]]:
        """The same after the first byte of a character, for the bits that the other bytes hold."""
        if count == 0:
            return [(0, 0, state)]
        key = (state, count)
        if key not in self._rest:
            found: list[tuple[int, int, int]] = []
            for byte, target in sorted(self._rows[state].items()):
                base = (byte & 0x3F) << 6 * (count - 1)
                for low, high, reached in self._continued(target, count - 1):
                    if found and found[-1][1:] == (base + low - 1, reached):
                        found[-1] = (found[-1][0], base + high, reached)
                    else:
                        found.append((base + low, base + high, reached))
            self._rest[key] = found
        return self._rest[key]


class SpelledTerminals:
    """A grammar whose terminals are spelled out.

    Args:
        grammar: one whose terminals are their regular languages.
        limits, cancel: bound each automaton.
        account: what all of them may use.

    Attributes:
        characters: of each class, one that is easy to read.

    Raises:
        LimitExceeded, Cancelled: the automata are too large, or the work was stopped.
    """

    def __init__(
        self,
        grammar: Grammar,
        limits: Limits,
        cancel: CancelToken | None,
        account: WorkAccount,
    ) -> None:
        self._grammar = grammar
        self._account = account
        self._automata: dict[int, _Automaton] = {}
        for node in children_first(grammar.rules.values()):
            if isinstance(node, Terminal):
                self._automata[id(node)] = _Automaton(node.expression, limits, cancel, account)
        sets = {
            ranges: None
            for automaton in self._automata.values()
            for edges in automaton.edges
            for _, ranges in edges
        }
        self.characters, self._classes = _classes(list(sets), account)
        self._numbers: dict[object, int] = {}

    def productions(self, direction: Literal["left", "right"]) -> Productions | None:
        """The productions, with repetitions as :class:`.Builder` says; ``None`` if there is no text."""
        builder = Builder(self._grammar, self._leaf, direction, self._account)
        return builder.productions(len(self.characters))

    def _leaf(self, builder: Builder, terminal: Terminal) -> int:
        key = (terminal.name, terminal.texts) if terminal.texts else id(terminal)  # equal texts are one
        if key not in self._numbers:
            automaton = self._automata[id(terminal)]
            numbers = [builder.add(Label("terminal", terminal.name)) for _ in automaton.edges]
            for state, edges in enumerate(automaton.edges):
                found: list[Symbols] = []
                for target, ranges in edges:
                    after: Symbols = (~numbers[target],) if automaton.edges[target] else ()
                    found += [(symbol, *after) for symbol in self._classes[ranges]]
                if state in automaton.accepting:
                    found.append(())
                builder.define(numbers[state], found)
            self._numbers[key] = numbers[0]
        return ~self._numbers[key]


def _classes(sets: list[Ranges], account: WorkAccount) -> tuple[list[str], dict[Ranges, list[int]]]:
    """The coarsest classes that the sets are unions of: a character of each, and the classes of each set."""
    borders = sorted({border for ranges in sets for low, high in ranges for border in (low, high + 1)})
    index = {border: number for number, border in enumerate(borders)}
    marks: list[list[int]] = [[] for _ in borders]  # the sets that have the characters from a border on
    for number, ranges in enumerate(sets):
        account.spend(0, sum(index[high + 1] - index[low] for low, high in ranges) // 10)
        for low, high in ranges:
            for interval in range(index[low], index[high + 1]):
                marks[interval].append(number)
    numbers: dict[tuple[int, ...], int] = {}
    characters: list[str] = []
    of_sets: list[dict[int, None]] = [{} for _ in sets]
    for mark, (low, end) in zip(marks, itertools.pairwise(borders), strict=False):
        if not mark:
            continue
        shown = _readable(low, end - 1)
        number = numbers.setdefault(tuple(mark), len(characters))
        if number == len(characters):
            characters.append(shown)
            for found in mark:
                of_sets[found][number] = None
        elif _strangeness(shown) < _strangeness(characters[number]):
            characters[number] = shown
    return characters, {ranges: list(found) for ranges, found in zip(sets, of_sets, strict=True)}


def _readable(low: int, high: int) -> str:
    """The character of a range that is easiest to read."""
    preferred = [code for code in map(ord, "aA0_ !") if low <= code <= high]
    return chr(min([low, *preferred], key=lambda code: _strangeness(chr(code))))


def _strangeness(character: str) -> tuple[bool, bool, bool, bool, int]:
    is_ascii = character < "\x7f"
    return (
        not is_ascii,
        not character.isprintable(),
        not character.isalnum(),
        not character.islower() and not character.isdigit(),
        ord(character),
    )
