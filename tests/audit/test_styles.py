"""Other texts of a value: all are of the same value, and what an engine takes is found."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import pytest

from tokamata.audit.declared_order import in_order
from tokamata.audit.styles import read_tree, written_otherwise

SCHEMA = {"properties": {"a": {}, "b": {"properties": {"x": {}, "y": {}}}, "c": {}}}


def taking(wanted: Callable[[bytes], bool]) -> tuple[Callable[[Sequence[bytes]], list[int]], list[bytes]]:
    """An engine that takes some whole texts, and what it was shown."""
    shown: list[bytes] = []

    def read(texts: Sequence[bytes]) -> list[int]:
        found = []
        for text in texts:
            shown.append(text)
            found.append(-1 if wanted(text) else 0)
            if found[-1] == -1:
                break
        return found

    return read, shown


def in_one_order(order: str) -> Callable[[Sequence[bytes]], list[int]]:
    """An engine that takes members named by single letters in one order, without white space."""

    def taken(text: bytes) -> int:
        last = -1
        for place, byte in enumerate(text):
            is_name = text[place - 1 : place] == b'"' and text[place + 1 : place + 3] == b'":'
            if is_name and order.index(chr(byte)) < last:
                return place
            if is_name:
                last = order.index(chr(byte))
            if byte == 0x20:
                return place
        return -1

    def read(texts: Sequence[bytes]) -> list[int]:
        found: list[int] = []
        for text in texts:
            found.append(taken(text))
            if found[-1] == -1:
                break
        return found

    return read


def exact(text: bytes) -> Any:
    return json.loads(text, parse_float=Decimal, parse_int=Decimal)


@pytest.mark.parametrize(
    "text",
    [
        '{"c":1.50,"a":"\\u00e9\\/","b":{"y":[1e3,-0.0,5e-400,123456789012345678901234567890E0],"x":"\\ud800"}}',
        "[[],{}, [ {} ]]",
        '"\\u0000"',
        "1e401",
    ],
)
def test_every_text_has_the_same_value(text: str) -> None:
    read, shown = taking(lambda _: False)
    assert written_otherwise(text.encode(), SCHEMA, read, searches=False) is None
    assert len(shown) == len(set(shown))
    assert text.encode() in shown
    assert len(shown) > 1 or text == '"\\u0000"'
    assert all(exact(one) == exact(text.encode()) for one in shown)


def test_the_least_change_is_found() -> None:
    text = b'{"b":1.0, "a":2}'
    for wanted, changed in (
        (text, set()),
        (b'{"b":1.0,"a":2}', {"white space"}),
        (b'{"b":1,"a":2}', {"white space", "spelling"}),
        (b'{"a": 2, "b": 1.0}', {"white space", "property order"}),
    ):
        read, _ = taking(lambda one, wanted=wanted: one == wanted)  # type: ignore[misc]
        found = written_otherwise(text, SCHEMA, read)
        assert found is not None
        assert found.text == wanted
        assert set(found.changed) == changed


def test_orders_are_searched() -> None:
    rng = random.Random(1)
    for _ in range(40):
        names = rng.sample("abcdefg", rng.randint(2, 5))
        order = "".join(rng.sample("abcdefg", 7))
        text = json.dumps(dict.fromkeys(names, 0), separators=(",", ":")).encode()
        found = written_otherwise(text, {}, in_one_order(order))
        assert found is not None
        assert list(json.loads(found.text)) == sorted(names, key=order.index)


def test_orders_of_nested_objects_are_searched() -> None:
    """Two objects within one, each with another order than the one that is taken."""
    inner = dict.fromkeys("gfedcba", 0)
    text = json.dumps({"g": inner, "f": inner, "e": inner}, separators=(",", ":")).encode()

    def read(texts: Sequence[bytes]) -> list[int]:
        found: list[int] = []
        for one in texts:
            # What is taken of a text: up to the first name that comes too late in its object.
            last = [""]
            end = -1 if one.endswith(b"}") and one.count(b"{") == one.count(b"}") else len(one)
            for place, byte in enumerate(one):
                if byte == 0x7B:
                    last.append("")
                elif byte == 0x7D:
                    last.pop()
                elif one[place - 1 : place] == b'"' and one[place + 1 : place + 3] == b'":':
                    if chr(byte) < last[-1]:
                        end = place
                        break
                    last[-1] = chr(byte)
            found.append(end)
            if end == -1:
                break
        return found

    found = written_otherwise(text, {}, read)
    assert found is not None
    ordered = json.loads(found.text)
    assert list(ordered) == ["e", "f", "g"]
    assert all(list(one) == list("abcdefg") for one in ordered.values())


def test_declared_orders() -> None:
    schema: Any = {
        "allOf": [{"$ref": "#/$defs/c"}],
        "properties": {"b": {"items": {"properties": {"y": {}, "x": {}}}}, "a": {}},
        "$defs": {"c": {"properties": {"c": {}, "a": {}}}},
    }
    value = {"z": 0, "a": 1, "c": 2, "b": [{"x": 0, "y": 1}]}
    ordered = in_order(schema, value)
    assert ordered == value
    assert list(ordered) == ["b", "a", "c", "z"]
    assert list(ordered["b"][0]) == ["y", "x"]


def test_references_that_double_at_every_level_end() -> None:
    double: Any = {f"d{level}": {"allOf": [{"$ref": f"#/$defs/d{level + 1}"}] * 2} for level in range(60)}
    assert in_order({"$ref": "#/$defs/d0", "$defs": double}, {"b": 1, "a": 2}) == {"b": 1, "a": 2}


def test_trees() -> None:
    assert read_tree("[" * 200 + "]" * 200) is None
    tree = read_tree(' {"a\\"b" : [true , -1.5e+3]} ')
    assert tree is not None
    assert (tree.names, tree.parts[0].parts[1].raw) == (('"a\\"b"',), "-1.5e+3")
