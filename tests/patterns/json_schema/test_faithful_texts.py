"""The value that a model means stays reachable.

For a valid value and a usual text of it: the text is accepted; or, where it is refused first, some other
text of the value continues what was accepted.  So nothing that is offered leads into another value.
"""

from __future__ import annotations

import json
import random
from decimal import Decimal

import pytest

import tokamata as tk
from tests.support.masks import allowed
from tests.support.matchers import write
from tests.support.schemas.faithful import check, check_tokens
from tests.support.schemas.writers import Case, drawn, number_texts, says, written
from tests.support.vocabularies import BYTE_VOCABULARY


@pytest.mark.parametrize("seed", range(60))
def test_usual_texts_of_random_values(seed: int) -> None:
    chooser = random.Random(seed)
    case = drawn(chooser)
    for _ in range(4):
        text = written(chooser, case.value)
        assert says(json.loads(text, parse_float=Decimal), case.value), text
        if check(case, text) and seed % 3 == 0:
            assert check_tokens(case, text)


@pytest.mark.parametrize(
    "text",
    ["19.90", "5.00", "0.10", "0.00003", "1e5", "1e-3", "-0", "1E5", "1e-7", "1e+21", "100000", "150e-6"],
)
def test_numbers(text: str) -> None:
    assert check(Case({"type": "number"}, float(text)), text)
    assert check(Case({"const": float(text)}, float(text)), text) or float(text) == 0
    assert check_tokens(Case({"type": "number"}, float(text)), text)
    assert tk.type(Decimal).accepts("10.00")
    assert tk.type(Decimal).parse("10.00") == 10
    for other in number_texts(float(text)):
        check(Case({"type": "number", "maximum": float(text)}, float(text)), other)


@pytest.mark.parametrize("text", [r'"caf\u00e9"', r'"it\u2019s"', r'"\ud83d\uDE00"', r'"a\/b"', r'"\u0041"'])
def test_strings(text: str) -> None:
    value = json.loads(text)
    for schema in ({"type": "string"}, {"type": "string", "maxLength": 9}, {"not": {"const": "x"}}, {}):
        assert check(Case(schema, value), text)
        assert check_tokens(Case(schema, value), text)


def test_what_no_one_escapes_is_plain() -> None:
    for schema, value in [
        ({"enum": ["red", "green"]}, "red"),
        ({"type": "string", "format": "date"}, "2024-02-29"),
        ({"type": "string", "pattern": "^[a-z]+$"}, "abc"),
        ({"allOf": [{"type": "string"}, {"not": {"not": {"const": "red"}}}]}, "red"),
    ]:
        matcher = tk.json_schema(schema).compile(BYTE_VOCABULARY).matcher()
        write(matcher, '"')
        assert ord("\\") not in allowed(matcher)
        write(matcher, value + '"')
        assert matcher.is_accepting
    # What is denied is denied in every spelling.
    other = tk.json_schema({"type": "string", "not": {"enum": ["red"]}})
    assert not other.accepts('"red"')
    assert not other.accepts('"\\u0072ed"')
    assert other.accepts('"\\u0072edd"')


def test_signs() -> None:
    for schema, has_minus in [
        ({"type": "number"}, True),
        ({"type": "number", "minimum": 0}, False),
        ({"type": "integer", "minimum": 0}, False),
        ({"type": "integer"}, True),
        ({"enum": [0, 1]}, False),
        ({"enum": [*range(40)]}, False),
        ({"enum": [*range(-1, 40)]}, True),
        ({"not": {"exclusiveMinimum": -5, "exclusiveMaximum": 0}, "type": "number"}, True),
        ({"type": "number", "minimum": 0, "not": {"multipleOf": 2}}, False),
        ({"type": "number", "not": {"multipleOf": 2, "minimum": 0}}, True),
    ]:
        matcher = tk.json_schema(schema).compile(BYTE_VOCABULARY).matcher()
        assert (ord("-") in allowed(matcher)) == has_minus, schema
    assert tk.json_schema({"type": "integer"}).accepts("-0")
    assert not tk.json_schema({"type": "integer"}).accepts("1.0")
    assert not tk.json_schema({"type": "number", "not": {"multipleOf": 2, "minimum": 0}}).accepts("-0")


@pytest.mark.parametrize(
    "text",
    [
        "[ ]",
        "[]",
        "[\n]",
        "[\n  ]",
        "[\n\t]",
        '{"a": [\n    ]}',
        '{"a": [\n  ]}',
        "[[\n  ]]",
        "[\n  [\n  ],\n  [\n    ]\n]",
    ],
)
def test_empty_brackets(text: str) -> None:
    constraint = tk.json()
    matcher = constraint.compile(BYTE_VOCABULARY).matcher()
    write(matcher, text)
    assert matcher.is_accepting
    for other in ("[  ]", "[\n\n]", "[\n [ \n]]", "[\n  [\n   ]\n]"):
        assert not constraint.accepts(other), other


@pytest.mark.parametrize("begun", ["0.5", "0.", "5.", '{"a": [', "1e"])
def test_zeros_blanks_and_exponents_end(begun: str) -> None:
    """Without a budget, what says nothing cannot be repeated for ever."""
    for byte in b"0 \n\t":
        for schema in ({}, {"maximum": 7}, {"multipleOf": 0.01}):
            matcher = tk.json_schema(schema).compile(BYTE_VOCABULARY).matcher()
            write(matcher, begun)
            assert not all(matcher.advance(byte) for _ in range(40)), (begun, byte, schema)
