"""Names and elements that a text has written: their cost is proportional to their lengths.

Costs are bytes and states, as the constraint counts them, at ten times as much text each.
"""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import tokamata as tk
from tests.support.masks import allowed
from tests.support.matchers import write
from tests.support.vocabularies import BYTE_VOCABULARY

WIDE = tk.Limits(seconds=60, memory_bytes=1 << 29)
NARROW = tk.Limits(seconds=10, memory_bytes=50_000_000)
UNIQUE: dict[str, Any] = {"type": "array", "uniqueItems": True}
CLOSED: dict[str, Any] = {
    **UNIQUE,
    "items": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "boolean"}},
        "required": ["a", "b"],
        "additionalProperties": False,
    },
}


def array(elements: list[str]) -> str:
    return "[" + ",".join(elements) + "]"


CASES: dict[str, tuple[dict[str, Any], Any]] = {
    "a name": ({"type": "object"}, lambda n: '{"' + 20 * n * "x" + '":1}'),
    "names": ({"type": "object"}, lambda n: "{" + ",".join(f'"n{i}":1' for i in range(n)) + "}"),
    "names of a pattern": (
        {"type": "object", "propertyNames": {"pattern": "^n[0-9]*$"}},
        lambda n: "{" + ",".join(f'"n{i}":1' for i in range(n)) + "}",
    ),
    "integers": ({**UNIQUE, "items": {"type": "integer"}}, lambda n: array([str(i) for i in range(n)])),
    "bounded integers": (
        {**UNIQUE, "items": {"type": "integer", "minimum": 0, "maximum": 10**5}},
        lambda n: array([str(i) for i in range(n)]),
    ),
    "a number": (UNIQUE, lambda n: array([20 * n * "7"])),
    "numbers": (UNIQUE, lambda n: array([f"{i}.5" for i in range(n)])),
    "a string": (UNIQUE, lambda n: array(['"' + 20 * n * "x" + '"'])),
    "strings": (UNIQUE, lambda n: array([f'"s{i}"' for i in range(n)])),
    "strings of one length": (
        {**UNIQUE, "items": {"type": "string", "pattern": "^[0-9]{6}$"}},
        lambda n: array([f'"{i:06}"' for i in range(n)]),
    ),
    "objects": (UNIQUE, lambda n: array([f'{{"a":{i},"b":[1]}}' for i in range(n)])),
    "closed objects": (CLOSED, lambda n: array([f'{{"a":{i},"b":true}}' for i in range(n)])),
    "arrays": (UNIQUE, lambda n: array([f"[{i},{i}]" for i in range(n)])),
}


@pytest.mark.parametrize("spelling", ["plain", "any"])
@pytest.mark.parametrize("case", CASES)
def test_it_grows_with_the_text(case: str, spelling: Any) -> None:
    schema, text_of = CASES[case]
    costs = []
    for count in (100, 1000):
        text = text_of(count)
        constraint = tk.json_schema(schema, spelling=spelling).compile(BYTE_VOCABULARY, limits=WIDE)
        before = constraint.memory_bytes
        matcher = constraint.matcher()
        write(matcher, text)
        assert matcher.is_accepting
        costs.append((constraint.memory_bytes - before) / len(text))
    assert costs[1] < 1500
    assert costs[1] < 3 * costs[0]


@pytest.mark.parametrize("case", ["names", "integers", "bounded integers", "strings", "objects"])
def test_ten_thousand_of_them(case: str) -> None:
    """Byte by byte, within ten seconds and 50 MB; the memory is measured, and no state is given up for it."""
    schema, text_of = CASES[case]
    constraint = tk.json_schema(schema).compile(BYTE_VOCABULARY, limits=WIDE if case == "objects" else NARROW)
    matcher = constraint.matcher()
    write(matcher, text_of(10_000))
    assert matcher.is_accepting


def test_a_name_of_80_000_bytes() -> None:
    matcher = tk.json_schema({"type": "object"}).compile(BYTE_VOCABULARY, limits=NARROW).matcher()
    write(matcher, '{"' + 80_000 * "x" + '":1}')
    assert matcher.is_accepting


def test_masks_do_not_multiply() -> None:
    """A mask after each hundredth element takes as many states after 1,000 elements as after 100."""
    made = []
    for count in (300, 3000):
        constraint = tk.json_schema(UNIQUE).compile(BYTE_VOCABULARY, limits=WIDE)
        plain, masked = constraint.matcher(), constraint.matcher()
        text = array([str(i) for i in range(count)])
        write(plain, text)
        before = constraint.states
        for place, byte in enumerate(text.encode()):
            if place % (len(text) // 30) == 0:
                assert allowed(masked)
            masked.advance(byte)
        made.append(constraint.states - before)
    assert made[1] < 2 * made[0] + 100


def test_what_no_matcher_holds_is_given_up() -> None:
    """A constraint that is used for many texts does not fill its memory with what they have written."""
    constraint = tk.json_schema(UNIQUE).compile(BYTE_VOCABULARY, limits=tk.Limits(memory_bytes=2_000_000))
    for text in range(40):
        matcher = constraint.matcher()
        write(matcher, "[" + ",".join(f'"t{text}e{i}",{{"n{i}":{text}}}' for i in range(50)))
        again = matcher.fork()
        write(again, f',"t{text}e7')
        assert not again.advance(ord('"'))
        again = matcher.fork()
        write(again, f',{{"n7": {text}.0')
        assert not again.advance(ord("}"))


def test_the_order_of_names_makes_no_states() -> None:
    constraint = tk.json_schema({"type": "object"}).compile(BYTE_VOCABULARY)
    names = [f'"n{i}":1' for i in range(50)]
    new_states = []
    for _ in range(3):
        matcher = constraint.matcher()
        write(matcher, "{" + ",".join(names) + ",")
        before = constraint.states
        write(matcher, '"last":[1,2,{"a":1}]}')
        new_states.append(constraint.states - before)
        random.Random(1).shuffle(names)
    assert new_states[0] > 0 == new_states[1] == new_states[2]


EQUAL: list[tuple[list[Any], str]] = [
    ([1, 2], "1.0"),
    (["a"], '"\\u0061"'),
    ([True], "true"),
    ([{"a": 1, "b": 2}], '{"b":2,"a":1.0}'),
    ([[1, "x"]], '[10e-1, "x"]'),
    ([0], "-0"),
    ([0], "0e17"),
    ([100], "1e2"),
    ([None], "null"),
    ([[]], "[ ]"),
    ([1.5], "15E-1"),
    ([{"a": {}}], '{"\\u0061":{}}'),
]


@pytest.mark.parametrize(("seen", "again"), EQUAL)
def test_an_equal_element_is_refused_however_it_is_spelled(seen: list[Any], again: str) -> None:
    constraint = tk.json_schema(UNIQUE, spelling="any", whitespace="any").compile(BYTE_VOCABULARY)
    for order in (seen, list(range(3, 60)) + seen):
        matcher = constraint.matcher()
        write(matcher, array([json.dumps(value) for value in order]).removesuffix("]"))
        assert not all(matcher.advance(byte) for byte in f", {again}]".encode())
