"""The pre-tokenizer read from left to right, against the engine that matches its regex."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from tokenizers import Regex, pre_tokenizers

import tokamata as tk
from tests.support.texts import all_texts
from tests.support.tokenizers.random_tokenizers import REGEXES
from tokamata.tokenization.pretokenizers.classes import CODE_POINTS, HuggingFaceEngine, ranges_of
from tokamata.tokenization.pretokenizers.machine import Cut, Hypotheses, hypotheses
from tokamata.tokenization.pretokenizers.matching import DEAD, matching
from tokamata.tokenization.pretokenizers.regex import classes_of, compile_regex

ENGINE = HuggingFaceEngine()
ALPHABET = "ab1 '\n."


def machine(regexes: Sequence[str]) -> tuple[Hypotheses, np.ndarray, np.ndarray]:
    """The hypotheses of a chain of splits, and the ranges and classes of its code points."""
    programs = [compile_regex(regex, ENGINE.dollar_is_end) for regex in regexes]
    names = list(dict.fromkeys(name for program in programs for name in classes_of(program)))
    columns = [ENGINE.members(name) for name in names] or [np.zeros(CODE_POINTS, dtype=bool)]
    firsts, classes = ranges_of(columns)
    count = int(classes.max()) + 1
    first_of = {int(cls): int(first) for first, cls in zip(firsts, classes, strict=True)}
    members = {
        name: [bool(column[first_of[cls]]) for cls in range(count)]
        for name, column in zip(names, columns, strict=False)
    }
    cuts = [Cut(matching(program, members, count)) for program in programs]
    return hypotheses(cuts, count), firsts, classes


def cuts_by_guessing(found: Hypotheses, symbols: list[int]) -> set[tuple[int, ...]]:
    """Every way of cutting the text that some run of guesses stands by."""
    states = {(start, ()) for start in found.starts}
    for place, symbol in enumerate(symbols):
        after = set()
        for state, borders in states:
            target = found.targets[state][symbol]
            if target == DEAD:
                continue
            after.add((target, borders))
            if place + 1 < len(symbols):
                after.update((end, (*borders, place + 1)) for end in found.ends[target])
        states = after
    return {borders for state, borders in states if found.may_end[state]}


def cuts_by_the_engine(regexes: Sequence[str], text: str) -> tuple[int, ...]:
    splits = [pre_tokenizers.Split(Regex(regex), "isolated") for regex in regexes]
    pieces = pre_tokenizers.Sequence(splits).pre_tokenize_str(text)
    return tuple(begin for _, (begin, _) in pieces if begin)


@pytest.mark.parametrize(
    "regexes",
    [
        *([regex] for regex in REGEXES),
        [r"\p{N}{1,3}", r"a+|\s+(?!\S)|\s+"],
        [r"b", REGEXES[0]],
        ["1", "a", "b+"],
    ],
    ids=lambda regexes: " , ".join(regexes),
)
def test_exactly_one_way_of_guessing_stands(regexes: list[str]) -> None:
    found, firsts, classes = machine(regexes)
    symbol_of = {c: int(classes[np.searchsorted(firsts, ord(c), side="right") - 1]) for c in ALPHABET}
    for text in all_texts(ALPHABET, 4):
        expected = cuts_by_the_engine(regexes, text) if text else ()
        assert cuts_by_guessing(found, [symbol_of[c] for c in text]) == {expected}, text


@pytest.mark.parametrize(
    ("regex", "what"),
    [
        (r"(a)\1", "escape"),
        (r"(?<=a)b", "group"),
        (r"a(?!bc)", "lookahead"),
        (r"(?:ab)++", "possessive"),
        (r"(?>ab|a)b", "group"),
        (r"[a-z&&[^b]]", "class"),
        ("a*", "empty"),
        ("(a", "without"),
        ("a)", "unmatched"),
        ("[a", "without"),
        ("a{1,9999}", "count"),
        ("(" * 200 + "a" + ")" * 200, "nested"),
        ("a|b|" + "(?:a{1,500}){1,500}", "large"),
        (r"\Ga", "escape"),
        ("^a", r"\^"),
    ],
)
def test_what_is_not_understood_is_refused_by_name(regex: str, what: str) -> None:
    with pytest.raises(tk.UnsupportedTokenizerError, match=what) as caught:
        machine([regex])
    assert caught.value.part == "pre-tokenizer"
