"""The official test suite's files, and random schemas, through the engine: compiled, and led byte by byte.

``test_schema_suite.py`` judges what a schema is read into; here it is what comes out at the end.
"""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from kernel_oracle import Oracle
from maskbench import Outcome, judge, single_bytes
from random_schemas import DRAFTS, RandomSchemas
from schema_suite import in_draft, remotes

import tokamata as tk
from tokamata.errors import UnsupportedSchemaError
from tokamata.patterns.json_schema import RecordingTable, read_schema

FOLDER = Path(__file__).parents[2] / "data" / "json_schema_test_suite"
LIMITS = tk.Limits(seconds=20.0)
SCHEMAS, VALUES = 30, 12
ORDERS = ["any", "schema"]


def judged(name: str, schema: Any, tests: list[dict[str, Any]], **options: Any) -> Outcome:
    vocabulary, encode = single_bytes()
    case = {"id": name, "schema": schema, "tests": tests}
    return judge(case, vocabulary, encode, LIMITS, formats="annotate", spelling="any", **options)


def wrong_accepts(found: Outcome, tests: list[dict[str, Any]], order: str) -> list[Any]:
    """What is wrong; in the order of the schema, values in other orders may be refused."""
    return [
        (found.name, one.kind, tests[one.instance], one.detail)
        for one in found.differences
        if not (
            order == "schema"
            and one.kind == "false reject"
            and "{" in json.dumps(tests[one.instance]["data"])
        )
    ]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("draft", sorted(path.name for path in (FOLDER / "tests").iterdir()))
def test_the_suite(draft: str, order: str) -> None:
    pytest.importorskip("jsonschema_specifications")  # schemas of the suite refer to metaschemas
    registry = remotes(FOLDER / "remotes", draft)
    wrong, refused, schemas = [], [], 0
    for path in sorted((FOLDER / "tests" / draft).glob("*.json")):
        for case in json.loads(path.read_text(encoding="utf-8")):
            schema, name = in_draft(case["schema"], draft), f"{path.stem}: {case['description']}"
            found = judged(name, schema, case["tests"], property_order=order, registry=registry)
            schemas += 1
            empty = found.refused.startswith("EmptyConstraintError")
            if empty and not any(test["valid"] for test in case["tests"]):
                continue  # nothing is valid, which the engine says at once
            refused += [(name, found.refused)] if found.refused else []
            wrong += wrong_accepts(found, case["tests"], order)
    assert schemas > 10
    assert wrong == []
    assert [one for one in refused if "UnsupportedSchemaError" not in one[1]] == []
    assert len(refused) <= schemas // 20, refused


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("draft", DRAFTS)
def test_random_schemas(draft: str, order: str) -> None:
    wrong, taken = [], 0
    for seed in range(SCHEMAS):
        source = RandomSchemas(seed, draft)
        schema = source.schema()
        values = [source.value() for _ in range(VALUES)]
        table = RecordingTable()
        try:
            root = read_schema(schema, table=table, formats="annotate").root
        except UnsupportedSchemaError:
            continue
        oracle = Oracle(table)
        exact = json.loads(json.dumps(values), parse_float=Decimal)
        verdicts = [oracle.holds(root, value) for value in exact]
        tests = [{"data": value, "valid": valid} for value, valid in zip(values, verdicts, strict=True)]
        found = judged(f"seed {seed}", schema, tests, property_order=order)
        if found.refused.startswith("EmptyConstraintError"):
            assert not any(verdicts), (seed, schema)
            continue
        assert not found.refused, (seed, found.refused)
        taken += 1
        wrong += wrong_accepts(found, tests, order)
    assert wrong == []
    assert taken > SCHEMAS // 3
