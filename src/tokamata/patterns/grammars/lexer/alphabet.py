"""Characters that no expression of a grammar distinguishes, as one symbol.

Problem.  Unicode has a million characters, ``\\w`` alone has 700 ranges of them, and the threads of a lexer
are followed by every character that makes a difference.
How.  The sets that the expressions name cut all characters into classes, which are numbered: the *symbols*.
A set of characters is then a set of symbols: the bits of one integer.

Worked example.  ``[a-z]`` and ``[a-f0-9]`` make four symbols::

    0  all others     1  0-9     2  a-f     3  g-z
    [a-z] is 0b1100,  [a-f0-9] is 0b0110,  what both have is 0b0100

Cost.  Once, the ranges and the symbols of all sets; then a few operations on integers for a set.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from tokamata.patterns.unicode import Ranges
from tokamata.resources.limits import Watch

__all__ = ["Alphabet", "symbols_of"]

_LAST = 0x10FFFF


class Alphabet:
    """The symbols of some sets of characters.

    Args:
        sets: all that are to be distinguished.
        watch: stops the work.

    Attributes:
        everything: the mask of all symbols.
    """

    def __init__(self, sets: Iterable[Ranges], watch: Watch) -> None:
        different = dict.fromkeys(sets)
        changes: dict[int, int] = {0: 0}  # by border, the sets that begin or end there
        for number, ranges in enumerate(different):
            watch.check()
            for low, high in ranges:
                changes[low] = changes.get(low, 0) ^ 1 << number
                changes[high + 1] = changes.get(high + 1, 0) ^ 1 << number
        self._borders = sorted(border for border in changes if border <= _LAST)
        self._symbols: list[int] = []  # by border, the symbol from there on
        numbers: dict[int, int] = {}  # by the sets that have a symbol
        self._of_symbol: list[list[tuple[int, int]]] = []
        inside = 0
        for low, after in zip(self._borders, [*self._borders[1:], _LAST + 1], strict=True):
            inside ^= changes[low]
            symbol = numbers.setdefault(inside, len(numbers))
            if symbol == len(self._of_symbol):
                self._of_symbol.append([])
            self._of_symbol[symbol].append((low, after - 1))
            self._symbols.append(symbol)
        masks = [0] * len(different)
        for found, symbol in numbers.items():
            watch.check()
            for number in symbols_of(found):
                masks[number] |= 1 << symbol
        self._masks = dict(zip(different, masks, strict=True))
        self._ranges: dict[int, Ranges] = {}
        self.everything = (1 << len(numbers)) - 1

    def mask(self, ranges: Ranges) -> int:
        """The symbols of one of the sets."""
        return self._masks[ranges]

    def symbol(self, character: int) -> int:
        """The symbol that a character belongs to."""
        return self._symbols[bisect_right(self._borders, character) - 1]

    def ranges(self, mask: int) -> Ranges:
        """The characters of some symbols, in order; there may be surrogates among them."""
        if mask not in self._ranges:
            merged: list[tuple[int, int]] = []
            for low, high in sorted(pair for symbol in symbols_of(mask) for pair in self._of_symbol[symbol]):
                if merged and merged[-1][1] == low - 1:
                    merged[-1] = (merged[-1][0], high)
                else:
                    merged.append((low, high))
            self._ranges[mask] = tuple(merged)
        return self._ranges[mask]

    def classes(self, masks: Iterable[int]) -> list[int]:
        """All symbols in the fewest classes of which each of some sets is a union, by their first symbols."""
        parts = [self.everything]
        for mask in masks:
            cut = []
            for part in parts:
                inside = part & mask
                cut += [inside, part ^ inside] if inside and inside != part else [part]
            parts = cut
        return sorted(parts, key=lambda part: part & -part)


def symbols_of(mask: int) -> Iterator[int]:
    """The numbers of the bits of a mask."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
