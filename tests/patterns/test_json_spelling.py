"""How texts stand in JSON strings, against ``json.dumps`` and ``json.loads``, exhaustively and at random."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Callable, Iterator, Sequence

import pytest

import tokamata as tk
from tests.support.patterns.engine import Engine
from tests.support.patterns.random_patterns import Patterns
from tests.support.texts import all_texts
from tests.support.vocabularies import BYTE_VOCABULARY
from tokamata import _core
from tokamata.constraints.constraint import Constraint
from tokamata.patterns.extensions import substring_of
from tokamata.patterns.regex import to_expression


def plainly(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)[1:-1]


def value_of(spelling: str) -> str | None:
    """The text that is spelled so, if one is."""
    try:
        value = json.loads(f'"{spelling}"')
        value.encode()
    except (json.JSONDecodeError, UnicodeEncodeError):
        return None
    return str(value)


def spellings(code_point: int) -> Iterator[str]:
    """Every way to spell a code point, but for the case of most digits."""
    letter = chr(code_point)
    if code_point >= 0x20 and letter not in '"\\':
        yield letter
    units = letter.encode("utf-16-be")
    codes = [units[i : i + 2].hex() for i in range(0, len(units), 2)]
    for style in (str.lower, str.upper, str.title, str.swapcase):
        yield "".join("\\u" + style(code) for code in codes)
    if letter in '"\\/\b\f\n\r\t':
        yield "\\" + '"\\/bfnrt'['"\\/\b\f\n\r\t'.index(letter)]


def accepted(expression: _core.Expression, atoms: Sequence[str], longest: int) -> set[str]:
    """The texts made of at most so many atoms that an expression accepts."""
    try:
        matcher = Constraint(expression, "").compile(BYTE_VOCABULARY).matcher()
    except tk.EmptyConstraintError:
        return set()
    found = set()

    def visit(text: str, left: int) -> None:
        if matcher.is_accepting:
            found.add(text)
        for atom in atoms if left else ():
            taken = 0
            for byte in atom.encode():
                if not matcher.advance(byte):
                    break
                taken += 1
            else:
                visit(text + atom, left - 1)
            matcher.rollback(taken)

    visit("", longest)
    return found


def both_ways(expression: _core.Expression) -> tuple[Engine, Engine]:
    """What accepts the plain spellings, and what accepts any."""
    return Engine(_core.spelled_in_json(expression, False)), Engine(_core.spelled_in_json(expression, True))


# ---- one code point -----------------------------------------------------------------------------

SURROGATES = set(range(0xD800, 0xE000))
EDGES = {0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF}
SOME = sorted({*range(0x300), *range(0x300, 0x110000, 0x3F1), *EDGES} - SURROGATES)


def test_any_code_point() -> None:
    anything = _core.code_points([(0, 0x10FFFF)])
    plain, free = both_ways(anything)
    for code_point in SOME:
        for spelling in spellings(code_point):
            assert value_of(spelling) == chr(code_point)
            assert plain.accepts(spelling) == (spelling == plainly(chr(code_point))), spelling
            assert free.accepts(spelling), spelling
    for code in range(0xD700, 0xE100, 7):
        for rest in ("", "\\ud83d", "\\uDE00", "a", "\\n"):
            spelling = f"\\u{code:04x}{rest}"
            value = value_of(spelling)
            assert free.accepts(spelling) == (value is not None and len(value) == 1), spelling


@pytest.mark.parametrize("seed", range(20))
def test_random_classes(seed: int) -> None:
    chooser = random.Random(seed)
    borders = [0, 8, 9, 0x1F, 0x20, 0x22, 0x2F, 0x5C, 0x7F, 0x80, 0x7FF, 0x1234, 0x1F600, *EDGES]
    ranges = []
    for _ in range(chooser.randint(1, 6)):
        low = max(0, chooser.choice(borders) + chooser.randint(-2, 2))
        ranges.append((low, min(0x10FFFF, low + chooser.choice([0, 0, 1, 5, 70, 5000, 100_000]))))
    expression = _core.code_points(ranges)
    plain, free = both_ways(expression)
    near = {value + step for pair in ranges for value in pair for step in (-1, 0, 1)}
    near |= set(chooser.sample(SOME, 50))
    for code_point in sorted(near & set(range(0x110000)) - SURROGATES):
        member = any(low <= code_point <= high for low, high in ranges)
        for spelling in spellings(code_point):
            assert free.accepts(spelling) == member, (ranges, spelling)
            is_plain = spelling == plainly(chr(code_point))
            assert plain.accepts(spelling) == (member and is_plain), (ranges, spelling)


# ---- patterns -----------------------------------------------------------------------------------

# Pieces of spellings, such that pieces in a row are often spellings, and often just not.
ATOMS = ["\\", '"', "n", "u", "a", "é", "/", "\n", "000a", "\\u000A", "\\n", '\\"', "\\\\"]
ATOMS += ["\\u006e", "\\ud83d", "\\uDE00", "😀"]
NASTY = [
    r"(?s:.)*",
    r".*n",
    r"(?<!n)a|n",
    r"(?s:(?:a|\n|(?<=n)u)*)",
    r"(?s:.(?<=n)u)",
    r"(?<=n)a|.(?<=\n)",
    r'[^"]*',
    r'(?:(?!").)*',
    r"(?s:(?!.*n).*)",
    r"(?s:(?=.*a).*)",
    r'(?:\\|")+',
    r"(?s:(?:n(?!u)|\\(?!a)|u|a|\n)*)",
    r"(?m)^a?$\n?^n?$",
    r"\bn\b.*",
    r"(?:\B.)*",
    r"(?s:[^\\n]{0,2}n?)",
    "😀|(?=\\\\)..",
    r"[\x00-\x1f/]*",
]


def check_pattern(pattern: str, longest: int) -> None:
    judge = re.compile(pattern)
    expression = to_expression(pattern)
    expected = {}
    for count in range(longest + 1):
        for pieces in itertools.product(ATOMS, repeat=count):
            spelling = "".join(pieces)
            value = value_of(spelling)
            if value is not None and judge.fullmatch(value):
                expected[spelling] = value
    assert accepted(_core.spelled_in_json(expression, True), ATOMS, longest) == set(expected), pattern
    plain = {spelling for spelling, value in expected.items() if spelling == plainly(value)}
    assert accepted(_core.spelled_in_json(expression, False), ATOMS, longest) == plain, pattern


@pytest.mark.parametrize("pattern", NASTY)
def test_nasty_patterns(pattern: str) -> None:
    check_pattern(pattern, 3)


@pytest.mark.parametrize("seed", range(60))
def test_random_patterns(seed: int) -> None:
    generator = random.Random(seed)
    letters = ["n", "u", "a", r"\\", '"', r"\n", "/", "😀", ".", "[^n]", r"[^\\]", r"\s", r"\w"]
    atoms, quantifiers = [*letters, "^", "$", r"\b", r"\B", "a*"], ["*", "+", "?", "{0,2}", "{2}", "{1,300}"]
    patterns = Patterns(generator, atoms, quantifiers, fixed_width=True, single=letters)
    check_pattern(generator.choice(["", "(?s)", "(?m)"]) + patterns.draw(3), 2)


ALGEBRA: list[tuple[Callable[[], tk.Constraint], Callable[[str], bool]]] = [
    (lambda: ~tk.regex(r".*n"), lambda v: not re.fullmatch(".*n", v)),
    (lambda: ~tk.regex(r"(?s:.*)n(?s:.*)") & ~tk.regex(r"\\"), lambda v: "n" not in v and v != "\\"),
    (lambda: ~tk.regex(r"a") + tk.regex(r"n"), lambda v: v.endswith("n") and v != "an"),
    (
        lambda: ~tk.regex(r"a|n") + ~tk.regex(r"a|n"),
        lambda v: any({v[:i], v[i:]}.isdisjoint({"a", "n"}) for i in range(len(v) + 1)),
    ),
    (
        lambda: tk.regex(r"(?s:.{2,9})") - tk.regex(r".*\n"),
        lambda v: 2 <= len(v) <= 9 and not re.fullmatch(".*\n", v),
    ),
    (lambda: tk.regex("n$", dialect="ecma"), lambda v: v.endswith("n")),
    (lambda: tk.regex(r"^\\", dialect="ecma"), lambda v: v.startswith("\\")),
    (lambda: ~tk.regex("n", dialect="ecma"), lambda v: "n" not in v),
]


@pytest.mark.parametrize("index", range(len(ALGEBRA)))
def test_complements_and_searches(index: int) -> None:
    make, judge = ALGEBRA[index]
    values = set(all_texts(ATOMS, 3))
    expected = {s for s in values if (v := value_of(s)) is not None and judge(v)}
    expression = make()._expression
    assert accepted(_core.spelled_in_json(expression, True), ATOMS, 3) == expected
    plain = {s for s in expected if s == plainly(value_of(s) or "")}
    assert accepted(_core.spelled_in_json(expression, False), ATOMS, 3) == plain


def one_spelling(chooser: random.Random, letter: str) -> str:
    return chooser.choice(list(spellings(ord(letter))))


# ---- strings ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(30))
def test_strings(seed: int) -> None:
    chooser = random.Random(seed)
    letters = 'an"\\/\n\x0b\x1f\x7fé漢😀😁'
    lengths = [chooser.randint(0, 4) for _ in range(chooser.randint(1, 12))]
    texts = ["".join(chooser.choices(letters, k=length)) for length in lengths]
    if seed % 2:
        expression = _core.strings(texts)
        members = set(texts)
    else:
        text = "".join(texts)
        expression = substring_of(text)
        members = {text[i:j] for j in range(len(text) + 1) for i in range(j + 1)}
    plain, free = both_ways(expression)
    probes = members | {"".join(chooser.choices(letters, k=chooser.randint(0, 5))) for _ in range(200)}
    for value in probes:
        assert plain.accepts(plainly(value)) == (value in members)
        for _ in range(3):
            spelling = "".join(one_spelling(chooser, letter) for letter in value)
            assert free.accepts(spelling) == (value in members)
            assert plain.accepts(spelling) == (value in members and spelling == plainly(value))
    for spelling in accepted(_core.spelled_in_json(expression, True), ATOMS, 3):
        assert value_of(spelling) in members


def test_many_strings() -> None:
    chooser = random.Random(7)
    letters = 'abcdefghijklmnopqrstuvwxyz "\\\né漢😀'
    texts = ["".join(chooser.choices(letters, k=20)) for _ in range(5000)]
    free = Engine(_core.spelled_in_json(_core.strings(texts), True))
    for value in chooser.sample(texts, 100):
        spelling = "".join(one_spelling(chooser, letter) for letter in value)
        assert free.accepts(spelling)
        assert not free.accepts(spelling[:-1])


# ---- what is refused ----------------------------------------------------------------------------


def test_what_is_no_text_is_refused() -> None:
    literals = [_core.literal(data) for data in (b"\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"a\xff")]
    for expression in (_core.control_token("<x>"), _core.one_token([(0, 255)]), *literals):
        with pytest.raises(ValueError, match="spelled_in_json"):
            _core.spelled_in_json(_core.repeat(expression, 0, None), True)


def test_parts_that_are_shared_are_spelled_once() -> None:
    expression = to_expression("a|n")
    for _ in range(200):
        expression = _core.union([_core.concat([expression, expression]), expression])
    spelled = _core.spelled_in_json(expression, False)
    assert spelled.depth < 1000
