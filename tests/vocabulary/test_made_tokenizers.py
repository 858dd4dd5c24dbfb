"""The ``tokenizer.json`` files that tests make are the published ones, where those are at hand."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from tests.support.paths import SHARED
from tests.support.tokenizers.real_tokenizers import MADE, Real

PUBLISHED = SHARED / "tokenizers"
FILES = {"qwen-3": "qwen3", "o200k-hf": "o200k"}


def merges(document: dict[str, Any]) -> list[tuple[str, ...]]:
    """As pairs; that of two tabs aside, which GGUF puts one place later, where nothing else has tabs."""
    listed = document["model"]["merges"]
    pairs = [tuple(pair.split(" ") if isinstance(pair, str) else pair) for pair in listed]
    return [pair for pair in pairs if pair != ("\t", "\t")]


@pytest.mark.slow
@pytest.mark.parametrize("real", MADE, ids=str)
def test_as_published(real: Real) -> None:
    file = PUBLISHED / f"{FILES.get(real.name, real.name)}.json.gz"
    if not file.is_file():
        pytest.skip("the published tokenizer.json is not on this machine")
    made, published = json.loads(real.path().read_bytes()), json.loads(gzip.decompress(file.read_bytes()))
    assert made["model"]["vocab"] == published["model"]["vocab"]
    assert merges(made) == merges(published)
    for name in ("ignore_merges", "byte_fallback", "fuse_unk"):
        assert made["model"].get(name, False) == published["model"].get(name, False), name
    for name in ("normalizer", "pre_tokenizer", "decoder"):
        assert made[name] == published[name], name
    added = [{(t["id"], t["content"], t["special"]) for t in d["added_tokens"]} for d in (made, published)]
    assert added[0] == added[1]
