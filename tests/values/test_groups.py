"""Named groups of regular expressions: those that ``re.fullmatch`` finds, and JavaScript; in linear time."""

from __future__ import annotations

import random
import re
import warnings
from typing import Any

import pytest

import tokamata as tk
from tests.support.patterns.javascript import JavaScript
from tokamata.values import groups as groups_module

FLAGS = [re.I, re.M, re.S, re.X, re.A]
ATOMS = [
    "a", "b", "ab", "é", "É", ".", "[ab]", "[^a]", r"\w", r"\W", r"\d", "A", "\n", "aa", "ba", "", "(?:a|ab)",
    "(?:ab|a)", "(?i:a)", "[a-c]", r"\s",
]  # fmt: skip
ASSERTIONS = [
    "^",
    "$",
    r"\b",
    r"\B",
    r"\A",
    r"\Z",
    "(?=a)",
    "(?!b)",
    "(?<=a)",
    "(?<!b)",
    "(?=.*b)",
    "(?<=ab)",
    "(?!ab|$)",
]
QUANTIFIERS = ["*", "+", "?", "{2}", "{1,2}", "{0,3}", "{2,}", "*?", "+?", "??", "{1,2}?", "{0,3}?", "{1,}?"]
LETTERS = "aabbcAé\n1 "


class Patterns:
    """Random patterns with named groups.

    ``opening``: of a group with a name.
    """

    def __init__(
        self,
        draw: random.Random,
        opening: str = "(?P<{}>",
        atoms: list[str] = ATOMS,
        assertions: list[str] = ASSERTIONS,
    ) -> None:
        self.draw, self.opening, self.atoms, self.assertions = draw, opening, atoms, assertions
        self.names = 0

    def pattern(self, depth: int) -> str:
        draw = self.draw
        kind = draw.randrange(12) if depth else 0
        if kind <= 1:
            return draw.choice(self.atoms)
        if kind <= 4:
            return "".join(self.pattern(depth - 1) for _ in range(draw.randint(1, 3)))
        if kind == 5:
            return "(?:" + "|".join(self.pattern(depth - 1) for _ in range(draw.randint(2, 3))) + ")"
        if kind <= 8:
            self.names += 1
            return self.opening.format(f"g{self.names}") + self.pattern(depth - 1) + ")"
        if kind <= 10:
            return f"(?:{self.pattern(depth - 1)})" + draw.choice(QUANTIFIERS)
        return draw.choice(self.assertions)


def compared(seed: int, count: int) -> list[Any]:
    """Texts whose groups are not those of ``re``; at least ``count`` were compared."""
    draw = random.Random(seed)
    matched, differences = 0, []
    while matched < count:
        patterns = Patterns(draw)
        pattern = patterns.pattern(draw.randint(2, 5))
        flags = sum(int(flag) for flag in FLAGS if draw.random() < 0.15)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            judge = re.compile(pattern, flags)
            if not patterns.names:
                continue
            constraint = tk.regex(pattern, flags)
        for _ in range(30):
            text = "".join(draw.choices(LETTERS, k=draw.randint(0, 6)))
            expected = judge.fullmatch(text)
            if expected is None:
                continue
            matched += 1
            found = constraint.parse(text).groupdict()
            if found != expected.groupdict():
                differences.append((pattern, flags, text, found, expected.groupdict()))
    return differences


@pytest.mark.parametrize("seed", range(8))
def test_random_patterns_against_re(seed: int) -> None:
    differences = compared(seed, 500)
    assert not differences, differences[:3]


ECMA_ASSERTIONS = [one for one in ASSERTIONS if one not in (r"\A", r"\Z")]
ECMA_ATOMS = [atom for atom in ATOMS if not atom.startswith("(?i")] + ["[^]", r"\u{1F600}", r"\p{L}"]


@pytest.mark.parametrize("seed", range(4))
def test_random_patterns_against_javascript(javascript: JavaScript, seed: int) -> None:
    """A match may be anywhere in the text; a new turn of a repetition forgets its groups."""
    draw = random.Random(seed)
    matched = 0
    while matched < 500:
        patterns = Patterns(draw, "(?<{}>", ECMA_ATOMS, ECMA_ASSERTIONS)
        pattern = patterns.pattern(draw.randint(2, 5))
        if not patterns.names:
            continue
        letters = "".join(letter for letter in "ims" if draw.random() < 0.15)
        flags = sum(int({"i": re.I, "m": re.M, "s": re.S}[letter]) for letter in letters)
        texts = ["".join(draw.choices(LETTERS + "😀", k=draw.randint(0, 6))) for _ in range(20)]
        expected = javascript.groups(pattern, texts, letters)
        assert not isinstance(expected, str), (pattern, expected)
        constraint = tk.regex(pattern, flags, dialect="ecma")
        for text, groups in zip(texts, expected, strict=True):
            if groups is not None:
                matched += 1
                assert constraint.parse(text).groupdict() == groups, (pattern, letters, text)


@pytest.mark.parametrize(
    ("pattern", "text", "groups"),
    [
        ("(?P<a>x|xy)(?P<b>y?)", "xy", {"a": "x", "b": "y"}),
        ("(?P<a>x*?)(?P<b>x*)", "xx", {"a": "", "b": "xx"}),
        ("(?P<a>x{1,2}?)(?P<b>x*)", "xxx", {"a": "x", "b": "xx"}),
        ("(?:(?P<a>x)|(?P<b>y))*", "xy", {"a": "x", "b": "y"}),
        ("(?P<a>(?P<b>x)y)*", "xyxy", {"a": "xy", "b": "x"}),
        ("(?P<a>a*)*", "aa", {"a": ""}),
        ("(?P<a>a*)+", "aa", {"a": ""}),
        ("(?:(?P<a>^|.)){2}", "é", {"a": "é"}),
        ("(?P<é>x)", "x", {"é": "x"}),
        ("(?x) (?P<a> x # y\n) ", "x", {"a": "x"}),
        ("(?P<a>.)(?s:(?P<b>.))", "x\n", {"a": "x", "b": "\n"}),
        (r"(?P<a>\w+)\b.*", "éa b", {"a": "éa"}),
        ("(?P<key>[a-z]+): (?P<value>(?P<QUOTED_TEXT>))", 'a: "b\\"c"', {"key": "a", "value": '"b\\"c"'}),
        ("(?P<all>(?P<TEXT_UNTIL>;))(?P<rest>.*)", "ab;cd;", {"all": "ab;", "rest": "cd;"}),
    ],
)
def test_named_cases(pattern: str, text: str, groups: dict[str, str | None]) -> None:
    assert tk.regex(pattern).parse(text).groupdict() == groups


def test_groups_within_lookarounds_are_none() -> None:
    """A documented difference: ``re`` keeps those within a lookahead that holds."""
    pattern = "(?=(?P<ahead>a))a(?<=(?P<behind>a))(?!(?P<never>x))(?P<rest>.*)"
    found = tk.regex(pattern).parse("ab").groupdict()
    assert found == {"ahead": None, "behind": None, "never": None, "rest": "b"}
    judged = re.fullmatch(pattern, "ab")
    assert judged is not None
    assert judged.groupdict() == {"ahead": "a", "behind": "a", "never": None, "rest": "b"}


@pytest.mark.parametrize(
    ("pattern", "text", "groups"),
    [
        ("(?:a|a)*(?P<x>b?)", "a" * 20_000, {"x": ""}),
        ("(?P<x>(?:a*)*)b", "a" * 20_000 + "b", {"x": "a" * 20_000}),
        ("(?:a?){30}a{30}(?P<x>b*)", "a" * 30, {"x": ""}),
        ("(?P<x>(?:(?:a|b)*a)*)(?P<y>b*)", "ab" * 5_000, {"x": "ab" * 4_999 + "a", "y": "b"}),
        ("(?:(?P<x>a+)+)+(?P<y>c?)", "a" * 20_000, {"x": "a" * 20_000, "y": ""}),
        ("(?:a+){1,1000}(?P<x>b?)", "a" * 20_000, {"x": ""}),
        ("(?:(?=a*(?P<y>b))a)*(?P<x>b)", "a" * 2_000 + "b", {"x": "b", "y": None}),
        ("(?:(?<=^a*)a)*(?P<x>b)", "a" * 20_000 + "b", {"x": "b"}),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 40 else "",
)
def test_no_pattern_takes_exponential_time(pattern: str, text: str, groups: dict[str, str | None]) -> None:
    constraint = tk.regex(pattern)
    assert constraint.parse(text, limits=tk.Limits(seconds=20)).groupdict() == groups


def test_limits_and_cancelling() -> None:
    match = tk.regex("(?P<x>[ab]*)(?P<y>[ab]*)").parse("ab" * 50_000, limits=tk.Limits(memory_bytes=1 << 20))
    with pytest.raises(tk.LimitExceeded):
        tk.regex("(?P<x>a|b)*").parse("ab" * 50_000, limits=tk.Limits(memory_bytes=1 << 20)).groupdict()
    assert match.groupdict() == {"x": "ab" * 50_000, "y": ""}
    cancel = tk.CancelToken()
    match = tk.regex("(?P<x>a|b)*").parse("ab" * 50, cancel=cancel)
    cancel.cancel()
    with pytest.raises(tk.Cancelled):
        match.groupdict()


def test_groups_of_parts() -> None:
    dates = (
        tk.regex(r"(?P<year>\d{4})-(?P<month>\d\d)").separated_by(tk.literal(", ")).parse("2026-11, 2025-01")
    )
    assert [(date["year"], date["month"]) for date in dates] == [("2026", "11"), ("2025", "01")]


def test_a_pattern_is_compiled_once_for_its_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also after a text that was too much; what that one used is not kept."""
    made: list[str] = []
    compiler = groups_module._Compiler

    def counted(pattern: str, *arguments: Any) -> Any:
        made.append(pattern)
        return compiler(pattern, *arguments)

    monkeypatch.setattr(groups_module, "_Compiler", counted)
    limits = tk.Limits(memory_bytes=1 << 20)
    constraint = tk.regex("(?P<once>a|b)*")
    for text in ("ab", "b", "abba"):
        assert constraint.parse(text, limits=limits).groupdict() == {"once": text[-1]}
    assert len(made) == 1
    with pytest.raises(tk.LimitExceeded):
        constraint.parse("ab" * 50_000, limits=limits).groupdict()
    assert constraint.parse("ab", limits=limits).groupdict() == {"once": "b"}
    assert constraint.parse("ba", limits=limits).groupdict() == {"once": "a"}
    assert len(made) == 2
    assert 0 < groups_module._KEPT.memory_bytes <= groups_module._MOST_BYTES
