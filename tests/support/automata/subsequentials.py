"""What tests of subsequential transducers share: machines, all and random ones, and their oracles.

The oracles follow the definitions, one transition at a time, and pynini.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tests.support.automata.machines import pynini, to_pynini
from tokamata.automata import BYTE_NAMES, EPSILON, Acceptor, SubsequentialTransducer, Transducer

Word = tuple[int, ...]
Function = dict[Word, Word]
DIGITS = b"0123456789"
MINUS, COMMA, POINT = b"-,."


def separators() -> SubsequentialTransducer:
    """Appendix B of 004: separators between digits are dropped, and a point at the end gets a zero."""
    arcs = [(state, digit, [digit], 1) for state in (0, 1, 2) for digit in DIGITS]
    arcs += [(3, digit, [POINT, digit], 1) for digit in DIGITS]
    arcs += [(0, MINUS, [MINUS], 0), (1, COMMA, [], 2), (1, POINT, [], 3)]
    return SubsequentialTransducer.from_transitions(
        arcs, {1: "", 3: ".0"}, input_names=BYTE_NAMES, output_names=BYTE_NAMES
    )


def signed_decimals() -> Acceptor:
    """The acceptor of appendix B, ``-?[0-9]+(\\.[0-9]+)?``."""
    arcs = [(0, MINUS, 1), (2, POINT, 3)]
    arcs += [(s, digit, 2) for s in (0, 1, 2) for digit in DIGITS]
    arcs += [(s, digit, 4) for s in (3, 4) for digit in DIGITS]
    return Acceptor.from_transitions(arcs, [2, 4], names=BYTE_NAMES)


def random_subsequential(draw: random.Random, most: int = 5, symbols: int = 2) -> SubsequentialTransducer:
    """Up to ``most`` states; outputs of up to three symbols, often alike; many are not trim, some empty."""
    states = draw.randint(1, most)

    def output() -> Word:
        return tuple(draw.choice([0, 0, 0, 1]) for _ in range(draw.choice([0, 0, 1, 1, 2, 3])))

    arcs = [
        (state, symbol, output(), draw.randrange(states))
        for state in range(states)
        for symbol in range(symbols)
        if draw.random() < 0.8
    ]
    ends = {state: output() for state in range(states) if draw.random() < 0.5}
    return SubsequentialTransducer.from_transitions(arcs, ends, draw.randrange(states), states, output())


def all_subsequentials() -> Iterator[SubsequentialTransducer]:
    """All of two states over one input symbol, with outputs of ε, 0 and 1 and an empty initial output."""
    outputs: list[Word] = [(), (0,), (1,)]
    arcs: list[tuple[Word, int] | None] = [None, *itertools.product(outputs, (0, 1))]
    ends: list[Word | None] = [None, *outputs]
    for first, second in itertools.product(arcs, arcs):
        for final in itertools.product(ends, ends):
            yield SubsequentialTransducer.from_transitions(
                [(state, 0, *arc) for state, arc in enumerate((first, second)) if arc is not None],
                {state: output for state, output in enumerate(final) if output is not None},
                states=2,
            )


def all_transducers(arcs: Sequence[tuple[int, int, int, int]], most: int) -> Iterator[Transducer]:
    """Every transducer of two states with at most so many of these transitions."""
    for count in range(most + 1):
        for chosen in itertools.combinations(arcs, count):
            for accepting in ([0], [1], [0, 1]):
                yield Transducer.from_transitions(chosen, accepting, states=2)


def function_of(transducer: SubsequentialTransducer, strings: Iterable[Word]) -> Function:
    """Its values by definition: transitions are followed one at a time."""
    found = {}
    for string in strings:
        state, output = transducer.start, list(transducer.initial_output)
        for symbol in string:
            arcs = [arc for arc in transducer.transitions if arc[:2] == (state, symbol)]
            if not arcs:
                break
            ((_, _, written, state),) = arcs
            output += written
        else:
            if state in transducer.accepting:
                found[string] = (*output, *transducer.final_outputs[state])
    return found


def runs_of(transducer: Transducer, string: Word, silent: int) -> list[list[tuple[int, int, int, int]]]:
    """The accepting runs with at most so many transitions that read nothing."""
    arcs = [[arc for arc in transducer.transitions if arc[0] == state] for state in range(transducer.states)]
    found: list[list[tuple[int, int, int, int]]] = []
    pending: list[tuple[int, int, int, list[tuple[int, int, int, int]]]] = [(transducer.start, 0, silent, [])]
    while pending:
        state, read, left, run = pending.pop()
        if read == len(string) and state in transducer.accepting:
            found.append(run)
        for arc in arcs[state]:
            if arc[1] == EPSILON and left:
                pending.append((arc[3], read, left - 1, [*run, arc]))
            elif read < len(string) and arc[1] == string[read]:
                pending.append((arc[3], read + 1, left, [*run, arc]))
    return found


def outputs_of(transducer: Transducer, string: Word, longest: int) -> set[Word]:
    """Its outputs of at most so many symbols for an input, by definition."""
    arcs = [[arc for arc in transducer.transitions if arc[0] == state] for state in range(transducer.states)]
    pending: list[tuple[int, int, Word]] = [(transducer.start, 0, ())]
    reached = set(pending)
    for state, read, written in pending:  # grows as places are found
        for _, symbol, output, target in arcs[state]:
            after = written if output == EPSILON else (*written, output)
            if symbol == EPSILON:
                place = target, read, after
            elif read < len(string) and string[read] == symbol:
                place = target, read + 1, after
            else:
                continue
            if len(after) <= longest and place not in reached:
                reached.add(place)
                pending.append(place)
    return {w for state, read, w in reached if read == len(string) and state in transducer.accepting}


def written_by(run: Iterable[tuple[int, int, int, int]]) -> Word:
    """What a run writes."""
    return tuple(written for _, _, written, _ in run if written != EPSILON)


def read_by(run: Iterable[tuple[int, int, int, int]]) -> Word:
    """What a run reads."""
    return tuple(read for _, read, _, _ in run if read != EPSILON)


def pynini_outputs(fst: Any, string: Word) -> set[Word]:
    """All outputs for an input, by pynini; there are finitely many."""
    module = pynini()
    one = to_pynini(Acceptor.from_strings([string]))
    outputs = module.compose(one, fst.copy().arcsort("ilabel")).project("output").rmepsilon()
    if outputs.num_states() == 0:
        return set()
    outputs = module.determinize(outputs).minimize()
    found: set[Word] = set()
    pending: list[tuple[int, Word]] = [(outputs.start(), ())]
    zero = module.Weight.zero(outputs.weight_type())
    while pending:
        state, written = pending.pop()
        if outputs.final(state) != zero:
            found.add(written)
        pending += [(arc.nextstate, (*written, arc.ilabel - 1)) for arc in outputs.arcs(state)]
    return found


def transducer_of(fst: Any) -> Transducer:
    """A transducer of pynini as one of ours."""
    zero = pynini().Weight.zero(fst.weight_type())
    arcs = [(s, arc.ilabel - 1, arc.olabel - 1, arc.nextstate) for s in fst.states() for arc in fst.arcs(s)]
    ends = [state for state in fst.states() if fst.final(state) != zero]
    return Transducer.from_transitions(arcs, ends, max(fst.start(), 0), max(fst.num_states(), 1))
