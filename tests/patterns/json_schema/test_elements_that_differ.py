"""Sets of values that run out: every text that masks lead to, against every array that there is.

The sets are so small that both can be listed.  A text is followed byte by byte through all bits of its
masks; where it cannot be ended that is a dead end, and each array that the oracle takes must be among those
found.
"""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import pytest

import tokamata as tk
from tests.support.masks import allowed, has
from tests.support.schemas.kernel_oracle import oracle_of
from tests.support.vocabularies import BYTE_VOCABULARY

LETTERS = b'[]{}",:01234abcefhlnorstuy'
TOKENS: list[bytes | None] = [
    *(bytes([letter]) for letter in LETTERS),
    b'","',
    b"[1",
    b"],[",
    b'"a"',
    b"true,",
    None,
]
VOCABULARY = tk.Vocabulary.load(TOKENS, stop=[len(TOKENS) - 1])
# Each value has one text.
STYLE: dict[str, Any] = {"whitespace": "compact", "spelling": "plain"}
MOST_ELEMENTS = 4
SETS: list[Any] = [
    {"enum": [1]},
    {"enum": [1, 2]},
    {"enum": [2, "a", True]},
    {"enum": ["a", "b", [], {}]},
    {"type": "boolean"},
    {"type": ["null", "boolean"]},
    {"type": "integer", "minimum": 1, "maximum": 3},
    {"type": "string", "pattern": "^[ab]$"},
    {"type": "array", "items": {"enum": [1, 2]}, "maxItems": 1},
    {"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True, "minItems": 2, "maxItems": 2},
    {"type": "object", "properties": {"a": {"type": "boolean"}}, "additionalProperties": False},
    {"type": "object", "propertyNames": {"enum": ["a", "b"]}, "additionalProperties": {"const": 1}},
    {"anyOf": [{"const": 1}, {"type": "array", "minItems": 1, "maxItems": 1, "items": {"const": 1}}]},
    {"not": {"enum": [1, 2]}, "type": "integer", "minimum": 0, "maximum": 4},
]


def texts(schema: Any, most: int = 20_000) -> set[str]:
    """All texts of a schema that has finitely many, by the masks; each bit leads to one."""
    start = tk.json_schema(schema, **STYLE).compile(VOCABULARY).matcher()
    found: set[str] = set()
    open_: list[tk.Matcher] = [start]
    known: set[bytes] = set()
    while open_:
        matcher = open_.pop()
        live = allowed(matcher)
        assert live, f"a dead end after {matcher.text!r}"
        for token in live:
            after = matcher.fork()
            assert after.advance(token), (matcher.text, TOKENS[token])
            if after.text == matcher.text:
                found.add(matcher.text.decode())
            elif after.text not in known:
                known.add(after.text)
                open_.append(after)
        assert len(known) < most
    return found


def values(schema: Any) -> list[Any]:
    """All values of a set, out of those that the sets above have."""
    few: list[Any] = [None, True, False, 0, 1, 2, 3, 4, "a", "b", [], [1], [2], [1, 2], [2, 1], {}]
    few += [{"a": True}, {"a": False}, {"a": 1}, {"b": 1}, {"a": 1, "b": 1}]
    return list(filter(oracle_of(schema), few))


def canonical(text: str) -> str:
    return json.dumps(json.loads(text), sort_keys=True)


def arrays(schema: Any, sets: list[Any]) -> set[str]:
    """All arrays of up to so many elements that the schema takes, with elements of some sets."""
    candidates = {canonical(json.dumps(value)): value for one in sets for value in values(one)}
    holds = oracle_of(schema)
    found = set()
    for length in range(MOST_ELEMENTS + 1):
        for elements in itertools.product(candidates.values(), repeat=length):
            if holds(list(elements)):
                found.add(canonical(json.dumps(list(elements))))
    return found


def drawn(chance: random.Random) -> tuple[Any, list[Any]]:
    """A schema of arrays, and the sets of its elements."""
    sets = chance.sample(SETS, chance.choice((1, 1, 2)))
    rest = sets[0] if len(sets) == 1 else {"anyOf": sets}
    schema: dict[str, Any] = {"type": "array", "items": rest, "uniqueItems": chance.random() < 0.9}
    if chance.random() < 0.3:
        schema["prefixItems"] = [chance.choice(SETS) for _ in range(chance.randint(1, 2))]
        sets = [*sets, *schema["prefixItems"]]
    schema["maxItems"] = chance.randint(1, 3)
    schema["minItems"] = chance.randint(0, schema["maxItems"])
    if chance.random() < 0.5:
        schema["contains"] = chance.choice(SETS)
        schema["minContains"] = chance.randint(0, 2)
        if chance.random() < 0.4:
            schema["maxContains"] = chance.randint(max(1, schema["minContains"]), 2)
    if chance.random() < 0.15:
        del schema["uniqueItems"]
        schema["not"] = {"uniqueItems": True}
    elif chance.random() < 0.2:
        other = {"items": chance.choice([rest, True]), "minItems": chance.randint(0, 3)}
        schema["uniqueItems"] = False
        return {"allOf": [schema], "anyOf": [{"uniqueItems": True}, other]}, sets
    return schema, sets


@pytest.mark.parametrize("seed", range(50))
def test_all_arrays_of_small_sets(seed: int) -> None:
    schema, sets = drawn(random.Random(seed))
    expected = arrays(schema, sets)
    try:
        found = texts(schema)
    except tk.EmptyConstraintError:
        assert not expected, (schema, sorted(expected)[:3])
        return
    assert {canonical(text) for text in found} == expected, schema


NAMED: list[tuple[dict[str, Any], int]] = [
    ({"items": {"enum": [1, 2]}, "minItems": 3}, 0),
    ({"items": {"type": "boolean"}, "minItems": 2}, 2),
    ({"items": {"enum": [1, 2]}, "contains": {"const": 3}}, 0),
    ({"items": {"enum": [1, 1.0, 2]}, "minItems": 2}, 2),
    ({"prefixItems": [{"enum": [1, 2]}, {"const": 1}], "items": False, "minItems": 2}, 1),
    ({"prefixItems": [{"enum": [1, 2]}, {"enum": [1, 2]}, {"enum": [1, 2]}], "minItems": 3}, 0),
    ({"items": {"type": "integer", "minimum": 1, "maximum": 4}, "minItems": 4}, 24),
    ({"items": {"type": "integer", "minimum": 1, "maximum": 4}, "minItems": 5}, 0),
    ({"items": {"$ref": "#/$defs/nest"}, "minItems": 2, "$defs": {"nest": {"anyOf": [
        {"const": 1},
        {"type": "array", "items": {"$ref": "#/$defs/nest"}, "uniqueItems": True, "minItems": 2},
    ]}}}, 0),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("schema", "count"), NAMED)
def test_there_are_so_many(schema: dict[str, Any], count: int) -> None:
    whole = {"type": "array", "uniqueItems": True, **schema}
    if count == 0:
        with pytest.raises(tk.EmptyConstraintError):
            tk.json_schema(whole, **STYLE).compile(VOCABULARY)
    else:
        assert len(texts(whole)) == count


def test_many_values_are_counted_and_not_listed() -> None:
    """A thousand integers are enough for a thousand elements, and not for one more."""
    schema: dict[str, Any] = {"type": "array", "uniqueItems": True, "minItems": 10**3}
    schema["items"] = {"type": "integer", "minimum": 1, "maximum": 10**3}
    assert allowed(tk.json_schema(schema, **STYLE).compile(BYTE_VOCABULARY).matcher())
    schema["items"]["maximum"] -= 1
    with pytest.raises(tk.EmptyConstraintError):
        tk.json_schema(schema, **STYLE).compile(BYTE_VOCABULARY)


def test_undeclared_names_of_other_elements_come_in_any_order() -> None:
    text = '[{"b":1,"a":2},{"a":2,"c":1,"b":2}]'
    schema = {"uniqueItems": True}
    matcher = tk.json_schema(schema, whitespace="compact").compile(BYTE_VOCABULARY).matcher()
    for letter in text:
        assert matcher.advance(ord(letter)), matcher.text
    assert matcher.is_accepting


# ---- elements of which two must be equal ------------------------------------------------------

TWICE: dict[str, Any] = {"uniqueItems": True}
EQUAL: dict[str, dict[str, Any]] = {
    "of two": {"not": TWICE, "maxItems": 2},
    "of three": {"not": TWICE, "maxItems": 3},
    "if": {"if": TWICE, "then": False, "maxItems": 2},
    "else": {"if": TWICE, "then": {"maxItems": 0}, "else": {"maxItems": 2}},
    "first and last": {
        "prefixItems": [{"not": {"type": "null"}}, {"const": 5}, {"not": {"type": "null"}}],
        "items": False,
        "not": TWICE,
    },
    "or many that differ": {"anyOf": [{"not": TWICE, "maxItems": 2}, {**TWICE, "minItems": 3}]},
    "in each other": {
        "items": {"anyOf": [{"type": ["integer", "object", "string"]}, {"$ref": "#"}]},
        "not": TWICE,
        "minItems": 3,
        "maxItems": 3,
    },
}
ELEMENTS = ["[[", "[{", "[[[[[[[[", '{"a":[{"b":', '{"a":1,"b":[{}', '[{"a":1},{"b":', '"abcdefgh']


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("case", EQUAL)
def test_equal_elements_are_not_searched_for(case: str, element: str) -> None:
    """Each prefix of an element has a text that ends the array: the element, and the same again."""
    schema = {"type": "array", **EQUAL[case]}
    compiled = tk.json_schema(schema).compile(BYTE_VOCABULARY, limits=tk.Limits(states=3_000, seconds=20.0))
    matcher = compiled.matcher()
    for letter in ("[" + element).encode():
        assert letter in allowed(matcher)
        assert matcher.advance(letter)
    assert allowed(matcher)
    assert compiled.states < 1_000
    assert compiled.memory_bytes < 4_000_000


@pytest.mark.parametrize(
    "no_element",
    [
        False,
        {"const": 1, "type": "string"},
        {"const": [1], "not": {"type": "array"}},
        {"const": ["a", "b"], "not": {"minItems": 2}},
    ],
    ids=repr,
)
@pytest.mark.parametrize("repeats", [{"uniqueItems": True}, {"uniqueItems": True, "maxItems": 1}], ids=repr)
def test_no_element_repeats_where_there_is_none(no_element: Any, repeats: Any) -> None:
    """Such an array was begun, and the mask of its inside ended the process."""
    arrays = {"type": "array", "not": repeats, "items": no_element}
    with pytest.raises(tk.EmptyConstraintError):
        tk.json_schema(arrays).compile(BYTE_VOCABULARY)
    constraint = tk.json_schema({"anyOf": [{"type": "null"}, arrays]})
    assert constraint.shortest_text() == "null"
    assert allowed(constraint.compile(BYTE_VOCABULARY).matcher()) == {ord("n")}


@pytest.mark.parametrize("indent", [None, 2, "\t"])
def test_objects_that_differ_end_within_a_budget(indent: Any) -> None:
    """What follows an element that is begun may be a choice of layouts, after which nothing follows."""
    item = {"type": "object", "properties": {"n": {"type": "string"}, "x": {"type": "number"}}}
    compiled = tk.json_schema({"type": "array", "uniqueItems": True, "items": item}).compile(
        BYTE_VOCABULARY, limits=tk.Limits(seconds=20)
    )
    text = json.dumps([{"n": "k", "x": 14}, {"n": "k", "x": 14.25}], indent=indent).encode()
    matcher, row = compiled.matcher(), compiled.allocate_mask()[0]
    for place, byte in enumerate(text):
        matcher.fill_mask(row, budget=len(text) - place)
        assert has(row, byte)
        assert matcher.advance(byte)
    assert matcher.is_accepting
