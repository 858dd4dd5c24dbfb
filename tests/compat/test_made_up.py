"""Which values of a repaired text were made up, against texts from which values were taken out."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import tokamata as tk
from tests.compat.test_json_repair import values
from tokamata.compat.json_spans import Path, path_at, shown_path, spans
from tokamata.compat.made_up import made_up, rewritten


def every_path(value: Any, path: Path = ()) -> list[Path]:
    """Of all values, outermost first."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(inner for step, one in steps for inner in every_path(one, (*path, step)))]


def at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def insertion(begin: int, written: bytes) -> tk.Edit:
    return tk.Edit("insert", begin, begin, b"", written, 1)


def test_a_value_that_was_taken_out_is_made_up() -> None:
    """For each value of random documents: the text without it, and the edit that writes it again."""
    checked = 0
    for value in values("made up", 200):
        text = json.dumps(value).encode()
        places = {}
        for begin, end, containers in spans(text):
            path = tuple(
                one.key if one.name is None else json.loads(text[slice(*one.name)]) for one in containers
            )
            places[path] = begin, end
        assert sorted(places, key=repr) == sorted(every_path(value), key=repr)
        for path, (begin, end) in places.items():
            assert json.loads(text[begin:end]) == at(value, path)
            edits = [insertion(begin, text[i : i + 1]) for i in range(begin, end)]
            (found,) = made_up(text, edits)
            assert (found.path, found.begin, found.member[1]) == (path, begin, end)
            assert found.has_name == bool(path and isinstance(path[-1], str))
            replaced = rewritten(text, [(found, b'"new"')])
            assert at(json.loads(replaced), path) == "new"
            if path:
                without = json.loads(text)
                del at(without, path[:-1])[path[-1]]
                assert json.loads(rewritten(text, [(found, None)])) == without
            checked += 1
    assert checked > 200


def test_any_members_can_be_dropped_together() -> None:
    """All subsets of the members of an object and of an array."""
    for value in ({"a": 1, "b": [2], "c": {}, "d": "x"}, [1, "", [2], {}]):
        text = json.dumps(value, indent=1).encode()
        places = [(begin, end) for begin, end, around in spans(text) if len(around) == 1]
        steps = list(value) if isinstance(value, dict) else list(range(len(value)))
        for subset in range(1, 1 << len(steps)):
            chosen = [one for one in range(len(steps)) if subset >> one & 1]
            edits = [
                insertion(places[one][0], text[i : i + 1]) for one in chosen for i in range(*places[one])
            ]
            found = made_up(text, _shifted(edits))
            assert [one.path for one in found] == [(steps[one],) for one in chosen]
            left = json.loads(rewritten(text, [(one, None) for one in found]))
            kept = [value[step] for place, step in enumerate(steps) if place not in chosen]  # type: ignore[index]
            assert (list(left.values()) if isinstance(left, dict) else left) == kept


def _shifted(edits: list[tk.Edit]) -> list[tk.Edit]:
    """Insertions of single bytes, whose positions are of the text that lacks those before."""
    return [edit._replace(begin=edit.begin - i, end=edit.begin - i) for i, edit in enumerate(_first(edits))]


def _first(edits: list[tk.Edit]) -> list[tk.Edit]:
    """The position of each byte in the repaired text."""
    found: list[tk.Edit] = []
    for edit in edits:
        run = found[-1].begin + 1 if found and edit.begin <= found[-1].begin else edit.begin
        found.append(edit._replace(begin=run))
    return found


@pytest.mark.parametrize(
    ("broken", "paths"),
    [
        ('{"a": 1, "b":', [("b",)]),
        ('{"a": 1, "b": [', []),
        ("{'a': ''}", []),
        ('{"a": , "b": {"c": }}', [("a",), ("b", "c")]),
        ('{"a": tru', []),
        ("[1, 2", []),
    ],
)
def test_of_repairs(broken: str, paths: list[Path]) -> None:
    found = tk.json().repair(broken)
    assert [one.path for one in made_up(found.text.encode(), found.edits)] == paths


def test_what_was_lost_is_named() -> None:
    edits = [tk.Edit("remove", 6, 11, b'"N/A"', b"", 1), insertion(11, b"0")]
    (found,) = made_up(b'{"a": 0}', edits)
    assert (found.path, found.lost, found.is_last) == (("a",), b"NA", False)


def test_the_value_around_a_byte() -> None:
    draw = random.Random("positions")
    for value in values("positions", 30):
        text = json.dumps({"k": value}).encode()
        whole = {path: (begin, end) for begin, end, path in _places(text)}
        for position in draw.sample(range(len(text)), min(10, len(text))):
            begin, end = whole[path_at(text, position)]
            inside = [place for place in whole.values() if place[0] <= position < place[1]]
            assert (begin, end) == min(inside, key=lambda place: place[1] - place[0])
    assert path_at(b"[1]  ", 4) == ()
    assert shown_path(("a", 0, "b")) == "$.a[0].b"


def _places(text: bytes) -> list[tuple[int, int, Path]]:
    return [(begin, end, path_at(text, end - 1)) for begin, end, _ in spans(text)]
