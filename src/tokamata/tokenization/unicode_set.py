"""The adversarial set: short texts on which tokenizers, normalizers and chat templates go wrong.

    for text, entry in around(["<|im_end|>", '"']):
        ...                         # '<|im_end|>' + U+0338, U+200D + '"' and so on

Each entry is a sequence of code points, or bytes that are no UTF-8, with its category and what it is known
to break.  :func:`around` sets the entries before, after and within boundaries, since a mark is harmless alone
and changes the character before it: ``>`` U+0338 is ``≯`` under NFC, so ``<|im_end|>`` U+0338 ends in no
``>``.

The sequences are given by code points, as numbers, so that no editor and no diff tool changes or hides them.
Names come from ``unicodedata``.  Source: own work, from the Unicode Standard and from the table of categories
in appendix E of paper 004, which forgets marks after ASCII, compatibility characters that decompose to
structure, jamo, noncharacters and bytes that are no UTF-8.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

__all__ = ["CATEGORIES", "Adversary", "adversaries", "around"]


@dataclass(frozen=True)
class Adversary:
    """One entry.

    Attributes:
        category: its category, one of :data:`CATEGORIES`.
        name: the names of its code points, or the bytes.
        data: the entry, in UTF-8, or bytes that are no UTF-8.
        breaks: what it is known to break.
    """

    category: str
    name: str
    data: bytes
    breaks: str

    @property
    def text(self) -> str | None:
        """The entry as text; ``None`` if it is no UTF-8."""
        try:
            return self.data.decode()
        except UnicodeDecodeError:
            return None


_JOINED = "filters of format characters remove it, and words of regexes end at it"
_SPACES = "white space to some programs only: regexes, pre-tokenizers and trim() disagree"
_BIDI = "it changes the order in which text is shown; filters remove it"
_VIRAMA = "\\p{M} is no letter to many pre-tokenizers, which cut a syllable there"
_THAI = "vowels that are written before their consonant, and marks that are no letters"
_EMOJI = "one picture of many code points, which byte-level tokens cut anywhere"
_MARK = "it composes with the ASCII character before it under NFC and NFKC, and that character is gone"
_STRUCTURE = "a normalizer makes structure of it, which nobody wrote"
_JAMO = "NFC joins them to one syllable; NFD takes syllables apart"
_NONCHARACTER = "filters remove it or put U+FFFD there; some programs use it inside"
_PARTIAL = "no UTF-8: a decoder puts U+FFFD there, or waits for more bytes"
_CASE = "its case changes its length"

# Code points in hexadecimal, sequences separated by commas; ranges are written out by `A..B`.
_TEXTS: tuple[tuple[str, str, str], ...] = (
    ("joiners", _JOINED, "200D, 200C, FE0F, FE0E, 2764 FE0F, 61 200D 62, 270C FE0E, E0100, 2060, AD, 34F"),
    (
        "spaces",
        _SPACES,
        "200B, A0, 61 200B 62, 61 A0 62, 2003, 202F, 205F, 3000, 1680, 2028, 2029, 85, B, C, FEFF, "
        "180E, 2800, 3164",
    ),
    (
        "bidirectional controls",
        _BIDI,
        "200E, 200F, 61C, 202A, 202B, 202C, 202D, 202E, 2066, 2067, 2068, 2069, 202E 61 62 202C, "
        "2067 7D 2069",
    ),
    (
        "virama",
        _VIRAMA,
        "915 94D 937, 915 94D 200D 937, 915 94D 200C 937, 930 94D 92E, 936 94D 930 940, 94D, "
        "928 93C, 929, DC1 DCA DBB DD3, DC1 DCA 200D DBB DD3, D9A DCA 200D DC2, DCA, DD9 DCA, DDA, "
        "DD9 DCF DCA, DDD, 9A4 9CD, 9CE, BB8 BCD BB0 BC0, 1000 1039 1000, 1780 17D2 1780",
    ),
    (
        "Thai order",
        _THAI,
        "E40 E01, E01 E40, E33, E4D E32, E19 E49 E33, E19 E4D E49 E32, E01 E48 E34, E01 E34 E48, "
        "E41 E40 E40, E19 E4D E32, EB3, ECD EB2",
    ),
    (
        "emoji",
        _EMOJI,
        "1F469 200D 1F469 200D 1F467 200D 1F466, 1F468 200D 1F4BB, 1F44D 1F3FD, "
        "1F9D1 1F3FF 200D 1F680, 1F3F3 FE0F 200D 1F308, 2764 FE0F 200D 1F525, 1F1E9 1F1EA, "
        "1F1E9 1F1EA 1F1EB, 31 FE0F 20E3, 23 20E3, 263A FE0F, "
        "1F3F4 E0067 E0062 E0073 E0063 E0074 E007F, 1F469 1F3FD 200D 2764 FE0F 200D 1F468 1F3FB",
    ),
    (
        "marks after ASCII",
        _MARK,
        "338, 301, 300, 308, 327, 335, 20D2, 20DD, 3C 338, 3D 338, 3E 338, 65 301, 41 30A, 301 301, "
        "316 301, 301 316, 345, 345 301, 3099, 64B",
    ),
    (
        "structure by decomposition",
        _STRUCTURE,
        "37E, 1FEF, 207C, 208C, 2100, 2101, 2105, 2106, 2A74, 2A75, 2A76, FE10, FE13, FE14, FE37, "
        "FE38, FE47, FE48, FE50, FE54, FE55, FE5B, FE5C, FE5F, FE60, FE64, FE65, FE66, FE68, FE6A, "
        "FF02, FF03, FF05, FF06, FF07, FF0C, FF0F, FF1A..FF1E, FF3B..FF3D, FF40, FF5B..FF5D, "
        "1F101..1F10A, FF1C FF5C, FF5C FF1E, FB01, 2026, FF0E, B2",
    ),
    (
        "jamo",
        _JAMO,
        "1112 1161 11AB, D55C, 1112 1161, D558 11AB, 11AB, 1161, 115F, 1160, 1100 1161 11A8 11A8, "
        "A960, D7B0, FFA0, 3131",
    ),
    (
        "noncharacters and controls",
        _NONCHARACTER,
        "FFFE, FFFF, FDD0, 1FFFE, 10FFFF, FFFD, FFFC, FFF9, 0, 1, 7, 8, 1B, 7F, 80, 9F, E000, F8FF, "
        "F0000, 10FFFD, 378, E0001, 2FE0, 1D173",
    ),
    ("case", _CASE, "130, 131, 149, DF, 1E9E, 1F0, 17F, 212A, 3A3, 3C2, FB00, 1C5, 2126"),
)
_BYTES: tuple[tuple[str, str, str], ...] = (
    (
        "no UTF-8",
        _PARTIAL,
        "C3, E2 80, F0 9F 91, F0 9F, 80, BF, A9, C0 AF, C1 BF, E0 80 AF, F0 80 80 AF, ED A0 80, "
        "ED B0 80, ED A0 BD ED B8 80, F4 90 80 80, F8 88 80 80 80, FC, FE, FF, 61 C3, C3 61, C3 28, "
        "E2 28 A1, E2 80 28, 22 C3, 7B E2 80",
    ),
)
CATEGORIES = tuple(category for category, _, _ in (*_TEXTS, *_BYTES))


@cache
def adversaries() -> tuple[Adversary, ...]:
    """All entries, by category."""
    found = []
    for category, breaks, codes in _TEXTS:
        for points in _sequences(codes):
            text = "".join(map(chr, points))
            found.append(Adversary(category, " ".join(map(_named, text)), text.encode(), breaks))
    for category, breaks, codes in _BYTES:
        for values in _sequences(codes):
            data = bytes(values)
            found.append(Adversary(category, data.hex(" "), data, breaks))
    return tuple(found)


def around(boundaries: Iterable[str]) -> Iterator[tuple[str, Adversary]]:
    """Texts with the entries alone, and before, after and within boundaries.

    Entries that are no UTF-8 are left out, since they stand in no text; see :func:`adversaries` for them.

    Args:
        boundaries: texts such as ``<|im_end|>`` or a quote; the empty text adds nothing.

    Returns:
        The texts, each with its entry: for each entry the entry itself, then for each boundary *b* of two
        halves *l* and *r*: entry *b*, *b* entry, entry *b* entry, *l* entry *r*, and ``a`` *b* entry ``a``.
    """
    known = list(dict.fromkeys(boundary for boundary in boundaries if boundary))
    for one in adversaries():
        if (text := one.text) is None:
            continue
        yield text, one
        for boundary in known:
            middle = len(boundary) // 2
            yield text + boundary, one
            yield boundary + text, one
            yield text + boundary + text, one
            if middle:
                yield boundary[:middle] + text + boundary[middle:], one
            yield f"a{boundary}{text}a", one


def _sequences(codes: str) -> Iterator[list[int]]:
    for sequence in codes.split(","):
        first, dots, last = sequence.strip().partition("..")
        if dots:
            yield from ([point] for point in range(int(first, 16), int(last, 16) + 1))
        else:
            yield [int(code, 16) for code in first.split()]


def _named(letter: str) -> str:
    return unicodedata.name(letter, f"U+{ord(letter):04X}")
