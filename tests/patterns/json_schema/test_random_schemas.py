"""Random schemas of every draft and random values, judged by `jsonschema`."""

from __future__ import annotations

import json
import random
from decimal import Decimal
from typing import Any

import pytest

from tests.support.schemas.against_jsonschema import ours, upstream
from tests.support.schemas.kernel_oracle import Oracle
from tests.support.schemas.random_schemas import DRAFTS, RandomSchemas
from tokamata.errors import UnsupportedSchemaError
from tokamata.patterns.json_schema import RecordingTable
from tokamata.patterns.json_schema.apart import apart
from tokamata.patterns.json_schema.reader import Options, Reader
from tokamata.resources.limits import Limits, Watch

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


def variant(chance: random.Random) -> dict[str, Any]:
    """Something like a member of a union."""
    kinds: list[Any] = [
        {"const": "a"},
        {"enum": ["b", "c"]},
        {"const": 1},
        {"enum": [1.0, 2]},
        {"type": "string"},
        {},
    ]
    one: dict[str, Any] = {
        "type": chance.choice(["object", "object", "string", ["object", "null"], "number"])
    }
    one["properties"] = {name: chance.choice(kinds) for name in chance.sample(["a", "b"], 2)}
    one["required"] = chance.sample(["a", "b"], chance.randint(0, 2))
    return one if chance.random() < 0.7 else {"allOf": [one], "enum": [1, "a", {"a": "a", "b": 1}]}


def test_no_value_is_in_schemas_of_two_groups() -> None:
    values: list[Any] = [None, 1, "a"]
    for one in ("a", "b", "c", 1, 2.0, "d"):
        values += [{"a": one}, {"b": one}, *({"a": one, "b": other} for other in ("a", "b", 1, 2))]
    split = 0
    for seed in range(200):
        chance = random.Random(seed)
        schemas = [variant(chance) for _ in range(chance.randint(2, 5))]
        reader = Reader({}, RecordingTable(), Options(False, True, None, Limits().depth, Watch()))
        groups = apart(reader, schemas)
        assert sorted(map(id, schemas)) == sorted(id(one) for group in groups for one in group)
        split += len(groups) > 1
        nodes = [[reader.read(one) for one in group] for group in groups]
        oracle = Oracle(reader.table)  # type: ignore[arg-type]
        for value in values:
            assert sum(any(oracle.holds(node, value) for node in group) for group in nodes) <= 1
    assert split > 50
