"""The logger ``tokamata``: what it reports, and that it does nothing unless somebody listens."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tokamata as tk
from tests.support.vocabularies import BYTES
from tokamata.matching import kept_compiled
from tokamata.patterns.grammars import kept_rules
from tokamata.resources import kept_files
from tokamata.tokenization import kept_tables, kept_verdicts
from tokamata.vocabulary import kept_tokens

LOG = logging.getLogger("tokamata")


@pytest.fixture(autouse=True)
def off() -> None:
    """As a program that knows nothing of the logger."""
    LOG.setLevel(logging.NOTSET)


def work(vocabulary: tk.Vocabulary, pattern: str) -> None:
    tk.Vocabulary.load([*BYTES, None], stop=[256])
    tk.regex(pattern).compile(vocabulary).prepare(seconds=0.5)


@pytest.mark.shared_states
def test_times(byte_vocabulary: tk.Vocabulary, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "tokamata"):
        work(byte_vocabulary, "of times [a-c]")
        tk.regex("of times [a-c]").compile(byte_vocabulary)
    texts = [record.getMessage() for record in caplog.records]
    assert {record.levelname for record in caplog.records} == {"DEBUG"}
    assert texts[0].startswith("read 257 tokens of list in 0.")
    assert texts[1].startswith("compiled 'of times [a-c]' in 0.")
    assert texts[2].startswith("prepared ")
    assert texts[3] == "found what an equal constraint had compiled of 'of times [a-c]'"


def test_a_grammar_that_is_read(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "tokamata"):
        tk.grammar('start: A B*\nA: "of"\nB: "logs"', lexer="basic")
    assert any("grammar with 2 terminals" in record.getMessage() for record in caplog.records)


def test_texts_that_are_written(model: Any, tokenizer: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "tokamata"):
        tk.generate(model, tokenizer, "x", tk.regex("(one )*two"), deadline_seconds=0.0)
    assert [record.getMessage() for record in caplog.records] == [
        "closing from byte 0 on, since the time was over"
    ]
    caplog.clear()
    with caplog.at_level(logging.DEBUG, "tokamata"):
        result = tk.generate(model, tokenizer, "x", tk.regex("[0-9]{3}"), seed=1)
    last = caplog.records[-1].getMessage()
    assert last.startswith(f"wrote {len(result.tokens)} tokens: complete; the masks of the call took 0.")


def test_nothing_is_made_of_a_message_unless_it_is_listened_to(
    byte_vocabulary: tk.Vocabulary, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    made = logging.Logger.makeRecord

    def counted(self: logging.Logger, *args: Any, **options: Any) -> logging.LogRecord:
        calls.append("record")
        return made(self, *args, **options)

    class Pattern(str):
        def __repr__(self) -> str:
            calls.append("repr")
            return super().__repr__()

    monkeypatch.setattr(logging.Logger, "makeRecord", counted)
    assert LOG.getEffectiveLevel() > logging.DEBUG
    work(byte_vocabulary, Pattern("of calls [a-c]"))
    assert calls == []
    LOG.setLevel(logging.DEBUG)
    try:
        work(byte_vocabulary, Pattern("of calls [a-d]"))
    finally:
        LOG.setLevel(logging.NOTSET)
    assert calls.count("record") == 3


def test_silent_without_a_handler(tmp_path: Path) -> None:
    """Not even warnings, which the standard library would write to standard error without a handler."""
    code = (
        "import tokamata as tk, logging\n"
        "from pathlib import Path\n"
        "from tokamata.resources import kept_files\n"
        "kept_files.note_damage(Path('x'))\n"
        "logging.basicConfig(format='%(name)s %(levelname)s %(message)s')\n"
        "kept_files.note_damage(Path('y'))\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == ""
    assert result.stderr == "tokamata WARNING y is damaged; its content is computed again\n"


def test_a_cache_that_cannot_be_written(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"")
    with caplog.at_level(logging.INFO, "tokamata"):
        kept_files.write(file / "kind" / "name", lambda _: None)
    [record] = caplog.records
    assert record.levelname == "INFO"
    assert record.getMessage() == f"{file / 'kind' / 'name'} cannot be written: Not a directory"


def tables(folder: Path) -> tuple[Path, Callable[[], object]]:
    kept_tables.keep("0", {"numbers": np.arange(3), "added_texts": [b"a"], "forbidden_texts": []})
    return folder / "0.npz", lambda: kept_tables.load("0")


def verdicts(folder: Path) -> tuple[Path, Callable[[], object]]:
    kept_verdicts.keep("0", {"texts": 3})
    return folder / "0.json", lambda: kept_verdicts.load("0")


@pytest.mark.parametrize("kind", ["tokenizations", "self-tests"])
@pytest.mark.parametrize("damage", [lambda data: data[: len(data) // 2], lambda data: b""])
def test_damaged_files_are_named(
    cache: Path, kind: str, damage: Callable[[bytes], bytes], caplog: pytest.LogCaptureFixture
) -> None:
    makers = {"tokenizations": (kept_tables, tables), "self-tests": (kept_verdicts, verdicts)}
    module, make = makers[kind]
    folder = kept_files.folder_of(module._KIND)
    assert folder is not None
    path, load = make(folder)
    assert load() is not None
    path.write_bytes(damage(path.read_bytes()))
    assert load() is None
    path.unlink()
    assert load() is None  # absent, which is not worth a word
    [record] = caplog.records
    assert record.levelname == "WARNING"
    assert record.getMessage() == f"{path} is damaged; its content is computed again"


def test_damaged_tokens_and_rules_are_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "kept"
    path.write_bytes(b"x" * 100)
    assert kept_tokens.load(path, lambda: tk.Vocabulary) is None  # type: ignore[arg-type, return-value]
    assert kept_rules._load(path, [], None) is None  # type: ignore[arg-type]
    assert [record.getMessage() for record in caplog.records] == [
        f"{path} is damaged; its content is computed again"
    ] * 2


def test_masks_that_cannot_be_used_are_named(
    byte_vocabulary: tk.Vocabulary,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    path = tmp_path / "saved"
    compiled = tk.regex("[a-c]+").compile(byte_vocabulary)
    compiled.prepare()
    compiled.save(path)
    tk.load(path, byte_vocabulary)
    assert caplog.records == []
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    tk.load(path, byte_vocabulary)
    path.write_bytes(whole)
    monkeypatch.setattr(kept_compiled, "__version__", "0.0.1")
    tk.load(path, byte_vocabulary)
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("WARNING", f"the masks in {path} are {why}; they are computed again")
        for why in ("damaged or too large", "of another version")
    ]
