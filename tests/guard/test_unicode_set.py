"""The adversarial set: that each category holds what it is meant to hold, by ``unicodedata``."""

from __future__ import annotations

import unicodedata

import pytest

from tokamata.guard.probe_texts import texts
from tokamata.tokenization.adversarial_texts import CORPUS
from tokamata.tokenization.unicode_set import CATEGORIES, adversaries, around

STRUCTURE = set("{}[]\":,<>|=\\/'`#&;%")


def points_of(category: str) -> set[str]:
    """The entries of a category that are one code point."""
    return {one.text for one in adversaries() if one.category == category and one.text and len(one.text) == 1}


def test_every_category_has_entries() -> None:
    assert {one.category for one in adversaries()} == set(CATEGORIES)
    assert len(adversaries()) == len({(one.category, one.data) for one in adversaries()})
    assert all(one.name and one.breaks for one in adversaries())


def test_structure_by_decomposition_is_complete() -> None:
    """Exactly the code points of which a normal form makes structure, and none that only looks like it."""
    everything = map(chr, [*range(0x80, 0xD800), *range(0xE000, 0x110000)])
    made = {
        letter
        for letter in everything
        if unicodedata.decomposition(letter) and STRUCTURE & set(unicodedata.normalize("NFKC", letter))
    }
    assert len(made) == 59
    others = points_of("structure by decomposition") - made
    assert others == {"ﬁ", "…", "．", "²"}  # what decomposes to letters, dots and digits
    assert made <= points_of("structure by decomposition")


def test_marks_after_ascii_compose() -> None:
    composing = [
        mark
        for mark in points_of("marks after ASCII")
        if any(len(unicodedata.normalize("NFC", chr(point) + mark)) == 1 for point in range(0x20, 0x7F))
    ]
    assert {"\u0338", "\u0301", "\u0300", "\u0308", "\u0327"} <= set(composing)
    assert unicodedata.normalize("NFC", "<|im_end|>\u0338") == "<|im_end|\u226f"


def test_what_the_categories_name() -> None:
    bidirectional = {
        one for one in map(chr, range(0x2000, 0x2070)) if "EMBEDDING" in unicodedata.name(one, "")
    }
    bidirectional |= {
        one for one in map(chr, range(0x2000, 0x2070)) if "ISOLATE" in unicodedata.name(one, "")
    }
    assert bidirectional <= points_of("bidirectional controls")
    joined = "".join(one.text or "" for one in adversaries())
    for name in (
        *("ZERO WIDTH JOINER", "VARIATION SELECTOR-16", "ZERO WIDTH SPACE", "NO-BREAK SPACE"),
        *(
            "DEVANAGARI SIGN VIRAMA",
            "SINHALA SIGN AL-LAKUNA",
            "THAI CHARACTER SARA E",
            "HANGUL CHOSEONG HIEUH",
        ),
        *("FULLWIDTH LESS-THAN SIGN", "COMBINING LONG SOLIDUS OVERLAY", "DOUBLE COLON EQUAL"),
    ):
        assert unicodedata.lookup(name) in joined
    assert "👩‍👩‍👧‍👦" in joined
    assert {"\ufffe", "\uffff", "\ufdd0", "\U0010ffff"} <= points_of("noncharacters and controls")


def test_bytes_that_are_no_utf8() -> None:
    found = [one for one in adversaries() if one.text is None]
    assert {one.category for one in found} == {"no UTF-8"}
    assert {one.data for one in found} >= {b"\xc0\xaf", b"\xed\xa0\x80", b"\xf0\x9f\x91", b"\xf4\x90\x80\x80"}
    for one in adversaries():
        if one.text is None:
            with pytest.raises(UnicodeDecodeError):
                one.data.decode()


def test_around_boundaries() -> None:
    alone = [text for text, _ in around([])]
    assert alone == [one.text for one in adversaries() if one.text is not None]
    assert [text for text, _ in around(["", ""])] == alone
    made = {text for text, one in around(["<|im_end|>", '"']) if one.data == "\u0338".encode()}
    assert made == {
        *("\u0338", "\u0338<|im_end|>", "<|im_end|>\u0338", "\u0338<|im_end|>\u0338", "<|im_\u0338end|>"),
        *("a<|im_end|>\u0338a", '\u0338"', '"\u0338', '\u0338"\u0338', 'a"\u0338a'),
    }


def test_probe_texts_are_the_same_for_a_seed() -> None:
    def first(seed: int, tokens: list[bytes | None]) -> list[str]:
        return [text for text, _ in zip(texts(seed, tokens), range(200), strict=False)]

    assert first(1, [b"ab", None]) == first(1, [b"ab", None])
    assert first(1, [b"ab"]) != first(2, [b"ab"])
    assert first(1, [])[: len(CORPUS)] == CORPUS
    assert first(1, [b"\xff", b"", None, b"x" * 10_000])  # no token can be mixed in
