"""Pipelines whose model is a list of ranks: tiktoken and tekken.

Neither has merges.  Two neighbours are joined if their joined text is a token, the pair with the lowest
rank first.  This is as if each cut of a token into two tokens were a merge with that token's rank
(``merges_of_ranks``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

import tokamata._core as _core
from tokamata.tokenization.pipelines.atoms import atoms_of_bytes
from tokamata.tokenization.pipelines.pipeline import (
    AddedToken,
    BytePairs,
    Normalizer,
    Pipeline,
    Splitting,
    UInt32,
)
from tokamata.tokenization.pretokenizers.classes import CODE_POINTS, TiktokenEngine
from tokamata.vocabulary.sections import Section
from tokamata.vocabulary.tiktoken_ranks import Ranks

_Text = TypeVar("_Text", bytes, str)


def pipeline_from_encoding(encoding: Ranks, tokens: Sequence[bytes | None]) -> Pipeline:
    """The pipeline of a tiktoken encoding that allows all special tokens in a text."""
    added = [
        AddedToken(token, text.encode())
        for text, token in sorted(encoding.special.items())
        if text and token < len(tokens)
    ]
    model = _byte_ranks(encoding.ranks, tokens)
    return Pipeline(
        TiktokenEngine(), Normalizer(), (Splitting(encoding.pattern, keeps_gaps=False),), model, tuple(added)
    )


def pipeline_from_tekken(source: Any, tokens: Sequence[bytes | None]) -> Pipeline:
    """The pipeline of a parsed tekken file.

    Special tokens are never read from a text; they are between texts.
    """
    config = Section(source, "").section("config")
    pattern, special = config.text("pattern"), config.whole("default_num_special_tokens")
    added = tuple(AddedToken(token, b"") for token in range(special))
    ranks = {value: token for token, value in enumerate(tokens) if value is not None and token >= special}
    model = _byte_ranks(ranks, tokens)
    return Pipeline(TiktokenEngine(), Normalizer(), (Splitting(pattern, keeps_gaps=False),), model, added)


def _byte_ranks(ranks: Mapping[bytes, int], tokens: Sequence[bytes | None]) -> BytePairs:
    left, right, result, rank = merges_of_ranks(ranks, ranks)
    in_model = np.zeros(len(tokens), dtype=np.uint8)
    in_model[[token for token in ranks.values() if token < len(tokens)]] = 1
    atoms = atoms_of_bytes(ranks, len(tokens))
    nothing = np.zeros(CODE_POINTS, dtype=bool)
    return BytePairs(left, right, result, rank, *atoms, in_model, {}, nothing, nothing.copy(), True)


def merges_of_ranks(
    ids: Mapping[_Text, int], ranks: Mapping[_Text, int]
) -> tuple[UInt32, UInt32, UInt32, UInt32]:
    """The merges that ranks imply: each cut of a text into two texts that have ids."""
    left, right, result = _core.rank_merge_ids(dict(ids))
    rank_of = np.zeros(max(ids.values(), default=-1) + 1, dtype=np.uint32)
    rank_of[list(ids.values())] = [ranks[text] for text in ids]
    return left, right, result, rank_of[result]
