"""The configuration and the weights of a Gemma 3 text model, from a GGUF file.

transformers can read GGUF files too, but takes 48 s of processor time and 3.2 GB for Gemma 3 270M, mostly for
the tokens in the head of the file, which it reads twice with the package `gguf`.  Here
``vocabulary/gguf_metadata.py`` reads the head, and `gguf` only dequantizes: 5 s and 1.2 GB.

In GGUF, the scale of a norm has 1 added; in transformers, it does not.
"""

# transformers and gguf have no usable types, and values of a GGUF file have none, hence `Any`.

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from tokamata.errors import VocabularyError
from tokamata.vocabulary.gguf_metadata import Tensor, read_tensors

__all__ = ["CONFIG_KEYS", "configuration", "weights"]

# Field of transformers' configuration, and the key in the GGUF file.
_CONFIG = {
    "max_position_embeddings": "gemma3.context_length",
    "hidden_size": "gemma3.embedding_length",
    "num_hidden_layers": "gemma3.block_count",
    "intermediate_size": "gemma3.feed_forward_length",
    "num_attention_heads": "gemma3.attention.head_count",
    "num_key_value_heads": "gemma3.attention.head_count_kv",
    "head_dim": "gemma3.attention.key_length",
    "sliding_window": "gemma3.attention.sliding_window",
    "rms_norm_eps": "gemma3.attention.layer_norm_rms_epsilon",
    "rope_theta": "gemma3.rope.freq_base",
    "bos_token_id": "tokenizer.ggml.bos_token_id",
    "eos_token_id": "tokenizer.ggml.eos_token_id",
    "pad_token_id": "tokenizer.ggml.padding_token_id",
}
CONFIG_KEYS = tuple(_CONFIG.values())

# The weights of a layer: names in GGUF and in transformers, and the shape, a letter of `_expected` per size.
_LAYER = (
    ("attn_norm", "input_layernorm", "h"),
    ("attn_q", "self_attn.q_proj", "qh"),
    ("attn_k", "self_attn.k_proj", "kh"),
    ("attn_v", "self_attn.v_proj", "kh"),
    ("attn_output", "self_attn.o_proj", "hq"),
    ("attn_q_norm", "self_attn.q_norm", "d"),
    ("attn_k_norm", "self_attn.k_norm", "d"),
    ("post_attention_norm", "post_attention_layernorm", "h"),
    ("ffn_norm", "pre_feedforward_layernorm", "h"),
    ("ffn_gate", "mlp.gate_proj", "ih"),
    ("ffn_up", "mlp.up_proj", "ih"),
    ("ffn_down", "mlp.down_proj", "hi"),
    ("post_ffw_norm", "post_feedforward_layernorm", "h"),
)
_BLOCKS_AT_ONCE = 1 << 14


def configuration(fields: dict[str, Any], vocabulary_size: int) -> Any:
    """Transformers' configuration, from the values of ``CONFIG_KEYS``."""
    host: Any = import_module("transformers")
    values = {name: fields[key] for name, key in _CONFIG.items()}
    return host.Gemma3TextConfig(
        **values, vocab_size=vocabulary_size, architectures=["Gemma3ForCausalLM"], dtype="bfloat16"
    )


def weights(source: Path, config: Any, progress: Callable[[str, float], None]) -> dict[str, Any]:
    """Return the weights by transformers' names, in bfloat16.

    Raises:
        VocabularyError: weights are missing, do not have the shapes of ``config``, or are cut off.
    """
    tensors = read_tensors(source)
    if config.num_hidden_layers > len(tensors):
        raise VocabularyError(f"{source} has {len(tensors)} weights for {config.num_hidden_layers} layers")
    expected = dict(_expected(config))
    if missing := sorted(name for name, (key, _) in expected.items() if key not in tensors):
        raise VocabularyError(
            f"{source} lacks {len(missing)} of the weights of Gemma 3, such as {missing[0]}"
        )
    data = np.memmap(source, mode="r")
    found: dict[str, Any] = {}
    for number, (name, (key, shape)) in enumerate(expected.items()):
        progress("converting the weights", number / len(expected))
        if tensors[key].shape != shape:
            raise VocabularyError(f"{source}: {key} has the shape {tensors[key].shape}, expected {shape}")
        found[name] = _values(source, data, tensors[key], shift=-1.0 if "norm" in name else 0.0)
    return found


def _expected(config: Any) -> list[tuple[str, tuple[str, tuple[int, ...]]]]:
    """Every weight: its name in transformers, then its name in GGUF and its shape."""
    sizes = {
        "v": config.vocab_size,
        "h": config.hidden_size,
        "i": config.intermediate_size,
        "q": config.num_attention_heads * config.head_dim,
        "k": config.num_key_value_heads * config.head_dim,
        "d": config.head_dim,
    }
    rows = [("token_embd", "embed_tokens", "vh"), ("output_norm", "norm", "h")]
    for layer in range(config.num_hidden_layers):
        rows += [(f"blk.{layer}.{key}", f"layers.{layer}.{name}", shape) for key, name, shape in _LAYER]
    return [
        (f"model.{name}.weight", (f"{key}.weight", tuple(sizes[letter] for letter in shape)))
        for key, name, shape in rows
    ]


def _values(source: Path, data: Any, tensor: Tensor, shift: float) -> Any:
    """The values of one tensor plus ``shift``, in bfloat16; only one chunk at a time is in float32."""
    gguf: Any = import_module("gguf")
    torch: Any = import_module("torch")
    kind = gguf.GGMLQuantizationType(tensor.kind)
    block_values, block_bytes = gguf.GGML_QUANT_SIZES[kind]
    blocks, rest = divmod(math.prod(tensor.shape), block_values)
    stored = data[tensor.offset : tensor.offset + blocks * block_bytes]
    if rest or len(stored) != blocks * block_bytes:
        raise VocabularyError(f"{source} is cut off: its weights need more bytes; download it again")
    found = torch.empty(blocks * block_values, dtype=torch.bfloat16)
    for begin in range(0, blocks, _BLOCKS_AT_ONCE):
        chunk = stored[begin * block_bytes : (begin + _BLOCKS_AT_ONCE) * block_bytes]
        # Blocks are independent, so a chunk may be one row: `gguf` works on 16 rows at a time, however short.
        values = gguf.dequantize(chunk.reshape(1, -1), kind).ravel() + np.float32(shift)
        found[begin * block_values :][: len(values)] = torch.from_numpy(values)
    return found.reshape(tensor.shape)
