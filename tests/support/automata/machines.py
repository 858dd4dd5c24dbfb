"""What tests of machines share: random ones, their strings by definition, and pynini's view of them.

pynini wraps OpenFst.  Labels there are symbols plus one, since its 0 is epsilon; machines go over by
its own calls, not by text, so that the reading and writing of text has an oracle too.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from tokamata.automata import EPSILON, Acceptor, Transducer

REASON = "pynini, the oracle of these tests, comes with the group test; it has wheels for Linux on x86-64"
EMPTY = 1  # our states of an empty language, of which pynini has none


def pynini() -> Any:
    """The module, or a skip that says why."""
    return pytest.importorskip("pynini", reason=REASON)


def random_acceptor(draw: random.Random, most: int = 7, symbols: int = 3, epsilon: float = 0.2) -> Acceptor:
    """Up to ``most`` states over few symbols; many are not trim, some accept nothing."""
    states = draw.randint(1, most)
    arcs = [
        (
            draw.randrange(states),
            EPSILON if draw.random() < epsilon else draw.randrange(symbols),
            draw.randrange(states),
        )
        for _ in range(draw.randint(0, 2 * states + 1))
    ]
    accepting = [state for state in range(states) if draw.random() < 0.3]
    return Acceptor.from_transitions(arcs, accepting, draw.randrange(states), states)


def random_transducer(
    draw: random.Random, most: int = 5, symbols: int = 2, epsilon: float = 0.3
) -> Transducer:
    """The same with outputs; either side may be epsilon, or both."""
    states = draw.randint(1, most)

    def label() -> int:
        return EPSILON if draw.random() < epsilon else draw.randrange(symbols)

    arcs = [
        (draw.randrange(states), label(), label(), draw.randrange(states))
        for _ in range(draw.randint(0, 2 * states))
    ]
    accepting = [state for state in range(states) if draw.random() < 0.4]
    return Transducer.from_transitions(arcs, accepting, draw.randrange(states), states)


def all_strings(symbols: int, longest: int) -> list[tuple[int, ...]]:
    """Every string over ``0 .. symbols - 1`` of at most ``longest`` symbols, shorter ones first."""
    return [s for n in range(longest + 1) for s in itertools.product(range(symbols), repeat=n)]


def language(acceptor: Acceptor, strings: Iterable[Sequence[int]]) -> set[tuple[int, ...]]:
    """Which of ``strings`` are accepted, by walking transitions one at a time."""
    return {tuple(string) for string in strings if _walk(acceptor, string)}


def _walk(acceptor: Acceptor, string: Sequence[int]) -> bool:
    places = {(acceptor.start, 0)}
    pending = list(places)
    while pending:
        state, read = pending.pop()
        if read == len(string) and state in acceptor.accepting:
            return True
        for source, symbol, target in acceptor.transitions:
            if source != state:
                continue
            if symbol == EPSILON:
                place = (target, read)
            elif read < len(string) and string[read] == symbol:
                place = (target, read + 1)
            else:
                continue
            if place not in places:
                places.add(place)
                pending.append(place)
    return False


Relation = set[tuple[tuple[int, ...], tuple[int, ...]]]


def relation(transducer: Transducer, longest: int) -> Relation:
    """The pairs of strings of at most ``longest`` symbols each, by walking transitions."""
    start = (transducer.start, (), ())
    places: set[tuple[int, tuple[int, ...], tuple[int, ...]]] = {start}
    pending = [start]
    while pending:
        state, read, written = pending.pop()
        for source, input_, output, target in transducer.transitions:
            if source != state:
                continue
            place = (
                target,
                read if input_ == EPSILON else (*read, input_),
                written if output == EPSILON else (*written, output),
            )
            if max(len(place[1]), len(place[2])) <= longest and place not in places:
                places.add(place)
                pending.append(place)
    return {(read, written) for state, read, written in places if state in transducer.accepting}


def to_pynini(machine: Acceptor | Transducer) -> Any:
    """The same machine there, transition by transition."""
    module = pynini()
    fst = module.Fst()
    fst.add_states(machine.states)
    fst.set_start(machine.start)
    for state in machine.accepting:
        fst.set_final(state)
    for source, row in enumerate(machine.rows):
        for label, target in row:
            read, written = (label, label) if isinstance(label, int) else label
            fst.add_arc(
                source, module.Arc(read + 1, written + 1, module.Weight.one(fst.weight_type()), target)
            )
    return fst


def smallest(fst: Any) -> Any:
    """pynini's smallest deterministic acceptor."""
    module = pynini()
    fst = module.determinize(fst.copy().rmepsilon())
    return fst.minimize().connect()


def fewest_symbols(fst: Any) -> int:
    """The length of a shortest string, by pynini: each transition weighs 1, and so does accepting."""
    module = pynini()
    weighed = module.arcmap(smallest(fst), map_type="times", weight=1.0)
    return round(float(module.shortestdistance(weighed, reverse=True)[weighed.start()])) - 1


def from_pynini(fst: Any) -> Acceptor:
    """An acceptor of pynini as one of ours, with the same numbers of states."""
    zero = pynini().Weight.zero(fst.weight_type())
    if fst.num_states() == 0:
        return Acceptor.empty()
    arcs = [(s, arc.ilabel - 1, arc.nextstate) for s in fst.states() for arc in fst.arcs(s)]
    accepting = [state for state in fst.states() if fst.final(state) != zero]
    return Acceptor.from_transitions(arcs, accepting, fst.start(), fst.num_states())


def same_as_pynini(ours: Acceptor, theirs: Any) -> bool:
    """Whether pynini finds that both accept the same strings."""
    return bool(pynini().equivalent(smallest(to_pynini(ours)), smallest(theirs)))


def isomorphic(first: Acceptor, second: Acceptor) -> bool:
    """Whether two deterministic acceptors are the same but for the numbers of their states."""
    if first.states != second.states or first.size != second.size:
        return False
    other = {first.start: second.start}
    pending = [first.start]
    while pending:
        state = pending.pop()
        rows = dict(first.rows[state]), dict(second.rows[other[state]])
        if rows[0].keys() != rows[1].keys():
            return False
        for symbol, target in rows[0].items():
            if target not in other:
                other[target] = rows[1][symbol]
                pending.append(target)
            elif other[target] != rows[1][symbol]:
                return False
    images = list(other.values())
    return (
        len(images) == first.states == len(set(images))
        and {other[state] for state in first.accepting} == second.accepting
    )
