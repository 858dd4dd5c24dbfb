"""What ``schema_exactness.py`` does to MaskBench, done to our own schemas, and to some of those.

MaskBench's repository (guidance-ai/jsonschemabench) has no licence, so that none of it is here.
``schema_cases.json`` was written for this project, after the kinds of schemas and instances that it has.
"""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import tokamata as tk
from fuzz.schema_exactness import details, explanations, judge, load, single_bytes, summary, upstream
from tests.support.guarded import Died, Guarded
from tests.support.paths import DATA, MASKBENCH
from tests.support.schemas.small_vocabulary import TOKENS, longest_first

CASES: list[dict[str, Any]] = json.loads((DATA / "schema_cases.json").read_text(encoding="utf-8"))
SAMPLE = 40


@pytest.fixture(scope="module")
def vocabulary() -> tk.Vocabulary:
    return tk.Vocabulary.load([*TOKENS, None], stop=[len(TOKENS)])


def test_the_cases_are_what_jsonschema_says() -> None:
    for case in CASES:
        for test in case["tests"]:
            found = upstream(case["schema"], test["data"])
            expected = ["valid"] if test["valid"] else ["invalid", "valid, with formats invalid"]
            assert found in expected, (case["id"], test)


@pytest.mark.parametrize("order", ["any", "schema"])
@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_our_own_schemas(case: dict[str, Any], order: str, vocabulary: tk.Vocabulary) -> None:
    """Valid instances have their members in the order of the schema."""
    for encode in (longest_first, lambda text: list(text.encode())):
        found = judge(case, vocabulary, encode, property_order=order)
        assert not found.refused
        assert found.differences == []
        assert found.instances == len(case["tests"])


@pytest.mark.skipif(not MASKBENCH.exists(), reason="MaskBench is not on this machine")
def test_a_sample_of_maskbench() -> None:
    known = explanations()
    vocabulary, encode = single_bytes()
    outcomes = []
    with Guarded(lambda case: judge(case, vocabulary, encode, property_order="any"), 90.0) as guarded:
        for case in random.Random(3).sample(load(MASKBENCH), SAMPLE):
            outcomes.append(guarded(case))
    lines = list(details(outcomes, known))
    assert not [one for found in outcomes for one in found.differences], lines
    assert f"| schemas | {SAMPLE} |" in summary(outcomes)


def hangs_or_dies(what: str) -> str:
    """Work for a process that may end."""
    if what == "hang":
        while True:
            pass
    if what == "die":
        import os

        os.abort()
    return what


def test_a_process_that_hangs_or_crashes_is_started_again() -> None:
    with Guarded(hangs_or_dies, 0.5) as guarded:
        for what, said in (("hang", "hung"), ("die", "crashed: SIGABRT"), ("hang", "hung")):
            with pytest.raises(Died, match=said):
                guarded(what)
            assert guarded("answer") == "answer"
