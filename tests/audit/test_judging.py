"""The judge of the audit: a verdict only where all readings agree."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tokamata.audit.judging import Judge, Verdict


def verdict(schema: Any, text: bytes) -> Verdict:
    judge = Judge()
    assert judge.take(json.dumps(schema)) == ""
    [found] = judge.judge([text])
    assert bool(found.reason) == (found.verdict is not Verdict.VALID)
    return found.verdict


NUMBER = {"type": "integer", "maximum": 5}
DATE = {"type": "string", "format": "date", "maxLength": 10}


@pytest.mark.parametrize(
    ("schema", "text", "expected"),
    [
        (NUMBER, b" 5\n", Verdict.VALID),
        (NUMBER, b"5.0", Verdict.VALID),
        (NUMBER, b"6", Verdict.INVALID),
        (NUMBER, b"5.", Verdict.NOT_JSON),
        (NUMBER, b"", Verdict.NOT_JSON),
        (NUMBER, b"\xff", Verdict.NOT_JSON),
        (NUMBER, b"\xef\xbb\xbf5", Verdict.NOT_JSON),
        ({}, b"NaN", Verdict.NOT_JSON),
        ({}, b'"\n"', Verdict.NOT_JSON),
        ({}, b"1e999999999", Verdict.UNCLEAR),
        ({}, b"[" * 100_000 + b"]" * 100_000, Verdict.UNCLEAR),
        (DATE, b'"2024-02-29"', Verdict.VALID),
        (DATE, b'"2023-02-29"', Verdict.FORMAT),
        (DATE, b'"2023-02-299"', Verdict.INVALID),
        ({"not": DATE}, b'"2023-02-29"', Verdict.UNCLEAR),
        # Of a name that stands twice, a parser may take either value.
        ({"properties": {"a": NUMBER}}, b'{"a": 1, "a": 2}', Verdict.REPEATED_NAME),
        ({"properties": {"a": NUMBER}}, b'{"a": 1, "a": 9}', Verdict.REPEATED_NAME),
        ({"properties": {"a": NUMBER}}, b'{"a": 8, "a": 9}', Verdict.INVALID),
        ({}, b'"\\ud83d\\ude00"', Verdict.VALID),
        ({}, b'{"\\ud83d": 1}', Verdict.UNCLEAR),
        # Whether 1.0 is an integer in draft 4.
        ({"$schema": "http://json-schema.org/draft-04/schema#", **NUMBER}, b"1.0", Verdict.UNCLEAR),
        ({"$schema": "http://json-schema.org/draft-04/schema#", **NUMBER}, b"1", Verdict.VALID),
        ({"$schema": "http://json-schema.org/draft-04/schema#", **NUMBER}, b"1.5", Verdict.INVALID),
        # `dependencies` is no keyword of the default draft, and a property of that name is.
        ({"dependencies": {"a": ["b"]}}, b'{"a": 1}', Verdict.UNCLEAR),
        ({"properties": {"dependencies": NUMBER}}, b'{"dependencies": 7}', Verdict.INVALID),
        ({"enum": [{"dependencies": {"a": 1}}]}, b'{"dependencies": {"a": 1}}', Verdict.VALID),
    ],
)
def test_verdicts(schema: Any, text: bytes, expected: Verdict) -> None:
    assert verdict(schema, text) is expected


def test_numbers_are_read_exactly() -> None:
    assert verdict({"multipleOf": 0.01}, b"19.99") is Verdict.VALID
    assert verdict({"const": 9007199254740993}, b"9007199254740993") is Verdict.VALID
    assert verdict({"const": 9007199254740993}, b"9007199254740992") is Verdict.INVALID


def test_schemas_that_cannot_be_judged_say_why() -> None:
    judge = Judge()
    for schema in ('{"type": "nothing"}', '{"$ref": "#/nowhere"}', "{", '{"a": ' * 100_000):
        assert judge.take(schema)
