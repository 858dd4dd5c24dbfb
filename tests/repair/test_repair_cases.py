"""The cases of json_repair's and jsonrepair's tests, and JSONTestSuite's files, repaired into JSON."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

import tokamata as tk
from tests.support.repair.library_cases import (
    LIBRARIES,
    LIMITS,
    REASONS,
    LibraryCase,
    json_constraint,
    library_cases,
    suite_cases,
    value_of,
)


@pytest.fixture(scope="module")
def constraint() -> tk.Constraint[Any]:
    return json_constraint()


@pytest.mark.parametrize("library", LIBRARIES)
def test_cases_of_libraries(library: str, constraint: tk.Constraint[Any]) -> None:
    """All repairs are JSON and proven; ``library_cases`` renews the table of differences."""
    agree: set[LibraryCase] = set()
    differ: set[LibraryCase] = set()
    for case in library_cases(library):
        repair = constraint.repair(case.input, limits=LIMITS)
        assert value_of(repair.text) is not None, case
        assert json.loads(repair.text) == repair.value
        assert repair.certificate.flaw() is None, case
        assert repair.optimal or case.differs is not None, case
        (agree if case.is_expected(repair.text) else differ).add(case)
    stated = {case for case in library_cases(library) if case.differs is not None}
    assert differ - stated == set(), "new differences"
    assert agree & stated == set(), "stated as differences, and agree"


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_difference_has_a_reason(library: str) -> None:
    cases = library_cases(library)
    assert len({case.input for case in cases}) == len(cases) > 250
    assert {case.differs for case in cases} - {None} <= set(REASONS)
    assert all(case.differs == "no answer" for case in cases if case.expected is None)


def test_valid_cases_are_not_changed(constraint: tk.Constraint[Any]) -> None:
    """JSON comes back byte for byte, except where a name is repeated, which tokamata.json() refuses."""
    checked = 0
    for library in LIBRARIES:
        for case in filter(_is_plain_json, library_cases(library)):
            repair = constraint.repair(case.input, limits=LIMITS)
            assert (repair.text, repair.edits) == (case.input, ())
            assert repair.optimal
            checked += 1
    assert checked > 60


def _is_plain_json(case: LibraryCase) -> bool:
    return case.is_json and case.differs != "repeated name"


def test_json_test_suite(constraint: tk.Constraint[Any]) -> None:
    """Each file that is no JSON becomes JSON; each that is comes back byte for byte."""
    repeated = {"y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json"}
    for name, text, is_json in suite_cases():
        repair = constraint.repair(text, limits=LIMITS)
        assert value_of(repair.text) is not None, name
        assert repair.certificate.flaw() is None, name
        if is_json and name not in repeated:
            assert (repair.text.encode(), repair.edits) == (text, ()), name
        else:
            assert repair.text.encode() != text, name


def test_an_accepted_text_has_a_certificate_though_its_bytes_look_doubtful(
    constraint: tk.Constraint[Any],
) -> None:
    certificate = constraint.repair('"Rounded “ quote"').certificate
    assert certificate.flaw() is None
    forged = dataclasses.replace(certificate, broken=b'[",', text=b'[",')
    assert forged.flaw() == "the constraint does not accept the repaired text"
