"""Merges and atoms of all tokens at once, against plain loops."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from tokamata import _core
from tokamata.tokenization.pipelines.atoms import atoms_of_bytes, atoms_of_texts

LETTERS = "ab é▁😀"


def random_ids(draw: random.Random) -> dict[str, int]:
    """Texts with ids, in no order, and with holes."""
    texts = {"".join(draw.choices(LETTERS, k=draw.randrange(5))) for _ in range(draw.randrange(60))}
    return dict(zip(draw.sample(sorted(texts), len(texts)), draw.sample(range(90), len(texts)), strict=True))


def lists(arrays: tuple[np.ndarray, np.ndarray]) -> list[list[int]]:
    offsets, atoms = arrays
    assert offsets.dtype == atoms.dtype == np.uint32
    return [part.tolist() for part in np.split(atoms, offsets[1:-1])]


@pytest.mark.parametrize("seed", range(100))
def test_atoms(seed: int) -> None:
    draw = random.Random(seed)
    ids = random_ids(draw)
    size = draw.choice([40, 90, 120])
    whole = draw.sample(range(size), 3)
    single = {text: token for text, token in ids.items() if len(text) == 1}
    expected: list[list[int]] = [[] for _ in range(size)]
    for text, token in ids.items():
        if token < size and single.keys() >= set(text):
            expected[token] = [single[character] for character in text]
    in_bytes = {text.encode(): token for text, token in ids.items()}
    for_bytes: list[list[int]] = [[] for _ in range(size)]
    for data, token in in_bytes.items():
        parts = [in_bytes.get(bytes([byte]), -1) for byte in data]
        if token < size and -1 not in parts:
            for_bytes[token] = parts
    assert lists(atoms_of_bytes(in_bytes, size)) == for_bytes
    for token in whole:
        expected[token] = [token]
    assert lists(atoms_of_texts(ids, size, whole)) == expected


@pytest.mark.parametrize("seed", range(100))
def test_ways_to_cut(seed: int) -> None:
    ids = random_ids(random.Random(seed))
    expected = {
        (ids[text[:cut]], ids[text[cut:]], token)
        for text, token in ids.items()
        for cut in range(1, len(text))
        if text[:cut] in ids and text[cut:] in ids
    }
    found = list(zip(*map(np.ndarray.tolist, _core.rank_merge_ids(ids)), strict=True))
    assert len(found) == len(expected)
    assert set(found) == expected


def test_merges_by_their_texts() -> None:
    ids = {"a": 5, "▁": 7, "▁a": 2, "a▁a": 11, "": 3}
    merges: list[Any] = [["▁", "a"], "▁ a", ["a", "▁a"], ["", "a"], "a ▁a", " a"]
    columns = [column.tolist() for column in _core.merge_ids(merges, ids)]
    assert columns == [[7, 7, 5, 3, 5, 3], [5, 5, 2, 5, 2, 5], [2, 2, 11, 5, 11, 5]]


@pytest.mark.parametrize(
    "merge",
    [
        ["a", "b"],
        ["b", "a"],
        ["a", "a"],
        ["a"],
        ["a", "a", "a"],
        [1, "a"],
        ["a", None],
        "aa",
        "",
        5,
        None,
        {},
    ],
)
def test_merges_end_before_one_that_is_none(merge: Any) -> None:
    ids = {"a": 0, "c": 1, "ac": 2}
    columns = _core.merge_ids([["a", "c"], merge, ["a", "c"]], ids)
    assert [column.tolist() for column in columns] == [[0], [1], [2]]


@pytest.mark.parametrize(
    "arrays",
    [
        ([0], [1], [2], [0, 1], [0, 0, 0, 0], []),  # lengths
        ([0], [1], [3], [0], [0, 0, 0, 0], []),  # no token
        ([0], [1], [2], [0], [0, 1, 2, 3], [0, 1, 3]),  # no token
        ([0], [1], [2], [0], [0, 2, 1, 2], [0, 1]),  # not in order
        ([0], [1], [2], [0], [0, 1, 1], [0, 1]),  # past the end
        ([], [], [], [], [], []),
    ],
)
def test_arrays_of_merges_that_contradict_each_other(arrays: tuple[list[int], ...]) -> None:
    with pytest.raises(ValueError, match=r"merge|atom"):
        _core.merge_tables(*(np.array(column, dtype=np.uint32) for column in arrays))
