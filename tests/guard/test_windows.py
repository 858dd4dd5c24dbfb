"""The catalogue's search for the least window against all strings of tokens."""

from __future__ import annotations

import random
from collections import Counter

from benchmarks.guard.windows import Windows
from tests.support.automata.tokenizations import random_bpe
from tokamata.tokenization import MergeGraph, Schedules, TwoNeighbours, spellings


def test_the_least_window() -> None:
    draw = random.Random(71)
    seen: Counter[int | None] = Counter()
    for _ in range(150):
        bpe = random_bpe(draw, draw.choice(["ab", "abc"]), 6, longest=5, shuffled=0.3)
        letters = [bpe.vocabulary[letter].decode() for letter in bpe.letters]
        inside = tuple(bpe.text("".join(draw.choices(letters, k=draw.randint(1, 4)))))
        two = TwoNeighbours(bpe.letters, bpe.merges)
        if two.crossed(inside) is None:
            continue
        horizon = 1 + len(two.encode(inside))
        if horizon > 4:
            continue
        least = Windows(spellings(bpe.merges, bpe.letters), Schedules(bpe.merges)).least(inside)
        seen[least] += 1
        if least is None:
            continue  # a token beside a token that overlaps the boundary might show it
        graph = MergeGraph(bpe.letters, bpe.merges, horizon, around=inside)
        by_definition = horizon
        for string, kept in graph.strings.items():
            if kept.tokens >= by_definition:
                continue
            ends, at = {0}, 0
            for token in two.encode(string):
                at += len(bpe.vocabulary[token])
                ends.add(at)
            starts = (i for i in range(len(string)) if string[i : i + len(inside)] == inside)
            if any(not {start, start + len(inside)} <= ends for start in starts):
                by_definition = kept.tokens
        assert least == by_definition, (bpe, inside)
    assert seen[None] < 0.1 * seen.total()
    assert min(seen[size] for size in (1, 2, 3)) > 2, seen
