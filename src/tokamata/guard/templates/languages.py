"""The texts that may stand in a slot, as a regular constraint.

**Problem.**  A slot stands for every text that satisfies the conditions of its rendering, changed by its
steps. What a proof needs is the language of the results.

**Method.**  Conditions become a language of the source's texts, by inverse images of the steps before a
question. For example, with W for white space, ``content.strip() == ''`` means W*, and ``content.strip()``
starts with ``/`` means W* · (``/``… that ends without W) · W*.  The steps of the slot then give properties of
the results:

    strip                       neither begins nor ends with W
    split(sep)[i]               has no sep
    tojson of a text            has no raw quotation mark, and escapes only what json.dumps escapes

A later step keeps those that it cannot destroy: a part of a text without ``sep`` has none.

**Exactness.**  The result is always a superset.  It is exact if every text of it has a source's text: the
text itself, or the text after or before the separator, which the steps map to it.  That those satisfy the
conditions is an inclusion of regular languages, which the engine decides.

**Rejected.**  Transducers for the steps: ``strip`` is no subsequential function of bytes, and the images are
needed for a dozen steps, most of which templates use in two compositions.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tokamata.constraints.constraint import Constraint
from tokamata.constraints.text_constraints import literal, regex
from tokamata.guard.templates.pieces import Condition, Slot, Source, sources_of
from tokamata.guard.templates.steps import STRIPS, Step

__all__ = ["SlotLanguage", "slot_language", "source_language"]

_MOST_CODE_POINT = 0x110000
_JSON = r'([^"\\\x00-\x1f]|\\["\\bfnrt]|\\u00(0[0-7b]|0[ef]|1[0-9a-f]))*'
_JSON_ASCII = r'([ !#-\[\]-~]|\\["\\bfnrt]|\\u[0-9a-f]{4})*'
_HTML = r"([^&<>\"']|&amp;|&lt;|&gt;|&#34;|&#39;)*"
# Steps whose result is a part of the text.
_PARTS = {*STRIPS, "split", "rsplit", "slice", "removeprefix", "removesuffix"}

_Texts = Constraint[Any]


@dataclass(frozen=True)
class SlotLanguage:
    """The texts that may stand in a slot.

    Attributes:
        texts: a regular constraint that accepts each of them.
        is_exact: whether it accepts no others; otherwise it may.
    """

    texts: _Texts
    is_exact: bool


@dataclass
class _Properties:
    """What is known of a text.

    Attributes:
        begin: characters that it does not begin with; ``None`` for white space.
        end: likewise for its end.
        without: texts that it does not contain.
        patterns: regular expressions that it matches.
    """

    begin: set[str | None] = field(default_factory=set)
    end: set[str | None] = field(default_factory=set)
    without: set[str] = field(default_factory=set)
    patterns: set[str] = field(default_factory=set)

    def after(self, step: Step) -> _Properties:
        """What is known of the text after a step."""
        known = _Properties()
        if step.name in _PARTS:
            known.without |= self.without
        if step.name in STRIPS:
            known.begin, known.end = set(self.begin), set(self.end)
            left, right = STRIPS[step.name]
            (chars,) = step.arguments
            if left:
                known.begin = {chars}  # what else was not at the beginning may be, after this
            if right:
                known.end = {chars}
        elif step.name in ("split", "rsplit") and step.part is not None:
            separator, most = step.arguments
            if step.part == 0:
                known.begin |= self.begin
            if step.part == -1:
                known.end |= self.end
            is_cut = (
                most < 0
                or (step.part == 0 and step.name == "split")
                or (step.part, step.name) == (-1, "rsplit")
            )
            if separator is not None and most != 0 and is_cut and _is_unicode(separator):
                known.without.add(separator)
        elif step.name == "json text":
            known.patterns.add(_JSON_ASCII if step.arguments[0] else _JSON)
        elif step.name == "html":
            known.patterns.add(_HTML)
        return known

    def texts(self) -> _Texts:
        """All texts with these properties."""
        found = _anything()
        for pattern in sorted(self.patterns):
            found = found & regex(pattern)
        for chars in self.begin:
            found = found - _begins(chars)
        for chars in self.end:
            found = found - _ends(chars)
        for needle in sorted(self.without):
            found = found - _contains(needle)
        return found


def slot_language(slot: Slot, conditions: Iterable[Condition] = ()) -> SlotLanguage:
    """The texts that may stand in a slot of a rendering with these conditions.

    Raises:
        LimitExceeded: the engine's bounds.
    """
    conditions = tuple(conditions)
    if isinstance(slot.source, Source) and slot.source.kind == "text":
        raw = source_language(slot.source, conditions)
    else:
        raw = SlotLanguage(_anything(), False)
    if not slot.steps:
        return raw
    known = _Properties()
    for condition in conditions:
        # Whatever part of the text is taken does not contain it either.
        is_about = condition.subject == (Slot(slot.source),)
        is_absent = condition.kind == "contains" and not condition.holds
        if is_about and is_absent and _is_unicode(condition.argument):
            known.without.add(condition.argument)
    for step in slot.steps:
        known = known.after(step)
    texts = known.texts()
    return SlotLanguage(texts, raw.is_exact and _is_reached(texts, known, raw.texts, slot.steps))


def _is_reached(texts: _Texts, known: _Properties, raw: _Texts, steps: tuple[Step, ...]) -> bool:
    """Whether each text is what the steps make of a text of ``raw``."""
    if len(steps) == 1 and steps[0].name in ("json text", "html"):
        # With ensure_ascii, escapes of surrogates stand in pairs, which the pattern does not know.
        return steps[0].arguments != (True,) and bool(_anything().is_subset_of(raw))
    for step in steps:  # whether it leaves the texts as they are
        if step.name in STRIPS:
            left, right = STRIPS[step.name]
            (chars,) = step.arguments
            if (left and chars not in known.begin) or (right and chars not in known.end):
                return False
        elif (
            step.name not in ("split", "rsplit")
            or step.part not in (0, -1)
            or step.arguments[0] not in known.without
        ):
            return False
    if bool(texts.is_subset_of(raw)):
        return True
    first = steps[0]
    if first.name in STRIPS or not _is_plain(first):
        return False
    mark = literal(first.arguments[0])
    return bool((texts + mark if first.part == 0 else mark + texts).is_subset_of(raw))


def source_language(source: Source, conditions: Iterable[Condition] = ()) -> SlotLanguage:
    """The texts of a source for which the conditions hold, as far as they are about it alone and regular.

    If no text is left, the rendering does not occur.
    """
    texts, is_exact = _anything(), True
    for condition in conditions:
        if source not in sources_of(condition.subject) and not _argument_has(condition, source):
            continue
        inverse = _inverse(condition)
        if inverse is None:
            is_exact = False
        else:
            texts = texts & inverse if condition.holds else texts - inverse
    return SlotLanguage(texts, is_exact)


def _argument_has(condition: Condition, source: Source) -> bool:
    is_pieces = condition.kind == "equals" and isinstance(condition.argument, tuple)
    return is_pieces and source in sources_of(condition.argument)


def _inverse(condition: Condition) -> _Texts | None:
    """The texts of a source of which the answer is *yes*; ``None`` where that is not known."""
    if len(condition.subject) != 1:
        return None
    (slot,) = condition.subject
    if not isinstance(slot, Slot) or not isinstance(slot.source, Source):
        return None
    texts = _asked(condition.kind, condition.argument)
    for step in reversed(slot.steps):
        if texts is None:
            return None
        texts = _inverse_of_step(texts, step)
    return texts


def _asked(kind: str, argument: Any) -> _Texts | None:
    """The texts about which a question is answered *yes*."""
    if isinstance(argument, str):
        if not _is_unicode(argument):
            return None
        if kind == "equals":
            return literal(argument)
        if kind == "contains":
            return _contains(argument)
        if kind == "starts with":
            return literal(argument) + _anything()
        if kind == "ends with":
            return _anything() + literal(argument)
    if kind == "longer than":
        return regex(f"(?s:.{{{argument + 1},}})") if argument < 1000 else None
    if kind == "more parts than":
        method, separator, most, count = argument
        if separator is None or most >= 0 or method != "split" or count > 100 or not _is_unicode(separator):
            return None
        return regex(f"(?s:.*)(?:{re.escape(separator)}(?s:.*)){{{count}}}")
    return None


def _inverse_of_step(texts: _Texts, step: Step) -> _Texts | None:
    """The texts that a step maps into a language; ``None`` where that is not known."""
    if step.name in STRIPS:
        left, right = STRIPS[step.name]
        (chars,) = step.arguments
        margin = _some_of(chars)
        if left:
            texts = margin + (texts - _begins(chars))
        if right:
            texts = (texts - _ends(chars)) + margin if not left else _both_margins(texts, chars)
        return texts
    if _is_plain(step):
        separator = step.arguments[0]
        part = texts - _contains(separator)
        mark = literal(separator)
        if step.part == 0:
            return part + (mark + _anything()).optional()
        return (_anything() + mark).optional() + part
    return None


def _both_margins(with_left: _Texts, chars: str | None) -> _Texts:
    """W* · L · W*, from W* · L, for the texts of L that do not end with W, and for the empty text."""
    margin = _some_of(chars)
    return (with_left - _ends(chars)) + margin | (with_left & margin)


def _is_plain(step: Step) -> bool:
    """Whether it takes the text before the first separator or after the last, and these cannot overlap."""
    if step.name not in ("split", "rsplit") or step.part not in (0, -1):
        return False
    separator, most = step.arguments
    if separator is None or not _is_unicode(separator):
        return False
    if any(separator.endswith(separator[:size]) for size in range(1, len(separator))):
        return False
    return most < 0 or (most > 0 and (step.name == "split") == (step.part == 0))


def _is_unicode(text: str) -> bool:
    return not any(0xD800 <= ord(char) <= 0xDFFF for char in text)


@functools.cache
def _anything() -> _Texts:
    return regex("(?s:.*)")


@functools.cache
def _contains(needle: str) -> _Texts:
    return _anything() + literal(needle) + _anything()


@functools.cache
def _class_of(chars: str | None) -> str:
    """A regular expression for one of the characters; it matches nothing if there are none."""
    if chars is None:
        points = [point for point in range(_MOST_CODE_POINT) if chr(point).isspace()]
    else:
        points = [ord(char) for char in chars if _is_unicode(char)]
    return "[" + "".join(f"\\U{point:08x}" for point in points) + "]" if points else "(?!)"


@functools.cache
def _some_of(chars: str | None) -> _Texts:
    return regex(f"(?:{_class_of(chars)})*")


@functools.cache
def _begins(chars: str | None) -> _Texts:
    return regex(f"{_class_of(chars)}(?s:.*)")


@functools.cache
def _ends(chars: str | None) -> _Texts:
    return regex(f"(?s:.*){_class_of(chars)}")
