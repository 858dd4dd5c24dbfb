"""A stand-in for ``tokamata._core``: expressions as tuples, and the slowest matcher that is obviously right.

It lets the tests of the patterns run without the engine, and look at what is lowered.  A lookaround
asks whether the whole of what follows, or of what was read, is in its expression; it sees the same
text as what is around it, up to the nearest scope.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from tokamata.patterns.regex import lower, to_expression


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


def repeat(body: Expression, minimum: int, maximum: int | None, position: int) -> Expression:
    assert position >= 0
    assert maximum is None or minimum <= maximum
    return Expression("repeat", body, minimum, maximum, position)


def look_ahead(rest: Expression) -> Expression:
    return Expression("look_ahead", rest)


def look_behind(prefix: Expression) -> Expression:
    return Expression("look_behind", prefix)


def scope(expression: Expression) -> Expression:
    return Expression("scope", expression)


def ends(expression: Expression, text: str, start: int) -> set[int]:
    """Where a match of ``expression`` that begins at ``start`` may end."""
    kind = expression[0]
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
        return {end for item in expression[1:] for end in ends(item, text, start)}
    if kind == "intersect":
        return set.intersection(*(ends(item, text, start) for item in expression[1:]))
    if kind == "complement":
        return set(range(start, len(text) + 1)) - ends(expression[1], text, start)
    if kind == "look_ahead":
        return {start} if len(text) in ends(expression[1], text, start) else set()
    if kind == "look_behind":
        return {start} if start in ends(expression[1], text, 0) else set()
    if kind == "scope":
        return {end for end in range(start, len(text) + 1) if accepts(expression[1], text[start:end])}
    if kind == "concat":
        places = {start}
        for item in expression[1:]:
            places = {end for place in places for end in ends(item, text, place)}
        return places
    assert kind == "repeat"
    return ends_of_repeat(expression, text, start)


def ends_of_repeat(expression: Expression, text: str, start: int) -> set[int]:
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
        places = {end for place in places for end in ends(body, text, place)}
        count += 1
        if count > len(text) + 1 and count < minimum:  # by now only empty matches can still be added
            count = minimum
    return found


def accepts(expression: Expression, text: str) -> bool:
    return len(text) in ends(expression, text, 0)


def lowered(pattern: str, flags: int = 0, **options: Any) -> Expression:
    """The expression of a pattern, made by this module instead of the engine."""
    engine, kept = lower._core, lower._kept
    lower._core, lower._kept = sys.modules[__name__], {}  # type: ignore[assignment]
    try:
        return to_expression(pattern, flags, **options)  # type: ignore[return-value]
    finally:
        lower._core, lower._kept = engine, kept
