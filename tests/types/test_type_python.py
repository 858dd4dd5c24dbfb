"""Types in Python's own syntax: what ``repr`` writes is accepted, and parsing agrees with evaluating."""

from __future__ import annotations

import collections
import datetime
import decimal
import ipaddress
import json
import pathlib
import uuid
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import annotated_types as at
import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tokamata as tk
from tests.support.matchers import accepts
from tests.support.types import type_cases
from tests.support.types.python_source import source
from tests.support.types.type_cases import CASES, Box, Cat, Color, Dog, Pair, Point
from tests.support.types.type_walks import drawn

ENDLESS = {"any", "bare list"}
NAMES: dict[str, Any] = {
    **vars(type_cases),
    "datetime": datetime,
    "date": datetime.date,
    "time": datetime.time,
    "timedelta": datetime.timedelta,
    "timezone": datetime.timezone,
    "UUID": uuid.UUID,
    "Decimal": decimal.Decimal,
    "deque": collections.deque,
    "OrderedDict": collections.OrderedDict,
    **{name: getattr(pathlib, name) for name in pathlib.__all__},
    **{name: getattr(ipaddress, name) for name in dir(ipaddress) if name.startswith("IPv")},
}


BOUND = Annotated[str, pydantic.Field(pattern='^a+["\\n]?$')]
BROKEN = Annotated[str, pydantic.Field(pattern="(")]
WRONG_DATES = (
    *("date(2023, 2, 29)", "date(1900, 2, 29)", "date(2024, 4, 31)"),
    *("date(0, 1, 1)", "date(2024, 02, 1)"),
)


def evaluated(text: str) -> Any:
    """What Python makes of a text, whose dates are written ``date(…)`` or ``datetime.date(…)``."""
    names = NAMES
    if any(f" {name}(" in f" {text}".replace("(", "( ").replace("=", "= ") for name in ("datetime",)):
        names = {**NAMES, "datetime": _Both}
    return eval(text, dict(names))


class _Both(datetime.datetime):
    """``datetime`` as a class that has the module's names too."""

    def __new__(cls, *arguments: Any, **keywords: Any) -> Any:
        return datetime.datetime(*arguments, **keywords)


for one in ("date", "time", "timedelta", "timezone"):
    setattr(_Both, one, getattr(datetime, one))


@pytest.mark.parametrize("name", [name for name in CASES if name not in ENDLESS])
def test_what_repr_writes_is_accepted_and_read_back(name: str) -> None:
    kind, values = CASES[name]
    constraint = tk.type(kind, syntax="python")

    @settings(max_examples=25)
    @given(values)
    def check(value: Any) -> None:
        text = source(value)
        if "\\x" not in text or not isinstance(value, bytes):
            assert accepts(constraint, text), text
        assert constraint.parse(text) == value

    check()


@pytest.mark.parametrize("name", [name for name in CASES if name not in ENDLESS])
def test_texts_from_masks_are_what_python_evaluates(name: str) -> None:
    constraint = tk.type(CASES[name][0], syntax="python")
    for seed in range(8):
        text = drawn(constraint, seed, 40)
        value = constraint.parse(text)
        assert value == evaluated(text), text


def test_a_dataclass_as_the_paper_has_it() -> None:
    constraint = tk.type(Point, syntax="python")
    assert constraint.parse("Point(x=1, y=2)") == Point(1, 2)
    for text in ("Point(x=1, y=2)", "Point(x=1)", "Point(x=-10, y=0)"):
        assert accepts(constraint, text)
    for text in ("Point(1, 2)", "Point(y=2, x=1)", "Point(y=2)", "Point(x=1,y=2)", "Point(x=01)", "Point()"):
        assert not accepts(constraint, text)


def test_strings_in_either_quotes() -> None:
    constraint = tk.type(str, syntax="python")

    @given(st.text(st.characters(exclude_categories=["Cs"]), max_size=6))
    def check(value: str) -> None:
        for text in (repr(value), json.dumps(value, ensure_ascii=False)):
            assert accepts(constraint, text), text
            assert constraint.parse(text) == value

    check()
    for text in ('"a', "'a\"", "'a\nb'", r"'\q'", r"'\ud800'", "b'a'", "f'a'", "'''a'''"):
        assert not accepts(constraint, text), text


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (Annotated[str, at.Len(1, 2)], ("'é'", "'\\n'", '"ab"'), ("''", "'abc'")),
        (
            Annotated[str, pydantic.Field(pattern='^a+["\\n]?$')],
            ("'aa'", '"a"', "'a\"'", '"a\\""', '"a\\n"'),
            ("'b'",),
        ),
        (Annotated[list[int], at.Len(1, 2)], ("[1]", "[1, 2]"), ("[]", "[1, 2, 3]", "[1,2]")),
        (Annotated[tuple[int, ...], at.MinLen(1)], ("(1,)", "(1, 2)"), ("()", "(1)", "(1, 2,)")),
        (Annotated[tuple[int, ...], at.MaxLen(1)], ("()", "(1,)"), ("(1, 2)",)),
        (tuple[int], ("(1,)",), ("(1)", "()")),
        (set[int], ("set()", "{1}", "{1, 2}"), ("{}", "{1: 2}")),
        (frozenset[int], ("frozenset()", "frozenset({1})"), ("{1}", "frozenset({})")),
        (Annotated[set[int], at.MinLen(1)], ("{1}",), ("set()",)),
        (dict[str, int], ("{}", "{'a': 1}", "{'a': 1, \"b\": 2}"), ("{'a':1}",)),
        (
            datetime.date,
            ("datetime.date(2024, 2, 29)", "date(1, 1, 1)", "date(2000, 2, 29)"),
            (
                "date(2023, 2, 29)",
                "date(1900, 2, 29)",
                "date(2024, 4, 31)",
                "date(0, 1, 1)",
                "date(2024, 02, 1)",
            ),
        ),
        (decimal.Decimal, ("Decimal('1.50')", 'Decimal("-3")'), ("1.5", "Decimal(1)")),
        (bytes, ("b'a'", 'b"\'"', "b'\\xff'"), ("'a'", "b'é'")),
        (Literal["a'b", 1, None], ('"a\'b"', "'a\\'b'", "1", "None"), ("2", "'a'")),
        (Color, ("Color.RED",), ("RED", "Color('red')", "Color.GREEN")),
        (bool | None, ("True", "None"), ("true", "1")),
    ],
)
def test_forms(kind: Any, good: tuple[str, ...], bad: tuple[str, ...]) -> None:
    constraint = tk.type(kind, syntax="python")
    for text in good:
        assert accepts(constraint, text), text
        assert constraint.parse(text) == evaluated(text)
    for text in bad:
        assert not accepts(constraint, text), text


def test_bounds_of_numbers() -> None:
    constraint = tk.type(Annotated[int, at.Interval(ge=1, lt=10)], syntax="python")
    assert accepts(constraint, "9")
    assert not accepts(constraint, "10")


def every_leap_day() -> set[int]:
    return {year for year in range(1, 10_000) if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)}


def test_leap_days() -> None:
    import re

    from tokamata.patterns.python_types.python_syntax import _DATE

    assert {year for year in range(10_000) if re.fullmatch(_DATE, f"{year}, 2, 29")} == every_leap_day()


# ---- models and functions -------------------------------------------------------------------------


class Address(pydantic.BaseModel):
    street: Annotated[str, pydantic.Field(min_length=1)]
    number: int = pydantic.Field(default=1, alias="houseNumber")


class Person(pydantic.BaseModel):
    name: Annotated[str, pydantic.StringConstraints(pattern="^[A-Z][a-z]*$")]
    homes: list[Address] = []

    @pydantic.field_validator("homes")
    @classmethod
    def few(cls, homes: list[Address]) -> list[Address]:
        if len(homes) > 1:
            raise ValueError("one home")
        return homes


def test_models() -> None:
    constraint = tk.type(Person, syntax="python")
    text = "Person(name='Ann', homes=[Address(street=\"Elm\", houseNumber=3)])"
    assert accepts(constraint, text)
    assert constraint.parse(text) == Person(name="Ann", homes=[Address(street="Elm", houseNumber=3)])
    assert not accepts(constraint, "Person(name='ann')")
    assert not accepts(constraint, "Person(name='Ann', homes=[Address(street='')])")
    with pytest.raises(pydantic.ValidationError, match="one home"):
        constraint.parse("Person(name='Ann', homes=[Address(street='a'), Address(street='b')])")


def test_a_function_is_a_call() -> None:
    def weather(city: str, days: int = 1) -> None: ...

    constraint = tk.type(weather, syntax="python")
    assert accepts(constraint, "weather(city='Bern')")
    assert constraint.parse("weather(city='Bern', days=2)") == {"city": "Bern", "days": 2}


def test_optional_fields_alone() -> None:
    class Options(TypedDict, total=False):
        first: int
        second: int
        third: int

    constraint = tk.type(Options, syntax="python")
    assert accepts(constraint, "{}")
    for text in ("{'first': 1, 'third': 3}", "{'second': 2}", '{"third": 3}'):
        assert accepts(constraint, text)
        assert constraint.parse(text) == eval(text)
    for text in ("{'third': 3, 'first': 1}", "{, 'first': 1}", "{'first': 1 'third': 3}"):
        assert not accepts(constraint, text)


# ---- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind",
    [
        Any,
        list[Any],
        Annotated[set[int], at.MinLen(2)],
        pydantic.HttpUrl,
        Annotated[str, pydantic.Field(pattern="(")],
    ],
)
def test_types_without_a_form(kind: Any) -> None:
    with pytest.raises(tk.UnsupportedTypeError):
        tk.type(kind, syntax="python")


def test_styles_are_those_of_json() -> None:
    for options in ({"whitespace": "compact"}, {"property_order": "any"}, {"formats": "annotate"}):
        with pytest.raises(ValueError, match="JSON"):
            tk.type(int, syntax="python", **options)  # type: ignore[arg-type]


class Row(NamedTuple):
    left: int
    right: tuple[int, str]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Point, "Point(1, 2)"),
        (Point, "Point(x=1, x=2)"),
        (Point, "Point(x=1, z=2)"),
        (Point, "Point(y=1)"),
        (Point, "Point(**{'x': 1})"),
        (Point, "Other(x=1)"),
        (Point, "Point(x=__import__('os'))"),
        (Point, "Point(x=(lambda: 1)())"),
        (Point, "Point(x=1"),
        (Point, "Point(x=1); 2"),
        (Point, "Point(x=1)\0"),
        (int, "1 + 1"),
        (int, "1_0 if True else 2"),
        (int, "9" * 5000),
        (int, "[" * 5000),
        (int, "-" * 100_000 + "1"),
        (int, "True"),
        (float, "'1'"),
        (str, "f'{1}'"),
        (list[int], "(1, 2)"),
        (list[int], "[*[1]]"),
        (dict[str, int], "{**{}}"),
        (Color, "Color.__class__"),
        (datetime.date, "date(2023, 2, 29)"),
        (datetime.date, "datetime.datetime(2023, 2, 2)"),
        (datetime.datetime, "datetime(2023, 2, 2, tzinfo=None)"),
        (Row, "Row(left=1, right=(1,))"),
        (Row, "Row(left=1, right=(1, 2, 3))"),
        (uuid.UUID, "UUID('x')"),
        (decimal.Decimal, "Decimal('x')"),
    ],
)
def test_texts_that_are_no_values(kind: Any, text: str) -> None:
    with pytest.raises(tk.ParseError) as caught:
        tk.type(kind, syntax="python").parse(text)
    assert len(str(caught.value)) < 400


def test_errors_say_where() -> None:
    with pytest.raises(tk.ParseError) as caught:
        tk.type(list[Point], syntax="python").parse("[Point(x=1), Point(x='a')]")
    assert caught.value.place == "line 1, column 22"
    assert "whole number" in caught.value.reason


def test_unions_take_what_fits() -> None:
    constraint = tk.type(Cat | Dog | Box[Pair], syntax="python")
    assert constraint.parse("Dog(bark=1)") == Dog(1)
    assert constraint.parse("Box(content=Pair(left=1))") == Box(Pair(1))
    assert type(tk.type(float | int, syntax="python").parse("1")) is int


@pytest.mark.parametrize(
    ("given", "inside", "outside"),
    [
        (Annotated[int, at.Gt(3)], ["4", "1_000", " 5 "], ["3", "-4"]),
        (Annotated[int, at.MultipleOf(3)], ["3", "-9", "0"], ["4"]),
        (Annotated[float, at.Interval(gt=0, le=0.1)], ["0.1", "1e-3", "0.10"], ["0.0", "0.11", "1"]),
        (Annotated[str, at.Len(2, 3)], ['"ab"', "'äöü'", '"a" "b"'], ['"a"', '"abcd"']),
        (BOUND, ['"aa"', "'a\\n'"], ['"b"', '""']),
        (Annotated[bytes, at.MinLen(1)], ["b'a'"], ["b''"]),
        (Annotated[list[int], at.Len(1, 2)], ["[1]", "[ 1 ,2 ]"], ["[]", "[1, 2, 3]"]),
        (Annotated[set[int], at.MinLen(1)], ["{1}"], ["set()"]),
        (Annotated[tuple[int, ...], at.MaxLen(2)], ["()", "(1,)", "(1, 2)"], ["(1, 2, 3)"]),
        (Annotated[dict[str, int], at.MaxLen(1)], ["{}", "{'a': 1}"], ["{'a': 1, 'b': 2}"]),
        (list[Annotated[int, at.Lt(3)]], ["[1, 2]"], ["[1, 3]"]),
        (Annotated[int, at.Lt(3)] | Annotated[str, at.MinLen(1)], ["2", "'x'"], ["3", "''"]),
        (Annotated[decimal.Decimal, at.Ge(1)], ["Decimal('1.50')"], ["Decimal('0.5')"]),
        (
            Annotated[decimal.Decimal, pydantic.Field(max_digits=3)],
            ["Decimal('1.50')"],
            ["Decimal('1.500')"],
        ),
    ],
)
def test_values_outside_of_their_bounds_are_not_parsed(
    given: Any, inside: list[str], outside: list[str]
) -> None:
    constraint = tk.type(given, syntax="python")
    for text in inside:
        constraint.parse(text)
    for text in outside:
        assert not constraint.accepts(text)
        with pytest.raises(tk.ParseError):
            constraint.parse(text)
