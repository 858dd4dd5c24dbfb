"""Labels of Unicode, as IDNA 2008 has them.

Problem: RFC 5891, section 4.2, states seven conditions for such a label.  Each is a regular language, but
their intersection is slow to follow.  Here a label is a sequence of clusters instead: a base and its marks.
Most of the conditions then hold by construction::

    label    = cluster (-? cluster)*       the first not beginning with a combining mark
    cluster  = base marks                  the marks in canonical order, none composing with the base

Example: ``straße``, ``l·l``, ``नमस्ते``; not ``Straße`` (a capital), ``a·l``, ``-ü``, ``e`` with a
combining acute.

==========================================  =========================================================
RFC 5892, section 3: PVALID                 the bases and marks
RFC 5892, appendix A: context               alternatives that have the context in them: ``l(·l)+``
RFC 5891, section 4.2.3.1: hyphens          only between clusters, never two
RFC 5891, section 4.2.3.2: no mark first    the first cluster
RFC 5891, section 4.2.1: form NFC           marks in order, none behind a base that it composes with
RFC 5893: from right to left                such labels have bases of their own
RFC 5891, section 4.2.4: at most 63 octets  :mod:`.punycode_prices`, in an intersection
==========================================  =========================================================

NFC (Unicode Standard Annex #15).  A text is in that form if it has no code points that NFC always changes
(none is PVALID), its marks are in canonical order, and no mark or vowel sign composes with the last base
before it.  The table says which do; bases that compose with any of some marks, and all of these marks, are
kept apart, so that ``ẹ`` has no acute here since it has a circumflex elsewhere (``ệ``).

Cost: 20 ms; a few thousand ranges are cut, and each set becomes an expression once.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

import tokamata._core as _core
from tokamata.patterns.json_schema.formats.punycode_prices import affordable
from tokamata.patterns.regex.classes import Ranges, complement, normalize
from tokamata.patterns.unicode import named_set
from tokamata.patterns.unicode.idna import composing_sets, idna_set, marks_in_order

__all__ = ["label_from_left", "label_from_right"]

_HYPHEN = _core.literal(b"-")
_EXTENDED_DIGITS: Ranges = ((0x6F0, 0x6F9),)
_ARABIC_DIGITS: Ranges = ((0x660, 0x669),)
_JOINERS = ((0x200C, 0x200D),)
_NON_JOINER = _core.literal("\u200c".encode())


def _all_of(*sets: Ranges) -> Ranges:
    return normalize([pair for ranges in sets for pair in ranges])


def _both(ranges: Ranges, others: Ranges) -> Ranges:
    """What is in both sets; costs little where one of them is small."""
    if len(ranges) > len(others):
        ranges, others = others, ranges
    ends = [end for _, end in others]
    found = []
    for start, end in ranges:
        place = bisect_left(ends, start)
        while place < len(others) and others[place][0] <= end:
            first, last = others[place]
            found.append((max(start, first), min(end, last)))
            place += 1
    return tuple(found)


def _less(ranges: Ranges, *others: Ranges) -> Ranges:
    """What is in the set and in none of the others."""
    return _both(ranges, complement(_all_of(*others)))


def _one(*sets: Ranges) -> _core.Expression:
    return _core.code_points(_all_of(*sets))


def _some(expression: _core.Expression, minimum: int = 0) -> _core.Expression:
    return _core.repeat(expression, minimum, None)


# ---- marks ------------------------------------------------------------------------------------


class _Tails:
    """What may stand behind a base: marks in canonical order, perhaps a joiner behind a virama.

    Attributes:
        any: any marks.
    """

    def __init__(self, marks: Ranges, joiners: bool) -> None:
        self._classes = [_both(ranges, marks) for ranges in marks_in_order()]
        self._virama = idna_set("virama") if joiners else ()
        self._whole = [_some(_one(ranges)) for ranges in self._classes]
        self.any = self._all_but(())

    def without(self, composing: Ranges) -> _core.Expression:
        """All but these marks."""
        return self._all_but(composing) if composing else self.any

    def _all_but(self, composing: Ranges) -> _core.Expression:
        """A joiner ends a tail."""
        parts = [
            _some(_one(_less(ranges, composing))) if _both(ranges, composing) else whole
            for ranges, whole in zip(self._classes, self._whole, strict=True)
        ]
        if self._virama:
            place = next(i for i, ranges in enumerate(self._classes) if _both(ranges, self._virama))
            virama = _one(_less(self._virama, composing))
            ends = _core.concat([_some(virama), virama, _one(_JOINERS)])
            parts[place:] = [_core.union([_core.concat(parts[place:]), ends])]
        return _core.concat(parts)


class _Bases(NamedTuple):
    """Bases that may have the same marks."""

    bases: Ranges
    tail: _core.Expression


# ---- from left to right -----------------------------------------------------------------------


def label_from_left(normal: bool = True) -> _core.Expression:
    """A label without code points from right to left.

    Args:
        normal: whether it is in form NFC; if not, only its marks are in order.
    """
    from_right = _all_of(
        *(idna_set(f"bidi={name}") for name in ("Right_To_Left", "Arabic_Letter", "Arabic_Number"))
    )
    marks = _all_of(*marks_in_order())
    bases = _less(_all_of(idna_set("pvalid"), _EXTENDED_DIGITS), from_right, marks, ((0x2D, 0x2D),))
    tails = _Tails(marks, joiners=True)
    signs: Ranges = ()
    kinds = []
    for composed, composing in composing_sets() if normal else ():
        found = _less(_both(bases, composed), composing)
        bases = _less(bases, composed, composing)
        signs = _all_of(signs, _less(composing, marks, composed))
        if found:
            kinds.append(_Bases(found, tails.without(_both(composing, marks))))
    # Vowel signs that compose with something stand behind what composes with nothing; what is both, nowhere.
    sign_tail = _some(_core.concat([_one(_less(signs, from_right)), tails.any]))
    kinds.append(_Bases(bases, _core.concat([tails.any, sign_tail]) if signs else tails.any))
    clusters = _clusters(kinds)
    first = _clusters(
        [kind._replace(bases=_less(kind.bases, named_set("General_Category=Mark"))) for kind in kinds]
    )
    return _core.intersect([_core.concat([first, _some(_hyphenated(clusters))]), affordable()])


def _hyphenated(cluster: _core.Expression) -> _core.Expression:
    return _core.concat([_core.union([_core.epsilon(), _HYPHEN]), cluster])


def _clusters(kinds: list[_Bases]) -> _core.Expression:
    """Clusters, and those that RFC 5892 allows by their context.

    The middle dot stands between two l (A.3), the keraia before a Greek letter (A.4), the katakana middle dot
    beside Hiragana, Katakana or Han: anywhere in the label in the RFC (A.7), right beside it here.
    """
    eastern = [kind for script in ("Hiragana", "Katakana", "Han") for kind in _of_script(kinds, script)]
    l_kind = next(kind for kind in kinds if _both(kind.bases, ((0x6C, 0x6C),)))
    dots = _some(_core.literal("\u30fb".encode()), 1)
    return _core.union(
        [
            _union_of(kinds),
            _core.concat([_core.literal(b"l"), _some(_core.literal("\xb7l".encode()), 1), l_kind.tail]),
            _core.concat([_some(_core.literal("\u0375".encode()), 1), _union_of(_of_script(kinds, "Greek"))]),
            _core.concat([dots, _union_of(eastern)]),
            _core.concat([_union_of(eastern), dots]),
        ]
    )


def _of_script(kinds: list[_Bases], script: str) -> list[_Bases]:
    points = named_set(f"Script={script}")
    found = [kind._replace(bases=_both(kind.bases, points)) for kind in kinds]
    return [kind for kind in found if kind.bases]


def _union_of(kinds: list[_Bases]) -> _core.Expression:
    return _core.union([_core.concat([_one(kind.bases), kind.tail]) for kind in kinds])


# ---- from right to left -----------------------------------------------------------------------


def label_from_right() -> _core.Expression:
    """A label from right to left: letters from right to left and digits, of one kind, hyphens between.

    It begins with a letter and ends with a letter or a digit, marks aside (RFC 5893, section 2, rules 1 to 4,
    of which the last also does what RFC 5892, A.8 and A.9, ask of digits).
    """
    marks = idna_set("bidi=Nonspacing_Mark")
    in_order = _all_of(*marks_in_order())
    composed = _all_of(*(bases for bases, _ in composing_sets()))
    signs = _all_of(*(signs for _, signs in composing_sets()))
    vowels = _less(marks, in_order, signs, composed)
    letters = _all_of(idna_set("bidi=Right_To_Left"), idna_set("bidi=Arabic_Letter"))
    letters = _less(_both(letters, idna_set("pvalid")), in_order, signs)
    composing = _both(letters, composed)
    tails = _Tails(marks, joiners=False)
    bare = tails.without(signs)
    with_vowels = _core.concat([tails.any, _some(_core.concat([_one(vowels), tails.any]))])

    hebrew = _both(letters, named_set("Script=Hebrew"))
    quoted = _core.concat([_one(hebrew), _some(_one(((0x5F3, 0x5F4),)), 1), bare])  # A.5, A.6
    before, after = _both(letters, idna_set("joins_next")), _both(letters, idna_set("joins_previous"))
    both = _core.concat([_one(_both(before, after)), bare, _NON_JOINER])  # A.1: letters that would be joined
    parted = _core.concat([_one(before), bare, _NON_JOINER, _some(both), _one(after), bare])
    letter = _core.union(
        [
            _core.concat([_one(_less(letters, composing)), with_vowels]),
            _core.concat([_one(composing), bare]),
            quoted,
            parted,
        ]
    )
    labels = []
    european = _both(_all_of(idna_set("pvalid"), _EXTENDED_DIGITS), idna_set("bidi=European_Number"))
    arabic = _both(_all_of(idna_set("pvalid"), _ARABIC_DIGITS), idna_set("bidi=Arabic_Number"))
    for digits in (european, arabic):
        cluster = _core.union([letter, _core.concat([_one(digits), tails.any])])
        labels.append(_core.concat([letter, _some(_hyphenated(cluster))]))
    return _core.intersect([_core.union(labels), affordable()])
