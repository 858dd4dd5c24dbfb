"""A pattern of keys that has one name is read as that name: the same values, and no language to search."""

from __future__ import annotations

import re

import pytest

import tokamata as tk
from tests.support.matchers import accepts
from tokamata.patterns.json_schema.key_languages import only_name

ONE = {
    "^a$": "a",
    "^user_name$": "user_name",
    r"^a\.b$": "a.b",
    r"^a\\b$": "a\\b",
    r"^\$id$": "$id",
    "^x-y z/1$": "x-y z/1",
}
OTHERS = [
    "a",
    "^a",
    "a$",
    "^a.b$",
    "^(a|b)$",
    r"^\d$",
    "^$",
    "^a*$",
    "^[a]$",
    r"^\u0061$",
    "^a$|b",
    "^é$",
    r"^a\b$",
]


@pytest.mark.parametrize("pattern", ONE)
def test_the_name_is_what_the_pattern_finds(pattern: str) -> None:
    name = ONE[pattern]
    assert only_name(pattern) == name
    assert re.fullmatch(pattern, name)


@pytest.mark.parametrize("pattern", OTHERS)
def test_other_patterns_have_none(pattern: str) -> None:
    assert only_name(pattern) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a.b": 1}', True),
        ('{"a.b": "x"}', False),
        ('{"axb": "x"}', False),
        ('{"c": "x"}', True),
        ('{"c": "x", "a.b": 2}', True),
        ('{"a.b": 2, "d": true}', False),
    ],
)
def test_values_and_other_keys(text: str, expected: bool) -> None:
    schema = {
        "type": "object",
        "properties": {"c": {"type": "string"}},
        "patternProperties": {r"^a\.b$": {"type": "integer"}},
        "additionalProperties": False,
    }
    assert accepts(tk.json_schema(schema, property_order="any"), text) is expected


def test_its_place_is_where_it_is_first_met() -> None:
    schema = {"properties": {"c": True}, "patternProperties": {"^b$": True}, "required": ["b", "c"]}
    constraint = tk.json_schema(schema)
    assert accepts(constraint, '{"c": 1, "b": 2, "z": 3}')
    assert not accepts(constraint, '{"b": 2, "c": 1}')
