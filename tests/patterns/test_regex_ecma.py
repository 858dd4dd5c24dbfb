"""The dialect of ECMA-262: what is lowered, what is refused, and where it differs from Python's."""

from __future__ import annotations

import re

import pytest

from tests.support.patterns.engine import Engine
from tests.support.patterns.naive_core import Expression, accepts, lowered
from tokamata import errors
from tokamata.patterns.regex import to_expression
from tokamata.patterns.regex.classes import complement, named_class, normalize
from tokamata.patterns.unicode import alias_lines, property_ranges
from tokamata.patterns.unicode.ecma import ecma_property

ANYTHING = ("anything",)


def ecma(pattern: str, flags: int = 0) -> Expression:
    return lowered(pattern, flags, dialect="ecma")


def test_a_pattern_is_searched_for() -> None:
    assert ecma("ab") == ("concat", ANYTHING, ("literal", "ab"), ANYTHING)
    assert ecma("^ab") == ("concat", ("literal", "ab"), ANYTHING)
    assert ecma("ab$") == ("concat", ANYTHING, ("literal", "ab"))
    assert ecma("^ab$") == ("literal", "ab")
    assert ecma("^[a-z]+$")[:4] == lowered("[a-z]+")[:4]
    for pattern in ("", "a*", "^.*", ".*$", "(?:a|b?)", "^|a", "(a*)+"):
        assert ecma(pattern) == ANYTHING, pattern
    assert ecma("^a+") == ("concat", ("literal", "a"), ANYTHING)
    assert ecma("[]") == ("concat", ANYTHING, ("empty",), ANYTHING)


def test_anchors_are_seen_alternative_by_alternative() -> None:
    a, b = ("literal", "aa"), ("literal", "bb")
    assert ecma("^(aa|bb)$") == ("union", a, b)
    assert ecma("^aa$|^bb$") == ("union", a, b)
    assert ecma("^aa|bb$") == ("union", ("concat", a, ANYTHING), ("concat", ANYTHING, b))
    assert ecma("(^aa|bb)$") == ("union", a, ("concat", ANYTHING, b))
    assert ecma("((^aa|bb))cc$") == (
        "concat",
        ("union", a, ("concat", ANYTHING, b)),
        ("literal", "cc"),
    )
    assert ecma("(?=a)^aa") == ("concat", ("look_ahead", ("concat", ("literal", "a"), ANYTHING)), a, ANYTHING)
    assert ecma("^(?!bb$)aa$")[1] == ("look_ahead", ("complement", b))
    assert ecma("a?^b") == ecma("^b") == ("concat", ("literal", "b"), ANYTHING)
    assert "look_behind" in str(ecma("(?:a?^b)+"))


def test_lines() -> None:
    line_end = ("code_points", ((10, 10), (13, 13), (0x2028, 0x2029)))
    before = ("repeat", ("concat", ANYTHING, line_end), 0, 1, 0)
    after = ("repeat", ("concat", line_end, ANYTHING), 0, 1, 3)
    assert ecma("^ab$", re.M) == ("concat", before, ("literal", "ab"), after)
    assert ecma("^.$") == ("code_points", complement(line_end[1]))
    assert ecma("^.$", re.S) == ecma("^[^]$") == ("code_points", complement(()))


@pytest.mark.parametrize(
    ("pattern", "accepted", "refused"),
    [
        ("b", ["b", "abc", "\nb"], ["", "ac"]),
        ("^b$", ["b"], ["b\n", "\nb", "abc"]),
        ("^.$", ["a", "😀", "\x85", "\v"], ["\n", "\r", "\u2028", "\u2029", "ab"]),
        (r"^\d$", ["7"], ["٣", "a"]),
        (r"^\{\{.+}}$", ["{{a}}"], ["{{}}", "{{a}"]),
        ("^[[a-z]*[-]?[a-z]*]*$", ["[a-z]]", "", "a-"], ["--]"]),
        ("^${x}]{2}{$", [], ["${x}]]{"]),
        (r"^\${x}]{2}{$", ["${x}]]{"], ["${x}]{"]),
        (r"^\w$", ["_"], ["é", "ſ"]),
        (r"^\s$", ["\ufeff", "\u2029", "\xa0", "\v"], ["\x1c", "\x85", "\u180e"]),
        (r"^\cJ\cj\x41\u0042\u{43}\u{000044}\0$", ["\n\nABCD\0"], []),
        (r"^\ud83d\ude00[\ud83d\ude00][😀]$", ["😀😀😀"], []),
        (r"^\ud83d", [], ["😀", ""]),
        (r"^\u{d83d}\u{de00}", [], ["😀"]),
        (r"^[\b]$", ["\b"], ["b"]),
        ("^[^]$", ["a", "\n"], ["", "ab"]),
        ("^a[]?$", ["a"], [""]),
        (r"^[\w-]\-\_\@\"\'\ \:\%\/\#$", ["-" + "-_@\"' :%/#"], []),
        (r"^(?<year>\d{4})(?<$x>a)(?<\u0061b>c)$", ["2024ac"], ["202ac"]),
        (r"^\p{Script=Greek}\p{sc=Grek}\p{Lu}\p{L}\p{Alphabetic}\P{Any}?$", ["αβAbc"], ["αβAb"]),
        (r"\B", ["", "-", "ab"], ["a"]),
        (r"^(?:\b|a){2,3}$", ["a", "aa"], ["", "b"]),
        (r"(?<=a+b)c(?!d)", ["aabc"], ["aabcd", "bc"]),
        ("[[a]]".replace("]]", "]\\]"), ["[]", "a]"], ["[", "b]"]),
        ("^[--a-b-c]$", ["-", "5", "b", "c"], ["d"]),
    ],
)
def test_languages(pattern: str, accepted: list[str], refused: list[str]) -> None:
    expression, engine = ecma(pattern), Engine(to_expression(pattern, dialect="ecma"))
    for text in accepted:
        assert accepts(expression, text), text
        assert engine.accepts(text), text
    for text in refused:
        assert not accepts(expression, text), text
        assert not engine.accepts(text), text


@pytest.mark.parametrize(
    ("pattern", "flags", "accepted", "refused"),
    [
        ("^k$", re.I, ["k", "K", "\u212a"], []),
        (r"^\w$", re.I, ["ſ", "\u212a", "a"], ["é"]),
        (r"^[^\W]$", re.I, ["ſ"], ["é"]),
        (r"^\P{Lu}$", re.I, ["a", "A", "1"], []),
        (r"^[^\P{Lu}]$", re.I, [], ["a", "A"]),
        ("^ß$", re.I, ["ẞ"], ["SS", "ss"]),
        ("^i$", re.I, ["I"], ["İ", "ı"]),
        (r"ſ\b-", re.I, ["ſ-"], []),
        (r"ſ\b-", 0, [], ["ſ-"]),
        ("^a$", re.M, ["b\na\rc", "a\u2028"], ["ba"]),
        ("^a.b$", re.S, ["a\nb"], []),
    ],
)
def test_flags(pattern: str, flags: int, accepted: list[str], refused: list[str]) -> None:
    expression, engine = ecma(pattern, flags), Engine(to_expression(pattern, flags, dialect="ecma"))
    for text in accepted:
        assert accepts(expression, text), text
        assert engine.accepts(text), text
    for text in refused:
        assert not accepts(expression, text), text
        assert not engine.accepts(text), text


@pytest.mark.parametrize(
    ("pattern", "position", "reason"),
    [
        ("a{2", 1, "incomplete quantifier"),
        ("a{,2}", 1, "incomplete quantifier"),
        ("{2}", 0, "nothing to repeat"),
        (r"\p{L}}", 5, "lone }"),
        (r"]\P{L}", 0, "lone ]"),
        (r"a{b\u{61}", 1, "lone {"),
        ("a{2,1}", 1, "min repeat greater than max repeat"),
        ("*", 0, "nothing to repeat"),
        ("a**", 2, "multiple repeat"),
        ("a*+", 2, "multiple repeat"),
        ("^*", 1, "nothing to repeat"),
        (r"\b+", 2, "nothing to repeat"),
        ("(?=a)*", 5, "nothing to repeat"),
        ("(?<!a)?", 6, "nothing to repeat"),
        ("(a", 0, "missing ), unterminated subpattern"),
        ("a)", 1, "unbalanced parenthesis"),
        ("[a", 0, "unterminated character set"),
        ("[", 0, "unterminated character set"),
        ("x[a\\]", 1, "unterminated character set"),
        ("[b-a]", 1, "bad character range b-a"),
        (r"[\d-z]", 1, r"bad character range \d-z"),
        (r"[a-\w]", 1, r"bad character range a-\w"),
        ("\\", 0, "bad escape (end of pattern)"),
        (r"x\A", 1, r"bad escape \A in ECMA-262 (flag u)"),
        (r"\Z", 0, r"bad escape \Z in ECMA-262 (flag u)"),
        (r"\a", 0, r"bad escape \a in ECMA-262 (flag u)"),
        (r"\é", 0, r"bad escape \é in ECMA-262 (flag u)"),
        ("\\\n", 0, r"bad escape \U+000A in ECMA-262 (flag u)"),
        (r"\00", 0, r"bad escape \0 in ECMA-262 (flag u)"),
        (r"[\1]", 1, r"bad escape \1 in ECMA-262 (flag u)"),
        (r"[\B]", 1, r"bad escape \B in ECMA-262 (flag u)"),
        (r"\x4", 0, r"bad escape \x in ECMA-262 (flag u)"),
        (r"\u12", 0, r"bad escape \u in ECMA-262 (flag u)"),
        (r"\u{110000}", 0, r"bad escape \u in ECMA-262 (flag u)"),
        (r"\U0001F600", 0, r"bad escape \U in ECMA-262 (flag u)"),
        (r"\c", 0, r"bad escape \c in ECMA-262 (flag u)"),
        (r"\pL", 0, r"bad escape \p in ECMA-262 (flag u)"),
        (r"\p{greek}", 0, r"unknown Unicode property 'greek' in ECMA-262; write \p{Script=Greek}"),
        (r"[\p{IsL}]", 1, r"unknown Unicode property 'IsL' in ECMA-262; write \p{General_Category=Letter}"),
        ("(?P<n>a)", 0, "unknown group (?P<…)"),
        ("(?#a)", 0, "unknown group (?#…)"),
        ("(?>a)", 0, "unknown group (?>…)"),
        ("(?i)a", 0, "inline flags (?i)…)"),
        ("(?i:a)", 0, "inline flags (?i:…)"),
        ("(?", 2, "unexpected end of pattern"),
        ("(?*)", 0, "unknown group (?*…)"),
        ("(?<n", 3, "missing >, unterminated name"),
        ("(?<>a)", 3, "bad group name ''"),
        ("(?<1>a)", 3, "bad group name '1'"),
        ("(?<n>a)|(?<n>b)", 11, "redefinition of group name 'n' as group 2; was group 1"),
        (r"\1", 1, "invalid group reference 1"),
        (r"(a)\2", 4, "invalid group reference 2"),
        (r"\k<n>", 0, "unknown group name 'n'"),
    ],
)
def test_syntax_errors(pattern: str, position: int, reason: str) -> None:
    with pytest.raises(errors.PatternSyntaxError) as caught:
        to_expression(pattern, dialect="ecma")
    assert (caught.value.position, caught.value.reason) == (position, reason)


@pytest.mark.parametrize("pattern", [r"(a)\1", r"\1(a)", r"(?<n>a)\k<n>", r"\k<n>(?<n>a)", r"(a\1)"])
def test_backreferences(pattern: str) -> None:
    with pytest.raises(errors.NotRegularError, match="backreference"):
        to_expression(pattern, dialect="ecma")


def test_hints_say_what_to_do() -> None:
    for pattern in (r"\A", "a{2", r"}\p{L}", r"\q", "(?P<n>a)", "(?i:a)", r"\00", "[", r"\é", r"\x4", r"\p"):
        with pytest.raises(errors.PatternSyntaxError) as caught:
            to_expression(pattern, dialect="ecma")
        assert caught.value.hint, pattern


def test_bounds_and_flags() -> None:
    with pytest.raises(errors.UnsupportedPatternError, match="above 1,000,000"):
        to_expression("a{1000001}", dialect="ecma")
    with pytest.raises(errors.PatternSyntaxError, match="too large"):
        to_expression("a{" + "9" * 100_000 + "}", dialect="ecma")
    with pytest.raises(ValueError, match=r"flags must be of re.I, re.M and re.S, not re.VERBOSE"):
        to_expression("a", re.X, dialect="ecma")
    with pytest.raises(ValueError, match='dialect must be "python" or "ecma", not \'perl\''):
        to_expression("a", dialect="perl")
    with pytest.raises(errors.LimitExceeded):
        to_expression("((a))", depth=1, dialect="ecma")


def test_properties() -> None:
    for same in (
        "Lu gc=Lu General_Category=Uppercase_Letter Uppercase_Letter",
        "Script=Greek sc=Grek Script=Grek",
        "Script_Extensions=Greek scx=Grek",
        "Alphabetic Alpha",
        "White_Space space",
        "punct P Punctuation",
    ):
        first, *others = same.split()
        assert all(ecma_property(other) == ecma_property(first) != () for other in others), same
    assert ecma_property("Any") == ((0, 0x10FFFF),)
    assert ecma_property("ASCII") == ((0, 0x7F),)
    assert ecma_property("Assigned") == property_ranges("Assigned")
    assert ecma_property("scx=Greek") != ecma_property("sc=Greek")
    for wrong in ["", "lu", "GREEK", "Greek", "L&", "InBasicLatin", "Block=Basic_Latin", "Alpha=Yes"]:
        with pytest.raises(KeyError):
            ecma_property(wrong)
    with pytest.raises(KeyError, match="property of strings"):
        ecma_property("RGI_Emoji")


def test_every_name_of_unicode_is_taken_or_explained() -> None:
    for property_name, alias, canonical in alias_lines():
        if property_name in ("General_Category", "Script"):
            expected = property_ranges(f"{property_name}={canonical}")
            assert ecma_property(f"{property_name}={alias}") == expected
        elif property_name == "Block":
            with pytest.raises(KeyError):
                ecma_property(f"Block={alias}")


def test_sets_are_kept_apart_from_those_of_python() -> None:
    """Sets are kept by name; the names of the two dialects must never be the same."""
    for pattern in (r"^[\w-]$", r"^\w$", r"^[\s]$", r"^\s$", r"^[^\d]$", "^.$"):
        for dialect, flags in [("python", 0), ("ecma", 0), ("python", re.A), ("ecma", re.I)]:
            expression = lowered(pattern, flags, dialect=dialect)
            engine = Engine(to_expression(pattern, flags, dialect=dialect))
            for text in ("a", "é", "1", "٣", "\u2028", "\x1c", "ſ", "-", "\r"):
                assert engine.accepts(text) == accepts(expression, text), (pattern, dialect, flags, text)
    assert ecma(r"^\s$")[1] == named_class("es") != normalize(named_class("s"))
