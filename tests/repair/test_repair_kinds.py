"""Broken texts by kind of mistake: which ones come back as a careful reader takes them."""

from __future__ import annotations

import json
from collections import Counter

import jsonschema
import pytest

from tests.support.repair.kinds import (
    COLLECTIONS,
    LIMITS,
    cases_of,
    comparable,
    is_ours_right,
    repaired,
    wrong_names,
)


@pytest.mark.parametrize("collection", COLLECTIONS)
def test_wrong_repairs_are_the_stored_ones(collection: str) -> None:
    """``python -m tests.support.repair.kinds --renew`` stores them anew, to be read in the diff."""
    wrong = {case.name for case in cases_of(collection) if not is_ours_right(case, repaired(case, LIMITS))}
    stated = set(wrong_names()[collection])
    assert wrong - stated == set(), "come back wrong"
    assert stated - wrong == set(), "stated as wrong, and right"


@pytest.mark.parametrize("collection", COLLECTIONS)
def test_cases_are_well_formed(collection: str) -> None:
    cases = cases_of(collection)
    assert len({(case.input, json.dumps(case.schema)) for case in cases}) == len(cases)
    assert len({case.name for case in cases}) == len(cases)
    for case in cases:
        assert case.accept or case.refuses, case.name
        assert len(set(map(comparable, case.accept))) == len(case.accept), case.name
        assert case.keeps_spelling(case.input), case.name
        if case.schema is not None:
            validator = jsonschema.Draft202012Validator(case.schema)
            assert all(map(validator.is_valid, case.accept)), case.name


def test_both_halves_have_all_kinds() -> None:
    counts = {
        split: Counter(case.kind for case in cases_of("kinds") if case.split == split)
        for split in ("dev", "held_out")
    }
    assert counts["dev"].keys() == counts["held_out"].keys()
    assert min(*counts["dev"].values(), *counts["held_out"].values()) >= 4


def test_a_case_is_judged_by_value() -> None:
    case = next(case for case in cases_of("kinds") if case.input == '{"delta": +12, "phone": "+49 30 1234"}')
    assert case.is_right('{"phone":"+49 30 1234","delta":12.0}')
    assert not case.is_right('{"phone":"+49 30 1234","delta":true}')
    assert not case.is_right('{"phone":"+49 30 1234","delta":12')
    assert not case.is_right(None)
