"""Programs of some 400 lines in C and Java, made by a seed, and the same with one token wrong.

The subsets are those of the grammars of tests/data/grammars/syncode.  The mistakes are those that CPCT+
repairs: a token is deleted, inserted or replaced (Diekmann and Tratt 2020).
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

__all__ = ["MISTAKES", "PROGRAMS", "Mistake", "program", "with_mistake"]

_WORDS = [
    "count",
    "total",
    "index",
    "limit",
    "value",
    "first",
    "second",
    "rest",
    "scale",
    "share",
    "width",
    "height",
    "offset",
    "size",
    "level",
    "depth",
    "score",
    "weight",
    "price",
    "amount",
    "speed",
    "angle",
    "radius",
    "left",
    "right",
    "upper",
    "lower",
    "start",
    "end",
    "step",
    "mark",
    "sum",
    "product",
    "ratio",
]
_VERBS = [
    "compute",
    "update",
    "check",
    "report",
    "find",
    "measure",
    "reduce",
    "merge",
    "split",
    "scan",
    "adjust",
    "collect",
]
_TOKEN = re.compile(
    r"(?P<ignored>\s+|//[^\n]*|/\*.*?\*/)|\"(?:[^\"\\\n]|\\.)*\"|\w+|[<>=!]=|&&|\|\||\+\+|--|[^\s\w]",
    re.DOTALL,
)


class Mistake(NamedTuple):
    """A program with one wrong token.

    Attributes:
        kind: one of :data:`MISTAKES`.
        meant: the program.
        broken: the program with the mistake.
    """

    kind: str
    meant: str
    broken: str


class _Writer:
    """Statements that both languages have, at a depth of blocks."""

    def __init__(self, draw: random.Random, types: list[str], call: str) -> None:
        self.draw, self.types, self.call = draw, types, call

    def name(self) -> str:
        return self.draw.choice(_WORDS)

    def method(self) -> str:
        return f"{self.draw.choice(_VERBS)}_{self.name()}"

    def expression(self, depth: int = 2) -> str:
        kind = self.draw.randrange(6 if depth else 2)
        if kind == 0:
            return str(self.draw.randrange(1000))
        if kind == 1:
            return self.name()
        if kind == 2:
            return f"({self.expression(depth - 1)} {self.draw.choice('+-*/')} {self.expression(depth - 1)})"
        if kind == 3:
            return f"{self.method()}({self.expression(depth - 1)}, {self.name()})"
        return f"{self.name()} {self.draw.choice('+-*/')} {self.expression(depth - 1)}"

    def condition(self) -> str:
        relation = self.draw.choice(["<", ">", "<=", ">=", "==", "!="])
        return f"{self.expression(1)} {relation} {self.expression(1)}"

    def statements(self, indent: str, count: int, depth: int) -> Iterator[str]:
        for _ in range(count):
            kind = self.draw.randrange(10)
            if kind >= 7 and depth:
                yield from self.block(indent, depth)
            elif kind == 6:
                yield f"{indent}{self.call}({self.expression()}, {self.name()});"
            elif kind == 5:
                # The grammar of C wants an empty line after a comment.
                yield from (f"{indent}// The {self.name()} is at most the {self.name()}.", "")
                yield f"{indent}{self.name()} = {self.expression()};"
            elif kind >= 3:
                yield f"{indent}{self.draw.choice(self.types)} {self.name()} = {self.expression()};"
            else:
                yield f"{indent}{self.name()} = {self.expression()};"

    def block(self, indent: str, depth: int) -> Iterator[str]:
        inner, kind = indent + "    ", self.draw.randrange(4)
        if kind == 0:
            yield f"{indent}while ({self.condition()}) {{"
        elif kind == 1:
            index = self.name()
            yield f"{indent}for (int {index} = 0; {index} < {self.name()}; {index} = {index} + 1) {{"
        else:
            yield f"{indent}if ({self.condition()}) {{"
        yield from self.statements(inner, self.draw.randint(1, 4), depth - 1)
        if kind == 3:
            yield f"{indent}}} else {{"
            yield from self.statements(inner, self.draw.randint(1, 3), depth - 1)
        yield f"{indent}}}"


def _c(draw: random.Random, lines: int) -> Iterator[str]:
    writer = _Writer(draw, ["int", "float", "char"], "print")
    written = 0
    while written < lines:
        body = [
            f"int {writer.method()}(int {writer.name()}, float {writer.name()}) {{",
            *writer.statements("    ", draw.randint(4, 10), 2),
            f"    return {writer.expression()};",
            "}",
            "",
        ]
        if draw.random() < 0.2:
            body.insert(1, f"    /* The {writer.name()} is not checked. */")
        yield from body
        written += len(body)


def _java(draw: random.Random, lines: int) -> Iterator[str]:
    writer = _Writer(draw, ["int", "double", "String"], "System.out.println")
    yield from (
        "package org.example.shapes;",
        "",
        "import java.util.List;",
        "",
        "public class Shape extends Base {",
    )
    for name in draw.sample(_WORDS, 6):
        yield f"    private static {draw.choice(['int', 'double'])} {name} = {draw.randrange(100)};"
    yield ""
    written = 12
    while written < lines:
        body = [
            f"    public {draw.choice(['', 'static '])}int {writer.method()}"
            f"(int {writer.name()}, List<Shape> {writer.name()}) {{",
            *writer.statements("        ", draw.randint(4, 10), 2),
            f"        return {writer.expression()};",
            "    }",
            "",
        ]
        yield from body
        written += len(body)
    yield "}"


PROGRAMS: dict[str, Callable[[random.Random, int], Iterator[str]]] = {"c": _c, "java": _java}


def program(language: str, lines: int, seed: str) -> str:
    """A program of some more than so many lines."""
    return "\n".join(PROGRAMS[language](random.Random(seed), lines)) + "\n"


def with_mistake(text: str, kind: str, draw: random.Random) -> Mistake:
    """A program with one token deleted, inserted or replaced; it may still be a program."""
    tokens = [match for match in _TOKEN.finditer(text) if match.group("ignored") is None]
    place, other = draw.choice(tokens), draw.choice(tokens).group()
    before, after = text[: place.start()], text[place.end() :]
    if kind == "delete":
        return Mistake(kind, text, before + after)
    if kind == "insert":
        return Mistake(kind, text, f"{before}{other} {place.group()}{after}")
    return Mistake(kind, text, before + other + after)


MISTAKES = ("delete", "insert", "replace")
