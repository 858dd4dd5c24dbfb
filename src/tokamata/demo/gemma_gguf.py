"""Converts a Gemma 3 text model from a GGUF file into a folder that transformers loads.

``gemma_weights.py`` provides the configuration and the weights, as bfloat16.  Two more things are written:

- *The tokenizer*, a byte-pair encoding whose merges GGUF omits, like SentencePiece.  They follow from the
  pieces: every split of a piece into two pieces is a merge, with the score of the whole piece as its rank.
  So "▁t" + "he" and "▁" + "the" both make "▁the".  transformers derives merges too, but in another order;
  here they are in the order of the original tokenizer.
- *A manifest* of the files and their sizes, written last, which distinguishes complete folders.
"""

# transformers has no usable types for models, and values of a GGUF file have none, hence `Any`.

from __future__ import annotations

import json
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tokamata.demo.gemma_weights import CONFIG_KEYS, configuration, weights
from tokamata.errors import MissingExtraError, VocabularyError
from tokamata.integrations.models import Progress
from tokamata.vocabulary.gguf_metadata import read_metadata
from tokamata.vocabulary.sentence_piece import PieceType

__all__ = ["convert", "is_whole"]

MANIFEST = "manifest.json"

_KEYS = (
    "general.architecture",
    "tokenizer.ggml.tokens",
    "tokenizer.ggml.scores",
    "tokenizer.ggml.token_type",
    "tokenizer.ggml.unknown_token_id",
    *CONFIG_KEYS,
)


def convert(source: Path, folder: Path, progress: Progress) -> None:
    """Convert the GGUF file ``source`` into the existing, empty ``folder``.

    Raises:
        MissingExtraError: transformers, or a package that it reads GGUF files with, is not installed.
        VocabularyError: the file is cut off, or of another architecture than Gemma 3.
    """
    for package in ("transformers", "torch", "safetensors", "gguf"):
        if find_spec(package) is None:
            raise MissingExtraError(package, "demo", "converting a GGUF model")
    progress("opening the model file", 0.0)
    fields = _Fields(read_metadata(source, _KEYS))
    if (architecture := fields["general.architecture"]) != b"gemma3":
        raise VocabularyError(
            f"{source} holds a model of architecture {architecture!r:.80}; only b'gemma3' is supported"
        )
    _write_json(folder / "tokenizer_config.json", _tokenizer_config(fields))
    _write_json(folder / "tokenizer.json", _tokenizer(fields, progress))
    progress("converting the weights", 0.0)
    safetensors: Any = import_module("safetensors.torch")
    try:
        config = configuration(fields, len(fields["tokenizer.ggml.tokens"]))
        tensors = weights(source, config, progress)
    except (LookupError, RuntimeError, TypeError, ValueError) as error:
        if isinstance(error, VocabularyError):
            raise
        raise VocabularyError(f"{source} is not a GGUF file of Gemma 3: {error}") from error
    progress("writing the weights", 0.0)
    config.save_pretrained(folder)
    safetensors.save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    _write_json(folder / MANIFEST, {path.name: path.stat().st_size for path in sorted(folder.iterdir())})


def is_whole(folder: Path) -> bool:
    """Whether ``folder`` has every file of a finished conversion, with its full size."""
    try:
        sizes = json.loads((folder / MANIFEST).read_text("utf-8"))
        return bool(sizes) and all((folder / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError, AttributeError):
        return False


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False), "utf-8")


class _Fields(dict[str, Any]):
    """The fields of a GGUF file by name."""

    def __missing__(self, name: str) -> Any:
        raise VocabularyError(f"the GGUF file lacks the field {name!r}; it is cut off, or of another model")


def _pieces(fields: _Fields) -> list[str]:
    """Return the pieces by id.  GGUF spells runs of ``▁`` as spaces, and only these."""
    return [
        "▁" * len(piece) if piece and not piece.strip(" ") else piece
        for piece in (token.decode() for token in fields["tokenizer.ggml.tokens"])
    ]


def _tokenizer_config(fields: _Fields) -> dict[str, Any]:
    pieces = _pieces(fields)
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        "model_max_length": fields["gemma3.context_length"],
        **{
            f"{ours}_token": pieces[fields[f"tokenizer.ggml.{theirs}_token_id"]]
            for ours, theirs in (("bos", "bos"), ("eos", "eos"), ("pad", "padding"), ("unk", "unknown"))
        },
    }


def _tokenizer(fields: _Fields, progress: Progress) -> dict[str, Any]:
    """Return the content of ``tokenizer.json``."""
    pieces = _pieces(fields)
    scores = fields["tokenizer.ggml.scores"]
    types = fields["tokenizer.ggml.token_type"]
    added = [
        {
            "id": token,
            "content": piece,
            "special": types[token] == PieceType.CONTROL,
            **dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False),
        }
        for token, piece in enumerate(pieces)
        if types[token] in (PieceType.CONTROL, PieceType.USER_DEFINED, PieceType.UNUSED)
    ]
    begin = pieces[fields["tokenizer.ggml.bos_token_id"]]
    begin_id = fields["tokenizer.ggml.bos_token_id"]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        "pre_tokenizer": None,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [
                {"SpecialToken": {"id": begin, "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
            ],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {begin: {"id": begin, "ids": [begin_id], "tokens": [begin]}},
        },
        "decoder": {
            "type": "Sequence",
            "decoders": [
                {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                {"type": "ByteFallback"},
                {"type": "Fuse"},
            ],
        },
        "model": {
            "type": "BPE",
            "unk_token": pieces[fields["tokenizer.ggml.unknown_token_id"]],
            "fuse_unk": True,
            "byte_fallback": True,
            "ignore_merges": False,
            "vocab": {piece: token for token, piece in enumerate(pieces)},
            "merges": _merges(pieces, scores, types, progress),
        },
    }


def _merges(pieces: list[str], scores: list[float], types: list[int], progress: Progress) -> list[list[str]]:
    """Return every split of a piece into two pieces, in the order of the merges.

    First those of user-defined pieces (runs of spaces, tabs and newlines), which SentencePiece cuts
    out whole before anything else: the longest left part first, so that a run grows as long as it
    can.  Then the others, in the order of their pieces' scores.  Splits of one piece: the longest
    left part first.
    """
    taken = (PieceType.NORMAL, PieceType.USER_DEFINED)
    whole = {piece: token for token, piece in enumerate(pieces) if types[token] in taken}
    order = sorted(whole.values(), key=lambda token: (-scores[token], token))
    runs: list[list[str]] = []
    others: list[list[str]] = []
    for count, token in enumerate(order):
        if count % 8192 == 0:
            progress("building the tokenizer", count / len(order))
        piece = pieces[token]
        merges = runs if types[token] == PieceType.USER_DEFINED else others
        for cut in range(len(piece) - 1, 0, -1):
            if piece[:cut] in whole and piece[cut:] in whole:
                merges.append([piece[:cut], piece[cut:]])
    runs.sort(key=lambda merge: (-len(merge[0]), -len(merge[1])))
    return runs + others
