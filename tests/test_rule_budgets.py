"""Budgets and shortest completions where values nest without end: JSON and types that hold themselves.

They agree with a search by breadth over the tokens that masks allow, in which texts that go on alike are
one.  Masks themselves are judged elsewhere.
"""

from __future__ import annotations

import json
import random
import re
from typing import Any

import numpy as np
import pytest

import tokamata as tk
from tests.support.masks import allowed, bits
from tests.support.matchers import write
from tests.support.vocabularies import BYTES, bytes_and

LONGER = ['":', '":0}', '"}', "]]", "]]]", "}}", "}]", "[[", ',"', '":{', "}}]", '",', '":[', "[]", "{}"]
LONGER += ['{"', '""', '"a":', "0]", ",1]]]", ",[", 'a"', 'b"]', '":1}}', "],", '"]', ",0]", "ab", '"]}']
LONGER += [':""', "1,"]
USED = '[]{},:"ab01'  # single bytes that the search follows

NAME_AND_TAGS = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}},
    "required": ["name", "tags"],
}
TREE = {
    "$defs": {
        "tree": {
            "type": "object",
            "properties": {
                "a": {"type": "integer"},
                "b": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
            },
            "required": ["a", "b"],
            "additionalProperties": False,
        }
    },
    "$ref": "#/$defs/tree",
}
LINKED = {
    "$defs": {
        "list": {
            "anyOf": [
                {"type": "integer"},
                {
                    "type": "object",
                    "properties": {"a": {"$ref": "#/$defs/list"}},
                    "required": ["a"],
                    "additionalProperties": False,
                },
            ]
        }
    },
    "$ref": "#/$defs/list",
}
UNIQUE = {"type": "array", "uniqueItems": True, "items": {"type": "string"}}
SCHEMAS: dict[str, Any] = {
    "anything": True,
    "object": {"type": "object"},
    "unique strings": UNIQUE,
    "unique and many": {**UNIQUE, "minItems": 2},
    "name and tags": NAME_AND_TAGS,
    "tree": TREE,
    "linked": LINKED,
    "two at least": {"type": "array", "minItems": 2},
    "required": {"type": "object", "required": ["a", "b"]},
    "names of one letter": {
        "type": "object",
        "patternProperties": {"^[ab]$": {"type": "array"}},
        "additionalProperties": False,
    },
    "either": {"anyOf": [{"type": "array", "items": {"type": "array"}}, {"type": "object"}]},
}


def vocabulary_of(longer: list[str]) -> tk.Vocabulary:
    return bytes_and(*(text.encode() for text in longer))


def compiled_for(schema: Any, longer: list[str], **keywords: Any) -> tk.CompiledConstraint:
    constraint = tk.json_schema(schema, whitespace="compact", property_order="any")
    return constraint.compile(vocabulary_of(longer), **keywords)


def signature(text: str) -> object:
    """Equal for texts that go on alike: whole values are left out unless others must differ from them."""
    open_parts: list[list[Any]] = [["", [], []]]  # bracket, members or elements so far, the one under way
    for part in re.findall(r'"(?:[^"\\]|\\.)*"?|[\[\]{},:]|[^\[\]{},:"]+', text):
        if part in "[{":
            open_parts.append([part, [], []])
        elif part in "]}":
            bracket, items, under_way = open_parts.pop()
            open_parts[-1][2].append(f"{bracket}{items}{under_way}")
        elif part == ",":
            top = open_parts[-1]
            top[1].append(top[2][0])  # the name, or all of an element
            top[2] = []
        else:
            open_parts[-1][2].append(part)

    def told(bracket: str, items: list[str], under_way: list[str]) -> object:
        *before, last = under_way or [""]
        is_whole = len(last) > 1 and last[0] in '"[{' and last[-1] in '"]}'
        is_name = bracket == "{" and not before
        end = ("whole", last if is_name or bracket == "[" else "") if is_whole else ("part", last)
        return bracket, frozenset(items) if bracket == "{" else tuple(sorted(items)), tuple(before), end

    return tuple(told(*part) for part in open_parts)


MOST_PLACES = 250


def fewest(matcher: tk.Matcher, followed: list[int]) -> tuple[int, bool]:
    """The length of a shortest completion, and that it was found; or no completion is shorter than that."""
    if matcher.is_accepting:
        return 0, True
    length, seen, layer = 0, {signature(matcher.text.decode())}, [matcher]
    while len(seen) < MOST_PLACES:
        length, reached = length + 1, []
        for place in layer:
            for token in allowed(place).intersection(followed):
                after = place.fork()
                assert after.advance(token)
                if after.is_accepting:
                    return length, True
                kind = signature(after.text.decode())
                if kind not in seen:
                    seen.add(kind)
                    reached.append(after)
        layer = reached
    return length + 1, False


def within(matcher: tk.Matcher, budget: int) -> set[int] | tk.BudgetError:
    row = np.zeros_like(matcher.mask)
    try:
        matcher.fill_mask(row, budget=budget)
    except tk.BudgetError as error:
        return error
    return bits(row)


def check_needed(matcher: tk.Matcher) -> int:
    """The shortest completion leads to the end, and the least budget is its length."""
    completion = matcher.shortest_completion()
    after = matcher.fork()
    for token in completion:
        assert not after.is_accepting
        assert after.advance(token)
    assert after.is_accepting
    if completion:
        error = within(matcher, len(completion) - 1) if len(completion) > 1 else None
        assert error is None or (isinstance(error, tk.BudgetError) and error.needed == len(completion))
        found = within(matcher, len(completion))
        assert isinstance(found, set)
        assert completion[0] in found
    return len(completion)


def walk_within(matcher: tk.Matcher, budget: int, draw: random.Random) -> None:
    """Whatever the masks allow ends in an accepted text within the budget, and every mask is one."""
    matcher = matcher.fork()
    for left in range(budget, 0, -1):
        found = within(matcher, left)
        assert isinstance(found, set), (matcher.text, left, found)
        assert found <= allowed(matcher)
        tokens = sorted(found - set(matcher.compiled.vocabulary.stop))
        if not tokens:
            break
        assert matcher.advance(draw.choice(tokens))
    assert matcher.is_accepting, (matcher.text, budget)


def random_place(compiled: tk.CompiledConstraint, followed: list[int], draw: random.Random) -> tk.Matcher:
    matcher = compiled.matcher()
    for _ in range(draw.randrange(7)):
        tokens = sorted(allowed(matcher) & set(followed))
        if not tokens:
            break
        assert matcher.advance(draw.choice(tokens))
    return matcher


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", SCHEMAS)
def test_budgets_agree_with_a_search_through_masks(name: str, seed: int) -> None:
    draw = random.Random(f"{name} {seed}")
    longer = draw.sample(LONGER, draw.randint(3, 14))
    compiled = compiled_for(SCHEMAS[name], longer)
    followed = [ord(byte) for byte in USED] + list(range(256, 256 + len(longer)))
    for _ in range(4):
        matcher = random_place(compiled, followed, draw)
        needed = check_needed(matcher)
        expected, is_found = fewest(matcher, followed)
        assert needed == expected if is_found else needed >= expected, (matcher.text, longer)
        for slack in (0, 1, 2, 5, 9):
            walk_within(matcher, needed + slack, draw)


@pytest.mark.parametrize("taken", [1, 3, 60])
def test_names_and_elements_that_are_taken(taken: int) -> None:
    """The shortest name is there already, and so are others: the end of the budget is a text all the same."""
    draw = random.Random(taken)
    words = ["", *(chr(code) for code in range(0x20, 0x7F) if chr(code) not in '"\\')][:taken]
    for schema, front, item in (
        ({"type": "object"}, "{", '"{}":0'),
        (UNIQUE, "[", '"{}"'),
        ({"type": "array", "uniqueItems": True}, "[", "[{}]"),
    ):
        items = [item.format(word if '"' in item else number) for number, word in enumerate(words)]
        compiled = compiled_for(schema, [",,", "ab", "a"])
        matcher = compiled.matcher()
        write(matcher, front + ",".join(items) + "," + item[0])
        needed = check_needed(matcher)
        for slack in (0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 12):
            walk_within(matcher, needed + slack, draw)


@pytest.mark.parametrize(
    ("schema", "front", "unit", "back"),
    [
        (True, "", "[", "]"),
        (True, "", '{"a":', "}"),
        (TREE, '{"a":1,"b":[', '{"a":1,"b":[', "]}"),
        (LINKED, "", '{"a":', "}"),
        ({**UNIQUE, "items": {"$ref": "#"}}, "", "[", "]"),
    ],
    ids=["arrays", "objects", "trees", "linked", "unique"],
)
def test_deep_texts_end_at_once(schema: Any, front: str, unit: str, back: str) -> None:
    """What is forced costs no search, and as much for each bracket at any depth."""
    made = {}
    for depth in (10, 100, 1000, 10_000):
        if "uniqueItems" in str(schema) and depth > 10:
            break  # each bracket is within an element that is kept
        limits = tk.Limits(seconds=60, memory_bytes=400_000_000, depth=100_000)
        compiled = compiled_for(schema, ["]]]]", "}}", "]}]", "]}"], limits=limits)
        matcher = compiled.matcher()
        write(matcher, front + unit * depth)
        before = compiled.memory_bytes
        tokens = matcher.shortest_completion()
        made[depth] = compiled.memory_bytes - before
        closed = b"".join(compiled.vocabulary[token] or b"" for token in tokens).decode()
        assert closed.endswith(back * (depth - 1))
        assert len(tokens) <= len(back) * depth / 2 + 3 or back == "}"
        assert check_needed(matcher) == len(tokens)
    deepest = max(made)
    if deepest == 10_000:
        assert made[10_000] <= 12 * made[1000] + 60_000_000


def test_long_names_in_any_order() -> None:
    """Each byte of a declared name is a step towards the end, though any other name may stand there too."""
    made = {}
    for length in (10, 20, 40):
        names = [letter * length for letter in "abc"]
        schema = {
            "type": "object",
            "required": names,
            "properties": {name: {"type": "integer"} for name in names},
        }
        compiled = compiled_for(schema, [], limits=tk.Limits(seconds=60))
        matcher = compiled.matcher()
        text = bytes(matcher.shortest_completion()).decode()
        assert json.loads(text) == dict.fromkeys(names, 0)
        assert len(text) == 3 * length + 16
        made[length] = compiled.states
    assert made[40] <= 5 * made[10]


def test_small_budgets_are_answered() -> None:
    """The cases that once searched until a limit, and the mask that raised it."""
    compiled = compiled_for(NAME_AND_TAGS, LONGER, limits=tk.Limits(seconds=30, memory_bytes=64_000_000))
    matcher = compiled.matcher()
    needed = check_needed(matcher)
    error = within(matcher, 3)
    assert isinstance(error, tk.BudgetError)
    assert error.needed == needed


@pytest.mark.parametrize(
    "before", [tk.text_until("</t>"), tk.regex("[a-z]*!"), tk.regex("[^<]{0,20}</t>")], ids=repr
)
@pytest.mark.parametrize("longer", [(), ("ab", "!a", "t>", "></", "</t>{")], ids=len)
def test_a_text_before_the_json_leaves_room_for_it(before: Any, longer: tuple[str, ...]) -> None:
    """Tokens that stay in the text before were taken whatever the JSON needed."""
    constraint = before + tk.json_schema({"const": {"a": "bcd"}})
    tokens = [*BYTES, *(text.encode() for text in longer), None]
    vocabulary = tk.Vocabulary.load(tokens, stop=[256 + len(longer)])
    compiled = constraint.compile(vocabulary)
    needed = len(compiled.matcher().shortest_completion())
    error = within(compiled.matcher(), needed - 1)
    assert isinstance(error, tk.BudgetError)
    source = random.Random(1)
    for budget in (needed, needed + 1, needed + 5, needed + 20):
        matcher = compiled.matcher()
        for left in range(budget, 0, -1):
            mask = within(matcher, left)
            assert not isinstance(mask, tk.BudgetError), (matcher.text, left)
            assert matcher.advance(source.choice(sorted(mask)))
            if matcher.is_finished:
                break
        assert matcher.is_accepting


@pytest.mark.parametrize(
    ("string", "text"),
    [
        ({"format": "date-time"}, "2016-12-31T23:59:60.5Z"),
        ({"format": "time"}, "12:30:59+01:00"),
        ({"pattern": "^(?=.*[0-9])[a-c0-9]{3,6}-é?z$"}, "ab1c-éz"),
        ({"pattern": "x[0-9]{3}", "maxLength": 9}, "abx012bb"),
    ],
    ids=["date and time", "time", "lookahead", "pattern and length"],
)
def test_all_tokens_of_a_string_can_be_ended_in_time(string: dict[str, Any], text: str) -> None:
    """Where a budget seems ample, the mask is the one without; then each of its tokens can be ended."""
    schema = {"properties": {"a": {"type": "string", **string}, "b": {}}, "required": ["a", "b"]}
    pieces = ["12", "00", "T2", ':0"', '", "', "-0", "ab", "é"]
    vocabulary = bytes_and(*(piece.encode() for piece in pieces))
    compiled = tk.json_schema({"type": "object", **schema}).compile(vocabulary)
    matcher = compiled.matcher()
    row = compiled.allocate_mask()[0]
    for token in json.dumps({"a": text, "b": 1}, ensure_ascii=False).encode():
        needed = len(matcher.shortest_completion())
        after = {}
        for one in allowed(matcher) - set(vocabulary.stop):
            fork = matcher.fork()
            assert fork.advance(one)
            after[one] = len(fork.shortest_completion())
        for budget in range(max(needed, 1), needed + 45):
            matcher.fill_mask(row, budget)
            fitting = bits(row) - set(vocabulary.stop)
            assert all(after[one] <= budget - 1 for one in fitting)
            if budget > max(after.values()) + 8:
                assert fitting == set(after)
        assert matcher.advance(token)


@pytest.mark.parametrize("longer", [[], LONGER], ids=["bytes", "longer tokens"])
@pytest.mark.parametrize(
    ("schema", "style", "text"),
    [
        ({"items": {"type": "string", "minLength": 40}, "minItems": 1, "type": "array"}, {}, '["'),
        ({"type": "array", "contains": {"type": "string"}}, {"whitespace": "natural"}, "[\n        "),
        ({"type": "object", "additionalProperties": {"type": "array", "minItems": 1}}, {}, '{"a":'),
    ],
)
def test_counts_beyond_the_longest_token_need_room(
    schema: Any, style: dict[str, Any], text: str, longer: list[str]
) -> None:
    """What no token distinguishes has one mask, but not one distance."""
    options = {"whitespace": "compact", "property_order": "any", **style}
    compiled = tk.json_schema(schema, **options).compile(vocabulary_of(longer))
    matcher, row = compiled.matcher(), compiled.allocate_mask()[0]
    assert matcher.advance_all(text.encode())
    for _ in range(3):
        completion = matcher.shortest_completion()
        if not completion:
            break
        for budget in range(1, len(completion)):
            with pytest.raises(tk.BudgetError):
                matcher.fill_mask(row, budget=budget)
        matcher.fill_mask(row, budget=len(completion))
        token = completion[0]
        assert token in bits(row)
        assert matcher.advance(token)


ALIKE = [first + second for first in "abcdxyz" for second in "abcdefghijklmnop"]
ALIKE += [pair + '"' for pair in ALIKE[:40]] + [pair + '":' for pair in ALIKE[:40]]


def fewest_tokens(text: str, vocabulary: tk.Vocabulary) -> int:
    """That spell a text."""
    best = [0] + [len(text)] * len(text)
    for end in range(1, len(text) + 1):
        best[end] = min(best[at] + 1 for at in range(end) if text[at:end].encode() in vocabulary.tokens)
    return best[-1]


CONTAINS_X = {"type": "array", "contains": {"pattern": "^x"}, "items": {"type": "string"}}
TWO_EQUAL = {"type": "array", "not": {"uniqueItems": True}, "items": {"type": "string"}}
DISTINCT_OBJECTS = {"type": "array", "uniqueItems": True, "items": {"type": "object"}}


@pytest.mark.parametrize(
    ("schema", "text", "end", "earlier"),
    [
        (UNIQUE, '["ab","ac","abcd","', '"]', ["ab", "ac", "abcd"]),
        (UNIQUE, '["ab","ac","abcd","a', '"]', ["b", "c", "bcd"]),
        ({"type": "array", "uniqueItems": True}, '[["ab"],["ac","x"],["', '"]]', ["ab", "ac"]),
        (DISTINCT_OBJECTS, '[{"ab":0},{"ac":0},{"', '":""}]', ["ab", "ac"]),
        (DISTINCT_OBJECTS, '[{"x":"ab"},{"x":"ac"},{"x":"', '"}]', ["ab", "ac"]),
        ({"type": "object"}, '{"ab":0,"ac":0,"abcd":0,"', '":""}', ["ab", "ac", "abcd"]),
        (
            {"type": "object", "propertyNames": {"pattern": "^[a-z]*$"}},
            '{"ab":0,"ac":0,"a',
            '":""}',
            ["b", "c"],
        ),
        (TWO_EQUAL, '["ab","ac","', None, []),
        (CONTAINS_X, '["ab","ac","', None, []),
        ({"anyOf": [CONTAINS_X, TWO_EQUAL]}, '["ab","ac","', None, []),
    ],
)
def test_tokens_inside_a_text_that_must_differ(
    schema: Any, text: str, end: str | None, earlier: list[str]
) -> None:
    """They are allowed where the closing text fits, whatever their ids, unless an earlier text begins so.

    Without a closing text that all need, one in four of the bytes and of the tokens that are alike is tried:
    what each of them needs takes a search of its own.
    """
    compiled = compiled_for(schema, LONGER + ALIKE)
    vocabulary = compiled.vocabulary
    matcher, row = compiled.matcher(), compiled.allocate_mask()[0]
    assert matcher.advance_all(text.encode())
    tokens = allowed(matcher) - {vocabulary.width - 1}
    if end is None:
        kinds = {text.encode() for text in LONGER}
        tokens = {token for token in tokens if token % 4 == 0 or vocabulary.tokens[token] in kinds}
    needed = {}
    for token in tokens:
        after = matcher.fork()
        assert after.advance(token)
        needed[token] = len(after.shortest_completion())
    inside = {
        token
        for token in tokens
        if re.fullmatch(b"[a-z]+", vocabulary.tokens[token])
        and not any(text.startswith(vocabulary.tokens[token].decode()) for text in earlier)
    }
    for budget in range(len(matcher.shortest_completion()), max(needed.values()) + 3):
        matcher.fill_mask(row, budget=budget)
        within_budget = bits(row) & tokens
        assert all(needed[token] < budget for token in within_budget), budget
        if end is not None and fewest_tokens(end, vocabulary) < budget:
            assert inside <= within_budget, (budget, inside - within_budget)
