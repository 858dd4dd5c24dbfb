"""The mask of a canonical constraint depends on the state alone, not on the masks that were computed before.

Where a search for a canonical text has no end, it supposes that there is one
(``core/canonical/text_liveness.hpp``).  Neither the supposition nor what came of it may show in the masks
of other states.
"""

from __future__ import annotations

import itertools
import json
import os
import random
from typing import Any, Literal

import numpy as np
import pytest
from tokenizers import Tokenizer, pre_tokenizers

import tokamata as tk
from tests.support.masks import bits
from tests.support.tokenizers.exhaustive_cases import at
from tests.support.tokenizers.random_tokenizers import with_every_byte

_CASES = int(os.environ.get("TOKAMATA_CASES", "12"))

_NEVER = {"const": "<>"}  # a special token: without escapes no text that holds it is canonical


def _array(*elements: Any) -> dict[str, Any]:
    return {"type": "array", "prefixItems": list(elements), "minItems": len(elements), "items": False}


_ANYTHING = {"$ref": "#/$defs/anything"}
_DEFINITIONS = {
    "anything": {"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#/$defs/anything"}}]}
}
# Behind "a" the search for a text has no end, behind "b" it has one, which is far.
TWO_WAYS = {
    "$defs": _DEFINITIONS,
    "anyOf": [
        _array({"const": "a"}, {"anyOf": [{"const": 1}, _array(_ANYTHING, _NEVER)]}),
        _array(
            {"const": "b"},
            {"anyOf": [{"const": 1}, _array({"type": "string", "pattern": "^[ab1]{0,90}$"}, _NEVER)]},
        ),
    ],
}


def _bytes_alone() -> tk.Vocabulary:
    """A token for every byte, and the special token ``<>``."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    document = json.loads(Tokenizer.from_str(_EMPTY).to_str())
    document["model"]["vocab"] = {letter: token for token, letter in enumerate(letters)}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    document["added_tokens"] = [{"id": len(letters), "content": "<>", "special": True, **flags}]
    return tk.Vocabulary.load(Tokenizer.from_str(json.dumps(document)), stop=())


_EMPTY = json.dumps(
    {
        "version": "1.0",
        "pre_tokenizer": {
            "type": "ByteLevel",
            "add_prefix_space": False,
            "trim_offsets": True,
            "use_regex": True,
        },
        "decoder": {
            "type": "ByteLevel",
            "add_prefix_space": False,
            "trim_offsets": True,
            "use_regex": False,
        },
        "model": {"type": "BPE", "vocab": {}, "merges": []},
    }
)


def _tokens(vocabulary: tk.Vocabulary, text: str) -> tuple[int, ...]:
    of_byte = {entry: token for token, entry in enumerate(vocabulary.tokens)}
    return tuple(of_byte[bytes([byte])] for byte in text.encode())


def test_a_search_without_end_leaves_others_alone() -> None:
    vocabulary = _bytes_alone()

    def start() -> tk.Matcher:
        constraint = tk.json_schema(TWO_WAYS, whitespace="compact", spelling="plain")
        return constraint.compile(vocabulary, tokenization="canonical").matcher()

    endless, ending = (_tokens(vocabulary, text) for text in ('["a",', '["b",'))
    by_itself = at(start(), ending).mask.copy()
    shared = start()
    assert at(shared, endless).mask.any()
    assert np.array_equal(at(shared, ending).mask, by_itself)
    assert not at(start(), ending).advance(_tokens(vocabulary, "[")[0])  # it is searched to its end
    assert at(start(), ending).advance(_tokens(vocabulary, "1")[0])


SCHEMAS: list[dict[str, Any]] = [
    TWO_WAYS,
    {"$defs": _DEFINITIONS, "anyOf": [{"const": "a"}, _array(_ANYTHING, {"enum": ["<>", "b"]})]},
    {
        "$defs": _DEFINITIONS,
        "type": "object",
        "properties": {"a": _ANYTHING, "b": {"enum": ["<>", "e\u0301", 1]}, "<>": {}},
        "additionalProperties": {"type": "string", "maxLength": 3},
        "anyOf": [{"required": ["a", "<>"]}, {"required": ["b"]}],
    },
    {"type": "array", "items": {"enum": ["<>", "e\u0301", "b", []]}, "uniqueItems": True, "minItems": 2},
]
SPELLINGS: tuple[Literal["plain", "natural"], ...] = ("plain", "natural")


def _walk(start: tk.Matcher, length: int, draw: random.Random) -> list[tuple[tuple[int, ...], bytes]]:
    """Places that a random text comes to, with their masks."""
    matcher, found = start.fork(), []
    for _ in range(length):
        mask = matcher.mask
        found.append((tuple(matcher.tokens), mask.tobytes()))
        allowed = sorted(bits(mask))
        if not allowed or not matcher.advance(draw.choice(allowed)):
            break
    return found


@pytest.mark.parametrize("seed", range(4000, 4000 + _CASES))
def test_masks_in_any_order(seed: int) -> None:
    """The same states, met by other walks in another order, and by a constraint of their own."""
    draw = random.Random(seed)
    _, vocabulary = with_every_byte(draw)
    limits = tk.Limits(seconds=120)
    for schema, spelling in itertools.product(SCHEMAS, SPELLINGS):
        constraint = tk.json_schema(schema, whitespace="compact", property_order="any", spelling=spelling)

        def start(constraint: tk.Constraint = constraint) -> tk.Matcher:
            return constraint.compile(vocabulary, tokenization="canonical", limits=limits).matcher()

        try:
            first = start()
        except (tk.NoncanonicalError, tk.UnspellableError):
            continue
        met = [one for _ in range(4) for one in _walk(first, 10, draw)]
        draw.shuffle(met)
        second = start()
        for place, mask in met:
            assert at(second, place).mask.tobytes() == mask, (schema, place)
        for place, mask in draw.sample(met, min(3, len(met))):
            assert at(start(), place).mask.tobytes() == mask, (schema, place)
