"""The hook for specially named groups: what a callback is given, and what becomes of its answer."""

from __future__ import annotations

import re

import pytest

from tests.support.patterns.naive_core import Expression, accepts, lowered
from tokamata import errors
from tokamata.patterns.regex import MAX_DEPTH, ExtensionCall, to_expression

calls: list[ExtensionCall] = []


def raw(call: ExtensionCall) -> Expression:
    calls.append(call)
    return Expression("literal", f"<{call.argument}>")


def upper(call: ExtensionCall) -> Expression:
    return call.compile(call.argument.upper(), 0)  # type: ignore[return-value]


def text(call: ExtensionCall) -> Expression:
    return Expression("literal", call.unescape(call.argument, 0))


def part(call: ExtensionCall) -> Expression:
    return call.compile(call.argument, 0)  # type: ignore[return-value]


EXTENSIONS = {"RAW": raw, "UPPER": upper, "TEXT": text, "PART": part}


def extended(pattern: str, flags: int = 0, dialect: str = "python", **options: object) -> Expression:
    return lowered(pattern, flags, dialect=dialect, extensions=EXTENSIONS, **options)


def test_what_a_callback_is_given() -> None:
    calls.clear()
    expression = extended("(?i)a(?P<RAW>x|(y)[)]\\)z)+b")
    assert expression[2][:4] == ("repeat", ("literal", "<x|(y)[)]\\)z>"), 1, None)  # after a or A
    (call,) = calls
    assert (call.name, call.argument, call.position, call.argument_position) == ("RAW", "x|(y)[)]\\)z", 5, 13)
    assert (call.flags, call.dialect, call.pattern[call.position]) == (re.I, "python", "(")


@pytest.mark.parametrize(
    "argument",
    ["", "+", "a(b)c", "((()))", "\\)", "[)]", "[^)]", "[])]", "(?:a)", "(?#)", "(?P<n>a)", "\\\\", " # "],
)
@pytest.mark.parametrize("verbose", [False, True])
def test_where_an_argument_ends(argument: str, verbose: bool) -> None:
    if verbose and "#" in argument:
        argument = " # )\n"  # a comment, as everywhere under flag x
    expression = extended(f"a(?P<RAW>{argument})b", re.X if verbose else 0)
    assert expression == ("concat", ("literal", "a"), ("literal", f"<{argument}>"), ("literal", "b"))


@pytest.mark.parametrize("argument", ["", "(", "\\", "[", "[)", "a\\)"])
def test_arguments_that_do_not_end(argument: str) -> None:
    with pytest.raises(errors.PatternSyntaxError) as caught:
        extended(f"ab(?P<RAW>{argument}")
    assert (caught.value.position, caught.value.reason) == (2, "missing ), unterminated extension")


def test_sub_patterns() -> None:
    assert accepts(extended("(?P<UPPER>a|b)!"), "A!")
    assert not accepts(extended("(?P<UPPER>a|b)!"), "a!")
    assert accepts(extended("(?i:(?P<UPPER>a))"), "a")
    assert accepts(extended("(?:(?P<UPPER>a)|(?P<UPPER>(?P<RAW>x)))*".replace("RAW", "UPPER")), "AX")
    assert accepts(extended("(?P<UPPER>a)(?P<n>b)|c"), "Ab")


def test_sub_patterns_see_the_whole_text() -> None:
    for pattern, accepted, refused in [
        ("a?(?P<UPPER>^x)y", ["Xy"], ["aXy"]),
        ("(?P<UPPER>x$)y?", ["X"], ["Xy"]),
        ("[-a](?P<UPPER>(?!x)[x-z]|^)", ["-Y", "aY"], ["-X", "-", ""]),
        ("(?=(?P<UPPER>a))[Ab]b*", ["Ab", "A"], ["b"]),
        ("(?!(?P<UPPER>a))[Ab]b*", ["b"], ["Ab"]),
    ]:
        expression = extended(pattern)
        assert all(accepts(expression, text) for text in accepted), pattern
        assert not any(accepts(expression, text) for text in refused), pattern


def test_the_dialect_of_ecma() -> None:
    assert extended("^(?P<RAW>a)$", dialect="ecma") == ("literal", "<a>")
    assert accepts(extended("(?P<PART>\\u{61}|b)", dialect="ecma"), "xby")
    assert accepts(extended("^(?<RAW>a)$", dialect="ecma"), "a")
    assert calls[-1].dialect == "ecma"


def test_places_of_errors_in_arguments() -> None:
    with pytest.raises(errors.PatternSyntaxError) as caught:
        extended("ab(?P<UPPER>(x|*))")
    assert (caught.value.pattern, caught.value.position) == ("ab(?P<UPPER>(x|*))", 15)
    with pytest.raises(errors.PatternSyntaxError) as caught:
        extended("a(?P<TEXT>b\\q)")
    assert (caught.value.position, caught.value.reason) == (11, "bad escape \\q")
    with pytest.raises(errors.PatternSyntaxError, match="lone surrogate"):
        extended("a(?P<TEXT>\\ud800)")

    def refuse(call: ExtensionCall) -> Expression:
        raise call.error("no", "try yes", offset=1)

    with pytest.raises(errors.PatternSyntaxError) as caught:
        lowered("(?P<NO>ab)", extensions={"NO": refuse})
    assert (caught.value.position, caught.value.reason, caught.value.hint) == (8, "no", "try yes")


def test_positions_of_repeats_in_arguments() -> None:
    assert extended("abc(?P<UPPER>xy{2})")[2][2][4] == 14


def test_plain_texts() -> None:
    assert extended("(?P<TEXT>.*[a(b)]\\)\\n\\x41\\u00e9|)") == ("literal", ".*[a(b)])\nAé|")
    assert extended("^(?P<TEXT>\\u{41}\\cJ)$", dialect="ecma") == ("literal", "A\n")


def test_names_that_are_no_extensions() -> None:
    assert extended("(?P<WORD>ab)(?P<x>)(?P<Raw>c)") == lowered("(ab)(c)")
    assert lowered("(?P<RAW>)") == ("epsilon",)
    for dialect in ("python", "ecma"):
        with pytest.raises(errors.PatternSyntaxError, match="unknown extension 'RAWW'") as caught:
            extended("a(?P<RAWW>)", dialect=dialect)
        assert caught.value.position == 1
        assert caught.value.hint == "the extensions are PART, RAW, TEXT, UPPER"
    with pytest.raises(errors.PatternSyntaxError, match="unknown group"):
        extended("(?P<word>)", dialect="ecma")


def test_depth_and_nesting() -> None:
    nested = "(?P<UPPER>" * 10 + "x" + ")" * 10
    assert extended(nested) == ("literal", "X")
    with pytest.raises(errors.UnsupportedPatternError, match="20 deep"):
        extended("(?P<UPPER>" * 1000 + "x" + ")" * 1000)
    half = MAX_DEPTH // 2
    extended("(" * half + "(?P<UPPER>" + "(" * (half - 1) + ")" * (half - 1) + ")" + ")" * half)
    with pytest.raises(errors.LimitExceeded) as caught:
        extended("(" * half + "(?P<UPPER>" + "(" * half + ")" * half + ")" + ")" * half)
    assert caught.value.bound == MAX_DEPTH
    with pytest.raises(errors.LimitExceeded):
        to_expression("(?P<A>)", depth=0, extensions={"A": raw})  # type: ignore[dict-item]


def test_all_parts_share_one_bound_on_ranges() -> None:
    one = "".join(f"[\\w{chr(0x20000 + i)}]" for i in range(400))
    other = "".join(f"[\\w{chr(0x21000 + i)}]" for i in range(400))
    extended(f"(?P<PART>{one})(?P<PART>{one}){one}")
    extended(f"(?P<PART>{other})")
    with pytest.raises(errors.UnsupportedPatternError, match="500,000 ranges"):
        extended(f"(?P<PART>{one})(?P<PART>{other})")
