"""Lengths that do not fit 32 bits: their sums must not become lengths of short texts."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

import tokamata as tk
from tests.support.masks import allowed
from tests.support.vocabularies import BYTE_VOCABULARY

LIMITS = tk.Limits(states=2_000, seconds=20.0)
LONG: dict[str, Any] = {"type": "string", "minLength": 2**31}
HALF: dict[str, Any] = {"type": "string", "minLength": 2**31 - 10}


def members(*lengths: dict[str, Any]) -> dict[str, Any]:
    named = {f"p{place}": length for place, length in enumerate(lengths)}
    return {"type": "object", "properties": named, "required": list(named)}


CASES: dict[str, dict[str, Any]] = {
    "required members": members(LONG, LONG),
    "three members": members(HALF, HALF, HALF),
    "alternatives": {"anyOf": [members(LONG, LONG), members(LONG, HALF)]},
    "exactly one": {"oneOf": [members(LONG, LONG), members(LONG, LONG, HALF)], "type": "object"},
    "undeclared names": {"type": "object", "additionalProperties": LONG, "minProperties": 2},
    "elements": {"type": "array", "items": LONG, "minItems": 2},
    "elements in elements": {
        "type": "array",
        "minItems": 2,
        "items": {"type": "array", "items": HALF, "minItems": 1},
    },
    "equal elements": {"type": "array", "items": LONG, "not": {"uniqueItems": True}},
}


@pytest.mark.parametrize("spelling", ["plain", "any"])
@pytest.mark.parametrize("case", CASES)
def test_no_budget_is_enough(case: str, spelling: Literal["plain", "any"]) -> None:
    at = tk.json_schema(CASES[case], spelling=spelling).compile(BYTE_VOCABULARY, limits=LIMITS).matcher()
    assert at.advance(allowed(at).pop())
    live = allowed(at)
    assert ord('"') in live or ord("[") in live
    row = np.zeros_like(at.mask)
    for budget in (20, 100, 10**6):
        with pytest.raises((tk.BudgetError, tk.LimitExceeded)):
            at.fill_mask(row, budget=budget)
    assert allowed(at) == live
