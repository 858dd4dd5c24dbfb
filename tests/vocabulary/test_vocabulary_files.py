"""Files and folders: told apart by their contents, stop tokens beside them, and bad ones."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.tokenizers.small_tokenizers import FUSE, LLAMA_2, added, document
from tokamata.errors import VocabularyError
from tokamata.vocabulary import Vocabulary

SMALL = document({"<unk>": 0, "a": 1, "▁b": 2, "<0x0A>": 3}, LLAMA_2, (added(4, "<s>"), added(5, "</s>")))


def write(path: Path, content: Any) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def ranks(*tokens: bytes) -> bytes:
    return b"".join(base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(tokens))


def tekken(**changes: Any) -> dict[str, Any]:
    vocab = [
        {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
        for rank, token in enumerate([b"a", b"b", b"\xff", b"cut off"])
    ]
    config = {"pattern": ".", "default_vocab_size": 7, "default_num_special_tokens": 4, "version": "v3"}
    return {"config": config | changes.pop("config", {}), "vocab": vocab} | changes


class TestKinds:
    def test_tokenizer_json(self, tmp_path: Path) -> None:
        for name in ("tokenizer.json", "anything.bin"):
            vocabulary = Vocabulary.load(write(tmp_path / name, SMALL))
            assert vocabulary.tokens == (b"<unk>", b"a", b" b", b"\n", None, None)
            assert vocabulary.start_tokens() == [b"<unk>", b"a", b"b", b"\n", None, None]

    def test_a_path_as_text_and_with_a_byte_order_mark(self, tmp_path: Path) -> None:
        path = write(tmp_path / "t.json", b"\xef\xbb\xbf\n " + json.dumps(SMALL).encode())
        assert len(Vocabulary.load(str(path))) == 6

    def test_tiktoken_ranks(self, tmp_path: Path) -> None:
        path = write(tmp_path / "x", ranks(b"a", b"\n", b"\xff") + b"YmM= 5\r\n\n= 6\n")
        vocabulary = Vocabulary.load(path, stop=7, width=8)
        assert vocabulary.tokens == (b"a", b"\n", b"\xff", None, None, b"bc", b"")
        assert vocabulary.stop == (7,)

    def test_tekken(self, tmp_path: Path) -> None:
        vocabulary = Vocabulary.load(write(tmp_path / "x", tekken()))
        assert vocabulary.tokens == (None, None, None, None, b"a", b"b", b"\xff")
        assert vocabulary.stop == (2,)
        assert [vocabulary.name(t) for t in range(4)] == ["<unk>", "<s>", "</s>", "[INST]"]

    def test_tekken_with_listed_control_tokens(self, tmp_path: Path) -> None:
        listed = [{"rank": 0, "token_str": "</s>", "is_control": True}]
        vocabulary = Vocabulary.load(write(tmp_path / "x", tekken(special_tokens=listed)))
        assert vocabulary.stop == (0,)
        assert vocabulary.name(2) == "<SPECIAL_2>"


class TestFolders:
    def test_each_kind(self, tmp_path: Path) -> None:
        for name, content, size in (
            ("x.tiktoken", ranks(b"a"), 1),
            ("tokenizer.model", ranks(b"a", b"b"), 2),
            ("tekken_240911.json", tekken(), 7),
            ("tokenizer.json", SMALL, 6),
        ):  # each takes precedence over those before
            write(tmp_path / name, content)
            assert len(Vocabulary.load(tmp_path)) == size

    def test_several_of_a_kind(self, tmp_path: Path) -> None:
        write(tmp_path / "a.tiktoken", ranks(b"a"))
        write(tmp_path / "b.tiktoken", ranks(b"a"))
        with pytest.raises(VocabularyError, match=r"any of a\.tiktoken, b\.tiktoken"):
            Vocabulary.load(tmp_path)

    def test_nothing(self, tmp_path: Path) -> None:
        write(tmp_path / "vocab.json", {"a": 0})
        with pytest.raises(VocabularyError, match=r"none of tokenizer\.json"):
            Vocabulary.load(tmp_path)


class TestStopTokens:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        write(tmp_path / "tokenizer.json", SMALL)
        return tmp_path

    def test_none(self, folder: Path) -> None:
        assert Vocabulary.load(folder).stop == ()

    @pytest.mark.parametrize("value", ["</s>", {"__type": "AddedToken", "content": "</s>"}])
    def test_from_tokenizer_config(self, folder: Path, value: Any) -> None:
        write(folder / "tokenizer_config.json", {"eos_token": value})
        assert Vocabulary.load(folder).stop == (5,)
        assert Vocabulary.load(folder / "tokenizer.json").stop == (5,)

    def test_from_generation_config(self, folder: Path) -> None:
        write(folder / "generation_config.json", {"eos_token_id": 4})
        assert Vocabulary.load(folder).stop == (4,)

    def test_both_count(self, folder: Path) -> None:
        write(folder / "generation_config.json", {"eos_token_id": [4, 1, 4]})
        write(folder / "tokenizer_config.json", {"eos_token": "</s>"})
        vocabulary = Vocabulary.load(folder)
        assert vocabulary.stop == (4, 1, 5)
        assert vocabulary[1] is None
        assert vocabulary.name(1) == "a"

    def test_what_is_passed_takes_precedence(self, folder: Path) -> None:
        write(folder / "generation_config.json", b"damaged")
        assert Vocabulary.load(folder, stop="<s>").stop == (4,)
        assert Vocabulary.load(folder, stop=()).stop == ()

    def test_null(self, folder: Path) -> None:
        write(folder / "generation_config.json", {"eos_token_id": None})
        write(folder / "tokenizer_config.json", {"eos_token": None})
        assert Vocabulary.load(folder).stop == ()

    def test_control_tokens_declared_beside_a_rank_file(self, tmp_path: Path) -> None:
        write(tmp_path / "tokenizer.model", ranks(b"a", b"b"))
        declared = {"2": {"content": "<|eot|>", "special": True}, "x": {"content": "<|eot|>"}, "3": 4}
        write(tmp_path / "tokenizer_config.json", {"eos_token": "<|eot|>", "added_tokens_decoder": declared})
        assert Vocabulary.load(tmp_path, width=4).stop == (2,)
        with pytest.raises(VocabularyError, match="pass width="):
            Vocabulary.load(tmp_path)

    @pytest.mark.parametrize(
        ("name", "content", "reason"),
        [
            ("generation_config.json", b"{", "as JSON"),
            ("generation_config.json", b"\xff", "as JSON"),
            ("generation_config.json", b"[" * 100_000, "as JSON"),
            ("generation_config.json", [], "not a JSON object"),
            ("generation_config.json", {"eos_token_id": "</s>"}, "must be an integer"),
            ("generation_config.json", {"eos_token_id": [[4]]}, "must be an integer"),
            ("generation_config.json", {"eos_token_id": {"a": 1}}, "must be an integer"),
            ("generation_config.json", {"eos_token_id": -1}, "negative"),
            ("generation_config.json", {"eos_token_id": 6}, "outside the 6 ids"),
            ("generation_config.json", {"eos_token_id": 10**12}, "beyond"),
            ("tokenizer_config.json", {"eos_token": 5}, "not the text"),
            ("tokenizer_config.json", {"eos_token": {"content": 5}}, "not the text"),
            ("tokenizer_config.json", {"eos_token": "<eot>"}, "no token has the name '<eot>'"),
        ],
    )
    def test_damaged(self, folder: Path, name: str, content: Any, reason: str) -> None:
        write(folder / name, content)
        with pytest.raises(VocabularyError, match=reason) as caught:
            Vocabulary.load(folder)
        assert str(folder) in str(caught.value)


FOREIGN: dict[str, tuple[Any, str]] = {
    "empty": (b"", "the file is empty; download it again"),
    "text": (b"hello world\n", "not a tokenizer file"),
    "vocab.txt": (b"[PAD]\n[UNK]\n", "not a tokenizer file"),
    "gzip": (b"\x1f\x8b\x08", "not a tokenizer file"),
    "weights": (b"\x08\x00\x00\x00\x00\x00\x00\x00{}", "not a tokenizer file"),
    "truncated JSON": (json.dumps(SMALL).encode()[:-20], "not valid JSON"),
    "JSON that is not UTF-8": (b'{"a": "\xff"}', "not valid JSON"),
    "deep JSON": (b'{"a":' + b"[" * 200_000, "not valid JSON"),
    "a number of many digits": (b'{"a":' + b"1" * 10_000 + b"}", "not valid JSON"),
    "config.json": ({"model_type": "llama", "vocab_size": 32000}, "no section 'model'"),
    "truncated ranks": (ranks(b"a", b"b") + b"YWJ", "line 3 is not"),
    "ranks with a negative id": (ranks(b"a") + b"YQ== -1\n", "line 2 is not"),
    "ranks with bad base64": (ranks(b"a") + b"Y=Q= 1\n", "line 2 is not"),
    "ranks with a long id": (ranks(b"a") + b"YQ== " + b"1" * 5000, "line 2 is not"),
    "ranks with an absurd id": (ranks(b"a") + b"YQ== 1000000000000\n", "beyond"),
    "ranks that repeat": (ranks(b"a") + b"YQ== 0\n", "token id 0 is given to two"),
    "SentencePiece, truncated": (b"\n\x0e\n\x05<unk>", "sentencepiece cannot read this"),
    "SentencePiece, empty": (b"\n\x00", "sentencepiece cannot read this"),
    "tekken with too few entries": (tekken(config={"default_vocab_size": 9}), "do not fit"),
    "tekken with more special tokens than tokens": (
        tekken(config={"default_num_special_tokens": 8}),
        "do not fit",
    ),
    "tekken with absurd counts": (tekken(config={"default_vocab_size": 10**12}), "not a count"),
    "tekken with a count of a wrong type": (
        tekken(config={"default_num_special_tokens": "4"}),
        "not a count",
    ),
    "tekken with a bad entry": (tekken(vocab=[3] * 4), r"vocab\[0\] is 3"),
    "tekken with bad base64": (tekken(vocab=[{"rank": 0, "token_bytes": "!é"}] * 4), "not base64"),
    "tekken with ranks out of order": (tekken(vocab=[{"rank": 1, "token_bytes": "YQ=="}] * 4), "rank 0"),
    "tekken with bad control tokens": (
        tekken(special_tokens=[{"rank": 4, "token_str": "x"}]),
        "special_tokens",
    ),
    "tekken with a map of control tokens": (tekken(special_tokens={}), "special_tokens"),
    "tekken with repeated control tokens": (
        tekken(special_tokens=[{"rank": 1, "token_str": "x"}] * 2),
        "token id 1 is given to two",
    ),
}


@pytest.mark.parametrize(("content", "reason"), FOREIGN.values(), ids=FOREIGN)
def test_foreign_and_damaged_files(tmp_path: Path, content: Any, reason: str) -> None:
    if "sentencepiece" in reason:
        pytest.importorskip("sentencepiece")
    path = write(tmp_path / "tokenizer.json", content)
    with pytest.raises(VocabularyError, match=reason) as caught:
        Vocabulary.load(path)
    assert str(path) in str(caught.value)


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    with pytest.raises(VocabularyError, match="no such file"):
        Vocabulary.load(tmp_path / "missing.json")
    for source in (tmp_path / "a\0b", tmp_path / ("x" * 5000), "does not exist"):
        with pytest.raises(VocabularyError):
            Vocabulary.load(source)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(VocabularyError, match="not a regular file"):
        Vocabulary.load(tmp_path / "pipe")


def test_large_files_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    with path.open("wb") as file:
        file.write(b"{")
        file.truncate(1 << 40)  # a sparse file
    with pytest.raises(VocabularyError, match="larger than"):
        Vocabulary.load(path)


def nodes(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values inside a JSON value."""
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    return [path, *(inner for key, child in children for inner in nodes(child, (*path, key)))]


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


BASES = [
    SMALL,
    document(
        [["<unk>", 0.0], ["▁a", -1.0]], {"type": "Metaspace", "replacement": "▁"}, kind="Unigram", unk_id=0
    ),
    document(
        {"[UNK]": 0, "##a": 1}, {"type": "WordPiece", "prefix": "##"}, (added(2, "é", False),), "WordPiece"
    ),
    tekken(special_tokens=[{"rank": 2, "token_str": "</s>", "is_control": True}]),
]
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([10**12, -1, 1 << 22, (1 << 22) - 1, 10**400]),
    st.floats(),
    st.text(st.characters(), max_size=3),
    st.sampled_from(["\ud800", "BPE", "Unigram", "Sequence", "Fuse", "Strip", "Metaspace", "</s>"]),
    st.just([]),
    st.just({}),
    st.sampled_from([FUSE, LLAMA_2]),
    st.lists(st.sampled_from([0, "a", None, {}, []]), max_size=3),
    st.dictionaries(
        st.sampled_from(["a", "id", "type"]), st.sampled_from([0, "a", None, {}, []]), max_size=2
    ),
)


@pytest.fixture(scope="module")
def fuzz_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


def load_or_refuse(path: Path) -> None:
    """A bad file is a VocabularyError; a vocabulary that comes out is a consistent one."""
    try:
        vocabulary = Vocabulary.load(path)
    except VocabularyError as error:
        message = str(error)
    else:
        message = ""
        check_consistent(vocabulary)
    assert len(message) < 2000


def check_consistent(vocabulary: Vocabulary) -> None:
    start = vocabulary.start_tokens()
    assert len(vocabulary.tokens) == len(vocabulary) <= vocabulary.width
    assert start is None or len(start) == len(vocabulary)
    assert all(vocabulary[token] is None for token in vocabulary.stop)
    assert vocabulary.name(0)
    assert repr(vocabulary)


@settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(data=st.data())
def test_mutated_documents(fuzz_folder: Path, data: st.DataObject) -> None:
    file = data.draw(st.sampled_from(BASES))
    for _ in range(data.draw(st.integers(1, 3))):
        file = replaced(file, data.draw(st.sampled_from(nodes(file))), data.draw(JUNK))
    load_or_refuse(write(fuzz_folder / "tokenizer.json", file))


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(data=st.data())
def test_mutated_bytes(fuzz_folder: Path, data: st.DataObject) -> None:
    """Files cut, and with bytes changed, inserted or removed; those of JSON and those of ranks."""
    base = data.draw(st.sampled_from([*(json.dumps(b).encode() for b in BASES), ranks(b"a", b"bc", b"\xff")]))
    content = bytearray(base)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content)))
        content[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    load_or_refuse(
        write(fuzz_folder / "tokenizer.json", bytes(content[: data.draw(st.integers(0, len(content)))]))
    )
