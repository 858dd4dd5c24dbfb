"""The values of texts: the table of ``tokamata.values.forms``, and an oracle that tries all splits."""

from __future__ import annotations

import copy
import itertools
import pickle
import random
import re
from dataclasses import dataclass
from typing import Any

import pytest

import tokamata as tk
from tests.support.texts import all_texts
from tests.support.values.composed import ALPHABET, Composed, drawn, same

SHORT = all_texts(ALPHABET, 4)
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}
AGE = {"type": "integer"}


@dataclass
class Person:
    name: str
    age: int


def search(query: str, limit: int = 10) -> None:
    """Searches."""


# ---- the table, row by row ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("constraint", "text", "value"),
    [
        (tk.literal("é"), "é", "é"),
        (tk.text_until("</think>"), "Hm.</think>", "Hm.</think>"),
        (~tk.literal("a"), "b", "b"),
        (tk.quoted_text(), '"a"', '"a"'),
        (tk.regex("[0-9]+"), "12", "12"),
        (tk.json_schema(AGE), "12", 12),
        (tk.json(), "[1, null]", [1, None]),
        (tk.type(Person), '{"name": "Ann", "age": 3}', Person("Ann", 3)),
        (tk.type(Person, syntax="python"), "Person(name='Ann', age=3)", Person("Ann", 3)),
        (tk.type(list[int], syntax="python"), "[1, 2]", [1, 2]),
        (tk.literal("a") + tk.json() + tk.literal("b"), "a[1]b", ("a", [1], "b")),
        (tk.json_schema(AGE) | tk.regex(".*"), "12", 12),
        (tk.regex(".*") | tk.json_schema(AGE), "12", "12"),
        (tk.choice(["yes", "no"]), "no", "no"),
        (tk.choice([tk.json_schema(AGE), tk.literal("none")]), "7", 7),
        (tk.choice(["none", tk.json_schema(AGE)]), "7", 7),
        (tk.type(int).repeat(2, 2), "12", [1, 2]),
        (tk.type(int).separated_by(tk.literal("; ")), "12; 3", [12, 3]),
        (tk.type(int).separated_by(tk.literal("; "), 0), "", []),
        (tk.type(int).separated_by(tk.literal("; "), 0, 0), "", []),
        (tk.type(int).optional(), "5", 5),
        (tk.type(int).optional(), "", None),
        (tk.regex("a*").optional(), "", ""),
        (tk.type(int) & tk.regex("1.*"), "12", 12),
        (tk.type(int) - tk.regex("1"), "12", 12),
        (tk.json_schema(AGE) & tk.json_schema({"minimum": 3}), "12", 12),
        (tk.delimited_subsequence_of([tk.type(int), tk.literal("x")], tk.literal(",")), "4,x", [4, "x"]),
        (tk.delimited_subsequence_of([tk.type(int), tk.literal("x")], tk.literal(",")), "x", [None, "x"]),
        (tk.response_format({"type": "text"}), "any\ntext", "any\ntext"),
        (tk.response_format({"type": "json_object"}), '{"a": 1}', {"a": 1}),
    ],
)
def test_the_table(constraint: tk.Constraint[Any], text: str, value: Any) -> None:
    found = constraint.parse(text)
    assert found == value
    assert constraint.parse(text.encode()) == value
    assert type(found) in (type(value), tk.Match, tk.Parts)


def test_tool_calls_between_marks() -> None:
    call = tk.literal("<tool_call>") + tk.tool_call([search]) + tk.literal("</tool_call>")
    text = '<tool_call>{"name": "search", "arguments": {"query": "x"}}</tool_call>'
    _, found, _ = call.parse(text)
    assert isinstance(found, tk.ToolCall)
    assert (found.name, found.arguments["query"]) == ("search", "x")


def test_thinking_first() -> None:
    constraint = tk.text_until("</think>").captured("thought") + tk.type(Person).captured("answer")
    parts = constraint.parse('{"name": 1}</think>{"name": "Ann", "age": 3}')
    assert parts.thought == '{"name": 1}</think>'
    assert parts.answer == Person("Ann", 3)


def test_schemas_as_alternatives() -> None:
    either = tk.json_schema(PERSON) | tk.json_schema(AGE)
    assert either.parse('{"name": "x"}') == {"name": "x"}
    assert either.parse("3") == 3
    with pytest.raises(tk.ParseError):
        either.parse('"x"')


def test_control_tokens_are_not_in_the_text() -> None:
    image = tk.control_token("<image>").captured("image")
    parts = (tk.literal("see ") + image + tk.regex("[a-z]+")).parse("see this")
    assert tuple(parts) == ("see ", "", "this")
    assert parts.image == ""
    assert tk.control_token("<image>").repeat(3, 3).parse("") == ["", "", ""]
    assert tk.control_token("<image>").repeat().parse("") == []


def test_a_part_with_a_control_token_in_it_is_as_long_as_it_can_be() -> None:
    marked = tk.regex("a") + (tk.control_token("<x>") + tk.regex("b*")).optional()
    assert (marked + tk.regex("b*")).parse("abb") == ("a", ("", "bb"), "")
    assert (marked.repeat(1, 1) + tk.regex("b*")).parse("abb") == ([("a", ("", "bb"))], "")


def test_tokens_are_cut_between_code_points() -> None:
    two = tk.text_token() + tk.text_token()
    assert two.parse("aé") == ("a", "é")
    assert two.parse("abc") == ("ab", "c")
    with pytest.raises(tk.ParseError, match="code point"):  # two tokens may write it; no str is half of it
        two.parse("é")


# ---- against the oracle ---------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_random_compositions(seed: int) -> None:
    draw = random.Random(seed)
    accepted = 0
    for _ in range(60):
        composed = drawn(draw, draw.randint(1, 4))
        for text in draw.sample(SHORT, 25):
            if not composed.accepts(text):
                with pytest.raises(tk.ParseError):
                    composed.constraint.parse(text)
                continue
            accepted += 1
            found = composed.constraint.parse(text)
            assert same(found, composed.value(text)[0]), (composed.constraint, text, found)
    assert accepted > 100


@pytest.mark.parametrize("seed", range(6))
def test_a_part_is_parsed_as_if_it_were_alone(seed: int) -> None:
    draw = random.Random(100 + seed)
    for _ in range(60):
        names = (f"name{number}" for number in itertools.count())
        a, b = drawn(draw, 2, names), drawn(draw, 2, names)
        if "+" in (a.kind, b.kind):
            continue
        pair = Composed(a.constraint + b.constraint, "+", [a, b])
        for text in draw.sample(SHORT, 10):
            if pair.accepts(text):
                (_, one), (_, two) = pair.pieces(text)
                assert pair.constraint.parse(text) == (a.constraint.parse(one), b.constraint.parse(two))


def uses_sets(composed: Composed) -> bool:
    """Whether it has an operator whose result may be empty without the engine's noticing."""
    return composed.kind in "&-~" or any(map(uses_sets, composed.parts))


@pytest.mark.parametrize("seed", range(6))
def test_the_place_of_an_error_is_where_texts_part(seed: int) -> None:
    """The longest beginning that a text has; with ``&``, ``-`` and ``~`` it may be said to be longer."""
    draw = random.Random(200 + seed)
    longer = all_texts(ALPHABET, 6)
    told = 0
    for _ in range(100):
        composed = drawn(draw, draw.randint(0, 3))
        if uses_sets(composed) or composed.needs() > 6:
            continue
        for text in draw.sample(SHORT, 6):
            if composed.accepts(text):
                continue
            with pytest.raises(tk.ParseError) as caught:
                composed.constraint.parse(text)
            place = int(caught.value.place.removeprefix("byte "))
            assert place == len(text) or not any(composed.accepts(text[: place + 1] + rest) for rest in SHORT)
            assert any(composed.accepts(text[:place] + rest) for rest in longer)
            told += 1
    assert told > 50


def test_places_count_bytes() -> None:
    with pytest.raises(tk.ParseError) as caught:
        (tk.literal("é") + tk.regex("[a-z]")).parse("é1")
    assert caught.value.place == "byte 2"
    with pytest.raises(tk.ParseError, match="not complete"):
        (tk.literal("a") + tk.literal("b")).parse("a")
    with pytest.raises(tk.ParseError, match="UTF-8"):
        tk.regex(".*").parse(b"\xff")
    with pytest.raises(tk.ParseError, match="surrogate"):
        tk.regex(".*").parse("\ud800")


# ---- lists ------------------------------------------------------------------------------------------


def test_lists_have_no_empty_items_but_those_that_are_owed() -> None:
    some = tk.regex("a*")
    assert some.repeat().parse("aa") == ["aa"]
    assert some.repeat().parse("") == []
    assert some.repeat(3).parse("aa") == ["aa", "", ""]
    assert some.repeat(2, 5).parse("") == ["", ""]
    assert some.separated_by(tk.literal(",")).parse("a,,a") == ["a", "", "a"]
    assert tk.regex("a").optional().repeat().parse("a") == ["a"]


# ---- names ------------------------------------------------------------------------------------------


def test_captured_names() -> None:
    a, b = tk.regex("a").captured("x"), tk.regex("b").captured("y")
    parts = ((a | b) + tk.regex("c")).parse("bc")
    assert (parts.x, parts.y) == (None, "b")
    assert parts.asdict() == {"x": None, "y": "b"}
    inner = (a + b).captured("pair")
    parts = (inner + tk.regex("c").captured("x")).parse("abc")
    assert (parts.pair.x, parts.pair.y, parts.x) == ("a", "b", "c")
    assert (a.optional() + b).parse("b").x is None
    assert ((a & tk.regex("[ab]")) + (b - tk.regex("c"))).parse("ab").y == "b"
    assert a.captured("again").parse("a") == "a"
    assert (a.captured("again") + b).parse("ab").asdict() == {"again": "a", "x": "a", "y": "b"}
    lists = ((a + b).repeat() + tk.regex("c").captured("x")).parse("ababc")
    assert [one.x for one in lists[0]] == ["a", "a"]


def test_chains_are_captured_before_anything_else_asks_for_them() -> None:
    for chain in (
        tk.regex("a") + tk.regex("b"),
        tk.regex("ab") | tk.regex("b"),
        tk.regex("..") & tk.regex("ab"),
    ):
        assert (chain.captured("x") + tk.literal("c")).parse("abc").x in (("a", "b"), "ab")


@pytest.mark.parametrize("name", ["", "1a", "a b", "_a", "index", "count", "asdict", "class", "é b", None, 3])
def test_names_that_are_refused(name: Any) -> None:
    with pytest.raises(tk.ArgumentError):
        tk.regex("a").captured(name)


def test_names_that_are_taken() -> None:
    one = tk.regex("a").captured("x")
    for other in (
        one,
        one | tk.regex("b"),
        one.optional(),
        one.captured("y"),
        one & tk.regex("a"),
        tk.regex("b") + one,
    ):
        with pytest.raises(tk.ArgumentError, match="'x'"):
            _ = one + other
    with pytest.raises(tk.ArgumentError):
        one.captured("x")
    _ = one | one
    _ = one + (tk.regex("b") & one)  # the value of & is that of its left side


# ---- reports ----------------------------------------------------------------------------------------


def test_reports_of_compositions() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer", "title": "A"}}}
    alone = {entry.pointer for entry in tk.json_schema(schema).report()}
    assert alone
    made = tk.literal("x") + tk.json_schema(schema).captured("first") + tk.json_schema(schema)
    assert {entry.pointer for entry in made.report()} == {
        f"/{at}{one}" for at in ("first", 2) for one in alone
    }
    assert {entry.pointer for entry in tk.json_schema(schema).separated_by(tk.literal(",")).report()} == alone
    assert {entry.pointer for entry in tk.json_schema(schema).repeat(1, 2).report()} == alone
    assert {entry.pointer for entry in tk.json_schema(schema).optional().report()} == alone
    either = tk.json_schema(schema) | tk.json_schema(schema)
    assert {entry.pointer for entry in either.report()} == {f"/{at}{one}" for at in (0, 1) for one in alone}
    assert tk.regex("a").report() == []


# ---- Match and Parts --------------------------------------------------------------------------------


def test_matches_are_texts() -> None:
    match = tk.regex("(?P<year>[0-9]{4})(-(?P<month>[0-9]{2}))?").parse("2026")
    assert match == "2026"
    assert hash(match) == hash("2026")
    assert repr(match) == "'2026'"
    assert {match: 1}["2026"] == 1
    assert match.groupdict() == {"year": "2026", "month": None}
    assert (match["year"], match["month"], match[0], match[-2:]) == ("2026", None, "2", "26")
    with pytest.raises(IndexError, match="year, month"):
        match["day"]
    with pytest.raises(IndexError):
        match[10]
    for twin in (
        copy.copy(match),
        copy.deepcopy(match),
        *(pickle.loads(pickle.dumps(match, n)) for n in range(6)),
    ):
        assert type(twin) is tk.Match
        assert twin == match
        assert twin.groupdict() == match.groupdict()
    match.groupdict()["year"] = "1"
    assert match["year"] == "2026"
    assert tk.regex("a").parse("a").groupdict() == {}


def test_parts_are_tuples() -> None:
    constraint = tk.literal("a").captured("first") + tk.type(int)
    parts = constraint.parse("a1")
    assert parts == ("a", 1)
    assert hash(parts) == hash(("a", 1))
    assert repr(parts) == "Parts(('a', 1), first='a')"
    assert "first" in dir(parts)
    assert parts.asdict() == {"first": "a"}
    with pytest.raises(AttributeError, match="'second'"):
        _ = parts.second
    with pytest.raises(IndexError):
        _ = parts[2]
    for twin in (
        copy.copy(parts),
        copy.deepcopy(parts),
        *(pickle.loads(pickle.dumps(parts, n)) for n in range(6)),
    ):
        assert type(twin) is tk.Parts
        assert twin == parts
        assert twin.first == "a"
    nested = (constraint.captured("pair") + tk.literal("!")).parse("a1!")
    assert pickle.loads(pickle.dumps(nested)).pair.first == "a"
    assert repr(nested) == "Parts((Parts(('a', 1), first='a'), '!'), pair=Parts(('a', 1), first='a'))"


# ---- sizes ------------------------------------------------------------------------------------------


def grown(levels: int) -> tk.Constraint[Any]:
    constraint: tk.Constraint[Any] = tk.literal("a")
    for level in range(levels):
        other = tk.literal("b")
        constraint = (constraint + other, constraint | other, constraint.optional(), constraint & ~other)[
            level % 4
        ]
    return constraint


@pytest.mark.parametrize("levels", [100, 160, 240, 320, 480])
def test_levels_of_chains_alone(levels: int, byte_vocabulary: tk.Vocabulary) -> None:
    """Their forms are made when a chain becomes a part, not all at once at the end."""
    constraint: tk.Constraint[Any] = tk.literal("a")
    for level in range(levels):
        other = tk.literal("b")
        constraint = (constraint + other, constraint | other, constraint & tk.regex("(?s:.*)"))[level % 3]
    text = "a" + "b" * len(range(0, levels, 3))
    for ask in (
        lambda: constraint.captured("x"),
        lambda: constraint.repeat(),
        lambda: constraint.parse(text),
        lambda: constraint.compile(byte_vocabulary).matcher().events(),
    ):
        try:
            ask()
        except (tk.LimitExceeded, tk.ParseError):
            assert levels > 200


@pytest.mark.parametrize("levels", [40, 150, 300, 450, 500, 5_000])
def test_many_levels_give_a_value_or_a_typed_error(levels: int, byte_vocabulary: tk.Vocabulary) -> None:
    try:
        constraint = grown(levels)
        text = constraint.shortest_text()
        assert text is not None
    except tk.LimitExceeded:
        assert levels > 40
        return
    for ask in (
        lambda: constraint.parse(text),
        lambda: constraint.captured("x") + tk.literal("c"),
        lambda: constraint.compile(byte_vocabulary).matcher().events(),
        constraint.report,
    ):
        try:
            ask()
        except (tk.LimitExceeded, tk.ParseError):
            assert levels > 40


def test_long_chains() -> None:
    chain = tk.literal("a")
    for _ in range(9_999):
        chain = chain + tk.literal("a")
    assert chain.parse("a" * 10_000) == ("a",) * 10_000
    either = tk.literal("0")
    for number in range(1, 10_000):
        either = either | tk.literal(str(number))
    assert either.parse("9999") == "9999"
    assert tk.choice([tk.regex(str(number)) for number in range(10_000)]).parse("9999") == "9999"


def test_long_lists() -> None:
    assert tk.regex("a").repeat().parse("a" * 100_000) == ["a"] * 100_000
    assert tk.regex("a+").separated_by(tk.literal(",")).parse(",".join(["aa"] * 10_000)) == ["aa"] * 10_000
    assert tk.regex("a").repeat(0, 10**6).parse("a" * 1000) == ["a"] * 1000
    with pytest.raises(tk.ParseError):
        tk.regex("a").repeat(0, 1000).parse("a" * 1001)


def test_bounds_on_items_whose_borders_are_uncertain_are_no_reason_to_try_all_counts() -> None:
    """One thread for each count of turns would take some 10^9 steps."""
    limits = tk.Limits(seconds=20)
    assert tk.regex("a+").repeat(0, 10**6).parse("a" * 50_000, limits=limits) == ["a" * 50_000]
    assert tk.regex("a+").repeat(2, 10**6).parse("a" * 50_000, limits=limits) == ["a" * 49_999, "a"]


def test_limits_and_cancelling() -> None:
    constraint = tk.regex("[a-z]*").captured("x") + tk.regex("[a-z]*") + tk.regex("(ab|ba|a|b)*")
    with pytest.raises(tk.LimitExceeded):
        constraint.parse("ab" * 1000, limits=tk.Limits(states=2))
    cancel = tk.CancelToken()
    cancel.cancel()
    with pytest.raises(tk.Cancelled):
        constraint.parse("ab" * 1000, cancel=cancel)


# ---- where else values are requested -----------------------------------------------------------------


def test_compiled_constraints_parse(byte_vocabulary: tk.Vocabulary) -> None:
    constraint = tk.text_until(":") + tk.json_schema(AGE).captured("age")
    assert constraint.compile(byte_vocabulary).parse("age:3").age == 3
    with pytest.raises(tk.ParseError):
        constraint.compile(byte_vocabulary).parse("age:x")


def test_the_oracle_knows_what_re_knows() -> None:
    """Alternatives and sequences of regular expressions, as one regular expression with groups."""
    for first, second in (("a*", "ab?"), ("a|ab", "c|bcd?"), ("[ab]*", "[abc]*")):
        pair = tk.regex(first) + tk.regex(second)
        longest = re.compile(f"(?P<a>{first})(?P<b>{second})")
        for text in all_texts(ALPHABET, 4):
            match = longest.fullmatch(text)
            if match and first != "a|ab":
                assert pair.parse(text) == (match["a"], match["b"])
