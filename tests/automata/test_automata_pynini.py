"""Every operation against pynini's, on thousands of random machines."""

from __future__ import annotations

import random

from tests.support.automata.machines import (
    EMPTY,
    all_strings,
    fewest_symbols,
    from_pynini,
    isomorphic,
    language,
    pynini,
    random_acceptor,
    random_transducer,
    same_as_pynini,
    smallest,
    to_pynini,
)
from tokamata.automata import (
    Acceptor,
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

SYMBOLS = 3
STRINGS = all_strings(SYMBOLS, 5)


def test_one_machine_at_a_time() -> None:
    module = pynini()
    draw = random.Random(1)
    for _ in range(1000):
        machine = random_acceptor(draw)
        theirs = to_pynini(machine)
        for same in (remove_epsilon(machine), determinize(machine), trim(machine), minimize(machine)):
            assert same_as_pynini(same, theirs)
        plain = remove_epsilon(machine)
        assert all(symbol >= 0 for _, symbol, _ in plain.transitions)
        assert determinize(machine).is_deterministic
        assert trim(machine).states == max(theirs.copy().connect().num_states(), EMPTY)
        assert isomorphic(minimize(machine), from_pynini(smallest(theirs)))
        assert same_as_pynini(star(machine), module.closure(theirs.copy()))
        assert is_empty(machine) == (theirs.copy().connect().num_states() == 0)
        everything = to_pynini(Acceptor.universal(range(SYMBOLS)))
        others = module.difference(everything, smallest(theirs))
        assert same_as_pynini(complement(machine, range(SYMBOLS)), others)


def test_two_machines() -> None:
    module = pynini()
    draw = random.Random(2)
    for _ in range(1000):
        first, second = random_acceptor(draw), random_acceptor(draw)
        ours, theirs = (first, second), (to_pynini(first), to_pynini(second))
        assert same_as_pynini(union(*ours), module.union(*theirs))
        assert same_as_pynini(concatenate(*ours), module.concat(*theirs))
        assert same_as_pynini(product(*ours), module.intersect(theirs[0].arcsort("olabel"), theirs[1]))
        assert same_as_pynini(difference(*ours), module.difference(theirs[0], smallest(theirs[1])))
        equal = module.equivalent(smallest(theirs[0]), smallest(theirs[1]))
        assert equivalent(*ours) == equal == (minimize(first) == minimize(second))


def test_witnesses_are_shortest() -> None:
    module = pynini()
    draw = random.Random(3)
    for _ in range(700):
        first = random_acceptor(draw, most=5, symbols=2)
        second = random_acceptor(draw, most=5, symbols=2) if draw.random() < 0.7 else minimize(star(first))
        a, b = smallest(to_pynini(first)), smallest(to_pynini(second))
        apart = module.union(module.difference(a, b), module.difference(b, a))
        witness = distinguish(first, second)
        if apart.copy().connect().num_states() == 0:
            assert witness is None
        else:
            assert witness is not None
            assert first.accepts(witness) != second.accepts(witness)
            assert len(witness) == fewest_symbols(apart)


def test_strings_of_a_machine() -> None:
    draw = random.Random(4)
    for _ in range(600):
        machine = random_acceptor(draw)
        accepted = sorted(language(machine, STRINGS), key=lambda s: (len(s), s))
        assert [s for s in STRINGS if machine.accepts(s)] == accepted
        assert list(strings(machine, 5)) == accepted
        first = shortest(machine)
        if accepted:
            assert first == accepted[0]
        elif first is None:
            assert is_empty(machine)
        else:
            assert len(first) == fewest_symbols(to_pynini(machine))


def test_transducers() -> None:
    module = pynini()
    draw = random.Random(5)
    for _ in range(700):
        first, second = random_transducer(draw), random_transducer(draw)
        theirs = to_pynini(first), to_pynini(second)
        composed = compose(first, second)
        expected = module.compose(theirs[0].copy().arcsort("olabel"), theirs[1])
        for side in ("input", "output"):
            assert same_as_pynini(project(first, side), module.project(theirs[0], side))
            assert same_as_pynini(project(composed, side), module.project(expected, side))
            assert same_as_pynini(
                project(invert(first), side), module.project(module.invert(theirs[0]), side)
            )
        # Relations cannot be compared in general, but as languages of pairs they can: encode labels.
        for ours, other in (
            (union(first, second), module.union(*theirs)),
            (concatenate(first, second), module.concat(*theirs)),
            (star(first), module.closure(theirs[0].copy())),
            (trim(first), theirs[0]),
        ):
            mapper = module.EncodeMapper("standard", encode_labels=True)
            pair = [fst.copy().rmepsilon().encode(mapper) for fst in (to_pynini(ours), other)]
            assert module.equivalent(*(smallest(fst) for fst in pair))
