"""What ``benchmarks/answers`` asks, and how it judges."""

from __future__ import annotations

import itertools
import json
import random
from decimal import Decimal

import numpy as np
import pytest

pytest.importorskip("jsonschema")

import tokamata as tk
from benchmarks.answers.arms import ARMS, FREE, OURS
from benchmarks.answers.chance import corrected, interval, p_value
from benchmarks.answers.ends import End
from benchmarks.answers.questions import DIGEST, KINDS, PER_KIND, Question, all_questions, digest
from benchmarks.answers.scoring import Score, score
from benchmarks.answers.writing import LAYOUTS, Number, Style, write

QUESTIONS = all_questions()


def test_the_questions_are_those_of_the_results() -> None:
    assert digest(QUESTIONS) == DIGEST
    assert len(QUESTIONS) == PER_KIND * len(KINDS)
    assert len({question.id for question in QUESTIONS}) == len(QUESTIONS)
    assert len({question.prompt for question in QUESTIONS}) == len(QUESTIONS)


@pytest.mark.parametrize("kind", KINDS)
def test_known_answers_are_right(kind: str) -> None:
    for question in (one for one in QUESTIONS if one.kind == kind):
        assert score(question, question.answer) == Score(1.0, True, True), question
        assert End().feed(question.answer.encode()), question
        _, *examples, last = question.prompt.split("\n\nText: ")
        assert 2 <= len(examples) <= 3
        assert last.endswith("\nJSON:\n")
        texts = [example.partition("\nJSON:\n")[0] for example in examples]
        assert last.partition("\nJSON:\n")[0] not in texts, question
        for example in examples:
            judged = score(question, example.partition("\nJSON:\n")[2])
            assert judged.is_valid, example


@pytest.mark.parametrize("layout", LAYOUTS)
def test_spellings_keep_the_value(layout: str) -> None:
    value = {"a": [Number("12.50"), [], {}], "é": {"b": 'q"\\', "c": [None, True, 3]}, "d": Number("1e5")}
    for ascii_only, order in itertools.product((False, True), ((), ("d", "é", "c"))):
        text = write(value, Style(layout, ascii_only, order))
        assert json.loads(text, parse_float=Decimal) == value
        assert text.isascii() == ascii_only
        assert "12.50" in text
        assert list(json.loads(text)) == (["d", "é", "a"] if order else ["a", "é", "d"])
    assert write({"a": 1, "b": [2, 3]}, Style("braces")) == '{ "a": 1, "b": [ 2, 3 ] }'
    assert write({"a": 1, "b": [2]}, Style("indented")) == json.dumps({"a": 1, "b": [2]}, indent=2)


def question(schema: object, answer: str) -> Question:
    return Question("kind/family/00", "kind", "", json.dumps(schema), answer, "spaced")


RECORD = {
    "type": "object",
    "properties": {
        "price": {"type": "number", "multipleOf": 0.01},
        "at": {"type": "string", "format": "date-time"},
        "kind": {"const": "offer"},
        "size": {"type": "object", "properties": {"width": {"type": "integer"}}},
        "note": {"type": "string"},
    },
    "required": ["price"],
}
KNOWN = '{"price": 12.50, "at": "2024-03-05T07:00:00Z", "kind": "offer", "size": {"width": 3}}'


@pytest.mark.parametrize(
    ("text", "fields", "is_right", "is_valid"),
    [
        (KNOWN, 1, True, True),
        # Other spellings of the same values, in another order.
        (
            '{"at":"2024-03-05T08:00:00.0+01:00","kind":"offer","size":{"width":3.0},"price":1.25e1}',
            1,
            True,
            True,
        ),
        (KNOWN.replace("12.50", "12.500000000000001"), 3 / 4, False, False),
        (KNOWN.replace("12.50", "12.51"), 3 / 4, False, True),
        (KNOWN.replace("12.50", "true"), 3 / 4, False, False),
        (KNOWN.replace("07:00", "07:01"), 3 / 4, False, True),
        (KNOWN.replace("T07", " 07"), 3 / 4, False, False),
        (KNOWN.replace("}}", '}, "note": "x"}'), 3 / 4, False, True),
        (KNOWN.replace("}}", '}, "more": 1}'), 1, False, True),
        (KNOWN.replace(', "size": {"width": 3}', ""), 3 / 4, False, True),
        (KNOWN[:-1], 0, False, False),
        (KNOWN.replace("3", "NaN"), 0, False, False),
        ('"12.50"', 0, False, False),
    ],
)
def test_scores(text: str, fields: float, is_right: bool, is_valid: bool) -> None:
    assert score(question(RECORD, KNOWN), text) == Score(fields, is_right, is_valid)


def test_a_label_alone_is_one_field() -> None:
    asked = question({"enum": ["a", "é"]}, '"é"')
    assert score(asked, r'"\u00e9"') == Score(1.0, True, True)
    assert score(asked, '"a"') == Score(0.0, False, True)
    assert score(asked, '"b"') == Score(0.0, False, False)


def test_the_end_of_a_value_is_found_in_any_pieces() -> None:
    draw = random.Random(3)
    decoder = json.JSONDecoder()
    for asked in QUESTIONS[::7]:
        text = draw.choice(("", " ", "\n")) + asked.answer + draw.choice(("", "\n\nText", '}"', " {"))
        size = decoder.raw_decode(text, len(text) - len(text.lstrip()))[1]
        data, end, at = text.encode(), End(), 0
        while at < len(data):
            step = draw.randrange(1, 9)
            end.feed(data[at : at + step])
            at += step
        assert end.size == len(text[:size].encode())
        assert not End().feed(text[: size - 1].encode())


def test_a_text_that_is_no_value_ends_with_its_line() -> None:
    end = End()
    assert not end.feed(b"\n The price")
    assert end.feed(b" is 3\n{")
    assert end.size == len("\n The price is 3")


def test_p_values_are_those_of_all_signs() -> None:
    differences = np.array([1.0, 0.5, 0.0, -0.25, 2.0, 0.75, 0.0, 1.0])
    changed = differences[differences != 0]
    sums = [abs(np.dot(signs, changed)) for signs in itertools.product((-1, 1), repeat=changed.size)]
    exact = np.mean([each >= abs(changed.sum()) - 1e-9 for each in sums])
    assert p_value(differences, seed=1) == pytest.approx(exact, abs=0.01)
    assert p_value(-differences, seed=1) == p_value(differences, seed=1)
    assert p_value(np.zeros(9), seed=1) == 1.0
    assert p_value(np.ones(40), seed=1) < 0.001


def test_intervals_and_corrections() -> None:
    assert interval(np.full(30, 2.0), seed=1) == (2.0, 2.0)
    low, high = interval(np.random.default_rng(5).normal(1.0, 2.0, 400), seed=1)
    assert (low, high) == pytest.approx((0.8, 1.2), abs=0.25)
    assert high - low == pytest.approx(2 * 1.96 * 2 / 20, rel=0.1)
    # Holm (1979), and the values of R's p.adjust.
    assert corrected([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert corrected([0.9, 0.8]) == [1.0, 1.0]
    assert corrected([]) == []


def test_arms_have_names_of_their_own_and_options_that_exist() -> None:
    assert len({arm.name for arm in ARMS}) == len(ARMS)
    assert [arm.name for arm in ARMS][:2] == [FREE, OURS]
    for arm in ARMS:
        if arm.engine == OURS:
            options = {name: value for name, value in arm.options.items() if name != "tokenization"}
            tk.json_schema(True, **options)
