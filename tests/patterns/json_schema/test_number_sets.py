"""Numbers that several conditions describe: multiples of some, no multiples of others, between bounds."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest

import tokamata as tk
from tokamata import Limits

DIVISORS = ("2", "3", "5", "6", "10", "0.5", "0.25", "1.5", "0.1", "1")
BOUNDS = ("-12", "-2.5", "0", "0.5", "6", "10", "24", "60")
TEXTS = [
    *(str(number) for number in range(-30, 80)),
    *(f"{number / 4}" for number in range(-60, 120)),
    *("0.1", "-0.1", "7.3", "1e1", "1.5e1", "25e-1", "2.0e1", "20.00", "-0.0", "6e1", "0.60e2", "1E2"),
]


def drawn(draw: random.Random, depth: int, denied: bool = False) -> dict[str, Any]:
    """Conditions on numbers, some of them denied, united or exclusive.

    Integers are not drawn where they may be denied twice: digits alone are no set that arithmetic can deny.
    """
    kind = draw.choice(["leaf", "leaf", "not", "oneOf", "anyOf", "allOf"]) if depth else "leaf"
    if kind == "not":
        return {"not": drawn(draw, depth - 1, denied=True)}
    if kind != "leaf":
        denied = denied or kind == "oneOf"
        return {kind: [drawn(draw, depth - 1, denied) for _ in range(draw.choice([2, 2, 3]))]}
    schema: dict[str, Any] = {}
    if draw.random() < 0.8:
        schema["multipleOf"] = float(draw.choice(DIVISORS))
    for keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
        if draw.random() < 0.2:
            schema[keyword] = float(draw.choice(BOUNDS))
    if not denied and draw.random() < 0.2:
        schema["type"] = "integer"
    return schema


def holds(schema: dict[str, Any], number: Fraction) -> bool:
    """What the specification says of a number, by exact fractions."""
    tests = {
        "multipleOf": lambda given: (number / Fraction(str(given))).denominator == 1,
        "minimum": lambda given: number >= Fraction(given),
        "maximum": lambda given: number <= Fraction(given),
        "exclusiveMinimum": lambda given: number > Fraction(given),
        "exclusiveMaximum": lambda given: number < Fraction(given),
        "type": lambda given: given == "number" or number.denominator == 1,
        "not": lambda given: not holds(given, number),
        "allOf": lambda given: all(holds(one, number) for one in given),
        "anyOf": lambda given: any(holds(one, number) for one in given),
        "oneOf": lambda given: sum(holds(one, number) for one in given) == 1,
    }
    return all(tests[keyword](given) for keyword, given in schema.items())


@pytest.mark.parametrize("seed", range(12))
def test_sets_of_numbers_are_those_of_the_specification(seed: int) -> None:
    draw = random.Random(seed)
    vocabulary = tk.Vocabulary.load([*(bytes([value]) for value in range(256)), None], stop=[256])
    for _ in range(25):
        schema = {"type": "number", "allOf": [drawn(draw, 2)]}
        expected = {text for text in TEXTS if holds(schema, Fraction(text))}
        constraint = tk.json_schema(schema)
        try:
            compiled = constraint.compile(vocabulary)
        except tk.EmptyConstraintError:
            assert not expected, schema
            continue
        for text in TEXTS:
            matcher = compiled.matcher()
            taken = all(matcher.advance(byte) for byte in text.encode()) and matcher.is_accepting
            # Sets may have integers in digits alone, and no minus without a number below zero.
            if text.lstrip("-").isdigit() or Fraction(text).denominator != 1 or taken:
                assert taken == (text in expected), (schema, text)


def test_what_is_a_multiple_of_one_is_a_multiple_of_the_other() -> None:
    """Decided by arithmetic: a product of automata has a state for each number of zeros and digits."""
    limits = Limits(states=2_000, memory_bytes=4 << 20)
    vocabulary = tk.Vocabulary.load([*(bytes([value]) for value in range(256)), None], stop=[256])
    parts = [
        {"multipleOf": 10, "maximum": 20},
        {"multipleOf": 5, "maximum": 80},
        {"multipleOf": 5, "maximum": 60},
    ]
    for schema in ({"oneOf": parts}, {"oneOf": [{"items": part} for part in parts]}):
        for spelling in ("plain", "natural", "any"):
            compiled = tk.json_schema(schema, spelling=spelling).compile(vocabulary, limits=limits)
            for text, is_taken in (
                (b"75", True),
                (b"76", False),
                (b"60", False),
                (b"[3", False),
                (b"[75,5]", True),
            ):
                matcher = compiled.matcher()
                taken = all(matcher.advance(byte) for byte in text) and matcher.is_accepting
                is_array = text.startswith(b"[")
                assert taken == (is_taken and is_array == ("items" in schema["oneOf"][0])), (schema, text)


@pytest.mark.parametrize(
    ("one", "other", "valid", "invalid"),
    [
        (4, 6, ["12", "-24", "1.2e1"], ["4", "6", "18"]),
        (1.2, 1.5, ["6", "6.0", "0"], ["1.2", "1.5", "3"]),
        (2, 5, ["10", "1e1"], ["2", "5", "15"]),
        (0.25, 0.1, ["0.5", "1", "1.50"], ["0.25", "0.1"]),
        (1e-300, 3e300, ["3e300", "0"], ["1", "1e300"]),
    ],
)
def test_multiples_of_two_numbers(one: float, other: float, valid: list[str], invalid: list[str]) -> None:
    """Of which one is no multiple of the other."""
    constraint = tk.json_schema({"type": "number", "allOf": [{"multipleOf": one}, {"multipleOf": other}]})
    assert all(constraint.accepts(text) for text in valid)
    assert not any(constraint.accepts(text) for text in invalid)
