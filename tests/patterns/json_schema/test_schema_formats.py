"""The formats against the cases of the JSON Schema Test Suite, and what is said of all of them."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from tests.support.paths import ROOT
from tests.support.patterns.engine import Engine
from tokamata import _core
from tokamata.patterns.json_schema.formats import FORMATS, format_language

CASES: dict[str, list[tuple[str, bool, str]]] = json.loads(
    (ROOT / "tests" / "data" / "json_schema_formats.json").read_text()
)

# Valid, and left out: names with Punycode in them, and a label of 52 Greek letters (docs/formats.md).
LEFT_OUT = re.compile(r"(?:^|\.)xn--|^(?:παράδειγμα){5}πα[.。．｡]com$")


def accepts(name: str, text: str) -> bool:
    expression = format_language(name)
    assert expression is not None
    return Engine(expression).accepts(text)


@pytest.mark.parametrize("name", sorted(CASES))
def test_cases_of_the_suite(name: str) -> None:
    expression = format_language(name)
    assert expression is not None
    engine = Engine(expression)
    for text, valid, description in CASES[name]:
        if valid and name.endswith("hostname") and LEFT_OUT.search(text):
            assert not engine.accepts(text), f"no longer left out: {text}"
        else:
            assert engine.accepts(text) == valid, (text, description)


def test_all_formats_have_cases() -> None:
    assert set(CASES) == set(FORMATS)


def test_unknown_formats_are_annotations() -> None:
    for name in ("host-name", "ip-address", "color", "unknown", "", "Date", "date "):
        assert format_language(name) is None


def test_formats_are_made_once() -> None:
    for name in FORMATS:
        assert format_language(name) is format_language(name)


@pytest.mark.parametrize("any_spelling", [False, True])
@pytest.mark.parametrize("name", FORMATS)
def test_formats_can_be_spelled_in_json(name: str, any_spelling: bool) -> None:
    expression = format_language(name)
    assert expression is not None
    engine = Engine(_core.spelled_in_json(expression, any_spelling))
    for text, valid, description in CASES[name][:40]:
        if valid and name.endswith("hostname") and LEFT_OUT.search(text):
            continue
        spelled = json.dumps(text, ensure_ascii=False)[1:-1]
        assert engine.accepts(spelled) == valid, (text, description)
        spelled = json.dumps(text)[1:-1]
        if "\\u" in spelled and text.isprintable():
            assert engine.accepts(spelled) == (valid and any_spelling), (text, description)


def test_nothing_is_made_before_it_is_asked_for() -> None:
    program = (
        "import sys; from tokamata.patterns.json_schema import formats; before = set(sys.modules); "
        "formats.format_language('date'); formats.format_language('no such'); "
        "print(sorted(name.rpartition('.')[2] for name in set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "['dates']"


def test_formats_are_in_the_documentation() -> None:
    page = (ROOT / "docs" / "formats.md").read_text()
    for name in FORMATS:
        assert f"| `{name}` |" in page
