"""The cases of other libraries' tests, and JSONTestSuite's files, repaired."""

from __future__ import annotations

import dataclasses
import json
import random
from typing import Any

import jsonschema
import pytest

import tokamata as tk
from tests.support.repair.library_cases import (
    LIBRARIES,
    LIMITS,
    REASONS,
    Judgement,
    LibraryCase,
    constraint_of,
    judged,
    library_cases,
    suite_cases,
    value_of,
    wrong_cases,
)

_SAMPLE, _LONGEST = 100, 160
"""Cases of a library that are repaired here, and their characters; ``make bench`` repairs all."""


@pytest.fixture(scope="module")
def constraint() -> tk.Constraint[Any]:
    return constraint_of(None)


@pytest.mark.parametrize("library", LIBRARIES)
def test_cases_of_libraries(library: str) -> None:
    """All repairs are JSON with a certificate, and those that are wrong are the ones that are listed."""
    cases = [case for case in library_cases(library) if len(case.input) <= _LONGEST]
    cases = random.Random(20261127).sample(cases, min(_SAMPLE, len(cases)))
    wrong: set[str] = set()
    for found in judged(cases):
        case, repair = found.case, found.repair
        if repair is not None:
            assert value_of(repair.text) is not None, case.name
            assert repair.certificate.flaw() is None, case.name
        if case.schema is None:
            assert repair is not None, case.name
            assert json.loads(repair.text) == repair.value
        if found.verdict == "wrong":
            wrong.add(case.name)
    known = set(wrong_cases()[library]) & {case.name for case in cases}
    assert wrong - known == set(), "come back wrong, and did not before"
    assert known - wrong == set(), "are listed as wrong, and come back right: run library_cases --renew"


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_cases_are_well_formed(library: str) -> None:
    cases = library_cases(library)
    assert len({(case.input, case.schema) for case in cases}) == len(cases) > 20
    assert set(wrong_cases()[library]) <= {case.name for case in cases if case.has_value}
    for case in cases:
        values = [value_of(text) for text in (case.expected, *case.readings) if text is not None]
        assert None not in values, case.name
        assert len(set(values)) == len(values), f"{case.name}: a reading is the library's value"
        assert case.reason is None or case.reason in REASONS, case.name
        assert bool(case.readings) == (case.reason not in (None, "garbage")), case.name


def test_schemas_accept_the_values_of_their_cases() -> None:
    """The translation of BAML's types is right: jsonschema judges it."""
    for case in library_cases("baml"):
        assert case.schema is not None
        judge = jsonschema.Draft202012Validator(json.loads(case.schema))
        for text in filter(None, (case.expected, *case.readings)):
            judge.validate(json.loads(text))


def test_values_are_compared_as_values() -> None:
    assert value_of('{"a": 1, "b": [2.50]}') == value_of('{"b": [2.5], "a": 1.0}')
    assert value_of("1") != value_of("true")
    assert value_of("[1, 2]") != value_of("[2, 1]")
    assert value_of("12345678901234567890") != value_of("12345678901234567891")
    assert value_of('{"a": null}') != value_of("{}") == value_of('{"a": null}', has_nulls=False)
    assert value_of("[null]", has_nulls=False) == "[null]"
    assert value_of("NaN") is value_of("[1,]") is value_of(None) is None


def test_a_value_is_expected_or_read_or_wrong() -> None:
    case = LibraryCase("baml", "name 1", "[1", None, "[1]", ("[1, 2]",), "ambiguous")
    found = next(iter(judged([case])))
    assert (found.text, found.verdict) == ("[1]", "expected")
    assert Judgement(case._replace(expected="[3]", readings=("[1]",)), found.repair).verdict == "read"
    assert Judgement(case._replace(expected=None, readings=("[1]",)), found.repair).verdict == "read"
    assert Judgement(case._replace(expected="[3]"), found.repair).verdict == "wrong"
    assert Judgement(case, None).verdict == "wrong"
    assert (
        Judgement(case._replace(expected=None, readings=(), reason=None), found.repair).verdict == "no value"
    )
    assert Judgement(case._replace(readings=(), reason="garbage"), found.repair).verdict == "no value"


def test_valid_cases_are_not_changed(constraint: tk.Constraint[Any]) -> None:
    """JSON comes back byte for byte, except where a name is repeated, which tokamata.json() refuses."""
    checked = 0
    for library in LIBRARIES:
        for case in library_cases(library):
            if case.schema is not None or not case.is_json or _repeats_a_name(case.input):
                continue
            repair = constraint.repair(case.input, limits=LIMITS)
            assert (repair.text, repair.edits) == (case.input, ())
            assert repair.optimal
            checked += 1
    assert checked > 60


def _repeats_a_name(text: str) -> bool:
    objects: list[list[tuple[str, Any]]] = []
    json.loads(text, object_pairs_hook=objects.append)
    return any(len(dict(pairs)) < len(pairs) for pairs in objects)


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
