"""Masks of JSON constraints for small tokenizers, against all texts that the constraints have.

The schemas have finitely many texts, which are listed here value by value, so that all canonical sequences
can be written down: what a mask holds is exactly what follows in one of them.
"""

from __future__ import annotations

import itertools
import json
import os
import random
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import numpy as np
import pytest

import tokamata as tk
from tests.support.masks import bits
from tests.support.matchers import takes
from tests.support.texts import all_texts
from tests.support.tokenizers.exhaustive_cases import Case, Tokens, at
from tests.support.tokenizers.random_tokenizers import JSON_ALPHABETS, random_tokenizer, with_every_byte
from tests.support.values.json_spellings import string_texts

_CASES = int(os.environ.get("TOKAMATA_CASES", "40"))

# Those of the last one have tokens for pieces of escapes.
_ALPHABETS = [*JSON_ALPHABETS, '{}[]",:ab<\\u0136Cc']

Spelling = Literal["plain", "natural"]


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _objects(members: Iterable[Iterable[tuple[str, Any]]]) -> Iterator[str]:
    for some in members:
        yield "{" + ",".join(f"{_text(name)}:{_text(value)}" for name, value in some) + "}"


_A_OR_NOTHING: tuple[Any, ...] = ("a", {})


def _members_of_two() -> Iterator[list[tuple[str, Any]]]:
    """Of a: null or "b", required; b: "a", or {}."""
    for a in (None, "b"):
        yield [("a", a)]
        for b in _A_OR_NOTHING:
            yield [("a", a), ("b", b)]
            yield [("b", b), ("a", a)]


_NAMES = all_texts("ab", 2)[1:]
_MIXED: list[Any] = ["a", "ab", "b1", None, ["a"], {"a": "b"}, True, "<>", "é", "e\u0301", "a:b"]


def _natural_texts(value: Any) -> list[str]:
    """Of one of several values, among them strings that writers escape."""
    return string_texts(value) if isinstance(value, str) else [_text(value)]


def _lists_of_different(values: Iterable[str], longest: int) -> Iterator[str]:
    """Lists of different strings, each in any of its spellings."""
    for size in range(longest + 1):
        for chosen in itertools.permutations(values, size):
            for texts in itertools.product(*map(string_texts, chosen)):
                yield f"[{','.join(texts)}]"


# Schemas, a spelling, and all texts without blanks, members in any order.
# Most have the same texts in both spellings: a set without strings that writers escape has no escapes.
SCHEMAS: list[tuple[Any, Spelling, list[str]]] = [
    ({"enum": _MIXED}, "plain", [_text(value) for value in _MIXED]),
    ({"enum": _MIXED}, "natural", [text for value in _MIXED for text in _natural_texts(value)]),
    (
        {
            "type": "object",
            "properties": {"<": {"enum": ["<", None]}},
            "required": ["<"],
            "additionalProperties": False,
        },
        "natural",
        [f"{{{a}:{b}}}" for a in string_texts("<") for b in (*string_texts("<"), "null")],
    ),
    (
        {
            "type": "array",
            "items": {"type": "string", "pattern": "^[a<]?$"},
            "uniqueItems": True,
            "maxItems": 2,
        },
        "natural",
        list(_lists_of_different(["", "a", "<"], 2)),
    ),
    (
        {
            "type": "object",
            "properties": {"a": {"enum": [None, "b"]}, "b": {"enum": ["a", {}]}},
            "required": ["a"],
            "additionalProperties": False,
        },
        "natural",
        list(_objects(_members_of_two())),
    ),
    (
        {"type": "array", "items": {"enum": ["a", "b", "ab", False]}, "uniqueItems": True, "maxItems": 3},
        "natural",
        [_text(list(v)) for size in range(4) for v in itertools.permutations(["a", "b", "ab", False], size)],
    ),
    (
        {
            "type": "object",
            "patternProperties": {"^[ab]{1,2}$": {"const": "b"}},
            "additionalProperties": False,
            "maxProperties": 2,
        },
        "natural",
        list(
            _objects(
                [(name, "b") for name in names]
                for size in range(3)
                for names in itertools.permutations(_NAMES, size)
            )
        ),
    ),
    (
        {"type": "array", "items": {"type": "string", "pattern": "^[ab]{0,2}$"}, "maxItems": 2},
        "natural",
        [_text(list(v)) for size in range(3) for v in itertools.product(all_texts("ab", 2), repeat=size)],
    ),
    (
        {"type": "string", "pattern": "^[ab]*$", "minLength": 1, "maxLength": 4},
        "natural",
        [_text(v) for v in all_texts("ab", 4)[1:]],
    ),
    ({"type": "integer", "minimum": -1, "maximum": 111}, "plain", [str(v) for v in range(-1, 112)]),
    (
        {"type": "integer", "minimum": -1, "maximum": 111},
        "natural",
        ["-0", *(str(v) for v in range(-1, 112))],
    ),
]


def _canonical(tokenizer: Any, vocabulary: tk.Vocabulary, texts: Iterable[str]) -> Iterator[Tokens]:
    """The tokens of those texts that the tokenizer leaves as they are."""
    for text in texts:
        tokens = tokenizer.encode(text, add_special_tokens=False).ids
        again = tokenizer.decode(tokens, skip_special_tokens=False)
        if again == text and all(vocabulary[token] is not None for token in tokens):
            yield tuple(tokens)


def _case(
    tokenizer: Any, vocabulary: tk.Vocabulary, schema: Any, spelling: Spelling, texts: list[str]
) -> Case:
    constraint = tk.json_schema(schema, whitespace="compact", property_order="any", spelling=spelling)
    return Case(vocabulary, constraint, frozenset(_canonical(tokenizer, vocabulary, texts)))


@pytest.mark.parametrize("seed", range(_CASES))
def test_every_mask(seed: int) -> None:
    tokenizer, _ = random_tokenizer(seed, _ALPHABETS)
    vocabulary = tk.Vocabulary.load(tokenizer, stop=())
    for schema, spelling, texts in SCHEMAS:
        case = _case(tokenizer, vocabulary, schema, spelling, texts)
        start = case.matcher()
        assert (start is not None) == bool(case.sequences), schema
        if start is None:
            continue
        for place, following in case.following.items():
            matcher = at(start, place)
            assert bits(matcher.mask) == following, (schema, place)
            assert matcher.is_accepting == (place in case.sequences), (schema, place)


@pytest.mark.parametrize("seed", range(5000, 5000 + _CASES))
def test_budgets(seed: int) -> None:
    """No completion is shorter than the one found, and what a budget allows can be finished within it."""
    draw = random.Random(seed)
    tokenizer, vocabulary = (
        with_every_byte(draw) if seed % 2 else _loaded(random_tokenizer(seed, _ALPHABETS)[0])
    )
    for schema, spelling, texts in SCHEMAS:
        case = _case(tokenizer, vocabulary, schema, spelling, texts)
        start = case.matcher()
        if start is None:
            continue
        for place in draw.sample(sorted(case.following), min(12, len(case.following))):
            rests = case.rests(place)
            matcher = at(start, place)
            completion = matcher.shortest_completion()
            shortest = min(map(len, rests))
            assert tuple(completion) in rests
            assert len(completion) == shortest, (schema, place)
            row = np.zeros_like(matcher.mask)
            for budget in range(1, shortest + 6):
                may_follow = {rest[0] for rest in rests if 0 < len(rest) <= budget}
                if budget < shortest:
                    with pytest.raises(tk.BudgetError) as caught:
                        matcher.fill_mask(row, budget=budget)
                    assert caught.value.needed == shortest
                    continue
                matcher.fill_mask(row, budget=budget)
                assert bits(row) <= may_follow
                assert bits(row) or not may_follow or () in rests


# Strings whose bounds are near, far, and both.
BOUNDED: list[Any] = [
    {"type": "string", "maxLength": 2},
    {"type": "string", "minLength": 3, "maxLength": 7},
    {"type": "string", "minLength": 300},
    {"type": "string", "pattern": "^[ab1 ]*$", "maxLength": 9},
    {"type": "string", "maxLength": 30},
]


@pytest.mark.parametrize("seed", range(1000, 1000 + _CASES))
def test_masks_of_bounded_strings_are_what_steps_say(seed: int) -> None:
    """A mask takes what is known of the same string without its bound; a step asks for one token."""
    draw = random.Random(seed)
    _, vocabulary = with_every_byte(draw)
    for items in BOUNDED:
        schema = {"type": "array", "items": items, "minItems": 1}  # inside a value strings are terminals
        constraint = tk.json_schema(
            schema, whitespace="compact", spelling=draw.choice(["plain", "natural", "any"])
        )
        try:
            masks, steps = (
                constraint.compile(vocabulary, tokenization="canonical").matcher() for _ in range(2)
            )
        except (tk.NoncanonicalError, tk.UnspellableError):
            continue
        for _ in range(12):
            allowed = bits(masks.mask)
            stepped = {token for token in range(vocabulary.width) if _takes(steps, token)}
            assert allowed == stepped, (schema, masks.tokens)
            longest = sorted(allowed, key=lambda token: len(vocabulary[token] or b""))[-3:]
            if not allowed:
                break
            token = draw.choice(draw.choice([sorted(allowed), longest]))
            assert masks.advance(token)
            assert steps.advance(token)


def _takes(matcher: tk.Matcher, token: int) -> bool:
    taken = matcher.advance(token)
    if taken:
        matcher.rollback(1)
    return taken


def _loaded(tokenizer: Any) -> tuple[Any, tk.Vocabulary]:
    return tokenizer, tk.Vocabulary.load(tokenizer, stop=())


@pytest.mark.parametrize("seed", range(3000, 3000 + _CASES))
def test_what_is_forced_far_behind(seed: int) -> None:
    """A required constant that the tokenizer never leaves as it is: no text of the schema is canonical.

    Under a normal form what stands before is told apart by so much that the search is not ended (DESIGN.md).
    """
    draw = random.Random(seed)
    tokenizer, vocabulary = with_every_byte(draw)
    while "NFC" in str(tokenizer.normalizer):
        tokenizer, vocabulary = with_every_byte(draw)
    cases: list[tuple[str, Spelling]] = [("<>", "plain"), ("<>", "natural"), ("ab", "natural")]
    for constant, spelling in cases:
        written = string_texts(constant) if constant == "<>" and spelling == "natural" else [_text(constant)]
        texts = [f'{{"a":"b","b":{text}}}' for text in written]
        left = list(_canonical(tokenizer, vocabulary, texts))
        properties = {"a": {"type": "string"}, "b": {"const": constant}}
        schema = {"properties": properties, "required": ["a", "b"], "additionalProperties": False}
        constraint = tk.json_schema({"type": "object", **schema}, whitespace="compact", spelling=spelling)
        try:
            matcher = constraint.compile(vocabulary, tokenization="canonical").matcher()
        except (tk.NoncanonicalError, tk.UnspellableError):
            assert not left, (constant, spelling)
            continue
        assert left, (constant, spelling)
        for tokens in left:
            assert takes(matcher, tokens), (constant, spelling, tokens)


@pytest.mark.parametrize("seed", range(2000, 2000 + _CASES))
def test_walks_through_any_json_encode_to_themselves(seed: int) -> None:
    """Also of what nests without end; no mask on the way is empty."""
    draw = random.Random(seed)
    tokenizer, vocabulary = with_every_byte(draw)
    open_names = {"patternProperties": {"^a": {"type": "array", "uniqueItems": True}}, "minProperties": 1}
    for constraint, is_open in ((tk.json(), False), (tk.json_schema(open_names), True)):
        try:
            start = constraint.compile(vocabulary, tokenization="canonical").matcher()
        except (tk.NoncanonicalError, tk.UnspellableError):
            continue
        for _ in range(6):
            matcher = start.fork()
            tokens: list[int] = []
            while len(tokens) < 12:
                allowed = sorted(bits(matcher.mask))
                assert allowed or matcher.is_accepting, tokens
                if not allowed:
                    break
                token = draw.choice(allowed)
                assert matcher.advance(token), (tokens, token)
                tokens.append(token)
                if not matcher.is_accepting:
                    continue
                text = tokenizer.decode(tokens, skip_special_tokens=False)
                assert tokenizer.encode(text, add_special_tokens=False).ids == tokens
                value = json.loads(text)
                assert not is_open or value != {}
