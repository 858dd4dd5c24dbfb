"""Elements that must differ, in a tokenizer's own tokens: the one canonical rest of a token may be taken.

Llama 3.1 writes 12 as one token.  After the token 1 only the number 1 is canonical; where 1 was written, that
token is a dead end, though 12 is not.
"""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import tokamata as tk
from tests.support.masks import allowed, bits
from tests.support.matchers import step
from tests.support.tokenizers.canonical_tokenizers import SOURCES, Judged

SCHEMAS: dict[str, Any] = {
    "integers": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
    "words": {"type": "array", "items": {"type": "string", "pattern": "^[ab]{1,3}$"}, "uniqueItems": True},
    "names": {"propertyNames": {"pattern": "^[ab]{1,3}$"}, "additionalProperties": {"type": "boolean"}},
}


@pytest.fixture(scope="module")
def llama() -> Judged:
    return next(source for source in SOURCES if source.name == "llama-3.1").judged()


def test_a_number_that_was_written(llama: Judged) -> None:
    constraint = tk.json_schema(SCHEMAS["integers"], whitespace="compact")
    matcher = constraint.compile(llama.vocabulary, tokenization="canonical").matcher()
    for token in llama.encode("[1,"):
        assert matcher.advance(token)
    one, twelve = llama.encode("1"), llama.encode("12")
    assert len(one) == len(twelve) == 1
    assert twelve[0] in allowed(matcher)
    assert one[0] not in allowed(matcher)


@pytest.mark.parametrize("name", SCHEMAS)
def test_walks_have_no_dead_ends(name: str, llama: Judged) -> None:
    chooser = random.Random(name)
    compiled = tk.json_schema(SCHEMAS[name], whitespace="compact").compile(
        llama.vocabulary, tokenization="canonical"
    )
    for _ in range(4):
        matcher = compiled.matcher()
        while len(matcher.tokens) < 24:
            if not step(matcher, chooser):
                assert matcher.is_accepting, matcher.text
                break
        closing = matcher.shortest_completion()
        assert all(map(matcher.advance, closing))
        assert llama.is_canonical(matcher.tokens)
        value = json.loads(matcher.text)
        assert name == "names" or len(set(value)) == len(value)


@pytest.mark.parametrize("layout", [{}, {"indent": 2}, {"indent": "\t"}])
def test_an_ample_budget_forbids_nothing_that_is_written_with_blanks(
    layout: dict[str, Any], llama: Judged
) -> None:
    """After `":` a text that closes the object without blanks is not canonical, since `":"` is a token."""
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            "b": {"type": "array", "items": {"type": "string"}},
            "c": {"type": "string", "format": "email"},
        },
        "required": ["a", "b", "c"],
        "additionalProperties": False,
    }
    text = json.dumps({"a": "Olsen", "b": ["x", "y"], "c": "a@example.org"}, **layout)
    matcher = tk.json_schema(schema).compile(llama.vocabulary, tokenization="canonical").matcher()
    row = matcher.compiled.allocate_mask()[0]
    for token in llama.encode(text):
        matcher.fill_mask(row, budget=200)
        assert token in bits(row), matcher.text
        assert matcher.advance(token)
    assert matcher.is_accepting
