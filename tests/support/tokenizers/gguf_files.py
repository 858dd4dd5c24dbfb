"""GGUF files that hold a tokenizer and nothing else, as the converters of llama.cpp would write them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

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
    **fields: Any,
) -> Path:
    """Writes a file; ``tokens`` are texts with types, and ``fields`` further metadata of the tokenizer."""
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
    for key, value in fields.items():
        if isinstance(value, bool):
            writer.add_bool(f"tokenizer.ggml.{key}", value)
        else:
            writer.add_uint32(f"tokenizer.ggml.{key}", value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


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
