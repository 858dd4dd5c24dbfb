"""What engines say of code points: not all are asked one by one, and here all are."""

from __future__ import annotations

import numpy as np
import pytest
import tiktoken
from tokenizers import Regex, normalizers, pre_tokenizers

from tokamata.tokenization.pipelines.normal_forms import normal_form, unchanged_points
from tokamata.tokenization.pretokenizers.classes import CODE_POINTS, HuggingFaceEngine, TiktokenEngine

POINTS = [point for point in range(CODE_POINTS) if not 0xD800 <= point < 0xE000 and point != 0x0A]
EVERY = "".join(map(chr, range(0xD800))) + "".join(map(chr, range(0xE000, CODE_POINTS)))
CLASSES = [r"[^\s\p{L}\p{N}]", r"\p{L}", r"\p{N}", r"\s", "(?i:s)", r"[^\r\n\p{L}\p{N}]", r"\p{M}"]


def flags_of(text: str) -> np.ndarray:
    flags = np.zeros(CODE_POINTS, dtype=bool)
    flags[np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)] = True
    return flags


@pytest.mark.parametrize("cls", CLASSES)
def test_classes_of_hugging_face(cls: str) -> None:
    split = pre_tokenizers.Split(Regex(f"(?:{cls})+"), "removed", invert=True)
    pieces = "".join(piece for piece, _ in split.pre_tokenize_str(EVERY))
    assert (flags_of(pieces) == HuggingFaceEngine().members(cls)).all()


@pytest.mark.parametrize("cls", CLASSES)
def test_classes_of_tiktoken(cls: str) -> None:
    single = {bytes([byte]): byte for byte in range(256)}
    encoding = tiktoken.Encoding("class", pat_str=cls, mergeable_ranks=single, special_tokens={})
    matched = encoding.decode_bytes(encoding.encode_ordinary(EVERY)).decode()
    assert (flags_of(matched) == TiktokenEngine().members(cls)).all()


@pytest.mark.parametrize("name", ["NFC", "NFKC", "Lowercase"])
def test_which_are_left_as_they_are(name: str) -> None:
    normalize = getattr(normalizers, name)().normalize_str
    after = normalize("\n".join(map(chr, POINTS))).split("\n")
    same = [chr(point) for point, text in zip(POINTS, after, strict=True) if chr(point) == text]
    assert (flags_of("".join(same) + "\n") == unchanged_points(normalize)).all()


def test_which_are_put_in_order() -> None:
    """Those that go before a mark of the highest class behind a base that nothing composes with."""
    normalize = normalizers.NFC().normalize_str
    form = normal_form(normalize)
    after = normalize("\n".join(f"☃\u0345{chr(point)}" for point in POINTS)).split("\n")
    pairs = zip(POINTS, after, strict=True)
    moved = flags_of("".join(chr(point) for point, text in pairs if text == f"☃{chr(point)}\u0345"))
    assert moved.sum() > 800
    moved[0x345] = False  # behind itself
    assert (moved == ((form.combining > 0) & (form.combining < 240) & form.stable)).all()


def test_order_among_marks() -> None:
    """Marks of several classes, some of which letters take up, and one that is too new for the normalizer."""
    normalize = normalizers.NFC().normalize_str
    form = normal_form(normalize)
    marks = [ord(mark) for mark in "\u0301\u0307\u0308\u0316\u0323\u0327\u0338\u0345\u05b0\u3099\u0898"]
    for first in marks:
        for second in marks:
            text = f"☃{chr(first)}{chr(second)}"
            stays = form.combining[second] == 0 or form.combining[first] <= form.combining[second]
            assert (normalize(text) == text) == stays, text
