"""Partial values of classes out of the ordinary: of one value, generic ones, and those with swapped names."""

from __future__ import annotations

import json
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Generic, Literal, Optional, TypeVar, Union
from uuid import UUID

import pytest

import tokamata as tk
from tokamata.values.growing_values import GrowingValue

pydantic = pytest.importorskip("pydantic")

T = TypeVar("T")


class Say(pydantic.BaseModel):
    kind: Literal["say"]
    text: str = ""


class Find(pydantic.BaseModel):
    kind: Literal["find"]
    words: list[str] = pydantic.Field([])


class Word(pydantic.RootModel[str]):
    pass


class Says(pydantic.RootModel[list[Say]]):
    pass


class Deed(pydantic.RootModel[Annotated[Union[Say, Find], pydantic.Field(discriminator="kind")]]):  # noqa: UP007
    pass


class Tree(pydantic.RootModel[dict[str, "Tree"]]):
    pass


class Mixed(pydantic.BaseModel):
    word: Word
    says: Says | None = None
    deeds: list[Deed] = pydantic.Field([])
    deed: Deed | int = 0
    tree: Tree = Tree({})


class Box(pydantic.BaseModel, Generic[T]):
    value: T
    inner: Optional[Box[T]] = None  # noqa: UP045 - evaluated by pydantic
    more: list[Box[T]] = pydantic.Field([])


class Boxes(pydantic.BaseModel):
    numbers: Box[int]
    texts: Box[str]


class Swapped(pydantic.BaseModel):
    first: int = pydantic.Field(0, alias="second")
    second: int = pydantic.Field(0, alias="first")


class Named(pydantic.BaseModel):
    cls: str
    self: str = ""
    set_of: int = pydantic.Field(0, alias="_fields_set")


SAY, FIND = {"kind": "say", "text": "aé"}, {"words": ["x", "y"], "kind": "find"}
BOX = {"value": 1, "inner": {"value": 2, "inner": None}, "more": [{"value": 3}]}
CASES: list[tuple[Any, Any]] = [
    (Word, "aé"),
    (Says, [SAY, SAY]),
    (Deed, FIND),
    (Tree, {"a": {"b": {}}, "c": {}}),
    (Mixed, {"word": "a", "says": [SAY], "deeds": [FIND, SAY], "deed": SAY, "tree": {"a": {}}}),
    (Box[int], BOX),
    (Box[list[Say]], {"value": [SAY], "inner": {"value": [SAY, SAY]}}),
    (Boxes, {"numbers": BOX, "texts": {"value": "a", "inner": {"value": "b"}}}),
    (Swapped, {"first": 1, "second": 2}),
    (Swapped, {"first": 1}),
    (Named, {"cls": "a", "self": "b", "_fields_set": 3}),
]


def check_is_part(part: Any, whole: Any) -> None:
    """What is there of a value is in a later one, as the same type."""
    if part is None:
        return
    assert type(part) is type(whole), (part, whole)
    if isinstance(part, pydantic.BaseModel):
        for name in type(part).model_fields:
            check_is_part(getattr(part, name), getattr(whole, name))
    elif isinstance(part, dict):
        for name, value in part.items():
            check_is_part(value, whole[name])
    elif isinstance(part, list):
        for one, other in zip(part, whole[: len(part)], strict=True):
            check_is_part(one, other)
    elif isinstance(part, str):
        assert whole.startswith(part)
    else:
        assert part == whole


@pytest.mark.parametrize(("given", "value"), CASES, ids=range(len(CASES)))
def test_values_grow_to_the_whole(given: Any, value: Any) -> None:
    data = json.dumps(value, ensure_ascii=False).encode()
    whole = tk.partial(given).model_validate(value)
    assert whole.model_dump(exclude_unset=True) == given.model_validate(value).model_dump(exclude_unset=True)
    growing, before = GrowingValue(True, given), None
    for end in range(len(data)):
        growing.add(data[end : end + 1])
        now = growing.at(end + 1)
        check_is_part(before, now)
        check_is_part(now, whole)
        before = now
    assert before == whole


def test_a_root_model_is_there_before_it_has_closed() -> None:
    for given, data, value in [
        (Says, b'[{"kind": "say", "text": "a', [{"kind": "say", "text": "a"}]),
        (Deed, b'{"kind": "find", "words": ["x', {"kind": "find", "words": ["x"]}),
    ]:
        growing = GrowingValue(True, given)
        growing.add(data)
        assert growing.at(len(data)) == tk.partial(given).model_validate(value)


UNIONS: list[tuple[Any, str]] = [
    (date | str, '"2026-01-02"'),
    (date | str, '"2026"'),
    (str | date, '"2026-01-02"'),
    (UUID | str | None, f'"{UUID(int=1)}"'),
    (bytes | str, '"a"'),
    (datetime | date, '"2026-01-02"'),
    (Decimal | str, '"1.50"'),
    (Decimal | str, "1.5"),
]


@pytest.mark.parametrize(("union", "text"), UNIONS, ids=range(len(UNIONS)))
def test_a_union_has_the_value_that_parsing_has(union: Any, text: str) -> None:
    """Of ``date | str``, pydantic makes a date of JSON, and a str of the value of ``json.loads``."""
    model = pydantic.create_model("Whole", value=(union, ...))
    data = f'{{"value": {text}}}'
    value = tk.type(model).parse(data).value
    assert repr(tk.partial(model).model_validate(json.loads(data)).value) == repr(value)
    growing, before = GrowingValue(True, model), None
    for end, byte in enumerate(data.encode(), 1):
        growing.add(bytes([byte]))
        now = growing.at(end)
        check_is_part(before, now)
        before = now
    assert repr(before.value) == repr(value)


class Node(pydantic.BaseModel):
    nodes: list[Node] = pydantic.Field([])


def test_a_value_that_nests_too_deeply_is_no_error() -> None:
    """Pydantic makes no instance of it, but the text may be one that the constraint accepts."""
    depth = 1_000
    data = b'{"nodes":[' * depth + b"]}" * depth
    assert tk.type(Node).accepts(data)
    growing = GrowingValue(True, Node)
    growing.add(data)
    for end in (len(data) // 2, len(data) - depth, len(data) - 1, len(data)):
        assert type(growing.at(end)) is tk.partial(Node)
