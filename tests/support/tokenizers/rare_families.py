"""Small random tokenizers with parts that few have: marks in words, stripping tokens, spaces before pieces.

Their texts have at most five characters, so that all short ones can be encoded.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from tokenizers import pre_tokenizers

_Document = dict[str, Any]

_FLAGS = ("single_word", "lstrip", "rstrip", "normalized")
# CLIP's, without its control tokens.
CLIP_REGEX = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
_WORDS = (CLIP_REGEX, r"\w+|[^\w\s]+", r"[^ ]+", r"a+|b(?!a)|[^\sa]+?", r"ab|a|[^\s]+(?=\s)|\S+")
_WORDS += (r"a+(?!\s)|\S", r"a b|\S+", r"\s*a|\S+", r"(?:ab)+?(?=\s|b)|\S")
_ALPHABETS = ("ab ", "a b.", "a's ", "aé ", "ab1 ", "ab\n ", "aB ", "ab< ", "a\xa0b ", "a#b ", "e\u0301a ")


def marked(draw: random.Random, name: str, alphabets: tuple[str, ...] = _ALPHABETS) -> tuple[_Document, str]:
    """Byte-pair encoding with ``end_of_word_suffix`` or ``continuing_subword_prefix``."""
    is_suffix = name == "end_of_word_suffix"
    alphabet = draw.choice(alphabets)
    mark = draw.choice(
        ["</w>", "</w>", "</w>", "_", "aa", "<"] if is_suffix else ["##", "##", "##", "@@", "#", "é"]
    )
    is_byte_level = draw.random() < (0.4 if is_suffix else 0.1)
    letters = [letter for letter in alphabet if letter not in " \n\xa0"]
    if is_byte_level:
        byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        letters = sorted(set("".join(byte_level.pre_tokenize_str("".join(letters))[0][0])))
    vocab, merges = _marked_merges(draw, letters, mark, is_suffix)
    parts: list[_Document] = [draw.choice(_splits(draw))]
    if parts[0]["type"] != "Split" and draw.random() < 0.2:
        parts.append({"type": "Digits", "individual_digits": draw.random() < 0.5})
    if is_byte_level:
        use_regex = draw.random() < 0.3
        parts.append(
            {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": use_regex}
        )
    normalizer = draw.choice([None, None, {"type": "NFC"}, {"type": "Lowercase"}])
    document = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "normalizer": {"type": "NFC"} if "\u0301" in alphabet else normalizer,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": parts},
        "post_processor": None,
        "decoder": _decoder(draw, mark, is_suffix, is_byte_level),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": "<unk>",
            "continuing_subword_prefix": None if is_suffix else mark,
            "end_of_word_suffix": mark if is_suffix else None,
            "fuse_unk": draw.random() < 0.5,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": vocab,
            "merges": merges,
        },
    }
    document["added_tokens"] = _added(draw, vocab, ["<m>", "a", "ab", "b.", "<e>"], 0.15)
    return document, alphabet


def isolating(draw: random.Random) -> tuple[_Document, str]:
    """The same with ``BertNormalizer``, which puts spaces around Chinese characters (GPT-1)."""
    name = draw.choice(["end_of_word_suffix", "end_of_word_suffix", "continuing_subword_prefix"])
    document, alphabet = marked(draw, name, ("ab中 ", "aé文 ", "aB中 ", "a中\u0301 ", "a文. ", "中\uf900a "))
    document["normalizer"] = {
        "type": "BertNormalizer",
        "clean_text": draw.random() < 0.8,
        "handle_chinese_chars": True,
        "strip_accents": draw.choice([None, True, False]),
        "lowercase": draw.random() < 0.6,
    }
    parts = document["pre_tokenizer"]["pretokenizers"]
    if parts[0]["type"] == "Split":
        parts[0] = {"type": "BertPreTokenizer"}
    for entry in document["added_tokens"]:
        entry["normalized"] = entry["content"] != "<unk>" and draw.random() < 0.3
    return document, alphabet


def _splits(draw: random.Random) -> list[_Document]:
    split = {
        "type": "Split",
        "pattern": {"Regex": draw.choice(_WORDS)},
        "behavior": "Removed",
        "invert": True,
    }
    return [split, split, {"type": "WhitespaceSplit"}, {"type": "Whitespace"}, {"type": "BertPreTokenizer"}]


def _decoder(draw: random.Random, mark: str, is_suffix: bool, is_byte_level: bool) -> _Document | None:
    if not is_suffix:
        return {"type": "WordPiece", "prefix": mark, "cleanup": False}
    plain = {"type": "BPEDecoder", "suffix": mark}
    if not is_byte_level:
        return plain
    spaced = {"type": "Replace", "pattern": {"String": mark}, "content": "Ġ"}
    first = spaced if draw.random() < 0.8 else plain
    byte_level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    return {"type": "Sequence", "decoders": [first, byte_level]}


def _marked_merges(
    draw: random.Random, letters: list[str], mark: str, is_suffix: bool
) -> tuple[dict[str, int], list[list[str]]]:
    with_mark = [letter + mark if is_suffix else mark + letter for letter in letters]
    first = [text for text in [*letters, *with_mark] if draw.random() < 0.93]
    vocab = {text: token for token, text in enumerate(dict.fromkeys(["<unk>", *first]))}
    parts = [text for text in vocab if text != "<unk>"]
    merges: list[list[str]] = []
    for _ in range(draw.randrange(2, 14)):
        left, right = draw.choice(parts or ["<unk>"]), draw.choice(parts or ["<unk>"])
        if draw.random() < 0.9:  # mostly such as can happen
            plain = [
                part for part in parts if not (part.endswith(mark) if is_suffix else part.startswith(mark))
            ]
            marks = [part for part in parts if part not in plain]
            if not plain or not marks:
                continue
            left = draw.choice(plain) if is_suffix else left
            right = right if is_suffix else draw.choice(marks)
        elif not is_suffix:
            continue  # the package cuts the prefix from any right part
        joined = left + (right if is_suffix else right[len(mark) :])
        if [left, right] in merges or len(joined) > 6 + len(mark):
            continue
        merges.append([left, right])
        if joined not in vocab:
            vocab[joined] = len(vocab)
            parts.append(joined)
    for _ in range(draw.randrange(3)):  # tokens that no merge makes
        joined = "".join(draw.choices([*parts, mark, "a "], k=2))
        vocab.setdefault(joined, len(vocab))
    return vocab, merges


def _added(
    draw: random.Random, vocab: dict[str, int], contents: list[str], chance: float
) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = []
    free = len(vocab)
    for content in ["<unk>", *(content for content in contents if draw.random() < chance)]:
        token = vocab.get(content)
        if token is None:
            token, free = free, free + 1
        flags = dict.fromkeys(_FLAGS, False)
        if content.startswith("<") and content != "<unk>":
            flags.update(lstrip=draw.random() < 0.5, rstrip=draw.random() < 0.3)
        special = content.startswith("<")
        entries.append({"id": token, "content": content, "special": special, **flags})
    return entries


def whole_words(draw: random.Random) -> tuple[_Document, str]:
    """WordLevel."""
    alphabet = draw.choice(_ALPHABETS)
    letters = [letter for letter in alphabet if letter not in " \n\xa0"]
    unknown = draw.choice(["<unk>", "[UNK]", "a"])
    words = {
        "".join(draw.choices(letters, k=draw.choice([1, 1, 2, 2, 3]))) for _ in range(draw.randrange(1, 9))
    }
    texts = list(dict.fromkeys([unknown, *sorted(words)]))
    if draw.random() < 0.2:
        texts.append(draw.choice(["a b", "", "##a", " "]))
    vocab = {text: token for token, text in enumerate(texts)}
    document = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "normalizer": draw.choice([None, {"type": "Lowercase"}, {"type": "NFC"}, {"type": "NFKC"}]),
        "pre_tokenizer": draw.choice(_splits(draw)[2:]),
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocab, "unk_token": unknown},
    }
    document["added_tokens"] = _added(draw, vocab, ["<m>", "ab", "b"], 0.15)
    return document, alphabet


RARE_FAMILIES: dict[str, Callable[[random.Random], tuple[_Document, str]]] = {
    "suffix": lambda draw: marked(draw, "end_of_word_suffix"),
    "prefix": lambda draw: marked(draw, "continuing_subword_prefix"),
    "isolating": isolating,
    "whole words": whole_words,
}
