"""The format ``regex`` against a real JavaScript engine, and against the dialect that reads such patterns."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest

from tests.support.patterns.engine import Engine
from tests.support.patterns.javascript import JavaScript
from tokamata.errors import NotRegularError, UnsupportedPatternError
from tokamata.patterns.json_schema.formats import format_language
from tokamata.patterns.json_schema.formats.ecma_patterns import DEPTH
from tokamata.patterns.regex import to_expression

TERMS = [
    "a", "b", "0", "19", "^", "$", ".", "*", "+", "?", "(", ")", "(?:", "(?<n>", "(?<name>", "[", "]",
    "{", "}", "{2}",
    "{2,}", "{1,3}", "{3,1}", "{10,12}", "{12,10}", "{100,250}", "{100,105}", "|", "\\", "\\d", "\\b",
    "\\B", "\\w",
    "\\1", "\\2", "\\k<n>", "\\k<name>", "\\0", "\\cA", "\\x41", "\\u0041", "\\u{1F600}", "\\u{110000}",
    "\\ud83d",
    "\\p{L}", "\\p{Script=Greek}", "\\p{Greek}", "\\/", "\\-", "-", "é", "漢", "😀", "\\t", "\\a", "/",
    ",", " ", "n", ":",
    "<", "=", "!", "\\^", "\\\\", "\n", "\\]",
]  # fmt: skip
MEMBERS = [
    "a", "z", "^", "-", "-", "-", "\\d", "\\-", "\\]", "0", "9", "é", "я", "\\x41", "\\u0041", "\\u00e9",
    "\\u{1F600}",
    "😀", "\\ud83d", "\\ude00", "\\udc00", "\\b", "\\0", "\\p{L}", "\\cA", "[", "(", "*", "\\^", "漢",
    "龥", "\\t", "~", "!",
]  # fmt: skip
QUANTIFIERS = ["*", "+?", "?", "{2}", "{1,2}", "{2,1}", "|"]


@pytest.fixture(scope="module")
def patterns() -> Engine:
    expression = format_language("regex")
    assert expression is not None
    return Engine(expression)


def drawn(generator: random.Random, depth: int) -> str:
    text = ""
    for _ in range(generator.randrange(4)):
        kind = generator.random()
        if kind < 0.35 and depth:
            opening = generator.choice(["(", "(?:", "(?=", "(?<!", "(?<n>", "("])
            text += opening + drawn(generator, depth - 1) + ")"
        elif kind < 0.5:
            text += "[" + "".join(generator.choice(MEMBERS) for _ in range(generator.randrange(6))) + "]"
        else:
            text += generator.choice(TERMS)
        if generator.random() < 0.4:
            text += generator.choice(QUANTIFIERS)
    return text


@pytest.mark.parametrize("seed", range(4))
def test_nothing_invalid_and_little_left_out(javascript: JavaScript, patterns: Engine, seed: int) -> None:
    generator = random.Random(seed)
    valid = left_out = 0
    for _ in range(300):
        text = drawn(generator, 3)
        expected = isinstance(javascript.finds(text, []), list)
        found = patterns.accepts(text)
        assert expected or not found, ascii(text)
        valid += expected
        left_out += expected and not found
        if found:
            with suppress(NotRegularError, UnsupportedPatternError):  # references are right, if not regular
                to_expression(text, dialect="ecma")
    assert valid > 50
    assert left_out < valid / 10


@pytest.mark.parametrize(
    "text",
    [
        "", r"^\d{3}-\d{4}$", r"^[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}$", "[!@#$%^&*]", "[^^]",
        "[]", "[^]",
        "[-a]", "[a-]", "[--a]", "[+--]", r"[\x00-\x1f\x7f]", r"[\u0600-\u06ff]", r"[\u4e00-\u9fa5]",
        "[一-龥]", "[а-яА-ЯёЁ]",
        "[가-힣]", "[㐀-䶵]", "[ぁ-ん]", "[ァ-ヶ]", "[è-ë]", "[Ā-ž]", "[א-ת]", "[؀-ۿ]", "[α-ω]",
        "[À-ÖØ-öø-ÿ]", r"[\u{1F300}-\u{1F6FF}]", "[😀-🙏]", r"[\0-ÿ]", r"[a-\u00ff]", "(?<year>[0-9]{4})",
        r"(a)(b)\2\1",
        r"(?<a>x)\k<a>+", "x{0,0}", "x{5,}?", "x{9,10}", "x{100,255}", "(?=a)(?!b)(?<=c)(?<!d)",
        "(" * DEPTH + ")" * DEPTH,
        r"\p{Lu}\P{Script=Greek}\p{sc=Grek}\p{Emoji}", r"\u{0001F600}\cJ\xff\/", "a||b|", r"\0*",
    ],
)  # fmt: skip
def test_patterns(javascript: JavaScript, patterns: Engine, text: str) -> None:
    assert isinstance(javascript.finds(text, []), list)
    assert patterns.accepts(text)


@pytest.mark.parametrize(
    "text",
    [
        "(", ")", "[", "]", "{", "}", "a{", "a**", "^*", "(?=a)*", "(?<=a)+", r"\b?", r"\1", r"(a)\2",
        r"\k<n>",
        r"(?<n>a)\k<m>", "(?<n>a)(?<n>b)", "[z-a]", r"[\d-z]", r"[a-\d]", "[b-a]", r"[\x41-\x40]",
        r"[\u0042-\u0041]",
        "[я-а]", r"[\ud83d\udc00-\ue000]", "x{2,1}", "x{10,9}", "x{200,100}", r"\-", r"\a", r"\_",
        r"\u{110000}", r"\p{L",
        r"\p{Foo}", r"\p{greek}", r"\c1", r"\x4", r"\01", r"[\01]", "(?#a)", "(?P<n>a)", "(?>a)", "(?i)a",
        "a\\",
    ],
)  # fmt: skip
def test_no_patterns(javascript: JavaScript, patterns: Engine, text: str) -> None:
    assert isinstance(javascript.finds(text, []), str)
    assert not patterns.accepts(text)


# What docs/formats.md says is left out.
@pytest.mark.parametrize(
    "text",
    [
        "(" * (DEPTH + 1) + ")" * (DEPTH + 1), "(?<a>x)(?<b>y)", r"(?<ab>x)\k<ab>", r"\1(a)", r"((a))\2",
        "x{01,2}",
        "x{1000,1001}", "x{255,255}", r"[\u4e00-\u4e10]", "[一-丁]", "[Ā-Ć]",
        r"[A-\x5a]", r"[\0a]", "[^^-z]", r"(?<\u0061>x)",
    ],
)  # fmt: skip
def test_left_out(javascript: JavaScript, patterns: Engine, text: str) -> None:
    assert isinstance(javascript.finds(text, []), list)
    assert not patterns.accepts(text)


def test_property_names(javascript: JavaScript, patterns: Engine) -> None:
    from tokamata.patterns.unicode.ecma import ecma_property, ecma_property_names

    names = ecma_property_names()
    assert len(names) > 1000
    for name in names:
        ecma_property(name)
    for name in random.Random("names").sample(names, 60):
        assert isinstance(javascript.finds(rf"\p{{{name}}}", []), list), name
        assert patterns.accepts(rf"\P{{{name}}}")
