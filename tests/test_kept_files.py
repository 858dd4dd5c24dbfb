"""What is kept on disk: where, whole or not at all, and no more than so much of it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tokamata.resources import kept_files

DAY = 24 * 3600
pytestmark = pytest.mark.usefixtures("cache")


@pytest.fixture
def kind(cache: Path) -> Path:
    """The folder of some kind of derived files."""
    folder = kept_files.folder_of("kind")
    assert folder is not None
    return folder


def put(path: Path, size: int, days_ago: float = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    then = time.time() - days_ago * DAY
    os.utime(path, (then, then))
    return path


def test_where(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kept_files.cache_folder() == cache
    assert kept_files.folder_of("kind") == cache / "tokamata-derived" / "kind"
    monkeypatch.setenv("TOKAMATA_CACHE", "off")
    assert kept_files.cache_folder() is None
    assert kept_files.folder_of("kind") is None
    monkeypatch.setenv("TOKAMATA_CACHE", "")
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda name: f"/somewhere/{name}")
    assert kept_files.folder_of("kind") == Path("/somewhere/tokamata/tokamata-derived/kind")
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda name: f"~/.cache/{name}")
    assert kept_files.folder_of("kind") is None


def test_a_file_is_written_as_a_whole(kind: Path) -> None:
    def fail(file: object) -> None:
        file.write(b"half")  # type: ignore[attr-defined]
        raise OSError("the disk is full")

    path = kind / "name"
    kept_files.write(path, lambda file: file.write(b"first"))
    kept_files.write(path, fail)
    assert path.read_bytes() == b"first"
    assert [file.name for file in path.parent.iterdir()] == ["name"]


@pytest.mark.parametrize("bound", [("_MOST_BYTES", 350), ("_MOST_FILES", 3)])
def test_what_was_not_used_for_longest_goes_first(
    kind: Path, monkeypatch: pytest.MonkeyPatch, bound: tuple[str, int]
) -> None:
    monkeypatch.setattr(kept_files, *bound)
    files = [put(kind / f"of {age} days" / "file", 100, age) for age in range(1, 6)]
    kept_files.note_use(files[4])
    kept_files.trim()
    assert [file.exists() for file in files] == [True, True, False, False, True]
    kept_files.trim()
    assert sorted(path.name for path in kind.iterdir()) == ["of 1 days", "of 2 days", "of 5 days"]


def test_what_was_given_up_goes_and_what_is_being_written_stays(kind: Path) -> None:
    old, new = put(kind / "a.unfinished", 10, 3), put(kind / "b.unfinished", 10)
    kept_files.trim()
    assert not old.exists()
    assert new.exists()


def test_folders_are_looked_through_only_where_there_is_something_new(
    kind: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[None] = []
    trim = kept_files.trim
    monkeypatch.setattr(kept_files, "trim", lambda: (looks.append(None), trim()))
    folder = kind
    kept_files.trim_after(folder)
    assert not looks  # there is nothing yet
    put(folder / "one", 10)
    os.utime(folder, (time.time() - 60, time.time() - 60))
    kept_files.trim_after(folder)
    kept_files.trim_after(folder)
    assert len(looks) == 1
    os.utime(folder, (time.time() + 60, time.time() + 60))
    kept_files.trim_after(folder)
    assert len(looks) == 2


def everything_in(folder: Path) -> set[Path]:
    return {path.relative_to(folder) for path in folder.rglob("*")}


def test_nothing_else_in_the_cache_folder_is_ever_deleted(
    cache: Path, kind: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A converted model and files of other programs outlive writes and trims, whatever they are called."""
    monkeypatch.setattr(kept_files, "_MOST_BYTES", 250)
    for name in ("models/gemma/model.safetensors", "models/gemma/config.json", "holiday.jpg", "kind/old",
                 "models/.work-of-another/half.unfinished", "mail/half.unfinished", "trimmed"):  # fmt: skip
        put(cache / name, 1000, days_ago=1000)
    (cache / "empty" / "within").mkdir(parents=True)
    before = everything_in(cache)
    for number in range(8):
        kept_files.write(kind / str(number), lambda file: file.write(b"x" * 100))
        kept_files.trim()
        kept_files.trim_after(kind)
    left = everything_in(cache)
    assert before <= left
    assert {path.parts[0] for path in left - before} == {"tokamata-derived"}
    assert len(list(kind.iterdir())) == 2


def test_trimming_a_folder_without_derived_files_leaves_it_as_it_is(cache: Path) -> None:
    put(cache / "letters" / "a.txt", 10)
    (cache / "empty").mkdir()
    before = everything_in(cache)
    kept_files.trim()
    kept_files.trim_after(cache / "letters")
    assert everything_in(cache) == before
