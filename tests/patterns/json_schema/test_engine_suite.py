"""The engine against the official JSON Schema Test Suite, by the texts of its instances.

The subset of the suite that lies in tests/data: every instance, written out, is accepted or refused byte by
byte as the suite has it, in any spelling, any order and any white space; and again in the default style,
where what is written in it must not be accepted wrongly.
"""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import tokamata as tk
from tests.support.matchers import takes
from tests.support.paths import DATA
from tests.support.schemas.schema_suite import DRAFTS, load, remotes
from tests.support.vocabularies import BYTE_VOCABULARY
from tokamata.errors import EmptyConstraintError

FOLDER = DATA / "json_schema_test_suite"


def written(value: Any) -> str:
    """As the suite has it: decimals keep their digits."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, dict):
        members = (f"{json.dumps(name, ensure_ascii=False)}: {written(part)}" for name, part in value.items())
        return "{" + ", ".join(members) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def cases() -> list[Any]:
    found = []
    for draft in sorted(DRAFTS):
        for path in sorted((FOLDER / "tests" / draft).glob("*.json")):
            found.append(pytest.param(draft, path, id=f"{draft}-{path.stem}"))
    return found


@pytest.mark.parametrize(("draft", "path"), cases())
def test_every_instance_is_judged_as_the_suite_does(draft: str, path: Path) -> None:
    registry = remotes(FOLDER / "remotes", draft)
    wrong = []
    for case in load(path):
        schema = case["schema"]
        if isinstance(schema, dict) and "$schema" not in schema and draft != "draft2020-12":
            schema = {"$schema": DRAFTS[draft], **schema}
        styles: list[dict[str, Any]] = [
            {"spelling": "any", "property_order": "any", "whitespace": "any"},
            {"property_order": "any"},
        ]
        for style in styles:
            try:
                constraint = tk.json_schema(schema, formats="annotate", registry=registry, **style)
                compiled = constraint.compile(BYTE_VOCABULARY)
            except EmptyConstraintError:
                compiled = None
            for test in case["tests"]:
                text = written(test["data"]).encode()
                accepted = compiled is not None and takes(compiled.matcher(), text)
                right = accepted == test["valid"] or ("spelling" not in style and not accepted)
                if not right:
                    wrong.append((case["description"], test["description"], style))
    assert not wrong
