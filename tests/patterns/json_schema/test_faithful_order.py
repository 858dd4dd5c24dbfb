"""The order of names: required ones as in the schema, all others where they may stand, or later.

The judge decides by its own reading of the rule, name by name.  The law is tried with all orders of the
members of a value: where a text is refused, another text of the value goes on.
"""

from __future__ import annotations

import itertools
import json
import random
from typing import Any, Literal

import pytest

import tokamata as tk
from tests.support.masks import allowed
from tests.support.matchers import write
from tests.support.vocabularies import BYTE_VOCABULARY

NAMES = ["a", "ab", "abc", "b", "bc", "é", "è", "/", "\n"]
OTHERS = ["ac", "bca", "x", "ê", ""]


def shared(one: str, other: str) -> int:
    """The number of bytes that two names in quotes begin with."""
    pairs = itertools.takewhile(
        lambda pair: pair[0] == pair[1], zip(spelled(one), spelled(other), strict=False)
    )
    return sum(1 for _ in pairs)


def spelled(name: str) -> bytes:
    return json.dumps(name, ensure_ascii=False).encode()


def may_come(name: str, written: list[str], declared: list[str], required: list[str]) -> bool:
    due = next((other for other in declared if other in required and other not in written), None)
    if due is None or name == due:
        return True
    before = [other for other in declared[: declared.index(due)] if other not in written]
    return name in before or any(shared(name, other) > shared(name, due) for other in before)


def made(draw: random.Random) -> tuple[dict[str, Any], list[str], list[str]]:
    declared = draw.sample(NAMES, draw.randrange(1, 6))
    required = draw.sample(declared, draw.randrange(len(declared) + 1))
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: {"type": "null"} for name in declared},
        "required": sorted(required),
        "additionalProperties": draw.choice([False, {"type": "null"}]),
    }
    if draw.random() < 0.3:
        schema["patternProperties"] = {"^[ab]": {"type": "null"}}
    if draw.random() < 0.2:
        schema["minProperties"] = draw.randrange(4)
    return schema, declared, required


def is_valid(names: tuple[str, ...], schema: dict[str, Any]) -> bool:
    def may_be(name: str) -> bool:
        is_open = schema["additionalProperties"] is not False
        return (
            is_open
            or name in schema["properties"]
            or ("patternProperties" in schema and name[:1] in ("a", "b"))
        )

    enough = len(names) >= schema.get("minProperties", 0)
    return enough and set(schema["required"]) <= set(names) and all(map(may_be, names))


def objects(draw: random.Random, schema: dict[str, Any], count: int) -> list[tuple[str, ...]]:
    found = []
    for _ in range(20 * count):
        optional = [name for name in NAMES + OTHERS if name not in schema["required"]]
        names = tuple(schema["required"]) + tuple(draw.sample(optional, draw.randrange(3)))
        if len(names) <= 5 and is_valid(names, schema):
            found.append(names)
    return found[:count]


def text_of(names: tuple[str, ...]) -> bytes:
    return b"{" + b",".join(spelled(name) + b":null" for name in names) + b"}"


def accepted(matcher: tk.Matcher, text: bytes) -> int:
    """How many bytes of a text are accepted."""
    return next((at for at, byte in enumerate(text) if not matcher.advance(byte)), len(text))


@pytest.mark.parametrize("seed", range(40))
def test_every_order_of_every_object(seed: int) -> None:
    draw = random.Random(seed)
    schema, declared, required = made(draw)
    constraint = tk.json_schema(schema, whitespace="compact", spelling="plain")
    try:
        compiled = constraint.compile(BYTE_VOCABULARY)
    except tk.EmptyConstraintError:
        return
    for names in objects(draw, schema, 4):
        texts = [text_of(order) for order in itertools.permutations(names)]
        lengths = [accepted(compiled.matcher(), text) for text in texts]
        for order, text, length in zip(itertools.permutations(names), texts, lengths, strict=True):
            expected = all(
                may_come(name, list(order[:at]), declared, required) for at, name in enumerate(order)
            )
            assert (length == len(text)) is expected, (schema, text)
        whole = [text for text, length in zip(texts, lengths, strict=True) if length == len(text)]
        for text, length in zip(texts, lengths, strict=True):  # the law
            begun = text[:length]
            assert any(other.startswith(begun) for other in whole), (schema, text, begun)


def spellings(name: str) -> list[bytes]:
    """With each character as it is, or as an escape."""
    ways = [
        [json.dumps(character, ensure_ascii=False)[1:-1], f"\\u{ord(character):04x}"] for character in name
    ]
    return [f'"{"".join(way)}"'.encode() for way in itertools.product(*ways)]


@pytest.mark.parametrize("spelling", ["natural", "any"])
@pytest.mark.parametrize("seed", range(20))
def test_no_escape_loses_a_value(seed: int, spelling: Literal["natural", "any"]) -> None:
    draw = random.Random(f"escapes {seed}")
    schema, _, _ = made(draw)
    try:
        compiled = tk.json_schema(schema, whitespace="compact", spelling=spelling).compile(BYTE_VOCABULARY)
    except tk.EmptyConstraintError:
        return

    def completes(matcher: tk.Matcher, begun: bytes, names: tuple[str, ...]) -> bool:
        """Whether some order of some spellings of names, the first of which begins so, is accepted."""
        if not names:
            return accepted(matcher.fork(), b"}") == 1
        for name in names:
            for way in spellings(name):
                at = matcher.fork()
                text = way + b":null" + (b"," if len(names) > 1 else b"")
                rest = tuple(other for other in names if other != name)
                goes_on = way.startswith(begun) and accepted(at, text[len(begun) :]) == len(text) - len(begun)
                if goes_on and completes(at, b"", rest):
                    return True
        return False

    for names in objects(draw, schema, 6):
        order = draw.sample(names, len(names))
        matcher = compiled.matcher()
        write(matcher, "{")
        for at, name in enumerate(order):
            way = draw.choice(spellings(name))
            length = accepted(matcher, way)
            if length < len(way):
                assert completes(matcher, way[:length], tuple(order[at:])), (schema, order, way, length)
                break
            write(matcher, ":null" + ("," if at < len(order) - 1 else ""))


WEATHER = {
    "type": "object",
    "properties": {"note": {}, "outlook": {}, "temp": {}, "tact": {}, "tag": {}},
    "required": ["outlook", "temp"],
}


def test_undeclared_names_come_after_the_required_ones() -> None:
    matcher = (
        tk.json_schema(WEATHER, whitespace="compact", spelling="plain").compile(BYTE_VOCABULARY).matcher()
    )
    write(matcher, '{"')
    assert allowed(matcher) == {ord("n"), ord("o")}
    write(matcher, 'outlook":1,"')
    assert allowed(matcher) == {ord("n"), ord("t")}  # temp
    write(matcher, "t")
    assert allowed(matcher) == {ord("e")}
    assert ord('"') not in allowed(matcher)
    write(matcher, 'emp":1,"')
    assert {ord("n"), ord("t"), ord("x")} <= allowed(matcher)


def test_a_name_that_may_come_opens_what_begins_as_it_does() -> None:
    matcher = (
        tk.json_schema(WEATHER, whitespace="compact", spelling="plain").compile(BYTE_VOCABULARY).matcher()
    )
    write(matcher, '{"nose":1,"')  # as note
    assert allowed(matcher) == {ord("n"), ord("o")}
    write(matcher, 'note":1,"')
    assert allowed(matcher) == {ord("o")}


@pytest.mark.parametrize(
    ("rest", "required"),
    [
        ({"oneOf": [{"required": ["a", "c"]}, {"required": ["b", "c"]}]}, {"c"}),
        ({"anyOf": [{"required": ["c"]}, {"required": ["c", "d"]}]}, {"c"}),
        ({"if": {"required": ["a"]}, "then": {"required": ["d"]}}, set()),
        ({"dependentRequired": {"a": ["d"]}, "required": ["b"]}, {"b"}),
    ],
)
def test_required_whatever_the_values_are(rest: dict[str, Any], required: set[str]) -> None:
    schema = {"type": "object", "properties": {name: {} for name in "abcd"}, **rest}
    matcher = tk.json_schema(schema, whitespace="compact").compile(BYTE_VOCABULARY).matcher()
    write(matcher, '{"')
    first = min(required, default="d")
    assert allowed(matcher) & set(b"abcd") == {ord(name) for name in "abcd" if name <= first}
    assert (ord("x") in allowed(matcher)) is not bool(required)


def test_a_closing_text_follows_the_order() -> None:
    schema = {**WEATHER, "properties": {name: {"type": "integer"} for name in WEATHER["properties"]}}  # type: ignore[attr-defined]
    for spelling in ("plain", "any"):
        matcher = (
            tk.json_schema(schema, whitespace="compact", spelling=spelling).compile(BYTE_VOCABULARY).matcher()
        )  # type: ignore[arg-type]
        write(matcher, '{"n')
        text = (matcher.text + bytes(matcher.shortest_completion())).decode()
        assert list(json.loads(text))[1:] == ["outlook", "temp"]
        assert accepted(tk.json_schema(schema).compile(BYTE_VOCABULARY).matcher(), text.encode()) == len(text)
