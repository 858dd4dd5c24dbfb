"""Which normal form a tokenizer brings texts into: on all code points, and on pairs in which marks compose.

A normalizer that agrees with NFC on every code point may still not be NFC: it may leave ``e`` U+0301 alone.
So it is also run on longer texts: all pairs that compose, jamo, two marks in either order (one of each
combining class, and each mark after one of the highest class), and every mark after the characters of JSON,
of tags and of code.  The judge is Python's ``unicodedata``.  Code points that Python's version of Unicode
does not assign are left out.

A program's tables may be of another version of Unicode than Python's: those of Hugging Face's `tokenizers`
are older, and leave marks alone that were added later.  So a form is also recognized if a set of code points
is *inert*, that is, treated like unassigned ones, and all texts are in the form otherwise: the judge then
gets a private code point in place of each, which no form changes.  The fact ``inert_points`` lists them.

Each text stands between two digits, ``1…1``, since tokenizers treat the ends of a text differently.  A mark
that the tokenizer writes for a space (``▁``) counts as a space.

If the program does not show its normalizer, what it decodes counts: tiktoken decodes to the bytes it read.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection
from functools import cache
from typing import Any, Literal
from unicodedata import category

from tokamata.guard.manifests.code_points import sampled_points
from tokamata.guard.manifests.facts import Fact, Json, counted, not_measured, shown_point
from tokamata.guard.manifests.subject import Subject
from tokamata.tokenization.running import RunningTokenizer
from tokamata.vocabulary.sections import Section, flattened

__all__ = ["FORMS", "form_of", "normal_form_facts", "normalized", "pairs", "space_mark"]

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
FORMS: tuple[Form, ...] = ("NFC", "NFD", "NFKC", "NFKD")
_STRUCTURE = "<>=|{}[]\":,'/\\-_#!a1"
_MOST_CLASSES = 24
_MOST_DIFFERING = 1000  # texts; a normalizer that differs on more is no such form
_CASES = ("lowercase", "strip_accents")
_HIGHEST_MARK = "\u0345"  # of class 240: every other mark goes before it
_PRIVATE = 0xF0000  # code points that no normal form changes


def normal_form_facts(subject: Subject) -> dict[str, Fact]:
    """The facts about the normalizer.

    Raises:
        ProgramFailed: the program raised an error.
    """
    program = subject.program
    stated = _stated_form(subject)
    if program is None:
        names = ("normal_form", "normalized_points", "form_differences", "inert_points", *_CASES)
        return {name: not_measured(subject.no_program, stated.get(name)) for name in names}
    points = [point for point in sampled_points() if category(chr(point)) not in ("Cn", "Cs", "Co")]
    texts = [chr(point) for point in points]
    mark = space_mark(program)
    texts = [text for text in texts if text != mark]
    every = texts + pairs()
    after_all = normalized(program, every)
    single = after_all[: len(texts)]
    same = [text == after for text, after in zip(every, after_all, strict=True)]
    form, inert, counts = form_of(every, after_all)
    how = (
        f"{len(texts):,} code points that Python's unicodedata knows, and {len(pairs()):,} texts of several, "
        "by which it is the judge" + ("" if program.shows_normalizer else "; by what the program decodes")
    )
    witness = None
    if not all(same):
        changed = every[same.index(False)]
        witness = subject.witness(f"1{changed}1", f"the normalizer changes {_points_of(changed)}", 1)
    unknown = [shown_point(ord(letter)) for letter in sorted(inert)]
    after = dict(zip(texts, single, strict=True))
    return {
        "normal_form": Fact(form, how, stated.get("normal_form"), witness),
        "normalized_points": _changes(texts, single, how),
        "form_differences": Fact(counts, how + "; how many differ from each form"),
        "inert_points": Fact(
            counted(unknown, unknown), "code points that the normalizer treats like unassigned ones"
        ),
        "lowercase": _lowercase(subject, after, stated.get("lowercase")),
        "strip_accents": _accents(subject, after, stated.get("strip_accents")),
    }


def form_of(texts: list[str], after: list[str]) -> tuple[str, set[str], dict[str, int]]:
    """The normal form that a normalizer brings texts into.

    Args:
        texts: single code points, and :func:`pairs`.
        after: what the normalizer makes of each.

    Returns:
        The form, ``"none"`` or ``"other"``; the code points that are inert; and for each form, how many texts
        differ from it if none is inert.
    """
    differences = {form: _differences(form, texts, after) for form in FORMS}
    counts: dict[str, int] = {"none": sum(one != other for one, other in zip(texts, after, strict=True))}
    counts.update((name, len(found)) for name, found in differences.items())
    if counts["none"] == 0:
        return "none", set(), counts
    nearest = min(FORMS, key=lambda name: len(differences[name]))
    if counts[nearest] <= _MOST_DIFFERING:
        inert = _inert(nearest, texts, after, differences[nearest])
        if not _differences(nearest, texts, after, inert):
            return nearest, inert, counts
    return "other", set(), counts


def normalized(program: RunningTokenizer, texts: list[str]) -> list[str]:
    """What becomes of texts in the midst of another.

    Raises:
        ProgramFailed: the program raised an error.
    """
    found = _run(program, ["1", *(f"1{text}1" for text in texts)])
    if mark := space_mark(program):
        found = [text.replace(mark, " ") for text in found]
    before = found[0]
    return [
        text[len(before) : -1] if text.startswith(before) and len(text) > len(before) else text
        for text in found[1:]
    ]


def space_mark(program: RunningTokenizer) -> str:
    """The character that the normalizer writes for a space; ``""`` if it leaves spaces alone.

    Raises:
        ProgramFailed: the program raised an error.
    """
    begin, spaced = _run(program, ["1", "1 1"])
    mark = spaced.removeprefix(begin).removesuffix("1")
    return mark if len(mark) == 1 and mark != " " else ""


def _run(program: RunningTokenizer, texts: list[str]) -> list[str]:
    found = program.normalize_many(texts)
    return program.decode_many(program.encode_many(texts)) if found is None else found


@cache
def pairs() -> list[str]:
    """Texts of two or three code points on which normal forms differ from a table of code points."""
    found: list[str] = []
    marks: dict[int, str] = {}
    combining: list[str] = []
    for point in sampled_points():
        letter = chr(point)
        parts = unicodedata.decomposition(letter).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            found.append("".join(chr(int(part, 16)) for part in parts))
        if order := unicodedata.combining(letter):
            marks.setdefault(order, letter)
            combining.append(letter)
    found += [chr(lead) + chr(vowel) for lead in range(0x1100, 0x1113) for vowel in range(0x1161, 0x1176)]
    found += [chr(first) + chr(last) for first in (0xAC00, 0xD788) for last in range(0x11A8, 0x11C3)]
    found += [f"a{first}{second}" for first in marks.values() for second in marks.values()]
    found += [f"a{_HIGHEST_MARK}{mark}" for mark in combining]
    found += [structure + mark for structure in _STRUCTURE for mark in combining]
    return found


def _differences(form: Form, texts: list[str], after: list[str], inert: Collection[str] = ()) -> list[str]:
    """The texts of which the normalizer makes something else than a form, if some code points are inert."""
    hidden = {ord(letter): _PRIVATE + number for number, letter in enumerate(sorted(inert))}
    shown = {private: letter for letter, private in hidden.items()}
    found = []
    for text, other in zip(texts, after, strict=True):
        if hidden:
            expected = unicodedata.normalize(form, text.translate(hidden)).translate(shown)
        else:
            expected = unicodedata.normalize(form, text)
        if expected != other:
            found.append(text)
    return found


def _inert(form: Form, texts: list[str], after: list[str], differing: list[str]) -> set[str]:
    """The code points of differing texts that are inert in every text that has them."""
    candidates = {letter for text in differing for letter in text}
    having: dict[str, tuple[list[str], list[str]]] = {letter: ([], []) for letter in candidates}
    for text, other in zip(texts, after, strict=True):
        for letter in candidates.intersection(text):
            having[letter][0].append(text)
            having[letter][1].append(other)
    return {
        letter for letter, (before, made) in having.items() if not _differences(form, before, made, {letter})
    }


def _changes(texts: list[str], after: list[str], how: str) -> Fact:
    changes = [(text, other) for text, other in zip(texts, after, strict=True) if text != other]
    lines = [f"{_points_of(text)} -> {_points_of(other)}" for text, other in changes]
    classes = Counter(f"{category(text)} -> {_classes_of(other)}" for text, other in changes)
    most = sorted(classes.items(), key=lambda one: (-one[1], one[0]))
    value = counted(lines, lines)
    if most:
        value["classes"] = dict(most[:_MOST_CLASSES])
        value["other_classes"] = sum(number for _, number in most[_MOST_CLASSES:])
    return Fact(value, how)


def _points_of(text: str) -> str:
    return " ".join(shown_point(ord(letter)) for letter in text[:8]) or "nothing"


def _classes_of(text: str) -> str:
    return "+".join(dict.fromkeys(category(letter) for letter in text)) or "nothing"


def _lowercase(subject: Subject, after: dict[str, str], stated: Json) -> Fact:
    upper = [text for text in after if category(text) == "Lu"]
    lowered = [text for text in upper if not any(category(letter) == "Lu" for letter in after[text])]
    how = f"{len(lowered):,} of {len(upper):,} upper-case letters lose their case"
    witness = subject.witness(f"1{lowered[0]}1", "the normalizer changes its case", 1) if lowered else None
    return Fact(bool(lowered), how, stated, witness)


def _accents(subject: Subject, after: dict[str, str], stated: Json) -> Fact:
    accented = {}
    for text in after:
        parts = unicodedata.normalize("NFD", text)
        if len(parts) > 1 and all(category(letter) == "Mn" for letter in parts[1:]) and parts[0] in after:
            accented[text] = parts[0]
    stripped = [text for text, base in accented.items() if after[text] == after[base]]
    how = f"{len(stripped):,} of {len(accented):,} letters with marks lose their marks"
    witness = subject.witness(f"1{stripped[0]}1", "the normalizer removes its mark", 1) if stripped else None
    return Fact(bool(stripped), how, stated, witness)


def _stated_form(subject: Subject) -> dict[str, Json]:
    """What the file states."""
    if subject.family in ("tiktoken", "tekken"):
        return {"normal_form": "none", "lowercase": False, "strip_accents": False}
    if subject.sentence_piece is not None:
        return {} if subject.sentence_piece.has_rules else {"normal_form": "none"}
    if not subject.document:
        return {}
    parts = flattened(Section(subject.document, ""), "normalizer", "normalizers")
    kinds = [part.fields for part in parts]
    forms = [str(part["type"]) for part in kinds if part.get("type") in FORMS]
    lower = any(_is_on(part, "Lowercase", "lowercase") for part in kinds)
    accents = any(
        part.get("type") == "StripAccents"
        or (
            part.get("type") == "BertNormalizer"
            and bool(part.get("lowercase") if part.get("strip_accents") is None else part["strip_accents"])
        )
        for part in kinds
    )
    found: dict[str, Json] = {"lowercase": lower, "strip_accents": accents}
    spaces_only = {"Prepend", "Replace"}
    if len(forms) == 1 and {str(part.get("type")) for part in kinds} <= {*FORMS, *spaces_only}:
        found["normal_form"] = forms[0]
    elif not forms and {str(part.get("type")) for part in kinds} <= spaces_only:
        found["normal_form"] = "none"
    return found


def _is_on(part: dict[str, Any], kind: str, flag: str) -> bool:
    return part.get("type") == kind or (part.get("type") == "BertNormalizer" and bool(part.get(flag)))
