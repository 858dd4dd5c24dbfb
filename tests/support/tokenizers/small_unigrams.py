"""Small random Unigram tokenizers, whose scores are often equal and often sum up to the same."""

from __future__ import annotations

import json
import random
from typing import Any

from tokenizers import Tokenizer

_ALPHABETS = ["ab", "abc", 'a1"', "aé", "ab中", "ab\n"]
_GRAINS = [1.0, 0.5, 2.0**-10, 2.0**-20, 0.1, 0.3]  # sums of the last two round


def random_unigram(seed: int) -> tuple[Tokenizer, str]:
    """A tokenizer, and the characters that texts for it are made of."""
    document, alphabet = unigram_document(random.Random(seed))
    return Tokenizer.from_str(json.dumps(document)), alphabet


def unigram_document(draw: random.Random) -> tuple[dict[str, Any], str]:
    """A ``tokenizer.json``, and the characters that texts for it are made of."""
    letters = draw.choice(_ALPHABETS)
    fallback = draw.random() < 0.3
    known = letters[1:] if fallback and len(letters) > 2 else letters
    names = [f"<0x{byte:02X}>" for byte in range(256)] if fallback else []
    grain = draw.choice(_GRAINS)

    def score(size: int) -> float:
        longer = 1 if size < 2 else draw.choice([0.5, 1, 1.5, 2])
        return -round(draw.randrange(1, int(12 / grain)) * longer) * grain

    texts = dict.fromkeys(["▁", *known])
    for _ in range(draw.randrange(1, 16)):
        text = "".join(draw.choices(known, k=draw.randrange(2, 5)))
        texts["▁" + text[:3] if draw.random() < 0.3 else text] = None
    pieces: list[list[Any]] = [["<unk>", 0.0], *([name, 0.0] for name in names)]
    pieces += [[text, score(len(text))] for text in texts]
    metaspace = {
        "type": "Metaspace",
        "replacement": "▁",
        "prepend_scheme": draw.choice(["always", "always", "first", "never"]),
        "split": draw.random() < 0.6,
    }
    splits = [{"type": "WhitespaceSplit"}] if draw.random() < 0.4 else []
    if splits:
        metaspace["prepend_scheme"] = "always"
    decoders: list[dict[str, Any]] = [metaspace]
    if fallback:
        decoders = [metaspace, {"type": "ByteFallback"}]
    unknown = {"id": 0, "content": "<unk>", "special": True}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    document = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{**unknown, **flags}],
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [*splits, metaspace]},
        "post_processor": None,
        "decoder": {"type": "Sequence", "decoders": decoders},
        "model": {"type": "Unigram", "unk_id": 0, "vocab": pieces, "byte_fallback": fallback},
    }
    return document, letters + " "
