"""MaskBench's schemas and instances."""

from __future__ import annotations

import json
import lzma
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.common.tokenizers import Tokenizer
from tokamata.audit.declared_order import in_order

__all__ = ["SchemaCase", "instances", "load"]


@dataclass
class SchemaCase:
    """A schema and its instances.

    Attributes:
        name: its id in the data.
        text: the schema as JSON text.
        texts: the instances in tokens, as the data have them.
        ordered: the same with members in the order of the schema.
        valid: what the data say of each.
    """

    name: str
    text: str
    texts: list[list[int]] = field(default_factory=list)
    ordered: list[list[int]] = field(default_factory=list)
    valid: list[bool] = field(default_factory=list)


def instances(path: Path, count: int, seed: int) -> list[Any]:
    """The first valid instance of each of so many schemas, drawn by a seed."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        found = list(lines)
    tests = [json.loads(line)["tests"] for line in random.Random(seed).sample(found, min(count, len(found)))]
    valid = [[test["data"] for test in those if test["valid"]] for those in tests]
    return [those[0] for those in valid if those]


def load(path: Path, count: int, seed: int, tokenizer: Tokenizer) -> list[SchemaCase]:
    """So many schemas, drawn by a seed.  Instances that UTF-8 cannot write are left out."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        found = list(lines)
    cases = []
    for line in random.Random(seed).sample(found, min(count, len(found))):
        content = json.loads(line)
        schema = content["schema"]
        case = SchemaCase(content["id"], json.dumps(schema, ensure_ascii=False))
        for test in content["tests"]:
            texts = [_written(value) for value in (test["data"], in_order(schema, test["data"]))]
            if not all(_is_text(text) for text in texts):
                continue
            plain, ordered = (tokenizer.encode_as_model(text) for text in texts)
            case.texts.append(plain)
            case.ordered.append(ordered)
            case.valid.append(test["valid"])
        cases.append(case)
    return cases


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _is_text(text: str) -> bool:
    return not any("\ud800" <= one <= "\udfff" for one in text)
