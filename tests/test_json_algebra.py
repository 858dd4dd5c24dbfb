"""JSON among texts: the algebra of JSON constraints with others, against sets of texts made by Python."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tokamata as tk
from tests.support.masks import allowed
from tests.support.matchers import is_text_of
from tests.support.texts import all_texts
from tests.support.vocabularies import BYTE_VOCABULARY

ALPHABET = "[],1 \n"
SIZE = 4
LIMITS = tk.Limits(seconds=20.0)
ANY = tk.regex("(?s:.*)")
VALUES: list[Any] = [1, [], [1], [[1], 1], {"a": 1}, {"a": [1, {"b": []}]}, [{"a": 1}, {"a": [1]}]]
INDENTS: list[int | str | None] = [None, 1, 2, 4, 8, "\t"]
WRITTEN = sorted({json.dumps(value, indent=indent) for value in VALUES for indent in INDENTS})


def language(constraint: tk.Constraint) -> set[str]:
    """The texts of at most ``SIZE`` letters that the engine takes; on the way no mask is empty."""
    try:
        matcher = constraint.compile(BYTE_VOCABULARY, limits=LIMITS).matcher()
    except tk.EmptyConstraintError:
        return set()

    def texts(text: str) -> Iterator[str]:
        live = allowed(matcher)
        assert live, f"a dead end after {text!r}"
        if matcher.is_accepting:
            yield text
        if len(text) < SIZE:
            for letter in ALPHABET:
                assert matcher.advance(ord(letter)) == (ord(letter) in live)
                if ord(letter) in live:
                    yield from texts(text + letter)
                    matcher.rollback(1)

    return set(texts(""))


TEXTS = set(all_texts(ALPHABET, SIZE))


def accepts(constraint: tk.Constraint, text: str) -> bool:
    return is_text_of(constraint, text, limits=LIMITS)


# Lists of numbers: what else a value may hold lets the search for a live end grow without bound (see HARD).
LISTS = {
    "$ref": "#/$defs/value",
    "$defs": {
        "value": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#/$defs/value"}}]}
    },
}
JSON: dict[str, Callable[[], tk.JsonConstraint]] = {
    "compact": lambda: tk.json_schema(LISTS, whitespace="compact"),
    "natural": lambda: tk.json_schema(LISTS),
    "any": lambda: tk.json_schema(LISTS, whitespace="any", spelling="any"),
}
OTHERS = {"brackets": r"[\[\]]*", "one of few": r"\[1\]|1|\[ \]|\n", "no one": "[^1]*"}


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("kind", JSON)
def test_with_regular_constraints(kind: str, other: str) -> None:
    values, regular = JSON[kind](), tk.regex(OTHERS[other])
    ours, theirs = language(values), language(regular)
    assert language(values & regular) == language(regular & values) == ours & theirs
    assert language(values - regular) == ours - theirs
    assert language(regular - values) == theirs - ours
    assert language(values | regular) == ours | theirs
    assert language(~(values | regular)) == TEXTS - ours - theirs


@pytest.mark.parametrize("kind", ["natural", "any"])
def test_layouts_within_combinations(kind: str) -> None:
    """The width of an indent, chosen once, holds inside intersections and complements too."""
    values = JSON[kind]()
    for text in [
        *(one for one in WRITTEN if "{" not in one),
        "[\n  [\n      1\n  ]\n]",
        "[\n  1,\n   1\n]",
        "[\n\t1,\n 1]",
    ]:
        good = accepts(values, text)
        assert accepts(values & ANY, text) == good
        assert accepts(values - tk.literal("[]"), text) == (good and text != "[]")
        assert accepts(ANY - values, text) != good
        assert accepts(ANY - (ANY - values), text) == good


@pytest.mark.parametrize("kind", ["natural", "compact"])
def test_one_after_another(kind: str) -> None:
    """Each text chooses its own width."""
    values = JSON[kind]()
    lines = values.separated_by(tk.literal("\n--\n"), 2, 3)
    for first, second in itertools.product(WRITTEN[::2], repeat=2):
        good = accepts(values, first) and accepts(values, second)
        assert accepts(lines, f"{first}\n--\n{second}") == good, (first, second)
    for first, second in itertools.product(WRITTEN[::3], repeat=2):
        good = accepts(values, first) and accepts(values, second)
        assert accepts(values + tk.literal(";") + values, f"{first};{second}") == good
        assert accepts((values + tk.literal(";")).repeat(2), f"{first};{second};") == good
        assert accepts(values.optional() + tk.literal(";") + values, f"{first};{second}") == good


def test_repetitions() -> None:
    values = tk.json_schema({"enum": [[], True]})
    for text, count in (("", 0), ("[]", 1), ("true[]", 2), ("[][]true", 3), ("truetruetruetrue", 4)):
        for low, high in ((0, None), (1, None), (0, 1), (2, 2), (2, 3), (1, 1)):
            assert accepts(values.repeat(low, high), text) == (low <= count <= (high or 9))


# ---- depth ------------------------------------------------------------------------------------


def nested_at_most(depth: int) -> tk.Constraint:
    """Texts whose brackets are at most so deep; regular."""
    whole = flat = tk.regex(r"[^\[\]]*")
    for _ in range(depth):
        whole = flat + (tk.literal("[") + whole + tk.literal("]") + flat).repeat()
    return whole


def depth_of(value: Any) -> int:
    if isinstance(value, (list, dict)):
        inner = value.values() if isinstance(value, dict) else value
        return 1 + max(map(depth_of, inner), default=0)
    return 0


def most_items(value: Any) -> int:
    if isinstance(value, (list, dict)):
        inner = list(value.values()) if isinstance(value, dict) else value
        return max(len(inner), *map(most_items, inner), 0)
    return 0


@pytest.mark.parametrize("whitespace", ["compact", "natural"])
@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_the_truncated_form_is_the_recursive_one_nested_so_deep(depth: int, whitespace: Any) -> None:
    truncated, recursive = tk.json(max_depth=depth, whitespace=whitespace), tk.json(whitespace=whitespace)
    found = language(truncated)
    assert found == {text for text in language(recursive) if depth_of(json.loads(text)) <= depth}
    lists = tk.json_schema(LISTS, whitespace=whitespace)
    assert language(truncated & lists) == language(lists & nested_at_most(depth))
    for text in WRITTEN:
        good = accepts(recursive, text) and depth_of(json.loads(text)) <= depth
        assert accepts(truncated, text) == good


@pytest.mark.parametrize("depth", [None, 1, 3])
@pytest.mark.parametrize("items", [0, 1, 2])
def test_so_many_items(items: int, depth: int | None) -> None:
    bounded = tk.json(max_depth=depth, max_items=items, whitespace="compact")
    every = language(tk.json(whitespace="compact"))
    most = 99 if depth is None else depth
    expected = {
        text for text in every if most_items(json.loads(text)) <= items and depth_of(json.loads(text)) <= most
    }
    assert language(bounded) == expected
    for value in VALUES:
        good = most_items(value) <= items and depth_of(value) <= most
        assert accepts(bounded, json.dumps(value, separators=(",", ":"))) == good


# ---- bounds -----------------------------------------------------------------------------------

UNIQUE = {"type": "array", "uniqueItems": True}
HARD: dict[str, Callable[[], tk.Constraint]] = {
    "elements that differ, and a regex": lambda: tk.json_schema(UNIQUE) & tk.regex("[^b]*"),
    "not elements that differ": lambda: tk.regex(".*") - tk.json_schema(UNIQUE),
    "long texts": lambda: tk.json() & tk.regex(r"(?s:.{1000,})"),
    "deep texts": lambda: tk.json() & tk.regex(r"\[{300,}.*"),
    "differ by text": lambda: (tk.json() | tk.literal("x")) & (tk.json_schema(UNIQUE) | tk.literal("y")),
    "two after another": lambda: (tk.json() + tk.json()) & tk.regex(r".*\]\["),
    "nothing in common": lambda: tk.json() & tk.regex("[x-z]+"),
    "no complement": lambda: ~tk.json(),
    "multiples": lambda: tk.json_schema({"multipleOf": 7}) & tk.regex("[0-9]{30,}3"),
    "counted brackets": lambda: tk.json() & tk.regex(r"(?:\[{2})*1(?:\]{3})*"),
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", HARD)
def test_hard_combinations_end(name: str) -> None:
    """In masks, or in a typed error."""
    constraint = HARD[name]()
    try:
        matcher = constraint.compile(BYTE_VOCABULARY, limits=tk.Limits(seconds=1.5)).matcher()
        for _ in range(30):
            live = allowed(matcher) - {256}
            assert live or matcher.is_accepting
            if not live:
                break
            assert matcher.advance(min(live))
    except (tk.LimitExceeded, tk.EmptyConstraintError, tk.AlgebraError):
        pass


def test_differences_of_text_and_json() -> None:
    assert (tk.json_schema({"type": "boolean"}) - tk.regex("t.*")).shortest_text() == "false"
    assert (tk.regex("true|1|x") - tk.json()).shortest_text() == "x"
    assert tk.json_schema({"enum": ["a", None]}).is_equivalent_to(tk.regex('"a"|null'))


def test_any_json_goes_with_schemas_in_either_order() -> None:
    schema = {"properties": {"b": {"type": "integer"}, "a": {"type": "null"}}, "type": "object"}
    for order in ("schema", "any"):
        values = tk.json_schema(schema, property_order=order, whitespace="compact")
        flat = tk.json(max_depth=1, whitespace="compact")
        for both in (values & flat, flat & values, values - ~flat):
            assert isinstance(both, tk.JsonConstraint)
            assert both.style == values.style
            assert accepts(both, '{"b":1,"a":null}')
            assert accepts(both, '{"a":null,"b":1}')
            assert not accepts(both, '{"b":1,"c":[]}')
    with pytest.raises(tk.AlgebraError, match="different styles"):
        tk.json_schema(schema) & tk.json(whitespace="compact")
