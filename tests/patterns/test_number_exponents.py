"""Schemas of numbers that ``json.dumps`` writes with an exponent: masks and whole texts, no dead ends.

From whatever was written a value can be ended: that is asked after every prefix of what ``json.dumps``
writes near the bounds, after each byte that may follow it, and along random walks.
"""

from __future__ import annotations

import json
import math
import random
from typing import Any

import pytest

import tokamata as tk
from tests.support.masks import allowed
from tests.support.matchers import write
from tests.support.patterns.number_judge import Set
from tests.support.vocabularies import BYTE_VOCABULARY
from tokamata.constraints.json_constraints import Spelling

STOP = 256
CONSTANTS = [1.5e20, 2.5e16, 1.5e-5, 1.5e308, 1e16, 1e22, 1e-7, 9e-5, 5e-324, 2.2250738585072014e-308]
CONSTANTS += [1.7976931348623157e308, 123456789012345680.0, 10**16, 15 * 10**19, 2.5, 0.0001, 1e15]
CONSTANTS += [-value for value in CONSTANTS]


class Walker:
    """A schema of numbers, with the sets that say the same."""

    def __init__(self, schema: dict[str, Any], sets: list[Set], spelling: Spelling) -> None:
        self._sets = sets
        self._compiled = tk.json_schema(schema, spelling=spelling).compile(BYTE_VOCABULARY)
        self._matcher = self._compiled.matcher()

    def accepts(self, text: str) -> bool:
        return any(numbers.accepts(text) for numbers in self._sets)

    def read(self, text: str) -> None:
        """Pass by all states of a text, and all that are next to them."""
        self._matcher = self._compiled.matcher()
        for byte in text.encode():
            self._look_around()
            if not self._matcher.advance(byte):
                assert not self.accepts(text), text
                return
        assert self._matcher.is_accepting == self.accepts(text), text
        self._look_around()

    def wander(self, chooser: random.Random) -> None:
        """Go somewhere by the masks alone; end where that is allowed, or by a shortest rest."""
        self._matcher = self._compiled.matcher()
        for _ in range(chooser.randint(1, 40)):
            live = allowed(self._matcher)
            assert live, self._matcher.text
            if STOP in live and chooser.random() < 0.5:
                break
            if live == {STOP}:
                break
            assert self._matcher.advance(chooser.choice(sorted(live - {STOP})))
        self._end()

    def _look_around(self) -> None:
        live = allowed(self._matcher)
        assert live, self._matcher.text
        assert (STOP in live) == self.accepts(self._matcher.text.decode()), self._matcher.text
        for byte in live - {STOP}:
            assert self._matcher.advance(byte)
            self._end()
            self._matcher.rollback(1)

    def _end(self) -> None:
        rest = self._matcher.shortest_completion()
        for token in rest:
            assert self._matcher.advance(token), self._matcher.text
        text = self._matcher.text.decode()
        assert self._matcher.is_accepting, text
        assert self.accepts(text), text
        self._matcher.rollback(len(rest))


def spelled(value: float) -> list[str]:
    """What ``json.dumps`` writes of a value, and of its neighbours."""
    values: list[float] = [value, value * 1.25, value * 10, value / 10]
    values += [math.nextafter(float(value), math.inf), math.nextafter(float(value), -math.inf)]
    found = [json.dumps(each) for each in values if math.isfinite(each)]
    return found + [json.dumps(int(each)) for each in values if math.isfinite(each)]


def random_value(chooser: random.Random) -> float:
    digits = chooser.randint(0, 16) if chooser.random() < 0.3 else chooser.randint(0, 3)
    near = chooser.choice([-323, -307, -100, -7, -5, 0, 16, 20, 100, 307])
    power = near + chooser.randint(-3, 3) if chooser.random() < 0.7 else chooser.randint(-320, 307)
    sign = chooser.choice(["", "", "-"])
    value = float(f"{sign}{chooser.uniform(1, 10):.{digits}f}e{power}")
    return value if math.isfinite(value) and value != 0 else 1.5e20


def literal(value: float) -> str:
    """As JSON Schema reads it: as it is written, not as the float behind it."""
    return json.dumps(value)


def walked(walker: Walker, chooser: random.Random, values: list[float]) -> None:
    texts = sorted({text for value in values for text in spelled(value)})
    own = [json.dumps(value) for value in values]
    for text in own + chooser.sample(texts, min(5, len(texts))):
        walker.read(text)
    for _ in range(10):
        walker.wander(chooser)


@pytest.mark.parametrize("spelling", ["plain", "natural", "any"])
@pytest.mark.parametrize("value", CONSTANTS, ids=repr)
def test_constants(value: float, spelling: Spelling) -> None:
    chooser = random.Random(repr(value))
    same = Set(literal(value), False, literal(value), spelling=spelling)
    for schema in ({"const": value}, {"type": "number", "minimum": value, "maximum": value}):
        walked(Walker(schema, [same], spelling), chooser, [value])


@pytest.mark.parametrize("spelling", ["plain", "natural", "any"])
def test_what_may_follow_the_first_digits_of_a_constant(spelling: Spelling) -> None:
    for value, text in [(1.5e20, "1.5e+20"), (2.5e16, "2.5e+16"), (1.5e-5, "1.5e-05"), (1.5e308, "1.5e+308")]:
        matcher = tk.json_schema({"const": value}, spelling=spelling).compile(BYTE_VOCABULARY).matcher()
        assert matcher.advance(ord("1" if value != 2.5e16 else "2"))
        assert matcher.advance(ord("."))
        assert allowed(matcher) == {ord("5")}
        write(matcher, text[2:])
        assert STOP in allowed(matcher)


def random_schema(
    chooser: random.Random, values: list[float], spelling: Spelling
) -> tuple[dict[str, Any], list[Set]]:
    """Constants, or a range with a multiple or of integers: and the sets that say the same."""
    kind = chooser.choice(["enum", "range", "range", "multiple", "integers"])
    low, high = map(literal, values)
    if kind == "enum":
        return {"enum": values}, [Set(one, False, one, spelling=spelling) for one in (low, high)]
    may_be_open = values[0] != values[1]
    open_low, open_high = (may_be_open and chooser.random() < 0.3 for _ in range(2))
    is_integer = kind == "integers"
    schema: dict[str, Any] = {
        "type": "integer" if is_integer else "number",
        "exclusiveMinimum" if open_low else "minimum": values[0],
        "exclusiveMaximum" if open_high else "maximum": values[1],
    }
    multiple = None
    if kind == "multiple":
        power = math.floor(math.log10(abs(values[0]))) - chooser.randint(0, 4)
        step = float(f"{chooser.randint(1, 99)}e{power}") or abs(values[0])
        schema["multipleOf"] = step
        multiple = literal(step)
    digits_only = is_integer and spelling != "any"
    return schema, [Set(low, open_low, high, open_high, multiple, is_integer, digits_only, spelling)]


@pytest.mark.parametrize("seed", range(150))
def test_random_constants_ranges_and_multiples(seed: int) -> None:
    chooser = random.Random(seed)
    spelling: Spelling = chooser.choice(["plain", "natural", "any"])
    one = random_value(chooser)
    near = [one * 1.01, one * 1.25, one * 9.5, one * 30, one + abs(one) / 64, random_value(chooser)]
    values = sorted([one, chooser.choice([value for value in near if math.isfinite(value)])])
    schema, sets = random_schema(chooser, values, spelling)
    try:
        walker = Walker(schema, sets, spelling)
    except tk.EmptyConstraintError:
        for value in values:
            assert not any(numbers.accepts(text) for numbers in sets for text in spelled(value)), schema
        return
    walked(walker, chooser, values)
