"""The longest Punycode of labels whose code points are affordable, see ``punycode_prices.py``.

Problem: a label of IDNA has at most 63 octets in Punycode (RFC 3492).  The encoder inserts the code points
beyond ASCII in order, each as a delta from the one before.  The number of its digits depends on the delta and
on a bias that the previous delta has set.  How many digits can a label of n code points need?

Method: a search over states of the encoder, from the end of the label to its beginning.  A state is the
number of code points written, the distance that the next code points may still increase, and the bias.  Every
delta within that distance is allowed, wherever the code point is inserted.  Real labels have fewer, so the
result is an upper bound.  Deltas with the same number of digits and the same next bias are one transition,
with their least increase.

Example::

    python tools/punycode_lengths.py        # every window and the whole of Unicode, in a few minutes

Cost: for each length, states times 50; 3 seconds for a window, a few minutes for all code points, whose
distances are in steps of 64, rounded down.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from tokamata.patterns.json_schema.formats.punycode_prices import (
    ANYWHERE,
    BUDGET,
    IN_WINDOW,
    LONGEST,
    PRICE_OF_ASCII,
    WINDOWS,
)

BASE, LEAST, MOST, SKEW, DAMP, FIRST_BIAS = 36, 1, 26, 38, 700, 72
STEPS = 4096  # the largest number of steps of a distance
LAST = 0x3347F  # the last code point that is PVALID


def digits(delta: int, bias: int) -> int:
    """The number of digits of a delta."""
    count, offset = 1, BASE
    while True:
        threshold = min(max(offset - bias, LEAST), MOST)
        if delta < threshold:
            return count
        delta = (delta - threshold) // (BASE - threshold)
        count, offset = count + 1, offset + BASE


def adapted(delta: int, points: int, first: bool) -> int:
    """The bias after a delta; with its code point, ``points`` code points are written."""
    delta = delta // DAMP if first else delta // 2
    delta += delta // points
    bias = 0
    while delta > (BASE - LEAST) * MOST // 2:
        delta //= BASE - LEAST
        bias += BASE
    return bias + (BASE - LEAST + 1) * delta // (delta + SKEW)


def runs(low: int, high: int, key) -> list[int]:
    """The first of each run of deltas with the same key."""
    found, start = [], low
    while start <= high:
        found.append(start)
        value, same, other = key(start), start, high + 1
        while other - same > 1:
            middle = (same + other) // 2
            same, other = (middle, other) if key(middle) == value else (same, middle)
        start = other
    return found


@cache
def transitions(points: int, distance: int) -> dict[int, list[tuple[int, int, int]]]:
    """For each bias, all deltas after ``points`` code points: digits, next bias, least distance."""
    high = distance * (points + 1) + points
    by_bias = runs(0, high, lambda delta: adapted(delta, points + 1, False))
    biases = {adapted(delta, points + 1, False) for delta in by_bias} | set(range(220))
    found = {}
    for bias in biases:
        starts = sorted({*by_bias, *runs(0, high, lambda delta, bias=bias: digits(delta, bias))})
        best: dict[tuple[int, int], int] = {}
        for delta in starts:
            key = (digits(delta, bias), adapted(delta, points + 1, False))
            best.setdefault(key, delta // (points + 1))
        found[bias] = [(count, left, least) for (count, left), least in best.items()]
    return found


def longest(window: tuple[int, int], length: int, ascii_counts: list[int]) -> dict[int, int]:
    """The largest number of digits of labels of ``length`` code points, by the number of ASCII ones."""
    low, high = window
    distance = high - low
    step = -(-distance // STEPS)
    rows = np.zeros((220, distance // step + 2), dtype=np.int16)  # by bias and distance left
    answer: dict[int, int] = {}
    for points in range(length - 1, min(ascii_counts) - 1, -1):
        if points in ascii_counts:
            answer[points] = _first(window, points, rows, step)
        if points:
            earlier = np.zeros_like(rows)
            for bias, deltas in transitions(points, distance).items():
                row = earlier[bias]
                for count, left, least in deltas:
                    cost = least // step
                    np.maximum(row[cost:], rows[left, : len(row) - cost] + count, out=row[cost:])
            rows = earlier
    return answer


def _first(window: tuple[int, int], points: int, rows: np.ndarray, step: int) -> int:
    """The largest number of digits, including the first delta, which begins at U+0080."""
    low, high = window
    lowest, highest = (low - 128) * (points + 1), (high - 128) * (points + 1) + points
    best = 0
    for delta in runs(
        lowest, highest, lambda delta: (digits(delta, FIRST_BIAS), adapted(delta, points + 1, True))
    ):
        left = min(high - (128 + delta // (points + 1)), high - low)
        rest = int(rows[adapted(delta, points + 1, True), -(-left // step)])
        best = max(best, digits(delta, FIRST_BIAS) + rest)
    return best


def octets(window: tuple[int, int], price: int, lengths: range | list[int]) -> int:
    """The longest A-label of labels with these lengths within the budget."""
    worst = 0
    for length in lengths:
        counts = [
            plain for plain in range(length) if PRICE_OF_ASCII * plain + price * (length - plain) <= BUDGET
        ]
        if counts:
            for plain, count in longest(window, length, counts).items():
                worst = max(worst, len("xn--") + plain + bool(plain) + count)
    return worst


def main() -> None:
    """Print the longest label of each window, and check the documented bound."""
    for window, price in [*((window, IN_WINDOW) for window in WINDOWS), ((0x80, LAST), ANYWHERE)]:
        found = octets(window, price, range(1, BUDGET // PRICE_OF_ASCII + 1))
        print(f"U+{window[0]:04X} to U+{window[1]:04X}: {found} octets at most")
        assert found <= LONGEST


if __name__ == "__main__":
    main()
