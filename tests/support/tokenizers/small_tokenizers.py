"""Small tokenizer.json documents, valid unless a test makes them otherwise."""

from __future__ import annotations

from typing import Any

REPLACE = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
BYTE_FALLBACK = {"type": "ByteFallback"}
FUSE = {"type": "Fuse"}
STRIP = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}


def sequence(*decoders: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "decoders": list(decoders)}


LLAMA_2 = sequence(REPLACE, BYTE_FALLBACK, FUSE, STRIP)


def added(token: int, content: str, special: bool = True) -> dict[str, Any]:
    return {
        "id": token,
        "content": content,
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": special,
    }


def document(
    vocab: Any,
    decoder: Any = None,
    added_tokens: Any = (),
    kind: str = "BPE",
    **model: Any,
) -> dict[str, Any]:
    """A whole tokenizer.json that the package `tokenizers` reads too."""
    fields: dict[str, dict[str, Any]] = {
        "BPE": {
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "merges": [],
        },
        "WordPiece": {
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
        },
        "WordLevel": {"unk_token": "[UNK]"},
        "Unigram": {"unk_id": None, "byte_fallback": False},
    }
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": list(added_tokens) if isinstance(added_tokens, tuple) else added_tokens,
        "normalizer": None,
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": decoder,
        "model": {"type": kind, **fields.get(kind, {}), "vocab": vocab, **model},
    }
