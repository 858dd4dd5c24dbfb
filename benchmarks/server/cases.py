"""Many different schemas, as a server gets them: MaskBench's, those of the tests, and random ones.

The tests have the JSON Schema Test Suite, whose schemas are small and odd, and a few as people write them.
Where these are too few, random schemas are added.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.common.schemas import SchemaCase, load
from benchmarks.common.tokenizers import Tokenizer
from tests.support.paths import DATA
from tests.support.schemas.random_schemas import DRAFTS, RandomSchemas
from tokamata.audit.declared_order import in_order

_MOST_TEXTS = 1
_MOST_TOKENS = 60


def draw_cases(maskbench: Path | None, count: int, seed: int, tokenizer: Tokenizer) -> list[SchemaCase]:
    """So many schemas, no two alike, drawn by a seed; each with one short valid instance, where it has one.

    Args:
        maskbench: the file, of which three in four are taken; ``None`` where it is not at hand.
        count: how many.
        seed: of everything that is drawn.
        tokenizer: writes the instances.
    """
    chooser = random.Random(seed)
    found: dict[str, SchemaCase] = {}

    def take(cases: Iterator[SchemaCase], most: int) -> None:
        for case in cases:
            if len(found) >= most:
                return
            found.setdefault(case.text, case)

    if maskbench is not None:
        take(iter(load(maskbench, count, seed, tokenizer)), count * 3 // 4)
    own = list(_own())
    chooser.shuffle(own)
    take((_case(name, schema, tests, tokenizer) for name, schema, tests in own), count)
    take(_random(chooser, tokenizer), count)
    cases = list(found.values())
    chooser.shuffle(cases)
    for case in cases:
        case.ordered = [
            tokens
            for tokens, valid in zip(case.ordered, case.valid, strict=True)
            if valid and len(tokens) <= _MOST_TOKENS
        ][:_MOST_TEXTS]
    return cases


def _own() -> Iterator[tuple[str, Any, list[Any]]]:
    """Those of the tests: name, schema, instances."""
    for case in json.loads((DATA / "schema_cases.json").read_text(encoding="utf-8")):
        yield case["id"], case["schema"], case["tests"]
    folder = DATA / "json_schema_test_suite/tests"
    for path in sorted(folder.rglob("*.json")):
        for number, group in enumerate(json.loads(path.read_text(encoding="utf-8"))):
            name = f"{path.relative_to(folder).with_suffix('').as_posix()}-{number}"
            yield name, group["schema"], group["tests"]


def _random(chooser: random.Random, tokenizer: Tokenizer) -> Iterator[SchemaCase]:
    while True:
        seed = chooser.randrange(1 << 30)
        draft = chooser.choice(list(DRAFTS))
        yield _case(f"random-{seed}", RandomSchemas(seed, draft).schema(), [], tokenizer)


def _case(name: str, schema: Any, tests: list[Any], tokenizer: Tokenizer) -> SchemaCase:
    case = SchemaCase(name, json.dumps(schema, ensure_ascii=False))
    for test in tests:
        text = json.dumps(in_order(schema, test["data"]), ensure_ascii=False)
        if not any("\ud800" <= one <= "\udfff" for one in text):
            case.ordered.append(tokenizer.encode_as_model(text))
            case.valid.append(test["valid"])
    return case
