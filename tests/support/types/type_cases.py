"""Types of every kind that need the standard library alone, values of them, and how JSON has these."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import ipaddress
import pathlib
import uuid
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, Optional, TypedDict, TypeVar

import annotated_types as at
from hypothesis import strategies as st
from typing_extensions import NotRequired, Required, TypeAliasType

T = TypeVar("T")
UserId = NewType("UserId", int)
Json = TypeAliasType("Json", "dict[str, Json] | list[Json] | str | int | bool | None")
Tree = TypeAliasType("Tree", tuple[T, "list[Tree[T]]"], type_params=(T,))


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 2


class Kind(str, enum.Enum):
    CAT = "cat"
    DOG = "dog"


class Where(enum.Enum):
    """Values that JSON has not: members by name."""

    HERE = (0, 0)
    THERE = (1, 1)


@dataclasses.dataclass(frozen=True)
class Point:
    x: int
    y: int = 0


@dataclasses.dataclass
class Node:
    value: int
    next: Node | None = None
    children: list[Node] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Box(Generic[T]):
    content: T
    label: str = ""


@dataclasses.dataclass
class IntBox(Box[int]):
    count: int = 0


@dataclasses.dataclass
class Odd:
    shown: str
    hidden: int = dataclasses.field(default=3, init=False)
    start: dataclasses.InitVar[int] = 1

    def __post_init__(self, start: int) -> None:
        self.hidden = 3


class Movie(TypedDict, total=False):
    title: Required[str]
    year: int


class Sequel(Movie):
    after: str
    rating: NotRequired[float]


class Pair(NamedTuple):
    left: int
    right: str = "-"


@dataclasses.dataclass
class Cat:
    meow: bool
    kind: Literal["cat"] = "cat"


@dataclasses.dataclass
class Dog:
    bark: int
    kind: Literal["dog"] = "dog"


def jsonable(value: Any) -> Any:
    """What ``json.dumps`` is given for a value."""
    if isinstance(value, enum.Enum):
        return value.name if isinstance(value.value, tuple) else value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: jsonable(getattr(value, f.name)) for f in dataclasses.fields(value) if f.init}
    if isinstance(value, Mapping):
        return {key_of(key): jsonable(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset, collections.deque)):
        return [jsonable(one) for one in value]
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        sign, size = ("-", -value) if value < datetime.timedelta(0) else ("", value)
        return f"{sign}P{size.days}DT{size.seconds}.{size.microseconds:06d}S"
    if isinstance(value, bytes):
        return value.decode()
    if (
        isinstance(value, (uuid.UUID, decimal.Decimal, pathlib.PurePath))
        or type(value).__module__ == "ipaddress"
    ):
        return str(value)
    return value


def key_of(key: Any) -> Any:
    return jsonable(key) if isinstance(key, (enum.Enum, datetime.date)) else key


def unfolded(moment: Any) -> Any:
    """The first of two hours that a clock shows twice; neither JSON nor Python's syntax here tells which."""
    return moment.replace(fold=0)


ints = st.integers(-(10**12), 10**12)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
points = st.builds(Point, ints, ints)
zones = (
    st.none()
    | st.timezones().map(lambda _: datetime.timezone.utc)
    | st.just(datetime.timezone(datetime.timedelta(hours=-5, minutes=-30)))
)
nodes = st.recursive(
    st.builds(Node, ints),
    lambda inner: st.builds(Node, ints, st.none() | inner, st.lists(inner, max_size=2)),
    max_leaves=4,
)
plain = st.recursive(
    st.none() | st.booleans() | ints | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
trees = st.recursive(
    st.tuples(ints, st.just([])), lambda inner: st.tuples(ints, st.lists(inner, max_size=2)), max_leaves=4
)
tokens = st.text("abcxyz", min_size=1, max_size=4)

# The type, a strategy of its values, and whether its texts are few enough to draw them from masks.
CASES: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "int": (int, ints),
    "float": (float, st.floats(allow_nan=False, allow_infinity=False)),
    "bool": (bool, st.booleans()),
    "str": (str, texts),
    "None": (None, st.none()),
    "bytes": (bytes, texts.map(str.encode)),
    "any": (Any, plain),
    "new type": (UserId, ints),
    "list": (list[int], st.lists(ints, max_size=4)),
    "bare list": (list, st.lists(ints, max_size=4)),
    "sequence": (Sequence[bool], st.lists(st.booleans(), max_size=4)),
    "deque": (collections.deque[int], st.lists(ints, max_size=4).map(collections.deque)),
    "set": (set[int], st.sets(ints, max_size=4)),
    "frozenset": (frozenset[str], st.frozensets(texts, max_size=3)),
    "tuple": (tuple[int, str], st.tuples(ints, texts)),
    "tuple of any length": (tuple[int, ...], st.lists(ints, max_size=4).map(tuple)),
    "empty tuple": (tuple[()], st.just(())),
    "dict": (dict[str, int], st.dictionaries(texts, ints, max_size=3)),
    "dict of int": (dict[int, bool], st.dictionaries(ints, st.booleans(), max_size=3)),
    "dict of literals": (dict[Literal["a", "b"], int], st.dictionaries(st.sampled_from(["a", "b"]), ints)),
    "dict of enum": (Mapping[Color, int], st.dictionaries(st.sampled_from(Color), ints)),
    "dict of numbered enum": (dict[Size, int], st.dictionaries(st.sampled_from(Size), ints)),
    "dict of dates": (dict[datetime.date, int], st.dictionaries(st.dates(), ints, max_size=3)),
    "optional": (Optional[int], st.none() | ints),  # noqa: UP045
    "union": (int | str | list[int], ints | texts | st.lists(ints, max_size=3)),
    "float or int": (float | int, ints | st.floats(allow_nan=False, allow_infinity=False)),
    "enum": (Color, st.sampled_from(Color)),
    "numbered enum": (Size, st.sampled_from(Size)),
    "string enum": (Kind, st.sampled_from(Kind)),
    "enum by name": (Where, st.sampled_from(Where)),
    "literal": (Literal["a", 1, True, None, Color.RED], st.sampled_from(["a", 1, True, None, Color.RED])),
    "date": (datetime.date, st.dates()),
    "datetime": (datetime.datetime, st.datetimes(timezones=zones).map(unfolded)),
    "time": (datetime.time, st.times(timezones=zones).map(unfolded)),
    "timedelta": (datetime.timedelta, st.timedeltas(datetime.timedelta(0), datetime.timedelta(10**6))),
    "uuid": (uuid.UUID, st.uuids()),
    "decimal": (decimal.Decimal, st.decimals(allow_nan=False, allow_infinity=False)),
    "path": (pathlib.PurePosixPath, tokens.map(pathlib.PurePosixPath)),
    "ipv4": (ipaddress.IPv4Address, st.ip_addresses(v=4)),
    "ipv6": (ipaddress.IPv6Address, st.ip_addresses(v=6)),
    "ipv4 network": (
        ipaddress.IPv4Network,
        st.tuples(st.ip_addresses(v=4), st.integers(0, 32)).map(
            lambda pair: ipaddress.IPv4Network(f"{pair[0]}/{pair[1]}", strict=False)
        ),
    ),
    "dataclass": (Point, points),
    "dataclasses in a list": (list[Point], st.lists(points, max_size=3)),
    "recursive dataclass": (Node, nodes),
    "generic": (Box[Point], st.builds(Box, points, texts)),
    "generic in generic": (Box[Box[int]], st.builds(Box, st.builds(Box, ints, texts), texts)),
    "generic base": (IntBox, st.builds(IntBox, ints, texts, ints)),
    "fields that are not given": (Odd, st.builds(Odd, texts)),
    "typed dictionary": (
        Sequel,
        st.tuples(texts, st.none() | ints, texts, st.none() | st.just(0.5)).map(
            lambda row: {
                k: v for k, v in zip(("title", "year", "after", "rating"), row, strict=True) if v is not None
            }
        ),
    ),
    "named tuple": (Pair, st.builds(Pair, ints, texts)),
    "tagged union": (Cat | Dog, st.builds(Cat, st.booleans()) | st.builds(Dog, ints)),
    "recursive alias": (Json, plain),
    "generic alias": (Tree[int], trees),
    "lengths": (Annotated[str, at.Len(2, 4)], st.text("ab{é", min_size=2, max_size=4)),
    "lengths of lists": (Annotated[list[int], at.MaxLen(2)], st.lists(ints, max_size=2)),
    "lengths of dicts": (
        Annotated[dict[str, int], at.MinLen(1)],
        st.dictionaries(texts, ints, min_size=1, max_size=3),
    ),
}
