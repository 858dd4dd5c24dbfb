"""The members that the benchmark of repairs counts as complete, against a parser of all of JSON."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

pytest.importorskip("jsonschema")

from benchmarks.repair.members import complete_members, has, valid_members


def paths(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], str]]:
    """All members and elements of a value, with their values as texts."""
    steps: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        steps = list(value.items())
    elif isinstance(value, list):
        steps = list(enumerate(value))
    found = []
    for step, inner in steps:
        found += [((*path, step), json.dumps(inner)), *paths(inner, (*path, step))]
    return found


def random_value(draw: random.Random, depth: int) -> Any:
    kind = draw.randrange(7 if depth else 4)
    if kind >= 5:
        return [random_value(draw, depth - 1) for _ in range(draw.randrange(4))]
    if kind >= 3 and depth:
        return {
            name: random_value(draw, depth - 1)
            for name in draw.sample(["a", "b\n", 'c"', "é", ""], draw.randrange(5))
        }
    return draw.choice([draw.randrange(-99, 99), draw.random(), True, None, 'x"\\', "[}", ""])


def test_of_whole_texts_all_members_are_complete() -> None:
    for seed in range(300):
        draw = random.Random(seed)
        value = [random_value(draw, 3)]
        text = "Here it is: " + json.dumps(
            value, indent=draw.choice([None, 1]), ensure_ascii=draw.random() < 0.5
        )
        members = complete_members(text)
        assert sorted((str(one.path), json.dumps(one.value)) for one in members) == sorted(
            (str(path), written) for path, written in paths(value)
        )
        assert all(has(value, member) for member in members)


def test_members_of_a_prefix_are_those_of_the_text() -> None:
    """A number, or a name, that the end cuts in two would be another one."""
    counted = 0
    for seed in range(400):
        draw = random.Random(seed)
        value = [random_value(draw, 2), 1]
        text = json.dumps(value)
        members = complete_members(text[: draw.randrange(1, len(text))])
        assert all(has(value, member) for member in members)
        counted += len(members)
    assert counted > 200


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": [1, 2], "b": "x", "c": 12', ["a", "b"]),
        ('{"a": 1, "a": 2}', []),
        ('{"a": {"b": 1, "b": 2}, "c": true}', ["a", "c"]),
        ('{"a": "x\n", "b": 1}', []),
        ('{"a": 1, b: 2, "c": 3}', ["a"]),
        ("no JSON", []),
        ('{"a": tru', []),
        ('{"a": true', ["a"]),
        ('{"a": 01}', []),
    ],
)
def test_outermost_members(text: str, expected: list[str]) -> None:
    assert [one.path[0] for one in complete_members(text) if len(one.path) == 1] == expected


def test_valid_members() -> None:
    schema = {
        "type": "object",
        "required": ["z"],
        "properties": {"a": {"type": "integer"}, "b": {"type": "array", "items": {"maximum": 3}}},
        "additionalProperties": False,
    }
    members = complete_members('{"a": 1, "b": [4], "c": 2}')
    assert [one.path for one in valid_members(members, schema)] == [("a",)]
    assert list(valid_members(complete_members('{"a": 1.5, "b": [4]}'), schema)) == []
    closed = {"oneOf": [{"required": ["a", "z"]}, {"required": ["z"]}]}
    assert list(valid_members(complete_members('{"a": 1}'), closed)) == []
