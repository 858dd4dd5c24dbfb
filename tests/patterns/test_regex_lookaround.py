"""Lookaround, boundaries and anchors of the Python dialect, against ``re`` and the module ``regex``.

Both the lowering (with the naive core) and the engine are judged: exhaustively on short texts for
patterns that go wrong when an assertion is rewritten locally, and at random.
"""

from __future__ import annotations

import random
import re
import sys

import pytest

from tests.support.patterns.engine import Engine
from tests.support.patterns.naive_core import accepts, lowered
from tests.support.patterns.random_patterns import Patterns
from tests.support.texts import all_texts
from tokamata.patterns.regex import to_expression

ALPHABET = "a-\né"  # a word character, none, a line end, a word character that is not ASCII


NASTY = [
    (r"(?:a(?!a)|b)*", "ab"),
    (r"(?:b|a(?<=ba))*", "ab"),
    (r"(?:\b|a){2,3}", "a-"),
    (r"(?:\b|a){4}", "a-"),
    (r"(?:^a?)*", "a\n"),
    (r"(?m)(?:^a?$\n?)*", "a\n"),
    (r"(?m)(?:^|a$|\n)+", "a\n"),
    (r"(?:a$|\n)*", "a\n"),
    (r"(?:\Aa|b\Z|c)*", "abc"),
    (r"(?=(?!a).)*[a-]", "a-"),
    (r"(?:(?=ab)a|(?<=ab)b?|b)*", "ab"),
    (r"(?:(?<!a(?!b))b|a)*", "ab"),
    (r"(?:(?=(?:a(?!a)|b)*\Z).)*", "ab"),
    (r"(?:a(?=b(?<=ab))|b(?<!(?=bb)b))*", "ab"),
    (r"(?!(?:ab)*\Z).*", "ab"),
    (r"(?:a|\Bb|b\B)*", "ab-"),
    (r"(?:\b-|\Ba|a\b|-)*", "a-"),
    (r"(?:(?:a|(?=b))*b?)*", "ab"),
    (r"(?:(?:|a)(?!\B))*", "a-"),
    (r"(?:(?=a)|(?=b)){2,}[ab]?", "ab"),
    (r"(?!)|(?=)a|(?<!)|(?<=)b", "ab"),
    (r"(?=a)*b|(?!a)+b|(?<=a){2}b|(?<!a)??b", "ab"),
    (r"\b|\B", "a"),
    (r"(?:a?\B)*", "a-"),
    (r"(?i:(?=a)A|(?<=(?-i:b))C|b)*c?", "abc"),
]


@pytest.mark.parametrize(("pattern", "alphabet"), NASTY)
def test_all_short_texts(pattern: str, alphabet: str) -> None:
    judge, expression, engine = re.compile(pattern), lowered(pattern), Engine(to_expression(pattern))
    for text in all_texts(alphabet, 5 if len(alphabet) < 4 else 4):
        expected = judge.fullmatch(text) is not None
        if not text and "\\B" in pattern and sys.version_info >= (3, 14):
            continue  # there \B holds in an empty text
        assert accepts(expression, text) == expected, text
        assert engine.accepts(text) == expected, text


def test_a_local_rewriting_would_be_wrong() -> None:
    for pattern, text, expected in [(r"(?:a(?!a)|b)*", "aa", False), (r"(?:b|a(?<=ba))*", "ba", True)]:
        assert accepts(lowered(pattern), text) == Engine(to_expression(pattern)).accepts(text) == expected


def test_non_boundary_in_an_empty_text() -> None:
    """As in Python up to 3.13; ``regex``, JavaScript and Python 3.14 say that it holds there."""
    for pattern, text, expected in [
        (r"\B", "", False),
        (r"\b|\B", "", False),
        (r"-?\B", "", False),
        (r"-?\B", "-", True),
        (r"(?:\B-?)*\B", "--", True),
    ]:
        assert accepts(lowered(pattern), text) == Engine(to_expression(pattern)).accepts(text) == expected
        if sys.version_info < (3, 14):
            assert (re.fullmatch(pattern, text) is not None) == expected


ATOMS = ["a", "-", ".", "[^a]", "é", "\n", "\\w", "\\W", "\\s", "\\b", "\\B", "^", "$", "\\A", "\\Z", ""]
QUANTIFIERS = ["*", "+", "?", "{2}", "{1,2}", "{2,3}", "*?", "{0,2}"]
GROUPS = ["(?:", "(", "(?i:", "(?m:", "(?s:", "(?a:", "(?-m:", "(?ms:"]


def source(seed: int, fixed_width: bool) -> Patterns:
    return Patterns(random.Random(seed), ATOMS, QUANTIFIERS, GROUPS, fixed_width, [a for a in ATOMS if a])


@pytest.mark.parametrize("seed", range(4))
def test_random_patterns_against_re(seed: int) -> None:
    patterns, generator = source(seed, fixed_width=True), random.Random(seed)
    short, tried = all_texts(ALPHABET, 4), 0
    while tried < 600:
        pattern, flags = patterns.draw(), generator.choice([0, 0, re.M, re.A, re.I, re.S])
        try:
            judge = re.compile(pattern, flags)
        except re.error:
            continue  # repeated anchors
        tried += 1
        expression, engine = lowered(pattern, flags), Engine(to_expression(pattern, flags))
        for text in generator.sample(short, 10):
            if not text and "\\B" in pattern and sys.version_info >= (3, 14):
                continue  # there \B holds in an empty text
            expected = judge.fullmatch(text) is not None
            assert accepts(expression, text) == expected, (pattern, flags, text)
            assert engine.accepts(text) == expected, (pattern, flags, text)


@pytest.mark.parametrize("seed", range(2))
def test_lookbehinds_of_any_length_against_regex(seed: int) -> None:
    regex = pytest.importorskip("regex", reason="regex comes with the group test")
    generator = random.Random(seed)
    atoms = [atom for atom in ATOMS if atom != "\\B"]  # which holds in an empty text for regex
    patterns = Patterns(generator, atoms, ["*", "+", "?", "{1,2}", "{2}"])
    short, tried = all_texts(ALPHABET, 4), 0
    while tried < 500:
        pattern = patterns.draw()
        if "(?<" not in pattern:
            continue
        try:
            judge = regex.compile(pattern)
            to_expression(pattern)
        except (regex.error, ValueError):
            continue  # repeated anchors
        tried += 1
        expression, engine = lowered(pattern), Engine(to_expression(pattern))
        for text in generator.sample(short, 8):
            expected = judge.fullmatch(text) is not None
            assert accepts(expression, text) == expected, (pattern, text)
            assert engine.accepts(text) == expected, (pattern, text)


def test_anchors_that_surely_hold_cost_nothing() -> None:
    assert lowered(r"^\bfoo\b$") == lowered(r"\Afoo\Z") == ("literal", "foo")
    assert lowered(r"(?m)^foo$") == ("literal", "foo")
    assert lowered(r"(?m)^a$\n^b$") == ("literal", "a\nb")
    assert lowered(r"a\b-\bb") == ("literal", "a-b")
    assert lowered(r"a\Bb") == ("literal", "ab")
    assert lowered(r"a\bb") == ("concat", ("literal", "a"), ("empty",), ("literal", "b"))
    assert lowered(r"é\b", re.A) == ("concat", ("literal", "é"), ("empty",))
    assert lowered(r"\w+\b\W") == lowered(r"\w+\W")
    assert lowered(r"(?:^aa|bb)c$") == lowered(r"(?:aa|bb)c")


def test_only_what_is_not_known_is_looked_at() -> None:
    word = ("code_points", ((48, 57), (65, 90), (95, 95), (97, 122)))
    ahead = ("look_ahead", ("complement", ("concat", word, ("anything",))))
    assert lowered(r"a\b[b-]", re.A)[2] == ("look_ahead", ahead[1])
    assert lowered(r"[a-]\bb", re.A)[2][0] == "look_behind"
    assert lowered(r"a?^b")[2] == ("look_behind", ("epsilon",))
    assert lowered(r"a\Zb?")[2] == ("look_ahead", ("epsilon",))
    assert lowered(r"a$\n*")[2] == ("look_ahead", ("union", ("epsilon",), ("literal", "\n")))


def test_what_lookarounds_leave_open() -> None:
    """``$`` at the end of a lookahead, ``^`` at the beginning of a lookbehind, what may be empty there."""
    anything = ("anything",)
    letter = ("literal", "a")
    assert lowered(r"(?=a\Z)b?")[1] == ("look_ahead", letter)
    assert lowered(r"(?=a)b?")[1] == ("look_ahead", ("concat", letter, anything))
    assert lowered(r"(?=ab*)b{0,1}")[1] == lowered(r"(?=a)b?")[1]
    assert lowered(r"(?=a+)b?")[1][1] == ("concat", letter, anything)
    assert lowered(r"(?=a$)b?")[1][1] == ("concat", letter, ("repeat", ("literal", "\n"), 0, 1, 4))
    assert lowered(r"b?(?<=^a)")[2] == ("look_behind", letter)
    assert lowered(r"b?(?<!a)")[2] == ("look_behind", ("complement", ("concat", anything, letter)))
    union = lowered(r"(?=a\Z|b)c?")[1][1]
    assert union == ("union", letter, ("concat", ("literal", "b"), anything))


def test_lowered_anchors_are_kept() -> None:
    from tokamata.patterns.regex import lower

    to_expression(r"[a-]\b[b-]")
    kept = {key: expression for key, expression in lower._kept.items() if isinstance(key, tuple)}
    to_expression(r"[x-]\b[y-]")
    assert kept
    assert all(lower._kept[key] is expression for key, expression in kept.items())
