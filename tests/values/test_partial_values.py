"""Values of texts that are not complete, and models for them."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest

import tokamata as tk

pydantic = pytest.importorskip("pydantic")
VALUES = [
    {"name": 'Paul "K" é\n\U0001f600', "ages": [3, -4.5, 1e3], "of": {"a": None, "b": [True, False]}},
    [[], {}, [[1]], {"": {"x": ""}}],
    "a\\u0041",
    12.5,
    True,
]


def is_part(part: Any, whole: Any) -> bool:
    """Whether a value may be what is there of another one."""
    if part is None:
        return True
    if isinstance(part, str) and isinstance(whole, str):
        return whole.startswith(part)
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) <= len(whole) and all(map(is_part, part, whole))
    if isinstance(part, dict) and isinstance(whole, dict):
        return list(part) == list(whole)[: len(part)] and all(
            is_part(part[name], whole[name]) for name in part
        )
    if isinstance(part, (int, float)) and isinstance(whole, (int, float)):
        return json.dumps(whole).startswith(json.dumps(part)) or True
    return bool(part == whole)


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_the_value_of_every_beginning(value: Any) -> None:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        data = text.encode()
        for end in range(len(data) + 1):
            assert is_part(tk.partial_value(data[:end]), value), data[:end]
        assert tk.partial_value(text) == value


@pytest.mark.parametrize(
    "data",
    [
        b'"\xff"',
        b'"\0\0a"',
        b'{"a": nulx}',
        b'["\\x"]',
        b'["\\u12G4"]',
        b"[}",
        b"}",
        b"[--1]",
        b"x",
        b"[NaN]",
    ],
)
def test_a_text_that_no_json_begins_with_is_no_error(data: bytes) -> None:
    tk.partial_value(data)


def test_more_digits_than_an_int_may_have() -> None:
    digits = "1" * 5_000
    for text in (f"[{digits}", f"[{digits},"):
        assert str(tk.partial_value(text)[0]) == digits


def test_examples_of_partial_values() -> None:
    for text, value in [
        ("", None),
        ('{"a": tr', {"a": True}),
        ('{"a": 1, "b', {"a": 1}),
        ('{"a": 1, "b":', {"a": 1}),
        ('{"a": "x\\u00', {"a": "x"}),
        ('{"a": "x\\ud83d', {"a": "x"}),
        ('["x\\', ["x"]),
        ('["x\\\\ud83d', ["x\\ud83d"]),
        ('["x\\ud83d\\u', ["x"]),
        ("[1, 2.", [1, 2]),
        ("[-", []),
        ('{"a": [{"b": "c"', {"a": [{"b": "c"}]}),
    ]:
        assert tk.partial_value(text) == value
    with pytest.raises(tk.ArgumentError, match="text"):
        tk.partial_value(3)  # type: ignore[arg-type]


class Style(pydantic.BaseModel):
    name: Literal["cubism", "expressionism"]
    since: int = 1900


class Painter(pydantic.BaseModel):
    name: str = pydantic.Field(min_length=3)
    born: int = pydantic.Field(ge=1000, alias="bornIn")
    styles: list[Style]
    teacher: Painter | None = None
    notes: dict[str, Style] | None = None


WHOLE = {
    "name": "Paul Klee",
    "bornIn": 1879,
    "styles": [{"name": "cubism"}, {"name": "expressionism", "since": 1905}],
    "teacher": {"name": "Franz", "bornIn": 1863, "styles": []},
}


def test_a_partial_model_takes_every_beginning() -> None:
    partial = tk.partial(Painter)
    text = json.dumps(WHOLE)
    for end in range(len(text) + 1):
        found = partial.model_validate(tk.partial_value(text[:end]) or {})
        assert found.name is None or WHOLE["name"].startswith(found.name)
    assert (found.name, found.born, found.styles[1].since) == ("Paul Klee", 1879, 1905)
    assert (found.teacher.name, found.teacher.teacher, type(found.teacher)) == ("Franz", None, partial)
    assert partial.model_validate({"styles": [{"name": "expr"}]}).styles[0].name is None
    assert (tk.partial(Painter), partial.__name__) == (partial, "PartialPainter")


def test_partial_models_of_a_stream_and_of_a_mask() -> None:
    stream = tk.type(Painter).repair_stream()
    stream.feed("{'name': 'Paul Klee', 'bornIn': 1879, 'styles': [{'name': 'cubism'}, {'na")
    found = tk.partial(Painter).model_validate(stream.value)
    assert (found.name, found.born, [style.name for style in found.styles][:1]) == (
        "Paul Klee",
        1879,
        ["cubism"],
    )


class Cat(pydantic.BaseModel):
    kind: Literal["cat"]
    name: str


class Dog(pydantic.BaseModel):
    kind: Literal["dog", "wolf"]
    name: str
    legs: int = 4


class Rock(pydantic.BaseModel):
    weight: float


class Owner(pydantic.BaseModel):
    pet: Cat | Dog
    pets: list[Cat | Dog] | None = None
    things: list[Cat | Rock | str] | None = None


def test_one_of_several_models_is_the_one_that_its_literals_name() -> None:
    partial = tk.partial(Owner)

    def pet(value: Any) -> Any:
        return partial.model_validate({"pet": value}).pet

    assert (type(pet({"kind": "dog", "name": "x"})).__name__, pet({"kind": "wolf"}).kind) == (
        "PartialDog",
        "wolf",
    )
    assert type(pet({"kind": "cat"})).__name__ == "PartialCat"
    assert pet({"name": "x"}) is None
    assert pet({"kind": "d"}) is None
    found = partial.model_validate(
        {"pets": [{"kind": "dog"}, {"kind": "cat"}], "things": [{"weight": 2}, "a"]}
    )
    assert [type(one).__name__ for one in found.pets] == ["PartialDog", "PartialCat"]
    assert (
        found.things[1],
        type(partial.model_validate({"things": [{"kind": "cat"}]}).things[0]).__name__,
    ) == (
        "a",
        "PartialCat",
    )


def test_other_classes_are_refused() -> None:
    for given in (int, 3, dict[str, int]):
        with pytest.raises(tk.ArgumentError, match="BaseModel"):
            tk.partial(given)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["hello", "Sure! {", "]", "{]", "<a>", "-x", "\xff", "nan", "+1", "{a: 1}"])
def test_no_json_begins_with_it(text: str) -> None:
    """It has no particular value, and raises nothing."""
    tk.partial_value(text)
    tk.partial_value(text.encode())
