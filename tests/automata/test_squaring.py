"""Functionality, ambiguity, the twinning property and determinization, by definition and by pynini."""

from __future__ import annotations

import itertools
import random

import pytest

import tokamata as tk
from tests.support.automata.machines import (
    all_strings,
    language,
    pynini,
    random_acceptor,
    random_transducer,
    to_pynini,
)
from tests.support.automata.subsequentials import (
    Word,
    all_transducers,
    function_of,
    outputs_of,
    pynini_outputs,
    random_subsequential,
    read_by,
    runs_of,
    transducer_of,
    written_by,
)
from tokamata.automata import (
    BYTE_NAMES,
    EPSILON,
    Acceptor,
    Ambiguity,
    Siblings,
    Transducer,
    complement,
    compose,
    determinize,
    has_twinning_property,
    invert,
    is_empty,
    is_functional,
    minimize,
    project,
    trim,
    two_outputs,
    two_runs,
    union,
    untwinned,
)
from tokamata.errors import LimitExceeded, NotSubsequentialError

SHORT = all_strings(2, 3)
# Transitions of two states over one input symbol.
READING = list(itertools.product((0, 1), (0,), (EPSILON, 0, 1), (0, 1)))
ANY = list(itertools.product((0, 1), (EPSILON, 0), (EPSILON, 0, 1), (0, 1)))
a, b, c, d, x, y, z = b"abcdxyz"


def bytewise(*arcs: tuple[int, int, int, int], accepting: tuple[int, ...]) -> Transducer:
    return Transducer.from_transitions(arcs, accepting, input_names=BYTE_NAMES, output_names=BYTE_NAMES)


# ---- one machine --------------------------------------------------------------------------------


def check_runs(found: Ambiguity, machine: Transducer) -> None:
    arcs = set(machine.transitions)
    for run, output in zip(found.runs, found.outputs, strict=True):
        assert read_by(run) == found.string
        assert written_by(run) == output
        assert set(run) <= arcs
        states = [machine.start, *(arc[3] for arc in run)]
        assert [arc[0] for arc in run] == states[:-1]
        assert states[-1] in machine.accepting


def check_ambiguity(machine: Transducer, strings: list[Word], silent: int) -> None:
    """The witness is the first input with two outputs, or runs, by enumeration."""
    outputs, runs = two_outputs(machine), two_runs(machine)
    assert is_functional(machine) == (outputs is None)
    if outputs is not None:
        check_runs(outputs, machine)
        assert outputs.outputs[0] != outputs.outputs[1]
        assert runs is not None
    if runs is not None:
        check_runs(runs, machine)
        assert runs.runs[0] != runs.runs[1]
    for string in strings:
        enumerated = runs_of(machine, string, silent)
        if outputs is None or key_of(string) < key_of(outputs.string):
            assert len({written_by(run) for run in enumerated}) <= 1
        if runs is None or key_of(string) < key_of(runs.string):
            assert len(enumerated) <= 1


def key_of(string: Word) -> tuple[int, Word]:
    return len(string), string


def ahead(outputs: tuple[Word, Word]) -> tuple[Word, Word]:
    """The element u⁻¹v of the free group, reduced: what is left of u and of v without their common prefix."""
    u, v = outputs
    while u and v and u[0] == v[0]:
        u, v = u[1:], v[1:]
    return u, v


def changes(found: Siblings) -> bool:
    """By definition: (u u')⁻¹ v v' is another element than u⁻¹ v; a common factor is cancelled."""
    more = tuple(u + v for u, v in zip(found.outputs, found.loop_outputs, strict=True))
    return ahead(found.outputs) != ahead((more[0], more[1]))


def check_twinning(machine: Transducer) -> None:
    """The witness is one: its strings lead where it says, and its loop changes the delay."""
    found = untwinned(machine)
    assert has_twinning_property(machine) == (found is None)
    if found is None:
        return
    assert changes(found)
    for state, output, more in zip(found.states, found.outputs, found.loop_outputs, strict=True):
        assert language_from(machine, state)
        for source, string, written in (
            (machine.start, found.string, output),
            (state, found.loop, more),
        ):
            between = Transducer(machine.rows, frozenset([state]), source)
            assert written in outputs_of(between, string, len(written))


def language_from(machine: Transducer, state: int) -> bool:
    """Whether acceptance can be reached from a state."""
    return not is_empty(project(Transducer(machine.rows, machine.accepting, state), "input"))


def check_determinizing(machine: Transducer, strings: list[Word]) -> None:
    """If both properties hold, the construction ends, with the same function; else it has their witness."""
    outputs, siblings = two_outputs(machine), untwinned(machine)
    if outputs is not None or siblings is not None:
        with pytest.raises(NotSubsequentialError) as caught:
            determinize(machine)
        error = caught.value
        if outputs is not None:
            assert (error.string, error.outputs, error.loop) == (outputs.string, outputs.outputs, ())
        elif siblings is not None:
            assert (error.string, error.outputs) == (siblings.string, siblings.outputs)
            assert (error.loop, error.loop_outputs) == (siblings.loop, siblings.loop_outputs)
        return
    deterministic = determinize(machine, tk.Limits(states=2000))
    function = function_of(deterministic, strings)
    useful = trim(machine)
    for string in strings:
        written = outputs_of(useful, string, longest=20)
        assert written == ({function[string]} if string in function else set())
    assert minimize(determinize(deterministic.to_transducer())) == minimize(deterministic)


def test_all_transducers_of_two_states() -> None:
    strings = [(0,) * length for length in range(4)]
    count = 0
    for machine in itertools.chain(all_transducers(ANY, 2), all_transducers(READING, 3)):
        count += 1
        check_ambiguity(machine, strings, silent=3)
        check_twinning(machine)
        check_determinizing(machine, strings)
    assert count == 3 * (1 + 24 + 276) + 3 * (1 + 12 + 66 + 220)


def test_random_transducers() -> None:
    draw = random.Random(60)
    count = 0
    while count < 150:
        machine = random_transducer(draw, most=4, epsilon=draw.choice([0.0, 0.2]))
        if trim(machine).size < 2:
            continue
        count += 1
        check_ambiguity(machine, SHORT, silent=3)
        check_twinning(machine)
        check_determinizing(machine, SHORT)


def test_a_function_that_the_end_of_the_input_decides() -> None:
    """One function in a language and another one outside: not deterministic, and known by construction."""
    draw = random.Random(66)
    strings = all_strings(2, 5)
    kinds = {True: 0, False: 0}
    while min(kinds.values()) < 15:
        chosen = project(random_subsequential(draw, most=4), "input")
        others = complement(chosen, (0, 1))
        first, second = (random_subsequential(draw, most=3) for _ in range(2))
        machine = union(compose(chosen, first).to_transducer(), compose(others, second).to_transducer())
        accepted = language(chosen, strings)
        expected = {x: y for x, y in function_of(first, strings).items() if x in accepted}
        expected |= {x: y for x, y in function_of(second, strings).items() if x not in accepted}
        assert is_functional(machine)
        assert two_runs(machine) is None
        check_twinning(machine)
        is_twinned = has_twinning_property(machine)
        kinds[is_twinned] += 1
        if is_twinned:
            assert function_of(determinize(machine), strings) == expected


def walks(
    machine: Transducer, source: tuple[int, int], steps: int
) -> set[tuple[tuple[int, int], Word, Word]]:
    """The pairs that two runs on one input reach from a pair in so many steps, with what they write."""
    arcs = list(machine.transitions)
    found = {(source, (), ())}
    for _ in range(steps):
        more = set()
        for (p, q), u, v in found:
            for first in (arc for arc in arcs if arc[0] == p):
                if first[1] == EPSILON:
                    more.add(((first[3], q), u + written_by([first]), v))
                for second in (arc for arc in arcs if arc[0] == q and arc[1] == first[1] != EPSILON):
                    more.add(((first[3], second[3]), u + written_by([first]), v + written_by([second])))
            for second in (arc for arc in arcs if arc[0] == q and arc[1] == EPSILON):
                more.add(((p, second[3]), u, v + written_by([second])))
        found |= more
    return found


def test_siblings_that_are_not_twins_are_found() -> None:
    """Also in relations: all pairs of runs, and all loops after them, of a few steps each."""
    draw = random.Random(61)
    twinned = 0
    while twinned < 60:
        machine = trim(random_transducer(draw, most=3, symbols=draw.choice([1, 2]), epsilon=0.25))
        if machine.size < 3 or untwinned(machine) is not None:
            continue
        twinned += 1
        loops = {}
        for pair, u, v in walks(machine, (machine.start, machine.start), 3):
            if pair not in loops:
                loops[pair] = [found[1:] for found in walks(machine, pair, 3) if found[0] == pair]
            for more in loops[pair]:
                assert not changes(Siblings(pair, (), (u, v), (), more))


# ---- known machines -----------------------------------------------------------------------------


def test_the_example_that_is_not_subsequential() -> None:
    """aⁿb becomes xⁿ and aⁿc becomes yⁿ: n symbols would be held back."""
    machine = bytewise(
        (0, a, x, 1),
        (0, a, y, 2),
        (1, a, x, 1),
        (2, a, y, 2),
        (1, b, EPSILON, 3),
        (2, c, EPSILON, 3),
        accepting=(3,),
    )
    assert is_functional(machine)
    assert two_runs(machine) is None
    found = untwinned(machine)
    assert found is not None
    assert (found.string, found.loop) == ((a,), (a,))
    with pytest.raises(
        NotSubsequentialError, match=r"'a' and repetitions of 'a', one run has written '[xy]'"
    ):
        determinize(machine)
    reverse = bytewise(
        (0, b, EPSILON, 1), (0, c, EPSILON, 2), (1, a, x, 1), (2, a, y, 2), accepting=(1, 2)
    )  # baⁿ and caⁿ: known from the first symbol on
    assert determinize(reverse).states == 3


def test_outputs_are_held_back_as_far_as_needed() -> None:
    """aaab becomes xxx, aaac becomes yyy."""
    arcs = [(0, a, x, 1), (1, a, x, 2), (2, a, x, 3), (0, a, y, 4), (4, a, y, 5), (5, a, y, 6)]
    machine = bytewise(*arcs, (3, b, EPSILON, 7), (6, c, EPSILON, 7), accepting=(7,))
    deterministic = determinize(machine)
    assert deterministic.states == 5
    assert [output for _, _, output, _ in deterministic.transitions] == [(), (), (), (x,) * 3, (y,) * 3]
    assert deterministic.input_names is BYTE_NAMES
    ends = bytewise((0, a, x, 1), (0, a, EPSILON, 2), (1, a, y, 0), (2, EPSILON, y, 2), accepting=())
    assert determinize(ends).states == 1
    final = bytewise((0, a, EPSILON, 1), (0, a, EPSILON, 2), (1, EPSILON, x, 3), (2, b, y, 3), accepting=(3,))
    assert determinize(final).final_outputs == ((), (x,), ())


def test_ambiguity_is_shortest_and_first() -> None:
    two = bytewise(
        (0, a, x, 0), (0, b, x, 1), (0, b, y, 1), (0, a, x, 2), (2, a, x, 1), (1, a, x, 1), accepting=(1,)
    )
    outputs, runs = two_outputs(two), two_runs(two)
    assert outputs is not None
    assert runs is not None
    assert (outputs.string, set(outputs.outputs)) == ((b,), {(x,), (y,)})
    assert runs.string == (b,)
    later = bytewise(
        (0, a, x, 1), (0, a, EPSILON, 2), (1, b, y, 3), (2, b, x, 4), (4, EPSILON, y, 3), accepting=(3,)
    )
    assert two_outputs(later) is None
    found = two_runs(later)
    assert found is not None
    assert (found.string, found.outputs) == ((a, b), ((x, y), (x, y)))
    with pytest.raises(NotSubsequentialError, match=r"the input 'b' has two outputs, '[xy]' and '[xy]'"):
        determinize(two)


@pytest.mark.parametrize(
    ("arcs", "accepting", "string"),
    [
        ([(0, EPSILON, 1)], [0, 1], ()),  # one run ends, and the other goes on
        ([(0, EPSILON, 0)], [0], ()),  # a loop that reads nothing
        ([(0, EPSILON, 1), (0, EPSILON, 2), (1, 5, 3), (2, 5, 3)], [3], (5,)),
        ([(0, EPSILON, 1), (0, 5, 2), (1, 5, 2)], [2], (5,)),
        ([(0, EPSILON, 1), (1, 5, 2), (2, EPSILON, 3)], [3], None),
        ([(0, 5, 1), (1, EPSILON, 2), (1, 6, 3), (2, 6, 3)], [3], (5, 6)),
        ([(0, 5, 1), (0, 5, 2), (1, 6, 3), (2, 7, 3)], [3], None),
    ],
)
def test_runs_that_read_nothing(
    arcs: list[tuple[int, int, int]], accepting: list[int], string: Word | None
) -> None:
    found = two_runs(Acceptor.from_transitions(arcs, accepting))
    assert (None if found is None else found.string) == string


def test_a_deterministic_acceptor_is_unambiguous() -> None:
    draw = random.Random(62)
    for _ in range(100):
        machine = random_acceptor(draw, epsilon=0)
        assert two_runs(determinize(machine)) is None
        assert two_outputs(machine) is None
        if machine.is_deterministic:
            assert two_runs(machine) is None


def test_tokenizations_are_ambiguous_and_detokenizing_is_a_function() -> None:
    tokens = tk.automata.detokenizer([b"a", b"b", b"ab"])
    assert is_functional(tokens)
    assert determinize(tokens).apply([2, 0]) == tuple(b"aba")
    found = two_outputs(invert(tokens))
    assert found is not None
    assert (found.string, set(found.outputs)) == (tuple(b"ab"), {(0, 1), (2,)})


# ---- pynini -------------------------------------------------------------------------------------


def test_pynini_determinizes_to_the_same_function() -> None:
    module = pynini()
    draw = random.Random(63)
    count = 0
    while count < 60:
        machine = trim(random_transducer(draw, most=4, epsilon=0.15))
        if any(read == EPSILON for _, read, _, _ in machine.transitions):
            continue  # pynini takes epsilon for a symbol here
        if not is_functional(machine) or not has_twinning_property(machine):
            continue
        count += 1
        theirs = module.determinize(to_pynini(machine))
        ours = determinize(machine)
        assert minimize(determinize(transducer_of(theirs))) == minimize(ours)
        for string in SHORT:
            output = ours.apply(string)
            assert pynini_outputs(theirs, string) == (set() if output is None else {output})


def test_pynini_finds_the_two_outputs() -> None:
    pynini()
    draw = random.Random(64)
    count = 0
    while count < 40:
        machine = random_transducer(draw, most=4, epsilon=0.1)
        found = two_outputs(machine)
        if any(read == EPSILON for _, read, _, _ in machine.transitions):
            continue
        count += 1
        for string in SHORT:
            outputs = pynini_outputs(to_pynini(machine), string)
            if found is None or key_of(string) < key_of(found.string):
                assert len(outputs) <= 1
            elif string == found.string:
                assert outputs >= set(found.outputs)


# ---- limits -------------------------------------------------------------------------------------


def test_hostile_transducers_stop_at_their_limits() -> None:
    """A subset construction of 2**40 states, and delays of a thousand symbols at a thousand pairs."""
    arcs = [(0, 0, 0, 0), (0, 1, 0, 0), (0, 1, 0, 1)]
    arcs += [(i, symbol, 0, i + 1) for i in range(1, 40) for symbol in (0, 1)]
    subsets = Transducer.from_transitions(arcs, [40])
    lazy = [(i, 0, 1, i + 1) for i in range(2000)] + [(0, 0, EPSILON, 2001)]
    lazy += [(i, 0, EPSILON, i + 1) for i in range(2001, 4001)] + [(4001, EPSILON, 1, 4001)]
    held = Transducer.from_transitions(lazy, [2000, 4001])
    for call in (
        lambda: determinize(subsets, tk.Limits(states=5000)),
        lambda: determinize(subsets, tk.Limits(seconds=0.05)),
        lambda: two_outputs(held, tk.Limits(memory_bytes=1 << 23)),
        lambda: untwinned(held, tk.Limits(states=100)),
    ):
        with pytest.raises(LimitExceeded):
            call()


def test_subsequential_machines_are_judged_too() -> None:
    machine = random_subsequential(random.Random(65))
    assert is_functional(machine)
    assert has_twinning_property(machine)
    assert two_runs(machine) is None
