"""What is refused, by name and position, with a caret under the place."""

from __future__ import annotations

import json
import re
import sys

import pytest

from tests.support.paths import DATA
from tests.support.patterns.naive_core import lowered
from tokamata import errors
from tokamata.patterns.regex import MAX_DEPTH, to_expression

CASES = json.loads((DATA / "regex_errors.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: ascii(case["pattern"]))
def test_errors(case: dict[str, str]) -> None:
    pattern, position = case["pattern"], case["position"]
    with pytest.raises(errors.PatternError) as caught:
        to_expression(pattern)
    error = caught.value
    assert type(error) is getattr(errors, case["error"])
    assert (error.pattern, error.position, error.reason) == (pattern, position, case["reason"])
    lines = str(error).split("\n")
    assert lines[0] == f"{error.reason} at position {position}"
    assert lines[2] == " " * (4 + int(position)) + "^"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "case", [c for c in CASES if c["error"] == "PatternSyntaxError"], ids=lambda c: c["reason"]
)
def test_re_refuses_it_too(case: dict[str, str]) -> None:
    newer = case["pattern"] == "\\z" and sys.version_info >= (3, 14)
    older = "global flags" in case["reason"] and sys.version_info < (3, 11)
    if newer or older or "surrogate" in case["reason"]:
        re.compile(case["pattern"])  # documented differences
        return
    with pytest.raises((re.error, OverflowError, ValueError)):
        re.compile(case["pattern"])


def test_hints_say_what_to_do() -> None:
    for pattern in ("(a)\\1", "(?R)", "(?>a)", "a*+", "[b-a]", "a**", "(?<x>a)", "\\b+", "(a", "\\q"):
        with pytest.raises(errors.PatternError) as caught:
            to_expression(pattern)
        assert caught.value.hint, pattern


def test_near_names_of_properties_are_shown() -> None:
    with pytest.raises(errors.PatternSyntaxError, match=r"near it are .*greek"):
        to_expression("\\p{Script=Greekk}")


def test_bytes_and_compiled_patterns() -> None:
    with pytest.raises(TypeError, match="decode"):
        to_expression(b"a")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"\.pattern"):
        to_expression(re.compile("a"))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not 1"):
        to_expression(1)  # type: ignore[arg-type]


def test_flags() -> None:
    with pytest.raises(ValueError, match="LOCALE"):
        to_expression("a", re.L)
    with pytest.raises(ValueError, match="incompatible"):
        to_expression("a", re.A | re.U)
    with pytest.raises(ValueError, match="flags must be"):
        to_expression("a", 1 << 20)
    assert lowered("é", re.U) == ("literal", "é")


def test_depth() -> None:
    pattern = "(" * MAX_DEPTH + "a" + ")*" * MAX_DEPTH
    assert lowered(pattern)[0] == "repeat"
    with pytest.raises(errors.LimitExceeded) as caught:
        to_expression("(" + pattern + ")")
    assert (caught.value.limit, caught.value.bound, caught.value.position) == ("depth", MAX_DEPTH, MAX_DEPTH)
    with pytest.raises(errors.LimitExceeded):
        to_expression("(" * 100_000 + "a" + ")" * 100_000)
    with pytest.raises(errors.LimitExceeded):
        to_expression("((a))", depth=1)


def test_bounds() -> None:
    assert lowered("a{1000000}") == ("repeat", ("literal", "a"), 1000000, 1000000, 0)
    assert lowered("a{1000000,}") == ("repeat", ("literal", "a"), 1000000, None, 0)
    with pytest.raises(errors.UnsupportedPatternError, match="above 1,000,000"):
        to_expression("a{1000001,}")
    with pytest.raises(errors.PatternSyntaxError, match="too large"):
        to_expression("a{" + "9" * 100_000 + "}")
