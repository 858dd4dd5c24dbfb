"""What IDNA 2008 asks of code points, from the version of Unicode that everything here has.

Example::

    idna_set("virama")[0]        # (0x94D, 0x94D)
    composing_sets()[0]          # (bases, marks): no such mark may stand behind such a base

Source: ``idna.bin``, which ``tools/make_idna_tables.py`` generates; the names of the sets are listed there.

Cost: nothing is read when this is imported; the first look-up reads 6 kB and unpacks 120 sets (1 ms).
"""

from __future__ import annotations

import os
import zlib
from functools import cache
from itertools import accumulate

from tokamata.patterns.unicode import Ranges

__all__ = ["composing_sets", "idna_set", "idna_sets", "marks_in_order"]


@cache
def idna_sets() -> dict[str, Ranges]:
    """All sets, by name."""
    with open(os.path.join(os.path.dirname(__file__), "idna.bin"), "rb") as file:
        lines = zlib.decompress(file.read()).decode().split("\n")
    return {name: _ranges(differences) for name, _, differences in (line.partition("\t") for line in lines)}


def _ranges(differences: str) -> Ranges:
    edges = list(accumulate(int(digits, 36) for digits in differences.split()))
    return tuple(zip(edges[::2], [edge - 1 for edge in edges[1::2]], strict=True))


def idna_set(name: str) -> Ranges:
    """The set of that name."""
    return idna_sets()[name]


@cache
def marks_in_order() -> list[Ranges]:
    """The marks that canonical ordering moves, by combining class, in the order of these."""
    return [ranges for name, ranges in idna_sets().items() if name.startswith("order=")]


@cache
def composing_sets() -> list[tuple[Ranges, Ranges]]:
    """Bases, and what composes with any of them: in form NFC the one is never behind the other.

    No base and nothing that composes is in two of the pairs.  A few are both.
    """
    sets = idna_sets()
    return [
        (bases, sets[name.replace("base", "mark")])
        for name, bases in sets.items()
        if name.startswith("base ")
    ]
