"""Tables of tokenizers on disk: used again, made anew where damaged, and keyed by what they depend on."""

from __future__ import annotations

import contextlib
import multiprocessing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tokamata as tk
from tests.support.tokenizers.random_tokenizers import random_tokenizer
from tokamata.tokenization import canonical, kept_tables


@pytest.fixture(autouse=True)
def folder(cache: Path) -> Path:
    """Where tables are kept."""
    return cache / "tokamata-derived" / "tokenizations"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Which tables were made, and not read from disk."""
    found: list[Any] = []
    make = canonical.make_tables

    def counted(*arguments: Any) -> Any:
        found.append(make(*arguments))
        return found[-1]

    monkeypatch.setattr(canonical, "make_tables", counted)
    return found


def first_mask(tokenizer: Any, **options: Any) -> Any:
    vocabulary = tk.Vocabulary.load(tokenizer, **{"stop": (), **options})
    return tk.regex("(?s:.*)").compile(vocabulary, tokenization="canonical").matcher().mask


def test_kept_once_and_used_again(folder: Path, made: list[Any]) -> None:
    tokenizer, _ = random_tokenizer(3)
    masks = [first_mask(tokenizer) for _ in range(3)]
    assert len(made) == 1
    assert all((mask == masks[0]).all() for mask in masks)
    (file,) = folder.iterdir()
    kept = kept_tables.load(file.stem)
    assert kept is not None
    assert kept.keys() == made[0].keys()
    for name, value in made[0].items():
        assert np.array_equal(np.asarray(kept[name]), np.asarray(value)), name
        assert type(kept[name]) is type(value), name


def test_other_tokenizers_and_other_vocabularies_have_tables_of_their_own(made: list[Any]) -> None:
    first_mask(random_tokenizer(3)[0])
    first_mask(random_tokenizer(4)[0])
    first_mask(random_tokenizer(3)[0], stop=[0])
    assert len(made) == 3


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 broken", None])
def test_damaged_files_are_made_anew(folder: Path, made: list[Any], damage: bytes | None) -> None:
    tokenizer, _ = random_tokenizer(3)
    first_mask(tokenizer)
    (file,) = folder.iterdir()
    file.write_bytes(file.read_bytes()[:-100] if damage is None else damage)
    first_mask(tokenizer)
    first_mask(tokenizer)
    assert len(made) == 2


def test_a_folder_that_cannot_be_written_to(cache: Path, made: list[Any]) -> None:
    cache.write_text("a file, where a folder should be")
    tokenizer, _ = random_tokenizer(3)
    first_mask(tokenizer)
    first_mask(tokenizer)
    assert len(made) == 2


def _keep(number: int) -> None:
    tables = {"numbers": np.full(50_000, number), "added_texts": [b"a", b"", b"bc"], "forbidden_texts": []}
    for _ in range(20):
        kept_tables.keep("name", tables)


def test_several_processes_write_at_once() -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_keep, args=(number,)) for number in range(3)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        tables = kept_tables.load("name")
        if tables is not None:
            assert len(set(tables["numbers"].tolist())) == 1
            assert tables["added_texts"] == [b"a", b"", b"bc"]
            assert tables["forbidden_texts"] == []
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    assert kept_tables.load("name") is not None


def _forged(tables: dict[str, Any]) -> list[dict[str, Any]]:
    """The arrays of a file, each changed in a way that no damage by chance would leave readable."""
    found = []
    for name, array in tables.items():
        number = np.iinfo(array.dtype).max if array.dtype.kind in "iu" else 1
        changed = [np.full_like(array, number), array[:-1] if array.ndim else array, array.astype(np.float32)]
        changed += [np.array(["text"]), np.zeros((2, 2), array.dtype), np.zeros(0, array.dtype)]
        found += [{**tables, name: value} for value in changed]
        found.append({other: value for other, value in tables.items() if other != name})
    return found


@pytest.mark.slow
def test_forged_files_are_taken_for_none_or_for_tables(
    folder: Path, made: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the arrays are, nothing is read that is not there.

    Tables of which nothing is amiss but that they are those of another tokenizer are taken for what they are.
    """
    tokenizer, _ = random_tokenizer(3)
    first_mask(tokenizer, width=2000)
    monkeypatch.setattr(canonical, "make_tables", lambda *_: dict(made[0]))  # the same for each forged file
    (file,) = folder.iterdir()
    with np.load(file) as archive:
        tables = {name: archive[name] for name in archive.files}
    content = file.read_bytes()
    for forged in _forged(tables):
        np.savez(file, **forged)
        with contextlib.suppress(tk.NoncanonicalError):
            first_mask(tokenizer, width=2000)
    np.savez_compressed(file, **tables)  # which might be any size
    first_mask(tokenizer, width=2000)
    assert file.read_bytes() == content
