"""The `jsonschema` package as the judge of real schemas, and of random ones.

Run as a program with the path of MaskBench's lines (``.jsonl.xz``), it takes a sample by seed and prints
every difference:

    python -m tests.support.schemas.against_jsonschema PATH [--sample 1000] [--seed 1]
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema
from jsonschema.validators import validator_for

from tests.support.schemas.kernel_oracle import oracle_of
from tokamata.errors import TokamataError


def upstream(schema: Any, value: Any) -> bool:
    """What `jsonschema` says, without formats."""
    kind = validator_for(schema, default=jsonschema.Draft202012Validator)
    return bool(kind(schema).is_valid(value))


def ours(schema: Any, values: list[Any], **options: Any) -> list[bool]:
    """What the table says of each value."""
    return list(map(oracle_of(schema, **{"formats": "annotate", **options}), values))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--sample", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with lzma.open(arguments.path, "rt", encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    cases = random.Random(arguments.seed).sample(cases, min(arguments.sample, len(cases)))
    counts: Counter[str] = Counter()
    for case in cases:
        values = [test["data"] for test in case["tests"]]
        exact = json.loads(json.dumps(values), parse_float=Decimal)
        counts["schemas"] += 1
        try:
            found = ours(case["schema"], exact)
        except TokamataError as error:
            counts["refused"] += 1
            print(f"{case['id']}: refused: {error}"[:300])
            continue
        for index, (value, holds) in enumerate(zip(values, found, strict=True)):
            counts["instances"] += 1
            try:
                judged: bool | str = upstream(case["schema"], value)
            except Exception as error:  # it raises what re, referencing and others do
                judged = f"{type(error).__name__}: {str(error)[:80]}"
            counts["agree"] += judged == holds
            if judged != holds:
                print(f"{case['id']}, instance {index}: {holds}, but upstream says {judged}")
    print(dict(counts))


if __name__ == "__main__":
    main()
