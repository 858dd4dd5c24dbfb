"""The official test suite's files, and random schemas, led through the engine with masks.

``test_engine_suite.py`` looks at texts alone.  Here masks and ``advance`` must agree on the way, and random
schemas of every draft are judged by what their tables mean.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

import tokamata as tk
from fuzz.schema_exactness import Outcome, judge, single_bytes
from tests.support.paths import DATA
from tests.support.schemas.kernel_oracle import oracle_of
from tests.support.schemas.random_schemas import DRAFTS, RandomSchemas
from tests.support.schemas.schema_suite import in_draft, remotes
from tokamata.errors import UnsupportedSchemaError

FOLDER = DATA / "json_schema_test_suite"
LIMITS = tk.Limits(seconds=20.0)
SCHEMAS, VALUES = 12, 12
STYLES = [("any", "plain"), ("any", "any"), ("schema", "any")]


def judged(name: str, schema: Any, tests: list[dict[str, Any]], **options: Any) -> Outcome:
    vocabulary, encode = single_bytes()
    case = {"id": name, "schema": schema, "tests": tests}
    return judge(case, vocabulary, encode, LIMITS, formats="annotate", **options)


def wrong(found: Outcome, tests: list[dict[str, Any]], order: str, spelling: str) -> list[Any]:
    """What is wrong, but for what a style refuses: other orders of members, 1.0 for an integer."""
    left = []
    for one in found.differences:
        text = json.dumps(tests[one.instance]["data"])
        excused = (order == "schema" and "{" in text) or (spelling == "plain" and ".0" in text)
        if not (excused and one.kind == "false reject"):
            left.append((found.name, one.kind, text, one.detail))
    return left


@pytest.mark.parametrize(("order", "spelling"), STYLES)
@pytest.mark.parametrize("draft", sorted(path.name for path in (FOLDER / "tests").iterdir()))
def test_the_suite(draft: str, order: str, spelling: str) -> None:
    pytest.importorskip("jsonschema_specifications")  # schemas of the suite refer to metaschemas
    registry = remotes(FOLDER / "remotes", draft)
    differences, refused, schemas = [], [], 0
    for path in sorted((FOLDER / "tests" / draft).glob("*.json")):
        for case in json.loads(path.read_text(encoding="utf-8")):
            schema, name = in_draft(case["schema"], draft), f"{path.stem}: {case['description']}"
            options = {"property_order": order, "spelling": spelling, "registry": registry}
            found = judged(name, schema, case["tests"], **options)
            schemas += 1
            empty = found.refused.startswith("EmptyConstraintError")
            if empty and not any(test["valid"] for test in case["tests"]):
                continue  # nothing is valid, which the engine says at once
            refused += [(name, found.refused)] if found.refused else []
            differences += wrong(found, case["tests"], order, spelling)
    assert schemas > 10
    assert differences == []
    assert [one for one in refused if "UnsupportedSchemaError" not in one[1]] == []
    assert len(refused) <= schemas // 20, refused


@pytest.mark.parametrize(("order", "spelling"), STYLES)
@pytest.mark.parametrize("draft", DRAFTS)
def test_random_schemas(draft: str, order: str, spelling: str) -> None:
    differences, taken = [], 0
    for seed in range(SCHEMAS):
        source = RandomSchemas(seed, draft)
        schema = source.schema()
        values = [source.value() for _ in range(VALUES)]
        try:
            holds = oracle_of(schema, formats="annotate")
        except UnsupportedSchemaError:
            continue
        exact = json.loads(json.dumps(values), parse_float=Decimal)
        verdicts = [holds(value) for value in exact]
        tests = [{"data": value, "valid": valid} for value, valid in zip(values, verdicts, strict=True)]
        found = judged(f"seed {seed}", schema, tests, property_order=order, spelling=spelling)
        if found.refused.startswith("EmptyConstraintError"):
            assert not any(verdicts), (seed, schema)
            continue
        assert not found.refused, (seed, found.refused)
        taken += 1
        differences += wrong(found, tests, order, spelling)
    assert differences == []
    assert taken > SCHEMAS // 3
