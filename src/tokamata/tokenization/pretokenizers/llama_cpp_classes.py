r"""Classes of code points in the pre-tokenizers of llama.cpp.

Problem: llama.cpp runs the regexes of pre-tokenizers in two ways, some by functions of its own and the others
by C++'s ``std::regex``.  Both take the categories of code points from a table in llama.cpp, that of Unicode
15.1, in which ``\p{Lu}`` and other parts of a category mean the whole category.  ``std::regex`` reads a
copy of the text: where a regex has categories, each code point from U+0080 is one byte that says its
category; otherwise it is itself.  In both copies, white space from U+0080 is U+000B.  So ``[　-。]`` does not
match the ideographic space.

Example: ``[^\s\p{L}]`` has the digits, and U+1C89, a letter since Unicode 16.

The functions agree with this, since the classes that they stand for have no code points from U+0080 by
themselves.  So one rule gives the members of each class, and no program has to run.

Source: ``src/unicode.cpp`` and ``src/unicode-data.cpp`` of llama.cpp, as of llama-cpp-python 0.3.36, compared
on all code points by ``fuzz/llama_cpp_exactness.py``.  Our own table is that of Unicode 17, in which no code
point of Unicode 15.1 has another category; those that were not assigned in Unicode 15.1 are listed here.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from tokamata.patterns.unicode import Ranges, property_ranges
from tokamata.tokenization.pretokenizers.classes import CODE_POINTS

if TYPE_CHECKING:
    from tokamata.tokenization.pretokenizers.classes import Flags

__all__ = ["LlamaCppEngine"]

# Code points that were assigned in Unicode 16 and 17, in hexadecimal.
_LATER = """
88F 897 C5C CDC 1ACF-1ADD 1AE0-1AEB 1B4E-1B4F 1B7F 1C89-1C8A 20C1 2427-2429 2B96 31E4-31E5 A7CB-A7CF A7D2
A7D4 A7DA-A7DC A7F1 FBC3-FBD2 FD90-FD91 FDC8-FDCE 105C0-105F3 10940-10959 10D40-10D65 10D69-10D85
10D8E-10D8F 10EC2-10EC7 10ED0-10ED8 10EFA-10EFC 11380-11389 1138B 1138E 11390-113B5 113B7-113C0 113C2 113C5
113C7-113CA 113CC-113D5 113D7-113D8 113E1-113E2 116D0-116E3 11B60-11B67 11BC0-11BE1 11BF0-11BF9 11DB0-11DDB
11DE0-11DE9 11F5A 13460-143FA 16100-16139 16D40-16D79 16EA0-16EB8 16EBB-16ED3 16FF2-16FF6 187F8-187FF 18CFF
18D09-18D1E 18D80-18DF2 1CC00-1CCFC 1CD00-1CEB3 1CEBA-1CED0 1CEE0-1CEF0 1E5D0-1E5FA 1E5FF 1E6C0-1E6DE
1E6E0-1E6F5 1E6FE-1E6FF 1F6D8 1F777-1F77A 1F8B2-1F8BB 1F8C0-1F8C1 1F8D0-1F8D8 1FA54-1FA57 1FA89-1FA8A
1FA8E-1FA8F 1FABE 1FAC6 1FAC8 1FACD 1FADC 1FADF 1FAE9-1FAEA 1FAEF 1FBCB-1FBEF 1FBFA 2B73A-2B73F 2CEA2-2CEAD
323B0-33479
"""
_ESCAPES = {"r": "\r", "n": "\n", "t": "\t"}
_FIRST_MAPPED = 0x80
_MAPPED_WHITE = 0x0B
# A category or part of one, an escape, a range, or a code point.
_ITEM = re.compile(
    r"\\p\{(?P<category>[A-Z])[a-z]?\}|\\[sS]|(?P<first>\\?.)(?:-(?P<last>\\?[^\]]))?", re.DOTALL
)


class LlamaCppEngine:
    """The engine of llama.cpp's pre-tokenizers."""

    name = "llama.cpp, Unicode 15.1"
    dollar_is_end = True

    def members(self, cls: str) -> Flags:
        """Which code points are in a class: ``bool[0x110000]``, false for surrogates."""
        return _members(cls)


@cache
def _members(cls: str) -> Flags:
    flags = np.zeros(CODE_POINTS, dtype=bool)
    is_bracket = len(cls) > 2 and cls[0] == "["
    is_negated = is_bracket and cls[1] == "^"
    body = cls[1 + is_negated : -1] if is_bracket else cls
    for item in _ITEM.finditer(body):
        if item["category"]:
            flags |= _category(item["category"])
        elif item[0] in (r"\s", r"\S"):
            flags |= _white() if item[0] == r"\s" else ~_white()
        else:
            first = _point(item["first"])
            last = first if item["last"] is None else _point(item["last"])
            flags[first : last + 1] = True
    if is_negated:
        flags = ~flags
    flags[_FIRST_MAPPED:][_white()[_FIRST_MAPPED:]] = flags[_MAPPED_WHITE]
    flags[0xD800:0xE000] = False
    flags.flags.writeable = False
    return flags


def _point(text: str) -> int:
    return ord(_ESCAPES.get(text[1:], text[1:]) if text.startswith("\\") and len(text) > 1 else text)


@cache
def _category(name: str) -> Flags:
    flags = _flags(property_ranges(name))
    for ends in _LATER.split():
        first, _, last = ends.partition("-")
        flags[int(first, 16) : int(last or first, 16) + 1] = False
    return flags


@cache
def _white() -> Flags:
    return _flags(property_ranges("White_Space"))


def _flags(ranges: Ranges) -> Flags:
    flags = np.zeros(CODE_POINTS, dtype=bool)
    for first, last in ranges:
        flags[first : last + 1] = True
    return flags
