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
:mod:`.phrase_trie` finds both.

Where all phrases begin with one character that they have nowhere else, as tags do with ``<``, the free text
is an expression without a complement (:func:`_without_complement`), whose size is that of the phrases.

Cost.  The engine follows the free text as a complement, whose states are those of the automaton of Aho and
Corasick (1975); it makes them when a text reaches them.

Rejected.  That automaton as an expression of its own: it has an edge for each state and byte, and all of them
would be made at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import tokamata._core as _core
from tokamata.resources.limits import Watch

__all__ = ["Border", "free_text", "without_phrases"]

_Trie = dict[str, Any]  # by character, what follows; "" ends a phrase
_LONGEST = 200  # characters of a phrase, which nest as deep
_NODE_BYTES = 4096  # of the expressions of a node, about


class Border(NamedTuple):
    """What follows free text.

    Attributes:
        phrases: appear nowhere before.
        heads: do not end the free text (:meth:`.PhraseTrie.by_heads`).
    """

    phrases: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()


def without_phrases(
    phrases: Iterable[str],
    units: _core.Expression | None = None,
    spelled: Callable[[list[str]], _core.Expression] = _core.strings,
    watch: Watch | None = None,
) -> list[_core.Expression]:
    """Text in which no phrase appears, as an intersection: :func:`free_text` takes it for several borders.

    Args:
        phrases: none of them is empty.
        units: what it consists of, such as text tokens; ``None``: valid UTF-8.
        spelled: makes the phrases; where the units include control tokens, these may stand for their names.
        watch: stops the work.
    """
    some = list(dict.fromkeys(phrases))
    plain = _without_complement(some, watch or Watch()) if some and units is None else None
    if plain is not None:
        return [plain]
    parts = [_core.text() if units is None else units]
    if some:
        parts.append(_core.complement(_core.concat([_core.anything(), spelled(some), _core.anything()])))
    return parts


def free_text(
    parts: Sequence[_core.Expression],
    heads: Iterable[str] = (),
    most_characters: int | None = None,
    spelled: Callable[[list[str]], _core.Expression] = _core.strings,
) -> _core.Expression:
    """Text in which no phrase appears, which ends with none of the heads.

    Args:
        parts: what :func:`without_phrases` made.
        heads: as :meth:`.PhraseTrie.by_heads` finds them.
        most_characters: how many code points it may have; ``None`` means no bound.
        spelled: makes the heads, as for :func:`without_phrases`.
    """
    parts = [*parts]
    if some := list(dict.fromkeys(heads)):
        parts.append(_core.complement(_core.concat([_core.anything(), spelled(some)])))
    if most_characters is not None:
        character = _core.code_points([(0, 0x10FFFF)])
        parts.append(_core.repeat(character, 0, most_characters))
    return _core.intersect(parts) if len(parts) > 1 else parts[0]


def _without_complement(phrases: Sequence[str], watch: Watch) -> _core.Expression | None:
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
        watch.check()
        node = trie
        for character in phrase[1:]:
            node = node.setdefault(character, {})
        node[""] = {}  # a phrase ends
    if "" in trie:
        return _core.repeat(_none_of(frozenset([first])), 0, None)
    again, out, end = _broken_off(trie, first, begin, watch)
    begun = _core.concat([begin, _core.repeat(again, 0, None)])
    free = _core.repeat(_core.union([_none_of(frozenset([first])), _core.concat([begun, out])]), 0, None)
    return _core.concat([free, _core.union([_core.epsilon(), _core.concat([begun, end])])])


def _broken_off(
    node: _Trie, first: str, begin: _core.Expression, watch: Watch
) -> tuple[_core.Expression, _core.Expression, _core.Expression]:
    """How phrases break off below a node: with another beginning, outside of phrases, with the text."""
    again, out, end = [begin], [_none_of(frozenset([first, *node]))], [_core.epsilon()]
    for character, child in node.items():
        if "" in child:
            continue
        watch.check()
        watch.hold(_NODE_BYTES)
        step = _core.literal(character.encode())
        for found, rest in zip((again, out, end), _broken_off(child, first, begin, watch), strict=True):
            found.append(_core.concat([step, rest]))
    return _core.union(again), _core.union(out), _core.union(end)


@lru_cache(4096)  # such a set takes 4 KB, and is the same at most nodes
def _none_of(characters: frozenset[str]) -> _core.Expression:
    """One code point that is none of some characters."""
    ranges, low = [], 0
    for point in sorted(map(ord, characters)):
        if low < point:
            ranges.append((low, point - 1))
        low = point + 1
    return _core.code_points([*ranges, (low, 0x10FFFF)] if low <= 0x10FFFF else ranges)
