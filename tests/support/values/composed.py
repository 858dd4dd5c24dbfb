"""Random constraints, each with an oracle that knows the values of its texts and never asks the engine.

The oracle tries every split.  Of several it takes the one whose first piece is longest, then the second, and
so on, and of two lists with the same pieces the one with fewer empty ones at its end.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import tokamata as tk
from tokamata.values.forms import Reading

ALPHABET = "abc"
LEAVES = [
    "a", "b", "c", "ab", "bc", "[ab]", "[abc]", "a*", "b*", "[ab]*", "[abc]*", "a+", "b+", "a?", "b?", "ab?",
    "a|ab", "ab|a", "(?:ab)*", "(?:ab|c)*", "[ab]+c", "a{2}", "a{1,3}", "[abc]{2}", "", "a(?=b).", "a\\b|ab",
    "(?!a)[abc]*",
]  # fmt: skip


@dataclass
class Sequence:
    """The value of a sequence: those of its parts, and the ones that have a name."""

    values: list[Any]
    fields: dict[str, Any]


@dataclass(eq=False)
class Composed:
    """A constraint, and what is known about it.

    Attributes:
        constraint: the constraint.
        kind: how it was made.
        parts: what it was made of.
        low, high: the bounds of a repetition.
        pattern: of a regular expression.
        name: under which it was captured.
    """

    constraint: tk.Constraint[Any]
    kind: str
    parts: list[Composed] = field(default_factory=list)
    low: int = 0
    high: int | None = None
    pattern: str = ""
    name: str = ""

    def __post_init__(self) -> None:
        self.accepts = cache(self._accepts)
        self.value = cache(self._value)

    def _accepts(self, text: str) -> bool:
        parts = self.parts
        if self.kind == "regex":
            return re.fullmatch(self.pattern, text) is not None
        if self.kind in ("+", "repeat", "separated_by", "subsequence"):
            return next(self.splits(text), None) is not None
        if self.kind == "|":
            return any(part.accepts(text) for part in parts)
        if self.kind == "&":
            return all(part.accepts(text) for part in parts)
        if self.kind == "-":
            return parts[0].accepts(text) and not parts[1].accepts(text)
        if self.kind == "~":
            return not parts[0].accepts(text)
        return parts[0].accepts(text) or (self.kind == "optional" and not text)

    def splits(self, text: str) -> Iterator[list[tuple[int, str]]]:
        """All ways to cut a text into pieces of numbered parts, the preferred one first."""
        if self.kind == "+":
            yield from _in_order(list(enumerate(self.parts)), text)
        elif self.kind == "repeat":
            yield from _again(self.parts[0], None, text, self.low, self.high)
        elif self.kind == "separated_by":
            yield from _separated(self.parts[0], self.parts[1], text, self.low, self.high)
        else:
            yield from _some(self.parts[:-1], self.parts[-1], text, 0, is_first=True)

    def pieces(self, text: str) -> list[tuple[int, str]]:
        """The pieces of the preferred split; those of a separator are left out."""
        return [piece for piece in next(self.splits(text)) if piece[0] >= 0]

    def _value(self, text: str) -> tuple[Any, tuple[tuple[str, Any], ...]]:
        """The value of a text that is accepted, and the captured ones in it."""
        parts = self.parts
        if self.kind == "captured":
            value, captures = parts[0].value(text)
            return value, ((self.name, value), *captures)
        if self.kind in ("|", "optional"):
            return next((part.value(text) for part in parts if part.accepts(text)), (None, ()))
        if self.kind in ("&", "-"):
            return parts[0].value(text)
        if self.kind == "+":
            found = [parts[number].value(piece) for number, piece in self.pieces(text)]
            fields = dict.fromkeys(self.names_inside())
            fields.update(pair for _, captures in found for pair in captures)
            return Sequence([value for value, _ in found], fields), ()
        if self.kind in ("repeat", "separated_by"):
            return [parts[0].value(piece)[0] for _, piece in self.pieces(text)], ()
        if self.kind == "subsequence":
            values: list[Any] = [None] * (len(parts) - 1)
            for number, piece in self.pieces(text):
                values[number] = parts[number].value(piece)[0]
            return values, ()
        return text, ()

    def needs(self) -> int:
        """At least as many letters as it takes to complete any beginning of a text."""
        needs = [part.needs() for part in self.parts] or [3]
        if self.kind in ("repeat", "separated_by"):
            return sum(needs) * max(self.low, 1)
        return max(needs) if self.kind == "|" else sum(needs)

    def names(self) -> list[str]:
        """Names that the sequence around it has."""
        if self.kind == "captured":
            return [self.name, *self.parts[0].names()]
        if self.kind in ("|", "optional"):
            return [name for part in self.parts for name in part.names()]
        return self.parts[0].names() if self.kind in ("&", "-") else []

    def names_inside(self) -> list[str]:
        return [name for part in self.parts for name in part.names()]


def _in_order(parts: list[tuple[int, Composed]], text: str) -> Iterator[list[tuple[int, str]]]:
    if not parts:
        if not text:
            yield []
        return
    number, part = parts[0]
    for size in range(len(text), -1, -1):
        if part.accepts(text[:size]):
            for rest in _in_order(parts[1:], text[size:]):
                yield [(number, text[:size]), *rest]


def _again(
    part: Composed, separator: Composed | None, text: str, low: int, high: int | None
) -> Iterator[list[tuple[int, str]]]:
    """Turns that read something, and empty ones only while there are fewer than ``low``."""
    if not text and low <= 0:
        yield []
        return
    if high is not None and high <= 0:
        return
    fewer = None if high is None else high - 1
    for turn, size in _turns(part, separator, text):
        if size > 0 or low > 0:
            for rest in _again(part, separator, text[size:], low - 1, fewer):
                yield [*turn, *rest]


def _turns(
    part: Composed, separator: Composed | None, text: str, number: int = 0
) -> Iterator[tuple[list[tuple[int, str]], int]]:
    """Beginnings of a text that a separator and a part read, with their sizes."""
    if separator is None:
        for size in range(len(text), -1, -1):
            if part.accepts(text[:size]):
                yield [(number, text[:size])], size
        return
    for start in range(len(text), -1, -1):
        if separator.accepts(text[:start]):
            for turn, size in _turns(part, None, text[start:], number):
                yield [(-1, text[:start]), *turn], start + size


def _separated(
    part: Composed, separator: Composed, text: str, low: int, high: int | None
) -> Iterator[list[tuple[int, str]]]:
    if high != 0:
        fewer = None if high is None else high - 1
        for size in range(len(text), -1, -1):
            if part.accepts(text[:size]):
                for rest in _again(part, separator, text[size:], max(low - 1, 0), fewer):
                    yield [(0, text[:size]), *rest]
    if low == 0 and not text:
        yield []


def _some(
    items: list[Composed], delimiter: Composed, text: str, first: int, is_first: bool
) -> Iterator[list[tuple[int, str]]]:
    """An item is rather taken than left out."""
    for number in range(first, len(items)):
        for turn, size in _turns(items[number], None if is_first else delimiter, text, number):
            for rest in _some(items, delimiter, text[size:], number + 1, is_first=False):
                yield [*turn, *rest]
    if not is_first and not text:
        yield []


def same(found: Any, expected: Any) -> bool:
    """Whether a value is what the oracle says."""
    if isinstance(expected, Sequence):
        return (
            isinstance(found, tk.Parts)
            and len(found) == len(expected.values)
            and all(map(same, found, expected.values))
            and found.asdict().keys() == expected.fields.keys()
            and all(same(found.asdict()[name], value) for name, value in expected.fields.items())
        )
    if isinstance(expected, list):
        return isinstance(found, list) and len(found) == len(expected) and all(map(same, found, expected))
    return bool(found == expected) and isinstance(found, str) == isinstance(expected, str)


def drawn(draw: random.Random, depth: int, names: Iterator[str] | None = None) -> Composed:
    """A random constraint."""
    names = names or (f"name{number}" for number in itertools.count())
    kind = draw.choice(["regex", *KINDS]) if depth else "regex"
    if kind == "regex":
        pattern = draw.choice(LEAVES)
        return Composed(tk.regex(pattern), kind, pattern=pattern)

    def inner() -> Composed:
        return drawn(draw, depth - 1, names)

    first = inner()
    constraint = first.constraint
    if kind in "+|&-":
        operands = [first, inner()]
        if kind in "+|" and draw.random() < 0.4:
            operands.append(inner())
        for operand in operands[1:]:
            constraint = JOINED[kind](constraint, operand.constraint)
        return _flat(Composed(constraint, kind, operands))
    if kind == "~":
        return Composed(~constraint, kind, [first])
    if kind == "optional":
        return Composed(constraint.optional(), kind, [first])
    if kind == "captured":
        name = next(names)
        return Composed(constraint.captured(name), kind, [first], name=name)
    if kind == "subsequence":
        items, delimiter = [first, *(inner() for _ in range(draw.randint(0, 2)))], drawn(draw, 0, names)
        whole = tk.delimited_subsequence_of([item.constraint for item in items], delimiter.constraint)
        return Composed(whole, kind, [*items, delimiter])
    low = draw.choice([0, 0, 1, 1, 2, 3])
    high = draw.choice([None, None, low, low + 1, low + 2])
    if kind == "repeat":
        return Composed(constraint.repeat(low, high), kind, [first], low, high)
    separator = drawn(draw, 0, names)
    whole = constraint.separated_by(separator.constraint, low, high)
    return Composed(whole, kind, [first, separator], low, high)


def _flat(composed: Composed) -> Composed:
    """A chain of ``+`` or of ``|`` is one."""
    parts: list[Composed] = []
    for number, part in enumerate(composed.parts):
        is_chain = part.kind == composed.kind and (
            composed.kind in "+|" or (composed.kind == "-" and number == 0)
        )
        parts += part.parts if is_chain and composed.kind != "-" else [part]
    composed.parts = parts
    return composed


KINDS = [
    "+",
    "+",
    "+",
    "|",
    "|",
    "&",
    "-",
    "~",
    "optional",
    "captured",
    "repeat",
    "repeat",
    "separated_by",
    "subsequence",
]
JOINED = {
    "+": lambda a, b: a + b,
    "|": lambda a, b: a | b,
    "&": lambda a, b: a & b,
    "-": lambda a, b: a - b,
}


def reading() -> Reading:
    """A reading within the usual limits."""
    return Reading("", tk.Limits(), None)
