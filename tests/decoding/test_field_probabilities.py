"""Probabilities of fields, against the enumeration of everything that could have been written."""

from __future__ import annotations

import enum
import json
import math
import pickle
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import annotated_types
import numpy as np
import pytest
import torch

import tokamata as tk
from tests.support.models.fakes import Constant, byte_level
from tests.support.models.small_models import small_model
from tokamata.decoding.hosts import vocabulary_of

MERGES = ['" :', '": t', "t r", "r u", "e ,", '" r', "r e", '"r e', "e d", "1 2", "2 }", "f a", "l s"]
TOKENIZER = byte_level(MERGES)
BYTES_ALONE = byte_level([])
PROMPT = "x: "


class Color(enum.Enum):
    RED = "red"
    REED = "reed"
    BLUE = "blue"


@dataclass
class Ticket:
    ok: bool
    color: Color
    n: Literal[1, 12, 121]


@dataclass
class Inner:
    c: bool


@dataclass
class Nested:
    a: Annotated[list[bool], annotated_types.MaxLen(3)]
    b: Inner


def constraint() -> tk.Constraint[Any]:
    schema = {
        "type": "object",
        "properties": {
            "ok": {"type": "boolean"},
            "c": {"enum": ["red", "reed", "blue", None]},
            "n": {"type": "integer", "minimum": 1, "maximum": 12},
        },
        "required": ["ok", "c", "n"],
        "additionalProperties": False,
    }
    return tk.json_schema(schema, whitespace="compact", spelling="plain")


class Law:
    """The law of ``tk.generate``: masked and renormalized at each token, and what it gives each value."""

    def __init__(self, model: Any, tokenizer: Any, compiled: tk.CompiledConstraint[Any]) -> None:
        self.model, self.compiled = model, compiled
        self.prompt = tokenizer(PROMPT)["input_ids"]

    def choices(self, tokens: list[int], left: int) -> tuple[tk.Matcher, list[tuple[int, float]]]:
        matcher = self.compiled.matcher()
        assert matcher.advance_all(tokens)
        if matcher.is_finished:
            return matcher, []
        row = self.compiled.allocate_mask()[0]
        matcher.fill_mask(row, left)
        allowed = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little"))
        with torch.inference_mode():
            logits = self.model(input_ids=torch.tensor([self.prompt + tokens])).logits[0, -1].double()
        shares = torch.softmax(logits[allowed], -1).tolist()
        return matcher, list(zip(allowed.tolist(), shares, strict=True))

    def values(self, tokens: list[int], text: bytes, start: int, left: int) -> dict[str, float]:
        """The probability of each value at an offset, after some tokens, with the same text before it."""
        found: dict[str, float] = {}
        stack = [(tokens, 1.0)]
        while stack:
            here, share = stack.pop()
            written = b"".join(self.compiled.vocabulary[token] or b"" for token in here)
            if written[:start] != text[: len(written)][:start]:
                continue
            rest = written[start:].decode("utf-8", "replace")
            if rest[:1].isspace():
                continue
            _, following = self.choices(here, left - (len(here) - len(tokens)))
            value = _closed(rest, not following)
            if value is not None:
                found[value] = found.get(value, 0.0) + share
                continue
            for token, part in following:
                if self.compiled.vocabulary[token]:
                    stack.append(([*here, token], share * part))
        return found


def _closed(text: str, is_end: bool) -> str | None:
    """The value that a text begins with, as JSON; ``None`` while it is open."""
    try:
        value, end = json.JSONDecoder().raw_decode(text)
    except ValueError:
        return None
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return None if is_number and end == len(text) and not is_end else json.dumps(value)


@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.parametrize("tokenizer", [TOKENIZER, BYTES_ALONE], ids=["words", "bytes"])
def test_alternatives_contain_the_law(tokenizer: Any, seed: int) -> None:
    model = small_model(len(tokenizer), seed=seed, eos=0)
    compiled = constraint().compile(vocabulary_of(model, tokenizer))
    budget = 60
    result = tk.generate(
        model, tokenizer, PROMPT, compiled, seed=seed, probabilities=True, max_new_tokens=budget
    )
    found = result.parse_with_probabilities()
    assert found.value == json.loads(result.text)
    law, text = Law(model, tokenizer, compiled), result.text.encode()
    for pointer in ("/ok", "/c", "/n"):
        field = found[pointer]
        lengths = np.cumsum([len(compiled.vocabulary[token] or b"") for token in result.tokens])
        first = int(np.searchsorted(lengths, field.start, side="right"))
        expected = law.values(result.tokens[:first], text, field.start, budget - first)
        total = math.fsum(expected.values())
        assert field.alternatives is not None
        assert {json.dumps(value) for value, _ in field.alternatives} >= set(expected)
        for value, probability in field.alternatives:
            share = expected.get(json.dumps(value), 0.0) / total
            assert probability.lower - 1e-5 <= share <= probability.upper + 1e-5
            assert probability.lower <= probability.estimate <= probability.upper
            if tokenizer is BYTES_ALONE and pointer == "/ok":  # the first byte decides
                assert probability.width < 1e-9


def test_a_token_that_ends_before_the_value_leaves_it_open() -> None:
    """``":t`` was written, and the quote alone was nearly as probable: it may lead to either value."""
    logits = torch.full((len(TOKENIZER),), -2.0)
    for piece, score in (('":t', 6.0), ('"', 5.5), ("t", 2.0), ("f", 2.5), ("fa", 2.0)):
        logits[TOKENIZER.convert_tokens_to_ids(piece)] = score
    model = Constant(logits)
    flag = tk.json_schema(
        {"type": "object", "properties": {"k": {"type": "boolean"}}, "required": ["k"],
         "additionalProperties": False},
        whitespace="compact", spelling="plain",
    )  # fmt: skip
    compiled = flag.compile(vocabulary_of(model, TOKENIZER))
    result = tk.generate(model, TOKENIZER, PROMPT, compiled, greedy=True, probabilities=True)
    field = result.parse_with_probabilities()["/k"]
    first = TOKENIZER.convert_ids_to_tokens(result.tokens).index('":t')
    law = Law(model, TOKENIZER, compiled).values(
        result.tokens[:first], result.text.encode(), field.start, 256 - first
    )
    total = math.fsum(law.values())
    assert field.alternatives is not None
    for value, probability in field.alternatives:
        assert probability.lower - 1e-6 <= law[json.dumps(value)] / total <= probability.upper + 1e-6
        assert probability.width > 0.1


@pytest.mark.parametrize("seed", range(4))
def test_fields_are_products_of_their_tokens(seed: int) -> None:
    """A token belongs to the first value of which it has a byte."""
    model = small_model(len(TOKENIZER), seed=seed, eos=0)
    steps = list(stream := tk.stream(model, TOKENIZER, PROMPT, constraint(), seed=seed, probabilities=True))
    assert stream.generation is not None
    found = stream.generation.parse_with_probabilities()
    expected = dict.fromkeys(found, 0.0)
    spans = [(field.start, field.end, pointer) for pointer, field in found.items() if pointer]
    begin = 0
    for step in steps:
        end = begin + len(step.data)
        bytes_of = [
            pointer for at in range(begin, end) for start, stop, pointer in spans if start <= at < stop
        ]
        if bytes_of:
            expected[bytes_of[0]] += step.log_probability
        begin = end
    for pointer, score in expected.items():
        if pointer:
            assert found[pointer].log_probability == pytest.approx(score, abs=1e-6)
            assert found[pointer].probability == pytest.approx(math.exp(score))
    every = sum(step.log_probability for step in steps)
    assert found[""].log_probability == pytest.approx(every, abs=1e-6)
    assert sum(expected.values()) >= every - 1e-6


def test_containers_have_what_is_within_them() -> None:
    model = small_model(len(TOKENIZER), seed=1, eos=0)
    nested = tk.type(Nested, whitespace="compact")
    for seed in range(4):
        result = tk.generate(model, TOKENIZER, PROMPT, nested, seed=seed, probabilities=True)
        found = result.parse_with_probabilities()
        inner = [pointer for pointer in found if pointer.startswith("/a/")]
        assert found["/a"].log_probability <= sum(found[each].log_probability for each in inner) + 1e-9
        assert found[""].log_probability <= found["/a"].log_probability + found["/b"].log_probability + 1e-9
        assert found["/a"].alternatives is None
        assert found["/b/c"].alternatives is not None


def test_types_have_values_and_fields() -> None:
    model = small_model(len(TOKENIZER), seed=2, eos=0)
    tickets = tk.type(Ticket, spelling="plain", whitespace="compact")
    result = tk.generate(model, TOKENIZER, PROMPT, tickets, seed=1, probabilities=True)
    found = result.parse_with_probabilities()
    assert isinstance(found.value, Ticket)
    assert found.value == result.parse()
    colors = found["/color"].alternatives
    assert colors is not None
    assert {value for value, _ in colors} == {"red", "reed", "blue"}
    again = pickle.loads(pickle.dumps(found))
    assert again["/ok"] == found["/ok"]
    sent = pickle.loads(pickle.dumps(result)).parse_with_probabilities()  # without the vocabulary
    assert sent["/color"] == found["/color"]
    assert "/color" in repr(found)


def test_strings_with_escapes_are_listed_once() -> None:
    """The spelling is natural: each character may be escaped, and a quote must be."""
    model = small_model(len(TOKENIZER), seed=2, eos=0)
    words = ['a"b', "é😀", "é", "a\\n", "longer than the others by some words"]
    result = tk.generate(
        model,
        TOKENIZER,
        PROMPT,
        tk.json_schema({"enum": words}),
        seed=1,
        probabilities=True,
        max_new_tokens=400,
    )
    field = result.parse_with_probabilities()[""]
    assert field.alternatives is not None
    assert {value for value, _ in field.alternatives} == set(words)


def test_free_texts_have_no_alternatives() -> None:
    model = small_model(len(TOKENIZER), seed=2, eos=0)
    for free in (
        tk.type(str),
        tk.type(float),
        tk.json(),
        tk.regex('"[a-z\\\\q]{5}"'),
        tk.regex("true|false"),
    ):
        result = tk.generate(model, TOKENIZER, PROMPT, free, seed=1, probabilities=True, max_new_tokens=30)
        found = result.parse_with_probabilities()
        assert all(
            field.alternatives is None for field in found.values() if isinstance(field.value, (str, float))
        )
        assert found[""].probability <= 1


@pytest.mark.parametrize("draft", ["constraint", "prompt"])
def test_drafts_and_jumps_record_the_same(draft: str) -> None:
    model = small_model(len(TOKENIZER), seed=4, eos=0)
    settings: dict[str, Any] = {"greedy": True, "probabilities": True}
    plain = tk.generate(model, TOKENIZER, PROMPT, constraint(), **settings).parse_with_probabilities()
    drafted = tk.generate(model, TOKENIZER, PROMPT, constraint(), draft=draft, **settings)
    found = drafted.parse_with_probabilities()
    for pointer, field in plain.items():
        assert found[pointer].log_probability == pytest.approx(field.log_probability, abs=1e-4)
    jumped = tk.generate(model, TOKENIZER, PROMPT, constraint(), jump=True, **settings)
    assert set(jumped.parse_with_probabilities()) == set(plain)


def test_a_healed_text() -> None:
    model = small_model(len(TOKENIZER), seed=4, eos=0)
    words = tk.json_schema({"enum": ["red", "blue"]}, spelling="plain")
    result = tk.generate(model, TOKENIZER, 'x "', words, heal=True, probabilities=True, greedy=True)
    assert result.healed == '"'
    field = result.parse_with_probabilities()[""]
    assert field.alternatives is not None
    assert field.probability == pytest.approx(math.exp(result.log_probability), rel=1e-6)


def test_a_number_ends_with_the_text() -> None:
    model = small_model(len(TOKENIZER), seed=4, eos=0)
    numbers = tk.json_schema({"type": "integer", "minimum": 1, "maximum": 12}, spelling="plain")
    law = Law(model, TOKENIZER, numbers.compile(vocabulary_of(model, TOKENIZER)))
    for seed in range(4):
        result = tk.generate(model, TOKENIZER, PROMPT, numbers, probabilities=True, seed=seed)
        field = result.parse_with_probabilities()[""]
        assert field.alternatives is not None
        assert sum(probability.estimate for _, probability in field.alternatives) == pytest.approx(1)
        shares = dict(field.alternatives)
        if result.text == "1":  # the stop token was chosen
            _, first = law.choices([], 256)
            one = dict(first)[TOKENIZER.convert_tokens_to_ids("1")]
            _, second = law.choices(result.tokens, 255)
            assert shares[1].lower == pytest.approx(one * dict(second)[0], rel=1e-4)


def test_what_was_not_recorded_is_refused() -> None:
    model = small_model(len(TOKENIZER), seed=4, eos=0)
    result = tk.generate(model, TOKENIZER, PROMPT, constraint(), greedy=True)
    with pytest.raises(tk.GenerationError, match="probabilities=True"):
        result.parse_with_probabilities()
    token = tk.CancelToken()
    token.cancel()
    recorded = tk.generate(model, TOKENIZER, PROMPT, constraint(), greedy=True, probabilities=True)
    with pytest.raises(tk.Cancelled):
        recorded.parse_with_probabilities(cancel=token)
    free = tk.generate(model, TOKENIZER, PROMPT, None, greedy=True, probabilities=True, max_new_tokens=3)
    with pytest.raises(tk.NoValuesError):
        free.parse_with_probabilities()
