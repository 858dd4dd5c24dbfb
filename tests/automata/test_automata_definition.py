"""Operations against their definitions, in sets of strings written out; laws; bounds; errors."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokamata as tk
from tests.support.automata.machines import (
    all_strings,
    language,
    random_acceptor,
    random_transducer,
    relation,
)
from tokamata.automata import (
    BYTE_NAMES,
    EPSILON,
    Acceptor,
    Transducer,
    complement,
    compose,
    concatenate,
    determinize,
    difference,
    distinguish,
    equivalent,
    invert,
    is_empty,
    minimize,
    product,
    project,
    remove_epsilon,
    shortest,
    star,
    strings,
    trim,
    union,
)
from tokamata.errors import LimitExceeded, MachineError

ALPHABET = 2
STRINGS = all_strings(ALPHABET, 6)
SHORT = all_strings(ALPHABET, 3)
seeds = st.integers(0, 10**9).map(random.Random)


def acceptors() -> st.SearchStrategy[Acceptor]:
    return seeds.map(lambda draw: random_acceptor(draw, most=6, symbols=ALPHABET))


def transducers() -> st.SearchStrategy[Transducer]:
    return seeds.map(lambda draw: random_transducer(draw, most=4))


@given(acceptors())
def test_operations_on_one(machine: Acceptor) -> None:
    accepted = language(machine, STRINGS)
    for same in (remove_epsilon, determinize, trim, minimize):
        assert language(same(machine), STRINGS) == accepted
    assert language(complement(machine, range(ALPHABET)), STRINGS) == set(STRINGS) - accepted
    repeated = {()}
    for _ in range(6):
        repeated |= {s + t for s in repeated for t in accepted if len(s + t) <= 6}
    assert language(star(machine), STRINGS) == repeated


@given(acceptors(), acceptors())
def test_operations_on_two(first: Acceptor, second: Acceptor) -> None:
    a, b = language(first, STRINGS), language(second, STRINGS)
    assert language(union(first, second), STRINGS) == a | b
    assert language(product(first, second), STRINGS) == a & b
    assert language(difference(first, second), STRINGS) == a - b
    assert language(concatenate(first, second), SHORT) == {s + t for s in a for t in b if len(s + t) <= 3}


@given(transducers(), transducers())
def test_composition_is_that_of_relations(first: Transducer, second: Transducer) -> None:
    """Bounded on both outer sides; what passes between may be longer, so only one way is exact."""
    inner = relation(first, 4), relation(second, 4)
    expected = {(x, z) for x, y in inner[0] for w, z in inner[1] if y == w}
    composed = relation(compose(first, second), 4)
    assert expected <= composed
    for x, z in composed:
        between = compose(compose(Acceptor.from_strings([x]), first), second)
        assert not is_empty(product(project(between, "output"), Acceptor.from_strings([z])))
    assert relation(invert(first), 4) == {(y, x) for x, y in inner[0]}


@given(transducers(), acceptors())
def test_composing_with_an_acceptor_restricts(transducer: Transducer, acceptor: Acceptor) -> None:
    accepted = language(acceptor, all_strings(ALPHABET, 4))
    pairs = relation(transducer, 4)
    assert relation(compose(acceptor, transducer), 4) == {(x, y) for x, y in pairs if x in accepted}
    assert relation(compose(transducer, acceptor), 4) == {(x, y) for x, y in pairs if y in accepted}
    assert relation(remove_epsilon(transducer), 4) == pairs
    assert relation(trim(transducer), 4) == pairs


@given(acceptors(), acceptors(), acceptors())
def test_laws(a: Acceptor, b: Acceptor, c: Acceptor) -> None:
    def not_(machine: Acceptor) -> Acceptor:
        return complement(machine, range(ALPHABET))

    assert equivalent(not_(union(a, b)), product(not_(a), not_(b)))
    assert equivalent(not_(product(a, b)), union(not_(a), not_(b)))
    assert equivalent(not_(not_(a)), a)
    assert equivalent(difference(a, b), product(a, not_(b)))
    assert equivalent(union(a, union(b, c)), union(union(a, b), c))
    assert equivalent(union(a, b, c), union(c, a, b))
    assert equivalent(product(a, product(b, c)), product(product(a, b), c))
    assert equivalent(concatenate(a, concatenate(b, c)), concatenate(a, b, c))
    assert equivalent(product(a, union(b, c)), union(product(a, b), product(a, c)))
    assert equivalent(concatenate(a, union(b, c)), union(concatenate(a, b), concatenate(a, c)))
    assert equivalent(star(star(a)), star(a))


@given(transducers(), transducers(), transducers())
def test_composition_is_associative(a: Transducer, b: Transducer, c: Transducer) -> None:
    assert relation(compose(compose(a, b), c), 3) == relation(compose(a, compose(b, c)), 3)
    assert relation(invert(compose(a, b)), 3) == relation(compose(invert(b), invert(a)), 3)


@given(acceptors(), acceptors())
def test_minimizing_is_canonical(a: Acceptor, b: Acceptor) -> None:
    smallest = minimize(a)
    assert minimize(smallest) == smallest
    assert hash(minimize(smallest)) == hash(smallest)
    assert minimize(union(a, b)) == minimize(union(b, a))
    assert (minimize(a) == minimize(b)) == (distinguish(a, b) is None)
    assert smallest.states <= determinize(a).states
    # Numbered breadth first, by least symbol.
    seen = [0]
    for row in smallest.rows:
        seen += [target for _, target in row if target not in seen]
    assert seen == list(range(smallest.states))


def test_minimizing_long_chains_and_many_equal_states() -> None:
    chain = Acceptor.from_transitions([(i, 0, i + 1) for i in range(20_000)], [20_000])
    assert minimize(chain).states == 20_001
    fan = [(0, symbol, symbol + 1) for symbol in range(5000)] + [(s + 1, 7, 5001) for s in range(5000)]
    assert minimize(Acceptor.from_transitions(fan, [5001])).states == 3


def test_the_machines_of_paper_002() -> None:
    """Figure 1 (ab; odd numbers of a; runs of a or of b) and figure 2 (a+|ab, made deterministic)."""
    a, b = b"ab"
    ab = Acceptor.from_strings(["ab"])
    odd = Acceptor.from_transitions([(0, a, 1), (1, a, 0)], [1])
    runs = Acceptor.from_transitions([(0, EPSILON, 1), (0, EPSILON, 2), (1, a, 1), (2, b, 2)], [1, 2])
    assert (ab.accepts(b"ab"), ab.accepts("a"), ab.accepts("abb")) == (True, False, False)
    assert [odd.accepts("a" * n) for n in range(5)] == [False, True, False, True, False]
    assert [runs.accepts(s) for s in ("", "aa", "bbb", "ab")] == [True, True, True, False]
    figure_2 = Acceptor.from_transitions([(0, a, 1), (1, a, 1), (0, a, 2), (2, b, 3)], [1, 3])
    deterministic = determinize(figure_2)
    assert (figure_2.is_deterministic, deterministic.is_deterministic) == (False, True)
    assert list(deterministic.transitions) == [(0, a, 1), (1, a, 2), (1, b, 3), (2, a, 2)]
    assert deterministic.accepting == {1, 2, 3}


def test_the_transducers_of_paper_002() -> None:
    """Figure 3: ab into x; odd numbers of a into xoxo…x; runs of a or b bracketed."""
    a, b, x, o, left, right = b"abxo()"
    one = Transducer.from_transitions([(0, a, EPSILON, 1), (1, b, x, 2)], [2])
    assert relation(one, 4) == {((a, b), (x,))}
    odd = Transducer.from_transitions([(0, a, x, 1), (1, a, o, 0)], [1])
    written = project(compose(Acceptor.from_strings(["aaa"]), odd), "output")
    assert list(strings(written, 9)) == [tuple(b"xox")]
    brackets = Transducer.from_transitions(
        [
            *((0, EPSILON, left, state) for state in (1, 2)),
            *((1, a, a, 1), (2, b, b, 2)),
            *((state, EPSILON, right, 3) for state in (1, 2)),
        ],
        [3],
    )
    written = project(compose(Acceptor.from_strings(["bb"]), brackets), "output")
    assert list(strings(written, 9)) == [tuple(b"(bb)")]


def test_epsilons_on_both_sides_lose_nothing() -> None:
    """One that only writes, then one that only reads: no step is shared, and every order is a path."""
    writes = Transducer.from_transitions([(0, 1, EPSILON, 1), (1, 2, EPSILON, 2)], [2])
    reads = Transducer.from_transitions([(0, EPSILON, 3, 1), (1, EPSILON, 4, 2)], [2])
    assert relation(compose(writes, reads), 4) == {((1, 2), (3, 4))}
    loops = Transducer.from_transitions([(0, 1, EPSILON, 0), (0, EPSILON, EPSILON, 0)], [0])
    assert relation(compose(loops, invert(loops)), 2) == {
        (x, y) for x in [(), (1,), (1, 1)] for y in [(), (1,), (1, 1)]
    }


def test_empty_languages() -> None:
    empty = Acceptor.empty()
    looped = Acceptor.from_transitions([(0, 1, 0), (0, 2, 1), (2, 1, 1)], [2])
    for machine in (empty, looped):
        assert is_empty(machine)
        assert shortest(machine) is None
        assert list(strings(machine, 5)) == []
        assert minimize(machine) == trim(machine) == empty
    assert minimize(star(empty)) == Acceptor.from_strings([""])
    assert is_empty(concatenate(looped, Acceptor.from_strings(["a"])))
    assert minimize(complement(Acceptor.universal([1, 2]), [1, 2])) == empty
    assert shortest(Acceptor.from_strings([""])) == ()


def test_strings_are_text_bytes_or_symbols() -> None:
    machine = Acceptor.from_strings(["é", b"\xff", [300, 7]])
    assert machine.names is BYTE_NAMES
    assert [machine.accepts(s) for s in ("é", b"\xc3\xa9", [195, 169], (300, 7), "")] == [True] * 4 + [False]
    assert Acceptor.from_strings([[1]]).names is None


def test_strings_come_one_at_a_time() -> None:
    everything = Acceptor.universal(range(256))
    assert next(strings(everything, 50)) == ()
    several = strings(everything, 50)
    assert [next(several) for _ in range(3)] == [(), (0,), (1,)]
    assert len(list(strings(Acceptor.from_strings(["a", "bc"]), 10**6))) == 2


def test_names_stay() -> None:
    named = Acceptor.from_strings(["ab"])
    for machine in (
        minimize(named),
        union(named, Acceptor.from_strings([[1]])),
        star(named),
        product(Acceptor.universal(range(256)), named),
        complement(named, range(256)),
        project(compose(named, named), "output"),
    ):
        assert machine.names is BYTE_NAMES
    assert named == Acceptor(named.rows, named.accepting)  # and take no part in equality


def nth_from_the_end(n: int) -> Acceptor:
    """1, and n - 1 symbols of two: 2**n states when determinized."""
    arcs = [(0, 0, 0), (0, 1, 0), (0, 1, 1)]
    arcs += [(i, symbol, i + 1) for i in range(1, n) for symbol in (0, 1)]
    return Acceptor.from_transitions(arcs, [n])


@pytest.mark.parametrize(
    "operation", [determinize, minimize, lambda a, limits: complement(a, [0, 1], limits)]
)
def test_no_construction_passes_its_limits(operation: object) -> None:
    hostile = nth_from_the_end(40)
    for limits, field in (
        (tk.Limits(states=1000), "states"),
        (tk.Limits(memory_bytes=1 << 20), "memory_bytes"),
        (tk.Limits(seconds=0.05), "seconds"),
    ):
        with pytest.raises(LimitExceeded) as caught:
            operation(hostile, limits=limits)  # type: ignore[operator]
        assert caught.value.limit == field
    assert minimize(nth_from_the_end(8), tk.Limits(states=600)).states == 256


def test_every_operation_takes_limits() -> None:
    few = tk.Limits(states=50)
    big = Acceptor.from_transitions([(i, EPSILON if i % 2 else 0, i + 1) for i in range(99)], [99])
    wide = Transducer.from_transitions([(i, 0, EPSILON, i + 1) for i in range(99)], [99])
    hostile = nth_from_the_end(40)
    with pytest.raises(LimitExceeded):
        remove_epsilon(big, tk.Limits(states=40))
    for call in (
        lambda: union(big, big, limits=few),
        lambda: concatenate(big, big, limits=few),
        lambda: star(big, few),
        lambda: compose(wide, big, few),
        lambda: product(big, big, few),
        lambda: difference(big, hostile, few),
        lambda: distinguish(hostile, big, few),
        lambda: equivalent(big, hostile, few),
        lambda: strings(hostile, 3, few),
        lambda: Acceptor.from_strings(["x" * 99], limits=few),
        lambda: Acceptor.from_transitions([(0, 0, 10**9)], []),
        lambda: Acceptor.from_transitions([], [0], states=10**12),
        lambda: Transducer.from_transitions([(0, 0, 0, 10**15)], []),
    ):
        with pytest.raises(LimitExceeded):
            call()


def test_memory_stays_near_what_limits_say() -> None:
    import tracemalloc

    limits = tk.Limits(memory_bytes=1 << 24)
    tracemalloc.start()
    try:
        with pytest.raises(LimitExceeded):
            determinize(nth_from_the_end(60), limits)
        with pytest.raises(LimitExceeded):
            complement(nth_from_the_end(10), range(10**5), limits)
        assert tracemalloc.get_traced_memory()[1] < 2 * limits.memory_bytes
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Acceptor((), frozenset()), "at least one state"),
        (lambda: Acceptor.from_transitions([(0, 1, 1)], [2], states=2), "accepting state is 2"),
        (lambda: Acceptor.from_transitions([(0, 1, 2)], [], states=2), "to 2; states"),
        (lambda: Acceptor.from_transitions([(-1, 1, 0)], []), "leaves state -1"),
        (lambda: Acceptor.from_transitions([(0, 1, -1)], []), "to -1"),
        (lambda: Acceptor.from_transitions([(0, -2, 0)], []), "-2 cannot be a symbol"),
        (lambda: Acceptor.from_transitions([(0, 1 << 31, 0)], []), "cannot be a symbol"),
        (lambda: Transducer.from_transitions([(0, 0, -7, 0)], []), "-7 cannot be a symbol"),
        (lambda: Acceptor.from_transitions([], [], start=-1, states=1), "the start is -1"),
        (lambda: union(), "at least one"),
        (lambda: list(strings(Acceptor.empty(), -1)), "not at most -1"),
    ],
)
def test_machines_that_cannot_be(make: object, words: str) -> None:
    with pytest.raises(MachineError, match=words):
        make()  # type: ignore[operator]


def test_machines_are_values() -> None:
    machine = Acceptor.from_transitions([(0, 2, 1), (0, 1, 1), (0, 2, 1)], [1])
    assert machine.rows == (((1, 1), (2, 1)), ())
    assert {machine: 1}[Acceptor.from_transitions([(0, 1, 1), (0, 2, 1)], [1])] == 1
    with pytest.raises(AttributeError):
        machine.start = 1  # type: ignore[misc]
    assert repr(machine) == "<Acceptor of 2 states and 2 transitions>"
    assert (machine.size, machine.symbols) == (2, {1, 2})
