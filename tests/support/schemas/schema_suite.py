"""The official JSON Schema Test Suite, judged by the table that a schema becomes and by what the table means.

Run as a program with the path of a whole suite, it counts what agrees, draft by draft:

    python -m tests.support.schemas.schema_suite PATH [--optional] [--verbose]
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from referencing import Registry, Resource
from referencing.jsonschema import specification_with

from tests.support.schemas.kernel_oracle import oracle_of
from tests.support.schemas.random_schemas import DRAFTS
from tokamata.errors import TokamataError


@dataclass
class Outcome:
    """What became of one schema of the suite: ``refused`` says why, or each test has a verdict."""

    draft: str
    file: str
    description: str
    refused: str
    wrong: list[str]
    right: int
    tests: int


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)


def remotes(folder: Path, draft: str) -> Registry[Any]:
    """The documents that the suite has at localhost; most name no draft, and are of the one at hand."""
    registry: Registry[Any] = Registry()
    for path in sorted(folder.rglob("*.json")):
        name = path.relative_to(folder).as_posix()
        first = name.partition("/")[0]
        contents = load(path)
        default = specification_with(DRAFTS[first if first in DRAFTS else draft])
        resource = Resource.from_contents(contents, default_specification=default)
        registry = registry.with_resource(f"http://localhost:1234/{name}", resource)
    return registry


def run(folder: Path, draft: str, optional: bool = False, formats: str = "annotate") -> Iterator[Outcome]:
    """Each schema of a draft's files."""
    registry = remotes(folder / "remotes", draft)
    tests = folder / "tests" / draft
    for path in sorted(tests.rglob("*.json") if optional else tests.glob("*.json")):
        for case in load(path):
            yield judge(draft, path.relative_to(tests).as_posix(), case, registry, formats)


def in_draft(schema: Any, draft: str) -> Any:
    """The schema with the name of its draft, where that is not the default."""
    if isinstance(schema, dict) and "$schema" not in schema and draft != "draft2020-12":
        return {"$schema": DRAFTS[draft], **schema}
    return schema


def judge(draft: str, file: str, case: dict[str, Any], registry: Registry[Any], formats: Any) -> Outcome:
    schema = in_draft(case["schema"], draft)
    outcome = Outcome(draft, file, case["description"], "", [], 0, len(case["tests"]))
    try:
        holds = oracle_of(schema, formats=formats, registry=registry)
    except TokamataError as error:
        outcome.refused = f"{type(error).__name__}: {error}"
        return outcome
    for test in case["tests"]:
        if holds(test["data"]) == test["valid"]:
            outcome.right += 1
        else:
            outcome.wrong.append(test["description"])
    return outcome


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suite", type=Path)
    parser.add_argument("--optional", action="store_true")
    parser.add_argument("--formats", default="annotate", choices=["assert", "annotate"])
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    print("| draft | schemas | tests | right | wrong | refused schemas | of these, with their tests |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    details = []
    for draft in DRAFTS:
        counts: Counter[str] = Counter()
        for outcome in run(arguments.suite, draft, arguments.optional, arguments.formats):
            counts["schemas"] += 1
            counts["tests"] += outcome.tests
            counts["right"] += outcome.right
            counts["wrong"] += len(outcome.wrong)
            if outcome.refused:
                counts["refused"] += 1
                counts["refused tests"] += outcome.tests
            if outcome.refused or outcome.wrong:
                details.append(outcome)
        names = ("schemas", "tests", "right", "wrong", "refused", "refused tests")
        print(f"| {draft} | " + " | ".join(f"{counts[name]:,}" for name in names) + " |")
    for outcome in details:
        print(f"\n{outcome.draft}/{outcome.file}: {outcome.description}")
        print("  " + (outcome.refused.replace("\n", "\n  ") or f"WRONG: {outcome.wrong}"))


if __name__ == "__main__":
    main()
