"""``stream_stable``: what follows only adds to the last value, for texts without mistakes."""

from __future__ import annotations

import json

import pytest

from tests.compat.test_json_repair import values
from tests.support.repair.streams import grows
from tokamata.compat import json_repair


@pytest.mark.parametrize("indent", [None, 1])
def test_values_grow(indent: int | None) -> None:
    checked = 0
    for value in values(f"stream {indent}", 40):
        text = json.dumps({"k": value}, ensure_ascii=False, indent=indent)
        before = json_repair.loads(text[:1], stream_stable=True)
        for end in range(2, len(text) + 1):
            now = json_repair.loads(text[:end], stream_stable=True)
            assert grows(before, now), text[:end]
            before = now
            checked += 1
        assert before == {"k": value}
    assert checked > 700


def test_a_member_appears_when_its_value_begins() -> None:
    snapshots = {
        "{": {},
        '{"a': {},
        '{"a":': {},
        '{"a": "': {"a": ""},
        '{"a": "x\\': {"a": "x"},
        '{"a": "x\\u00': {"a": "x"},
        '{"a": "x\\u00e9, // y': {"a": "xé, // y"},
        '{"a": 1, "a': {"a": 1},
        '{"a": 1, "a": 2': {"a": 2},
        '{"a": tr': {"a": True},
        '{"a": [1, ': {"a": [1]},
    }
    for text, value in snapshots.items():
        assert json_repair.loads(text, stream_stable=True) == value, text


def test_growing_is_what_it_says() -> None:
    assert not grows({"a": "xy"}, {"a": "x"})
    assert not grows({"a": 1, "b": 2}, {"a": 3, "b": 2})
    assert not grows([1, 2], [1])
    assert grows([1, "a"], [1, "ab", 3])
