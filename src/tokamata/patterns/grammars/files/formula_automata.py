"""Terminals with operators as automata over characters, for lexers.

Problem.  A lexer needs to know where a terminal may end and whether it could have read on.  For an expression
the threads of ``re.match`` say so (:mod:`.threads`); ``&``, ``~`` and ``-`` have no threads.
How.  Each formula becomes a deterministic automaton, from the leaves up: sets of places of an expression,
sets of states of the parts of a sequence or a repetition, pairs of states for ``&`` and ``-``, and a state
for "no text" for ``~``.  States that lead to no end are left out.  A lexer takes the longest text.

Worked example.  ``/a+/ - "aa"``: pairs (a+, "aa") after one, two and three letters: (1, 1) accepts, (1, 2)
does not, (1, none) accepts and stays.

Source.  Rabin and Scott, Finite automata and their decision problems, 1959.
Cost.  Exponential in the formula at worst; :data:`MOST_STATES` bounds it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from tokamata.errors import LimitExceeded, UnsupportedPatternError
from tokamata.patterns.grammars.files.formulas import Formula, postorder
from tokamata.patterns.grammars.lexer.threads import END, Places
from tokamata.patterns.grammars.rules.rule_trees import Automaton, Edges, Pattern
from tokamata.patterns.unicode import Ranges
from tokamata.resources.limits import Watch

__all__ = ["MOST_STATES", "automaton_of"]

MOST_STATES = 20_000  # of a terminal with operators
_CHARACTERS: Ranges = ((0, 0xD7FF), (0xE000, 0x10FFFF))
_Set: TypeAlias = frozenset[tuple[int, int]]  # of states of parts: the part, or the round, and its state


class _Machine(NamedTuple):
    """An automaton that is not explored yet; its states are of any kind."""

    start: Hashable
    ranges: Callable[[Hashable], Iterable[tuple[int, int]]]  # a state behaves alike within each
    after: Callable[[Hashable, int], Hashable]  # ``None``: no text goes on
    accepts: Callable[[Hashable], bool]


def automaton_of(root: Formula, leaves: Mapping[str, Pattern], watch: Watch) -> Automaton:
    """The automaton of a formula.

    Args:
        root: the formula.
        leaves: how lexers read its leaves, by their sources.
        watch: stops the work.

    Raises:
        UnsupportedPatternError: a leaf has an assertion.
        LimitExceeded, Cancelled: it has too many states, or the work was stopped.
    """
    made: dict[int, Automaton] = {}
    for formula in postorder(root):
        known = leaves[formula.source].automaton if formula.operator == "leaf" else None
        parts = [made[id(child)] for child in formula.children]
        made[id(formula)] = known or _explored(_machine(formula, parts, leaves, watch), watch)
    return made[id(root)]


def _machine(
    formula: Formula, parts: list[Automaton], leaves: Mapping[str, Pattern], watch: Watch
) -> _Machine:
    operator = formula.operator
    if operator == "leaf":
        return _of_expression(leaves[formula.source], watch)
    if operator == "substring":
        return _of_substrings(formula.chunks)
    if operator == "sequence":
        return _of_parts(
            parts, 0, len(parts) - 1, lambda index: index + 1 if index + 1 < len(parts) else None
        )
    if operator == "choice":
        return _of_choice(parts)
    if operator == "repeat":
        return _of_rounds(parts[0], *formula.bounds)
    return _of_pairs(parts, operator)


def _explored(machine: _Machine, watch: Watch) -> Automaton:
    numbers = {machine.start: 0}
    order = [machine.start]
    edges: list[dict[int, list[tuple[int, int]]]] = []
    while len(edges) < len(order):
        state = order[len(edges)]
        leaving: dict[int, list[tuple[int, int]]] = {}
        for low, high in _classes(machine.ranges(state)):
            watch.check()
            target = machine.after(state, low)
            if target is None:
                continue
            if target not in numbers:
                if len(numbers) >= MOST_STATES:
                    raise LimitExceeded("states", MOST_STATES, is_fixed=True)
                numbers[target] = len(numbers)
                order.append(target)
            leaving.setdefault(numbers[target], []).append((low, high))
        edges.append(leaving)
    accepting = {numbers[state] for state in order if machine.accepts(state)}
    return _trimmed(edges, accepting)


def _trimmed(edges: list[dict[int, list[tuple[int, int]]]], accepting: set[int]) -> Automaton:
    """Without the states that lead to no end; the first state stays."""
    sources: dict[int, list[int]] = {}
    for source, targets in enumerate(edges):
        for target in targets:
            sources.setdefault(target, []).append(source)
    live, open_states = set(accepting), list(accepting)
    while open_states:
        for source in sources.get(open_states.pop(), ()):
            if source not in live:
                live.add(source)
                open_states.append(source)
    kept = sorted(live | {0})
    numbers = {state: number for number, state in enumerate(kept)}
    left: list[Edges] = [
        {numbers[target]: tuple(ranges) for target, ranges in edges[state].items() if target in live}
        for state in kept
    ]
    return Automaton(tuple(left), frozenset(numbers[state] for state in accepting))


def _classes(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges that overlap, cut at each other's borders."""
    borders: dict[int, int] = {}
    for low, high in ranges:
        borders[low] = borders.get(low, 0) + 1
        borders[high + 1] = borders.get(high + 1, 0) - 1
    found, depth = [], 0
    places = sorted(borders)
    for begin, after in pairwise(places):
        depth += borders[begin]
        if depth > 0:
            found.append((begin, after - 1))
    return found


# ---- leaves ----


def _of_expression(pattern: Pattern, watch: Watch) -> _Machine:
    places = Places(watch)
    begun = places.add(pattern.regex, pattern.flags)
    if begun.sees_around:
        reason = "an assertion in an operand of & or - or ~"
        raise UnsupportedPatternError(pattern.regex, 0, reason, "give it a terminal of its own")
    past = places.start
    alphabet = places.alphabet

    def after(state: Hashable, character: int) -> frozenset[int] | None:
        assert isinstance(state, frozenset)
        symbol = alphabet.symbol(character)
        found = frozenset(
            thread.place for place in state if place != END for thread in places.after(place, symbol, past)
        )
        return found or None

    return _Machine(
        frozenset(thread.place for thread in places.reached(begun.place, past)),
        lambda state: [pair for place in state for pair in alphabet.ranges(places.mask(place))],  # type: ignore[attr-defined]
        after,
        lambda state: END in state,  # type: ignore[operator]
    )


def _of_substrings(chunks: tuple[str, ...]) -> _Machine:
    """States are sets of positions of the chunks' text."""
    text = "".join(chunks)
    ends = [0]
    for chunk in chunks:
        ends.append(ends[-1] + len(chunk))
    cuts = frozenset(ends)

    def after(state: Hashable, character: int) -> frozenset[int] | None:
        assert isinstance(state, frozenset)
        letter = chr(character)
        return frozenset(at + 1 for at in state if at < len(text) and text[at] == letter) or None

    return _Machine(
        cuts,
        lambda state: {(ord(text[at]), ord(text[at])) for at in state if at < len(text)},  # type: ignore[attr-defined]
        after,
        lambda state: not cuts.isdisjoint(state),  # type: ignore[arg-type]
    )


# ---- parts one after another ----


def _of_parts(
    parts: list[Automaton], first: int, last: int, next_of: Callable[[int], int | None]
) -> _Machine:
    """States are sets of pairs: a part, and a state of it.

    ``next_of``: the part that follows one; ``None`` if none does.
    """

    def closed(pairs: Iterable[tuple[int, int]]) -> _Set:
        found, open_pairs = set(), list(pairs)
        while open_pairs:
            pair = open_pairs.pop()
            if pair in found:
                continue
            found.add(pair)
            following = next_of(pair[0])
            if following is not None and pair[1] in parts[pair[0]].accepting:
                open_pairs.append((following, 0))
        return frozenset(found)

    def after(state: Hashable, character: int) -> _Set | None:
        return closed(_moved(parts, state, character)) or None

    return _Machine(
        closed([(first, 0)] if parts else [(-1, 0)]),
        lambda state: _ranges_of(parts, state),
        after,
        lambda state: any(
            index == last and (index < 0 or at in parts[index].accepting)
            for index, at in state  # type: ignore[attr-defined]
        ),
    )


def _of_choice(parts: list[Automaton]) -> _Machine:
    return _Machine(
        frozenset((index, 0) for index in range(len(parts))),
        lambda state: _ranges_of(parts, state),
        lambda state, character: frozenset(_moved(parts, state, character)) or None,
        lambda state: any(at in parts[index].accepting for index, at in state),  # type: ignore[attr-defined]
    )


def _of_rounds(body: Automaton, minimum: int, maximum: int | None) -> _Machine:
    """The body several times; the rounds are parts, and the last one repeats if there is no bound."""
    rounds = max(minimum, 1) if maximum is None else maximum
    if rounds == 0:
        return _of_parts([], 0, -1, lambda index: None)
    if rounds > MOST_STATES:
        raise LimitExceeded("states", MOST_STATES, is_fixed=True)
    last = rounds - 1

    def next_of(index: int) -> int | None:
        return index + 1 if index < last else last if maximum is None else None

    inner = _of_parts([body] * rounds, 0, last, next_of)
    start = inner.start

    def accepts(state: Hashable) -> bool:
        assert isinstance(state, frozenset)
        return any(index >= minimum - 1 and at in body.accepting for index, at in state) or (
            minimum == 0 and state is start
        )

    return inner._replace(accepts=accepts)


def _moved(parts: list[Automaton], state: Hashable, character: int) -> Iterable[tuple[int, int]]:
    assert isinstance(state, frozenset)
    for index, at in state:
        if index >= 0 and (target := parts[index].after(at, character)) is not None:
            yield index, target


def _ranges_of(parts: list[Automaton], state: Hashable) -> Iterable[tuple[int, int]]:
    assert isinstance(state, frozenset)
    for index, at in state:
        if index >= 0:
            for ranges in parts[index].edges[at].values():
                yield from ranges


# ---- operators ----


def _of_pairs(parts: list[Automaton], operator: str) -> _Machine:
    """States are tuples of a state of each part; ``None``: the part has no such text."""

    def after(state: Hashable, character: int) -> tuple[int | None, ...] | None:
        assert isinstance(state, tuple)
        found = tuple(
            None if at is None else part.after(at, character) for part, at in zip(parts, state, strict=True)
        )
        is_over = found[0] is None and operator != "not"
        return None if is_over or (operator == "and" and found[1] is None) else found

    def accepts(state: Hashable) -> bool:
        assert isinstance(state, tuple)
        in_parts = [at is not None and at in part.accepting for part, at in zip(parts, state, strict=True)]
        if operator == "and":
            return all(in_parts)
        return not in_parts[0] if operator == "not" else in_parts[0] and not in_parts[1]

    def ranges(state: Hashable) -> list[tuple[int, int]]:
        assert isinstance(state, tuple)
        found = [
            pair
            for part, at in zip(parts, state, strict=True)
            if at is not None
            for own in part.edges[at].values()
            for pair in own
        ]
        return [*found, *_CHARACTERS] if operator == "not" else found

    return _Machine((0,) * len(parts), ranges, after, accepts)
