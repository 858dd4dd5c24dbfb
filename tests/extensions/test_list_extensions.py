"""The extensions of paper 002, section 2.5, that put items in a row, against all their texts."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Sequence

import pytest

import tokamata as tk
from tests.support.patterns.extension_probes import assert_taken, taken
from tests.support.texts import all_texts

# ---- DELIMITED_LIST ---------------------------------------------------------------------------

Texts = frozenset[str]


def lists(items: Texts, delimiters: Texts, low: int, high: int | None, longest: int) -> set[str]:
    """Texts of at most ``longest`` characters that are so many items with delimiters between."""
    found = {""} if low == 0 else set()
    level: set[str] = set()
    # Of more items than this two neighbours are empty, and one of them can be left out.
    for count in range(1, max(low, longest + 1) + 1 if high is None else high + 1):
        level = set(items) if count == 1 else {a + d + b for a in level for d in delimiters for b in items}
        level = {text for text in level if len(text) <= longest}
        if count >= low:
            found |= level
    return found


def pattern_of(options: Texts) -> str:
    return "|".join(map(re.escape, sorted(options)))


ITEMS = [
    frozenset(options.split("/"))
    for options in ("a", "b/,", "ab", "a,", "/a", "a/a,b", ",/b,", "", "a/ab/ba")  # the empty text in two
]
DELIMITERS = [frozenset(options) for options in ([","], ["a"], ["", ","], [",", ",a"], ["|"])]
BOUNDS: tuple[tuple[int, int | None], ...]
BOUNDS = (1, None), (0, None), (2, None), (0, 0), (0, 2), (1, 1), (2, 3), (3, 4)


@pytest.mark.parametrize("items", ITEMS, ids=sorted)
def test_delimited_list(items: Texts) -> None:
    for delimiters in DELIMITERS:
        probes = all_texts("".join(sorted(set("ab," + "".join(delimiters)))), 6 if delimiters != {"|"} else 4)
        longest = len(probes[-1])
        group = f"(?P<DELIMITED_LIST>(?:{pattern_of(delimiters)})|{pattern_of(items)})"
        judged = lists(items, delimiters, 1, None, longest)
        assert taken(tk.regex(group), probes) == judged, group
        for low, high in BOUNDS:
            constraint = tk.delimited_list(tk.choice(items), tk.choice(delimiters), low, high)
            assert taken(constraint, probes) == lists(items, delimiters, low, high, longest), constraint
        default = tk.delimited_list(tk.choice(items), tk.choice(delimiters))
        assert taken(default, probes) == judged


# ---- DELIMITED_SUBSEQUENCE_OF -----------------------------------------------------------------


def subsequences(items: Sequence[Texts], delimiters: Texts) -> set[str]:
    """Every choice of items, every text of each, every delimiter between."""
    found = set()
    for count in range(1, len(items) + 1):
        for chosen in itertools.combinations(items, count):
            between = [part for item in chosen for part in (delimiters, item)][1:]
            found |= {"".join(parts) for parts in itertools.product(*between)}
    return found


SEQUENCES = [
    ["a"],
    ["a", "b"],
    ["a", "b", "ab"],
    ["a", "a", "a"],
    ["ab", "a", "b", ","],
    [("", "a"), "b"],
    [("a", ",b"), ("a,b", ""), "b"],
    ["b", ("a", "b"), "a", ("", ","), "b"],
]


@pytest.mark.parametrize("sequence", SEQUENCES, ids=str)
def test_delimited_subsequence_of(sequence: list[str | tuple[str, ...]]) -> None:
    items = [frozenset([item] if isinstance(item, str) else item) for item in sequence]
    for delimiters in DELIMITERS:
        judged = subsequences(items, delimiters)
        probes = judged.union(all_texts("ab,", 6), all_texts("ab|", 3))
        wrapped = "|".join(f"(?:{pattern_of(item)})" for item in items)
        group = f"(?P<DELIMITED_SUBSEQUENCE_OF>(?:{pattern_of(delimiters)})|{wrapped})"
        function = tk.delimited_subsequence_of([tk.choice(item) for item in items], tk.choice(delimiters))
        for constraint in (tk.regex(group), function):
            assert taken(constraint, probes) == judged, group


def test_a_subsequence_of_many() -> None:
    colours = [f"c{i}é" for i in range(40)]
    draw = random.Random(8)
    probes = []
    for _ in range(500):
        chosen = sorted(draw.sample(range(40), draw.randint(1, 12)))
        probes.append(", ".join(colours[i] for i in chosen))
        draw.shuffle(chosen)
        probes.append(", ".join(colours[i] for i in chosen))

    def in_order(text: str) -> bool:
        places = [colours.index(part) for part in text.split(", ")]
        return places == sorted(places)

    group = f"(?P<DELIMITED_SUBSEQUENCE_OF>, |{'|'.join(colours)})"
    function = tk.delimited_subsequence_of([tk.literal(colour) for colour in colours], tk.literal(", "))
    for constraint in (tk.regex(group), function):
        assert_taken(constraint, probes, in_order)
