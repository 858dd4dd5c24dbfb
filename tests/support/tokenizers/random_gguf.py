"""Random small GGUF tokenizers with all types of tokens, and an encoder of those with plain tokens.

The encoder is compared with llama.cpp by ``fuzz/llama_cpp_exactness.py``, and is the judge of the tests,
which run without llama.cpp.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from tests.support.tokenizers.gguf_files import (
    BYTE,
    CONTROL,
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    write_gguf,
)
from tokamata.vocabulary.byte_alphabet import is_byte_level_text


@dataclass(frozen=True)
class RandomGguf:
    """A tokenizer.

    Attributes:
        tokens: the texts and types of the tokens, in order.
        letters: what texts are made of; each letter can be written.
        scores: the scores of tokens, for one of family ``llama``.
        merges: the merges, for one of family ``gpt2`` or ``gemma4``.
        pre: the name of the pre-tokenizer.
        adds_space: ``add_space_prefix``.
        name: the name of the model.
    """

    tokens: list[tuple[str, int]]
    letters: str
    scores: list[float] | None = None
    merges: list[str] | None = None
    pre: str | None = None
    adds_space: bool = False
    name: str = ""

    def write(self, path: Path) -> Path:
        """Writes the file."""
        family = "gemma4" if self.pre == "gemma4" else "gpt2" if self.scores is None else "llama"
        fields = {} if self.scores is None else {"add_space_prefix": self.adds_space}
        return write_gguf(path, family, self.tokens, self.merges, self.scores, self.pre, self.name, **fields)


def random_scores(draw: random.Random) -> RandomGguf:
    """Few tokens with scores, many of them equal."""
    letters = draw.sample(["a", "b", "é", "1", "\n"], draw.randint(2, 4))
    texts, kinds = ["▁", *letters], [NORMAL] * 20 + [UNUSED, CONTROL, CONTROL, USER_DEFINED, USER_DEFINED]
    for _ in range(draw.randint(2, 8)):
        texts.append(draw.choice(texts) + draw.choice(texts))
    tokens = [
        (text, NORMAL if len(text) == 1 or "▁" in text else draw.choice(kinds))
        for text in dict.fromkeys(texts)
    ]
    tokens += [("<unk>", UNKNOWN), ("<s>", CONTROL)]
    name = draw.choice(["", "", "Phi-3"])
    if name:
        tokens += [("</s>", CONTROL), ("<|endoftext|>", CONTROL)]
    has_bytes = draw.random() < 0.7
    alphabet = "aab  é\n<1" if has_bytes else "".join(letters) + " "
    tokens += _added(draw, tokens, "ab \né" if has_bytes else alphabet, 1)
    if has_bytes:
        tokens += [(f"<0x{byte:02X}>", BYTE) for byte in range(256)]
    scores = [float(draw.choice([0, -1, -1, -2, -3, -4.5])) for _ in tokens]
    return RandomGguf(tokens, alphabet, scores, adds_space=draw.random() < 0.5, name=name)


def random_merges(draw: random.Random) -> RandomGguf:
    """Few merges, some of them doubled."""
    parts = ["a", "b", "Ġ", "Ċ", "Ã", "©", "1"]
    merges: list[str] = []
    for _ in range(draw.randint(2, 9)):
        left, right = draw.choice(parts), draw.choice(parts)
        merges.append(f"{left} {right}")
        parts.append(left + right)
    draw.shuffle(merges)
    tokens = [(chr(point), NORMAL) for point in range(0x144) if is_byte_level_text(chr(point))]
    for text in dict.fromkeys(part for part in parts if len(part) > 1):
        tokens.append((text, draw.choice([NORMAL] * 20 + [UNUSED, CONTROL, CONTROL])))
    tokens += _added(draw, tokens, "ab \né", 2)
    pre = draw.choice(["gpt-2", "llama-bpe", "qwen2", "laguna"])
    return RandomGguf(tokens, "aab  é\n<1", merges=merges, pre=pre)


def random_plain_merges(draw: random.Random) -> RandomGguf:
    """Few merges of plain text, with runs of line ends that merges may not make."""
    parts = ["a", "b", "▁", "\n", "é", "1"]
    tokens = [(part, NORMAL) for part in parts]
    merges: list[str] = []
    for _ in range(draw.randint(2, 9)):
        left, right = draw.choice(parts), draw.choice(parts)
        merges.append(f"{left} {right}")
        parts.append(left + right)
    draw.shuffle(merges)
    parts += [draw.choice(["\n" * 2, "\n" * 3, "\n" * 5, "ab1", "▁▁a"]) for _ in range(2)]
    for text in dict.fromkeys(part for part in parts if len(part) > 1):
        tokens.append((text, NORMAL if "▁" in text else draw.choice([NORMAL] * 20 + [CONTROL, USER_DEFINED])))
    has_bytes = draw.random() < 0.7
    tokens += _added(draw, tokens, "ab \né", 2)
    tokens += [(f"<0x{byte:02X}>", BYTE) for byte in range(256 * has_bytes)]
    letters = "aab  é\n\n<1" if has_bytes else "aab  é\n\n1"
    return RandomGguf(tokens, letters, merges=merges, pre=draw.choice(["gemma4", "gemma4", "sarvam-moe"]))


def _added(
    draw: random.Random, tokens: Sequence[tuple[str, int]], letters: str, least: int
) -> list[tuple[str, int]]:
    names = {text for text, _ in tokens}
    added: list[tuple[str, int]] = []
    for _ in range(draw.randint(0, 3)):
        text = "".join(draw.choice(letters) for _ in range(draw.randint(least, 4)))
        if text not in names:
            added.append((text, draw.choice([USER_DEFINED, USER_DEFINED, CONTROL])))
            names.add(text)
    return added


class PlainOracle:
    """llama.cpp's encoders whose tokens are plain text, as slow and plain as can be.

    It cuts out added tokens, the longest first, and then joins two neighbours at a time.  Its tokens may be
    changed.
    """

    def __init__(self, tokenizer: RandomGguf) -> None:
        self._ids = {text: token for token, (text, _) in enumerate(tokenizer.tokens)}
        self.scores, self._merges = tokenizer.scores, tokenizer.merges
        self._adds_space, self._pre = tokenizer.adds_space, tokenizer.pre
        self._swallows = tokenizer.name == "Phi-3"
        self.texts = [text for text, _ in tokenizer.tokens]
        self.kinds = [kind for _, kind in tokenizer.tokens]
        cut_out = [text for text, kind in tokenizer.tokens if kind in (CONTROL, USER_DEFINED, UNKNOWN)]
        self._cut_out = sorted(cut_out, key=lambda text: -len(text.encode()))

    def encode(self, text: str) -> list[int]:
        """The tokens of a text, names of control tokens read as such."""
        parts: list[str | int] = [text] if text else []
        for name in self._cut_out:
            parts = [found for part in parts for found in self._cut(part, name)]
        tokens: list[int] = []
        for part in parts:
            tokens += [part] if isinstance(part, int) else self._merged(part)
        return tokens

    def _cut(self, part: str | int, name: str) -> list[str | int]:
        if isinstance(part, int):
            return [part]
        pieces: list[str | int] = []
        rest = part
        while (at := rest.find(name)) >= 0:
            pieces += [rest[:at], self._ids[name]] if at else [self._ids[name]]
            rest = rest[at + len(name) :]
            if self._swallows and name not in ("<unk>", "<s>", "<|endoftext|>"):
                rest = rest.lstrip(" \t\n\v\f\r")
        return [*pieces, rest] if rest else pieces

    def _merged(self, text: str) -> list[int]:
        spelled = ((" " if self._adds_space else "") + text).replace(" ", "▁")
        pieces = [spelled] if self._merges is None else re.findall(r"\n+|[^\n]+", spelled)
        return [token for piece in pieces for token in self._joined(piece)]

    def _joined(self, piece: str) -> list[int]:
        if self._pre == "gemma4" and piece in self._ids and not piece.strip("\n"):
            return [self._ids[piece]]
        parts = list(piece)
        while True:
            possible = [
                (rank, place)
                for place, (left, right) in enumerate(pairwise(parts))
                if (rank := self._rank(left, right)) is not None
            ]
            if not possible:
                break
            place = min(possible)[1]
            parts[place : place + 2] = [parts[place] + parts[place + 1]]
        tokens: list[int] = []
        for part in parts:
            names = [part] if part in self._ids else [f"<0x{byte:02X}>" for byte in part.encode()]
            tokens += [self._ids[name] for name in names]
        return tokens

    def _rank(self, left: str, right: str) -> float | None:
        if self._merges is not None:
            merge = f"{left} {right}"
            return self._merges.index(merge) if merge in self._merges else None
        assert self.scores is not None
        return -self.scores[self._ids[left + right]] if left + right in self._ids else None

    def decode(self, tokens: Sequence[int]) -> str | None:
        """The text of tokens, names of control tokens included; ``None`` if they are no UTF-8 together."""
        text = b"".join(self.piece(token) for token in tokens)
        if self._adds_space and tokens and self.piece(tokens[0]).startswith(b" "):
            text = text[1:]
        try:
            return text.decode()
        except UnicodeDecodeError:
            return None

    def piece(self, token: int) -> bytes:
        """The text of a token, a control token by its name."""
        text, kind = self.texts[token], self.kinds[token]
        if kind == BYTE:
            return bytes([int(text[3:5], 16)])
        if kind == NORMAL:
            return text.replace("▁", " ").encode()
        return text.encode() if kind in (CONTROL, USER_DEFINED, UNKNOWN) else b""
