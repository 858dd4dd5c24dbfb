"""Normal forms as properties of code points: tables that decide whether a text is in NFC or NFKC.

Problem: a tokenizer that normalizes to NFC changes every text that is not in NFC, so no token sequence of
such a text is canonical.  A text is in NFC if and only if (Unicode Standard, D115 to D117, annex 15): no code
point is changed by itself; the combining classes after a starter do not descend; no code point composes with
the last starter before it, unless one of its own class or another starter is between them.

Example: ``e`` U+0301 is not in NFC: it composes to é.  é U+0316 is: class 220 may follow a starter.
``e`` U+0316 U+0301 is not: U+0301 composes across U+0316.  ``e`` U+0316 U+0317 is: nothing composes.

Method: all tables are computed by running the tokenizer's own normalizer, since its Unicode version may
differ from Python's.  Python's tables only select the pairs to try.  A mark that only the normalizer knows is
found because the normalizer moves it before a mark of a higher class.

Cost: about 0.3 s.  Rejected: Unicode's quick check, which answers "maybe" for every mark.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from tokamata.tokenization.pretokenizers.classes import CODE_POINTS, sample_points, spread

_SEPARATOR = "\n"
# No form changes these, and charsmaps leave one of them alone; none begins a key, or joins what follows it.
_SEPARATORS = (_SEPARATOR, "\ue000", "0")
_TOGETHER = 512  # texts that are normalized together, and apart only if that gives another text
_BASE = "1"  # no mark composes with it
_HIGHEST_MARK = "\u0345"  # of class 240, the highest


@dataclass(frozen=True)
class NormalForm:
    """The properties of code points that decide whether a text is in a normal form.

    Attributes:
        stable: ``bool[0x110000]``: the normalizer does not change the code point by itself.
        combining: ``uint8[0x110000]``: its canonical combining class.
        second: ``uint16[0x110000]``: its column of ``composes``; 0 if it composes with nothing before it.
        starter: ``uint16[0x110000]``: its row of ``composes``; 0 if nothing after it composes with it.
        composes: ``bool[rows, columns]``: whether the two code points compose.
    """

    stable: npt.NDArray[np.bool_]
    combining: npt.NDArray[np.uint8]
    second: npt.NDArray[np.uint16]
    starter: npt.NDArray[np.uint16]
    composes: npt.NDArray[np.bool_]


@cache
def normal_form(normalize: Callable[[str], str]) -> NormalForm:
    """The normal form that ``normalize`` brings a text into, NFC or NFKC; kept until the process ends."""
    points = [point for point in sample_points().tolist() if point != 0x0A]
    stable = unchanged_points(normalize)
    combining = _combining_classes(normalize, points)
    firsts, seconds = _candidates(points, stable)
    second = np.zeros(CODE_POINTS, dtype=np.uint16)
    for column, point in enumerate(seconds, 1):
        second[point] = column
    pairs = (chr(first) + chr(point) for first in firsts for point in seconds)
    same = np.fromiter(_unchanged(normalize, pairs), dtype=bool, count=len(firsts) * len(seconds))
    joined = ~same.reshape(len(firsts), len(seconds))
    rows, numbers = np.unique(joined, axis=0, return_inverse=True)
    # Row 0 is for starters with which nothing composes; -1 if there are none.
    empty = [row for row in range(len(rows)) if not rows[row].any()]
    order = [*(empty or [-1]), *(row for row in range(len(rows)) if row not in empty)]
    renumbered = {int(row): number for number, row in enumerate(order)}
    starter = np.zeros(CODE_POINTS, dtype=np.uint16)
    for first, pattern in zip(firsts, numbers.reshape(-1), strict=True):
        starter[first] = renumbered[int(pattern)]
    composes = np.zeros((len(order), len(seconds) + 1), dtype=bool)
    for number, row in enumerate(order):
        if row >= 0:
            composes[number, 1:] = rows[row]
    return NormalForm(stable, combining, second, starter, composes)


def unchanged_points(normalize: Callable[[str], str]) -> npt.NDArray[np.bool_]:
    """Which code points the normalizer does not change: ``bool[0x110000]``, false for surrogates."""
    flags = np.zeros(CODE_POINTS, dtype=bool)
    flags[sample_points()] = True
    flags[list(changed_points(normalize))] = False
    return spread(flags)


def changed_points(normalize: Callable[[str], str]) -> dict[int, str]:
    """The code points of :func:`.classes.sample_points` that the normalizer changes, and their results."""
    letters = list(map(chr, sample_points().tolist()))
    return {ord(letters[at]): result for at, result in differing(normalize, letters, letters)}


def differing(
    normalize: Callable[[str], str], texts: Sequence[str], expected: Sequence[str]
) -> list[tuple[int, str]]:
    """The numbers of the texts that do not become what is expected of them, and what they become."""
    separator = next((each for each in _SEPARATORS if normalize(each) == each), "")
    found = []
    for begin in range(0, len(texts), _TOGETHER):
        own, wanted = texts[begin : begin + _TOGETHER], expected[begin : begin + _TOGETHER]
        joined, whole = separator.join(["", *own, ""]), separator.join(["", *wanted, ""])
        # A text with a separator in it is compared alone.
        if separator and normalize(joined) == whole and joined.count(separator) == len(own) + 1:
            continue
        results = results_apart(normalize, own)
        found += [
            (begin + at, result)
            for at, (result, one) in enumerate(zip(results, wanted, strict=True))
            if result != one
        ]
    return found


def results_apart(normalize: Callable[[str], str], texts: Sequence[str]) -> list[str]:
    """What becomes of each text; they are normalized together, with something between them."""
    for separator in _SEPARATORS:
        together = separator.join(["", *texts, ""])
        if together.count(separator) != len(texts) + 1 or normalize(separator) != separator:
            continue
        results = normalize(together).split(separator)
        if len(results) == len(texts) + 2:
            return results[1:-1]
    return [normalize(text) for text in texts]


def _unchanged(normalize: Callable[[str], str], texts: Iterable[str]) -> list[bool]:
    """For each text, which must contain no line feed, whether the normalizer leaves it unchanged."""
    given = list(texts)
    return [text == after for text, after in zip(given, results_apart(normalize, given), strict=True)]


def _combining_classes(normalize: Callable[[str], str], points: list[int]) -> npt.NDArray[np.uint8]:
    """Combining classes: the normalizer moves a mark of a lower class before U+0345, but not a starter."""
    combining = np.zeros(CODE_POINTS, dtype=np.uint8)
    texts = [f"{_BASE}{_HIGHEST_MARK}{chr(point)}" for point in points]
    moved = normalize(_SEPARATOR.join(texts)).split(_SEPARATOR)
    known: dict[int, str] = {240: _HIGHEST_MARK}
    unknown = []
    combining[ord(_HIGHEST_MARK)] = 240
    for point, text, after in zip(points, texts, moved, strict=True):
        if after == text or not after.endswith(_HIGHEST_MARK) or len(after) != 3:
            continue
        if cls := unicodedata.combining(chr(point)):
            combining[point] = cls
            known.setdefault(cls, chr(point))
        else:
            unknown.append(point)
    for point in unknown:
        combining[point] = _class_between(normalize, chr(point), known)
    return combining


def _class_between(normalize: Callable[[str], str], mark: str, known: dict[int, str]) -> int:
    """The class of a mark that Python does not know: that of the known marks that it never swaps with."""
    for cls, other in sorted(known.items()):
        if (
            normalize(f"{_BASE}{mark}{other}") == f"{_BASE}{mark}{other}"
            and normalize(f"{_BASE}{other}{mark}") == f"{_BASE}{other}{mark}"
        ):
            return cls
    # A class of its own, between two known ones.
    before = (cls for cls, other in known.items() if normalize(text := f"{_BASE}{mark}{other}") != text)
    return max(before, default=0) + 1


def _candidates(points: list[int], stable: npt.NDArray[np.bool_]) -> tuple[list[int], list[int]]:
    """The starters with which something may compose, and the code points that may compose with one."""
    firsts, seconds = set(), set()
    for point in points:
        parts = unicodedata.decomposition(chr(point)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            firsts.add(int(parts[0], 16))
            seconds.add(int(parts[1], 16))
            firsts.add(point)
    # Hangul syllables compose by rule: leading consonant and vowel, then trailing consonant.
    firsts.update([*range(0x1100, 0x1113), *range(0xAC00, 0xD7A4, 28)])
    seconds.update([*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)])
    return sorted(p for p in firsts if stable[p]), sorted(p for p in seconds if stable[p])
