"""GGUF files that hold a tokenizer and nothing else, as the converters of llama.cpp would write them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tokamata.vocabulary.byte_alphabet import byte_level_bytes, is_byte_level_text
from tokamata.vocabulary.gguf_metadata import read_metadata
from tokamata.vocabulary.sentence_piece import PieceType

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
assert BYTE == PieceType.BYTE


def write_gguf(
    path: Path,
    family: str,
    tokens: Sequence[tuple[str | bytes, int]],
    merges: Sequence[str] | None = None,
    scores: Sequence[float] | None = None,
    pre: str | None = None,
    name: str = "",
    raw: dict[str, Any] | None = None,
    **fields: Any,
) -> Path:
    """Writes a file; ``tokens`` are texts with types, ``raw`` and ``fields`` further metadata of it."""
    gguf = pytest.importorskip("gguf", reason="gguf is an extra")
    writer = gguf.GGUFWriter(path, "llama")
    if name:
        writer.add_name(name)
    writer.add_tokenizer_model(family)
    if pre is not None:
        writer.add_tokenizer_pre(pre)
    writer.add_token_list([text if isinstance(text, bytes) else text.encode() for text, _ in tokens])
    writer.add_token_types([kind for _, kind in tokens])
    if scores is not None:
        writer.add_token_scores(list(scores))
    if merges is not None:
        writer.add_token_merges(list(merges))
    finish(writer, {**(raw or {}), **fields})
    return path


def finish(writer: Any, fields: dict[str, Any]) -> None:
    """Adds metadata of the tokenizer to a ``GGUFWriter``, and writes its file."""
    for key, value in fields.items():
        if isinstance(value, bool):
            writer.add_bool(f"tokenizer.ggml.{key}", value)
        elif isinstance(value, list):
            writer.add_array(f"tokenizer.ggml.{key}", value)
        else:
            writer.add_uint32(f"tokenizer.ggml.{key}", value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def gguf_of_tokenizer_json(path: Path, document: dict[str, Any], pre: str, **fields: Any) -> Path:
    """A file of family ``gpt2`` from a byte-level ``tokenizer.json``."""
    model = document["model"]
    size = 1 + max([*model["vocab"].values(), *(added["id"] for added in document["added_tokens"])])
    tokens: list[tuple[str | bytes, int]] = [(f"[PAD{token}]", UNUSED) for token in range(size)]
    for text, token in model["vocab"].items():
        tokens[token] = (text, NORMAL)
    for added in document["added_tokens"]:
        tokens[added["id"]] = (added["content"], CONTROL if added["special"] else USER_DEFINED)
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in model["merges"]]
    return write_gguf(path, "gpt2", tokens, merges, pre=pre, **fields)


def gguf_of_sentence_piece(path: Path, model: Path, **fields: Any) -> Path:
    """A file of family ``llama`` from a SentencePiece model."""
    sentencepiece = pytest.importorskip("sentencepiece", reason="sentencepiece is an extra")
    processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
    tokens: list[tuple[str | bytes, int]] = []
    for token in range(processor.get_piece_size()):
        kind = NORMAL
        for is_so, other in (
            (processor.is_unknown, UNKNOWN),
            (processor.is_control, CONTROL),
            (processor.is_byte, BYTE),
        ):
            kind = other if is_so(token) else kind
        tokens.append((processor.id_to_piece(token), kind))
    scores = [processor.get_score(token) for token in range(len(tokens))]
    return write_gguf(path, "llama", tokens, scores=scores, **fields)


_KEYS = ("tokens", "token_type", "scores", "merges", "model", "pre", "add_space_prefix")


def gguf_of_head(path: Path, head: Path, **fields: Any) -> Path:
    """The tokenizer of another GGUF file, of which only the head may be there."""
    found: dict[str, Any] = read_metadata(head, [f"tokenizer.ggml.{key}" for key in _KEYS])
    own = {key: found.get(f"tokenizer.ggml.{key}") for key in _KEYS}
    if own["add_space_prefix"] is not None:
        fields.setdefault("add_space_prefix", own["add_space_prefix"])
    tokens = list(zip(own["tokens"], own["token_type"], strict=True))
    merges = None if own["merges"] is None else [merge.decode() for merge in own["merges"]]
    pre = None if own["pre"] is None else own["pre"].decode()
    return write_gguf(path, own["model"].decode(), tokens, merges, own["scores"], pre, **fields)


def document_of_pairs(pairs: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """A ``tokenizer.json`` of all bytes, and of these pairs of bytes, which are merged in this order."""
    alphabet = [chr(point) for point in range(0x144) if is_byte_level_text(chr(point))]
    letters = {byte_level_bytes(letter)[0]: letter for letter in alphabet}
    merges = [[letters[left], letters[right]] for left, right in pairs]
    texts = [*alphabet, *map("".join, merges)]
    model = {"vocab": {text: token for token, text in enumerate(texts)}, "merges": merges}
    return {"model": model, "added_tokens": []}


# `python -m fuzz.llama_cpp_exactness --record` writes there what llama.cpp makes of these texts.
RECORDED = Path(__file__).parents[2] / "canonical" / "llama_cpp_tokens.json"
RECORDED_TEXTS = [
    "I'll say it's 'S 're'VE don't'd'M Ankara'sx",
    "  two   spaces\n\n \n x\r\n\r\ny \t z!\r\n/\n ",
    "12345 6789012 \u00bd\u00b2\u0663\u2167 1,234.5",
    "CamelCase ABCdef xYz \u00e9\u00c0\u00df \u01c5x e\u0301u\u0301 \u0301\u0903",
    "\u4e2d\u6587 \u6f22\u304b\u306a\u30ab\u30fc \ud55c\uad6d\u3131\u3131 \u3105\u3106 \u9fa6\u9fa5\uf900",
    "!!! ??\n$+<=>^~|` _-_ // /\n\u00ab\u00bb \u2026\u3002\uff0c\u3001",
    "a\u00a0b\u3000c\u2028d\u200be\u180ef\x1cg\x85h",
    "def f(x):\n\treturn x**2  # ok\n",
    "IMGIMGABZ <sentinel:12> \U0001f642\U0001f600\ue000",
    "\U00010d40\u1c8a\ua7cb a\U00016100b",
    "\u017f'\u017f '\u212a \u0130i",
    "\u0916\u094d\u0939\u093f \u0e44\u0e17\u0e22 \u05e2\u05d1 \u0627\u0644\u0661",
]


def recorded_gguf(path: Path, pre: str) -> Path:
    """A file whose merges join the bytes at each border of characters in the recorded texts."""
    neighbours = {
        (left.encode()[-1], right.encode()[0]) for text in RECORDED_TEXTS for left, right in pairwise(text)
    }
    pairs = sorted(neighbours)
    random.Random(4).shuffle(pairs)
    return gguf_of_tokenizer_json(path, document_of_pairs(pairs), pre)
