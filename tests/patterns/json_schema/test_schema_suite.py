"""Files of the official test suite (MIT, in ``LICENSES/``) on what is most easily got wrong.

The whole suite is judged by ``schema_suite.py`` as a program.
"""

from __future__ import annotations

import pytest

from tests.support.paths import DATA
from tests.support.schemas.schema_suite import in_draft, load, remotes, run
from tokamata.patterns.json_schema import RecordingTable, read_schema

FOLDER = DATA / "json_schema_test_suite"
DRAFTS = sorted(path.name for path in (FOLDER / "tests").iterdir())


@pytest.mark.parametrize("draft", DRAFTS)
def test_every_verdict_of_the_suite(draft: str) -> None:
    pytest.importorskip("jsonschema_specifications")  # schemas of the suite refer to metaschemas
    outcomes = list(run(FOLDER, draft))
    assert outcomes
    assert [(one.file, one.description, one.refused) for one in outcomes if one.refused] == []
    assert [(one.file, one.description, one.wrong) for one in outcomes if one.wrong] == []
    assert sum(one.right for one in outcomes) == sum(one.tests for one in outcomes) > 40


@pytest.mark.parametrize("draft", DRAFTS)
def test_every_schema_of_the_suite_can_be_reported_on(draft: str) -> None:
    pytest.importorskip("jsonschema_specifications")
    registry = remotes(FOLDER / "remotes", draft)
    for path in sorted((FOLDER / "tests" / draft).glob("*.json")):
        for case in load(path):
            schema = in_draft(case["schema"], draft)
            reading = read_schema(schema, table=RecordingTable(), registry=registry, strict=False)
            assert reading.is_exact
            if isinstance(schema, dict):
                assert {entry.keyword for entry in reading.report() if entry.pointer == ""} == set(schema)
