"""Structural tags of xgrammar, which vLLM and SGLang make of tools: all are read; masks are xgrammar's.

The masks are compared over single bytes, on walks that both take, where both mean the same texts: required
members in their order, values whose JSON has one spelling but for blanks, ASCII in strings.
"""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import numpy as np
import pytest
import xgrammar
from xgrammar import builtin_structural_tag

import tokamata as tk
from tokamata.patterns.tagged import STYLES

BYTES: list[bytes | None] = [bytes([value]) for value in range(256)]
VOCABULARY = tk.Vocabulary.load([*BYTES, None], stop=256)
MODELS = sorted(builtin_structural_tag._structural_tag_registry)
STYLES_OF_TAGS = [name for name in STYLES if name not in ("mimo_xml", "glm_4_5_xml")]

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "strict": True,
            "parameters": {
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": False,
            },
        },
    }
    for name, properties, required in (
        ("weather", {"city": {"type": "string"}, "days": {"type": "integer"}}, ["city"]),
        ("time_of", {"zone": {"enum": ["a", "b"]}}, ["zone"]),
    )
]
CHOICES: list[Any] = ["auto", "required", {"type": "function", "function": {"name": "weather"}}]
# What our texts never contain; xgrammar's contain it unless the tag says so.
EXCLUDES = {
    "deepseek_xml": ["<｜DSML｜", "</｜DSML｜"],
    "deepseek_v4_1_xml": ["<｜DSML｜", "</｜DSML｜"],
    "kimi_k3_xml": ["<|open|>", "<|close|>", "<|sep|>"],
}
SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "ready": {"type": "boolean"},
        "nothing": {"type": "null"},
        "flags": {"type": "array", "items": {"type": "boolean"}, "minItems": 1},
        "point": {
            "type": "object",
            "properties": {"x": {"type": "boolean"}},
            "required": ["x"],
            "additionalProperties": False,
        },
    },
    "required": ["city", "ready", "nothing", "flags", "point"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("model", MODELS)
def test_every_tag_of_a_model_is_read(model: str) -> None:
    read = 0
    for choice, reasoning, parallel in itertools.product(
        CHOICES, ["enabled", "disabled", "auto"], [True, False]
    ):
        tag = xgrammar.get_model_structural_tag(
            model, TOOLS, choice, reasoning=reasoning, parallel_tool_calls=parallel
        )
        constraint = tk.structural_tag(tag.model_dump_json())
        read += 1
        try:
            compiled = constraint.compile(VOCABULARY)
        except tk.UnknownTokenError:  # it names control tokens of the model
            continue
        assert compiled.matcher().mask.any()
    assert read == 18


@pytest.mark.parametrize("style", STYLES_OF_TAGS)
def test_masks_are_those_of_xgrammar(style: str) -> None:
    form = {"type": "json_schema", "json_schema": SCHEMA, "style": style, "excludes": EXCLUDES.get(style, [])}
    left_out = set(b" \t\n\r") if style == "minimax_m3_xml" else set()  # xgrammar has none around its values
    tag = {"type": "structural_tag", "format": form}
    ours = tk.structural_tag(tag, whitespace="any", spelling="plain").compile(VOCABULARY)
    pieces = [*(bytes([value]) for value in range(256)), b"</s>"]
    info = xgrammar.TokenizerInfo(
        pieces, vocab_type=xgrammar.VocabType.RAW, vocab_size=257, stop_token_ids=[256]
    )
    theirs = xgrammar.GrammarCompiler(info, max_threads=1).compile_structural_tag(json.dumps(tag))
    closing = STYLES[style].closing.partition("{name}")[0].encode()
    rng = random.Random(style)
    steps = 0
    for _ in range(12):
        mine, other = ours.matcher(), xgrammar.GrammarMatcher(theirs)
        row, bitmask = ours.allocate_mask()[0], xgrammar.allocate_token_bitmask(1, 257)
        text = b""
        while len(text) < 500:
            mine.fill_mask(row)
            other.fill_next_token_bitmask(bitmask)
            one, two = _bits(row) - left_out, _bits(bitmask.numpy()) - left_out
            steps += 1
            if _is_text(text):  # strings of xgrammar may be invalid UTF-8
                assert {t for t in one if not 127 < t < 256} == {t for t in two if not 127 < t < 256}, text
            allowed = sorted(one & two - {256})
            if not allowed:
                break
            done = max((n for n in range(1, len(closing)) if text.endswith(closing[:n])), default=0)
            wanted = closing[done]
            dense = [token for token in allowed if token not in b" \t\n\r"] or allowed
            if wanted in allowed and rng.random() < (0.95 if done else 0.15):
                token = wanted
            else:
                token = rng.choice([token for token in dense if token < 128] or dense)
            assert mine.advance(token)
            assert other.accept_token(token)
            text += bytes([token])
    assert steps > 2000


def _bits(row: Any) -> set[int]:
    return set(np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")[:257]).tolist())


def _is_text(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
