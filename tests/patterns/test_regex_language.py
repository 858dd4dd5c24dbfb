"""A pattern denotes what ``re.fullmatch`` accepts: cases as data, every small pattern, random ones."""

from __future__ import annotations

import json
import re
import sys
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.paths import DATA
from tests.support.patterns.naive_core import accepts, lowered
from tests.support.texts import all_texts
from tokamata.errors import NotRegularError, PatternSyntaxError, UnsupportedPatternError

CASES = json.loads((DATA / "regex_cases.json").read_text("utf-8"))
PIECES = json.loads((DATA / "regex_pieces.json").read_text("utf-8"))
FLAGS = {"i": re.I, "m": re.M, "s": re.S, "x": re.X, "a": re.A}

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")


def flags_of(letters: str) -> int:
    return sum(int(FLAGS[letter]) for letter in letters)


def compiled(pattern: str, flags: int = 0) -> re.Pattern[str] | str:
    """The pattern as ``re`` has it, or what ``re`` says against it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return re.compile(pattern, flags)
        except (re.error, OverflowError, ValueError) as error:
            return str(error)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['pattern'][:30]!r}-{case['flags']}")
def test_cases(case: dict[str, str]) -> None:
    flags = flags_of(case["flags"])
    expression = lowered(case["pattern"], flags)
    judge = re.compile(case["pattern"], flags)
    for text in case["accepts"]:
        assert judge.fullmatch(text), f"the table is wrong about {text!r}"
        assert accepts(expression, text), text
    for text in case["refuses"]:
        assert not judge.fullmatch(text), f"the table is wrong about {text!r}"
        assert not accepts(expression, text), text


def disagreement(pattern: str, flags: int, texts: list[str]) -> str | None:
    """What is wrong about a pattern, or ``None``."""
    judge = compiled(pattern, flags)
    try:
        expression = lowered(pattern, flags)
    except PatternSyntaxError as error:
        if sys.version_info < (3, 11) and error.reason.startswith("global flags"):
            return None  # Python 3.10 warns only
        return None if isinstance(judge, str) else "re accepts the pattern"
    except (NotRegularError, UnsupportedPatternError):
        return None
    if isinstance(judge, str):
        # A documented difference, which test_regex_lookaround.py has another judge for.
        return None if judge.startswith("look-behind requires") else f"re rejects the pattern: {judge}"
    for text in texts:
        if "\\B" in pattern and not text and sys.version_info >= (3, 14):
            continue  # there \B holds in an empty text
        if (judge.fullmatch(text) is not None) != accepts(expression, text):
            return f"about {text!r}"
    return None


@pytest.mark.parametrize(
    ("letters", "size", "alphabet", "flags"),
    [
        ("ab|*()", 6, "ab", ""),
        ("a?+{1,}", 5, "a1{", ""),
        ("a\n^$|*", 4, "a\n", ""),
        ("a\n^$|()", 5, "a\n", "m"),
        ("a-[]^\\", 5, "a-[]^\\", ""),
        ("a #\n*", 5, "a #", "x"),
        ("aA(?i:)", 5, "aA", ""),
    ],
)
def test_every_small_pattern(letters: str, size: int, alphabet: str, flags: str) -> None:
    texts = all_texts(alphabet, 3)
    for pattern in all_texts(letters, size):
        wrong = disagreement(pattern, flags_of(flags), texts)
        assert wrong is None, f"{pattern!r}: {wrong}"


ATOMS = st.sampled_from(PIECES["atoms"])
QUANTIFIERS = st.sampled_from(PIECES["quantifiers"])


def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    sequence = st.lists(inner, min_size=1, max_size=3).map("".join)
    union = st.lists(inner, min_size=2, max_size=3).map("|".join)
    group = st.tuples(
        st.sampled_from(["(", "(?:", "(?i:", "(?=", "(?!", "(?<=", "(?<!"]), sequence | union
    ).map(lambda two: f"{two[0]}{two[1]})")
    repeated = st.tuples(group, QUANTIFIERS).map("".join)
    return sequence | group | repeated


PATTERNS = st.recursive(ATOMS, grown, max_leaves=8)
TEXTS = st.lists(st.text("aAbkKſ1- é\n_", max_size=5), min_size=10, max_size=20)


@settings(max_examples=800, deadline=None)
@given(PATTERNS, TEXTS, st.sampled_from(["", "i", "s", "a", "ai", "m", "ms"]))
def test_random_patterns(pattern: str, texts: list[str], flags: str) -> None:
    assert disagreement(pattern, flags_of(flags), texts) is None


GARBAGE = st.lists(st.sampled_from(PIECES["garbage"]), max_size=9).map("".join)


@settings(max_examples=800, deadline=None)
@given(GARBAGE, TEXTS, st.sampled_from(["", "i", "x", "a", "m"]))
def test_garbage_is_refused_where_re_refuses_it(pattern: str, texts: list[str], flags: str) -> None:
    assert disagreement(pattern, flags_of(flags), texts[:5]) is None


@settings(max_examples=500, deadline=None)
@given(st.text(max_size=20), TEXTS)
def test_any_text_as_a_pattern(pattern: str, texts: list[str]) -> None:
    assert disagreement(pattern, 0, texts[:5]) is None


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), st.booleans())
def test_an_escaped_text_matches_itself(text: str, verbose: bool) -> None:
    assert accepts(lowered(re.escape(text), re.X if verbose else 0), text)
