"""When a text that a sequence of normalizers leaves alone is left alone by each of them.

Problem: canonical are the token sequences of texts x with N(x) = x.  For one part of a normalizer these texts
are known; ``N`` runs several, one after another, and a later one may undo what an earlier one does: NFD and
then NFC leave é alone, and NFD does not.

Example: ``Replace "``" by '"', NFKD, StripAccents, Precompiled`` (XLNet).  NFKD makes "``" of two U+FF40,
after ``Replace`` has run.  But a text that is left alone has no U+FF40: no part makes one.

Claim: let ``S`` be the code points that each part leaves alone by itself.  If (1) and (2) hold, then N(x) = x
if and only if x is a text over ``S`` that each part leaves alone.

(1) A set ``A`` of code points lies in ``S``, where ``A`` is found in rounds.  It is everything at first.  In
each round it becomes what the parts, one after another, may write for texts over it.  A text x = N(x) is over
each of these sets by induction, so it is over ``A`` and over ``S``.

(2) ``T`` is ``S`` with all that a part may write in place of a *match* in a text over ``T``: of a key of a
charsmap, of a pattern, of a pair that composes.  Each match is longer, in code points, than what is written
for it, and each code point that a part adds to ``T`` is left alone by all later parts.

Proof.  Over ``T`` a part changes no code point by itself where it meets it.  So it either leaves a text
alone, makes it shorter, or only moves marks to where their classes ascend (normal forms).  No part makes it
longer, or moves marks apart again.  So if one part changes x, then N(x) is shorter, or has its marks in
another order, and is not x.

Parts are run on all code points to find what they do to single ones.  Cost: 0.1 s for each.  Rejected:
comparing the whole normalizer with its parts on samples of texts, which proves nothing.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from tokamata.errors import UnsupportedTokenizerError
from tokamata.tokenization.pipelines.normal_forms import changed_points, results_apart
from tokamata.tokenization.pretokenizers.classes import CODE_POINTS, sample_points, spread

if TYPE_CHECKING:
    from tokamata.tokenization.pipelines.charsmaps import Charsmap
    from tokamata.tokenization.pretokenizers.classes import Flags

__all__ = ["Part", "check_sequence"]

_HANGUL = range(0xAC00, 0xD7A4)


@dataclass(frozen=True)
class Part:
    """One normalizer of a sequence.

    Attributes:
        name: what messages call it.
        change: its program; it is not run for patterns, which may take long, and match no single code point.
        role: what it changes: single code points, whatever is around them; the normal form of a text; keys of
            a charsmap, where clusters begin or anywhere; matches of a pattern; or white space at the ends of
            a text.
        charsmap: the charsmap.
        content: what is written for a match of a pattern.
    """

    name: str
    change: Callable[[str], str]
    role: Literal["points", "form", "clusters", "keys", "pattern", "ends"]
    charsmap: Charsmap | None = None
    content: str = ""


def check_sequence(parts: Sequence[Part], sign: str = "") -> None:
    """Refuses a sequence for which the argument above does not hold.

    Args:
        parts: the normalizers, in order.
        sign: a code point that is in no text, since the decoder writes a space for it; or ``""``.

    Raises:
        UnsupportedTokenizerError: a text may be left alone by all parts together, and not by each.
    """
    parts = [part for part in parts if part.role != "ends"]  # these write nothing
    if len(parts) < 2 and all(part.role in ("form", "pattern") for part in parts):
        return
    points = [_Points(part) for part in parts]
    alone = np.logical_and.reduce([each.alone for each in points])
    written = np.ones(CODE_POINTS, dtype=bool)
    while True:
        before = written
        for each in points:
            written = each.written(written)
        written[list(map(ord, sign))] = False
        if (written == before).all():
            break
    if (left := np.flatnonzero(written & ~alone)).size:
        by = next(each.part.name for each in points if not each.alone[left[0]])
        raise _refusal(f"a text with U+{left[0]:04X} may be left alone, although its {by} changes that")
    known = alone.copy()
    known[list(map(ord, sign))] = False
    for number, each in enumerate(points):
        for match, result in each.matches(known):
            if match is not None and len(result) >= len(match):
                raise _refusal(
                    f"its {each.part.name} makes {result!r:.40} of {match!r:.40}, which is no longer"
                )
            for letter in map(ord, result):
                if later := next((one for one in points[number + 1 :] if not one.alone[letter]), None):
                    what = (
                        f"its {each.part.name} writes {chr(letter)!r}, which {later.part.name} changes again"
                    )
                    raise _refusal(what)
                if not known[letter]:
                    known = known.copy()
                    known[letter] = True


@cache
def _composed() -> tuple[str, ...]:
    """The code points that a pair of others may compose to, but Hangul."""
    found = []
    for point in sample_points().tolist():
        parts = unicodedata.decomposition(chr(point)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            found.append(chr(point))
    return tuple(found)


class _Points:
    """What a part does to code points.

    Attributes:
        part: the part.
        alone: which code points it leaves alone by themselves.
        changed: what it makes of the others, without the code points that Unicode does not assign.
    """

    def __init__(self, part: Part) -> None:
        self.part = part
        points = sample_points()
        self.changed = {} if part.role == "pattern" else changed_points(part.change)
        flags = np.zeros(CODE_POINTS, dtype=bool)
        flags[points] = True
        flags[list(self.changed)] = False
        self.alone = spread(flags)

    def written(self, letters: Flags) -> Flags:
        """The code points that it may write for texts over some letters."""
        result: Flags = letters & self.alone
        texts: list[str] = [text for point, text in self.changed.items() if letters[point]]
        if self.part.role == "form" and self._composes:
            texts += self._compositions(letters, texts)
        if self.part.charsmap is not None:
            if (
                letters[: _HANGUL.stop].sum() >= _HANGUL.stop - 1
            ):  # of nearly all; finding the keys takes long
                texts.append(self.part.charsmap.all_results())
            else:
                texts += self._keys(self.part.charsmap, letters).values()
        texts.append(self.part.content)
        for text in texts:
            result[list(map(ord, text))] = True
        return result

    def _compositions(self, letters: Flags, texts: Iterable[str]) -> list[str]:
        """What may be composed of the decompositions of some letters and texts, and what is between."""
        parts = letters.copy()
        parts[list(map(ord, "".join(texts)))] = True
        for letter in _composed():
            if parts[ord(letter)]:
                parts[list(map(ord, unicodedata.normalize("NFD", letter)))] = True
        found = [
            letter
            for letter in _composed()
            if self.alone[ord(letter)] and parts[list(map(ord, unicodedata.normalize("NFD", letter)))].all()
        ]
        if parts[_HANGUL.start : _HANGUL.stop].any() or (
            parts[0x1100:0x1113].any() and parts[0x1161:0x1176].any()
        ):
            found += [chr(point) for point in _HANGUL if self.alone[point]]
        return found

    def _keys(self, charsmap: Charsmap, letters: Flags) -> dict[str, str]:
        if self.part.role == "clusters":
            return charsmap.short_keys_over(letters)
        return {key: result for key, result in charsmap.keys_over(letters).items() if key != result}

    @property
    def _composes(self) -> bool:
        return self.part.change("e\u0301") != "e\u0301"

    def matches(self, letters: Flags) -> Iterable[tuple[str | None, str]]:
        """Matches over some letters, and what is written; ``None`` for one that is known to be longer."""
        if self.part.charsmap is not None:
            return self._keys(self.part.charsmap, letters & self.alone).items()
        if self.part.role == "form" and self._composes:
            pairs = [unicodedata.decomposition(letter).split() for letter in _composed()]
            texts = ["".join(chr(int(part, 16)) for part in pair) for pair in pairs]
            kept = [text for text in texts if letters[ord(text[0])] and letters[ord(text[1])]]
            results = results_apart(self.part.change, kept)
            both = [
                pair for pair in zip(kept, results, strict=True) if pair[0] != pair[1] and len(pair[1]) == 1
            ]
            hangul = letters[0x1100:0x1113].any() and letters[0x1161:0x1176].any()
            return [*both, *(((None, "".join(map(chr, _HANGUL))),) if hangul else ())]
        return [(None, self.part.content)] if self.part.role == "pattern" else []


def _refusal(what: str) -> UnsupportedTokenizerError:
    return UnsupportedTokenizerError("normalizer", what)
