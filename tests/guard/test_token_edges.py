"""Tokenizers that are kept: objects and files, the last ones, as long as they do not change."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, normalizers, pre_tokenizers

import tokamata as tk
from tests.support.models.small_models import small_tokenizer
from tokamata import guard
from tokamata.guard import token_edges
from tokamata.guard.token_edges import ControlTokens, TokenEdges
from tokamata.tokenization.running import RunningTokenizer

READINGS: tuple[ControlTokens, ...] = ("read", "text")


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The sources that are loaded, and nothing is kept before."""
    found: list[object] = []
    load = token_edges._vocabulary

    def counted(source: object) -> tk.Vocabulary:
        found.append(source)
        return load(source)

    monkeypatch.setattr(token_edges, "_vocabulary", counted)
    monkeypatch.setattr(token_edges, "_kept", [])
    return found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tokenizer.json"
    path.write_text(backend().to_str())
    return path


def backend() -> Tokenizer:
    made: Tokenizer = small_tokenizer().backend_tokenizer
    return made


def test_a_source_is_loaded_once(loaded: list[object], file: Path) -> None:
    live = backend()
    for source in (str(file), file, file.parent, live):
        for reading in READINGS:
            assert TokenEdges.of(source, reading) is TokenEdges.of(source, reading)
            guard.boundary(source, "ab", control_tokens=reading)
    assert loaded == [str(file), file.parent, live]
    assert TokenEdges.of(file).vocabulary is TokenEdges.of(str(file), "text").vocabulary


def test_a_file_is_not_parsed_for_each_fact(loaded: list[object], file: Path, monkeypatch: Any) -> None:
    edges = TokenEdges.of(file)
    guard.boundary(file, "zz")  # its program is loaded for a witness
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail(f"{path} is read again"))
    assert edges.control_names
    assert edges.added_names
    assert edges.is_decided_by_neighbours
    guard.boundary(file, "zb")


def replaced(path: Path, content: str) -> None:
    path.with_suffix(".new").write_text(content)
    path.with_suffix(".new").replace(path)


def in_place(path: Path, content: str) -> None:
    stat = path.stat()
    path.write_text(content)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))


@pytest.mark.parametrize("change", [replaced, in_place])
def test_a_changed_file_is_read_again(
    loaded: list[object], file: Path, change: Callable[[Path, str], None]
) -> None:
    before, in_folder = guard.boundary(file, "ab"), guard.boundary(file.parent, "ab")
    assert before == in_folder
    other = backend()
    cuts = [pre_tokenizers.Split("a", "isolated"), other.pre_tokenizer]
    other.pre_tokenizer = pre_tokenizers.Sequence(cuts)
    change(file, other.to_str())
    for source in (file, file.parent):
        after = guard.boundary(source, "ab")
        assert after == guard.boundary(other, "ab") != before
    assert len(loaded) == 5
    file.unlink()
    with pytest.raises(tk.VocabularyError):
        guard.boundary(file, "ab")


def test_a_changed_object_is_read_again(loaded: list[object]) -> None:
    live = backend()
    first = TokenEdges.of(live)
    live.normalizer = normalizers.Lowercase()
    second = TokenEdges.of(live)
    assert second is not first
    assert TokenEdges.of(live) is second
    assert TokenEdges.of(live, "text").vocabulary is second.vocabulary
    assert len(loaded) == 2


def test_a_file_that_changes_before_its_program_is_needed(loaded: list[object], file: Path) -> None:
    edges = TokenEdges.of(file)
    other = backend()
    other.normalizer = normalizers.Lowercase()
    replaced(file, other.to_str())
    assert edges.running is None
    assert "changed" in edges.why_not_running


def test_few_are_kept(loaded: list[object], file: Path, tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.json" for number in range(token_edges._MOST_KEPT + 1)]
    for path in files:
        shutil.copy(file, path)
        TokenEdges.of(path)
        TokenEdges.of(files[0])  # used last, so it stays
    assert len(token_edges._kept) == token_edges._MOST_KEPT
    assert loaded == files
    TokenEdges.of(files[1])
    assert loaded == [*files, files[1]]


def test_what_has_no_program(loaded: list[object]) -> None:
    edges = TokenEdges.of(tk.Vocabulary.load(backend(), stop=()))
    assert edges.running is None
    assert "pass the tokenizer itself" in edges.why_not_running
    with pytest.raises(tk.UnsupportedTokenizerError):
        TokenEdges.of([b"a", b"b"])


@pytest.mark.parametrize("reading", READINGS)
def test_a_live_tokenizer_is_tested_first(reading: ControlTokens) -> None:
    """No proof about a program that writes other tokens than the tables say."""
    name = "encode" if reading == "read" else "encode_text"
    encode = getattr(RunningTokenizer, name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunningTokenizer, name, lambda self, text: encode(self, text)[:-1])
        other = backend()
        other.add_tokens(["not tested before"])
        with pytest.raises(tk.TokenizerMismatchError):
            guard.boundary(other, "ab", control_tokens=reading)
