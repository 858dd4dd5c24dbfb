"""Instances of MaskBench, in two halves, and mistakes in them."""

from __future__ import annotations

import json
import lzma
import random
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.repair.corruptions import Corruption, corrupted

__all__ = ["Instance", "drawn_cases", "is_of_half", "load", "of_a_kilobyte", "schemas_of"]

_SHORTEST, _LONGEST = 30, 600  # characters of an instance


class Instance(NamedTuple):
    """A schema, and a value that it accepts."""

    schema: Any
    value: Any


def load(path: Path, *, is_training: bool) -> list[Instance]:
    """Valid instances of the schemas of one half, which the CRC of their names decides."""
    return list(_load(path, is_training, _SHORTEST, _LONGEST))


def of_a_kilobyte(path: Path, *, is_training: bool) -> list[Instance]:
    """Those of some 1,000 characters."""
    return list(_load(path, is_training, 800, 1200))


def _load(path: Path, is_training: bool, shortest: int, longest: int) -> Iterator[Instance]:
    for content in _contents(path):
        if not is_of_half(content["id"], is_training):
            continue
        for test in content["tests"]:
            text = json.dumps(test["data"], ensure_ascii=False)
            is_text = not any("\ud800" <= one <= "\udfff" for one in text)
            if test["valid"] and is_text and shortest <= len(text) <= longest:
                yield Instance(content["schema"], test["data"])


def is_of_half(name: str, is_training: bool) -> bool:
    """Whether a schema is of the half on which costs are tuned, or of the other one."""
    return (zlib.crc32(name.encode()) % 2 == 0) == is_training


def schemas_of(path: Path, names: set[str]) -> dict[str, Any]:
    """The schemas of some names."""
    return {content["id"]: content["schema"] for content in _contents(path) if content["id"] in names}


def _contents(path: Path) -> Iterator[Any]:
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def drawn_cases(
    kinds: Sequence[tuple[str, ...]],
    instances: Sequence[Instance],
    count: int,
    seed: str,
    is_wanted: Callable[[Corruption, Instance], bool] = lambda corruption, instance: True,
) -> list[tuple[Corruption, Instance]]:
    """So many instances with the mistakes of one of some kinds, among those that are wanted."""
    draw = random.Random(seed)
    cases: list[tuple[Corruption, Instance]] = []
    for _ in range(1000 * count):
        if len(cases) == count or not instances:
            break
        instance = draw.choice(instances)
        made = corrupted(instance.value, draw.choice(kinds), draw)
        if made is not None and is_wanted(made, instance):
            cases.append((made, instance))
    return cases
