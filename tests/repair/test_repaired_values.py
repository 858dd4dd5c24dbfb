"""Values of repaired texts: those of JSON under a schema, and instances of Python types."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import json
from typing import Any, Literal, TypedDict

import pytest

import tokamata as tk


class Style(enum.Enum):
    CUBISM = "cubism"
    EXPRESSIONISM = "expressionism"


class Rank(enum.IntEnum):
    FIRST = 1
    SECOND = 2


@dataclasses.dataclass
class Person:
    name: str
    age: int = 0
    style: Style | None = None


@dataclasses.dataclass
class Group:
    members: list[Person]
    founded: datetime.date | None = None


class Entry(TypedDict):
    key: str
    kind: Literal["a", "b"]


SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("broken", "value"),
    [
        ('{"name": "Ann", "age": 3', {"name": "Ann", "age": 3}),
        ("{'name': 'Ann', age: \"3\",}", {"name": "Ann", "age": 3}),
        ('```json\n{"name": "Ann"}\n```', {"name": "Ann"}),
    ],
)
def test_a_schema(broken: str, value: object) -> None:
    found = tk.json_schema(SCHEMA).repair(broken)
    assert found.value == value == json.loads(found.text)


@pytest.mark.parametrize(
    ("given", "broken", "value"),
    [
        (Person, '{"name": "Ann", "age": "3"', Person("Ann", 3)),
        (Person, '{"name": "Ann", "style": "cubsm"}', Person("Ann", 0, Style.CUBISM)),
        (Person, '{name: "Ann", "age": 3, "style": None}', Person("Ann", 3)),
        (Group, '{"members": [{"name": "Ann"}, {"name": "Bob"', Group([Person("Ann"), Person("Bob")])),
        (Group, '{"members": [], "founded": "2026-11-31"}', Group([], datetime.date(2026, 11, 3))),
        (Entry, '{"key": "x", "kind": a}', {"key": "x", "kind": "a"}),
        (Style, "expressionism", Style.EXPRESSIONISM),
        (Style, '"Cubism"', Style.CUBISM),
        (Rank, '"2"', Rank.SECOND),
        (list[Rank], "[1, 2, 3", [Rank.FIRST, Rank.SECOND]),
        (dict[str, tuple[int, str]], '{"a": [1 "x"]', {"a": (1, "x")}),
    ],
)
def test_types_of_the_standard_library(given: Any, broken: str, value: object) -> None:
    found = tk.type(given).repair(broken)
    assert found.optimal
    if isinstance(value, Group) and value.founded is not None:  # no day is nearer than that there is none
        assert found.value == Group([])
        assert [edit.name for edit in found.edits] == ["drop a member"]
        return
    if given == list[Rank]:  # 3 is removed with its comma, or replaced
        assert found.value[:2] == value
        assert all(type(rank) is Rank for rank in found.value)
        return
    assert found.value == value
    assert type(found.value) is type(value)


def test_constructor_calls() -> None:
    constraint = tk.type(Person, syntax="python")
    broken = "Person(name='Ann', age=3, style=Style.CUBISM"
    assert constraint.repair(broken).value == Person("Ann", 3, Style.CUBISM)


def test_pydantic_models() -> None:
    pydantic = pytest.importorskip("pydantic")

    class Painter(pydantic.BaseModel):  # type: ignore[misc, name-defined]
        name: str = pydantic.Field(pattern="^[A-Z][a-z]+( [A-Z][a-z]+)*$")
        born: int = pydantic.Field(ge=1400, le=2026)
        style: Style
        works: list[str] = pydantic.Field(default_factory=list)

    constraint = tk.type(Painter)
    whole = Painter(name="Paul Klee", born=1879, style=Style.CUBISM)
    for broken in (
        '{"name": "Paul Klee", "born": 1879, "style": "cubism"',
        "Here it is: {'name': 'Paul Klee', 'born': 1879, 'style': 'cubism',}",
        '{"name": "Paul Klee, "born": "1879", "style": "cubism"}',
    ):
        found = constraint.repair(broken)
        assert found.value == whole
        assert isinstance(found.value, Painter)
    bounded = constraint.repair('{"name": "Paul Klee", "born": 879, "style": "cubism"}').value
    assert 1400 <= bounded.born <= 2026


def test_validators_run_when_the_value_is_made() -> None:
    @dataclasses.dataclass
    class Even:
        number: int

        def __post_init__(self) -> None:
            if self.number % 2:
                raise ValueError("odd")

    found = tk.type(Even).repair('{"number": 3')
    assert found.text == '{"number": 3}'
    with pytest.raises(ValueError, match="odd"):
        _ = found.value


def test_parts_and_captures() -> None:
    found = (tk.regex("[a-z]+").captured("word") + tk.literal(": ") + tk.json()).repair("word:[1")
    assert found.value.word == "word"
    assert found.value[2] == [1]
