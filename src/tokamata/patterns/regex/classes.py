"""Sets of code points, as sorted disjoint inclusive ranges.

Problem: a class such as ``[^\\w-]`` is a set of up to a million code points; everything that a pattern
does to classes (union, negation, ignoring case) must cost what its ranges cost, not its members.

Example::

    normalize([(98, 99), (97, 97)])             # ((97, 99),)
    complement(((0, 9), (11, 0x10FFFF)))        # ((10, 10),)
    equal_case(((107, 107),))                   # ((75, 75), (107, 107), (8490, 8490)): K, k, the Kelvin sign

All sets are subsets of the Unicode scalar values: surrogates are no text, so they are dropped.

Cost: linear in the number of ranges, after sorting; ``equal_case`` is linear in the number of cased
code points (2,988) at worst.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import cache, lru_cache

from tokamata.patterns.unicode import Ranges, case_orbits, named_set

__all__ = [
    "ECMA_LINE_ENDS", "Ranges", "complement", "equal_case", "equal_folded", "folded_cases", "letter_cases",
    "named_class", "normalize", "partition",
]  # fmt: skip

FIRST_SURROGATE, LAST_SURROGATE, LAST = 0xD800, 0xDFFF, 0x10FFFF

# What ends a line, and with it what "." leaves out, in ECMA-262.
ECMA_LINE_ENDS = ((10, 10), (13, 13), (0x2028, 0x2029))

# The classes that do not come from the tables of Unicode, by the names that named_class takes.
_SPELLED_OUT: dict[str, Ranges] = {
    "ad": ((48, 57),),
    "aw": ((48, 57), (65, 90), (95, 95), (97, 122)),
    "as": ((9, 13), (32, 32)),
    "fw": ((48, 57), (65, 90), (95, 95), (97, 122), (0x17F, 0x17F), (0x212A, 0x212A)),
    "es": (
        (9, 13), (32, 32), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029),
        (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF),
    ),
}  # fmt: skip


def normalize(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """The union of any ranges, sorted and merged, without surrogates."""
    merged: list[tuple[int, int]] = []
    low, high = -2, -2
    for start, end in sorted(ranges):
        if start <= high + 1:
            if end > high:
                high = end
        else:
            merged.append((low, high))
            low, high = start, end
    merged.append((low, high))
    return _without_surrogates(merged[1:])


def partition(sets: Iterable[Ranges]) -> list[Ranges]:
    """All code points in the fewest classes of which each set is a union; surrogates are in some of them."""
    changes: dict[int, int] = {0: 0}  # by border, the sets that begin or end there
    for number, ranges in enumerate(sets):
        for low, high in ranges:
            changes[low] = changes.get(low, 0) ^ 1 << number
            changes[high + 1] = changes.get(high + 1, 0) ^ 1 << number
    borders = sorted(border for border in changes if border <= LAST)
    classes: dict[int, list[tuple[int, int]]] = {}
    inside = 0
    for low, after in zip(borders, [*borders[1:], LAST + 1], strict=True):
        inside ^= changes[low]
        classes.setdefault(inside, []).append((low, after - 1))
    return [tuple(ranges) for ranges in classes.values()]


def _without_surrogates(ranges: list[tuple[int, int]]) -> Ranges:
    if not ranges or ranges[-1][1] < FIRST_SURROGATE:
        return tuple(ranges)
    kept: list[tuple[int, int]] = []
    for start, end in ranges:
        if end < FIRST_SURROGATE or start > LAST_SURROGATE:
            kept.append((start, end))
            continue
        if start < FIRST_SURROGATE:
            kept.append((start, FIRST_SURROGATE - 1))
        if end > LAST_SURROGATE:
            kept.append((LAST_SURROGATE + 1, end))
    return tuple(kept)


def complement(ranges: Ranges) -> Ranges:
    """All other scalar values.  ``ranges`` is normalized."""
    gaps: list[tuple[int, int]] = []
    after = 0
    for start, end in ranges:
        if start > after:
            gaps.append((after, start - 1))
        after = end + 1
    if after <= LAST:
        gaps.append((after, LAST))
    return _without_surrogates(gaps)


def equal_case(ranges: Ranges, ascii_only: bool = False) -> Ranges:
    """The set with everything that ``re.IGNORECASE`` holds equal to one of its members.

    ``ascii_only``: as under flag ``a``, where only ASCII letters have two cases.
    """
    return _ascii_case_closure(ranges) if ascii_only else _case_closure(ranges, "case")


@lru_cache(maxsize=4096)
def letter_cases(point: int, ascii_only: bool) -> Ranges:
    """What ``re.IGNORECASE`` holds equal to one code point: several ranges, or the code point alone."""
    several = equal_case(((point, point),), ascii_only)
    return tuple((other, other) for low, high in several for other in range(low, high + 1))


@lru_cache(maxsize=4096)
def folded_cases(point: int) -> Ranges:
    """What ECMA-262 holds equal to one code point under flags ``iu``, as :func:`letter_cases`."""
    return tuple((other, other) for other in case_orbits("fold").get(point, (point,)))


def equal_folded(ranges: Ranges) -> Ranges:
    """The set with everything that has the same simple case folding as one of its members."""
    return _case_closure(ranges, "fold")


@cache
def _cased(rule: str) -> list[int]:
    return sorted(case_orbits(rule))


def _case_closure(ranges: Ranges, rule: str) -> Ranges:
    cased, orbits = _cased(rule), case_orbits(rule)
    added: list[tuple[int, int]] = []
    for start, end in ranges:
        for point in cased[bisect_left(cased, start) : bisect_right(cased, end)]:
            added += [(other, other) for other in orbits[point]]
    return normalize((*ranges, *added)) if added else ranges


def _ascii_case_closure(ranges: Ranges) -> Ranges:
    added = []
    for start, end in ranges:
        for first, shift in ((65, 32), (97, -32)):
            low, high = max(start, first), min(end, first + 25)
            if low <= high:
                added.append((low + shift, high + shift))
    return normalize((*ranges, *added)) if added else ranges


@cache
def named_class(name: str) -> Ranges:
    """The class of a letter, as a pattern writes it.

    Args:
        name: one of ``d w s D W S``, with ``a`` before it under flag ``a``; ``.``; or ``any``, which is
            ``.`` under flag ``s``.  Of ECMA-262, ``d`` and ``w`` have the ``a`` too, ``s`` and ``.`` an ``e``
            (``es``, ``e.``), and ``w`` under flags ``iu`` an ``f``.
    """
    if name == "any":
        return complement(())
    if name == ".":
        return complement(((10, 10),))
    if name == "e.":
        return complement(ECMA_LINE_ENDS)
    letter = name[-1]
    if letter.isupper():
        return complement(named_class(name[:-1] + letter.lower()))
    return _SPELLED_OUT[name] if name in _SPELLED_OUT else named_set(f"python={letter}")
