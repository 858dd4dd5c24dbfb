"""Tokens of a ``tokenizer.json`` on disk: the same as those that are read from the file itself."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tokamata as tk
from tests.support.tokenizers.small_tokenizers import added, document
from tokamata.vocabulary import kept_tokens, sources

_TEXTS = {"<unk>": 0, "▁the": 1, "▁": 2, "cat": 3, "<0x0A>": 4, "é漢": 5, "▁▁a": 6}
_DECODERS: dict[str, Any] = {
    "mid-text alone": {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]},
    "with a start": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
}


@pytest.fixture(autouse=True)
def folder(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which tokens are kept however small the file."""
    monkeypatch.setattr(kept_tokens, "_LEAST_BYTES", 0)
    return cache / "tokamata-derived" / "tokens"


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """How often a file was parsed."""
    found: list[None] = []
    read = sources.table_from_tokenizer_json

    def counted(document: object, where: str) -> Any:
        found.append(None)
        return read(document, where)

    monkeypatch.setattr(sources, "table_from_tokenizer_json", counted)
    return found


def written(tmp_path: Path, decoder: str = "with a start", extra: str = "x") -> Path:
    model = {"type": "BPE", "vocab": {**_TEXTS, extra: 7}, "merges": [], "unk_token": "<unk>"}
    added = [{"id": 9, "content": "<eos>", "special": True}, {"id": 10, "content": "<é>", "special": True}]
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({"model": model, "added_tokens": added, "decoder": _DECODERS[decoder]}))
    return path


def everything(vocabulary: tk.Vocabulary) -> Any:
    names = [vocabulary.name(token) for token in range(len(vocabulary))]
    return list(vocabulary.tokens), names, vocabulary.stop, vocabulary.start_tokens()


@pytest.mark.parametrize("decoder", _DECODERS)
def test_the_same_as_from_the_file(
    tmp_path: Path, folder: Path, parsed: list[None], decoder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, decoder)
    made = everything(tk.Vocabulary.load(path, stop="<eos>"))
    assert (made[3] is not None) == (decoder == "with a start")
    assert len(parsed) == len(list(folder.iterdir())) == 1
    kept = tk.Vocabulary.load(path, stop="<eos>")
    assert len(parsed) == 1
    assert everything(kept) == made
    assert len(parsed) == (1 if made[3] is None else 2)  # the start, where it was requested
    assert kept.pipeline is not None
    assert kept.pipeline.content() == path.read_bytes()
    monkeypatch.setenv("TOKAMATA_CACHE", "off")
    assert everything(tk.Vocabulary.load(path, stop="<eos>")) == made


def test_another_file_has_tokens_of_its_own(tmp_path: Path, parsed: list[None]) -> None:
    first = everything(tk.Vocabulary.load(written(tmp_path)))
    second = everything(tk.Vocabulary.load(written(tmp_path, extra="y")))
    assert first != second
    assert everything(tk.Vocabulary.load(written(tmp_path))) == first


def test_damaged_files_are_made_anew(tmp_path: Path, folder: Path, parsed: list[None]) -> None:
    path = written(tmp_path, "mid-text alone")
    made = everything(tk.Vocabulary.load(path))
    (file,) = folder.iterdir()
    content, draw = file.read_bytes(), random.Random(3)
    for number in range(60):
        damaged = bytearray(content)
        damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
        file.write_bytes(draw.choice([damaged, damaged[: draw.randrange(len(damaged))]]))
        assert everything(tk.Vocabulary.load(path)) == made
        assert len(parsed) == number + 2
        assert file.read_bytes() == content


@pytest.mark.parametrize(
    "change",
    [
        lambda body: (1 << 60).to_bytes(8, "little") + body[8:],
        lambda body: body[:8] + b"\xfe\xff\xff\xff" + body[12:],
        lambda body: body[:8] + b"\xff\xff\xff\x7f" + body[12:],
        lambda body: body[: body.rindex(b"{")] + b"[]",
        lambda body: body[: body.rindex(b"{")] + b'{"names": 1, "has_start_rule": false}',
        lambda body: body[: body.rindex(b"{")] + b'{"names": [[-1, "x"]], "has_start_rule": false}',
        lambda body: body[: body.rindex(b"{")] + b'{"names": [["x", "x"]], "has_start_rule": false}',
        lambda body: body[: body.rindex(b"{")] + b"[" * 200_000,
        lambda body: body + b"\xff",
        lambda body: b"",
    ],
)
def test_forged_files_are_made_anew(
    tmp_path: Path, folder: Path, parsed: list[None], change: Callable[[bytes], bytes]
) -> None:
    """Files whose digest fits, though they are not what was written."""
    path = written(tmp_path, "mid-text alone")
    made = everything(tk.Vocabulary.load(path))
    (file,) = folder.iterdir()
    content = file.read_bytes()
    body = change(content[32:])
    file.write_bytes(hashlib.sha256(body).digest() + body)
    assert everything(tk.Vocabulary.load(path)) == made
    assert len(parsed) == 2
    assert file.read_bytes() == content


@pytest.mark.parametrize("decoder", _DECODERS)
@pytest.mark.parametrize("wrap", [False, True])
def test_live_tokenizers_with_their_content(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, decoder: str, wrap: bool
) -> None:
    """The same tokens and content, the first time, from disk, without a cache, and until a change."""
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    made = document(_TEXTS, _DECODERS[decoder], (added(7, "<eos>"), added(8, "<é>")), unk_token="<unk>")
    live = tokenizers.Tokenizer.from_str(json.dumps(made))
    source = transformers.PreTrainedTokenizerFast(tokenizer_object=live) if wrap else live
    backend = source.backend_tokenizer if wrap else live
    expected = everything(tk.Vocabulary.load(source, stop=()))
    assert not folder.exists()

    def whole() -> tk.Vocabulary:
        return tk.Vocabulary(replace(sources.read_source(source, is_whole=True), stop=()))

    for turn in range(3):
        if turn == 2:
            monkeypatch.setenv("TOKAMATA_CACHE", "off")
        vocabulary = whole()
        pipeline = vocabulary.pipeline
        assert pipeline is not None
        for _ in range(2):
            assert pipeline.content() == backend.to_str().encode()
        assert everything(vocabulary) == expected
        assert len(list(folder.iterdir())) == 1
    monkeypatch.setenv("TOKAMATA_CACHE", str(tmp_path / "cache"))
    backend.add_tokens(["<new>"])
    with pytest.raises(tk.VocabularyError, match="changed"):
        pipeline.content()
    assert len(whole()) == len(expected[0]) + 1
    assert len(list(folder.iterdir())) == 2
