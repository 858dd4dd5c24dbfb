"""A random language model and its tokenizer, small enough to be made anew in each test run.

The tokenizer has every byte as a token of its own, a few words, and tokens that end inside a code
point, as byte-pair encodings over bytes do.
"""

from __future__ import annotations

from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

# On matrices this small a second thread only waits, and where the processor is shared, for long.
torch.set_num_threads(1)

SPECIAL = ["<pad>", "<eos>", "<bos>", "<end_of_turn>"]
MERGES = ["1 2", "3 4", "12 34", "a b", "ab c", "t h", "th e", "o n", "on e", "t w", "tw o"]


def small_tokenizer() -> transformers.PreTrainedTokenizerFast:
    """A byte-level BPE over 256 bytes and eleven merges; ids 0 to 3 are control tokens."""
    # The emoji 😀 is F0 9F 98 80; its first two bytes make a token, which ends inside a code point.
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    first, second = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str("😀")[
        0
    ][0][:2]
    merges = [tuple(merge.split()) for merge in MERGES] + [(first, second)]
    pieces = SPECIAL + alphabet + [left + right for left, right in merges]
    model = models.BPE(vocab={piece: token for token, piece in enumerate(pieces)}, merges=merges)
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(SPECIAL)
    tokenizer.post_processor = processors.TemplateProcessing(single="<bos> $A", special_tokens=[("<bos>", 2)])
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        eos_token="<eos>",
        bos_token="<bos>",
        padding_side="left",
        clean_up_tokenization_spaces=False,
    )


def small_model(width: int, seed: int = 0, eos: int | list[int] | None = 1) -> Any:
    """A random Llama of two layers whose logits are ``width`` wide."""
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=width,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=512,
        initializer_range=0.5,
        pad_token_id=0,
        eos_token_id=eos,
        bos_token_id=2,
    )
    return transformers.LlamaForCausalLM(config).eval()


KINDS = ["learned positions", "alibi", "recurrent", "sliding window", "sliding and full"]


def config_of(kind: str, width: int) -> Any:
    """A tiny model of each way to know positions, and of each cache."""
    sizes = {
        "vocab_size": width,
        "initializer_range": 0.5,
        "pad_token_id": 0,
        "eos_token_id": 1,
        "bos_token_id": 2,
    }
    if kind == "learned positions":
        return transformers.GPT2Config(n_embd=32, n_layer=2, n_head=2, n_positions=256, **sizes)
    if kind == "alibi":
        return transformers.BloomConfig(hidden_size=32, n_layer=2, n_head=2, **sizes)
    if kind == "recurrent":
        return transformers.MambaConfig(hidden_size=32, num_hidden_layers=2, state_size=4, **sizes)
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 4, "num_attention_heads": 2}
    shape |= {"num_key_value_heads": 1, "max_position_embeddings": 256}
    if kind == "sliding window":
        return transformers.MistralConfig(sliding_window=8, **shape, **sizes)
    return transformers.Gemma3TextConfig(sliding_window=8, head_dim=16, **shape, **sizes)
