"""What types come down to: a graph of few kinds of shapes.

Problem: a type is used four times: as a set of JSON values, as a set of Python expressions, to make values of
parsed JSON, and to make values of parsed Python.  The four read the same shapes, and none of them knows
``typing``.

Example: a dataclass ``Node`` with the fields ``value: int`` and ``next: Node | None = None`` is

====================  ==============================================================
``Record("Node")``    with the fields ``value`` and ``next``, the second not required
``Integer()``         the first field
``Union([…])``        the second: the record itself, and ``Choices`` of ``None``
====================  ==============================================================

Shapes are compared by identity; recursive types are cycles among them, always through a :class:`Record` or an
:class:`Alias`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tokamata.patterns.python_types.texts import TextType

__all__ = [
    "Alias",
    "Anything",
    "Boolean",
    "Bounds",
    "Choices",
    "Collection",
    "Field",
    "Float",
    "Foreign",
    "Integer",
    "Mapping",
    "Option",
    "Record",
    "Row",
    "Shape",
    "String",
    "Text",
    "Union",
    "Written",
]


@dataclass(frozen=True)
class Bounds:
    """What ``Annotated`` says beside a type; ``None`` is no bound."""

    gt: Any = None
    ge: Any = None
    lt: Any = None
    le: Any = None
    multiple_of: Any = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    max_digits: int | None = None
    decimal_places: int | None = None

    @property
    def of_numbers(self) -> bool:
        """Whether any of them is about the size of a number."""
        return any(bound is not None for bound in (self.gt, self.ge, self.lt, self.le, self.multiple_of))

    @property
    def of_lengths(self) -> bool:
        """Whether any of them is about a length."""
        return self.min_length is not None or self.max_length is not None


NO_BOUNDS = Bounds()


@dataclass(eq=False)
class Shape:
    """A set of Python values, and how they are written."""

    @property
    def described(self) -> str:
        """What errors call it."""
        return type(self).__name__.lower()


@dataclass(eq=False)
class Anything(Shape):
    """What any JSON stands for."""


@dataclass(eq=False)
class Boolean(Shape):
    """True and False."""


@dataclass(eq=False)
class Integer(Shape):
    """Whole numbers."""

    bounds: Bounds = NO_BOUNDS


@dataclass(eq=False)
class Float(Shape):
    """Numbers."""

    bounds: Bounds = NO_BOUNDS


@dataclass(eq=False)
class Written(Shape):
    """Decimals: numbers whose digits are kept as they are written."""

    bounds: Bounds = NO_BOUNDS

    @property
    def described(self) -> str:
        """What errors call it."""
        return "decimal"


@dataclass(eq=False)
class String(Shape):
    """Strings."""

    bounds: Bounds = NO_BOUNDS


@dataclass(eq=False)
class Text(Shape):
    """Values that are written as strings, such as dates."""

    kind: TextType
    cls: type
    bounds: Bounds = NO_BOUNDS

    @property
    def described(self) -> str:
        """What errors call it."""
        return self.kind.name


class Option(NamedTuple):
    """One of some values.

    Attributes:
        json: how JSON has it: a string, a number, a bool or ``None``.
        value: the value.
        spelled: how Python has it, in all ways that are read.
    """

    json: Any
    value: Any
    spelled: tuple[str, ...]


@dataclass(eq=False)
class Choices(Shape):
    """Some values: those of ``Literal``, the members of an enum, ``None``."""

    options: Sequence[Option]
    name: str

    @property
    def described(self) -> str:
        """What errors call it."""
        return self.name


@dataclass(eq=False)
class Collection(Shape):
    """Lists, sets, and tuples of any length; ``opening`` and ``closing`` stand around it in Python."""

    name: str
    make: Callable[[list[Any]], Any]
    item: Shape
    bounds: Bounds = NO_BOUNDS
    is_set: bool = False

    @property
    def described(self) -> str:
        """What errors call it."""
        return self.name


@dataclass(eq=False)
class Row(Shape):
    """Tuples whose elements have a type each, and then perhaps some more of one type."""

    items: Sequence[Shape]
    rest: Shape | None = None
    bounds: Bounds = NO_BOUNDS

    @property
    def described(self) -> str:
        """What errors call it."""
        return "tuple"


@dataclass(eq=False)
class Mapping(Shape):
    """Dictionaries."""

    name: str
    make: Callable[[dict[Any, Any]], Any]
    key: Shape
    value: Shape
    bounds: Bounds = NO_BOUNDS

    @property
    def described(self) -> str:
        """What errors call it."""
        return self.name


@dataclass(eq=False)
class Field:
    """A field of a record.

    Attributes:
        name: how texts call it.
        shape: its values.
        required: whether it has no default.
        keyword: how ``build`` calls it.
    """

    name: str
    shape: Shape
    required: bool
    keyword: str


@dataclass(eq=False)
class Record(Shape):
    """What has named fields: dataclasses, typed dictionaries, named tuples, models, arguments.

    Attributes:
        name: of the class.
        build: makes a value of its fields by keyword.
        fields: in their order; set once they are read, since they may lead back to the record.
        extra: what further names may hold; ``None`` where there are none.
        form: ``"object"``; ``"array"`` for named tuples, which JSON has as arrays; ``"dict"`` for typed
            dictionaries, which Python has as ``{"a": 1}`` and not as a call.
    """

    name: str
    build: Callable[[dict[str, Any]], Any]
    fields: list[Field] = field(default_factory=list)
    extra: Shape | None = None
    form: str = "object"

    @property
    def described(self) -> str:
        """What errors call it."""
        return self.name


@dataclass(eq=False)
class Union(Shape):
    """Values of any of some shapes; the first that takes a text has it."""

    members: Sequence[Shape]

    @property
    def described(self) -> str:
        """What errors call it."""
        return " or ".join(dict.fromkeys(member.described for member in self.members))


@dataclass(eq=False)
class Alias(Shape):
    """A named type, which may lead back to itself; ``target`` is set once it is read."""

    name: str
    target: Shape | None = None

    @property
    def described(self) -> str:
        """What errors call it."""
        return self.name


@dataclass(eq=False)
class Foreign(Shape):
    """A type that pydantic describes and reads.

    Attributes:
        adapter: its ``TypeAdapter``.
        name: what errors call it.
    """

    adapter: Any
    name: str

    @property
    def described(self) -> str:
        """What errors call it."""
        return self.name
