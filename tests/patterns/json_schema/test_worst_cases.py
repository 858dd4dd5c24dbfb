"""Schemas in use, made small, that once took seconds for one mask: few states do for all of a text."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import tokamata as tk
from tests.support.masks import has
from tests.support.vocabularies import bytes_and

BYTES = bytes_and(b'", "', b'": "', b'"}, {"')
LIMITS = tk.Limits(states=20_000, seconds=30.0)

KINDS: Any = {
    "anyOf": [
        {"properties": {"type": {"const": f"K{kind}"}, "value": {"pattern": pattern}}}
        for kind, pattern in enumerate(
            [r"(\w+\.)+\d+", r"\w+_(\w_)?\d+", *(f"A{n}-\\d{{4}}" for n in range(14))]
        )
    ],
    "required": ["type", "value"],
}
NAMED: Any = {
    "type": "object",
    "properties": {"name": {"minLength": 1, "maxLength": 500}},
    "required": ["name"],
}
LEVELS: Any = {
    "allOf": [NAMED, {"oneOf": [
        {"properties": {"parts": {"type": "array", "items": {"$ref": "#"}}}, "required": ["parts"]},
        {"properties": {"level": {"type": "string", "maxLength": 255}}, "required": ["level"]},
    ]}],
}  # fmt: skip
CASES = [
    ("anyOf with patterns", KINDS, {"value": "B.7 A_A3-1234", "type": "K5"}),
    ("lengths under oneOf", LEVELS, {"name": "a" * 40, "parts": [{"name": "b" * 300, "level": "c"}] * 3}),
    (
        "objects that differ",
        {
            "uniqueItems": True,
            "items": {"properties": {"name": {"type": "string"}, "value": {"type": "string"}}},
        },
        [{"name": f"r_Setting{number}", "value": str(number % 3)} for number in range(12)],
    ),
]


@pytest.mark.parametrize(("schema", "value"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_few_states_do(schema: Any, value: Any) -> None:
    matcher = tk.json_schema(schema, property_order="any").compile(BYTES, limits=LIMITS).matcher()
    for byte in json.dumps(value).encode():
        assert has(matcher.mask, byte), matcher.text
        assert matcher.advance(byte)
    assert matcher.is_accepting


def test_a_shortest_text_is_tried_for_other_states() -> None:
    """Within the name of a host each token leads to a state of its own, whose liveness was a search: 10 s."""
    draw = random.Random(1)
    words = sorted({bytes(draw.choices(b"abcxyz019.-:/", k=draw.randint(2, 12))) for _ in range(16_000)})
    vocabulary = bytes_and(*words)
    host = r"^(?!.*://)(?=.{1,255}$)((.{1,63}\.){1,127}(?![0-9]*$)[a-z0-9-]+\.?)$"
    schema = {"properties": {"host": {"pattern": host}}, "required": ["host"]}
    matcher = tk.json_schema(schema).compile(vocabulary, limits=tk.Limits(seconds=4.0)).matcher()
    for byte in b'{"host": "example.com"}':
        assert has(matcher.mask, byte), matcher.text
        assert matcher.advance(byte)
    assert matcher.is_accepting
