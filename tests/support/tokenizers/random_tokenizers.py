"""Small tokenizers of every kind, made by chance, for exhaustive tests against their own program."""

from __future__ import annotations

import json
import random
from typing import Any

from tokenizers import Tokenizer

import tokamata as tk
from tests.support.tokenizers.small_word_tokenizers import word_tokenizer

# Regexes of real tokenizers, and some that are hard on a reader from left to right.
REGEXES = [
    r"'s|'t| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"(?i:'s|'t|'re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"[^\r\n\p{L}\p{N}]?\p{L}+(?i:'s|'t)?|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"\p{N}{1,2}|a|ab|abb+|\s+(?=a)|\s",
    r"aa|ab?|b+(?!a)|b| +",
    r"a{2,3}?|(?:ab)+|b",
    r"\s*b|a+",
    r"a*\n|b",
]
JSON_ALPHABETS = ['{}[]",:ab1', '{}[]",:ab<>1', '{}[]",:aé\u0301b1', '{}[]",:ab1 \n']
ALPHABETS = ["ab ", "ab1 ", "a b'st", "ab\n ", "aéb ", "e\u0301a ", "ab<>", "a.b 1"]
PATTERNS = [
    "(?s:.){0,4}",
    "a(?s:.){0,3}",
    "(?s:.){0,3}b",
    "[ab]{2,4}",
    "(?: ?[ab]){1,3}",
    "ab|ba|a b|abab",
    " {0,3}[ab]?",
    "a{3}|b{2} ",
    "(?:ab){1,2} ?",
    "\\w{1,2} \\w{0,2}",
]


def random_tokenizer(seed: int, alphabets: list[str] = ALPHABETS) -> tuple[Tokenizer, str]:
    """A tokenizer, and the characters that texts for it are made of.

    With other alphabets none of words, which has its own.
    """
    draw = random.Random(seed)
    kind = draw.choice(["bytes", "bytes", "bytes", "characters", "fallback", "words"])
    if kind == "words" and alphabets is not ALPHABETS:
        kind = "bytes"
    if kind == "words":
        words, alphabet = word_tokenizer(draw)
        return Tokenizer.from_str(json.dumps(words)), alphabet
    alphabet = draw.choice(alphabets)
    document = (
        _character_level(draw, alphabet, kind == "fallback")
        if kind != "bytes"
        else _byte_level(draw, alphabet)
    )
    document["added_tokens"] = _added(draw, alphabet, document)
    return Tokenizer.from_str(json.dumps(document)), alphabet


def with_every_byte(draw: random.Random) -> tuple[Tokenizer, tk.Vocabulary]:
    """A tokenizer for JSON with a token for every byte: others are searched state by state, without end."""
    while True:
        tokenizer, _ = random_tokenizer(draw.randrange(1 << 30), JSON_ALPHABETS)
        vocabulary = tk.Vocabulary.load(tokenizer, stop=())
        if {bytes([byte]) for byte in range(0x20, 0x7F)} <= set(vocabulary.tokens):
            return tokenizer, vocabulary


def _byte_level(draw: random.Random, alphabet: str) -> dict[str, Any]:
    from tokenizers import pre_tokenizers

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    written = {
        c: pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str(c)[0][0]
        for c in alphabet
    }
    used = sorted(set("".join(written.values())))
    vocab, merges = _merged(draw, letters, used)
    splits: list[dict[str, Any]] = [
        {
            "type": "Split",
            "pattern": {"Regex": draw.choice(REGEXES)},
            "behavior": "Isolated",
            "invert": False,
        }
        for _ in range(draw.choice([0, 1, 1, 1, 2]))
    ]
    if draw.random() < 0.2:
        splits.insert(0, {"type": "Digits", "individual_digits": draw.random() < 0.5})
    prefix = not splits and draw.random() < 0.5
    splits.append(
        {
            "type": "ByteLevel",
            "add_prefix_space": prefix,
            "trim_offsets": True,
            "use_regex": draw.random() < 0.3,
        }
    )
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "normalizer": {"type": "NFC"} if "\u0301" in alphabet or draw.random() < 0.1 else None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": splits},
        "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": draw.random() < 0.4,
            "vocab": vocab,
            "merges": merges,
        },
    }


def _character_level(draw: random.Random, alphabet: str, fallback: bool) -> dict[str, Any]:
    known = [c.replace(" ", "▁") for c in alphabet]
    if fallback and len(known) > 2:
        known.remove(draw.choice([c for c in known if c != "▁"]))
    first = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256))] if fallback else ["<unk>"]
    vocab, merges = _merged(draw, [*first, *known], known)
    style = draw.choice(["prepend", "replace", "metaspace"])
    normalizer: Any = None
    pre_tokenizer: Any = None
    decoders: list[dict[str, Any]] = [{"type": "ByteFallback"}, {"type": "Fuse"}]
    if style == "metaspace":
        scheme = draw.choice(["always", "first", "never"])
        pre_tokenizer = {
            "type": "Metaspace",
            "replacement": "▁",
            "prepend_scheme": scheme,
            "split": draw.random() < 0.5,
        }
        decoders = [{"type": "ByteFallback"}, {k: v for k, v in pre_tokenizer.items() if k != "split"}]
        decoders[1]["split"] = pre_tokenizer["split"]
        if fallback:
            decoders.reverse()
        decoders = decoders if fallback else [decoders[1]]
    else:
        steps: list[dict[str, Any]] = [{"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]
        decoders.insert(0, {"type": "Replace", "pattern": {"String": "▁"}, "content": " "})
        if style == "prepend":
            steps.insert(0, {"type": "Prepend", "prepend": "▁"})
            decoders.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
        normalizer = {"type": "Sequence", "normalizers": steps}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": None,
        "decoder": {"type": "Sequence", "decoders": decoders},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": "<unk>",
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": True,
            "byte_fallback": fallback,
            "ignore_merges": False,
            "vocab": vocab,
            "merges": merges,
        },
    }


def _merged(draw: random.Random, first: list[str], used: list[str]) -> tuple[dict[str, int], list[list[str]]]:
    vocab = {text: token for token, text in enumerate(first)}
    parts = list(used)
    merges: list[list[str]] = []
    for _ in range(draw.randrange(2, 12)):
        pair = [draw.choice(parts), draw.choice(parts)]
        joined = "".join(pair)
        if pair in merges or len(joined) > 6:
            continue
        merges.append(pair)
        if joined not in vocab:
            vocab[joined] = len(vocab)
            parts.append(joined)
    if draw.random() < 0.3:
        draw.shuffle(merges)
    for _ in range(draw.randrange(3)):  # tokens that no merge makes
        joined = "".join(draw.choices(parts, k=2))
        vocab.setdefault(joined, len(vocab))
    return vocab, merges


def _added(draw: random.Random, alphabet: str, document: dict[str, Any]) -> list[dict[str, Any]]:
    contents = {"<>": True, "<a>": False, "aba": False, "b ": False, "bb": False, "<s>": True}
    chosen = [text for text in contents if draw.random() < 0.15]
    vocab = document["model"]["vocab"]
    if "<unk>" in vocab:
        chosen.insert(0, "<unk>")
    entries = []
    for text in chosen:
        token = vocab.get(text, len(vocab) + len([e for e in entries if e["content"] not in vocab]))
        special = text == "<unk>" or contents[text]
        flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
        entries.append({"id": token, "content": text, "special": special, **flags})
    return entries
