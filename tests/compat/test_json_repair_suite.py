"""json_repair's own tests against the drop-in: the list of differences is exact."""

from __future__ import annotations

from tests.support.repair.json_repair_suite import FOLDER, REASONS, failures, stated, suite


def test_the_list_of_differences_is_exact() -> None:
    """Where this fails after a change of repairs, ``json_repair_suite`` renews the list."""
    listed = {(test, line) for test, lines in stated()["differences"].items() for line in map(int, lines)}
    count, found = failures(suite().tests)
    failed = {(test, int(line)) for test, lines in found.items() for line in lines}
    assert failed - listed == set(), "new differences"
    assert listed - failed == set(), "listed as differences, and hold"
    assert count > 450


def test_every_difference_has_a_reason() -> None:
    content = stated()
    reasons = {reason for lines in content["differences"].values() for reason in lines.values()}
    assert reasons <= set(REASONS)
    assert content["reasons"] == REASONS


def test_tests_that_use_internal_names_are_listed() -> None:
    whole = suite()
    assert whole.internal == stated()["internal"]
    assert len(whole.tests) > 170
    # Every function of a file is one of the two.
    functions = {name.partition("[")[0] for name in (*(test.name for test in whole.tests), *whole.internal)}
    defined = {
        f"{path.name.removesuffix('.py.txt')}::{line[4:].partition('(')[0]}"
        for path in FOLDER.glob("*.txt")
        for line in path.read_text("utf-8").splitlines()
        if line.startswith("def test_")
    }
    assert functions == defined


def test_a_check_that_fails_is_found() -> None:
    """The oracle itself: a library that returns something else fails."""
    tests = [
        test for test in suite("tests.support.repair.wrong_library").tests if "test_valid_json" in test.name
    ]
    count, found = failures(tests)
    assert count > 5
    assert all(len(lines) > 0 for lines in found.values())
    assert found
