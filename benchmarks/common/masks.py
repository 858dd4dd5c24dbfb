"""Masks as arrays of booleans, and how the first masks of engines differ."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

import tokamata as tk
from benchmarks.common.patterns import Case
from benchmarks.common.tokenizers import Tokenizer

Bits = npt.NDArray[np.bool_]


def bits_of(row: npt.NDArray[np.int32], tokenizer: Tokenizer) -> Bits:
    """The mask as ``bool[width]``, stop tokens cleared: not every engine has them, or all of them."""
    spread = np.unpackbits(np.ascontiguousarray(row).view(np.uint8), bitorder="little")
    bits = spread[: tokenizer.vocabulary.width].astype(np.bool_)
    bits[list(tokenizer.vocabulary.stop)] = False
    return bits


_EXAMPLES = 5

# Readings of a pattern that explain a peer's mask if they give the same.
_READINGS = (
    (re.ASCII, r"it reads \d \w \s as ASCII"),
    (re.DOTALL, "its . takes a line feed"),
    (re.ASCII | re.DOTALL, r"it reads \d \w \s as ASCII, and its . takes a line feed"),
)


def first_mask(pattern: str, tokenizer: Tokenizer, flags: int = 0) -> Bits:
    """tokamata's first mask."""
    return bits_of(tk.regex(pattern, flags).compile(tokenizer.vocabulary).matcher().mask, tokenizer)


def differences(case: Case, masks: Mapping[str, Bits], tokenizer: Tokenizer) -> list[str]:
    """How the first masks of the peers, by name, differ from tokamata's: how many tokens, which, and why.

    Differences are expected.  Some read ``\\d`` as ASCII, some have other tables for ``\\w``, some forbid
    added tokens.  A reason is computed: the peer's mask is compared with that of the same pattern under
    other flags.
    """
    peers: dict[bytes, list[str]] = {}
    for name, mask in masks.items():
        if name != "tokamata" and not np.array_equal(mask, masks["tokamata"]):
            peers.setdefault(mask.tobytes(), []).append(name)
    return [
        _difference(names, case, masks["tokamata"], masks[names[0]], tokenizer) for names in peers.values()
    ]


def _difference(names: list[str], case: Case, ours: Bits, theirs: Bits, tokenizer: Tokenizer) -> str:
    only_ours = np.flatnonzero(ours & ~theirs).tolist()
    only_theirs = np.flatnonzero(theirs & ~ours).tolist()
    who = ", ".join(names)
    parts = [f"{len(only_ours) + len(only_theirs):,} tokens differ"]
    for flags, reading in _READINGS:
        if np.array_equal(first_mask(case.pattern, tokenizer, flags), theirs):
            parts.append(reading)
            break
    for side, ids in (("tokamata", only_ours), (who, only_theirs)):
        if ids:
            counts, examples = _kinds(ids, tokenizer), _examples(ids, tokenizer)
            parts.append(f"{len(ids):,} only in the mask of {side} ({counts}), as {examples}")
    return f"{who}: {case.name}: " + "; ".join(parts)


def _examples(ids: list[int], tokenizer: Tokenizer) -> str:
    return ", ".join(f"{token} {tokenizer.vocabulary[token]!r}" for token in ids[:_EXAMPLES])


def _kinds(ids: list[int], tokenizer: Tokenizer) -> str:
    counted = Counter(_kind(token, tokenizer) for token in ids)
    shown = [f"{count:,} {kind}" for kind, count in counted.most_common(4)]
    rest = sum(counted.values()) - sum(count for _, count in counted.most_common(4))
    return ", ".join(shown + ([f"{rest:,} others"] if rest else []))


def _kind(token: int, tokenizer: Tokenizer) -> str:
    value = tokenizer.vocabulary[token]
    if value is None:
        return "without text"
    if token in tokenizer.added:
        return "added tokens"
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return "that begin or end inside a code point"
    if text.isascii():
        return "with a line feed" if "\n" in text else "of ASCII alone"
    categories = {unicodedata.category(point) for point in text if ord(point) >= 0x80}
    # Letters are in every word; what tells classes apart is the rest.
    telling = sorted(name for name in categories if name[0] != "L") or sorted(categories)
    return "with " + "/".join(telling)
