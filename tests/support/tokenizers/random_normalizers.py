"""Small tokenizers whose normalizers replace, remove and recompose, made by chance.

    tokenizer, alphabet = random_normalizer(seed=7)

Their models have a token for each character of the alphabet, for most of those that the normalizer makes of
them, and a few merges; the alphabets have the characters that are hard for one of the normalizers.  Charsmaps
are those of ``charsmaps()``, which trains SentencePiece models for them, where that package is installed, and
one that is built here (``small_charsmap``).
"""

from __future__ import annotations

import base64
import importlib.util
import json
import random
import struct
from collections.abc import Mapping
from functools import cache
from typing import Any

from tokenizers import Tokenizer

from tests.support.tokenizers.trained_sentence_piece import trained
from tokamata.tokenization.pipelines.sentence_piece_model import read_model

_Document = dict[str, Any]

# Two-byte marks, a base of each length that composes with them, and what joins or parts clusters.
CLUSTERS = "e\u0301\u0302\xea\u1eb9\u1ab0\u0600\u2194\u0338\xa9\u200d\u0915\u094d\U0001d165"
SIGNS = "`'\"\uff40\uff02"
SPACES = " \t\n\u3000\u2003\x0b"
CASES = "aA\u0130\xe9\u0307\uff21\u03a3"
EMOJI = "\u2194\u0338\xa9\u200d\u0903"
WIDE = "\u1100\u1161\uac00\ufb01\u0bca\u4e2d"


def double_array(keys: Mapping[bytes, int]) -> list[int]:
    """The units of a trie: each node gets the first offset at which all of its children are free."""
    trie: dict[int, Any] = {}
    for key, value in keys.items():
        node = trie
        for byte in key:
            node = node.setdefault(byte, {})
        node[0] = value
    units, taken, offsets = [0] * 256, {0}, {0}
    pending: list[tuple[int, dict[int, Any]]] = [(0, trie)]
    while pending:
        at, node = pending.pop()
        # Labels do not name a parent, so no two nodes may have the same offset.
        offset = next(
            base
            for base in range(1, 1 << 20)
            if base not in offsets and not any((base ^ byte) in taken for byte in node)
        )
        offsets.add(offset)
        units += [0] * ((offset | 0xFF) + 1 - len(units))
        units[at] |= (at ^ offset) << 10 | (0 in node) << 8
        for byte, child in node.items():
            place = offset ^ byte
            taken.add(place)
            if byte == 0:
                units[place] = child | 1 << 31
            else:
                units[place] = byte
                pending.append((place, child))
    return units


def charsmap_of(replacements: Mapping[str, str]) -> bytes:
    """The blob of a charsmap."""
    results, places = b"", {}
    for key, result in replacements.items():
        places[key.encode()] = len(results)
        results += result.encode() + b"\0"
    units = double_array(places)
    return struct.pack(f"<I{len(units)}I", 4 * len(units), *units) + results


@cache
def small_charsmap() -> bytes:
    """Pairs with bases of one to three bytes, single code points, one that is removed, and longer keys."""
    return charsmap_of(
        {
            "e\u0301": "\xe9",
            "e\u0302": "\xea",
            "e\u0302\u0301": "\u1ebf",
            "\xea\u0301": "\u1ebf",
            "\u1eb9\u0302": "\u1ec7",
            "\u2194\u0338": "\u21ae",
            "\uff21": "A",
            "\uff21\u0301": "\xc1",
            "\t": " ",
            "\x0b": "",
            "\ufb01": "fi",
            "ab": "c",
            "\u1100\u1161": "\uac00",
        }
    )


@cache
def trained_charsmap(rule: str) -> bytes | None:
    """The charsmap of a rule of SentencePiece (``nmt_nfkc``); ``None`` if the package is not installed."""
    if importlib.util.find_spec("sentencepiece") is None:
        return None
    model = trained(["a b c d e f g h"] * 20, vocab_size=12, normalization_rule_name=rule)
    return bytes(read_model(model).charsmap)


def _charsmap(draw: random.Random) -> _Document:
    blob = None
    if draw.random() < 0.5:
        blob = trained_charsmap(draw.choice(["nmt_nfkc", "nfkc", "nmt_nfkc_cf"]))
    return {
        "type": "Precompiled",
        "precompiled_charsmap": base64.b64encode(blob or small_charsmap()).decode(),
    }


def _replace(draw: random.Random) -> _Document:
    pattern, content = draw.choice(
        [
            ({"String": "``"}, '"'),
            ({"String": "''"}, '"'),
            ({"Regex": " {2,}"}, " "),
            ({"Regex": r"\s+\S"}, ""),
            ({"Regex": "a+b|e"}, "c"),
            ({"String": "a"}, "b"),
            ({"String": "`"}, ""),
            ({"String": "ab"}, "abab"),
        ]
    )
    return {"type": "Replace", "pattern": pattern, "content": content}


def _bert(draw: random.Random) -> _Document:
    names = ("clean_text", "handle_chinese_chars", "lowercase")
    flags: _Document = {name: draw.random() < 0.4 for name in names}
    return {"type": "BertNormalizer", **flags, "strip_accents": draw.choice([None, True, False])}


def _part(draw: random.Random) -> _Document:
    kind = draw.choice(
        ["charsmap", "charsmap", "charsmap", "replace", "replace", "strip", "plain", "plain", "bert"]
    )
    if kind == "charsmap":
        return _charsmap(draw)
    if kind == "replace":
        return _replace(draw)
    if kind == "bert":
        return _bert(draw)
    if kind == "strip":
        left, right = draw.choice([(True, True), (True, False), (False, True)])
        return {"type": "Strip", "strip_left": left, "strip_right": right}
    return {"type": draw.choice(["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt"])}


# Those of T5, XLNet and ALBERT.
_KNOWN = (
    lambda draw: [
        _charsmap(draw),
        {"type": "Strip", "strip_left": False, "strip_right": True},
        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": draw.choice(["\u2581", " "])},
    ],
    lambda draw: [
        {"type": "Replace", "pattern": {"String": "``"}, "content": '"'},
        {"type": "Replace", "pattern": {"String": "''"}, "content": '"'},
        {"type": "NFKD"},
        {"type": "StripAccents"},
        *([{"type": "Lowercase"}] if draw.random() < 0.5 else []),
        _charsmap(draw),
        *(
            [{"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}]
            if draw.random() < 0.5
            else []
        ),
    ],
)


def _pre_tokenizer(draw: random.Random) -> tuple[list[_Document], str]:
    """The parts, and the scheme of ``Metaspace``, or ``""``."""
    kind = draw.choice(["none", "metaspace", "metaspace", "words", "words", "white", "split"])
    if kind == "metaspace":
        scheme = draw.choice(["always", "always", "first", "never"])
        return [_metaspace(scheme, draw.random() < 0.7)], scheme
    if kind == "words":
        return [{"type": "WhitespaceSplit"}, _metaspace("always", True)], "always"
    if kind == "white":
        return [{"type": draw.choice(["WhitespaceSplit", "Whitespace"])}], ""
    if kind == "split":
        pattern = draw.choice([{"String": "ab"}, {"Regex": "a+b|`"}, {"String": " "}])
        inverted = draw.random() < 0.2
        return [{"type": "Split", "pattern": pattern, "behavior": "Removed", "invert": inverted}], ""
    return [], ""


def _metaspace(scheme: str, splits: bool) -> _Document:
    return {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": scheme, "split": splits}


def random_normalizer(seed: int) -> tuple[Tokenizer, str]:
    """A tokenizer, and the characters that texts for it are made of."""
    draw = random.Random(f"normalizer {seed}")
    parts = (
        draw.choice(_KNOWN)(draw)
        if draw.random() < 0.4
        else [_part(draw) for _ in range(draw.choice([1, 1, 2, 3]))]
    )
    splits, scheme = _pre_tokenizer(draw)
    pools = [CLUSTERS, CLUSTERS, EMOJI, SIGNS, SPACES, CASES, WIDE]
    letters = dict.fromkeys(
        " ab" + "".join("".join(draw.sample(p, min(len(p), 4))) for p in draw.sample(pools, 2))
    )
    alphabet = "".join(draw.sample(list(letters), min(len(letters), draw.choice([4, 5, 7]))))
    written = dict.fromkeys(alphabet + "c\xe9\xea\u1ebfAe\u0301")
    tokens = [one.replace(" ", "\u2581") if scheme else one for one in written if draw.random() < 0.93]
    vocab = {
        text: token
        for token, text in enumerate(dict.fromkeys(["<unk>", *tokens, *("\u2581" if scheme else "")]))
    }
    made = list(vocab)[1:]
    merges: list[list[str]] = []
    for _ in range(draw.randrange(6)):
        pair = [draw.choice(made), draw.choice(made)]
        if pair in merges or len("".join(pair)) > 5:
            continue
        merges.append(pair)
        if "".join(pair) not in vocab:
            vocab["".join(pair)] = len(vocab)
            made.append("".join(pair))
    names = ["<unk>", *(["<m>"] if draw.random() < 0.3 else [])]
    none = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    document = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": vocab.get(name, len(vocab)), "content": name, "special": name == "<unk>", **none}
            for name in names
        ],
        "normalizer": {"type": "Sequence", "normalizers": parts} if len(parts) > 1 else parts[0],
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": splits} if splits else None,
        "post_processor": None,
        "decoder": _metaspace(scheme, True) if scheme else {"type": "Fuse"},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": "<unk>",
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": vocab,
            "merges": merges,
        },
    }
    return Tokenizer.from_str(json.dumps(document)), alphabet
