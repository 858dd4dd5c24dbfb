"""The running tokenizer: what each package writes, with control tokens and without, and that nothing
changes."""

from __future__ import annotations

import copy
import threading
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, models
from transformers import ByT5Tokenizer, PreTrainedTokenizerFast

import tokamata as tk
from tests.support.models.small_models import small_tokenizer
from tests.support.tokenizers.canonical_tokenizers import SOURCES, Source
from tests.support.tokenizers.real_tokenizers import own_tokenizer, package_file
from tokamata.tokenization.adversarial_texts import CORPUS
from tokamata.tokenization.running import RunningTokenizer

BY_NAME = {source.name: source for source in SOURCES}


def path_of(source: Source) -> Path:
    return package_file(source.package, source.file, source.document)


@cache
def running_of(name: str) -> RunningTokenizer:
    """The program of a real tokenizer: the object that the judge has, or that of the file."""
    pipeline = BY_NAME[name].judged().vocabulary.pipeline
    return RunningTokenizer((pipeline and pipeline.program()) or path_of(BY_NAME[name]))


@pytest.mark.parametrize("name", ["bert", "llama-2", "gpt2", "mistral-sp", "tekken"])
def test_it_writes_what_the_judge_writes(name: str) -> None:
    judged, running = BY_NAME[name].judged(), running_of(name)
    for text in CORPUS:
        ids = running.encode(text)
        assert ids == judged.encode(text)
        decoded = judged.decode(ids)
        assert decoded is None or name == "bert" or running.decode(ids) == decoded


def test_names_of_control_tokens_as_text(tmp_path: Path) -> None:
    own, path = own_tokenizer(path_of(BY_NAME["bert"])), tmp_path / "tokenizer.json"
    own.add_tokens(["<tool_call>"])
    own.save(str(path))
    control = next(entry.content for entry in own.get_added_tokens_decoder().values() if entry.special)
    text = f"a {control}b<tool_call> {control[:-1]}"
    own.encode_special_tokens = True
    as_text = own.encode(text, add_special_tokens=False).ids
    running = RunningTokenizer(path)
    assert running.encode_text(text) == as_text != running.encode(text)
    fast = PreTrainedTokenizerFast(tokenizer_object=own_tokenizer(path))
    assert RunningTokenizer(fast).encode_text(text) == as_text
    split = fast(text, add_special_tokens=False, split_special_tokens=True)
    assert split["input_ids"] == as_text


def test_names_of_control_tokens_in_other_packages() -> None:
    encoding = BY_NAME["gpt2"].judged().vocabulary.pipeline.program()  # type: ignore[union-attr]
    running = RunningTokenizer(encoding)
    text = "a<|endoftext|>"
    assert running.encode(text) == encoding.encode(text, allowed_special="all")
    assert running.encode_text(text) == encoding.encode_ordinary(text)
    assert running.program.startswith("tiktoken ")


@pytest.mark.parametrize("name", ["mistral-sp", "tekken"])
def test_packages_that_never_read_control_tokens(name: str) -> None:
    running = running_of(name)
    assert running.encode_text("a</s>") == running.encode("a</s>")
    assert running.decode(running.encode("a</s>")) == "a</s>"


def test_a_tokenizer_written_in_python() -> None:
    tokenizer = ByT5Tokenizer()
    running = RunningTokenizer(tokenizer)
    text = "é<extra_id_0>"
    assert running.encode(text) == tokenizer(text, add_special_tokens=False)["input_ids"]
    assert running.encode_text(text) == [byte + 3 for byte in text.encode()]
    assert running.facts() == RunningTokenizer(ByT5Tokenizer()).facts()


def _settings(backend: Any) -> Any:
    return backend.to_str(), backend.truncation, backend.padding, backend.encode_special_tokens


def test_the_tokenizer_does_not_change() -> None:
    """Truncation, padding and the flag of special tokens stay, and do not show in the ids."""
    text = "abc one two <eos> 1234"
    plain = RunningTokenizer(small_tokenizer()).encode(text)
    as_text = RunningTokenizer(small_tokenizer()).encode_text(text)
    assert plain != as_text
    tokenizer = small_tokenizer()
    backend = tokenizer.backend_tokenizer
    for direction in ("right", "left"):
        backend.enable_truncation(4, stride=1, direction=direction)
        backend.enable_padding(length=32, direction=direction, pad_id=0, pad_token="<pad>")
        for given in (tokenizer, backend):
            before = _settings(backend)
            running = RunningTokenizer(given)
            assert running.encode(text) == plain
            assert running.encode("ab") == RunningTokenizer(small_tokenizer()).encode("ab")
            assert running.encode_text(text) == as_text
            assert _settings(backend) == before
    backend.encode_special_tokens = True
    assert RunningTokenizer(backend).encode(text) == as_text
    assert backend.encode_special_tokens


class Shouting(PreTrainedTokenizerFast):  # type: ignore[misc]
    """Overrides what transformers calls."""

    def __call__(self, text: str, **settings: Any) -> Any:
        return super().__call__(text.upper(), **settings)


def test_a_derived_class_is_asked_by_its_own_methods() -> None:
    tokenizer = Shouting(tokenizer_object=small_tokenizer().backend_tokenizer)
    plain = RunningTokenizer(small_tokenizer())
    running = RunningTokenizer(tokenizer)
    assert running.encode("ab") == plain.encode("AB")
    assert not running.is_of_package
    assert plain.is_of_package
    tokenizer.backend_tokenizer.enable_truncation(3)
    tokenizer.backend_tokenizer.encode_special_tokens = True
    before = _settings(tokenizer.backend_tokenizer)
    assert running.encode("abababab <eos>") == plain.encode("ABABABAB <EOS>")
    assert _settings(tokenizer.backend_tokenizer) == before


def test_threads_do_not_see_each_other() -> None:
    tokenizer = small_tokenizer()
    running = RunningTokenizer(tokenizer)
    text, wrong = "ab<eos>c", []
    plain, as_text = running.encode(text), running.encode_text(text)

    def encode(each: int) -> None:
        for _ in range(300):
            found = running.encode(text) if each % 2 else running.encode_text(text)
            if found != (plain if each % 2 else as_text):
                wrong.append(found)

    threads = [threading.Thread(target=encode, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_ids_with_holes() -> None:
    """The second tokenizer of the same model numbers its added tokens otherwise."""
    backend = Tokenizer(models.BPE({"a": 0, "b": 7}, []))
    backend.add_special_tokens(["<x>"])
    backend.add_tokens(["<y>"])
    running = RunningTokenizer(backend)
    encode_apart = copy.deepcopy(backend)
    encode_apart.encode_special_tokens = True
    for text in ("ab<x>a<y>", "<y><x>", "b"):
        assert running.encode_text(text) == encode_apart.encode(text, add_special_tokens=False).ids


def test_what_has_no_program(tmp_path: Path) -> None:
    ranks = tmp_path / "a.tiktoken"
    ranks.write_bytes(b"YQ== 0\n")
    for source in (ranks, [b"a"], object(), tmp_path / "none"):
        with pytest.raises(tk.VocabularyError):
            RunningTokenizer(source)


def test_hostile_files_and_texts(tmp_path: Path) -> None:
    """A program's own error becomes one of this package; Rust's panics do, too."""
    file = tmp_path / "tokenizer.json"
    for content in (
        "{}",
        '{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [["a", "zz"]]}}',
        "{",
        "[]",
    ):
        file.write_text(content)
        with pytest.raises(tk.VocabularyError):
            RunningTokenizer(file)
    running = RunningTokenizer(small_tokenizer())
    with pytest.raises(tk.ArgumentError):
        running.encode("\ud800")
    with pytest.raises(tk.VocabularyError, match=r"fails on \[-1\]"):
        running.decode([-1])


@pytest.mark.parametrize("name", ["bert", "llama-2", "gpt2", "mistral-sp"])
def test_many_texts_at_once(name: str) -> None:
    running = running_of(name)
    texts = ["", *CORPUS[:200]]
    written = running.encode_many(texts)
    assert written == list(map(running.encode, texts))
    assert running.encode_text_many(texts) == list(map(running.encode_text, texts))
    assert running.decode_many(written) == list(map(running.decode, written))
    assert running.encode_many([]) == []
    normal = running.normalize_many(["ÀB c"])
    expected = {"bert": "ab c", "llama-2": "▁ÀB▁c", "mistral-sp": "▁ÀB▁c"}
    assert normal == ([expected[name]] if name in expected else None)
    assert running.unknown == {"bert": 100, "llama-2": 0, "mistral-sp": 0}.get(name)


def test_many_texts_are_neither_cut_nor_padded() -> None:
    texts = ["abc one two <eos> 1234", "a"]
    plain = RunningTokenizer(small_tokenizer()).encode_many(texts)
    tokenizer = small_tokenizer()
    tokenizer.backend_tokenizer.enable_truncation(4)
    tokenizer.backend_tokenizer.enable_padding(length=32, pad_id=0, pad_token="<pad>")
    before = _settings(tokenizer.backend_tokenizer)
    for given in (tokenizer, tokenizer.backend_tokenizer):
        assert RunningTokenizer(given).encode_many(texts) == plain
    assert _settings(tokenizer.backend_tokenizer) == before
    shouting = Shouting(tokenizer_object=tokenizer.backend_tokenizer)
    loud = RunningTokenizer(small_tokenizer()).encode_many([text.upper() for text in texts])
    assert RunningTokenizer(shouting).encode_many(texts) == loud
    assert _settings(tokenizer.backend_tokenizer) == before
