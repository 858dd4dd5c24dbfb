"""What tests and fuzzers of files of compiled constraints share: their sections, changes, and uses."""

from __future__ import annotations

import json
import random
import struct
import zlib
from typing import Any

import numpy as np

import tokamata as tk
from tests.support.masks import bits
from tokamata.matching import kept_compiled

Walk = list[tuple[tuple[int, ...], frozenset[int]]]
_VALUES: list[Any] = [None, True, -1, 10**6, 0.5, "", "a", "call", "step", [], {}]
_VALUES += [["step", 0], ["step", 3], ["tuple", []]]


def walks(compiled: tk.CompiledConstraint[Any], seed: int = 1, count: int = 4, steps: int = 25) -> Walk:
    """Masks along texts that are drawn from them, each with the tokens before it."""
    draw = random.Random(seed)
    found = []
    for _ in range(count):
        matcher = compiled.matcher()
        for _ in range(steps):
            mask = frozenset(bits(matcher.mask))
            found.append((tuple(matcher.tokens), mask))
            if not mask or not matcher.advance(draw.choice(sorted(mask))):
                break
    return found


def sections(data: bytes) -> tuple[dict[str, Any], bytes]:
    """The recipe and the masks of a file."""
    at = len(kept_compiled._MAGIC)
    length = int.from_bytes(data[at : at + 8], "little")
    recipe = json.loads(data[at + 40 : at + 40 + length])
    return recipe, zlib.decompress(data[at + 40 + length + 48 :])


def file_of(recipe: Any, masks: bytes, length: int | None = None) -> bytes:
    """A file with digests that fit."""
    text = recipe if isinstance(recipe, bytes) else json.dumps(recipe).encode()
    own, packed = kept_compiled._digest(text), zlib.compress(masks, 1)
    start = kept_compiled._MAGIC + struct.pack("<Q", len(text)) + own + text
    sizes = struct.pack("<QQ", len(masks) if length is None else length, len(packed))
    return start + sizes + kept_compiled._digest(own, packed) + packed


def try_everything(compiled: tk.CompiledConstraint[Any], draw: random.Random) -> None:
    """Uses a constraint whose masks may be wrong."""
    matcher = compiled.matcher()
    for _ in range(6):
        mask = sorted(bits(matcher.mask))
        assert len(matcher.forced_tokens()) <= len(matcher.shortest_completion()) or not matcher.is_finished
        tokens = [draw.choice(mask or [0]) for _ in range(3)]
        matcher.fill_draft_masks(compiled.allocate_mask(4), tokens)
        for budget in (1, 7):
            _masks_of(matcher, budget, len(matcher.mask))
        if not mask or not matcher.advance(draw.choice(mask)):
            break
    compiled.prepare(seconds=0.01)


def _masks_of(matcher: tk.Matcher, budget: int, words: int) -> None:
    try:
        matcher.fill_mask(np.zeros(words, np.int32), budget)
    except tk.BudgetError:
        assert budget < 8


def mutated_steps(steps: list[Any], draw: random.Random) -> list[Any]:
    """Steps of a recipe, as JSON, with one or two changes."""
    for _ in range(draw.choice((1, 1, 2))):
        _change(steps, draw)
    return steps


def _change(value: Any, draw: random.Random) -> None:
    while True:
        keys = [*value] if isinstance(value, dict) else [*range(len(value))]
        if not keys:
            return
        key = draw.choice(keys)
        if not isinstance(value[key], (list, dict)) or draw.random() < 0.2:
            value[key] = draw.choice(_VALUES)
            return
        value = value[key]
