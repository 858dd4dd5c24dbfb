"""The types of values; test_typing.py runs mypy on this file, and pyright where there is one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pydantic

import tokamata as tk

if TYPE_CHECKING:
    from typing_extensions import assert_type


@dataclass
class Person:
    name: str


class Model(pydantic.BaseModel):
    name: str


def search(query: str) -> None:
    """Searches."""


def leaves() -> None:
    assert_type(tk.regex("a").parse("a"), tk.Match)
    assert_type(tk.regex("a").parse("a")["x"], str | None)
    assert_type(tk.regex("a").parse("a")[0], str)
    assert_type(tk.literal("a").parse("a"), str)
    assert_type(tk.text_until("a").parse("a"), str)
    assert_type(tk.quoted_text().parse('""'), str)
    assert_type(tk.type(Person).parse(""), Person)
    assert_type(tk.type(Model).parse(""), Model)
    assert_type(tk.type(int).parse("1"), int)
    assert_type(tk.type(list[int]).parse("[]"), list[int])
    assert_type(tk.type(search).parse("{}"), dict[str, Any])
    assert_type(tk.type(Person, syntax="python").parse(""), Person)
    assert_type(tk.tool_call([search]).parse(""), tk.ToolCall)


def alternatives() -> None:
    either = tk.type(Person) | tk.literal("none")
    assert_type(either.parse(""), Person | str)
    assert_type((either | tk.type(int)).parse(""), Person | str | int)
    assert_type(tk.type(Person).optional().parse(""), Person | None)
    assert_type(tk.choice(["a", "b"]).parse("a"), str)
    assert_type(tk.choice([tk.type(int), tk.type(int)]).parse("a"), int)


def operators() -> None:
    assert_type((tk.type(Person) & tk.regex("a")).parse(""), Person)
    assert_type((tk.type(Person) - tk.regex("a")).parse(""), Person)
    assert_type(tk.type(Person).repeat(1, 2).parse(""), list[Person])
    assert_type(tk.type(Person).separated_by(tk.literal(",")).parse(""), list[Person])
    assert_type(tk.delimited_list(tk.type(int), tk.literal(",")).parse(""), list[int])
    assert_type(tk.delimited_subsequence_of([tk.type(int)], tk.literal(",")).parse(""), list[int | None])
    assert_type(tk.type(Person).captured("x").parse(""), Person)


def sequences() -> None:
    two = (tk.literal("a") + tk.type(Person)).parse("")
    assert_type(two, tk.Parts[str, Person])
    assert_type(two[0], str)
    assert_type(two[1], Person)
    one, other = two
    assert_type(one, str)
    assert_type(other, Person)
    three = (tk.literal("a") + tk.type(Person) + tk.type(int)).parse("")
    assert_type(three, tk.Parts[str, Person, int])
    assert_type(three[2], int)
    four = (tk.literal("a") + tk.type(Person) + tk.type(int) + tk.regex("a")).parse("")
    assert_type(four, tk.Parts[str, Person, int, tk.Match])
    first, second, third, fourth = four
    assert_type(first, str)
    assert_type(second, Person)
    assert_type(third, int)
    assert_type(fourth, tk.Match)
    right = (tk.literal("a") + (tk.type(Person) + tk.type(int))).parse("")
    assert_type(right, tk.Parts[str, Person, int])
    nested = ((tk.literal("a") + tk.type(int)).captured("pair") + tk.type(Person)).parse("")
    assert_type(nested, tk.Parts[tk.Parts[str, int], Person])


def compiled(vocabulary: tk.Vocabulary) -> None:
    ready = tk.type(Person).compile(vocabulary)
    assert_type(ready, tk.CompiledConstraint[Person])
    assert_type(ready.parse(""), Person)


def variance() -> None:
    wide: tk.Constraint[object] = tk.type(Person)
    wider: tk.Constraint[str] = tk.regex("a")
    mixed: list[tk.Constraint[Any]] = [wide, wider]
    assert_type(tk.choice(mixed).parse(""), Any)


def sequences_of_sequences() -> None:
    ab, cd = tk.literal("a") + tk.type(int), tk.type(Person) + tk.regex("a")
    both = (ab + cd).parse("")
    assert_type(both, tk.Parts[str, int, Person, tk.Match])
    assert_type(both[3], tk.Match)
    assert_type((ab + (cd + tk.literal("e"))).parse("")[4], str)
    assert_type((ab | tk.type(Person)).parse(""), tk.Parts[str, int] | Person)


def texts_and_constraints() -> None:
    options: list[str | tk.Constraint[int]] = ["none", tk.type(int)]
    assert_type(tk.choice(options).parse(""), str | int)
    value: str | int = tk.choice(["none", tk.type(int)]).parse("")  # for mypy, Any
    assert value
