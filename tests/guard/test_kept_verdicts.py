"""Passed self-tests on disk: found again, keyed by all that they depend on, tested again where damaged."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tokamata as tk
from tests.support.models.small_models import small_tokenizer
from tests.support.paths import ROOT
from tests.support.tokenizers.random_tokenizers import random_tokenizer
from tokamata.resources import kept_files
from tokamata.tokenization import kept_verdicts
from tokamata.tokenization import self_test as tests

ANYTHING = tk.regex("(?s:.*)")


@pytest.fixture(autouse=True)
def folder(cache: Path) -> Path:
    """Where passed tests are kept."""
    return cache / "tokamata-derived" / "self-tests"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The outcomes of tests that ran, and were not read from disk."""
    found: list[Any] = []
    original = tests.self_test

    def counted(*arguments: Any) -> Any:
        found.append(original(*arguments))
        return found[-1]

    monkeypatch.setattr(tests, "self_test", counted)
    return found


def compiled(tokenizer: Any, **options: Any) -> None:
    vocabulary = tk.Vocabulary.load(tokenizer, **{"stop": (), **options})
    ANYTHING.compile(vocabulary, tokenization="canonical")


def test_kept_once_and_used_again(folder: Path, run: list[Any]) -> None:
    tokenizer, _ = random_tokenizer(3)
    for _ in range(3):
        compiled(tokenizer)
    assert len(run) == 1
    (file,) = folder.iterdir()
    assert kept_verdicts.load(file.stem) == {
        "texts": run[0].texts,
        "tokens": run[0].tokens,
        "changed": run[0].changed,
    }
    again, _ = random_tokenizer(3)
    compiled(again)
    assert len(run) == 1


CHANGES: dict[str, Callable[[Any], None]] = {
    "an added token": lambda backend: backend.add_tokens(["<new>"]),
    "a flag": lambda backend: setattr(backend, "encode_special_tokens", True),
    "an option of the model": lambda backend: setattr(backend.model, "fuse_unk", True),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_it_depends_on(run: list[Any], change: str) -> None:
    """Another definition, flag or version has a test of its own."""
    compiled(small_tokenizer().backend_tokenizer)
    backend = small_tokenizer().backend_tokenizer
    CHANGES[change](backend)
    try:
        compiled(backend)
    except tk.TokenizerMismatchError:
        assert change == "a flag"  # the tables read control tokens from texts
    assert len(run) == 2


def test_004_version_and_flags_do_not_identify_a_tokenizer() -> None:
    """Proposition 2 keys verdicts by them: here the same, of two tokenizers that cut ``twone`` otherwise."""
    first = small_tokenizer().backend_tokenizer
    document = json.loads(first.to_str())
    merges = document["model"]["merges"]
    assert (merges[7], merges[10]) == (["o", "n"], ["tw", "o"])
    merges[7], merges[10] = merges[10], merges[7]
    second = first.from_str(json.dumps(document))
    assert first.encode("twone", add_special_tokens=False).tokens == ["tw", "one"]
    assert second.encode("twone", add_special_tokens=False).tokens == ["two", "n", "e"]
    keys, programs = set(), set()
    for backend in (first, second):
        running = tests.RunningTokenizer(backend)
        programs.add((running.program, backend.encode_special_tokens, backend.model.dropout))
        vocabulary = tk.Vocabulary.load(backend, stop=())
        keys.add(tests._key(vocabulary, backend, running, running.facts(), b""))
    assert len(programs) == 1
    assert len(keys) == 2
    assert None not in keys


def test_other_versions_and_stop_tokens(run: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    import tokenizers

    tokenizer = small_tokenizer().backend_tokenizer
    compiled(tokenizer)
    compiled(tokenizer, stop=[5])
    assert len(run) == 2
    monkeypatch.setattr(tokenizers, "__version__", "0.99.1")
    compiled(tokenizer)
    assert len(run) == 3
    monkeypatch.setattr(kept_files.version, "__version__", "99.0")
    compiled(tokenizer)
    assert len(run) == 4


def test_a_failed_test_is_not_kept(folder: Path, run: list[Any]) -> None:
    backend = small_tokenizer().backend_tokenizer
    backend.encode_special_tokens = True
    for _ in range(2):
        with pytest.raises(tk.TokenizerMismatchError):
            compiled(backend)
    assert len(run) == 2
    assert not folder.exists()


def _forged(file: Path) -> None:
    """The verdict of another tokenizer, under this name."""
    known = json.loads(file.read_bytes())
    known["key"] = "0" * 64
    file.write_text(json.dumps(known))


def _more_texts(file: Path) -> None:
    known = json.loads(file.read_bytes())
    known["counts"]["texts"] += 1
    file.write_text(json.dumps(known))


def _endless_texts(file: Path) -> None:
    counts = {"texts": float("inf")}
    known = {"key": file.stem, "counts": counts, "sum": kept_verdicts._sum(file.stem, counts)}  # type: ignore[arg-type]
    file.write_text(json.dumps(known))


def _folder_in_place(file: Path) -> None:
    file.unlink()
    file.mkdir()


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": lambda file: file.write_bytes(b""),
    "cut off": lambda file: file.write_bytes(file.read_bytes()[:-9]),
    "not JSON": lambda file: file.write_bytes(b"\xff\x00{"),
    "a list": lambda file: file.write_text("[]"),
    "null": lambda file: file.write_text('{"key": null, "counts": null, "sum": null}'),
    "nested": lambda file: file.write_text("[" * 4000),
    "long": lambda file: file.write_bytes(file.read_bytes() + b" " * (1 << 22)),
    "of another": _forged,
    "other counts": _more_texts,
    "endless counts": _endless_texts,
    "a folder": _folder_in_place,
    "gone": Path.unlink,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files_are_tested_again(folder: Path, run: list[Any], damage: str) -> None:
    tokenizer = small_tokenizer().backend_tokenizer
    compiled(tokenizer)
    (file,) = folder.iterdir()
    DAMAGES[damage](file)
    compiled(tokenizer)
    assert len(run) == 2
    compiled(tokenizer)
    assert len(run) == (3 if damage == "a folder" else 2)


def test_a_renamed_file_is_not_believed(folder: Path, run: list[Any]) -> None:
    """The file of a tokenizer that passed, under the name of one that fails."""
    compiled(small_tokenizer().backend_tokenizer)
    (file,) = folder.iterdir()
    wrong = small_tokenizer().backend_tokenizer
    wrong.encode_special_tokens = True
    vocabulary = tk.Vocabulary.load(wrong, stop=())
    running = tests.RunningTokenizer(wrong)
    key = tests._key(vocabulary, wrong, running, running.facts(), b"")
    assert key is not None
    assert key != file.stem
    shutil.copy(file, folder / f"{key}.json")
    with pytest.raises(tk.TokenizerMismatchError):
        ANYTHING.compile(vocabulary, tokenization="canonical")
    assert len(run) == 2


@pytest.mark.parametrize("how", ["off", "a file in place of the folder"])
def test_nothing_can_be_kept(cache: Path, run: list[Any], monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    if how == "off":
        monkeypatch.setenv("TOKAMATA_CACHE", "off")
    else:
        cache.write_text("a file, where a folder should be")
    for _ in range(2):
        compiled(small_tokenizer().backend_tokenizer)
    assert len(run) == 2


_PROGRAM = """
import tokamata as tk
from tests.support.tokenizers.random_tokenizers import random_tokenizer
for seed in (3, 4):
    vocabulary = tk.Vocabulary.load(random_tokenizer(seed)[0], stop=())
    tk.regex("(?s:.*)").compile(vocabulary, tokenization="canonical")
"""


@pytest.mark.slow
def test_two_processes_at_once(folder: Path) -> None:
    started = [subprocess.Popen([sys.executable, "-c", _PROGRAM], cwd=ROOT) for _ in range(2)]
    assert [process.wait(timeout=200) for process in started] == [0, 0]
    files = list(folder.iterdir())
    assert len(files) == 2
    assert all(kept_verdicts.load(file.stem) for file in files)


def test_overridden_methods_are_not_in_the_key(run: list[Any]) -> None:
    """What the methods do is not known to the next process."""
    from transformers import PreTrainedTokenizerFast

    class Own(PreTrainedTokenizerFast):  # type: ignore[misc]
        def __call__(self, text: str, **settings: Any) -> Any:
            return super().__call__(text, **settings)

    for _ in range(2):
        compiled(Own(tokenizer_object=small_tokenizer().backend_tokenizer))
    assert len(run) == 2
