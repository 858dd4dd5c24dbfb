"""What a normalizer makes of single code points, and which code points touch their neighbours.

Problem: a claim about a normalizer is about all texts.  ``normalization.py`` reduces it to single code points
and their neighbours, and needs to know, without running the normalizer 1.1 million times for each claim:

- the *spelling* of each code point: its full decomposition under a normal form, or what a map of single code
  points (lowercase, ``▁`` for a space) makes of it; and the inverse: the code points whose spelling has a
  given character (U+2A74 for ``:``; 13 code points for ``,`` under NFKC);
- the classes of marks;
- which code points may change with what stands before them (marks, second parts of compositions), and which
  with what comes after them.

Example, NFC: é is spelled ``e`` U+0301, Å (U+212B) is spelled ``A`` U+030A.  U+0338 may change with what is
before it, since ``=`` U+0338 composes to ≠.

Method: the normal form itself is run, as the package that the tokenizer uses has it, since its version of
Unicode may differ from Python's.  The text ``U+0345 c U+0345 d ...`` is in a decomposed form if and only if
none of ``c, d, ...`` decomposes or is a mark (a mark moves before U+0345, whose class, 240, is the highest),
so chunks of it are compared at once, and only the code points of chunks that differ are run alone.

Cost: 20 to 60 ms for each normal form; the tables are kept until the process ends.  Rejected: the tables of
``normal_forms.py``, which decide whether a text is in NFC or NFKC, and have no decompositions.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Literal
from weakref import WeakKeyDictionary

import numpy as np

from tokamata.errors import ArgumentError, UnsupportedTokenizerError
from tokamata.tokenization.canonical import normalizer_of, running_normalizer
from tokamata.tokenization.pipelines.pipeline import Normalizer
from tokamata.tokenization.pretokenizers.classes import hugging_face_tokenizers, sample_points
from tokamata.vocabulary import Vocabulary

__all__ = ["Rewriting", "Spellings", "rewriting_of", "rewriting_of_form"]

FORMS = ("NFC", "NFD", "NFKC", "NFKD")
_HIGHEST_MARK = "\u0345"  # of class 240, the highest
_SEPARATOR = "\n"  # no normal form changes it
_LOWER_MARK = "\u0301"
_HANGUL = range(0xAC00, 0xD7A4)
_CHUNK = 256

Change = Callable[[str], str]


@dataclass(frozen=True, eq=False)
class Spellings:
    """What a change of texts makes of single code points.

    The change is a normal form, or a map of single code points, which has no marks and no compositions here.

    Attributes:
        change: the change itself.
        spelled: the spelling of each code point that is not spelled by itself.
        containing: for each character the code points of ``spelled`` whose spelling has it, ascending.
        beginning: for each character the code points of ``spelled`` whose spelling begins with it, ascending.
        beginning_with_marks: the code points of ``spelled`` whose spelling begins with a mark.
        erased: the code points that are removed.
        classes: the combining class of each mark that is spelled by itself.
        after: the code points that may change with what stands before them, ascending.
        before: the code points that may change with what comes after them, ascending.
        is_after: the code points of ``after``.
    """

    change: Change
    spelled: dict[str, str]
    containing: dict[str, list[str]]
    beginning: dict[str, list[str]]
    beginning_with_marks: tuple[str, ...]
    erased: tuple[str, ...]
    classes: dict[str, int]
    after: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    is_after: frozenset[str] = frozenset()

    def spelling(self, text: str) -> str:
        """The spellings of the code points of a text, in the order of the text."""
        return "".join([self.spelled.get(point, point) for point in text])

    def first_apart(self, text: str, begin: int) -> int:
        """The first place from ``begin`` on where what is before does not touch what is after it."""
        return next((i for i in range(begin, len(text)) if text[i] not in self.is_after), len(text))

    def last_apart(self, text: str) -> int:
        """The last place before the end where what is before does not touch what is after it."""
        return next((i for i in range(len(text) - 1, 0, -1) if text[i] not in self.is_after), 0)

    def are_apart(self, left: str, right: str) -> bool:
        """Whether the change of two texts that are written together is that of each alone."""
        if not self.classes:
            return True
        return self.change(left + right) == self.change(left) + self.change(right)


@dataclass(frozen=True, eq=False)
class Rewriting:
    """A normalizer: a normal form, then a map of single code points, then a space before the text.

    Attributes:
        name: what messages call it.
        change: the changes of a text, without the space before it.
        form: the spellings of its normal form, or ``None``.
        single: the spellings of its map of single code points, or ``None``.
        both: the spellings of the two together, if the code points that the map changes do not touch their
            neighbours in the normal form; or ``None``.
        prefix: whether a space is put before a text, as in ``Normalizer``.
        unread: why ``change`` is not known to act like this on texts of many code points; ``""`` if it is.
    """

    name: str
    change: Change | None
    form: Spellings | None = None
    single: Spellings | None = None
    both: Spellings | None = None
    prefix: Literal["none", "always", "missing"] = "none"
    unread: str = ""

    def prefixed(self, text: str) -> str:
        """A changed text with the space before it."""
        missing = self.prefix == "missing" and not text.startswith(" ")
        return " " + text if text and (missing or self.prefix == "always") else text


# ---- normal forms --------------------------------------------------------------------------------


def rewriting_of_form(name: str) -> Rewriting:
    """A Unicode normal form, by Python's tables.

    Raises:
        ArgumentError: ``name`` is not NFC, NFD, NFKC or NFKD.
    """
    if name not in FORMS:
        raise ArgumentError("normal_form", f"{name!r:.60}", "one of NFC, NFD, NFKC, NFKD")
    return _rewriting_of_form(name)


@cache
def _rewriting_of_form(name: str) -> Rewriting:
    spellings = _form_spellings(_python_form(name), _python_form(_decomposed(name)))
    return Rewriting(name, spellings.change, form=spellings, both=spellings)


@cache
def _python_form(name: str) -> Change:
    return lambda text: unicodedata.normalize(name, text)  # type: ignore[arg-type]


@cache
def _package_form(name: str) -> Change:
    change: Change = getattr(hugging_face_tokenizers().normalizers, name)().normalize_str
    return change


def _decomposed(name: str) -> str:
    return name[:-1] + "D"


@cache
def _form_spellings(change: Change, decompose: Change) -> Spellings:
    """The spellings of a normal form, by the change to it and the change to its decomposed form."""
    unusual = _unusual_points(decompose)
    pairs = zip(unusual, _each(decompose, unusual), strict=True)
    spelled = {point: spelling for point, spelling in pairs if spelling != point}
    classes = _classes([point for point in unusual if point not in spelled], decompose)
    hangul = _hangul()
    if decompose(hangul.text) == "".join(hangul.spelled.values()):
        spelled.update(hangul.spelled)
    seconds: set[str] = set()
    firsts: set[str] = set()
    if change(hangul.text) == hangul.text:
        seconds, firsts = hangul.seconds, hangul.firsts
    changed = [point for point in spelled if point not in hangul.spelled]
    for point, result in zip(changed, _each(change, changed), strict=True):
        if point == result:  # a composition, with all that it is composed of
            parts = spelled[point]
            seconds = seconds.union(parts[1:])
            firsts = firsts.union(part for part in parts[:-1] if part not in classes)

    def last_starter(spelling: str) -> str:
        return next((part for part in reversed(spelling) if part not in classes), "")

    # Hangul syllables begin with what composes with nothing before it; those of three parts end so, too.
    candidates = sorted({*changed, *hangul.text[::28], *classes, *seconds, *firsts})
    after = [p for p in candidates if (d := spelled.get(p, p))[0] in classes or d[0] in seconds]
    before = [p for p in candidates if (d := spelled.get(p, p))[-1] in classes or last_starter(d) in firsts]
    return _inverse(change, spelled, classes, after, before)


def _unusual_points(decompose: Change) -> list[str]:
    """All marks, and all code points that decompose except Hangul syllables, with some others; ascending."""
    points = sample_points().astype("<u4")
    skipped = (points == ord(_HIGHEST_MARK)) | (points == ord(_SEPARATOR))
    points = points[~skipped & ((points < _HANGUL.start) | (points >= _HANGUL.stop))]
    pairs = np.full((len(points), 2), ord(_HIGHEST_MARK), dtype="<u4")
    pairs[:, 1] = points
    text = pairs.tobytes().decode("utf-32-le")
    found = [_HIGHEST_MARK]
    for begin in range(0, len(text), 2 * _CHUNK):
        chunk = text[begin : begin + 2 * _CHUNK]
        if decompose(chunk) != chunk:
            found.extend(chunk[1::2])
    return sorted(found)


def _each(change: Change, points: Iterable[str]) -> list[str]:
    """A normal form of each text; a line feed keeps them apart in one text."""
    return change(_SEPARATOR.join(points)).split(_SEPARATOR)


def _classes(points: list[str], decompose: Change) -> dict[str, int]:
    """The classes of the marks that the form knows, among code points that are spelled by themselves."""
    classes = {}
    moved = _each(decompose, [_HIGHEST_MARK + point for point in points])
    for point, after in zip(points, moved, strict=True):
        cls = unicodedata.combining(point)
        if after[0] == point != _HIGHEST_MARK:
            if not cls:
                what = f"U+{ord(point):04X} is a mark there, and not in Python's version of Unicode"
                raise UnsupportedTokenizerError("normalizer", what)
            classes[point] = cls
        elif cls == 240 and decompose(pair := point + _LOWER_MARK) != pair:
            classes[point] = cls
    return classes


@dataclass(frozen=True)
class _Hangul:
    """The syllables, which Unicode spells by arithmetic.

    Attributes:
        text: all of them.
        spelled: the spelling of each.
        containing: by consonant and vowel the syllables that have it.
        firsts, seconds: the parts after which, and before which, something composes.
    """

    text: str
    spelled: dict[str, str]
    containing: dict[str, list[str]]
    firsts: set[str]
    seconds: set[str]


@cache
def _hangul() -> _Hangul:
    leads = [chr(0x1100 + i) for i in range(19)]
    vowels = [chr(0x1161 + i) for i in range(21)]
    tails = ["", *(chr(0x11A8 + i) for i in range(27))]
    text = "".join(map(chr, _HANGUL))
    spellings = [lead + vowel + tail for lead in leads for vowel in vowels for tail in tails]
    containing = {lead: list(text[588 * i : 588 * (i + 1)]) for i, lead in enumerate(leads)}
    for i, vowel in enumerate(vowels):
        containing[vowel] = [text[588 * k + 28 * i + n] for k in range(19) for n in range(28)]
    containing.update({tail: list(text[i::28]) for i, tail in enumerate(tails) if tail})
    return _Hangul(
        text, dict(zip(text, spellings, strict=True)), containing, {*leads, *vowels}, {*vowels, *tails[1:]}
    )


def _inverse(
    change: Change,
    spelled: dict[str, str],
    classes: dict[str, int],
    after: Iterable[str] = (),
    before: Iterable[str] = (),
) -> Spellings:
    containing: dict[str, list[str]] = {}
    beginning: dict[str, list[str]] = {}
    hangul = _hangul()
    has_hangul = spelled.get(hangul.text[0]) == hangul.spelled[hangul.text[0]]
    for point, spelling in spelled.items():
        if has_hangul and point in hangul.spelled:
            continue
        if spelling:
            beginning.setdefault(spelling[0], []).append(point)
        for part in spelling if len(spelling) == 1 else set(spelling):
            containing.setdefault(part, []).append(point)
    for part, points in hangul.containing.items() if has_hangul else ():
        containing.setdefault(part, []).extend(points)
        if part < "\u1161":
            beginning.setdefault(part, []).extend(points)
    for points in (*containing.values(), *beginning.values()):
        points.sort()
    return Spellings(
        change,
        spelled,
        containing,
        beginning,
        tuple(point for mark in classes for point in beginning.get(mark, ())),
        tuple(point for point, spelling in spelled.items() if not spelling),
        classes,
        tuple(after),
        tuple(before),
        frozenset(after),
    )


# ---- tokenizers ----------------------------------------------------------------------------------


_made: WeakKeyDictionary[Vocabulary, Rewriting] = WeakKeyDictionary()


def rewriting_of(vocabulary: Vocabulary) -> Rewriting:
    """The normalizer of a vocabulary's tokenizer, as canonical tokenization reads it; kept with it.

    The texts are decoded texts: a tokenizer that writes ``▁`` for a space makes ``▁`` a space here.  A
    normalizer that is not read is run on single code points, if it has a program; ``unread`` says so.

    Raises:
        VocabularyError: the tokenizer contradicts itself, or its file has changed.
        MissingExtraError: the package that runs the normalizer is not installed.
    """
    if vocabulary not in _made:
        _made[vocabulary] = _rewriting(vocabulary)
    return _made[vocabulary]


def _rewriting(vocabulary: Vocabulary) -> Rewriting:
    try:
        return rewriting_of_normalizer(normalizer_of(vocabulary))
    except UnsupportedTokenizerError as error:
        reason = f"{error.part}: {error.reason}"
    change = running_normalizer(vocabulary)
    if change is None:
        return Rewriting("the tokenizer's normalizer", None, unread=reason)
    return rewriting_of_program(change, reason)


def rewriting_of_normalizer(normalizer: Normalizer) -> Rewriting:
    """The rewriting of a normalizer that was read.

    Raises:
        UnsupportedTokenizerError: its normal form is not one of the four, or has unknown marks.
    """
    if normalizer.has_contexts or not normalizer.form_is_first:
        raise UnsupportedTokenizerError(
            "normalizer", "it changes texts by more than a form and then code points"
        )
    spaces = normalizer.spaces
    single_changes = [normalizer.keeps] if normalizer.keeps is not None else []
    if spaces:
        single_changes.append(_decoded_spaces(spaces))
    single_change = _composed(single_changes)
    single = _single_spellings(single_change) if single_changes else None
    name = _form_name(normalizer.form)
    form = _form_spellings(_package_form(name), _package_form(_decomposed(name))) if name else None
    both = single if form is None else form
    if form is not None and single is not None:
        both = _with_inert(form, single)
    said = [*([name] if name else []), *(["▁ for spaces"] if spaces else [])]
    said += ["changes of single code points"] if normalizer.keeps is not None else []
    said += ["a space before the text"] if normalizer.prefix != "none" else []
    called = "the tokenizer's normalizer" + (f" ({', '.join(said)})" if said else ", which changes nothing")
    change = _composed([*([form.change] if form is not None else []), *single_changes])
    if both is None and form is None:
        both = _inverse(change, {}, {})
    return Rewriting(called, change, form, single, both, normalizer.prefix)


def _composed(changes: list[Change]) -> Change:
    if len(changes) == 1:
        return changes[0]

    def change(text: str) -> str:
        for one in changes:
            text = one(text)
        return text

    return change


@cache
def _decoded_spaces(mark: str) -> Change:
    return lambda text: text.replace(mark, " ")


def _form_name(form: Change | None) -> str:
    """The name of a normal form, by what it makes of é, e U+0301 and the ligature fi."""
    if form is None:
        return ""
    of_result = {
        ("\xe9", "\xe9", "\ufb01"): "NFC",
        ("e\u0301", "e\u0301", "\ufb01"): "NFD",
        ("\xe9", "\xe9", "fi"): "NFKC",
        ("e\u0301", "e\u0301", "fi"): "NFKD",
    }
    result = (form("\xe9"), form("e\u0301"), form("\ufb01"))
    if result not in of_result:
        raise UnsupportedTokenizerError("normalizer", "its normal form is not one of Unicode's four")
    return of_result[result]


def _single_spellings(change: Change) -> Spellings:
    """The spellings of a change that is run on each code point alone."""
    text = sample_points().astype("<u4").tobytes().decode("utf-32-le")
    spelled: dict[str, str] = {}
    for begin in range(0, len(text), _CHUNK):
        chunk = text[begin : begin + _CHUNK]
        if change(chunk) != chunk:
            spelled.update((point, result) for point in chunk if (result := change(point)) != point)
    return _inverse(change, spelled, {})


def _with_inert(form: Spellings, single: Spellings) -> Spellings | None:
    """The spellings of a normal form and a map after it, if the map's code points are inert in the form."""
    moving = {*form.after, *form.before, *form.spelled}
    for point, spelling in single.spelled.items():
        own = {point, *spelling}
        if not moving.isdisjoint(own) or not spelling:
            return None
    spelled = dict(form.spelled)
    for point, spelling in form.spelled.items():
        spelled[point] = single.spelling(spelling)
    spelled.update(single.spelled)
    return _inverse(form.change, spelled, form.classes, form.after, form.before)


def rewriting_of_program(change: Change, reason: str) -> Rewriting:
    """The rewriting of a normalizer that is only run: what it makes of single code points is known.

    Args:
        change: the normalizer's program.
        reason: why it is not read.
    """
    # What it writes for a space, its decoder makes a space again.
    spaces = change("x x").partition("x")[2].rpartition("x")[0]
    if spaces not in ("", " "):
        change = _composed([change, _decoded_spaces(spaces)])
    return Rewriting("the tokenizer's normalizer", change, single=_single_spellings(change), unread=reason)
