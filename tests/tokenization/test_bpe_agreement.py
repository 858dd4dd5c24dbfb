"""Gadgets, DirectMerge in both forms, CartesianMerge and brute force accept the same token sequences."""

from __future__ import annotations

import random

import pytest

from tests.support.automata.machines import pynini, same_as_pynini, to_pynini
from tests.support.automata.tokenizations import (
    EVERYTHING,
    Bpe,
    cartesian,
    encodings,
    languages,
    random_bpe,
    random_pattern,
    small_lists,
    small_patterns,
    up_to,
    without_failures,
)
from tokamata.automata import Acceptor, trim
from tokamata.tokenization import (
    PairRule,
    direct_merge,
    gadget,
    merge_shared,
    neighbours,
    promotions,
    tokenizer_automaton,
)


def agree(bpe: Bpe, pattern: Acceptor, longest: int) -> None:
    by_route = languages(bpe, pattern)
    reference = by_route["gadgets"]
    assert all(found == reference for found in by_route.values()), (bpe, pattern.rows, by_route)
    assert up_to(bpe, reference, longest) == encodings(bpe, pattern, longest), (bpe, pattern.rows)


@pytest.mark.slow
def test_all_small_merge_lists_and_patterns() -> None:
    patterns = small_patterns()
    assert len(patterns) > 50
    turn = 0
    for count, pairs in enumerate(small_lists(3)):
        if len(pairs) == 3 and count % 3 and not EVERYTHING:
            continue  # every third
        bpe = Bpe.of("ab", *pairs)
        share = 12 if EVERYTHING else 6 if len(pairs) == 2 else 1
        for i in range(len(patterns) if len(pairs) < 2 else share):
            agree(bpe, patterns[(count + 7 * i) % len(patterns)], 6)
            turn += 1
    assert turn > 5_000


def test_lists_of_four_merges() -> None:
    draw = random.Random(11)
    for _ in range(4000 if EVERYTHING else 600):
        agree(random_bpe(draw, "ab", 4, shuffled=0.3), draw.choice(small_patterns()), 7)


def test_larger_ones_at_random() -> None:
    draw = random.Random(12)
    for _ in range(400 if EVERYTHING else 120):
        letters = draw.choice(["abc", "abcd"])
        agree(random_bpe(draw, letters, 14, shuffled=0.2), random_pattern(draw, len(letters)), 5)


def test_pynini_composes_the_same_gadgets() -> None:
    module = pynini()
    draw = random.Random(13)
    for _ in range(300):
        bpe = random_bpe(draw, "abc", 5, shuffled=0.3)
        pattern = random_pattern(draw, 3)
        composed = to_pynini(pattern)
        everything = range(len(bpe.vocabulary))
        for merge in bpe.merges:
            machine = to_pynini(without_failures(gadget(merge, everything), everything))
            composed = module.project(module.compose(composed.arcsort("olabel"), machine), "output")
        assert same_as_pynini(direct_merge(pattern, bpe.merges), composed)


def test_direct_merge_is_trim_and_deterministic() -> None:
    draw = random.Random(14)
    larger = 0
    for _ in range(800):
        bpe = random_bpe(draw, "ab", 6, shuffled=0.3)
        merged = direct_merge(random_pattern(draw, 2), bpe.merges)
        assert merged.is_deterministic
        assert trim(merged) == merged
        larger += merged.states
    assert larger > 1600


def test_every_merge_in_between_agrees() -> None:
    draw = random.Random(15)
    for _ in range(100):
        bpe = random_bpe(draw, "ab", 6)
        pattern = random_pattern(draw, 2)
        for count, machine in enumerate(promotions(pattern, bpe.merges)):
            part = Bpe(bpe.vocabulary, bpe.merges[:count])
            assert up_to(bpe, machine, 6) == encodings(part, pattern, 6)


def test_growth_stays_below_its_bounds() -> None:
    """000, theorem 5.1, with one state more for the first merge; and the product of 001, section 4."""
    draw = random.Random(18)
    grown = 0
    for _ in range(200):
        bpe = random_bpe(draw, "abc", 10)
        first, *rest = promotions(random_pattern(draw, 3), bpe.merges)
        for count, machine in enumerate(rest, 1):
            tokens = 3 + count
            assert machine.states <= first.states * (1 + tokens)
            assert machine.states <= (count + 1) * first.states**3
            grown += machine.states > first.states
    assert grown > 300


def test_neighbours_by_automaton_rule_and_brute_force() -> None:
    draw = random.Random(16)
    forbidden = 0
    for _ in range(600):
        letters = draw.choice(["a", "ab", "abc"])
        bpe = random_bpe(draw, letters, 9, longest=8, shuffled=0.3)
        automaton = tokenizer_automaton(bpe.letters, bpe.merges)
        table = neighbours(bpe.letters, bpe.merges)
        rule = PairRule()
        made = tokenizer_automaton(bpe.letters, [])
        for count, merge in enumerate(bpe.merges, 1):
            if merge.left in made.state_of and made.allows(merge.left, merge.right):
                assert rule.allows(merge.left, merge.right)
                rule.join(merge)
            made = tokenizer_automaton(bpe.letters, bpe.merges[:count])
        assert table[None] == automaton.allowed(None) == set(automaton.state_of)
        for first in table:
            assert automaton.allowed(first) == table[first]
            if first is not None and first in automaton.state_of:
                by_rule = {token for token in automaton.state_of if rule.allows(first, token)}
                assert by_rule == table[first]
                forbidden += len(automaton.state_of) - len(by_rule)
        assert len(set(automaton.forbidden)) == automaton.states  # none has the same list as another
    assert forbidden > 4000


def test_what_cartesian_merge_allows() -> None:
    """At every place exactly the tokens that go on from there in the machine itself."""
    draw = random.Random(19)
    places = 0
    for _ in range(200):
        bpe = random_bpe(draw, "ab", 6, shuffled=0.3)
        pattern = random_pattern(draw, 2)
        merged = cartesian(bpe, pattern)
        machine = direct_merge(pattern, bpe.merges)
        for _ in range(5):
            state, walked, last = machine.start, merged.start, None
            way: list[int] = []
            for _ in range(6):
                row = dict(machine.rows[state])
                assert merged.allowed(walked, last) == row.keys()
                assert merged.accepts(way) == (state in machine.accepting)
                places += 1
                if not row:
                    break
                last = draw.choice(sorted(row))
                way.append(last)
                state, walked = row[last], merged.rows[walked][last]
    assert places > 3000


def test_places_of_shared_rows() -> None:
    """Walking without ever making the machine."""
    draw = random.Random(17)
    for _ in range(150):
        bpe = random_bpe(draw, "ab", 6, shuffled=0.3)
        pattern = random_pattern(draw, 2)
        merged = merge_shared(pattern, bpe.merges)
        accepted = encodings(bpe, pattern, 5)
        assert all(merged.accepts(tokens) for tokens in accepted)
        for _ in range(60):
            tokens = tuple(draw.choices(range(len(bpe.vocabulary)), k=draw.randint(0, 4)))
            if sum(len(bpe.vocabulary[token]) for token in tokens) <= 5:
                assert merged.accepts(tokens) == (tokens in accepted)
