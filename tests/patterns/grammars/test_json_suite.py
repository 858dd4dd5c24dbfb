"""JSON's grammar, examples/json.gbnf, against JSONTestSuite: 95 texts of JSON, 188 that are not."""

from __future__ import annotations

import json
from typing import Any

import pytest

import tokamata as tk
from tests.support.matchers import takes
from tests.support.paths import DATA, ROOT
from tests.support.vocabularies import BYTE_VOCABULARY

CASES = json.loads((DATA / "json_test_suite/test_parsing.json").read_text("utf-8"))["cases"]
# Not UTF-8: no beginning, an overlong form, a surrogate, above the last code point, half a character.
INVALID = [b"\xff", b"\x80", b"\xe9", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xf0\x9f\x98"]


def texts_of(case: dict[str, Any]) -> list[bytes]:
    """The bytes of a case; where the data has U+FFFD, each kind of bytes that are no UTF-8."""
    data = (case["input"] * case.get("times", 1) + case.get("then", "")).encode()
    mark = "\ufffd".encode()
    return [data.replace(mark, invalid) for invalid in INVALID] if mark in data else [data]


@pytest.fixture(scope="module")
def matcher() -> tk.Matcher:
    return tk.grammar(ROOT / "examples/json.gbnf", syntax="gbnf").compile(BYTE_VOCABULARY).matcher()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_json_is_what_the_suite_says(case: dict[str, Any], matcher: tk.Matcher) -> None:
    for text in texts_of(case):
        assert takes(matcher, text) == case["name"].startswith("y_"), text[:100]


def test_the_suite_is_complete() -> None:
    assert [sum(case["name"].startswith(kind) for case in CASES) for kind in ("y_", "n_")] == [95, 188]
    assert sum(len(texts_of(case)) > 1 for case in CASES) == 12
