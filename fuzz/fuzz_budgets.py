"""Texts of rules within budgets, from random places: each is whole when its budget is used up.

    python -m fuzz.fuzz_budgets --seconds 3600 --seed 1
    python -m fuzz.fuzz_budgets --seconds 3600 --tokenizer llama-3.1.json.gz    schemas of MaskBench

A text is begun at random, and then written to its end within a budget.  At each place the mask within the
budget is part of the mask without one, and has some token; after each of its tokens, or some of them where
they are many, the same is so with one token less.  Drafts of a matcher say the same.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import tokamata as tk
from fuzz import timed
from fuzz.schema_exactness import hugging_face
from tests.support.masks import allowed, bits
from tests.support.paths import MASKBENCH
from tests.support.vocabularies import bytes_and, cut

MOST_FOLLOWED = 40  # tokens of a mask
MOST_NEEDED = 100
LIMITS = tk.Limits(seconds=60)
PIECES = [
    '":',
    '":0}',
    '"}',
    "]]",
    "}}",
    "}]",
    '",',
    '":[',
    '{"',
    '""',
    '"a":',
    "0]",
    'a"',
    '"]}',
    ",1",
    "ab",
    'b":"',
    "tru",
]
UNIQUE = {"type": "array", "uniqueItems": True}
SMALL: list[Any] = [
    True,
    {**UNIQUE, "items": {"enum": ["a", "aab", "abababab", 1, 11, 111]}, "minItems": 3},
    {**UNIQUE, "items": {"type": "string", "maxLength": 2, "pattern": "^[ab]*$"}, "minItems": 2},
    {**UNIQUE, "items": {**UNIQUE, "items": {"type": "boolean"}}, "minItems": 2},
    {"type": "object", "required": ["a", "abab", "bbbbbb"], "properties": {"abab": {"enum": ["ab", "b"]}}},
    {"type": "object", "minProperties": 3, "additionalProperties": {"type": "integer"}},
    {"type": "object", "propertyNames": {"maxLength": 1, "pattern": "^[ab]*$"}, "minProperties": 2},
    {
        "type": "object",
        "patternProperties": {"^a": {"type": "string", "minLength": 3}},
        "required": ["ab", "ba"],
    },
    {"anyOf": [{"type": "array", "minItems": 3}, {"type": "string", "minLength": 5}, {"required": ["a"]}]},
    {
        "type": "array",
        "items": {"anyOf": [{"const": "ab"}, {"type": "string", "pattern": "b{3,9}"}, {"type": "number"}]},
    },
    {"type": "string", "maxLength": 9, "minLength": 4},
    {
        "$ref": "#/$defs/t",
        "$defs": {"t": {"type": "object", "properties": {"a": {"$ref": "#/$defs/t"}}, "required": ["b"]}},
    },
]


@dataclass
class Tally(timed.Tally):
    """What was done: texts, masks within a budget, tokens after which there had to be a mask."""

    texts: int = 0
    masks: int = 0
    followed: int = 0
    limits: int = 0


def within(matcher: tk.Matcher, left: int) -> set[int]:
    """The tokens of the mask within a budget; the stop tokens where none is left."""
    if left == 0:
        assert matcher.is_accepting, (matcher.text, "is not whole")
        return set()
    row = np.zeros_like(matcher.mask)
    matcher.fill_mask(row, budget=left)
    return bits(row)


def check(matcher: tk.Matcher, left: int, draw: random.Random, tally: Tally) -> list[int]:
    """One mask, and those after its tokens; returns the tokens that are no stop tokens."""
    found = within(matcher, left)
    assert found <= allowed(matcher)
    assert found or matcher.is_accepting
    tokens = sorted(found - set(matcher.compiled.vocabulary.stop))
    followed = tokens if len(tokens) <= MOST_FOLLOWED else draw.sample(tokens, MOST_FOLLOWED)
    for token in followed:
        fork = matcher.fork()
        assert fork.advance(token)
        assert within(fork, left - 1) or fork.is_accepting, (matcher.text, left, token)
    tally.masks += 1
    tally.followed += len(followed)
    return tokens


def finish(matcher: tk.Matcher, budget: int, draw: random.Random, tally: Tally) -> None:
    """Writes to the end; mostly tokens that leave much to be written."""
    for left in range(budget, -1, -1):
        tokens = check(matcher, left, draw, tally)
        if not tokens:
            break
        token = draw.choice(tokens)
        draft = np.zeros((2, len(matcher.mask)), dtype=np.int32)
        legal = matcher.fill_draft_masks(draft, [token], budget=left)
        assert legal.all()
        assert matcher.advance(token)
        if left > 1:
            assert bits(draft[1]) == within(matcher, left - 1)
    assert matcher.is_accepting
    tally.texts += 1


def begun(compiled: tk.CompiledConstraint, texts: list[bytes], draw: random.Random) -> tk.Matcher:
    """A matcher after a part of a text, or after random tokens."""
    matcher = compiled.matcher()
    if texts and draw.random() < 0.7:
        text = draw.choice(texts)
        for token in cut(compiled.vocabulary, text[: draw.randrange(len(text) + 1)], draw):
            if not matcher.advance(token):
                break
        return matcher
    for _ in range(draw.randrange(9)):
        tokens = sorted(allowed(matcher) - set(compiled.vocabulary.stop))
        if not tokens:
            break
        assert matcher.advance(choice_by_byte(matcher, tokens, draw))
    return matcher


def choice_by_byte(matcher: tk.Matcher, tokens: list[int], draw: random.Random) -> int:
    """A token, by its first byte: quotes and brackets are few among letters."""
    some = tokens if len(tokens) < 1000 else draw.sample(tokens, 1000)
    of_byte: dict[int, list[int]] = {}
    for token in some:
        of_byte.setdefault((matcher.compiled.vocabulary[token] or b"\0")[0], []).append(token)
    return draw.choice(of_byte[draw.choice(sorted(of_byte))])


def try_one(compiled: tk.CompiledConstraint, texts: list[bytes], draw: random.Random, tally: Tally) -> None:
    """One text from one place, within a few budgets."""
    matcher = begun(compiled, texts, draw)
    needed = len(matcher.shortest_completion())
    if needed > MOST_NEEDED:
        return
    for slack in {0, draw.randrange(4), draw.randrange(4, 2 * needed + 12)}:
        finish(matcher.fork(), needed + slack, draw, tally)


def small_ones(draw: random.Random) -> Iterator[tuple[tk.CompiledConstraint, list[bytes]]]:
    """The schemas above, with vocabularies of a few tokens."""
    while True:
        schema = draw.choice(SMALL)
        vocabulary = bytes_and(
            *(piece.encode() for piece in draw.sample(PIECES, draw.randrange(len(PIECES))))
        )
        options = {
            "property_order": draw.choice(("any", "schema")),
            "whitespace": draw.choice(("compact", "any")),
        }
        yield tk.json_schema(schema, **options).compile(vocabulary, limits=LIMITS), []


def of_maskbench(
    vocabulary: tk.Vocabulary, draw: random.Random
) -> Iterator[tuple[tk.CompiledConstraint, list[bytes]]]:
    """Schemas of MaskBench that compile, and their instances."""
    with lzma.open(MASKBENCH, "rt", encoding="utf-8") as lines:
        contents = [json.loads(line) for line in lines]
    while True:
        content = draw.choice(contents)
        options = {"property_order": draw.choice(("any", "schema"))}
        try:
            compiled = tk.json_schema(content["schema"], **options).compile(vocabulary, limits=LIMITS)
        except tk.TokamataError:
            continue
        texts = [json.dumps(test["data"]).encode() for test in content["tests"]]
        for _ in range(3):
            yield compiled, texts


def run(seconds: float, seed: int, vocabulary: tk.Vocabulary | None = None) -> Tally:
    """Fuzzes for so long; returns what was done."""
    tally = Tally()
    made = random.Random(seed)
    source = small_ones(made) if vocabulary is None else of_maskbench(vocabulary, made)
    for turn in timed.turns(seconds):
        compiled, texts = next(source)
        with timed.naming(f"seed {seed}, turn {turn}", compiled):
            try:
                try_one(compiled, texts, random.Random(f"{seed}.{turn}"), tally)
            except tk.LimitExceeded:
                tally.limits += 1
    return tally


def main() -> None:
    """The program."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--tokenizer", type=Path, help="a tokenizer.json.gz: schemas of MaskBench in its tokens"
    )
    parser.add_argument("--stop", default="<|eot_id|>", help="its stop token")
    options = parser.parse_args()
    vocabulary = hugging_face(options.tokenizer, options.stop)[0] if options.tokenizer else None
    print(f"{run(options.seconds, options.seed, vocabulary)}; nothing failed")


if __name__ == "__main__":
    main()
