"""Types as JSON: what values are written as is accepted and read back; what masks write can be read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tokamata as tk
from tests.support.matchers import accepts
from tests.support.types.type_cases import CASES, jsonable
from tests.support.types.type_walks import drawn

# A known gap: the engine's masks of objects that may have any names, no two the same, pass its limits in some
# random walks, after half a minute each.
WIDE = {"dict", "lengths of dicts"}
# Names come in one order for all classes of a union (test_tagged_unions.py), which need not be a class's own.
ORDERED_BY_THE_UNION = {"tagged union"}


@pytest.mark.parametrize("name", CASES)
def test_values_are_accepted_and_read_back(name: str) -> None:
    kind, values = CASES[name]
    constraint = tk.type(kind, property_order="any" if name in ORDERED_BY_THE_UNION else "schema")

    @settings(max_examples=25)
    @given(values)
    def check(value: Any) -> None:
        for text in (json.dumps(jsonable(value)), json.dumps(jsonable(value), ensure_ascii=False, indent=2)):
            if text.isascii() and "\\u" not in text:
                assert accepts(constraint, text), text
            found = constraint.parse(text)
            assert found == value
            assert type(found) is type(value)

    check()


@pytest.mark.parametrize("name", [name for name in CASES if name not in WIDE])
def test_texts_from_masks_are_read(name: str) -> None:
    constraint = tk.type(CASES[name][0])
    for seed in range(6):
        text = drawn(constraint, seed, 30)
        value = constraint.parse(text)
        if value in (float("inf"), -float("inf")):
            continue  # 1e999
        again = json.dumps(jsonable(value), ensure_ascii=False)
        assert constraint.parse(again) == value


@pytest.mark.parametrize("name", ["list", "tagged union", "recursive dataclass", "typed dictionary"])
def test_values_of_others_are_refused(name: str) -> None:
    """Held against the conversion, which knows nothing of the engine."""
    constraint = tk.type(CASES[name][0])

    @settings(max_examples=40)
    @given(st.sampled_from(sorted(CASES)).flatmap(lambda other: CASES[other][1]))
    def check(value: Any) -> None:
        text = json.dumps(jsonable(value), ensure_ascii=False)
        try:
            constraint.parse(text)
            fits = True
        except tk.ParseError:
            fits = False
        assert accepts(constraint, text) == fits

    check()
