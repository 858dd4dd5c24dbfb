"""Sets of JSON numbers against ``fractions``, ``json`` and ``repr``: exhaustively, at random where long.

That no state is a dead end, and how far each is from an accepted text: tests/core/numbers_test.cpp.
"""

from __future__ import annotations

import json
import math
import os
import random
import struct
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import cache

import pytest

import tokamata as tk
from tests.support.masks import allowed
from tests.support.matchers import accepts, takes, write
from tests.support.patterns.number_judge import EXACT, JSON_NUMBER, Set
from tests.support.vocabularies import BYTE_VOCABULARY
from tokamata.constraints.constraint import Constraint
from tokamata.constraints.json_options import Spelling

SPELLINGS: list[Spelling] = ["plain", "natural", "any"]


@cache
def json_numbers(longest: int) -> list[str]:
    """All JSON numbers of so many bytes, and what is nearly one."""
    texts = [""]
    found = []
    for _ in range(longest):
        texts = [text + byte for text in texts for byte in "0123456789-+.eE" if may_go_on(text + byte)]
        found += texts
    return found


def may_go_on(text: str) -> bool:
    return any(JSON_NUMBER.fullmatch(text + rest) for rest in ("", "0", ".0", "e0"))


def accepted(constraint: Constraint, longest: int) -> set[str]:
    """The texts of at most so many bytes that the engine accepts."""
    try:
        matcher = constraint.compile(BYTE_VOCABULARY).matcher()
    except tk.EmptyConstraintError:
        return set()
    found = set()

    def visit(text: str) -> None:
        if matcher.is_accepting:
            found.add(text)
        for byte in sorted(allowed(matcher) - {256}) if len(text) < longest else ():
            assert matcher.advance(byte)
            visit(text + chr(byte))
            matcher.rollback(1)

    visit("")
    return found


def random_decimal(chooser: random.Random, positive: bool = False) -> str:
    text = "-" if not positive and chooser.random() < 0.3 else ""
    text += str(chooser.randrange(chooser.choice([2, 20, 200])))
    if chooser.random() < 0.5:
        text += "." + "".join(chooser.choices("0123456789", k=chooser.randint(1, 3)))
    if chooser.random() < 0.25:
        text += chooser.choice("eE") + chooser.choice(["", "+", "-"])
        text += str(chooser.choice([0, 1, 2, 5, 16, 300]))
    return text


def random_set(chooser: random.Random) -> Set:
    multiple = random_decimal(chooser, True) if chooser.random() < 0.5 else None
    if multiple is not None and Fraction(multiple) == 0:
        multiple = chooser.choice(["0.01", "3", "0.1", "7.5", "1e-8", "1e300"])
    return Set(
        random_decimal(chooser) if chooser.random() < 0.7 else None,
        chooser.random() < 0.5,
        random_decimal(chooser) if chooser.random() < 0.7 else None,
        chooser.random() < 0.5,
        multiple,
        chooser.random() < 0.25,
        chooser.random() < 0.2,
        SPELLINGS[int(len(SPELLINGS) * chooser.random())],
    )


# ---- exhaustively -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_all_short_texts_of_random_sets(seed: int) -> None:
    numbers = random_set(random.Random(seed))
    expected = {text for text in json_numbers(4) if numbers.accepts(text)}
    assert accepted(numbers.constraint(), 4) == expected, numbers


@pytest.mark.parametrize("spelling", ["plain", "natural", "any"])
@pytest.mark.parametrize("multiple_of", [None, "0.01", "1e-8", "3", "0.1", "7.5", "1e300"])
def test_all_short_texts_of_multiples(multiple_of: str | None, spelling: Spelling) -> None:
    for bounds in [{}, {"minimum": "0", "maximum": "1"}, {"minimum": "1e299", "exclusive_minimum": True}]:
        numbers = Set(multiple_of=multiple_of, spelling=spelling, **bounds)
        expected = {text for text in json_numbers(4) if numbers.accepts(text)}
        assert accepted(numbers.constraint(), 4) == expected, numbers


# ---- what Python writes -------------------------------------------------------------------------


def random_double(chooser: random.Random) -> float:
    kind = chooser.random()
    if kind < 0.5:
        return float(struct.unpack("<d", chooser.randbytes(8))[0])
    if kind < 0.7:
        return round(chooser.uniform(-1000, 1000), chooser.randint(0, 17))
    if kind < 0.8:
        return chooser.randrange(10**17) * 10.0 ** chooser.randint(-20, 5)
    return float(chooser.choice([-1, 1])) * chooser.random() * 10.0 ** chooser.randint(-8, 20)


def test_plain_numbers_are_what_python_writes() -> None:
    chooser = random.Random(1)
    matcher = Set().constraint().compile(BYTE_VOCABULARY).matcher()
    values: list[float] = [0.0, -0.0, 1e16, 1e15, 0.0001, 0.00001, 5e-324, 1.7976931348623157e308]
    values += [9007199254740993.0, 123456789012345.67]
    values += [random_double(chooser) for _ in range(int(os.environ.get("TOKAMATA_CASES", "20000")))]
    values += [chooser.randrange(-(10**k), 10**k) for k in range(1, 40)]
    for value in values:
        if math.isfinite(value):
            text = json.dumps(value)
            assert takes(matcher, text.encode()), text


NEVER_WRITTEN = ["-0", "00", "0.00", "1.50", "0.00001", "1e5", "1e+5", "1.0e+20", "1e+015", "1E+20", "1e+309"]
NEVER_WRITTEN += ["1e-325", "12345678901234567.0", "0.123456789012345678", "1.", "+1", "10e+20"]


@pytest.mark.parametrize("text", NEVER_WRITTEN)
def test_what_python_never_writes_is_not_plain(text: str) -> None:
    assert not Set().accepts(text)
    assert not accepts(Set().constraint(), text)


# ---- long texts ---------------------------------------------------------------------------------


def spelled_somehow(chooser: random.Random, value: Decimal) -> str:
    """A spelling of a value, by moving the point and adding zeros."""
    digits = "".join(map(str, value.as_tuple().digits)) + "0" * chooser.randint(0, 3)
    exponent = int(value.as_tuple().exponent) - (len(digits) - len(value.as_tuple().digits))
    point = chooser.randint(-4, len(digits))
    whole, fraction = (digits[:point], digits[point:]) if point > 0 else ("0", "0" * -point + digits)
    power = exponent + len(fraction)
    text = ("-" if value.is_signed() else "") + (whole.lstrip("0") or "0")
    text += f".{fraction}" if fraction else ""
    sign = chooser.choice(["", "+"]) if power >= 0 else ""
    return text + (f"{chooser.choice('eE')}{sign}{power}" if power else "")


@pytest.mark.parametrize("seed", range(30))
def test_random_long_texts(seed: int) -> None:
    chooser = random.Random(seed)
    numbers = random_set(chooser)
    try:
        matcher = numbers.constraint().compile(BYTE_VOCABULARY).matcher()
    except tk.EmptyConstraintError:
        return
    bounds = [Fraction(bound) for bound in (numbers.minimum, numbers.maximum) if bound] or [Fraction(0)]
    step = Fraction(numbers.multiple_of or "1")
    for _ in range(300):
        near = chooser.choice(bounds)
        value = near + chooser.choice([0, 1, -1]) * Fraction(10) ** chooser.randint(-12, 12)
        if chooser.random() < 0.5:
            value = round(value / step) * step
        exact = EXACT.divide(Decimal(value.numerator), Decimal(value.denominator))
        for text in (spelled_somehow(chooser, exact), json.dumps(float(exact)), json.dumps(int(exact))):
            count = 0
            while count < len(text) and matcher.advance(ord(text[count])):
                count += 1
            assert (count == len(text) and matcher.is_accepting) == numbers.accepts(text), (numbers, text)
            matcher.rollback(count)


# ---- with tokens --------------------------------------------------------------------------------

PIECES = [str(n) for n in range(1000)] + ["e+", "e-", "e1", ".0", "0.", "00", "-1", ".5", "E1", "-0", "1e"]
PIECES += ["12345", "1.0"]


def token_vocabulary(without: str = "") -> tk.Vocabulary:
    tokens = [bytes([byte]) for byte in range(256) if chr(byte) not in without]
    tokens += [piece.encode() for piece in PIECES if len(piece) > 1]
    return tk.Vocabulary.load([*tokens, None], stop=len(tokens))


@pytest.mark.parametrize("seed", range(24))
def test_masks_agree_with_bytes_and_have_no_dead_ends(seed: int) -> None:
    chooser = random.Random(seed)
    numbers = random_set(chooser)
    vocabulary = token_vocabulary(without=chooser.choice(["", "", "e", "1", "+-", "."]))
    by_bytes = numbers.constraint()
    try:
        matcher = by_bytes.compile(vocabulary).matcher()
    except (tk.EmptyConstraintError, tk.UnspellableError):
        return
    one_by_one = by_bytes.compile(BYTE_VOCABULARY).matcher()
    is_whole = len(vocabulary) > 256 + len(PIECES) - 11
    for _ in range(12):
        live = allowed(matcher)
        assert live, "a dead end"
        for token in range(len(vocabulary)):
            text = vocabulary[token]
            if not text:
                continue
            taken = 0
            while taken < len(text) and one_by_one.advance(text[taken]):
                taken += 1
            one_by_one.rollback(taken)
            if is_whole:
                assert (token in live) == (taken == len(text)), (numbers, matcher.text, text)
            else:
                assert token not in live or taken == len(text)
        assert (vocabulary.stop[0] in live) == one_by_one.is_accepting
        token = chooser.choice(sorted(live))
        if token in vocabulary.stop:
            break
        matcher.advance(token)
        write(one_by_one, vocabulary[token] or b"")


def test_completions_are_shortest() -> None:
    for numbers, text, length in [
        (Set(multiple_of="9973", digits_only=True), "5", 4),
        (Set(minimum="12", maximum="115", digits_only=True), "1", 1),
        (Set(minimum="1e300", spelling="any"), "", 5),
        (Set(minimum="1000", spelling="any"), "", 3),
        (Set(minimum="0.001", maximum="0.002"), "0", 4),
        (Set(minimum="1e300"), "", 6),
    ]:
        matcher = numbers.constraint().compile(BYTE_VOCABULARY).matcher()
        write(matcher, text)
        rest = bytes(matcher.shortest_completion()).decode()
        assert numbers.accepts(text + rest)
        assert len(rest) == length, (numbers, rest)


# ---- algebra ------------------------------------------------------------------------------------


# In any spelling the zeros of 0.000 and 1000 are counted, since an exponent may undo them.  That nothing is
# in one set and not in the other may be found out only after very many states: such differences pass limits.
@pytest.mark.parametrize("seed", range(16))
def test_boolean_operations(seed: int) -> None:
    chooser = random.Random(seed)
    one, other = (replace(random_set(chooser), spelling="plain") for _ in range(2))
    texts = json_numbers(4)
    ones, others = ({text for text in texts if numbers.accepts(text)} for numbers in (one, other))
    a, b = one.constraint(), other.constraint()
    assert accepted(a & b, 4) == ones & others
    assert accepted(a - b, 4) == ones - others
    assert accepted(a | b, 4) == ones | others
    assert accepted(~a & Set().constraint(), 4) == {text for text in texts if Set().accepts(text)} - ones


def test_unions_in_any_spelling() -> None:
    texts = json_numbers(4)
    sets = [Set(minimum="1", maximum="20", spelling="any"), Set(multiple_of="0.5", spelling="any")]
    union = sets[0].constraint() | sets[1].constraint()
    assert accepted(union, 4) == {text for text in texts if any(numbers.accepts(text) for numbers in sets)}


def test_numbers_in_lists_survive_collections_of_states() -> None:
    items = [Set("0", maximum="255", digits_only=True), Set(multiple_of="0.25", spelling="any"), Set()]
    item = tk.choice([numbers.constraint() + tk.regex(",") for numbers in items])
    constraint = tk.regex("x") + item.repeat(0)
    free = constraint.compile(BYTE_VOCABULARY).matcher()
    tight = constraint.compile(BYTE_VOCABULARY, limits=tk.Limits(states=400)).matcher()
    chooser = random.Random(3)
    for _ in range(400):
        live = allowed(free)
        assert allowed(tight) == live
        byte = chooser.choice(sorted(live - {256}))
        assert free.advance(byte)
        assert tight.advance(byte)


# ---- construction -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("description", "message"),
    [
        ({"minimum": "x"}, "no JSON number"),
        ({"maximum": "9" * 401}, "400 significant digits"),
        ({"minimum": "1e10000"}, "four digits"),
        ({"multiple_of": "0"}, "greater than zero"),
        ({"multiple_of": "-2"}, "greater than zero"),
        ({"multiple_of": "1234567890.123456789"}, "18 significant digits"),
    ],
)
def test_what_is_refused(description: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Set(**description).expression()  # type: ignore[arg-type]


EMPTY_SETS = [
    Set("5", maximum="4"),
    Set("0", True, "1", True, integral=True),
    Set("1", maximum="2", multiple_of="7"),
    Set(maximum="-0", exclusive_maximum=True, minimum="0"),
    Set("1e309", multiple_of="1e400", maximum="1e399"),
]


@pytest.mark.parametrize("numbers", EMPTY_SETS)
def test_empty_sets_are_seen(numbers: Set) -> None:
    with pytest.raises(tk.EmptyConstraintError):
        numbers.constraint().compile(BYTE_VOCABULARY)
