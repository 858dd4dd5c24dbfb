"""Declared names may be spelled in any way that JSON allows, with escapes for each character.

The judge lists all spellings of each name; for random texts it is ``json``.
"""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import tokamata as tk
from tests.support.masks import allowed
from tests.support.matchers import write
from tests.support.values.json_spellings import spellings, string_texts
from tests.support.vocabularies import BYTE_VOCABULARY

NAMES = ['"', "/", "\n", "\x01", "e", "é", "ê", "😀", "\u2028", "", "ea"]


def compiled(names: list[str], order: Any, others: bool) -> tk.CompiledConstraint[Any]:
    schema = {
        "type": "object",
        "properties": {name: {"const": number} for number, name in enumerate(names)},
        "additionalProperties": {"type": "null"} if others else False,
    }
    constraint = tk.json_schema(schema, property_order=order, whitespace="compact", spelling="any")
    return constraint.compile(BYTE_VOCABULARY)


@pytest.mark.parametrize("order", ["schema", "any"])
def test_all_spellings_and_nothing_else(order: Any) -> None:
    whole = {(text[1:] + ":").encode() for name in NAMES for text in string_texts(name)}
    matcher = compiled(NAMES, order, others=False).matcher()
    write(matcher, '{"')
    beginnings: dict[bytes, set[int]] = {}
    for text in whole:
        for length in range(len(text)):
            beginnings.setdefault(text[:length], set()).add(text[length])
    for beginning, expected in beginnings.items():
        at = matcher.fork()
        for byte in beginning:
            assert at.advance(byte)
        assert allowed(at) == expected, beginning


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("others", [False, True])
def test_random_spellings_mean_their_names(order: Any, others: bool) -> None:
    draw = random.Random(f"{order} {others}")
    names = ["name", "na/me", "né", "n😀", "nam", "other"]
    constraint = compiled(names, order, others)
    judged = 0
    for _ in range(300):
        chosen = sorted(draw.sample(range(len(names)), draw.randrange(1, 4)))
        pairs = []
        for number in chosen:
            spelled = "".join(draw.choice(spellings(character)) for character in names[number])
            if draw.random() < 0.3:  # a character is lost, or an escape is cut
                at = draw.randrange(len(spelled))
                spelled = spelled[:at] + spelled[at + 1 :]
            pairs.append(f'"{spelled}":{number}')
        text = "{" + ",".join(pairs) + "}"
        try:
            read = json.loads(text, object_pairs_hook=list)
        except json.JSONDecodeError:
            read = None
        expected = read is not None and all(
            (names[value] == name) if name in names else False for name, value in read
        )
        if expected:
            expected = len({name for name, _ in read}) == len(read)
        matcher = constraint.matcher()
        taken = all(matcher.advance(byte) for byte in text.encode())
        assert (taken and matcher.is_accepting) is expected, text
        judged += expected
    assert judged > 100


def test_no_name_is_written_twice_in_two_spellings() -> None:
    matcher = compiled(["a", "b"], "any", others=True).matcher()
    write(matcher, '{"\\u0061":0,"\\u00')
    assert ord("6") in allowed(matcher)  # b
    write(matcher, "6")
    assert allowed(matcher) & {ord("1"), ord("2")} == {ord("1"), ord("2")}  # another name may begin with a
    write(matcher, "1")
    assert ord('"') not in allowed(matcher)


@pytest.mark.parametrize("order", ["schema", "any"])
def test_required_names_are_near_an_end(order: Any) -> None:
    """The length that a state knows counts down along each required name, so that no search is needed."""
    names = [f"name_of_a_property_{number}" for number in range(20)]
    properties = {name: {"type": "integer"} for name in names}
    schema = {"type": "object", "properties": properties, "required": names}
    constraint = tk.json_schema(schema, property_order=order, whitespace="any", spelling="any")
    for begun in ("", '{"\\u006eame_of_a_prop', '{"name_of_a_property_7" '):
        repair = constraint.repair(begun, limits=tk.Limits(states=100_000))
        assert sorted(repair.value) == sorted(names)
        assert repair.cost == repair.lower_bound


def test_names_that_are_not_declared_are_kept_apart() -> None:
    """One alternative for each name that is read: in the relaxed rules a declared name is no other one."""
    names = [f"n{number}" for number in range(30)]
    schema = {"type": "object", "properties": {name: {"type": "integer"} for name in names}}
    text = "{" + ", ".join(f'"{name}": {number}' for number, name in enumerate(names))
    for order in ("schema", "any"):
        constraint = tk.json_schema(schema, property_order=order, whitespace="any", spelling="any")  # type: ignore[arg-type]
        repair = constraint.repair(text, limits=tk.Limits(states=20_000))
        assert repair.text == text + "}"
        assert repair.optimal
