"""Probe texts: scripts, code, numbers, white space, marks, and what the rules of tokenizers are about.

    for text in itertools.islice(texts(seed=7, tokens=vocabulary.tokens), 1000):
        ...    # the same texts for the same seed, tokens and version of Python

The corpus comes first, and then mixtures of it, of the tokens and of code points.  They complement the
adversarial set (``unicode_set.py``), which has one trouble per text.
"""

from __future__ import annotations

import random
import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache

from tokamata.tokenization.adversarial_texts import CORPUS

__all__ = ["assigned", "texts"]

_LONGEST = 512  # bytes of a token that is mixed in: programs may take long for long texts

_SPACES = [
    " ",
    "  ",
    "\n",
    "\r\n",
    "\t",
    "\u00a0",
    "\u3000",
    "\u2028",
    " \n",
    "\n ",
    "   ",
    "\x0b",
    "\u200b",
    "",
]


@cache
def assigned() -> list[str]:
    """Every code point that Python's version of Unicode assigns, without surrogates and private ones."""
    return [
        chr(point)
        for point in range(sys.maxunicode + 1)
        if unicodedata.category(chr(point)) not in ("Cn", "Cs", "Co")
    ]


@cache
def _marks() -> list[str]:
    return [character for character in assigned() if unicodedata.category(character).startswith("M")]


def texts(seed: int, tokens: Sequence[bytes | None]) -> Iterator[str]:
    """An endless stream of texts: the corpus, then random mixtures of it, of tokens and of code points.

    Args:
        seed: for the mixtures.
        tokens: the bytes of the tokens that are mixed in; ``None``, bytes that are no UTF-8, and those of
            more than 512 bytes are left out.
    """
    draw = random.Random(seed)
    yield from CORPUS
    pieces = [piece for text in CORPUS for piece in text.split(" ")]
    spelled = [token.decode() for token in tokens if token and len(token) <= _LONGEST and _is_utf8(token)]
    spelled = spelled or ["a"]  # there may be no such token
    words = [_apart(text) for text in CORPUS]
    while True:
        kind = draw.randrange(10)
        size = draw.randrange(1, 24)
        if kind == 0:
            yield draw.choice(_SPACES).join(draw.choices(pieces, k=size))
        elif kind == 1:
            yield "".join(draw.choice(pieces) + draw.choice(_SPACES) for _ in range(size))
        elif kind == 2:
            yield "".join(draw.choices(spelled, k=size))
        elif kind == 3:
            text = draw.choice(CORPUS)
            begin = draw.randrange(len(text))
            yield text[begin : begin + draw.randrange(1, 60)]
        elif kind == 4:
            yield "".join(draw.choices(assigned(), k=size))
        elif kind == 5:
            yield "".join(
                draw.choice("aeoucnAOK ") + draw.choice(_marks()) * draw.randrange(3) for _ in range(size)
            )
        elif kind == 6:
            yield "".join(draw.choices(" \n\r\t'1aZé.!-中", k=size))
        elif kind == 7:
            text = draw.choice(CORPUS)
            cut = draw.randrange(len(text))
            yield text[:cut] + draw.choice(_SPACES + pieces + _marks()[:200]) + text[cut:]
        elif kind == 8:
            some = draw.choice(words)
            begin = draw.randrange(len(some))
            yield " ".join([*some[begin : begin + size], *draw.choice(words)[:size]])
        else:
            yield "".join(draw.choice(spelled) + draw.choice(["", " ", "'s", "1", "\n"]) for _ in range(size))


def _apart(text: str) -> list[str]:
    """Words and other code points, as a tokenizer of words leaves them: in lower case and without accents."""
    plain = unicodedata.normalize("NFD", text.lower())
    return re.findall(r"\w+|[^\w\s]", "".join(c for c in plain if unicodedata.category(c) != "Mn"))


def _is_utf8(token: bytes) -> bool:
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return True
