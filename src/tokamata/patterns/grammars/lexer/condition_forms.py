"""One condition for all that say the same of what follows.

Problem.  After each of the numbers ``/1[0-9]*/``, ``/2[0-9]*/`` and ``/3[0-9]*/``, no digit may follow.
These are three conditions, since ``[0-9]`` has three places.  Each terminal, and each rule, would then be
read from three configurations that differ in nothing.

How.  A condition is an automaton: after each symbol it is another condition, and it holds or not where the
text ends.  Conditions get numbers, equal ones for those that say the same.  The number of a condition is
found by whether it holds at the end and by the numbers of the conditions after it, so these get theirs
before.  Those that lead to each other get theirs together, by their least automaton (Moore 1956).

Worked example.  "No ``[0-9]`` follows" holds at the end; it leads to *never* by a digit and to *always* by
any other symbol.  This is so for each place of ``[0-9]``: one number.  If a letter follows for certain, the
condition is *always* itself: so the first symbols may be given.

Cost.  The symbols of each condition that is met, once.  A condition that leads to more than
:data:`MOST_STATES` others stands for itself.  Two conditions with cycles that say the same may keep two
numbers, where one of them leads to the other: this costs time and changes no text.
Rejected: one number for equal places of expressions.  Most conditions are about several places.  The least
automaton of each condition: it is computed again for each condition that leads to the same others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter
from typing import TypeAlias

from tokamata.patterns.grammars.lexer.conditions import ALWAYS, NEVER, Condition, any_of, atoms
from tokamata.patterns.grammars.lexer.threads import Past, Places
from tokamata.patterns.grammars.rules.left_recursion import components
from tokamata.resources.limits import Watch

__all__ = ["ConditionForms"]

MOST_STATES = 1_000  # of a condition that is brought into a normal form

_State: TypeAlias = tuple[Condition, Past]
_Edges: TypeAlias = frozenset[tuple[int, int]]  # symbols, and the number of what they lead to
_Mixed: TypeAlias = frozenset[tuple[bool, int, int]]  # the same, and whether it is the number of a class
_NEVER, _ALWAYS = 0, 1  # the numbers of these conditions


class ConditionForms:
    """The conditions on what follows, those that say the same as one.

    Args:
        places: that they are about.
        watch: stops the work.
    """

    def __init__(self, places: Places, watch: Watch) -> None:
        self._places = places
        self._watch = watch
        self._edges: dict[_State, dict[_State, int]] = {}
        self._numbers: dict[_State, int] = {}
        always: _Edges = frozenset([(places.alphabet.everything, _ALWAYS)])
        self._of_forms: dict[object, int] = {(False, frozenset()): _NEVER, (True, always): _ALWAYS}
        self._count = len(self._of_forms)
        self._standing: dict[object, Condition] = {}  # the condition that stands for others

    def same(self, condition: Condition, past: Past, first: int | None = None) -> Condition:
        """The condition that stands for all that say the same.

        Args:
            condition: what is to hold.
            past: the text before.
            first: the symbols that may follow, if a text follows for certain; ``None``: anything, or nothing.
        """
        if condition in (ALWAYS, NEVER):
            return condition
        condition = self._without_implied(condition)
        state = (condition, past)
        if first is None:
            number = self._number(state)
            if number in (_NEVER, _ALWAYS):
                return ALWAYS if number == _ALWAYS else NEVER
            return self._standing.setdefault((number, past), condition)
        edges = self._numbered(state, first)
        if edges <= {(first, _ALWAYS)}:
            return ALWAYS if edges else NEVER
        return self._standing.setdefault((edges, first, past), condition)

    def _without_implied(self, condition: Condition) -> Condition:
        """A condition without atoms that others of their clause imply: no ``if`` without a letter."""
        clauses = []
        for clause in condition:
            none_follows = 0  # symbols that a clause excludes
            ending = [literal for literal in clause if literal < 0 and self._places.may_be_last(-literal)]
            for literal in ending:
                none_follows |= self._places.mask(-literal)
            implied = {
                literal
                for literal in clause.difference(ending)
                if literal < 0
                and not self._places.is_composite(-literal)
                and not self._places.mask(-literal) & ~none_follows
            }
            clauses.append(clause - implied)
        return any_of([frozenset(clauses)])

    def _numbered(self, state: _State, first: int) -> _Edges:
        """What some symbols lead to, by number."""
        found: dict[int, int] = {}
        for target, symbols in self._edges_of(state).items():
            if (symbols := symbols & first) and (number := self._number(target)) != _NEVER:
                found[number] = found.get(number, 0) | symbols
        return frozenset((symbols, number) for number, symbols in found.items())

    def _edges_of(self, state: _State) -> dict[_State, int]:
        """The conditions after a symbol, except for *never*, and the symbols that lead there."""
        if state not in self._edges:
            places = self._places
            condition, past = state
            found: dict[_State, int] = {}
            for symbols in places.classes(atoms(condition), past):
                symbol = symbols.bit_length() - 1
                after = places.past_after(past, symbol)
                left = places.condition_after(condition, symbol, after)
                if left != NEVER:
                    found[left, after] = found.get((left, after), 0) | symbols
            self._edges[state] = found
        return self._edges[state]

    # ---- numbers ----

    def _number(self, start: _State) -> int:
        if start[0] == ALWAYS:
            return _ALWAYS
        if start not in self._numbers:
            order, met = [start], {start}
            for state in order:
                self._watch.check()
                for target in self._edges_of(state):
                    if target not in met and target not in self._numbers and target[0] != ALWAYS:
                        met.add(target)
                        order.append(target)
                if len(order) > MOST_STATES:
                    self._numbers[start] = self._new()
                    return self._numbers[start]
            self._number_all(order)
        return self._numbers[start]

    def _number_all(self, states: Sequence[_State]) -> None:
        """States that lead to numbered ones and to each other."""
        met = set(states)
        leading = {state: [target for target in self._edges[state] if target in met] for state in states}
        groups: dict[_State, tuple[_State, ...]] = {state: (state,) for state in states}
        for component in components(leading):
            groups.update(dict.fromkeys(component, tuple(component)))
        graph: dict[tuple[_State, ...], set[tuple[_State, ...]]] = {}
        for state, targets in leading.items():
            group = groups[state]
            graph.setdefault(group, set()).update(groups[target] for target in targets if target not in group)
        for group in TopologicalSorter(graph).static_order():
            self._number_group(group)

    def _number_group(self, group: Sequence[_State]) -> None:
        """States that lead to numbered ones, and, if they are in a cycle, to each other."""
        is_cycle = any(target in group for target in self._edges[group[0]])
        classes = self._least(group) if is_cycle else {}
        for state in group:
            form = self._form(state, classes) if is_cycle else self._unfolded(state)
            if form not in self._of_forms:
                self._of_forms[form] = self._new()
            self._numbers[state] = self._of_forms[form]
        for state in group if is_cycle else ():  # a condition before a cycle may say the same as one in it
            self._of_forms.setdefault(self._unfolded(state), self._numbers[state])

    def _new(self) -> int:
        self._count += 1
        return self._count - 1

    def _unfolded(self, state: _State) -> object:
        return self._places.holds_at_end(state[0]), self._numbered(state, self._places.alphabet.everything)

    def _least(self, group: Sequence[_State]) -> dict[_State, int]:
        """The classes of states in a cycle that say the same."""
        classes = dict.fromkeys(group, 0)
        size = 0
        while (found := len(set(classes.values()))) > size:  # Moore: split until nothing splits
            self._watch.check()
            size = found
            seen: dict[object, int] = {}
            classes = {state: seen.setdefault(self._seen(state, classes), len(seen)) for state in group}
        return classes

    def _seen(self, state: _State, classes: Mapping[_State, int]) -> tuple[bool, _Mixed]:
        """Whether a condition holds at the end, and what follows it: classes of its cycle, and numbers."""
        found: dict[tuple[bool, int], int] = {}
        for target, symbols in self._edges_of(state).items():
            is_inside = target in classes
            key = is_inside, classes[target] if is_inside else self._number(target)
            if key != (False, _NEVER):
                found[key] = found.get(key, 0) | symbols
        return self._places.holds_at_end(state[0]), frozenset((*key, mask) for key, mask in found.items())

    def _form(self, start: _State, classes: Mapping[_State, int]) -> object:
        """The least automaton of a state in a cycle, numbered from it; that of *never* and *always*."""
        of_class = {found: state for state, found in classes.items()}
        numbers = {classes[start]: 0}
        form = []
        for found in (order := [classes[start]]):
            holds, following = self._seen(of_class[found], classes)
            edges = []
            for is_inside, target, mask in sorted(following, key=lambda edge: edge[2] & -edge[2]):
                if is_inside and target not in numbers:
                    numbers[target] = len(order)
                    order.append(target)
                edges.append((is_inside, numbers[target] if is_inside else target, mask))
            form.append((holds, tuple(edges)))
        outside = {number for _, edges in form for is_inside, number, _ in edges if not is_inside}
        if not outside and not any(holds for holds, _ in form):
            return False, frozenset()
        everything = self._places.alphabet.everything
        if outside <= {_ALWAYS} and all(
            holds and sum(mask for *_, mask in edges) == everything for holds, edges in form
        ):
            return True, frozenset([(everything, _ALWAYS)])
        return tuple(form)
