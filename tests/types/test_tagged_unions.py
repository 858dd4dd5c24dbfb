"""Unions that a field tells apart: names come by first appearance, and what masks write reads back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import pydantic
import pytest
from pydantic import BaseModel, Field

import tokamata as tk
from tests.support.matchers import accepts
from tests.support.types.type_walks import drawn


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: Annotated[int, Field(ge=0, le=9)]
    friends: list[Pet] = Field(default_factory=list, max_length=2)


class Dog(BaseModel):
    name: Annotated[str, Field(pattern="^[a-z]{1,3}$")]
    kind: Literal["dog", "puppy"]
    lives: bool = True


class Fish(BaseModel):
    owner: Cat | None = None
    kind: Literal["fish"] = "fish"


Pet = Annotated[Cat | Dog | Fish, Field(discriminator="kind")]


class Home(BaseModel):
    pets: dict[Literal["first", "second"], Pet]
    main: Pet | None = None


class ByHand(BaseModel):
    """The same without a discriminator, whose members share their first name."""

    one: Cat | Dog
    more: list[Dog | Fish] = []


for model in (Cat, Dog, Fish, Home, ByHand):
    model.model_rebuild()
GIVEN: list[Any] = [Pet, Home, ByHand, list[Pet], Cat | Fish]


def orders(value: Any) -> Iterator[list[str]]:
    """The names of all objects in a value, as they are written."""
    if isinstance(value, dict):
        yield list(value)
        for inner in value.values():
            yield from orders(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from orders(inner)


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("given", GIVEN, ids=str)
def test_what_masks_write_reads_back(given: Any, order: Any) -> None:
    constraint = tk.type(given, property_order=order)
    judge: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(given)
    kinds = set()
    for seed in range(25):
        text = drawn(constraint, seed, steps=20 + 3 * seed)
        instance = constraint.parse(text)
        assert instance == judge.validate_json(text), text
        dumped = judge.dump_json(instance, exclude_unset=True).decode()
        assert constraint.parse(dumped) == instance
        assert order == "schema" or accepts(constraint, dumped)
        kinds.add(type(instance))
    if given in (Pet, Cat | Fish):
        assert len(kinds) > 1


# By first appearance, depth first: in the union those of Cat, then what Dog and Fish have besides.
ORDERS = {
    Pet: ["kind", "lives", "friends", "name", "owner"],
    Home: ["pets", "main"],
    Cat | Fish: ["kind", "lives", "friends", "owner"],
}


@pytest.mark.parametrize("given", ORDERS, ids=str)
def test_names_may_come_in_the_order_of_first_appearance(given: Any) -> None:
    constraint, declared = tk.type(given), ORDERS[given]
    for seed in range(25):
        value = json.loads(drawn(constraint, seed, steps=50))
        in_order = {name: value[name] for name in declared if name in value}
        assert in_order.keys() == value.keys()
        assert accepts(constraint, json.dumps(in_order))


def test_a_tag_that_is_declared_late() -> None:
    """The order is that of the union: a dog's kind comes before its name, as a cat's stands first."""
    pets = tk.type(Pet)
    assert accepts(pets, '{"kind": "dog", "name": "rex"}')
    assert accepts(pets, '{"kind": "puppy", "lives": false, "name": "rex"}')
    assert not accepts(pets, '{"name": "rex", "kind": "dog"}')
    assert accepts(tk.type(Dog), '{"name": "rex", "kind": "dog"}')
    assert accepts(tk.type(Pet, property_order="any"), '{"name": "rex", "kind": "dog"}')
    assert not accepts(pets, '{"kind": "dog", "lives": 3, "name": "rex"}')
    assert not accepts(pets, '{"kind": "cat", "lives": true}')


def test_a_tag_with_a_default_is_written() -> None:
    """What reads the union asks for it."""
    assert accepts(tk.type(Fish), "{}")
    assert not accepts(tk.type(Pet), "{}")
    assert accepts(tk.type(Pet), '{"kind": "fish"}')
