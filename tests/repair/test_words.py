"""Words of a schema in broken texts, and lengths of what is missing."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import tokamata as tk
import tokamata._core as _core
from tests.support.paths import DATA
from tests.support.schemas.schema_suite import in_draft
from tokamata.repair.bounded_patterns import BoundedPatterns
from tokamata.repair.words import Words

SCHEMA = {
    "type": "object",
    "properties": {
        "firstName": {"type": "string"},
        "colour": {"enum": ["green", "dark red", "blau"]},
        "age": {"type": "integer"},
    },
    "required": ["firstName", "colour"],
}
PEOPLE = tk.json_schema(SCHEMA)


def distance(one: str, other: str) -> int:
    """Damerau's, with exchanged neighbours that nothing else touches: the definition, by a table."""
    table = [[max(i, j) if not i * j else 0 for j in range(len(other) + 1)] for i in range(len(one) + 1)]
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            table[i][j] = min(
                table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (one[i - 1] != other[j - 1])
            )
            if i > 1 and j > 1 and one[i - 2 : i] == other[j - 2 : j][::-1]:
                table[i][j] = min(table[i][j], table[i - 2][j - 2] + 1)
    return table[-1][-1]


def test_near_words_are_those_at_a_distance_of_one() -> None:
    draw = random.Random(1)
    bounds = BoundedPatterns(tk.Limits(), None)
    judged = 0
    for _ in range(800):
        words = {"".join(draw.choices("abc", k=draw.randrange(4, 7))) for _ in range(5)}
        written = "".join(draw.choices("abc", k=draw.randrange(4, 7)))
        spans, firm = Words(words, ()).found(f'{{"{written}": 1}}'.encode(), bounds)
        if written in words:
            assert (spans, firm) == ([], list(range(2, 3 + len(written))))
            continue
        near = sorted(word for word in words if distance(written, word) == 1)
        assert [span[2].decode() for span in spans] == [f'"{word}"' for word in near]
        assert not firm
        judged += len(near)
    assert judged > 100


@pytest.mark.parametrize(
    ("broken", "expected"),
    [
        ('{"fristName": "Ann", "colour": "green"}', '{"firstName": "Ann", "colour": "green"}'),
        ('{"first_name": "Ann", "colour": "Dark-Red"}', '{"firstName": "Ann", "colour": "dark red"}'),
        ('{"firstName": "Ann", "colour": "gren"', '{"firstName": "Ann", "colour": "green"}'),
        # The value is wrong, and not the name before it, though any other name would do.
        (
            '{"firstName": "Ann", "colour": "blau", "age": "7"}',
            '{"firstName": "Ann", "colour": "blau", "age": 7}',
        ),
        # What is no word of the schema is not changed to one where it may stand.
        (
            '{"firstName": "gren", "colour": "blau", "ages": [1}',
            '{"firstName": "gren", "colour": "blau", "ages": [1]}',
        ),
    ],
)
def test_words_of_a_schema(broken: str, expected: str) -> None:
    repair = PEOPLE.repair(broken)
    assert repair.text == expected
    assert repair.optimal
    assert repair.certificate.flaw() is None


@pytest.mark.parametrize(
    ("broken", "meant"),
    [
        ('{"level": "High", "country": "Germany"}', {"level": 3, "country": "de"}),
        (
            '{"level": mediun, "country": "FRANCE", "state": "closed"}',
            {"level": 2, "country": "fr", "state": 1},
        ),
        ("level: It is low.\ncountry: DE", {"level": 1, "country": "de"}),
        (
            '{"level": "2", "country": "Germany", "note": "High"}',
            {"level": 2, "country": "de", "note": "High"},
        ),
    ],
)
def test_a_label_stands_for_its_constant(broken: str, meant: Any) -> None:
    """The title of a constant, and the names that generators write beside an enumeration."""
    schema = {
        "type": "object",
        "properties": {
            "level": {
                "oneOf": [
                    {"const": number, "title": title}
                    for number, title in enumerate(("Low", "Medium", "High"), 1)
                ]
            },
            "country": {
                "anyOf": [{"const": "de", "title": "Germany"}, {"enum": ["fr"], "description": "France"}]
            },
            "state": {"enum": [0, 1], "x-enumNames": ["open", "closed"]},
            "note": {"type": "string"},
        },
        "required": ["level", "country"],
        "additionalProperties": False,
    }
    repair = tk.json_schema(schema).repair(broken)
    assert repair.value == meant
    assert repair.certificate.flaw() is None


def test_a_word_in_another_case_is_nearer_than_a_mistyped_one() -> None:
    """Both are found, and a word with mistakes alone costs what a typo does."""
    found, _ = Words((), ("Paris", "parish")).found(b'["PARIS", "parix"]', BoundedPatterns(tk.Limits(), None))
    assert found == [(1, 8, b'"Paris"', 0), (1, 8, b'"parish"', 1), (10, 17, b'"Paris"', 0)]


def test_other_costs_know_the_words_where_they_price_them() -> None:
    broken = '{"fristName": "Ann", "colour": "green"}'
    plain = PEOPLE.repair(broken, costs=tk.EditCosts(other=10))
    assert {edit.name for edit in plain.edits} <= {"insert", "remove"}
    priced = PEOPLE.repair(broken, costs=tk.EditCosts(other=10, typo=5, firm=3))
    assert [edit.name for edit in priced.edits] == ["typo"]
    assert priced.cost == 5
    assert priced.certificate.verify()
    with pytest.raises(tk.ArgumentError):
        tk.EditCosts(typo=-1)


def test_ten_thousand_words() -> None:
    """Words beyond a bound are recognized only as they are; the others in linear time and memory."""
    for count in (10, 1000, 10_000, 30_000):
        values = [f"value {number:05}" for number in range(count)]
        constraint = tk.json_schema({"type": "array", "items": {"enum": values}})
        repair = constraint.repair('["value 00001" "valeu 00003"]', limits=tk.Limits(seconds=20))
        assert repair.value[0] == "value 00001"
        assert count > 20_000 or repair.value == ["value 00001", "value 00003"]


def test_a_text_that_seems_cut_off_is_gone_on_with() -> None:
    assert PEOPLE.repair('{"firstName": "A').value == {"firstName": "A", "colour": "blau"}
    assert tk.json().repair('["a]').text == '["a"]'  # ends as a whole text does
    assert tk.json().repair('["a, b').text == '["a, b"]'


@pytest.mark.parametrize("deep", [list, dict])
def test_a_constant_that_is_too_deep_is_refused(deep: type) -> None:
    value: Any = "word"
    for _ in range(100_000):
        value = [value] if deep is list else {"a": value}
    table = _core.ValueTable()
    for add in (lambda: table.constant(value), lambda: table.constants([value])):
        with pytest.raises(ValueError, match="500 deep"):
            add()
    assert table.words() == ([], [], False)


SUITE = DATA / "json_schema_test_suite" / "tests" / "draft2020-12"


def cases() -> list[tuple[str, Any, str]]:
    """Schemas of the official suite, and texts of values that they accept."""
    found = []
    for path in sorted(SUITE.glob("*.json")):
        for case in json.loads(path.read_text(encoding="utf-8")):
            for test in case["tests"]:
                if test["valid"] and isinstance(test["data"], (dict, list)):
                    text = json.dumps(test["data"], ensure_ascii=False)
                    found.append((path.name, in_draft(case["schema"], "draft2020-12"), text))
    return found


# Writing after the end is cheap, and everything else dear.
APPENDING = tk.EditCosts(other=100_000, append={"".join(map(chr, range(128))): 1})


@pytest.mark.parametrize("share", range(4))
def test_what_is_missing_is_never_overestimated(share: int) -> None:
    """The rest of a text that was cut off is one way to complete it, so no bound is above its length."""
    draw = random.Random(share)
    judged = 0
    for name, schema, text in draw.sample(cases(), 80):
        if not text.isascii():
            continue
        try:
            constraint = tk.json_schema(schema)
        except tk.SchemaError:  # what cannot be enforced, such as a reference to another file
            continue
        for length in draw.sample(range(len(text)), min(3, len(text))):
            repair = constraint.repair(text[:length], costs=APPENDING, limits=tk.Limits(states=20_000))
            assert repair.lower_bound <= len(text) - length, (name, schema, text[:length])
            judged += 1
    assert judged > 80
