"""Models of pydantic: what they dump is accepted, and read into equal models; what masks write is valid."""

from __future__ import annotations

import datetime
import decimal
import enum
import ipaddress
import json
import sys
import uuid
from typing import Annotated, Any, Generic, Literal, TypeVar

import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

import tokamata as tk
from tests.support.matchers import accepts
from tests.support.types.type_walks import drawn

T = TypeVar("T")


class Color(str, enum.Enum):
    RED = "red"
    BLUE = "blue"


class Address(BaseModel):
    street: str
    zip_code: Annotated[str, StringConstraints(pattern="^[0-9]{5}$")] = "00000"


class Person(BaseModel):
    name: Annotated[str, Field(min_length=1, max_length=5)]
    born: datetime.date
    seen: datetime.datetime | None = None
    color: Color = Color.RED
    address: Address | None = None
    friends: list[Person] = []
    marks: dict[int, bool] = {}
    tags: set[str] = set()
    pair: tuple[int, str] = (0, "")
    uid: uuid.UUID | None = None
    host: ipaddress.IPv4Address | None = None
    price: decimal.Decimal = decimal.Decimal(0)
    wait: datetime.timedelta = datetime.timedelta(0)

    @pydantic.computed_field
    def shout(self) -> str:
        return self.name.upper()


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    good: bool


class Owner(BaseModel):
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]


class Box(BaseModel, Generic[T]):
    content: T


class Renamed(BaseModel):
    first: int = Field(alias="firstOne")
    second: int = Field(validation_alias=pydantic.AliasChoices("2nd", "second"))


@pydantic.dataclasses.dataclass
class Pair:
    left: int
    right: list[Pair] = pydantic.Field(default_factory=list)


texts = st.text("abcdé{", max_size=4)
people: st.SearchStrategy[Person] = st.builds(
    Person,
    name=st.text("abc", min_size=1, max_size=5),
    born=st.dates(),
    seen=st.none() | st.datetimes(timezones=st.sampled_from([None, datetime.timezone.utc])),  # type: ignore[arg-type]
    color=st.sampled_from(Color),
    address=st.none() | st.builds(Address, street=texts, zip_code=st.from_regex("[0-9]{5}", fullmatch=True)),
    friends=st.just([]),
    marks=st.dictionaries(st.integers(-99, 99), st.booleans(), max_size=2),
    tags=st.sets(texts, max_size=2),
    pair=st.tuples(st.integers(), texts),
    uid=st.none() | st.uuids(),
    host=st.none() | st.ip_addresses(v=4),
    price=st.decimals(allow_nan=False, allow_infinity=False, places=2),
    wait=st.timedeltas(datetime.timedelta(-3000), datetime.timedelta(3000)),
)


def test_models_are_accepted_and_read_back() -> None:
    constraint = tk.type(Person)

    @settings(max_examples=60)
    @given(people, st.lists(people, max_size=1))
    def check(person: Person, friends: list[Person]) -> None:
        person = person.model_copy(update={"friends": friends})
        text = person.model_dump_json(exclude={"shout": True, "friends": {"__all__": {"shout"}}})
        assert accepts(constraint, text), text
        assert constraint.parse(text) == person

    check()


CASES: dict[str, tuple[Any, list[Any]]] = {
    "tagged union": (Owner, [Owner(pet=Cat(kind="cat", lives=9)), Owner(pet=Dog(kind="dog", good=True))]),
    "generic": (Box[list[int]], [Box[list[int]](content=[1, 2])]),
    "dataclass": (Pair, [Pair(1, [Pair(2, [])])]),
    "list of models": (list[Address], [[Address(street="a")], []]),
    "root": (pydantic.RootModel[list[int]], [pydantic.RootModel[list[int]]([1])]),
    "annotated": (Annotated[str, StringConstraints(pattern="^a+$")], ["aa"]),
    "url": (pydantic.HttpUrl, [pydantic.HttpUrl("https://example.com/a?b=c#d")]),
    "aware": (pydantic.AwareDatetime, [datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)]),
    "uuid4": (pydantic.UUID4, [uuid.UUID("00000000-0000-4000-8000-000000000000")]),
    "network": (pydantic.IPvAnyAddress, [ipaddress.IPv4Address("1.2.3.4")]),
}


@pytest.mark.parametrize("name", CASES)
def test_dumps_are_accepted_and_read_back(name: str) -> None:
    kind, values = CASES[name]
    constraint = tk.type(kind)
    for value in values:
        text = pydantic.TypeAdapter(kind).dump_json(value).decode()
        assert accepts(constraint, text), text
        assert constraint.parse(text) == value


@pytest.mark.parametrize(
    "kind", [Owner, Box[bool], Pair, Address, Renamed, list[Cat | Dog], pydantic.HttpUrl]
)
def test_texts_from_masks_are_valid(kind: Any) -> None:
    constraint = tk.type(kind)
    for seed in range(6):
        constraint.parse(drawn(constraint, seed, 40))  # raises where pydantic refuses it


def test_names_are_those_that_validation_takes() -> None:
    assert accepts(tk.type(Renamed), '{"firstOne": 1, "2nd": 2}')
    assert not accepts(tk.type(Renamed), '{"first": 1, "2nd": 2}')
    assert tk.type(Renamed).parse('{"firstOne": 1, "2nd": 2}').first == 1

    class ByName(BaseModel):
        model_config = ConfigDict(validate_by_name=True, validate_by_alias=False)
        first: int = Field(alias="firstOne")

    assert accepts(tk.type(ByName), '{"first": 1}')
    assert tk.type(ByName).parse('{"first": 1}').first == 1


@pytest.mark.parametrize(("extra", "open_"), [("allow", True), ("forbid", False), ("ignore", False)])
def test_extra_fields(extra: Any, open_: bool) -> None:
    model = pydantic.create_model("Model", __config__=ConfigDict(extra=extra), a=(int, ...))
    assert accepts(tk.type(model), '{"a": 1, "b": 2}') == open_
    assert accepts(tk.type(model), '{"a": 1}')


def test_fields_with_defaults_may_be_left_out_and_computed_ones_are_not_written() -> None:
    constraint = tk.type(Person)
    assert accepts(constraint, '{"name": "a", "born": "2000-01-01"}')
    assert not accepts(constraint, '{"name": "a"}')
    assert not accepts(constraint, '{"name": "a", "born": "2000-01-01", "shout": "A"}')


def test_validators_in_python_speak_when_a_text_is_parsed() -> None:
    class Even(BaseModel):
        number: int

        @pydantic.field_validator("number")
        @classmethod
        def check(cls, value: int) -> int:
            if value % 2:
                raise ValueError("odd")
            return value

    constraint = tk.type(Even)
    assert accepts(constraint, '{"number": 1}')
    assert constraint.parse('{"number": 2}') == Even(number=2)
    with pytest.raises(pydantic.ValidationError, match="odd"):
        constraint.parse('{"number": 1}')
    with pytest.raises(pydantic.ValidationError, match="odd"):
        tk.type(list[Even | None]).parse('[null, {"number": 1}]')


def test_strict_models_are_read_as_json() -> None:
    class Strict(BaseModel):
        model_config = ConfigDict(strict=True)
        day: datetime.date

    day = Strict(day=datetime.date(2024, 1, 2))
    assert tk.type(Strict).parse('{"day": "2024-01-02"}') == day
    assert tk.type(list[Strict]).parse('[{"day": "2024-01-02"}]') == [day]


def test_stripped_strings_are_written_stripped() -> None:
    kind = Annotated[str, StringConstraints(strip_whitespace=True, min_length=2)]
    assert accepts(tk.type(kind), '"a b"')
    assert not accepts(tk.type(kind), '"a "')


def test_keys_of_dictionaries() -> None:
    class Keys(BaseModel):
        by_number: dict[int, str] = {}
        by_pattern: dict[Annotated[str, StringConstraints(pattern="^a+$")], int] = {}
        by_color: dict[Color, int] = {}

    constraint = tk.type(Keys)
    assert accepts(constraint, '{"by_number": {"-1": "a"}, "by_pattern": {"aa": 1}, "by_color": {"red": 1}}')
    for refused in ('{"by_number": {"01": "a"}}', '{"by_pattern": {"b": 1}}', '{"by_color": {"green": 1}}'):
        assert not accepts(constraint, refused), refused


def test_what_pydantic_has_no_schema_for_is_refused() -> None:
    class Odd(BaseModel):
        model_config = ConfigDict(arbitrary_types_allowed=True)
        thing: threading_lock

    for kind in (Odd, pydantic.Json[int]):
        with pytest.raises(tk.UnsupportedTypeError):
            tk.type(kind)


class threading_lock:
    """A class that no schema knows."""


def test_formats_may_be_annotations() -> None:
    class Day(BaseModel):
        day: datetime.date

    assert not accepts(tk.type(Day), '{"day": "soon"}')
    assert accepts(tk.type(Day, formats="annotate"), '{"day": "soon"}')
    with pytest.raises(pydantic.ValidationError):
        tk.type(Day, formats="annotate").parse('{"day": "soon"}')


def test_schemas_of_two_models_do_not_meet() -> None:
    """Each has its own definitions, which may have the same names."""

    def made(kind: Any) -> Any:
        class Inner(BaseModel):
            value: kind

        class Outer(BaseModel):
            inner: Inner

        return Outer

    constraint = tk.type(tuple[made(int), made(bool)])  # type: ignore[misc]
    assert accepts(constraint, '[{"inner": {"value": 1}}, {"inner": {"value": true}}]')
    assert not accepts(constraint, '[{"inner": {"value": true}}, {"inner": {"value": 1}}]')


def test_the_texts_are_json_that_the_model_dumps_again() -> None:
    constraint = tk.type(Owner)
    for seed in range(4):
        text = drawn(constraint, seed)
        assert json.loads(constraint.parse(text).model_dump_json()) == json.loads(text)


def test_a_type_whose_validator_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "email_validator", None)  # importing it raises ImportError
    monkeypatch.setattr("pydantic.networks.email_validator", None, raising=False)
    for asked in (pydantic.EmailStr, list[pydantic.EmailStr], pydantic.NameEmail):
        with pytest.raises(tk.MissingExtraError, match=r"pip install 'pydantic\[email\]'") as caught:
            tk.type(asked)
        assert caught.value.package == "email_validator"
        assert isinstance(caught.value, ImportError)
