"""Texts with markers that grow and shrink: the same as when they are made from the start, in linear work."""

from __future__ import annotations

import random
import re
from typing import Any

import tokamata as tk
from tokamata.values.control_names import ControlNames
from tokamata.values.markers import MarkedText, Markers

TOKENS = [b"a", b"\xc3", b"\xa9", b"long", None, None, b"", None]
STOP = 7


def markers() -> Markers:
    ids = {"name:<end>": [4], "name:<b>": [5], 'not:["long"]': [3]}
    return Markers(ids, TOKENS, [STOP], ControlNames(tk.Vocabulary.load(TOKENS, stop=[STOP])))


def plain(tokens: list[int], skipped: int) -> bytes:
    """The text of tokens; the decoder leaves out some bytes of its beginning."""
    return b"".join(TOKENS[token] or b"" for token in tokens)[skipped:]


def test_any_moves() -> None:
    draw = random.Random(1)
    for _ in range(300):
        made, tokens, skipped = MarkedText(markers()), list[int](), draw.choice([0, 0, 1])
        for _ in range(12):
            tokens = tokens[: draw.choice([len(tokens), len(tokens), draw.randint(0, len(tokens))])]
            tokens = tokens + [draw.randrange(len(TOKENS) - 1) for _ in range(draw.randint(0, 3))]
            text = plain(tokens, skipped)
            marked = markers().text(text, tokens)
            assert made.moved(text, tokens) == marked
            for found in re.finditer(rb"\xff[0-9]+\xff|[^\xff]+", marked):
                for at in (found.start(), found.end()):
                    assert made.plain_offset(at) == len(markers().plain(marked[:at]))
            assert made.plain_offset(len(marked)) == len(text)


def test_each_token_is_read_once(monkeypatch: Any) -> None:
    read = []
    text_of = Markers.text

    def counted(self: Markers, text: bytes, tokens: list[int]) -> bytes:
        read.append(len(tokens))
        return text_of(self, text, tokens)

    monkeypatch.setattr(Markers, "text", counted)
    made = MarkedText(markers())
    tokens = [0, 4, 3] * 100
    for count in range(len(tokens) + 1):
        made.moved(plain(tokens[:count], 0), tokens[:count])
    assert sum(read) == len(tokens)
