"""What is kept on disk: where, whole or not at all, and no more than so much of it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tokamata import kept_files

DAY = 24 * 3600


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of the test's own."""
    monkeypatch.setenv("TOKAMATA_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def put(path: Path, size: int, days_ago: float = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    then = time.time() - days_ago * DAY
    os.utime(path, (then, then))
    return path


def test_where(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kept_files.folder_of("kind") == root / "kind"
    monkeypatch.setenv("TOKAMATA_CACHE", "off")
    assert kept_files.folder_of("kind") is None
    monkeypatch.setenv("TOKAMATA_CACHE", "")
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda name: f"/somewhere/{name}")
    assert kept_files.folder_of("kind") == Path("/somewhere/tokamata/kind")
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda name: f"~/.cache/{name}")
    assert kept_files.folder_of("kind") is None


def test_a_file_is_written_as_a_whole(root: Path) -> None:
    def fail(file: object) -> None:
        file.write(b"half")  # type: ignore[attr-defined]
        raise OSError("the disk is full")

    path = root / "kind" / "name"
    kept_files.write(path, lambda file: file.write(b"first"))
    kept_files.write(path, fail)
    assert path.read_bytes() == b"first"
    assert [file.name for file in path.parent.iterdir()] == ["name"]


def test_what_was_not_used_for_longest_goes_first(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_files, "_MOST_BYTES", 350)
    files = [put(root / "kind" / f"of {age} days" / "file", 100, age) for age in range(1, 6)]
    kept_files.note_use(files[4])
    kept_files.trim()
    assert [file.exists() for file in files] == [True, True, False, False, True]
    kept_files.trim()
    assert sorted(path.name for path in (root / "kind").iterdir()) == ["of 1 days", "of 2 days", "of 5 days"]


def test_what_was_given_up_goes_and_what_is_being_written_stays(root: Path) -> None:
    old, new = put(root / "kind" / "a.unfinished", 10, 3), put(root / "kind" / "b.unfinished", 10)
    kept_files.trim()
    assert not old.exists()
    assert new.exists()


def test_folders_are_looked_through_only_where_there_is_something_new(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[None] = []
    trim = kept_files.trim
    monkeypatch.setattr(kept_files, "trim", lambda: (looks.append(None), trim()))
    folder = root / "kind"
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
