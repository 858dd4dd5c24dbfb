"""What extensions are given: how groups are cut into arguments, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tokamata as tk
from tests.support.patterns.extension_probes import NAMES, taken
from tokamata.constraints.extension_constraints import expressions

# ---- parts of groups --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "dialect", "accepted", "refused"),
    [
        ("(?P<DELIMITED_LIST>[|]|a)", "python", ["a", "a|a"], ["a,a", "[|]"]),
        (r"(?P<DELIMITED_LIST>\||a)", "python", ["a", "a|a"], ["a,a"]),
        ("(?P<DELIMITED_LIST>,|[]|[]|a)", "python", ["]", "|", "[,a"], ["]]", ","]),
        ("(?P<DELIMITED_LIST>(?:,|;)|a|(b|c))", "python", ["a;b,c"], ["a|b"]),
        ("(?P<DELIMITED_LIST>,|(?P<DELIMITED_LIST>-|a|b))", "python", ["a-b,a", "b"], ["a-", "a,-b"]),
        (r"(?P<DELIMITED_LIST>,|(?P<SUBSTRING_OF>a|b\)))", "python", ["a|b,", ",", "|b),a"], ["ab"]),
        ("(?P<DELIMITED_SUBSEQUENCE_OF>,(?#|)|a(?#(|)|b)", "python", ["a,b", "b"], ["b,a", "a|b", "b)"]),
        ("(?x)(?P<DELIMITED_SUBSEQUENCE_OF> , # |(\n | a | b)", "python", ["a,b", "b"], ["b,a", " a"]),
        ("(?i)(?P<DELIMITED_LIST>x|a)", "python", ["aXA"], ["b"]),
        (r"(?P<DELIMITED_LIST>,|a\b)b?", "python", ["a", "a,a"], ["ab", "a,ab"]),
        ("^(?P<DELIMITED_SUBSEQUENCE_OF>,|[^]|b|c)$", "ecma", ["b,c", "x,c", "x,b,c"], ["c,c,b", "b,,,c"]),
        ("^(?P<DELIMITED_LIST>[]|-|[|]|a)$", "ecma", ["|", "a", "-"], ["a-a", ""]),
        ("^(?P<DELIMITED_LIST>[^]|b)$", "ecma", ["b", "b|b", "b\nb"], ["bb"]),
        (r"^(?P<TEXT_UNTIL>\u{61}\))$", "ecma", ["a)", "xa)"], ["a)a)", "ua)u"]),
    ],
)
def test_arguments_are_cut_as_their_dialect_does(
    pattern: str, dialect: Any, accepted: list[str], refused: list[str]
) -> None:
    assert taken(tk.regex(pattern, dialect=dialect), accepted + refused) == set(accepted)


def test_items_of_functions_see_themselves_alone() -> None:
    word, probes = tk.regex(r"a\b"), ["aba", "a", "ab"]
    assert taken(tk.delimited_list(word, tk.literal("b")), probes) == {"aba", "a"}
    assert taken(tk.delimited_subsequence_of([word, word], tk.literal("b")), probes) == {"aba", "a"}


# ---- errors -----------------------------------------------------------------------------------

WRONG_GROUPS = {
    "QUOTED_TEXT>x": "QUOTED_TEXT takes no argument",
    "UNQUOTED_TEXT> ": "UNQUOTED_TEXT takes no argument",
    "IMAGE><image>": "IMAGE takes no argument",
    "CONTROL_TOKEN>": "CONTROL_TOKEN needs an argument",
    "TEXT_UNTIL>": "TEXT_UNTIL needs an argument",
    "SUBSTRING_OF>": "SUBSTRING_OF needs an argument",
    "DELIMITED_LIST>": "DELIMITED_LIST needs an argument",
    "DELIMITED_LIST>,": "DELIMITED_LIST needs a delimiter and an item",
    "DELIMITED_LIST>(,|a)": "DELIMITED_LIST needs a delimiter and an item",
    "DELIMITED_SUBSEQUENCE_OF>": "DELIMITED_SUBSEQUENCE_OF needs an argument",
    "DELIMITED_SUBSEQUENCE_OF>,": "DELIMITED_SUBSEQUENCE_OF needs a delimiter and an item",
    "DELIMITED_SUBSEQUENCE_OF>,|" + "|".join(["a"] * 1001): "DELIMITED_SUBSEQUENCE_OF has 1,001 items",
    "TEXT_TOKEN>a": "TEXT_TOKEN takes a quantifier alone",
    "TEXT_TOKEN>++": "TEXT_TOKEN takes a quantifier alone",
    "PARAGRAPH_TOKEN>{,3}": "PARAGRAPH_TOKEN takes a quantifier alone",
    "PARAGRAPH_TOKEN>{3,2}": "PARAGRAPH_TOKEN has a minimum above its maximum",
}


@pytest.mark.parametrize("group", WRONG_GROUPS, ids=lambda group: group[:30])
def test_wrong_arguments_of_groups(group: str) -> None:
    for dialect in ("python", "ecma"):
        with pytest.raises(tk.PatternSyntaxError) as error:
            tk.regex(f"ab(?P<{group})", dialect=dialect)  # type: ignore[arg-type]
        assert error.value.reason == WRONG_GROUPS[group]
        assert error.value.position == 2
        assert error.value.hint


def test_errors_inside_of_arguments_have_their_places() -> None:
    for pattern, position, reason in (
        ("a(?P<DELIMITED_LIST>,|b|c**)", 26, "multiple repeat"),
        ("a(?P<DELIMITED_SUBSEQUENCE_OF>[z-a]|b)", 31, "bad character range z-a"),
        (r"a(?P<TEXT_UNTIL>bc\d)", 18, r"bad escape \d"),
        (r"(?P<SUBSTRING_OF>\ud800)", 17, "lone surrogate U+D800"),
        ("a(?P<SUBSTRING_OF>(b)", 1, "missing ), unterminated extension"),
        ("(?P<DELIMITED_LIST>,|(?P<TEXT_TOKEN>x))", 21, "TEXT_TOKEN takes a quantifier alone"),
    ):
        with pytest.raises(tk.PatternSyntaxError) as error:
            tk.regex(pattern)
        assert (error.value.position, error.value.reason) == (position, reason), pattern


def test_unknown_names_list_the_known() -> None:
    for name in ("QUOTED_TXT", "SUBSTRING", "TEXT_TOKENS"):
        for dialect in ("python", "ecma"):
            with pytest.raises(tk.PatternSyntaxError, match=f"unknown extension '{name}'") as error:
                tk.regex(f"a(?P<{name}>)", dialect=dialect)  # type: ignore[arg-type]
            assert error.value.position == 1
            assert error.value.hint == f"the extensions are {NAMES}"
            assert NAMES in str(error.value)
    assert taken(tk.regex("(?P<SUBSTRING>abc)"), ["abc", "ab", ""]) == {"abc"}  # a group like any other


A = tk.literal("a")
WRONG_CALLS: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: tk.text_until(""), ValueError, "at least one character"),
    (lambda: tk.text_until("a\ud800"), ValueError, "surrogate U\\+D800 at position 1"),
    (lambda: tk.text_until(b"a"), TypeError, "must be a str, not b'a'"),  # type: ignore[arg-type]
    (lambda: tk.text_until(), TypeError, "phrase"),  # type: ignore[call-arg]
    (lambda: tk.substring_of("\udfff"), ValueError, "surrogate"),
    (lambda: tk.substring_of(None), TypeError, "must be a str, not None"),  # type: ignore[arg-type]
    (lambda: tk.substring_of(), TypeError, "text"),  # type: ignore[call-arg]
    (lambda: tk.control_token("\ud800"), ValueError, "surrogate"),
    (lambda: tk.control_token(-1), ValueError, "whole number, at least 0"),
    (lambda: tk.control_token(1 << 31), ValueError, "whole number, at least 0"),
    (lambda: tk.control_token(1.0), TypeError, "not 1.0"),  # type: ignore[arg-type]
    (lambda: tk.control_token(None), TypeError, "not None"),  # type: ignore[arg-type]
    (lambda: tk.delimited_list("a", A), TypeError, r"; write tokamata\.literal"),  # type: ignore[arg-type]
    (lambda: tk.delimited_list(A, ","), TypeError, r"; write tokamata\.literal"),  # type: ignore[arg-type]
    (lambda: tk.delimited_list(A, 5), TypeError, "a type or a schema, not 5"),  # type: ignore[arg-type]
    (lambda: tk.delimited_list(A, A, 3, 2), ValueError, "whole number"),
    (lambda: tk.delimited_list(A, A, -1), ValueError, "whole number"),
    (lambda: tk.delimited_list(A, A, 1.5), ValueError, "whole number"),  # type: ignore[arg-type]
    (lambda: tk.delimited_subsequence_of([], A), ValueError, "1 to 1,000 constraints, not one of 0"),
    (
        lambda: tk.delimited_subsequence_of([A] * 1001, A),
        ValueError,
        "not one of 1,001",
    ),
    (
        lambda: tk.delimited_subsequence_of(["a"], A),
        TypeError,
        "a type or a schema, not",
    ),  # type: ignore[list-item]
    (
        lambda: tk.delimited_subsequence_of([A], ","),
        TypeError,
        "a type or a schema, not",
    ),  # type: ignore[arg-type]
    (lambda: tk.delimited_subsequence_of("ab", A), TypeError, "a list of constraints, not 'ab'"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("call", "error", "message"), WRONG_CALLS)
def test_wrong_arguments_of_functions(
    call: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()


def test_every_extension_is_a_group_and_a_function() -> None:
    assert ", ".join(sorted(expressions.EXTENSIONS)) == NAMES
    assert {name.lower() for name in NAMES.split(", ")} == set(tk.constraints.extension_constraints.__all__)


@pytest.mark.parametrize("name", ["TEXT_TOKEN", "PARAGRAPH_TOKEN"])
@pytest.mark.parametrize("look", ["?=", "?!", "?<=", "?<!"])
def test_a_lookaround_knows_no_tokens(name: str, look: str) -> None:
    with pytest.raises(tk.UnsupportedPatternError, match="cut into tokens") as caught:
        tk.regex(f"ab({look}x(?P<{name}>))c")
    assert caught.value.position == 2
    with pytest.raises(tk.UnsupportedPatternError) as caught:
        tk.regex(f"(?P<DELIMITED_LIST>,|a({look}x(?P<{name}>))|b)")
    assert caught.value.position == 22
    tk.regex(f"(?P<{name}>)({look}x)a*")
