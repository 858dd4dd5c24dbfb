"""Random schemas of every draft and random values, judged by `jsonschema`."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from against_jsonschema import ours, upstream
from random_schemas import DRAFTS, RandomSchemas

from tokamata.errors import UnsupportedSchemaError

SCHEMAS = 60
VALUES = 20


@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("unsupported", [False, True], ids=["enforceable", "with backreferences"])
def test_random_schemas(draft: str, unsupported: bool) -> None:
    """What is enforced agrees; what is relaxed holds of all that upstream takes."""
    exact = relaxed = 0
    for seed in range(SCHEMAS):
        source = RandomSchemas(seed, draft, unsupported)
        schema = source.schema()
        values = [source.value() for _ in range(VALUES)]
        judged = [upstream(schema, value) for value in values]
        values = json.loads(json.dumps(values), parse_float=Decimal)
        try:
            found = ours(schema, values)
        except UnsupportedSchemaError:
            relaxed += 1
            for taken, holds in zip(judged, ours(schema, values, strict=False), strict=True):
                assert holds or not taken, schema
        else:
            exact += 1
            assert found == judged, schema
    assert exact > SCHEMAS // 4
    assert relaxed or not unsupported
