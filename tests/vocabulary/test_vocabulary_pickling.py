"""Vocabularies of every family, pickled: all of it travels, so that no file and no tokenizer is needed."""

from __future__ import annotations

import copy
import json
import pickle
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tokamata as tk
from tests.support.masks import allowed
from tests.support.tokenizers.random_tokenizers import random_tokenizer
from tests.support.tokenizers.small_tokenizers import LLAMA_2, added, document
from tests.support.vocabularies import BYTES
from tests.vocabulary.test_gguf import write
from tests.vocabulary.test_vocabulary_objects import sentence_piece_model
from tokamata.tokenization import canonical
from tokamata.vocabulary import vocabulary as vocabularies

SMALL = document(
    {"<unk>": 0, "a": 1, "▁b": 2, "<0x0A>": 3, "é": 4},
    LLAMA_2,
    (added(5, "<s>"), added(6, "</s>"), added(7, "<td>", special=False)),
    unk_token="<unk>",
)
WORDS = document(
    {"[UNK]": 0, "##a": 1, "b": 2}, {"type": "WordPiece", "prefix": "##", "cleanup": True}, (), "WordPiece"
)


def from_list(_: Path) -> Any:
    return [*BYTES, None, None, b""]


def written(file: Any) -> Callable[[Path], Any]:
    def make(folder: Path) -> Any:
        (folder / "tokenizer.json").write_text(json.dumps(file))
        (folder / "generation_config.json").write_text('{"eos_token_id": 2}')
        return folder

    return make


def tokenizers_object(_: Path) -> Any:
    return random_tokenizer(3)[0]


def transformers_tokenizer(_: Path) -> Any:
    transformers = pytest.importorskip("transformers")
    return transformers.PreTrainedTokenizerFast(tokenizer_object=random_tokenizer(4)[0])


def tiktoken_encoding(_: Path) -> Any:
    tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is an extra")
    ranks = {bytes([value]): value for value in range(256)} | {b"ab": 256, b"abc": 257, b" a": 258}
    special = {"<|endoftext|>": 259}
    return tiktoken.Encoding("small", pat_str=r" ?\w+|\s+|.", mergeable_ranks=ranks, special_tokens=special)


def tiktoken_ranks(folder: Path) -> Any:
    (folder / "small.tiktoken").write_text("YQ== 0\nYg== 1\nYWI= 3\n")
    return folder


def sentence_piece_file(folder: Path) -> Any:
    (folder / "tokenizer.model").write_bytes(sentence_piece_model(byte_fallback=True))
    return folder


def sentence_piece_processor(_: Path) -> Any:
    module = pytest.importorskip("sentencepiece", reason="sentencepiece is an extra")
    return module.SentencePieceProcessor(model_proto=sentence_piece_model(byte_fallback=True))


def gguf_file(folder: Path) -> Any:
    return write(folder / "model.gguf", eos_token_id=2)


FAMILIES: dict[str, Callable[[Path], Any]] = {
    "list": from_list,
    "tokenizer.json": written(SMALL),
    "tokenizer.json, words": written(WORDS),
    "tokenizers": tokenizers_object,
    "transformers": transformers_tokenizer,
    "tiktoken": tiktoken_encoding,
    "tiktoken ranks": tiktoken_ranks,
    "sentencepiece": sentence_piece_processor,
    "sentencepiece file": sentence_piece_file,
    "gguf": gguf_file,
}


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """As another process, this one does not know what it has pickled."""
    monkeypatch.setattr(vocabularies._SHARED, "note", lambda key, value: None)


@pytest.mark.parametrize("options", [{}, {"stop": (), "width": 1000}])
@pytest.mark.parametrize("family", FAMILIES)
def test_everything_travels(family: str, options: dict[str, Any], tmp_path: Path) -> None:
    vocabulary = tk.Vocabulary.load(FAMILIES[family](tmp_path), **options)
    pipeline = vocabulary.pipeline and vocabulary.pipeline.content()
    data = pickle.dumps(vocabulary)
    for path in tmp_path.iterdir():
        path.unlink()
    twin = pickle.loads(data)
    assert twin is not vocabulary
    assert repr(twin) == repr(vocabulary)
    assert (twin.tokens, twin.stop, twin.width) == (vocabulary.tokens, vocabulary.stop, vocabulary.width)
    assert [*map(twin.name, range(twin.width))] == [*map(vocabulary.name, range(twin.width))]
    assert twin.start_tokens() == vocabulary.start_tokens()
    assert (twin.pipeline and twin.pipeline.content()) == pipeline
    assert twin.core.content == vocabulary.core.content
    assert pickle.loads(data) is twin
    assert pickle.dumps(twin) == data
    assert copy.copy(twin) is copy.deepcopy(twin) is twin


@pytest.mark.parametrize("family", ["tokenizers", "tiktoken"])
def test_canonical_masks_need_no_tokenizer(family: str, tmp_path: Path) -> None:
    vocabulary = tk.Vocabulary.load(FAMILIES[family](tmp_path))
    twin = pickle.loads(pickle.dumps(vocabulary))
    assert canonical.tokenization_of(twin) is not canonical.tokenization_of(vocabulary)
    matchers = [
        tk.regex("(?s:.*)").compile(one, tokenization="canonical").matcher() for one in (vocabulary, twin)
    ]
    for _ in range(8):
        masks = [allowed(matcher) for matcher in matchers]
        assert masks[0] == masks[1]
        assert all(matcher.advance(max(masks[0])) for matcher in matchers)


def test_a_file_that_has_changed_is_not_pickled(tmp_path: Path) -> None:
    vocabulary = tk.Vocabulary.load(written(SMALL)(tmp_path))
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(tk.VocabularyError, match="has changed since it was loaded"):
        pickle.dumps(vocabulary)
    gone = tk.Vocabulary.load(written(SMALL)(tmp_path))
    kept = tk.Vocabulary.load(written(SMALL)(tmp_path))
    data = pickle.dumps(kept)
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(tk.VocabularyError, match="cannot be read any more"):
        pickle.dumps(gone)
    assert pickle.dumps(kept) == data  # what was packed once stays


def test_damaged_pickles() -> None:
    make, (digest, tokens, pipeline) = tk.Vocabulary.load(random_tokenizer(5)[0]).__reduce__()
    other = zlib.compress(zlib.decompress(tokens) + b" ")
    for damaged in (b"", tokens[:-1], other):
        with pytest.raises(tk.VocabularyError, match="its digest differs"):
            make(digest, damaged, pipeline)
    twin = make(digest, tokens, zlib.compress(b"{}"))
    assert twin.pipeline is not None
    with pytest.raises(tk.VocabularyError, match="its digest differs"):
        tk.regex("a*").compile(twin, tokenization="canonical")


def test_equal_vocabularies_are_one_after_unpickling() -> None:
    first, second = (tk.Vocabulary.load([*BYTES, None], stop=256) for _ in range(2))
    other = tk.Vocabulary.load([*BYTES, None], stop=256, width=300)
    one, two, three = (pickle.loads(pickle.dumps(each)) for each in (first, second, other))
    assert one is two
    assert three is not one
    assert three.width == 300
