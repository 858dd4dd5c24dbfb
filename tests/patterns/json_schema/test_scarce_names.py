"""Objects whose names are few: each that is written leaves fewer for what must still come."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

import tokamata as tk
from tests.support.masks import allowed
from tests.support.vocabularies import BYTE_VOCABULARY

LIMITS = tk.Limits(seconds=20.0)


def texts(matcher: tk.Matcher) -> set[str]:
    """All accepted texts; on the way to them no mask is empty."""
    live = allowed(matcher)
    assert live, matcher.text
    found = {matcher.text.decode()} if matcher.is_accepting else set()
    for token in live - set(BYTE_VOCABULARY.stop):
        further = matcher.fork()
        assert further.advance(token)
        found |= texts(further)
    return found


def schema(names: list[str], declared: list[str], least: int) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": "null"} for name in declared},
        "additionalProperties": {"type": "null"},
        "propertyNames": {"enum": names},
        "minProperties": least,
    }


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("declared", [[], ["a"], ["ab"], ["a", "ab"]], ids=str)
@pytest.mark.parametrize("least", [1, 3, 4])
def test_no_name_is_begun_that_leaves_too_few(order: Any, declared: list[str], least: int) -> None:
    names = ["a", "b", "ab", "c"]
    compiled = tk.json_schema(
        schema(names, declared, least), property_order=order, whitespace="compact"
    ).compile(BYTE_VOCABULARY, limits=LIMITS)
    expected = set()
    for count in range(least, len(names) + 1):
        for chosen in itertools.permutations(names, count):
            expected.add(json.dumps(dict.fromkeys(chosen), separators=(",", ":")))
    assert texts(compiled.matcher()) == expected


def test_no_object_has_more_names_than_there_are() -> None:
    with pytest.raises(tk.EmptyConstraintError):
        tk.json_schema(schema(["a", "b"], ["a"], 3)).compile(BYTE_VOCABULARY, limits=LIMITS)
