"""Repairs under rules that remember: what the relaxed rules know guides the search in the exact ones."""

from __future__ import annotations

import random

import pytest

import tokamata as tk

_EACH = tk.EditCosts(other=1000)
_TAGS = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
    },
    "required": ["name", "tags"],
}


@pytest.mark.parametrize("costs", [_EACH, tk.DEFAULT_COSTS])
def test_a_comma_is_lost_and_an_element_is_repeated(costs: tk.EditCosts) -> None:
    """The relaxed rules know nothing of the elements, and the exact ones no lengths."""
    limits = tk.Limits(states=20_000, seconds=60)
    for broken in ('{"name": "x" "tags": [1, 1]}', '{"name": "a word" "tags": [1, 2, 3, 2]}'):
        found = tk.json_schema(_TAGS).repair(broken, costs=costs, limits=limits)
        assert found.text.startswith(broken[: broken.index('" "') + 1])
        assert len(set(found.value["tags"])) == len(found.value["tags"]) > 0
        assert len(found.edits) <= 4
        assert found.certificate.flaw() is None
        if costs is _EACH:
            assert found.cost == 2000


def test_all_texts_of_a_small_schema() -> None:
    """Texts without blanks, so that no text with blanks is nearer."""
    accepted = ["[]", '["a"]', '["b"]', '["a","b"]', '["b","a"]']
    constraint = tk.json_schema({"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": True})
    draw = random.Random(1)
    for _ in range(40):
        broken = "".join(draw.choice(["[", "]", '"a"', '"b"', '"', ","]) for _ in range(draw.randrange(7)))
        found = constraint.repair(broken, costs=_EACH, limits=tk.Limits(states=20_000))
        assert found.cost == min(1000 * _distance(broken, text) for text in accepted), broken
        assert found.certificate.flaw() is None


def _distance(one: str, other: str) -> int:
    """Insertions and removals."""
    row = list(range(len(other) + 1))
    for letter in one:
        above, row = row, [row[0] + 1]
        for index, wanted in enumerate(other):
            kept = above[index] if letter == wanted else row[index] + 2
            row.append(min(kept, above[index + 1] + 1, row[index] + 1))
    return row[-1]
