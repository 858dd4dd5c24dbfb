"""Small random tokenizers by family, and alphabets whose short texts can all be encoded.

    tokenizer, alphabet = of_family("byte fallback", seed=7)  # at most four characters

The families *added tokens*, *normal forms* and *splits* are tokenizers of the others with parts that are rare
there: added tokens that overlap with themselves and with each other, special or not; a normal form, with
characters that it composes, decomposes and reorders; and other pre-tokenizers, which cut at literal texts, at
digits and marks, or leave the text between out, with characters of several bytes.  *Stripping tokens* swallow
white space, beside others that have some; *lone tokens* are found only beside other characters than those of
words; in *spaced pieces* the pre-tokenizer puts a space before each.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from tokenizers import Tokenizer

from tests.support.tokenizers.random_tokenizers import REGEXES, random_tokenizer
from tests.support.tokenizers.rare_families import RARE_FAMILIES
from tests.support.tokenizers.small_unigrams import unigram_document

MOST_CHARACTERS = 4

_FORMS = {
    "NFC": ["e\u0301\u0327", "\xe9\u0301", "a\u0338<", "\u1100\u1161\uac00", "\u212aK", "=\u0338\u2260"],
    "NFD": ["e\u0301\xe9", "\u0327\u0301\xe7", "\u1100\u1161\uac00", "\u2260\u0338="],
    "NFKC": ["\ufb01fi", "\u2a74:=", "\uff1c<\u0338", "\xbd1", "\xa0\u0301a"],
    "NFKD": ["\ufb01fi", "\u2a74:=", "\u226e<\u0338", "\u2026.", "\xb4\u0301 "],
}
_Document = dict[str, Any]


def _kind(document: _Document) -> str:
    model = document["model"]
    if model["type"] == "WordPiece":
        return "WordPiece"
    if model["byte_fallback"]:
        return "byte fallback"
    if model["unk_token"] is not None:
        return "characters"
    return "ignore_merges" if model["ignore_merges"] else "byte level"


def _of_kind(kind: str | None, draw: random.Random) -> tuple[_Document, str]:
    while True:
        tokenizer, alphabet = random_tokenizer(draw.randrange(1 << 32))
        document = json.loads(tokenizer.to_str())
        if kind is None or _kind(document) == kind:
            return document, alphabet


def _with_added_tokens(draw: random.Random) -> tuple[_Document, str]:
    document, alphabet = _of_kind(None, draw)
    vocab = document["model"]["vocab"]
    entries = [entry for entry in document["added_tokens"] if entry["content"] in ("<unk>", "[UNK]")]
    free = max([*vocab.values(), *(entry["id"] for entry in entries)]) + 1
    for _ in range(draw.randint(1, 4)):
        content = "".join(draw.choices(alphabet, k=draw.randint(1, 3)))
        if any(entry["content"] == content for entry in entries):
            continue
        token = vocab.get(content)
        if token is None:
            token, free = free, free + 1
        flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
        if draw.random() < 0.1:
            flags[draw.choice(list(flags))] = True
        entries.append({"id": token, "content": content, "special": draw.random() < 0.6, **flags})
    document["added_tokens"] = entries
    return document, alphabet


def _with_normal_form(draw: random.Random) -> tuple[_Document, str]:
    document, alphabet = _with_added_tokens(draw) if draw.random() < 0.5 else _of_kind(None, draw)
    form = draw.choice(list(_FORMS))
    others = document["normalizer"]
    steps = [{"type": form}]
    if draw.random() < 0.2:
        steps.append({"type": "Lowercase"})
    if others is not None and draw.random() < 0.5:
        steps += others["normalizers"] if others["type"] == "Sequence" else [others]
    document["normalizer"] = steps[0] if len(steps) == 1 else {"type": "Sequence", "normalizers": steps}
    own = list(alphabet)
    draw.shuffle(own)
    characters = dict.fromkeys(draw.choice(_FORMS[form]) + "".join(own))
    return document, "".join(characters)[:MOST_CHARACTERS]


_BEHAVIORS = ("Isolated", "Contiguous", "Removed", "MergedWithPrevious", "MergedWithNext")
_WIDE = "\xe9\u4e2d\u0301\u0663\u3000\u2028\xbd\U0001f600"


def _split(draw: random.Random, characters: str) -> _Document:
    kind = draw.choice(["literal", "literal", "regex", "regex", "Digits", "Punctuation", "words"])
    behavior = draw.choice(_BEHAVIORS if draw.random() < 0.5 else _BEHAVIORS[:1])
    if kind == "words":
        return {"type": draw.choice(["Whitespace", "WhitespaceSplit", "BertPreTokenizer"])}
    if kind == "Digits":
        return {"type": "Digits", "individual_digits": draw.random() < 0.5}
    if kind == "Punctuation":
        return {"type": "Punctuation", "behavior": behavior}
    text = "".join(draw.choices(characters, k=draw.choice([1, 1, 1, 2, 3, 4, 5])))
    pattern = {"String": text} if kind == "literal" else {"Regex": draw.choice(REGEXES)}
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": draw.random() < 0.2}


def _with_other_splits(draw: random.Random) -> tuple[_Document, str]:
    document, alphabet = _of_kind(draw.choice(["byte level", "ignore_merges", "byte fallback"]), draw)
    characters = "".join(dict.fromkeys(draw.choice(_WIDE) + alphabet))
    splits = [_split(draw, characters) for _ in range(draw.choice([1, 1, 2, 3]))]
    old = document["pre_tokenizer"]
    last = old["pretokenizers"][-1:] if old is not None and old["type"] == "Sequence" else [old]
    if last[0] is not None and last[0]["type"] == "ByteLevel":
        last[0]["add_prefix_space"] = draw.random() < 0.1
    document["pre_tokenizer"] = {
        "type": "Sequence",
        "pretokenizers": [*splits, *(one for one in last if one is not None)],
    }
    return document, characters


def _with_stripping_tokens(draw: random.Random) -> tuple[_Document, str]:
    document, alphabet = _of_kind(None, draw)
    vocab = document["model"]["vocab"]
    entries = [entry for entry in document["added_tokens"] if entry["content"] in ("<unk>", "[UNK]")]
    free = max([*vocab.values(), *(entry["id"] for entry in entries)]) + 1
    others = ["<", " ", "  ", "a ", " a", "b", "<m> ", "\n", "ab", " <"]
    for content in ["<m>", *draw.sample(others, draw.choice([0, 1, 1, 2]))]:
        token = vocab.get(content)
        if token is None:
            token, free = free, free + 1
        elif any(entry["id"] == token for entry in entries):
            continue
        flags = {"normalized": draw.random() < 0.3, "special": draw.random() < 0.5, "single_word": False}
        strips = content == "<m>" or draw.random() < 0.2
        flags.update(lstrip=strips and draw.random() < 0.6, rstrip=strips and draw.random() < 0.4)
        entries.append({"id": token, "content": content, **flags})
    document["added_tokens"] = entries
    return document, alphabet


# Few in a row share characters, but for words.
_LONE = (
    ["<m>", "ab", " "],
    ["a<", "b", "\n"],
    ["-", "<a>", "b"],
    ["ab", "1", " -"],
    ["\xe9", "a ", "<-"],
    ["<", "b>", "a"],
    ["a b", "-<", "1"],
    ["abab", "bab", "ba"],
    ["aab", "aabb", "ba-ab"],
)


def _with_lone_tokens(draw: random.Random) -> tuple[_Document, str]:
    document, alphabet = _of_kind(
        draw.choice(["byte level", "ignore_merges", "characters", "byte fallback"]), draw
    )
    vocab = document["model"]["vocab"]
    entries = [entry for entry in document["added_tokens"] if entry["content"] in ("<unk>", "[UNK]")]
    free = max([*vocab.values(), *(entry["id"] for entry in entries)]) + 1
    contents = draw.sample(draw.choice(_LONE), draw.choice([1, 2, 2, 3]))
    for number, content in enumerate(contents):
        if content in vocab and draw.random() < 0.7:
            continue
        token = vocab.get(content)
        if token is None:
            token, free = free, free + 1
        flags = {name: draw.random() < 0.2 for name in ("lstrip", "rstrip", "normalized")}
        lone = number == 0 or draw.random() < 0.4
        special = draw.random() < 0.2
        entries.append({"id": token, "content": content, "special": special, "single_word": lone, **flags})
    document["added_tokens"] = entries
    letters = "".join(contents)
    characters = list(dict.fromkeys(letters + alphabet))
    if len(characters) > MOST_CHARACTERS:
        own = list(dict.fromkeys(letters))
        characters = draw.sample(own, min(3, len(own))) + draw.sample(list(alphabet), 1)
    return document, "".join(dict.fromkeys(characters))


def _with_spaced_pieces(draw: random.Random) -> tuple[_Document, str]:
    while True:
        document, alphabet = _of_kind(draw.choice(["byte level", "ignore_merges"]), draw)
        parts = document["pre_tokenizer"]["pretokenizers"]
        if len(parts) > 1 and " " in alphabet:
            parts[-1]["add_prefix_space"] = True
            return document, alphabet


FAMILIES: dict[str, Callable[[random.Random], tuple[_Document, str]]] = {
    **{
        kind: lambda draw, kind=kind: _of_kind(kind, draw)  # type: ignore[misc]
        for kind in ("byte level", "ignore_merges", "characters", "byte fallback", "WordPiece")
    },
    "added tokens": _with_added_tokens,
    "normal forms": _with_normal_form,
    "splits": _with_other_splits,
    "stripping tokens": _with_stripping_tokens,
    "lone tokens": _with_lone_tokens,
    "spaced pieces": _with_spaced_pieces,
    "Unigram": unigram_document,
    **RARE_FAMILIES,
}


def of_family(family: str, seed: int) -> tuple[Tokenizer, str]:
    """A tokenizer of a family, and at most :data:`MOST_CHARACTERS` characters for its texts."""
    draw = random.Random(f"{family} {seed}")
    document, alphabet = FAMILIES[family](draw)
    characters = list(dict.fromkeys(alphabet))
    kept = characters if len(characters) <= MOST_CHARACTERS else draw.sample(characters, MOST_CHARACTERS)
    return Tokenizer.from_str(json.dumps(document)), "".join(kept)
