"""What types mean: bounds, names, functions, and what is refused."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import functools
import subprocess
import sys
import typing
from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple, TypedDict, TypeVar

import annotated_types as at
import pytest
from typing_extensions import Unpack

import tokamata as tk
from tests.support.matchers import accepts
from tests.support.types.type_cases import Json, Node, Odd, Pair, Point, Tree

T = TypeVar("T")


def refusal(kind: Any, **options: Any) -> tk.UnsupportedTypeError:
    with pytest.raises(tk.UnsupportedTypeError) as caught:
        tk.type(kind, **options)
    return caught.value


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (Annotated[str, at.MinLen(2)], '"ab"', '"a"'),
        (Annotated[str, at.Len(1, 2)], '"é"', '"abc"'),
        (Annotated[list[int], at.Len(1, 2)], "[1]", "[]"),
        (Annotated[dict[str, int], at.MaxLen(1)], '{"a":1}', '{"a":1,"b":2}'),
        (Annotated[tuple[int, ...], at.MinLen(1)], "[1]", "[]"),
        (Annotated[str, at.MinLen(1)] | None, "null", '""'),
        (Annotated[str | None, at.MinLen(1)], '"a"', '""'),
        (tuple[int, Unpack[tuple[str, ...]]], '[1,"a"]', "[]"),
        (Annotated[decimal.Decimal, object()], '"1.5"', '"x"'),
        (dict[bool, int], '{"true":1}', '{"1":1}'),
        (dict[int | Literal["all"], int], '{"all":1,"2":3}', '{"none":1}'),
        (Literal[b"ab"], '"ab"', '"a"'),
    ],
)
def test_bounds_and_keys(kind: Any, good: str, bad: str) -> None:
    constraint = tk.type(kind)
    assert accepts(constraint, good)
    assert not accepts(constraint, bad)
    constraint.parse(good)


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (Annotated[int, at.Gt(0)], "1", "0"),
        (Annotated[int, at.Interval(ge=1, lt=10)], "9", "10"),
        (Annotated[float, at.Le(0.5)], "0.5", "0.6"),
        (Annotated[int, at.MultipleOf(3)], "9", "10"),
        (Annotated[int, at.Ge(1), at.Ge(5)], "5", "4"),
        (Annotated[decimal.Decimal, at.Gt(decimal.Decimal("0.1"))], "0.11", "0.1"),
        (dict[str, Annotated[int, at.Lt(3)]], '{"a":2}', '{"a":3}'),
        (Literal[1, 2], "2", "3"),
        (Annotated[set[int], at.MinLen(2)], "[1,2]", "[1,1]"),
    ],
)
def test_bounds_of_numbers(kind: Any, good: str, bad: str) -> None:
    assert accepts(tk.type(kind), good)
    assert not accepts(tk.type(kind), bad)


def test_other_metadata_says_nothing() -> None:
    assert accepts(tk.type(Annotated[int, "the age", at.Unit("year")]), "1")


def test_predicates_cannot_be_enforced() -> None:
    kind = Annotated[int, at.Predicate(lambda value: value % 2 == 0)]
    assert "cannot be enforced" in str(refusal(kind))
    relaxed = tk.type(list[kind], strict=False)  # type: ignore[valid-type]
    assert accepts(relaxed, "[1]")
    assert [entry.status for entry in relaxed.report()] == ["relaxed", "enforced", "enforced", "enforced"]
    assert "no numbers" in str(refusal(Annotated[datetime.date, at.Gt(datetime.date(2020, 1, 1))]))


def test_named_tuples_are_arrays_whose_last_elements_may_be_missing() -> None:
    constraint = tk.type(Pair)
    assert constraint.parse("[1]") == Pair(1)
    assert not accepts(constraint, '[1, "a", 2]')
    assert tk.type(collections.namedtuple("Free", "a b")).parse('[1, "x"]') == (1, "x")


def test_fields_that_a_constructor_does_not_take_are_not_written() -> None:
    constraint = tk.type(Odd)
    assert not accepts(constraint, '{"shown": "a", "hidden": 3}')
    assert accepts(constraint, '{"shown": "a", "start": 2}')
    assert constraint.parse('{"shown": "a", "start": 2}').hidden == 3


def test_objects_are_closed() -> None:
    assert not accepts(tk.type(Point), '{"x": 1, "z": 2}')
    assert accepts(tk.type(Point), '{"x": 1}')
    assert not accepts(tk.type(Point), '{"y": 1}')


def test_styles() -> None:
    assert accepts(tk.type(Point, property_order="any"), '{"y": 1, "x": 2}')
    assert not accepts(tk.type(Point), '{"y": 1, "x": 2}')
    assert not accepts(tk.type(Point, whitespace="compact"), '{"x": 1}')
    assert tk.type(Point, spelling="any").parse('{"\\u0078": 1e2}') == Point(100)


def test_options_that_do_not_exist() -> None:
    for options in ({"syntax": "yaml"}, {"formats": "no"}, {"whitespace": "some"}):
        with pytest.raises(ValueError, match=next(iter(options))):
            tk.type(int, **options)  # type: ignore[arg-type]


# ---- functions ----------------------------------------------------------------------------------


def weather(city: str, *, days: int = 1, unit: Literal["C", "F"] = "C") -> str:
    return f"{city} {days} {unit}"


def test_a_function_stands_for_its_arguments() -> None:
    constraint = tk.type(weather)
    text = '{"city": "Bern", "unit": "F"}'
    assert accepts(constraint, text)
    assert weather(**constraint.parse(text)) == "Bern 1 F"
    assert not accepts(constraint, '{"days": 1}')
    assert not accepts(constraint, '{"city": "Bern", "wind": 1}')


def test_methods_partial_functions_and_more_keywords() -> None:
    class Service:
        def call(self, when: datetime.date) -> None: ...

        def __call__(self, value: int) -> None: ...

    assert tk.type(Service().call).parse('{"when": "2024-01-02"}') == {"when": datetime.date(2024, 1, 2)}
    assert tk.type(Service()).parse('{"value": 2}') == {"value": 2}
    assert accepts(tk.type(functools.partial(weather, days=3)), '{"city": "Bern"}')

    def free(a: int, **more: bool) -> None: ...

    assert accepts(tk.type(free), '{"a": 1, "b": true}')
    assert not accepts(tk.type(free), '{"a": 1, "b": 2}')
    assert tk.type(free).parse('{"a": 1, "b": true}') == {"a": 1, "b": True}


def test_arguments_that_have_no_keyword() -> None:
    def rest(*more: int) -> None: ...

    def position(a: int, /) -> None: ...

    for function in (rest, position):
        assert "keyword" in refusal(function).reason


# ---- names --------------------------------------------------------------------------------------


@dataclasses.dataclass
class Later:
    value: "list[Defined] | None" = None  # noqa: UP037


@dataclasses.dataclass
class Defined:
    back: Later


@dataclasses.dataclass
class Lost:
    value: Nowhere  # type: ignore[name-defined]  # noqa: F821


def test_forward_references() -> None:
    assert tk.type(Later).parse('{"value": [{"back": {}}]}') == Later([Defined(Later())])

    @dataclasses.dataclass
    class Local:
        inner: Local | None = None

    assert tk.type(Local).parse('{"inner": {}}') == Local(Local())


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the syntax of Python 3.12")
def test_type_parameters_of_python_3_12() -> None:
    names: dict[str, Any] = {"dataclass": dataclasses.dataclass}
    code = """
type Value = dict[str, Value] | list[Value] | int
@dataclass
class Chain[T]:
    item: T
    rest: "Chain[T] | None" = None
"""
    exec(code, names)
    assert tk.type(names["Value"]).parse('{"a": [1]}') == {"a": [1]}
    assert tk.type(names["Chain"][int]).parse('{"item": 1, "rest": {"item": 2}}').rest.item == 2


def test_names_that_lead_nowhere() -> None:
    error = refusal(Lost)
    assert "Nowhere" in error.reason
    assert error.place == "Lost"
    assert "Nowhere" in str(refusal(list["Nowhere"]))  # type: ignore[name-defined]  # noqa: F821


def test_recursive_types() -> None:
    deep = '{"value": 1, "next": ' * 60 + "null" + "}" * 60
    assert accepts(tk.type(Node), deep)
    assert tk.type(Node).parse(deep).next.next.value == 1
    assert accepts(tk.type(Json), '{"a": [1, {"b": null}]}')
    assert accepts(tk.type(Tree[int]), "[1, [[2, []]]]")
    assert not accepts(tk.type(Tree[int]), '[1, [["a", []]]]')


def test_types_that_hold_only_themselves() -> None:
    @dataclasses.dataclass
    class Endless:
        inner: Endless

    with pytest.raises(tk.EmptyConstraintError):
        accepts(tk.type(Endless), "{}")


def test_types_that_grow_without_end() -> None:
    with pytest.raises(tk.LimitExceeded):
        tk.type(Growing[int])


@dataclasses.dataclass
class Growing(typing.Generic[T]):
    inner: Growing[list[T]] | None = None


# ---- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", [Callable[[int], str], complex, type, 3, "str | Nowhere", typing.NoReturn, object()]
)
def test_types_without_a_form(kind: Any) -> None:
    error = refusal(kind)
    assert error.type_name
    assert isinstance(error, TypeError)


def test_errors_say_where() -> None:
    class Outer(TypedDict):
        inner: list[Inner]

    class Inner(NamedTuple):
        number: complex

    Outer.__annotations__["inner"] = list[Inner]
    error = refusal(Outer)
    assert error.place == "Outer.inner.Inner.number"
    assert "complex" in str(error)


def test_keys_that_are_no_strings() -> None:
    assert "key" in str(refusal(dict[tuple[int, int], str]))


@pytest.mark.parametrize(
    ("kind", "text", "place", "what"),
    [
        (Point, '{"x": "1"}', "/x", "whole number"),
        (Point, "[]", "", "fields of Point"),
        (Point, '{"y": 1}', "", "no 'x'"),
        (Point, '{"x": 1, "q": 1}', "", '"q"'),
        (list[Point], '[{"x": 1}, {"x": 1.5}]', "/1/x", "1.5"),
        (dict[str, tuple[int, bool]], '{"a/b": [1, 2]}', "/a~1b/1", "true or false"),
        (dict[int, int], '{"x": 1}', "/x", "key"),
        (datetime.date, '"2023-02-29"', "", "date"),
        (int | None, '"a"', "", "integer or None"),
        (int, "1 2", "line 1, column 3", "no JSON"),
        (float, "NaN", "", "no JSON"),
        (int, "[" * 100_000, "", "deeper"),
        (tuple[int, str], "[1]", "", "2 elements"),
    ],
)
def test_texts_that_are_no_values(kind: Any, text: str, place: str, what: str) -> None:
    with pytest.raises(tk.ParseError) as caught:
        tk.type(kind).parse(text)
    assert caught.value.place == place
    assert what in str(caught.value)


def test_parse_of_other_constraints() -> None:
    assert tk.json().parse('[1, 2.5, {"a": null}]') == [1, 2.5, {"a": None}]
    assert tk.json_schema({"type": "integer"}).parse(b" 3") == 3
    assert tk.regex("a+").parse("aa") == "aa"
    assert (tk.type(Point) + tk.literal("!")).parse('{"x": 1, "y": 2}!') == (Point(1, 2), "!")
    with pytest.raises(tk.ParseError, match="UTF-8"):
        tk.json().parse(b"\xff")
    assert (tk.type(Point) & tk.json_schema({"required": ["y"]})).parse('{"x": 1, "y": 2}') == Point(1, 2)
    assert (tk.json() & tk.type(Point, property_order="any")).parse('{"x": 1}') == Point(1)
    assert (~tk.type(Point)).parse("[]") == []


def test_compiled_constraints_parse(byte_vocabulary: tk.Vocabulary) -> None:
    compiled = tk.type(Point).compile(byte_vocabulary)
    assert compiled.parse('{"x": 1}') == Point(1)


class Level(enum.Enum):
    LOW = float("nan")


def test_members_whose_values_json_has_not_go_by_name() -> None:
    assert tk.type(Level).parse('"LOW"') is Level.LOW


def test_exact_types_win_in_unions() -> None:
    for kind in (float | int, int | float):
        assert type(tk.type(kind).parse("1")) is int
        assert type(tk.type(kind).parse("1.0")) is float
    assert tk.type(decimal.Decimal).parse("0.1000000000000000000001") == decimal.Decimal(
        "0.1000000000000000000001"
    )


def test_nested_unions_are_tried_once() -> None:
    """Two classes that differ only at the end, forty deep: trying both at each level would never end."""
    for end, found in (("b", Second), ("c", None)):
        text = '{"next": ' * 40 + f'{{"end": "{end}"}}' + "}" * 40
        try:
            value: Any = tk.type(First | Second).parse(text)
            while value.next is not None:
                value = value.next
        except tk.ParseError:
            value = None
        assert type(value) is (found or type(None))


@dataclasses.dataclass
class First:
    next: First | Second | None = None
    end: Literal["a"] = "a"


@dataclasses.dataclass
class Second:
    next: First | Second | None = None
    end: Literal["b"] = "b"


def test_without_pydantic() -> None:
    """The standard library's types need it no more than importing tokamata does."""
    code = """
import sys
sys.modules["pydantic"] = sys.modules["annotated_types"] = None
import dataclasses, datetime, enum, typing
import tokamata as tk
@dataclasses.dataclass
class Point:
    x: int
    when: datetime.date | None = None
    tags: set[typing.Literal["a", "b"]] = dataclasses.field(default_factory=set)
print(tk.type(list[Point]).parse('[{"x": 1, "tags": ["a"]}]'))
class Model:
    @classmethod
    def __get_pydantic_core_schema__(cls, source, handler): ...
try:
    tk.type(Model)
except tk.MissingExtraError as error:
    print(error)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "[Point(x=1, when=None, tags={'a'})]" in result.stdout
    assert "pip install 'tokamata[pydantic]'" in result.stdout
