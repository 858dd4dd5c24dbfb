"""GGUF files, written by the package `gguf` and read by both; and damaged ones."""

from __future__ import annotations

import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.tokenizers.gguf_files import finish
from tokamata.errors import VocabularyError
from tokamata.vocabulary import Vocabulary
from tokamata.vocabulary.gguf_metadata import read_metadata, read_tensors

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
LLAMA = [
    ("<unk>", UNKNOWN),
    ("<s>", CONTROL),
    ("</s>", CONTROL),
    ("<0x0A>", BYTE),
    ("<0xfF>", BYTE),
    ("▁the", NORMAL),
    ("a▁b", NORMAL),
    ("  ", USER_DEFINED),
    ("▁▁", USER_DEFINED),
    ("[spare]", UNUSED),
    ("##s", NORMAL),
]


def write(
    path: Path, family: str | None = "llama", tokens: list[tuple[str, int]] | None = None, **fields: Any
) -> Path:
    gguf = pytest.importorskip("gguf", reason="gguf is an extra")
    tokens = LLAMA if tokens is None else tokens
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_array("general.tags", ["x", "yz"])
    writer.add_array("general.numbers", [1, 2, 3])
    writer.add_float64("general.factor", 0.5)
    if family is not None:
        writer.add_tokenizer_model(family)
        writer.add_token_list([text for text, _ in tokens])
        writer.add_token_types([kind for _, kind in tokens])
        writer.add_array("tokenizer.ggml.merges", ["a b", "c d"])
    finish(writer, fields)
    return path


def test_llama(tmp_path: Path) -> None:
    vocabulary = Vocabulary.load(
        write(tmp_path / "model.gguf", eos_token_id=2, eot_token_id=1, eom_token_id=2)
    )
    assert vocabulary.tokens == (
        *(None, None, None, b"\n", b"\xff", b" the", b"a b", b"  "),
        *("▁▁".encode(), None, b"##s"),
    )
    assert vocabulary.stop == (1, 2)
    assert vocabulary.name(9) == "[spare]"
    start = vocabulary.start_tokens()
    assert start is not None
    assert start[5:8] == [b"the", b"a b", b" "]


def test_space_prefix(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    assert Vocabulary.load(write(path, add_space_prefix=False)).start_tokens() is None
    assert Vocabulary.load(write(path, "t5")).start_tokens() is None
    assert Vocabulary.load(write(path, "t5", add_space_prefix=True)).start_tokens() is not None


def test_byte_level(tmp_path: Path) -> None:
    tokens = [("Ġthe", NORMAL), ("Ċ", NORMAL), ("é", NORMAL), ("<|x|>", CONTROL), ("<é>", USER_DEFINED)]
    vocabulary = Vocabulary.load(write(tmp_path / "model.gguf", "gpt2", tokens))
    assert vocabulary.tokens == (b" the", b"\n", b"\xe9", None, "<é>".encode())
    assert vocabulary.start_tokens() is None


def test_plain_tokens_with_merges(tmp_path: Path) -> None:
    tokens = [("▁the", NORMAL), ("é", NORMAL), ("<0x0A>", BYTE), ("", NORMAL), ("▁", USER_DEFINED)]
    vocabulary = Vocabulary.load(write(tmp_path / "model.gguf", "gemma4", tokens))
    assert vocabulary.tokens == (b" the", "é".encode(), b"\n", b"[EMPTY_3]", "▁".encode())
    assert vocabulary.start_tokens() is None


def test_types_that_llama_cpp_changes(tmp_path: Path) -> None:
    tokens = [("a", NORMAL), ("</s>", NORMAL), ("<|fim_pad|>", USER_DEFINED), ("<|start|>", CONTROL)]
    path = write(tmp_path / "model.gguf", "gpt2", tokens)
    vocabulary = Vocabulary.load(path, stop=())
    assert vocabulary.tokens == (b"a", None, None, b"<|start|>")
    assert vocabulary.name(1) == "</s>"
    assert Vocabulary.load(path).stop == (1, 2)
    declared = Vocabulary.load(write(path, "gpt2", tokens, fim_pad_token_id=2), stop=())
    assert declared.tokens[2] == b"<|fim_pad|>"


def test_folder_and_other_byte_order(tmp_path: Path) -> None:
    gguf = pytest.importorskip("gguf", reason="gguf is an extra")
    writer = gguf.GGUFWriter(tmp_path / "big.gguf", "llama", endianess=gguf.GGUFEndian.BIG)
    writer.add_tokenizer_model("llama")
    writer.add_token_list([text for text, _ in LLAMA])
    writer.add_token_types([kind for _, kind in LLAMA])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    assert Vocabulary.load(tmp_path)[5] == b" the"


def test_metadata_agrees_with_the_package_gguf(tmp_path: Path) -> None:
    gguf = pytest.importorskip("gguf", reason="gguf is an extra")
    draw = random.Random(3)
    tokens = [
        ("x" * draw.randrange(40) + chr(draw.randrange(0x20, 0xD800)), draw.randrange(1, 7))
        for _ in range(500)
    ]
    path = write(tmp_path / "model.gguf", tokens=tokens, eos_token_id=7, add_space_prefix=True)
    fields = gguf.GGUFReader(path).fields
    ours = read_metadata(path, fields)
    for key, field in fields.items():
        if not key.startswith("GGUF."):
            theirs, found = field.contents(), ours[key]
            if isinstance(found, list):
                found = [v.decode() if isinstance(v, bytes) else v for v in found]
            assert (found.decode() if isinstance(found, bytes) else found) == theirs, key


@pytest.mark.parametrize("alignment", [None, 64])
def test_tensors_are_where_the_package_gguf_finds_them(tmp_path: Path, alignment: int | None) -> None:
    gguf = pytest.importorskip("gguf", reason="gguf is an extra")
    path = tmp_path / "model.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_array("general.tags", ["x", "yz"])
    if alignment is not None:
        writer.add_custom_alignment(alignment)
    for name, shape in (("a.weight", (3, 5)), ("b", (7,)), ("c.ü", (2, 3, 4)), ("d", (32, 256))):
        writer.add_tensor(name, np.arange(np.prod(shape), dtype=np.float32).reshape(shape))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    ours, data = read_tensors(path), path.read_bytes()
    for theirs in gguf.GGUFReader(path).tensors:
        found = ours.pop(theirs.name)
        assert found.kind == theirs.tensor_type
        assert found.shape == theirs.data.shape
        assert data[found.offset :].startswith(theirs.data.tobytes())
    assert not ours


def head(pairs: int, *content: bytes, version: int = 3, tensors: int = 0) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, tensors, pairs) + b"".join(content)


def pair(key: str, kind: int, value: bytes) -> bytes:
    return struct.pack("<Q", len(key)) + key.encode() + struct.pack("<I", kind) + value


def tensor(name: str, shape: tuple[int, ...], kind: int = 0, offset: int = 0) -> bytes:
    sizes = struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, offset)
    return struct.pack("<Q", len(name)) + name.encode() + sizes


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (head(0, tensors=1), "truncated"),
        (head(0, tensor("a", (2, 3))[:-1], tensors=1), "truncated"),
        (head(0, tensors=1 << 40), "more than"),
        (head(0, tensor("a", (1, 1, 1, 1, 1)), tensors=1), "5 dimensions"),
        (head(0, struct.pack("<QI", 0, 1 << 31), tensors=1), "dimensions"),
        (head(1, pair("general.alignment", 4, b"\0\0\0\0")), "not a number of bytes"),
        (head(1, pair("general.alignment", 8, struct.pack("<Q", 1) + b"x")), "not a number of bytes"),
        (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "little-endian"),
        (b"", "not a GGUF file"),
    ],
)
def test_damaged_tables_of_tensors(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "model.gguf").write_bytes(content)
    with pytest.raises(VocabularyError, match=reason):
        read_tensors(tmp_path / "model.gguf")


def array(kind: int, count: int, content: bytes = b"") -> bytes:
    return struct.pack("<IQ", kind, count) + content


MODEL = pair("tokenizer.ggml.model", 8, struct.pack("<Q", 5) + b"llama")
TOKENS = pair("tokenizer.ggml.tokens", 9, array(8, 1, struct.pack("<Q", 1) + b"a"))
DAMAGED = {
    "no more than the magic": (b"GGUF", "truncated"),
    "version 1": (head(0, version=1), "version 1 "),
    "version 999": (head(0, version=999), "version 999 "),
    "no pairs": (head(0), "holds no tokenizer"),
    "absurd number of pairs": (head(1 << 63), "metadata pairs"),
    "pairs missing": (head(3, MODEL), "truncated"),
    "absurd length of a key": (head(1, struct.pack("<Q", 1 << 62)), "truncated"),
    "absurd length of a string": (head(1, pair("x", 8, struct.pack("<Q", (1 << 64) - 1))), "truncated"),
    "absurd array": (head(1, pair("x", 9, array(4, 1 << 62))), "truncated"),
    "absurd array of strings": (head(1, pair("x", 9, array(8, 1 << 62))), "truncated"),
    "absurd array of tokens": (head(1, pair("tokenizer.ggml.tokens", 9, array(8, 1 << 62))), "longer than"),
    "array of arrays": (head(1, pair("x", 9, array(9, 1))), "type 9"),
    "unknown type": (head(1, pair("x", 77, b"")), "type 77"),
    "key twice": (head(2, MODEL, MODEL), "twice"),
    "no tokens": (head(1, MODEL), "tokens is missing"),
    "tokens are numbers": (
        head(2, MODEL, pair("tokenizer.ggml.tokens", 9, array(0, 1, b"a"))),
        "tokens is missing",
    ),
    "types are too few": (
        head(3, MODEL, TOKENS, pair("tokenizer.ggml.token_type", 9, array(5, 0))),
        "not one integer for each",
    ),
    "type is unknown": (
        head(3, MODEL, TOKENS, pair("tokenizer.ggml.token_type", 9, array(5, 1, struct.pack("<i", 9)))),
        "type 9",
    ),
    "byte token that names none": (
        head(3, MODEL, TOKENS, pair("tokenizer.ggml.token_type", 9, array(5, 1, struct.pack("<i", BYTE)))),
        "cannot be of type 6",
    ),
    "unknown family": (head(1, pair("tokenizer.ggml.model", 8, struct.pack("<Q", 4) + b"rwkv")), "'rwkv'"),
    "stop token out of range": (
        head(3, MODEL, TOKENS, pair("tokenizer.ggml.eos_token_id", 4, struct.pack("<I", 0xFFFFFFFF))),
        "which is not a token",
    ),
}


@pytest.mark.parametrize(("content", "reason"), DAMAGED.values(), ids=DAMAGED)
def test_damaged_files(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    with pytest.raises(VocabularyError, match=reason) as caught:
        Vocabulary.load(path)
    assert str(path) in str(caught.value)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(data=st.data())
def test_mutated_files(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.getbasetemp()
    base = folder / "base.gguf"
    content = bytearray((base if base.exists() else write(base, eos_token_id=2)).read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(content)))
        content[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    path = folder / "mutated.gguf"
    path.write_bytes(bytes(content[: data.draw(st.integers(0, len(content)))]))
    try:
        vocabulary = Vocabulary.load(path)
    except VocabularyError:
        return
    assert len(vocabulary.tokens) == len(vocabulary)


# Texts of tokens, the ids that a file declares, and the tokens at which llama.cpp stops.
ENDS = {
    "declared": ("llama", "<unk> <s> x y", {"eos_token_id": 3, "eot_token_id": 1, "eom_token_id": 3}, (1, 3)),
    "not declared": ("llama", "<unk> <s> x", {}, (2,)),
    "not declared, and out of range": ("gpt2", "a b", {}, ()),
    "not declared in T5": ("t5", "a b", {}, (1,)),
    "not declared in BERT": ("bert", "a [CLS] [SEP] b", {}, ()),
    "by their texts": ("gpt2", "a <|im_end|> b [EOS] <eos> <|im_start|>", {"eos_token_id": 0}, (0, 1, 3, 4)),
    "normal tokens with such texts": ("llama", "<pad> <eos> <bos> </s>", {"eos_token_id": 1}, (1, 3)),
    "fill-in-the-middle": (
        "gpt2",
        "<|endoftext|> <|fim_prefix|> <|fim_middle|> <|fim_pad|> <|repo_name|> <|file_sep|>",
        {"eos_token_id": 0},
        (0, 3, 4, 5),
    ),
    "fill-in-the-middle, declared": (
        "gpt2",
        "<|endoftext|> a <|fim_pad|> b",
        {"eos_token_id": 0, "fim_pad_token_id": 1, "fim_sep_token_id": 3},
        (0, 1, 3),
    ),
    "declared out of range": ("gpt2", "a <|fim_pad|>", {"eos_token_id": 0, "fim_pad_token_id": 9}, (0, 1)),
    "one of several to pad": ("gpt2", "x <PAD> [PAD] y", {"eos_token_id": 0}, (0, 1)),
    "gpt-oss": ("gpt2", "<|endoftext|> <|return|> <|end|> <|call|>", {"eos_token_id": 1}, (0, 1, 3)),
    "Solar": ("gpt2", "x <|flush|> <|end|> <|calls|>", {"eos_token_id": 0}, (0, 1, 3)),
    "Phi": ("llama", "x y </s> <|end|>", {"eos_token_id": 0}, (0, 2, 3)),
    "Gemma 4": ("llama", "x <eos> </s> <|tool_response> <turn|>", {"eos_token_id": 1}, (1, 3, 4)),
}  # fmt: skip


@pytest.mark.parametrize(("family", "texts", "declared", "stop"), ENDS.values(), ids=ENDS)
def test_ends_of_generation(
    tmp_path: Path, family: str, texts: str, declared: dict[str, int], stop: tuple[int, ...]
) -> None:
    tokens = [(text, NORMAL) for text in texts.split()]
    path = write(tmp_path / "model.gguf", family, tokens, **declared)
    vocabulary = Vocabulary.load(path)
    assert vocabulary.stop == stop
    assert all(vocabulary[token] is None for token in stop)
    assert Vocabulary.load(path, stop=[0]).stop == (0,)
