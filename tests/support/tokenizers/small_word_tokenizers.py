"""Small tokenizers of WordPiece, made by chance, for exhaustive tests against their own program."""

from __future__ import annotations

import random
from typing import Any

ALPHABETS = ["ab ", "ab# ", "ab.", "a b.#", "aé 中", "aA b", "e\u0301a ", "a# .", "a1 b", "ab\n "]
ALPHABETS += ["a\u1112\u1161 ", "가a\u1100\u1161"]


def word_tokenizer(draw: random.Random) -> tuple[dict[str, Any], str]:
    """The document of a tokenizer, and the characters that texts for it are made of."""
    alphabet = draw.choice(ALPHABETS)
    most = draw.choice([2, 3, 4, 4, 100])
    vocab = _vocabulary(draw, alphabet)
    document: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": _added(draw, vocab),
        "normalizer": _normalizer(draw),
        "pre_tokenizer": _pre_tokenizer(draw),
        "post_processor": None,
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": False},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": most,
            "vocab": vocab,
        },
    }
    return document, alphabet


def _vocabulary(draw: random.Random, alphabet: str) -> dict[str, int]:
    letters = [letter for letter in alphabet if letter not in " \n"]
    first = [letter for letter in letters if draw.random() < 0.9]
    rest = [letter for letter in letters if draw.random() < 0.8]
    texts = ["[UNK]", *first, *("##" + letter for letter in rest)]
    for _ in range(draw.randrange(10)):
        tail = "".join(draw.choices(rest, k=draw.randrange(1, 4))) if rest else ""
        if tail and draw.random() < 0.5:
            texts.append("##" + tail)
        elif first:
            texts.append(draw.choice(first) + tail)
    kept = [text for text in dict.fromkeys(texts) if text != "##"]
    if draw.random() < 0.4:  # words can get stuck
        kept = [text for text in kept if len(text.removeprefix("##")) > 1 or draw.random() < 0.7]
    if draw.random() < 0.3:
        draw.shuffle(kept)
    return {text: token for token, text in enumerate(kept)}


def _normalizer(draw: random.Random) -> Any:
    kind = draw.choice(["none", "none", "bert", "bert", "bert", "Lowercase", "NFC", "NFD", "NFKC", "chain"])
    if kind == "none":
        return None
    if kind == "chain":
        chain = draw.sample(["NFD", "Lowercase", "StripAccents"], draw.randrange(1, 4))
        return {"type": "Sequence", "normalizers": [{"type": name} for name in chain]}
    if kind != "bert":
        return {"type": kind}
    return {
        "type": "BertNormalizer",
        "clean_text": draw.random() < 0.5,
        "handle_chinese_chars": draw.random() < 0.5,
        "strip_accents": draw.choice([None, None, True, False]),
        "lowercase": draw.random() < 0.5,
    }


def _pre_tokenizer(draw: random.Random) -> Any:
    first = draw.choice(["BertPreTokenizer", "BertPreTokenizer", "Whitespace", *["WhitespaceSplit"] * 2])
    parts: list[dict[str, Any]] = [{"type": first}]
    if draw.random() < 0.2:
        parts.append({"type": "Digits", "individual_digits": draw.random() < 0.5})
    if draw.random() < 0.2:
        behavior = draw.choice(["Isolated", "Contiguous", "Removed"])
        parts.insert(draw.randrange(2), {"type": "Punctuation", "behavior": behavior})
    return parts[0] if len(parts) == 1 else {"type": "Sequence", "pretokenizers": parts}


def _added(draw: random.Random, vocab: dict[str, int]) -> list[dict[str, Any]]:
    contents = {"[UNK]": 1.0, "[SEP]": 0.3, "ab": 0.15, "b": 0.1, "a.b": 0.1, "aa": 0.1}
    entries: list[dict[str, Any]] = []
    for content, chance in contents.items():
        if draw.random() >= chance:
            continue
        token = vocab.get(content, len(vocab) + sum(entry["content"] not in vocab for entry in entries))
        flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
        entries.append({"id": token, "content": content, "special": content[0] == "[", **flags})
    return entries
