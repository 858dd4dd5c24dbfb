"""Free text: text without certain phrases, and the border between it and the phrase that ends it.

Problem.  Free text runs until a trigger appears, and the trigger opens a constrained part.  Which texts may
stand before the trigger ``t``?  Those without any phrase, after which ``t`` is the first phrase that ends.
It is not enough that the text has no phrase by itself: a phrase may begin in the text and end within ``t``.

Worked example.  Of the trigger ``aba``, the text ``ab`` has no phrase.  But ``ab`` + ``aba`` is ``ababa``,
where ``aba`` ends after three characters already: ``ab`` cannot stand before it.  ``b`` can.

How.  The texts before ``t`` are those without any phrase that do not end with some *heads*.  A phrase that
is ``x + p``, where ``p`` begins ``t`` and neither is empty, has the head ``x``: after ``x``, it would end
within ``t``, or with it.  So of two phrases that end at one position, the longer one counts.  Phrases that
overlap no other one, such as most tags, have no heads, and their free text is the same for all.

A phrase that lies within ``t`` and ends before it makes ``t`` unreachable after free text.

Where all phrases begin with one character that they have nowhere else, as tags do with ``<``, the free text
is an expression without a complement (:func:`_without_complement`), whose size is that of the phrases.

Cost.  The engine follows the free text as a complement, whose states are those of the automaton of Aho and
Corasick (1975); it makes them when a text reaches them.  Heads: the square of the length of each phrase,
and the number of heads.

Rejected.  That automaton as an expression of its own: it has an edge for each state and byte, and all of them
would be made at once.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Any

import tokamata._core as _core

__all__ = ["free_text", "heads_before", "phrase_within"]

_Trie = dict[str, Any]  # by character, what follows; "" ends a phrase
_LONGEST = 200  # characters of a phrase, which nest as deep


def free_text(
    phrases: Iterable[str],
    heads: Iterable[str] = (),
    most_characters: int | None = None,
    units: _core.Expression | None = None,
) -> _core.Expression:
    """Text in which no phrase appears, which ends with none of the heads.

    Args:
        phrases: none of them is empty.
        heads: as :func:`heads_before` finds them.
        most_characters: how many code points it may have; ``None`` means no bound.
        units: what it consists of, such as text tokens; ``None``: valid UTF-8.
    """
    parts = [_core.text() if units is None else units]
    some = list(dict.fromkeys(phrases))
    plain = _without_complement(some) if some and units is None else None
    if plain is not None:
        parts = [plain]
    elif some:
        inside = _core.concat([_core.anything(), _core.strings(some), _core.anything()])
        parts.append(_core.complement(inside))
    if some := list(dict.fromkeys(heads)):
        parts.append(_core.complement(_core.concat([_core.anything(), _core.strings(some)])))
    if most_characters is not None:
        character = _core.code_points([(0, 0x10FFFF)])
        parts.append(_core.repeat(character, 0, most_characters))
    return _core.intersect(parts) if len(parts) > 1 else parts[0]


def _without_complement(phrases: Sequence[str]) -> _core.Expression | None:
    """Free text as an expression without a complement; ``None``: the phrases are not of this form.

    All begin with one character ``b`` that stands nowhere else in them.  So a phrase that breaks off, breaks
    off at another ``b`` or outside of all phrases.  With the beginnings of phrases after ``b``, each followed
    by another ``b`` (*again*), by a character that no phrase has there (*out*), or by nothing (*end*)::

        ([^b] | b again* out)* (b again* end)?

    The engine then knows rules, such as those of JSON, after the free text; within a complement it does not.
    """
    first = phrases[0][0]
    if any(phrase[0] != first or first in phrase[1:] or len(phrase) > _LONGEST for phrase in phrases):
        return None
    begin = _core.literal(first.encode())
    trie: _Trie = {}
    for phrase in phrases:
        node = trie
        for character in phrase[1:]:
            node = node.setdefault(character, {})
        node[""] = {}  # a phrase ends
    if "" in trie:
        return _core.repeat(_none_of([first]), 0, None)
    again, out, end = _broken_off(trie, first, begin)
    begun = _core.concat([begin, _core.repeat(again, 0, None)])
    free = _core.repeat(_core.union([_none_of([first]), _core.concat([begun, out])]), 0, None)
    return _core.concat([free, _core.union([_core.epsilon(), _core.concat([begun, end])])])


def _broken_off(
    node: _Trie, first: str, begin: _core.Expression
) -> tuple[_core.Expression, _core.Expression, _core.Expression]:
    """How phrases break off below a node: with another beginning, outside of phrases, with the text."""
    again, out, end = [begin], [_none_of([first, *node])], [_core.epsilon()]
    for character, child in node.items():
        if "" in child:
            continue
        step = _core.literal(character.encode())
        for found, rest in zip((again, out, end), _broken_off(child, first, begin), strict=True):
            found.append(_core.concat([step, rest]))
    return _core.union(again), _core.union(out), _core.union(end)


def _none_of(characters: Iterable[str]) -> _core.Expression:
    """One code point that is none of some characters."""
    ranges, low = [], 0
    for point in sorted({ord(character) for character in characters}):
        if low < point:
            ranges.append((low, point - 1))
        low = point + 1
    return _core.code_points([*ranges, (low, 0x10FFFF)] if low <= 0x10FFFF else ranges)


def heads_before(phrases: Iterable[str], others: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """By phrase, what may not stand before it: another phrase would end within it, or with it.

    The head ``""`` is that of an unreachable phrase, before which no free text may stand.

    >>> heads_before(["aba", "b"], ["aba", "xa"])
    {'aba': ('ab', 'x'), 'b': ()}
    """
    heads: dict[str, set[str]] = {phrase: set() for phrase in phrases}
    begun: dict[str, list[str]] = {}  # by a beginning, the phrases that have it
    for phrase in heads:
        for end in range(1, len(phrase) + 1):
            begun.setdefault(phrase[:end], []).append(phrase)
    others = list(others)
    for other in others:
        for at in range(1, len(other)):
            for phrase in begun.get(other[at:], ()):
                heads[phrase].add(other[:at])
    known = set(others)
    for phrase, some in heads.items():
        if phrase_within(phrase, known, ()) is not None:
            some.add("")
    return {phrase: tuple(sorted(some)) for phrase, some in heads.items()}


def phrase_within(phrase: str, others: Container[str], excluded: Container[str]) -> str | None:
    """A phrase that makes ``phrase`` unreachable, if there is one.

    ``others`` do if they end within it, before its end; ``excluded`` ones anywhere in it.
    """
    size = len(phrase)
    for begin in range(size):
        for end in range(begin + 1, size + 1):
            part = phrase[begin:end]
            if (end < size and part in others) or part in excluded:
                return part
    return None
