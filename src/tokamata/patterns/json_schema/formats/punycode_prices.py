"""How long a label of Unicode may be, so that Punycode makes at most 63 octets of it.

Problem: the length of the Punycode of a label (RFC 3492) depends on how far apart its code points are, and
on the order in which they stand; no regular language of any size says it.  But one can say that it is not
too long: each code point has a price, and a label is short enough if it does not cost too much.

=======================================  =============  ==============  ===========
the code points beyond ASCII are         one of ASCII   one beyond it   in all
=======================================  =============  ==============  ===========
in one of the windows of 2,048 below     2              5               at most 90
any                                      2              7               at most 90
=======================================  =============  ==============  ===========

The windows are U+0080 to U+07FF, U+0800 to U+0FFF, and so on up to U+37FF.  So 18 Cyrillic letters have their
place, 12 Chinese characters, or ``straßenbahnhaltestellenverzeichnis``, of one letter beyond ASCII.

Why it is right: ``tools/punycode_lengths.py`` searches for the longest Punycode at each number of code
points of either kind, over all deltas that the encoder could meet, each with the bias that the one before
leaves behind; it never has more than 62 octets, ``xn--`` included.

Cost: a text of each budget begins with a code point and goes on with one of a lesser budget, which are
shared: 7 chains of 90 expressions, 0.5 ms.
"""

from __future__ import annotations

from functools import cache

import tokamata._core as _core

__all__ = ["ANYWHERE", "BUDGET", "IN_WINDOW", "LONGEST", "PRICE_OF_ASCII", "WINDOWS", "affordable"]

PRICE_OF_ASCII, IN_WINDOW, ANYWHERE, BUDGET = 2, 5, 7, 90
WINDOWS = ((0x80, 0x7FF), *((first, first + 0x7FF) for first in range(0x800, 0x3800, 0x800)))
LONGEST = 62  # octets that a label has at these prices, in Punycode


@cache
def affordable() -> _core.Expression:
    """Texts that cost no more than the budget."""
    return _core.union(
        [*(_costing(IN_WINDOW, window) for window in WINDOWS), _costing(ANYWHERE, (0x80, 0x10FFFF))]
    )


def _costing(price: int, window: tuple[int, int]) -> _core.Expression:
    """Texts of ASCII and of a window whose code points have this price."""
    prices = ((_core.code_points([(0, 0x7F)]), PRICE_OF_ASCII), (_core.code_points([window]), price))
    texts: list[_core.Expression] = []  # by budget
    for budget in range(BUDGET + 1):
        longer = [_core.concat([point, texts[budget - cost]]) for point, cost in prices if cost <= budget]
        texts.append(_core.union([_core.epsilon(), *longer]))
    return texts[BUDGET]
