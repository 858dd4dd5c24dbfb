"""A stand-in for ``tokamata._core``: expressions as tuples, and the slowest matcher that is obviously right.

It lets the tests of the patterns run without the engine, and look at what is lowered.  A lookaround
asks whether the whole of what follows, or of what was read, is in its expression; it sees the same
text as what is around it, up to the nearest scope.

Cost: for each part of an expression and each position of a text, the positions where a match may end, so
that texts have to be short.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from tokamata.patterns.regex import lower, to_expression


class AboutTokens(Exception):
    """An expression is about tokens, of which nothing is known here."""


class Expression(tuple[Any, ...]):
    """A kind, and what it is made of."""

    sees_edges = False  # nothing here is about tokens

    def __new__(cls, *parts: Any) -> Expression:
        return super().__new__(cls, parts)


def empty() -> Expression:
    return Expression("empty")


def epsilon() -> Expression:
    return Expression("epsilon")


def text() -> Expression:
    return Expression("anything")  # all that this matcher knows is text


def anything() -> Expression:
    return Expression("anything")


def literal(data: bytes) -> Expression:
    assert isinstance(data, bytes)
    return Expression("literal", data.decode())


def code_points(ranges: Sequence[tuple[int, int]]) -> Expression:
    flat = [point for pair in ranges for point in pair]
    assert all(0 <= point <= 0x10FFFF for point in flat)
    assert flat == sorted(flat)
    return Expression("code_points", tuple(ranges))


def concat(items: Sequence[Expression]) -> Expression:
    return Expression("concat", *items)


def union(items: Sequence[Expression]) -> Expression:
    return Expression("union", *items)


def intersect(items: Sequence[Expression]) -> Expression:
    return Expression("intersect", *items)


def complement(expression: Expression) -> Expression:
    return Expression("complement", expression)


def strings(texts: Sequence[str]) -> Expression:
    return Expression("union", *(Expression("literal", text) for text in texts))


def judged(holds: Callable[[str], bool]) -> Expression:
    """The texts of which a judge says so."""
    return Expression("judged", holds)


def until(phrase: str) -> Expression:
    return judged(lambda text: text.endswith(phrase) and text.index(phrase) + len(phrase) == len(text))


def substrings(text: str, limits: object, cancel: object) -> Expression:
    return judged(lambda part: part in text)


def control_token(name: str) -> Expression:
    raise AboutTokens


def one_token(ranges: Sequence[tuple[int, int]]) -> Expression:
    raise AboutTokens


def repeat(body: Expression, minimum: int, maximum: int | None, position: int = 0) -> Expression:
    assert position >= 0
    assert maximum is None or minimum <= maximum
    return Expression("repeat", body, minimum, maximum, position)


def look_ahead(rest: Expression) -> Expression:
    return Expression("look_ahead", rest)


def look_behind(prefix: Expression) -> Expression:
    return Expression("look_behind", prefix)


def scope(expression: Expression) -> Expression:
    return Expression("scope", expression)


class _Match:
    """One text, and where each part of an expression that begins at some position may end in it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._known: dict[tuple[int, int], set[int]] = {}

    def ends(self, expression: Expression, start: int) -> set[int]:
        key = (id(expression), start)
        if key not in self._known:
            self._known[key] = self._found(expression, start)
        return self._known[key]

    def _found(self, expression: Expression, start: int) -> set[int]:
        text, kind = self._text, expression[0]
        if kind == "empty":
            return set()
        if kind == "epsilon":
            return {start}
        if kind == "anything":
            return set(range(start, len(text) + 1))
        if kind == "literal":
            return {start + len(expression[1])} if text.startswith(expression[1], start) else set()
        if kind == "code_points":
            inside = start < len(text) and any(low <= ord(text[start]) <= high for low, high in expression[1])
            return {start + 1} if inside else set()
        if kind == "union":
            return {end for item in expression[1:] for end in self.ends(item, start)}
        if kind == "intersect":
            return set.intersection(*(self.ends(item, start) for item in expression[1:]))
        if kind == "complement":
            return set(range(start, len(text) + 1)) - self.ends(expression[1], start)
        if kind == "look_ahead":
            return {start} if len(text) in self.ends(expression[1], start) else set()
        if kind == "look_behind":
            return {start} if start in self.ends(expression[1], 0) else set()
        if kind == "scope":
            return {end for end in range(start, len(text) + 1) if accepts(expression[1], text[start:end])}
        if kind == "judged":
            return {end for end in range(start, len(text) + 1) if expression[1](text[start:end])}
        if kind == "concat":
            places = {start}
            for item in expression[1:]:
                places = self._after(places, item)
            return places
        assert kind == "repeat"
        return self._ends_of_repeat(expression, start)

    def _after(self, places: set[int], expression: Expression) -> set[int]:
        return {end for place in places for end in self.ends(expression, place)}

    def _ends_of_repeat(self, expression: Expression, start: int) -> set[int]:
        _, body, minimum, maximum, _ = expression
        places, found = {start}, set()
        seen: set[tuple[int, ...]] = set()
        count = 0
        while places and (maximum is None or count <= maximum):
            if count >= minimum:
                found |= places
                if tuple(sorted(places)) in seen:
                    break
                seen.add(tuple(sorted(places)))
            places = self._after(places, body)
            count += 1
            if count > len(self._text) + 1 and count < minimum:  # only empty matches can still be added
                count = minimum
        return found


def accepts(expression: Expression, text: str) -> bool:
    return len(text) in _Match(text).ends(expression, 0)


@contextmanager
def in_place_of_the_engine() -> Iterator[None]:
    """Inside, patterns become expressions of this module."""
    with patch.object(lower, "_core", sys.modules[__name__]), patch.object(lower, "_kept", {}):
        yield


def lowered(pattern: str, flags: int = 0, **options: Any) -> Expression:
    """The expression of a pattern, made by this module instead of the engine."""
    with in_place_of_the_engine():
        return to_expression(pattern, flags, **options)  # type: ignore[return-value]
