"""Converts a Gemma 3 text model from a GGUF file into a folder that transformers loads.

Written out here instead of asking transformers, which needs one more package (accelerate) for
it, takes 45 seconds rather than 15, and then refuses to save what it read.  Four things are done:

- *Weights* are dequantized to bfloat16 and renamed.  GGUF stores the scale of a norm layer as it
  is multiplied, ``1 + w``; transformers stores ``w``.
- *The tokenizer* is a byte-pair encoding whose merges GGUF leaves out, as SentencePiece does.
  They follow from the pieces: every way to split a piece into two pieces is a merge, and merges
  rank as the scores of what they make.  So "▁t" + "he" and "▁" + "the" both make "▁the".
- *The configuration*, of which GGUF leaves out what is the same for the whole family.
- *A manifest* of the files and their sizes, written last, by which an incomplete folder is known.
"""

# gguf and torch are imported by the functions that need them; gguf has no types, hence `Any`.

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tokamata.errors import MissingExtraError, VocabularyError

__all__ = ["Progress", "convert", "is_whole"]

Progress = Callable[[str, float], None]
"""Called with what is being done and the share of it that is done, 0 to 1."""

MANIFEST = "manifest.json"

# GGUF's token types.
_NORMAL, _CONTROL, _USER_DEFINED, _UNUSED = 1, 3, 4, 5

_LAYER_TENSORS = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "post_ffw_norm": "post_feedforward_layernorm",
}
_OTHER_TENSORS = {"token_embd.weight": "model.embed_tokens.weight", "output_norm.weight": "model.norm.weight"}


def convert(source: Path, folder: Path, progress: Progress) -> None:
    """Convert the GGUF file ``source`` into the existing, empty ``folder``.

    Raises:
        MissingExtraError: gguf, torch or safetensors is not installed.
        VocabularyError: the file is cut off, or of another architecture than Gemma 3.
    """
    try:
        import gguf
        import safetensors.torch
    except ImportError as error:
        raise MissingExtraError(error.name or "gguf", "demo", "converting a GGUF model") from error
    progress("opening the model file", 0.0)
    try:
        reader = gguf.GGUFReader(source)
        fields = _fields(reader)
    except (ValueError, IndexError, KeyError) as error:
        raise VocabularyError(f"{source} is no GGUF file, or is cut off: {error}") from error
    architecture = fields["general.architecture"]
    if architecture != "gemma3":
        raise VocabularyError(
            f"{source} holds a model of architecture {architecture!r}; only 'gemma3' is converted"
        )
    _write_json(folder / "config.json", _config(fields))
    _write_json(folder / "generation_config.json", _special_ids(fields))
    _write_json(folder / "tokenizer_config.json", _tokenizer_config(fields))
    _write_json(folder / "tokenizer.json", _tokenizer(fields, progress))
    tensors = _tensors(reader, progress)
    progress("writing the weights", 0.0)
    safetensors.torch.save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    _write_json(folder / MANIFEST, {path.name: path.stat().st_size for path in sorted(folder.iterdir())})


def is_whole(folder: Path) -> bool:
    """Whether ``folder`` holds every file of a finished conversion, at its full size."""
    try:
        sizes = json.loads((folder / MANIFEST).read_text("utf-8"))
        return bool(sizes) and all((folder / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError, AttributeError):
        return False


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False), "utf-8")


def _fields(reader: Any) -> _Fields:
    """Read all fields, once: the tokens alone take two seconds."""
    return _Fields({name: field.contents() for name, field in reader.fields.items()})


class _Fields(dict[str, Any]):
    """The fields of a GGUF file by name."""

    def __missing__(self, name: str) -> Any:
        raise VocabularyError(f"the GGUF file lacks the field {name!r}; it is cut off, or of another kind")


def _special_ids(fields: _Fields) -> dict[str, int]:
    return {
        f"{ours}_token_id": fields[f"tokenizer.ggml.{theirs}_token_id"]
        for ours, theirs in (("bos", "bos"), ("eos", "eos"), ("pad", "padding"))
    }


def _config(fields: _Fields) -> dict[str, Any]:
    """Return transformers' configuration of a Gemma 3 text model."""

    def number(name: str) -> Any:
        return fields[f"gemma3.{name}"]

    layers = number("block_count")
    # Every sixth layer attends to everything, the others to a window; so in the whole family.
    full_every = 6
    return {
        "architectures": ["Gemma3ForCausalLM"],
        "model_type": "gemma3_text",
        "dtype": "bfloat16",
        "torch_dtype": "bfloat16",
        "vocab_size": len(fields["tokenizer.ggml.tokens"]),
        "hidden_size": number("embedding_length"),
        "intermediate_size": number("feed_forward_length"),
        "num_hidden_layers": layers,
        "num_attention_heads": number("attention.head_count"),
        "num_key_value_heads": number("attention.head_count_kv"),
        "head_dim": number("attention.key_length"),
        "query_pre_attn_scalar": number("attention.key_length"),
        "max_position_embeddings": number("context_length"),
        "rms_norm_eps": number("attention.layer_norm_rms_epsilon"),
        "sliding_window": number("attention.sliding_window"),
        "sliding_window_pattern": full_every,
        "layer_types": [
            "sliding_attention" if (layer + 1) % full_every else "full_attention" for layer in range(layers)
        ],
        "rope_theta": number("rope.freq_base"),
        "rope_local_base_freq": 10000.0,
        "hidden_activation": "gelu_pytorch_tanh",
        "attention_bias": False,
        "attention_dropout": 0.0,
        "tie_word_embeddings": True,
        "use_cache": True,
        **_special_ids(fields),
    }


def _pieces(fields: _Fields) -> list[str]:
    """Return the pieces by id.  GGUF spells runs of ``▁`` as spaces, and only these."""
    return [
        "▁" * len(piece) if piece and not piece.strip(" ") else piece
        for piece in fields["tokenizer.ggml.tokens"]
    ]


def _tokenizer_config(fields: _Fields) -> dict[str, Any]:
    pieces, ids = _pieces(fields), _special_ids(fields)
    unknown = fields["tokenizer.ggml.unknown_token_id"]
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        "model_max_length": fields["gemma3.context_length"],
        "bos_token": pieces[ids["bos_token_id"]],
        "eos_token": pieces[ids["eos_token_id"]],
        "pad_token": pieces[ids["pad_token_id"]],
        "unk_token": pieces[unknown],
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
            "special": types[token] == _CONTROL,
            **dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False),
        }
        for token, piece in enumerate(pieces)
        if types[token] in (_CONTROL, _USER_DEFINED, _UNUSED)
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
    """Return every split of a piece into two pieces, in the order in which they are to be merged.

    First those of user-defined pieces (runs of spaces, tabs and newlines), which SentencePiece
    takes whole before anything else: the longest left part first, so that a run grows while it
    can.  Then the others, those of the best-scored pieces first.
    """
    taken = (_NORMAL, _USER_DEFINED)
    whole = {piece: token for token, piece in enumerate(pieces) if types[token] in taken}
    order = sorted(whole.values(), key=lambda token: (-scores[token], token))
    runs: list[list[str]] = []
    others: list[list[str]] = []
    for count, token in enumerate(order):
        if count % 8192 == 0:
            progress("building the tokenizer", count / len(order))
        piece = pieces[token]
        merges = runs if types[token] == _USER_DEFINED else others
        for cut in range(1, len(piece)):
            if piece[:cut] in whole and piece[cut:] in whole:
                merges.append([piece[:cut], piece[cut:]])
    runs.sort(key=lambda merge: (-len(merge[0]), -len(merge[1])))
    return runs + others


def _tensors(reader: Any, progress: Progress) -> dict[str, Any]:
    """Return the weights, dequantized, under the names that transformers gives them."""
    import gguf
    import torch

    tensors: dict[str, Any] = {}
    for count, tensor in enumerate(reader.tensors):
        progress("converting the weights", count / len(reader.tensors))
        weights = gguf.dequantize(tensor.data, tensor.tensor_type)
        if "norm" in tensor.name:
            weights = weights - 1
        tensors[_tensor_name(tensor.name)] = torch.from_numpy(weights.copy()).to(torch.bfloat16)
    return tensors


def _tensor_name(name: str) -> str:
    if name in _OTHER_TENSORS:
        return _OTHER_TENSORS[name]
    parts = re.fullmatch(r"blk\.(\d+)\.(\w+)\.weight", name)
    if parts is None or parts[2] not in _LAYER_TENSORS:
        raise VocabularyError(f"the GGUF file holds a tensor {name!r}, which is none of a Gemma 3 text model")
    return f"model.layers.{parts[1]}.{_LAYER_TENSORS[parts[2]]}.weight"
